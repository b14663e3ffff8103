//! What a shell's requests do: which conversation is current, who works, who waits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::json;
use tillerman_protocol::ipc::{IpcBody, IpcDecision, IpcImages, IpcKind, IpcRequest};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::ipc::images;
use crate::ipc::memory::augment;
use crate::ipc::outlet::Outlet;
use crate::ipc::round::{Opening, Round, USER, answer, question};
use crate::ipc::settings::{IpcSettings, Memory};
use crate::ipc::words::{HELP, LocalCommand, address, addressed_agent, local_command};
use crate::ipc::{history, lines};
use crate::live::{Directory, Order, Refusal, RefusalKind, Shared, new_id};
use crate::store::StoredApproval;
use crate::wire::{AnswerRequest, Decision, NewMessage};

/// Messages of one conversation that may wait.
const MOST_WAITING: usize = 50;
/// Requests beside rounds that may be under way.
const MOST_ERRANDS: usize = 64;
const MOST_CARDS: usize = 50;

/// What a shell's requests do.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) shared: Arc<Shared>,
    pub(crate) directory: Directory,
    pub(crate) outlet: Outlet,
    pub(crate) settings: IpcSettings,
    /// Fires when the shell can answer no more questions.
    pub(crate) unanswerable: CancellationToken,
    current: Option<String>,
    /// Conversations that work, each with the requests that wait for it.
    busy: HashMap<String, VecDeque<(String, Work)>>,
    rounds: JoinSet<()>,
    names: HashMap<Id, (String, String)>,
    errands: JoinSet<()>,
}

/// What a conversation has to do.
#[derive(Debug)]
enum Work {
    Message { text: String, images: Option<IpcImages> },
    Answer { card: String, request: Box<AnswerRequest> },
}

impl Desk {
    pub(crate) fn new(
        shared: Arc<Shared>,
        directory: Directory,
        outlet: Outlet,
        settings: IpcSettings,
    ) -> Self {
        Self {
            shared,
            directory,
            outlet,
            settings,
            unanswerable: CancellationToken::new(),
            current: None,
            busy: HashMap::new(),
            rounds: JoinSet::new(),
            names: HashMap::new(),
            errands: JoinSet::new(),
        }
    }

    /// Takes a line. Whatever it is, its request gets a response.
    pub(crate) async fn take(&mut self, line: lines::Line) {
        let line = match line {
            lines::Line::Whole(line) => line,
            lines::Line::TooLong => {
                let most = lines::LONGEST_LINE / 1024 / 1024;
                let text = format!("The line has more than {most} MB and was passed over.");
                return self.outlet.error("", text).await;
            }
            lines::Line::End => return,
        };
        let request = match serde_json::from_slice::<IpcRequest>(&line) {
            Ok(request) => request,
            Err(error) => {
                let id = named(&line);
                return self
                    .outlet
                    .error(&id, format!("The request cannot be read: {error}."))
                    .await;
            }
        };
        let id = request.id.clone();
        if id.is_empty() {
            return self.outlet.error("", "The request has no id, so it was not taken.").await;
        }
        if let Err(refusal) = self.carry_out(request).await {
            self.outlet.error(&id, refusal.message).await;
        }
    }

    async fn carry_out(&mut self, request: IpcRequest) -> Result<(), Refusal> {
        while self.errands.try_join_next().is_some() {}
        let Some(kind) = IpcKind::parse(&request.kind) else {
            let known: Vec<&str> = IpcKind::ALL.iter().map(|(name, _)| *name).collect();
            let kind = &request.kind;
            return Err(bad(format!("{kind:?} is no kind of request: {}.", known.join(", "))));
        };
        match kind {
            IpcKind::UserMessage => self.message(request).await,
            IpcKind::ClearHistory => {
                self.current = None;
                self.outlet.done(&request.id, None).await;
                Ok(())
            }
            IpcKind::NewConversation => {
                let begun = history::begin(&self.shared, &self.settings.permission_mode).await?;
                let data = json!({"conversation": history::show(&begun)});
                self.current = Some(begun.id);
                self.outlet.done(&request.id, Some(data)).await;
                Ok(())
            }
            IpcKind::LoadConversation => self.load(request).await,
            IpcKind::ListConversations => {
                let conversations = history::list(&self.shared).await?;
                let data = json!({"conversations": conversations, "current": self.current});
                self.outlet.done(&request.id, Some(data)).await;
                Ok(())
            }
            IpcKind::DeleteConversation => self.delete(request).await,
            IpcKind::Interrupt => self.interrupt(request),
            IpcKind::PermissionResponse => self.permission(request).await,
        }
    }

    async fn message(&mut self, request: IpcRequest) -> Result<(), Refusal> {
        let IpcRequest { id, message, conversation_id, images, .. } = request;
        let text = message.unwrap_or_default();
        if let Some(command) = local_command(&text) {
            self.obey(&id, command).await;
            return Ok(());
        }
        let conversation = match conversation_id.or_else(|| self.current.clone()) {
            Some(conversation) => history::find(&self.shared, &conversation).await?.id,
            None => history::begin(&self.shared, &self.settings.permission_mode).await?.id,
        };
        self.current = Some(conversation.clone());
        self.queue(conversation, id, Work::Message { text, images })
    }

    async fn obey(&mut self, id: &str, command: LocalCommand) {
        let token = match command {
            LocalCommand::Help => HELP.to_owned(),
            LocalCommand::Session => match &self.current {
                None => "There is no conversation yet; the next message begins one.".to_owned(),
                Some(current) => {
                    let session = history::find(&self.shared, current).await;
                    let session = session.ok().and_then(|found| found.session_id);
                    let session = session.unwrap_or_else(|| "not begun".to_owned());
                    format!("Conversation {current}, session {session}.")
                }
            },
            LocalCommand::Reset => {
                self.current = None;
                "What was said is forgotten; the next message begins a conversation.".to_owned()
            }
        };
        let conversation_id = self.current.clone();
        let data = json!({"conversation_id": conversation_id, "command": true});
        self.outlet.say(id, IpcBody::Token { token, conversation_id }).await;
        self.outlet.done(id, Some(data)).await;
    }

    fn queue(&mut self, conversation: String, id: String, work: Work) -> Result<(), Refusal> {
        let Some(waiting) = self.busy.get_mut(&conversation) else {
            self.busy.insert(conversation.clone(), VecDeque::new());
            self.start(conversation, id, work);
            return Ok(());
        };
        if waiting.len() >= MOST_WAITING {
            let text = "Too many messages wait already. Wait until some are done.";
            return Err(Refusal::new(RefusalKind::Conflict, text));
        }
        waiting.push_back((id, work));
        Ok(())
    }

    fn start(&mut self, conversation: String, request: String, work: Work) {
        let name = (conversation.clone(), request.clone());
        let round = Round {
            request,
            conversation,
            shared: Arc::clone(&self.shared),
            directory: self.directory.clone(),
            outlet: self.outlet.clone(),
            unanswerable: self.unanswerable.clone(),
        };
        let task = self.rounds.spawn(open(round, work, self.settings.clone()));
        self.names.insert(task.id(), name);
    }

    /// Waits until a round is over and has the next one begin. Pending while there is none.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn round_over(&mut self) {
        let Some(ended) = self.rounds.join_next_with_id().await else {
            return std::future::pending().await;
        };
        let id = match &ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        let Some((conversation, request)) = self.names.remove(&id) else { return };
        if let Some(error) = ended.err().filter(JoinError::is_panic) {
            tracing::error!(%error, "a round broke");
            let text = "The request broke because of a defect in the host. The log says more.";
            self.outlet.error(&request, text).await;
        }
        match self.busy.get_mut(&conversation).and_then(VecDeque::pop_front) {
            Some((request, work)) => self.start(conversation, request, work),
            None => drop(self.busy.remove(&conversation)),
        }
    }

    /// Whether a round is under way.
    pub(crate) fn is_busy(&self) -> bool {
        !self.rounds.is_empty()
    }

    /// Waits until nothing but rounds is under way.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn errands_over(&mut self) {
        while self.errands.join_next().await.is_some() {}
    }

    async fn load(&mut self, request: IpcRequest) -> Result<(), Refusal> {
        let wanted = needed(request.conversation_id, "load_conversation", "conversation_id")?;
        let conversation = history::find(&self.shared, &wanted).await?;
        let messages = history::messages(&self.shared, &wanted).await?;
        let of = wanted.clone();
        let list =
            move |db: &rusqlite::Connection| StoredApproval::list(db, Some(&of), true, MOST_CARDS);
        for card in self.shared.store.read(list).await? {
            self.outlet.say(&request.id, question(card.shown)).await;
        }
        self.current = Some(wanted);
        let data = json!({"conversation": history::show(&conversation), "messages": messages});
        self.outlet.done(&request.id, Some(data)).await;
        Ok(())
    }

    async fn delete(&mut self, request: IpcRequest) -> Result<(), Refusal> {
        let wanted = needed(request.conversation_id, "delete_conversation", "conversation_id")?;
        history::find(&self.shared, &wanted).await?;
        self.directory.ask(&wanted, |reply| Order::Delete { reply }).await?;
        self.current = self.current.take().filter(|current| *current != wanted);
        self.outlet.done(&request.id, None).await;
        Ok(())
    }

    fn interrupt(&mut self, request: IpcRequest) -> Result<(), Refusal> {
        let conversation = request.conversation_id.or_else(|| self.current.clone());
        let conversation = conversation.filter(|it| self.busy.contains_key(it));
        let (directory, outlet) = (self.directory.clone(), self.outlet.clone());
        self.errand(async move {
            let by = USER.to_owned();
            let interrupted = match &conversation {
                Some(id) => directory.ask(id, |reply| Order::Interrupt { by, reply }).await,
                None => Ok(()),
            };
            match interrupted {
                Ok(()) => {
                    let data = json!({"interrupted": conversation.is_some()});
                    outlet.done(&request.id, Some(data)).await;
                }
                Err(refusal) => outlet.error(&request.id, refusal.message).await,
            }
        })
    }

    async fn permission(&mut self, request: IpcRequest) -> Result<(), Refusal> {
        const KIND: &str = "permission_response";
        let card = needed(request.permission_id.clone(), KIND, "permission_id")?;
        let decision = match needed(request.decision, KIND, "decision")? {
            IpcDecision::Allow => Decision::Allow,
            IpcDecision::Deny => Decision::Deny,
        };
        let wanted = card.clone();
        let found = self.shared.store.read(move |db| StoredApproval::find(db, &wanted)).await?;
        let Some(found) = found else {
            return Err(Refusal::new(RefusalKind::Unknown, "There is no such question."));
        };
        let conversation = found.shown.conversation_id;
        let reply = Box::new(AnswerRequest {
            decision,
            message: request.message,
            updated_input: request.updated_input,
            always: request.always,
            answers: request.answers.map(|answers| answers.into_iter().collect()),
            interrupt: false,
        });
        if !self.busy.contains_key(&conversation) {
            // The question was left open by an earlier process; what follows has no other request.
            return self.queue(conversation, request.id, Work::Answer { card, request: reply });
        }
        let (directory, outlet) = (self.directory.clone(), self.outlet.clone());
        self.errand(async move {
            match answer(&directory, &conversation, card, reply).await {
                Ok(None) => outlet.done(&request.id, None).await,
                Ok(Some(refused)) => outlet.error(&request.id, refused).await,
                Err(refusal) => outlet.error(&request.id, refusal.message).await,
            }
        })
    }

    fn errand(&mut self, work: impl Future<Output = ()> + Send + 'static) -> Result<(), Refusal> {
        if self.errands.len() >= MOST_ERRANDS {
            let text = "Too many requests are under way. Try again in a moment.";
            return Err(Refusal::new(RefusalKind::Unavailable, text));
        }
        self.errands.spawn(work);
        Ok(())
    }
}

/// Makes a message ready and has a round carried out.
async fn open(round: Round, work: Work, settings: IpcSettings) {
    let opening = match work {
        Work::Answer { card, request } => Opening::Answer { card, request },
        Work::Message { text, images } => match ready(&round, text, images, &settings).await {
            Ok(Some(message)) => Opening::Message(message),
            Ok(None) => return,
            Err(refusal) => return round.outlet.error(&round.request, refusal.message).await,
        },
    };
    round.run(opening).await;
}

/// A message as the agent gets it; nothing when it was answered here.
async fn ready(
    round: &Round,
    text: String,
    images: Option<IpcImages>,
    settings: &IpcSettings,
) -> Result<Option<NewMessage>, Refusal> {
    let prepare = settings.prepare_image;
    let attachments = match images {
        None => Vec::new(),
        Some(images) => tokio::task::spawn_blocking(move || images::read(images, prepare))
            .await
            .map_err(|error| bad(format!("The images could not be read: {error}.")))?
            .map_err(bad)?,
    };
    let mut text = text;
    if let Some(agent) = addressed_agent(&text).map(str::to_owned) {
        let known = agents(round).await?;
        if !known.contains(&agent) {
            let token = format!(
                "There is no agent {agent:?}. The agents are: {}. Nothing was sent.",
                known.join(", ")
            );
            let conversation_id = Some(round.conversation.clone());
            let data = json!({"conversation_id": conversation_id});
            round.outlet.say(&round.request, IpcBody::Token { token, conversation_id }).await;
            round.outlet.done(&round.request, Some(data)).await;
            return Ok(None);
        }
        text = address(&text, &agent);
    }
    if settings.memory == Memory::On && !text.starts_with('/') {
        text = augment(&round.shared.store, &round.conversation, text).await;
    }
    let no_ids = || Refusal::new(RefusalKind::Failed, "The system gives no randomness.");
    let client_id = new_id().ok_or_else(no_ids)?;
    Ok(Some(NewMessage { text, attachments, client_id }))
}

/// The agents that the session knows.
async fn agents(round: &Round) -> Result<Vec<String>, Refusal> {
    let asking = round.directory.ask(&round.conversation, |reply| Order::Greet { reply });
    let greeting = asking.await?;
    let agents = greeting["agents"].as_array().into_iter().flatten();
    Ok(agents.filter_map(|agent| agent["name"].as_str().map(str::to_owned)).collect())
}

fn bad(text: impl Into<String>) -> Refusal {
    Refusal::new(RefusalKind::Bad, text)
}

fn needed<T>(value: Option<T>, kind: &str, field: &str) -> Result<T, Refusal> {
    value.ok_or_else(|| bad(format!("{kind} needs {field}.")))
}

/// The id of a request that cannot be read otherwise.
fn named(line: &[u8]) -> String {
    let value = serde_json::from_slice::<serde_json::Value>(line).unwrap_or_default();
    value["id"].as_str().unwrap_or_default().to_owned()
}
