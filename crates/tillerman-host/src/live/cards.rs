//! Cards: stored before they are shown, answered once, delivered once, also after a restart.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tillerman_protocol::Moment;
use tillerman_protocol::control::CanUseTool;

use crate::display::{Bound, display, kind_of, suggestions};
use crate::live::answers::{answer_for, denial, outcome, refusal};
use crate::live::committing::Change;
use crate::live::feed::News;
use crate::live::order::{Refusal, Reply};
use crate::live::shared::new_id;
use crate::live::talk::Talk;
use crate::metrics::Metrics;
use crate::store::{AnswerOutcome, Settled, StoredApproval, policy};
use crate::wire::{
    AnswerRequest, Approval, ApprovalKind, ApprovalMode, ApprovalState, ConversationState, Display,
    Event,
};

const EXPIRED: &str = "Nobody answered in time, so the call was denied. Do not repeat it unless \
     the user asks for it.";
const UNANSWERED: &str = "Nobody answered in time, so the server's question was declined.";
const PAUSED: &str = "The host answers no questions at present, so the call was denied.";
/// Where a question names the programs that its call runs.
const PROGRAMS: &str = "programs";
/// How long a program that tells people of a card may take.
const LONGEST_NOTICE: Duration = Duration::from_secs(10);

impl Talk {
    /// The session wants to know whether a call may run.
    pub(crate) async fn card_wanted(&mut self, request_id: String, question: CanUseTool) {
        let session = self.row.shown.session_id.clone().unwrap_or_default();
        let bound = Bound {
            tool: &question.tool_name,
            input: &question.input,
            cwd: &self.row.shown.cwd,
            session: &session,
            mode: &self.row.shown.permission_mode,
            programs: question.extra.get(PROGRAMS).unwrap_or(&Value::Null),
        };
        let hash = bound.hash();
        let open = match self.open_cards().await {
            Ok(open) => open,
            Err(refusal) => {
                let kind = kind_of(&question.tool_name);
                return self.refuse(&request_id, kind, &refusal.message).await;
            }
        };
        let is_bound = |card: &&StoredApproval| card.session_id == session;
        let same_call = open
            .iter()
            .filter(is_bound)
            .find(|card| card.shown.tool_use_id == question.tool_use_id.as_str());
        if let Some(card) = same_call {
            if card.shown.input_hash == hash {
                return self.take_up(request_id, card.clone()).await;
            }
            // The call is not the one that people looked at.
            self.settle_quietly(card.shown.id.clone(), ApprovalState::Withdrawn).await;
            self.use_up(vec![card.shown.id.clone()]).await;
        }
        // A call that was allowed before the host ended, and that the model has made anew.
        let allowed = open.iter().filter(is_bound).find(|card| {
            card.shown.input_hash == hash && card.shown.state == ApprovalState::Allowed
        });
        if let Some(card) = allowed {
            return self.take_up(request_id, card.clone()).await;
        }
        self.make_card(request_id, &question, hash).await;
    }

    async fn make_card(&mut self, request_id: String, question: &CanUseTool, hash: String) {
        let card = Approval {
            tool_use_id: question.tool_use_id.to_string(),
            tool_name: question.tool_name.clone(),
            input: question.input.clone(),
            input_hash: hash,
            display: display(&question.tool_name, question.title.as_deref(), &question.input),
            kind: kind_of(&question.tool_name),
            suggestions: suggestions(&question.input, &question.permission_suggestions),
            agent_id: question.agent_id.clone(),
            reason: question.decision_reason.clone(),
            ..self.blank_card()
        };
        self.issue(request_id, card).await;
    }

    /// A card of this conversation that asks nothing yet.
    pub(crate) fn blank_card(&self) -> Approval {
        Approval {
            id: String::new(),
            conversation_id: self.row.shown.id.clone(),
            tool_use_id: String::new(),
            tool_name: String::new(),
            input: Value::Null,
            input_hash: String::new(),
            display: Display::default(),
            kind: ApprovalKind::Permission,
            elicitation: None,
            suggestions: Vec::new(),
            cwd: self.row.shown.cwd.clone(),
            agent_id: None,
            reason: None,
            created_at: self.shared.now(),
            expires_at: None,
            state: ApprovalState::Pending,
            answered_by: None,
            answered_at: None,
            message: None,
        }
    }

    /// Stores a card and shows it, or refuses in its place.
    pub(crate) async fn issue(&mut self, request_id: String, mut shown: Approval) {
        let kind = shown.kind;
        let policy = self.shared.store.read(policy).await.unwrap_or_default();
        if policy.mode == ApprovalMode::Paused {
            return self.refuse(&request_id, kind, PAUSED).await;
        }
        let Some(id) = new_id() else {
            return self.refuse(&request_id, kind, "no card could be made").await;
        };
        shown.id = id;
        let wait = policy.expires_after_seconds.filter(|_| policy.mode == ApprovalMode::Normal);
        shown.expires_at = wait.map(|seconds| {
            let millis = i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX);
            Moment::from_millis(shown.created_at.as_millis().saturating_add(millis))
        });
        let card = StoredApproval {
            shown: shown.clone(),
            session_id: self.row.shown.session_id.clone().unwrap_or_default(),
            answer: None,
            delivered: false,
            told: false,
        };
        self.row.shown.state = ConversationState::Waiting;
        let mut change = Change::event(Event::Approval { approval: Box::new(shown.clone()) });
        change.new_card = Some(Box::new(card));
        if let Err(error) = self.commit(change).await {
            tracing::error!(%error, "a card could not be stored, so it was refused");
            return self.refuse(&request_id, kind, "the question could not be stored").await;
        }
        Metrics::count(&self.shared.metrics.cards);
        if let Some(run) = &mut self.run {
            run.cards.insert(shown.id.clone(), request_id);
        }
        self.notify(&shown);
        self.shared.tell(News::approval(&shown));
    }

    /// The session asks again what it asked before the host or the run ended.
    pub(crate) async fn take_up(&mut self, request_id: String, card: StoredApproval) {
        let is_pending = card.shown.state == ApprovalState::Pending;
        if let Some(run) = &mut self.run {
            run.cards.insert(card.shown.id.clone(), request_id);
        }
        if is_pending {
            self.row.shown.state = ConversationState::Waiting;
            let event = Event::Approval { approval: Box::new(card.shown) };
            self.keep(Change::event(event)).await;
        } else {
            self.hand_over(card).await;
        }
    }

    /// Takes a person's answer.
    pub(crate) async fn answer_card(
        &mut self,
        id: String,
        request: AnswerRequest,
        by: String,
        reply: Reply<AnswerOutcome>,
    ) {
        let outcome = self.settle_by_person(id, request, by).await;
        let taken = match &outcome {
            Ok(AnswerOutcome::Taken(card)) => Some(card.as_ref().clone()),
            _ => None,
        };
        drop(reply.send(outcome));
        if let Some(card) = taken {
            Metrics::count(&self.shared.metrics.answers);
            self.settled(card).await;
        }
    }

    async fn settle_by_person(
        &mut self,
        id: String,
        request: AnswerRequest,
        by: String,
    ) -> Result<AnswerOutcome, Refusal> {
        let wanted = id.clone();
        let found = self.shared.store.read(move |db| StoredApproval::find(db, &wanted)).await?;
        let Some(card) = found else { return Ok(AnswerOutcome::Unknown) };
        let answer = answer_for(&card.shown, &request)?;
        let (state, action) = outcome(request.decision);
        let edited = if request.updated_input.is_some() { " edited" } else { "" };
        let always = if request.always.is_empty() { "" } else { " always" };
        let detail = format!(
            "{} {} sha256:{}{edited}{always}",
            id, card.shown.tool_name, card.shown.input_hash
        );
        let note = self.audit_note(&by, action, detail);
        let settled = Settled {
            state,
            by: Some(by),
            at: self.shared.now(),
            message: request.message.clone(),
            answer: Some(answer),
        };
        let outcome = self
            .shared
            .store
            .write(move |db| {
                let outcome = StoredApproval::settle(db, &id, settled)?;
                if matches!(outcome, AnswerOutcome::Taken(_)) {
                    note.insert(db)?;
                }
                Ok(outcome)
            })
            .await?;
        Ok(outcome)
    }

    /// Gives the session an answer, once.
    pub(crate) async fn hand_over(&mut self, card: StoredApproval) {
        let id = card.shown.id.clone();
        let request = self.run.as_mut().and_then(|run| run.cards.remove(&id));
        let Some(request_id) = request else { return };
        // What is noted as delivered and then lost is asked again; the other way round a call
        // could run twice.
        let fresh = self.shared.store.write(move |db| StoredApproval::deliver(db, &id)).await;
        let kind = card.shown.kind;
        let is_first = matches!(fresh, Ok(true));
        let answer = match fresh {
            Ok(true) => card.answer.clone().unwrap_or_else(|| denial(kind)),
            Ok(false) => refusal(kind, "This answer was used before."),
            Err(error) => {
                tracing::error!(%error, "an answer could not be noted, so it was a refusal");
                refusal(kind, "The answer could not be stored.")
            }
        };
        let Some(run) = &mut self.run else { return };
        run.set_busy();
        // A session that takes nothing any more has ended; the next one asks again.
        if !run.respond(&request_id, answer).await && is_first {
            let returned = self.shared.store.write(move |db| card.take_back(db)).await;
            if let Err(error) = returned {
                tracing::error!(%error, "an answer was lost with its session");
            }
        }
    }

    /// A card's time is over.
    pub(crate) async fn expire_card(&mut self, id: String) {
        let note = self.audit_note("", "approval.expire", id.clone());
        let at = self.shared.now();
        let outcome = self.shared.store.write(move |db| {
            let found = StoredApproval::find(db, &id)?;
            let kind = found.map_or(ApprovalKind::Permission, |card| card.shown.kind);
            let message = match kind {
                ApprovalKind::Elicitation => UNANSWERED,
                _ => EXPIRED,
            };
            let settled = Settled {
                state: ApprovalState::Expired,
                by: None,
                at,
                message: Some(message.to_owned()),
                answer: Some(refusal(kind, EXPIRED)),
            };
            let outcome = StoredApproval::settle(db, &id, settled)?;
            if matches!(outcome, AnswerOutcome::Taken(_)) {
                note.insert(db)?;
            }
            Ok(outcome)
        });
        if let Ok(AnswerOutcome::Taken(card)) = outcome.await {
            self.settled(*card).await;
        }
    }

    /// The session does not want an answer any more.
    pub(crate) async fn withdraw_request(&mut self, request_id: &str) {
        let card = self.run.as_ref().and_then(|run| run.card_of(request_id));
        let Some(card) = card else { return };
        if let Some(run) = &mut self.run {
            run.cards.remove(&card);
        }
        self.settle_quietly(card, ApprovalState::Withdrawn).await;
        self.wait_no_more().await;
    }

    /// A conversation whose last card is gone works again, where its run does.
    pub(crate) async fn wait_no_more(&mut self) {
        let is_busy = self.run.as_ref().is_some_and(|run| run.busy_since.is_some());
        let shown = &mut self.row.shown;
        if is_busy && shown.pending_approvals == 0 && shown.state == ConversationState::Waiting {
            shown.state = ConversationState::Running;
            self.keep(Change::default()).await;
        }
    }

    /// Withdraws every card that still waits.
    pub(crate) async fn withdraw_all(&mut self) {
        for card in self.open_cards().await.unwrap_or_default() {
            if card.shown.state == ApprovalState::Pending {
                self.settle_quietly(card.shown.id, ApprovalState::Withdrawn).await;
            }
        }
    }

    /// Settles a card without an answer for the session.
    pub(crate) async fn settle_quietly(&mut self, id: String, state: ApprovalState) {
        let at = self.shared.now();
        let settled = Settled { state, by: None, at, message: None, answer: None };
        let outcome =
            self.shared.store.write(move |db| StoredApproval::settle(db, &id, settled)).await;
        if let Ok(AnswerOutcome::Taken(card)) = outcome {
            let event = Event::Approval { approval: Box::new(card.shown.clone()) };
            self.keep(Change::event(event)).await;
            self.shared.tell(News::approval(&card.shown));
        }
    }

    /// Cards that wait, or whose answer the session has not had.
    pub(crate) async fn open_cards(&self) -> Result<Vec<StoredApproval>, Refusal> {
        let id = self.row.shown.id.clone();
        Ok(self.shared.store.read(move |db| StoredApproval::open_of(db, &id)).await?)
    }

    async fn refuse(&self, request_id: &str, kind: ApprovalKind, message: &str) {
        if let Some(run) = &self.run {
            run.respond(request_id, refusal(kind, message)).await;
        }
    }

    /// Tells people of a card through a program of their choice.
    fn notify(&mut self, card: &Approval) {
        let Some((program, arguments)) = self.shared.settings.notify.split_first() else { return };
        let mut command = tokio::process::Command::new(program);
        command.args(arguments).arg(&card.display.title).arg(&self.row.shown.title);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.kill_on_drop(true);
        self.errands.spawn(async move {
            match command.spawn() {
                Ok(mut child) => {
                    drop(tokio::time::timeout(LONGEST_NOTICE, child.wait()).await);
                }
                Err(error) => tracing::warn!(%error, "nobody could be told of a card"),
            }
        });
    }
}
