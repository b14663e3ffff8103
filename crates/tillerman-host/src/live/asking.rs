//! What people ask a session for beside messages: its model, its files, its tasks.

use serde_json::{Value, json};

use crate::compose::check_mode;
use crate::live::committing::Change;
use crate::live::order::{Refusal, RefusalKind, Reply};
use crate::live::run::Pending;
use crate::live::talk::Talk;
use crate::store::MessageRow;
use crate::wire::{Conversation, ConversationPatch, ConversationState, Event, RewindRequest};

const LONGEST_TITLE: usize = 300;

impl Talk {
    /// Changes what a conversation is called, and how its run works.
    pub(crate) async fn change(
        &mut self,
        patch: ConversationPatch,
    ) -> Result<Conversation, Refusal> {
        if let Some(title) = &patch.title {
            if title.chars().count() > LONGEST_TITLE {
                return Err(Refusal::new(RefusalKind::Bad, "The title is too long."));
            }
            self.row.shown.title = title.trim().to_owned();
            self.row.is_titled = true;
        }
        if let Some(archived) = patch.archived {
            self.row.shown.archived = archived;
        }
        if let Some(mode) = patch.permission_mode {
            self.choose_mode(mode).await?;
        }
        if let Some(model) = patch.model {
            let chosen = Some(&model).filter(|model| !model.is_empty());
            let body = json!({"subtype": "set_model", "model": chosen});
            self.row.shown.model = model;
            if let Some(run) = &mut self.run {
                run.request(body, Pending::Nobody).await;
            }
        }
        self.commit(Change::default()).await?;
        self.shared.tell(crate::live::feed::News::conversation(&self.shown()));
        Ok(self.shown())
    }

    async fn choose_mode(&mut self, mode: String) -> Result<(), Refusal> {
        check_mode(&mode).map_err(|text| Refusal::new(RefusalKind::Bad, text))?;
        if mode == "bypassPermissions" && !self.shared.settings.may_bypass {
            let text = "bypassPermissions is off for this host. Start it with --allow-bypass to \
                        let people choose it.";
            return Err(Refusal::new(RefusalKind::Forbidden, text));
        }
        if let Some(run) = &mut self.run {
            let body = json!({"subtype": "set_permission_mode", "mode": mode});
            run.request(body, Pending::Nobody).await;
        }
        self.row.shown.permission_mode = mode;
        Ok(())
    }

    /// Asks the session something; one that sleeps is woken for it.
    pub(crate) async fn ask(&mut self, body: Value, reply: Reply<Value>) {
        if let Err(refusal) = self.ensure_run().await {
            return drop(reply.send(Err(refusal)));
        }
        if let Some(run) = &mut self.run {
            run.request(body, Pending::Reply(reply)).await;
        }
    }

    /// What the session says about itself: commands, agents, models.
    pub(crate) async fn greet(&mut self, reply: Reply<Value>) {
        if let Err(refusal) = self.ensure_run().await {
            return drop(reply.send(Err(refusal)));
        }
        let Some(run) = &mut self.run else { return };
        if let Some(greeting) = &run.greeting {
            return drop(reply.send(Ok(greeting.clone())));
        }
        if let Some(reply) = run.await_greeting(reply) {
            let text = "The session does not say what it can do.";
            drop(reply.send(Err(Refusal::new(RefusalKind::Failed, text))));
        }
    }

    /// The session has answered.
    pub(crate) async fn answered(&mut self, response: &Value) {
        let id = response["request_id"].as_str().unwrap_or_default();
        let Some(run) = &mut self.run else { return };
        let Some(pending) = run.take_request(id) else { return };
        let answer = if response["subtype"] == "success" {
            Ok(response["response"].clone())
        } else {
            let error = response["error"].as_str().unwrap_or("The session refused.").to_owned();
            Err(Refusal::new(RefusalKind::Failed, error))
        };
        match pending {
            Pending::Greeting(waiting) => {
                run.greeting = Some(answer.clone().unwrap_or_default());
                for reply in waiting {
                    drop(reply.send(answer.clone()));
                }
            }
            Pending::Reply(reply) => drop(reply.send(answer)),
            Pending::Rewinding { request, by, reply } => {
                let answer = match answer {
                    Ok(answer) => self.rewound(&request, &by, &answer).await.map(|()| answer),
                    Err(refusal) => Err(refusal),
                };
                drop(reply.send(answer));
            }
            Pending::Reopening(cards) => {
                self.reopened(&cards, &answer.unwrap_or_default()).await;
            }
            Pending::TakingBack(message, reply) => {
                self.taken_back(message, &answer.unwrap_or_default(), reply).await;
            }
            Pending::Nobody => {
                if let Err(refusal) = answer {
                    tracing::warn!(error = refusal.message, "a session refused a request");
                }
            }
        }
    }

    /// Brings files back and, where that is wanted, has the conversation forget as well.
    pub(crate) async fn rewind(&mut self, request: RewindRequest, by: String, reply: Reply<Value>) {
        let is_busy = self.run.as_ref().is_some_and(|run| run.busy_since.is_some());
        if is_busy && !request.dry_run {
            let text = "A round is under way. Stop it first, then rewind.";
            return drop(reply.send(Err(Refusal::new(RefusalKind::Conflict, text))));
        }
        let body = json!({"subtype": "rewind_files", "user_message_id": request.message_id,
            "dry_run": request.dry_run});
        if request.dry_run {
            return self.ask(body, reply).await;
        }
        if let Err(refusal) = self.ensure_run().await {
            return drop(reply.send(Err(refusal)));
        }
        if let Some(run) = &mut self.run {
            run.request(body, Pending::Rewinding { request, by, reply }).await;
        }
    }

    /// Files are back. Where that is wanted, the conversation forgets the message and everything
    /// after it from its next run on.
    async fn rewound(
        &mut self,
        request: &RewindRequest,
        by: &str,
        answer: &Value,
    ) -> Result<(), Refusal> {
        if request.conversation {
            self.forget_from(&request.message_id).await?;
        }
        let files = answer["filesChanged"].as_array().map_or(0, Vec::len);
        let mut change = Change::event(Event::Rewound {
            message_id: request.message_id.clone(),
            conversation: request.conversation,
            files: files as u64,
        });
        let note = self.audit_note(by, "conversation.rewind", request.message_id.clone());
        change.audit.push(note);
        self.commit(change).await?;
        // The next run begins where the conversation now ends.
        if let Some(run) = self.run.as_mut().filter(|_| request.conversation) {
            run.close_input();
        }
        Ok(())
    }

    async fn forget_from(&mut self, message: &str) -> Result<(), Refusal> {
        let (conversation, wanted) = (self.row.shown.id.clone(), message.to_owned());
        let is_continued = self
            .shared
            .store
            .write(move |db| MessageRow::withdraw_from(db, &conversation, &wanted))
            .await?;
        if is_continued {
            self.row.drops_message = Some(message.to_owned());
        } else {
            // Nothing is left of the session, so that there is nothing to resume.
            self.row.shown.session_id = None;
            self.row.session_begun = false;
            self.row.session_cost = 0.0;
        }
        self.row.shown.state = ConversationState::Idle;
        Ok(())
    }
}
