//! People's messages: accepted once, delivered once, taken back while they wait.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::live::committing::Change;
use crate::live::order::{Refusal, RefusalKind, Reply};
use crate::live::run::Pending;
use crate::live::shared::new_id;
use crate::live::talk::Talk;
use crate::store::{AuditNote, MessageRow, MessageState, UsageRow, address, day_of};
use crate::wire::{
    Accepted, Attachment, AttachmentNote, ConversationState, Event, NewMessage, RunState,
};

/// Messages that may wait at once.
const MOST_WAITING: usize = 50;
const LONGEST_CLIENT_ID: usize = 200;
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

impl Talk {
    /// Accepts a message and has the run take it up.
    pub(crate) async fn say(&mut self, message: NewMessage, by: String, reply: Reply<Accepted>) {
        let accepted = self.accept(message, by).await;
        let is_new = matches!(accepted, Ok((_, true)));
        // Whoever sent it may have gone; it is stored all the same.
        drop(reply.send(accepted.map(|(accepted, _)| accepted)));
        if is_new && self.row.shown.state != ConversationState::Paused {
            self.trouble.restart_at = None;
            self.deliver().await;
        }
    }

    async fn accept(
        &mut self,
        message: NewMessage,
        by: String,
    ) -> Result<(Accepted, bool), Refusal> {
        check(&message)?;
        let (id, client) = (self.row.shown.id.clone(), message.client_id.clone());
        let earlier =
            self.shared.store.read(move |db| MessageRow::receipt(db, &id, &client)).await?;
        if let Some(accepted) = earlier {
            return Ok((accepted, false));
        }
        self.check_budget().await?;
        if self.messages.len() >= MOST_WAITING {
            let text = "Too many messages wait already. Wait until some are done.";
            return Err(Refusal::new(RefusalKind::Conflict, text));
        }
        let message_id = new_id().ok_or_else(no_ids)?;
        let position = self.next_position();
        let row = MessageRow {
            id: message_id.clone(),
            client_id: message.client_id,
            author: by.clone(),
            text: message.text,
            attachments: message.attachments,
            position,
            at: self.shared.now(),
        };
        let mut change = Change::event(Event::User {
            message_id: message_id.clone(),
            text: row.text.clone(),
            attachments: self.notes_of(&row),
            by,
            client_id: row.client_id.clone(),
        });
        if position > 0 {
            change.push(Event::Queued { message_id: message_id.clone(), position });
        } else {
            self.row.shown.state = ConversationState::Running;
        }
        self.row.heard(&row.text);
        change.new_message = Some(row.clone());
        self.commit(change).await?;
        self.messages.push((row, MessageState::Waiting));
        Ok((Accepted { message_id, position }, true))
    }

    /// What people are told of the files of a message.
    fn notes_of(&self, message: &MessageRow) -> Vec<AttachmentNote> {
        let note = |(place, attachment): (usize, &Attachment)| AttachmentNote {
            name: attachment.name.clone(),
            media_type: attachment.media_type.clone(),
            size: size_of(&attachment.data_base64),
            url: Some(address(&self.row.shown.id, &message.id, place)),
        };
        message.attachments.iter().enumerate().map(note).collect()
    }

    /// Zero when a run would take a message now, otherwise its place.
    fn next_position(&self) -> u32 {
        let is_busy = self.run.as_ref().is_some_and(|run| run.busy_since.is_some())
            || self.row.shown.state == ConversationState::Paused
            || self.row.shown.pending_approvals > 0
            || self.trouble.restart_at.is_some();
        if is_busy { self.waiting().saturating_add(1) } else { 0 }
    }

    async fn check_budget(&self) -> Result<(), Refusal> {
        let project = self.composition().await?.project;
        let day = day_of(self.shared.now());
        let limits = [
            (None, self.shared.settings.daily_budget_usd, "The host"),
            (
                self.row.shown.project_id.clone(),
                project.as_ref().and_then(|project| project.daily_budget_usd),
                "The project",
            ),
        ];
        for (project, limit, whose) in limits {
            let Some(limit) = limit else { continue };
            let day = day.clone();
            let spent = self
                .shared
                .store
                .read(move |db| UsageRow::spent_on(db, &day, project.as_deref()))
                .await?;
            if spent >= limit {
                let text = format!(
                    "{whose} has spent ${spent:.2} today and may spend ${limit:.2}, so the message \
                     was not taken. Raise the daily limit, or wait until midnight UTC."
                );
                return Err(Refusal::new(RefusalKind::Spent, text));
            }
        }
        Ok(())
    }

    /// Hands every message to the run that it does not have; starts a run if there is none.
    pub(crate) async fn deliver(&mut self) {
        if self.messages.is_empty() || self.is_draining {
            return;
        }
        let is_fresh = self.run.is_none();
        if let Err(refusal) = self.ensure_run().await {
            return self.failed_to_start(&refusal).await;
        }
        // Calls that are taken up again go first; what they belong to is under way then.
        if is_fresh && self.is_reopening() {
            return;
        }
        self.deliver_all(is_fresh).await;
    }

    /// Hands messages over. A run that was resumed also gets those that an earlier one had: it
    /// recognises them and goes on with what was cut off.
    pub(crate) async fn deliver_all(&mut self, again: bool) {
        let mut sent = Vec::new();
        let Some(run) = &mut self.run else { return };
        for (message, state) in &mut self.messages {
            if *state != MessageState::Waiting && !again {
                continue;
            }
            run.set_busy();
            if !run.send(frame_of(message)).await {
                break;
            }
            if *state == MessageState::Waiting {
                *state = MessageState::Sent;
                sent.push((message.id.clone(), MessageState::Sent));
            }
        }
        self.row.shown.state = match self.row.shown.pending_approvals {
            0 => ConversationState::Running,
            _ => ConversationState::Waiting,
        };
        self.keep(Change { messages: sent, ..Change::default() }).await;
    }

    pub(crate) async fn failed_to_start(&mut self, refusal: &Refusal) {
        let text = format!("The run could not be started. {}", refusal.message);
        self.enter(ConversationState::Failed, RunState::Failed, text).await;
    }

    pub(crate) async fn take_back(&mut self, message_id: String, reply: Reply<()>) {
        let place = self.messages.iter().position(|(message, _)| message.id == message_id);
        let Some(place) = place else {
            return drop(reply.send(Err(Refusal::unknown("message in the queue"))));
        };
        match (self.messages[place].1, &mut self.run) {
            (MessageState::Waiting, _) => drop(reply.send(self.withdraw(&message_id).await)),
            (MessageState::Sent, Some(run)) => {
                let body = json!({"subtype": "cancel_async_message", "message_uuid": message_id});
                run.request(body, Pending::TakingBack(message_id, reply)).await;
            }
            _ => drop(reply.send(Err(too_late()))),
        }
    }

    /// The run has said whether it still had the message.
    pub(crate) async fn taken_back(&mut self, id: String, answer: &Value, reply: Reply<()>) {
        let outcome =
            if answer["cancelled"] == true { self.withdraw(&id).await } else { Err(too_late()) };
        drop(reply.send(outcome));
    }

    /// A line for the audit.
    pub(crate) fn audit_note(&self, by: &str, action: &str, detail: String) -> AuditNote {
        AuditNote {
            at: self.shared.now(),
            user: by.to_owned(),
            action: action.to_owned(),
            subject: self.row.shown.id.clone(),
            detail,
        }
    }
}

pub(crate) fn no_ids() -> Refusal {
    Refusal::new(RefusalKind::Failed, "The system gives no randomness, so nothing can be named.")
}

fn too_late() -> Refusal {
    Refusal::new(RefusalKind::Conflict, "The run has begun with this message already.")
}

/// How many bytes a base64 text stands for.
fn size_of(base64: &str) -> u64 {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    ((base64.len() / 4 * 3).saturating_sub(padding)) as u64
}

fn check(message: &NewMessage) -> Result<(), Refusal> {
    let bad = |text: String| Err(Refusal::new(RefusalKind::Bad, text));
    if message.client_id.is_empty() || message.client_id.len() > LONGEST_CLIENT_ID {
        return bad("client_id must be a short text that the client chooses.".to_owned());
    }
    if message.text.trim().is_empty() && message.attachments.is_empty() {
        return bad("The message is empty. Say what the agent is to do.".to_owned());
    }
    for attachment in &message.attachments {
        if block_of(attachment).is_none() {
            return bad(format!(
                "{} cannot be attached: its type is {:?}. Images (PNG, JPEG, GIF, WebP), PDF and \
                 text can be.",
                attachment.name, attachment.media_type
            ));
        }
    }
    Ok(())
}

/// A message as a session takes it: text first, then what came with it.
fn frame_of(message: &MessageRow) -> Value {
    let content = if message.attachments.is_empty() {
        json!(message.text)
    } else {
        let text = Some(json!({"type": "text", "text": message.text}));
        let text = text.filter(|_| !message.text.trim().is_empty());
        let blocks: Vec<Value> =
            text.into_iter().chain(message.attachments.iter().filter_map(block_of)).collect();
        Value::Array(blocks)
    };
    json!({
        "type": "user",
        "uuid": message.id,
        "session_id": "",
        "parent_tool_use_id": null,
        "message": {"role": "user", "content": content},
    })
}

/// An attachment as a block; nothing when sessions cannot take its kind or it is not base64.
fn block_of(attachment: &Attachment) -> Option<Value> {
    let Attachment { name, media_type, data_base64: data } = attachment;
    let bytes = STANDARD.decode(data).ok()?;
    let source = json!({"type": "base64", "media_type": media_type, "data": data});
    match media_type.as_str() {
        image if IMAGES.contains(&image) => Some(json!({"type": "image", "source": source})),
        "application/pdf" => Some(json!({"type": "document", "source": source, "title": name})),
        text if text.starts_with("text/") || text == "application/json" => {
            let text = String::from_utf8(bytes).ok()?;
            let text = format!("The attached file {name:?}:\n\n{text}");
            Some(json!({"type": "text", "text": text}))
        }
        _ => None,
    }
}
