//! Building the database anew from what transcripts say.

use tillerman_protocol::Moment;

use crate::host::FIRST_USER;
use crate::live::new_id;
use crate::store::{AttachmentRow, ConversationRow, NewEvent, Store, StoreError, first_owner};
use crate::wire::{Conversation, ConversationState, Event};

/// What a transcript says about a conversation.
#[derive(Clone, Debug, Default)]
pub struct Retold {
    /// The session.
    pub session_id: String,
    /// Where it worked.
    pub cwd: String,
    /// What happened, oldest first: messages of people as [`Event::User`], all else as frames.
    pub events: Vec<(Moment, Event)>,
    /// Dollars it has cost.
    pub cost_usd: f64,
}

/// What became of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reindexed {
    /// A conversation that was known has its events anew.
    Rebuilt,
    /// A conversation was made for a session that the database did not know.
    Found,
    /// There was nothing in it.
    Empty,
}

impl Store {
    /// Puts what a transcript says in place of what the database says about its session. Titles,
    /// projects, cards and spending stay as they are.
    ///
    /// # Errors
    ///
    /// When the database refuses.
    pub async fn reindex(&self, retold: Retold) -> Result<Reindexed, StoreError> {
        let (Some((began, _)), Some((ended, _))) = (retold.events.first(), retold.events.last())
        else {
            return Ok(Reindexed::Empty);
        };
        let (began, ended) = (*began, *ended);
        let fresh = new_id().ok_or(StoreError::Silent)?;
        self.write(move |db| {
            let known = ConversationRow::of_session(db, &retold.session_id)?;
            let is_known = known.is_some();
            // Transcripts do not say whose they are.
            let owner = first_owner(db, FIRST_USER)?;
            let mut row = known.unwrap_or_else(|| blank(fresh, owner, &retold, began));
            if !is_known {
                row.insert(db)?;
            }
            NewEvent::forget_all(db, &row.shown.id)?;
            row.last_seq = 0;
            row.shown.updated_at = ended;
            row.shown.session_id = Some(retold.session_id.clone());
            row.session_begun = true;
            row.session_cost = retold.cost_usd;
            row.shown.cost_usd = row.shown.cost_usd.max(retold.cost_usd);
            for (at, mut event) in retold.events {
                row.last_seq += 1;
                // Transcripts hold the files of messages in another form; the database has them.
                if let Event::User { message_id, attachments, .. } = &mut event {
                    *attachments = AttachmentRow::notes(db, &row.shown.id, message_id)?;
                }
                let words = crate::live::words(&event);
                row.heard(&words);
                let body = serde_json::to_string(&event).unwrap_or_default();
                NewEvent { seq: row.last_seq, at, body, words }.insert(db, &row.shown.id)?;
            }
            row.update(db)?;
            Ok(if is_known { Reindexed::Rebuilt } else { Reindexed::Found })
        })
        .await
    }
}

fn blank(id: String, owner: String, retold: &Retold, began: Moment) -> ConversationRow {
    ConversationRow {
        shown: Conversation {
            id,
            title: String::new(),
            owner,
            project_id: None,
            cwd: retold.cwd.clone(),
            model: String::new(),
            permission_mode: "default".to_owned(),
            created_at: began,
            updated_at: began,
            archived: false,
            session_id: None,
            state: ConversationState::Idle,
            pending_approvals: 0,
            queued: 0,
            cost_usd: 0.0,
            last_text: String::new(),
            snippet: None,
        },
        session_begun: true,
        session_cost: 0.0,
        last_seq: 0,
        outages: 0,
        is_titled: false,
        drops_message: None,
    }
}
