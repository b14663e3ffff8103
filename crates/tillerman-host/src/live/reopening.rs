//! Answers that outlive their run: the session that is started for them, and what it is told.

use serde_json::{Value, json};

use crate::live::answers::retelling;
use crate::live::committing::Change;
use crate::live::feed::News;
use crate::live::run::{Pending, Run};
use crate::live::talk::Talk;
use crate::store::StoredApproval;
use crate::wire::{ApprovalState, ConversationState, Event};

/// What a session is told that starts afresh and cannot be handed an answer.
const ANSWERED: &str = "What the user was asked has been answered meanwhile. Go on with the work.";

impl Talk {
    /// Tells everybody of an answer and hands it to the session, starting that if need be.
    pub(crate) async fn settled(&mut self, card: StoredApproval) {
        self.row.shown.pending_approvals = self.row.shown.pending_approvals.saturating_sub(1);
        if self.row.shown.pending_approvals == 0 {
            self.row.shown.state = ConversationState::Running;
        }
        self.keep(Change::event(Event::Approval { approval: Box::new(card.shown.clone()) })).await;
        self.shared.tell(News::approval(&card.shown));
        match &self.run {
            // A run that is told to end takes no more answers; the next one does.
            Some(run) if run.is_leaving => self.start_for_answers().await,
            Some(run) if run.cards.contains_key(&card.shown.id) => self.hand_over(card).await,
            // The run that is on its way asks again and gets the answer then.
            Some(_) => {}
            None => self.start_for_answers().await,
        }
    }

    /// Starts the session, which asks again what was answered, or is told of it.
    pub(crate) async fn start_for_answers(&mut self) {
        // Whatever else was planned begins with the same run.
        self.trouble.restart_at = None;
        self.trouble.look_at = None;
        if let Err(refusal) = self.ensure_run().await {
            return self.failed_to_start(&refusal).await;
        }
        if self.is_reopening() {
            return;
        }
        // The session that asked is gone, and this one has heard nothing yet.
        if self.messages.is_empty() {
            self.nudge(ANSWERED).await;
        } else {
            self.deliver_all(true).await;
        }
    }

    /// Has the session go on by itself: at once, or when it turns out that nothing else does.
    pub(crate) async fn nudge(&mut self, text: &'static str) {
        let Some(run) = &mut self.run else { return };
        if run.is_reopening() {
            run.nudge = Some(text);
            return;
        }
        run.set_busy();
        run.send(synthetic(text)).await;
    }

    /// Cards that wait, and those whose answer no session has heard of.
    pub(crate) async fn unheard_cards(&self) -> Vec<StoredApproval> {
        let mut open = self.open_cards().await.unwrap_or_default();
        open.retain(|card| !card.told);
        open
    }

    /// Whether somebody has answered what no session has heard of.
    pub(crate) async fn has_answers(&self) -> bool {
        self.unheard_cards().await.iter().any(StoredApproval::is_unheard)
    }

    /// Answers that nobody wants any more go to no session.
    pub(crate) async fn use_up(&mut self, cards: Vec<String>) {
        let used = self.shared.store.write(move |db| {
            for card in &cards {
                StoredApproval::deliver(db, card)?;
            }
            Ok(())
        });
        if let Err(error) = used.await {
            tracing::error!(%error, "a session may be told of an answer that nobody wants");
        }
    }

    /// Uses up every answer that no session has had.
    pub(crate) async fn use_up_answers(&mut self) {
        let open = self.open_cards().await.unwrap_or_default();
        let answered = open.into_iter().filter(|card| card.shown.state != ApprovalState::Pending);
        let ids: Vec<String> = answered.map(|card| card.shown.id).collect();
        if !ids.is_empty() {
            self.use_up(ids).await;
        }
    }

    /// Has a session that was started take up the calls again that cards are about.
    pub(crate) async fn reopen(&mut self) {
        let session = self.row.shown.session_id.clone().unwrap_or_default();
        let (ours, others): (Vec<_>, Vec<_>) =
            self.unheard_cards().await.into_iter().partition(|card| card.session_id == session);
        let mut strange = Vec::new();
        for card in others {
            match card.shown.state {
                ApprovalState::Pending => {
                    self.settle_quietly(card.shown.id, ApprovalState::Withdrawn).await;
                }
                _ => strange.push(card.shown.id),
            }
        }
        if !strange.is_empty() {
            self.use_up(strange).await;
        }
        if ours.is_empty() {
            return;
        }
        let calls: Vec<&str> = ours.iter().map(|card| card.shown.tool_use_id.as_str()).collect();
        // Questions of servers belong to no call.
        let calls: Vec<&str> = calls.into_iter().filter(|call| !call.is_empty()).collect();
        let body = json!({"subtype": "reopen_calls", "tool_use_ids": calls});
        let cards = ours.iter().map(|card| card.shown.id.clone()).collect();
        if let Some(run) = &mut self.run {
            run.request(body, Pending::Reopening(cards)).await;
        }
    }

    /// The session has said which calls it took up again.
    pub(crate) async fn reopened(&mut self, cards: &[String], answer: &Value) {
        let taken: Vec<&str> =
            answer["reopened"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut told = Vec::new();
        for card in self.unheard_cards().await {
            let is_ours = cards.contains(&card.shown.id);
            if !is_ours || taken.contains(&card.shown.tool_use_id.as_str()) {
                continue;
            }
            match card.shown.state {
                ApprovalState::Pending => {
                    self.settle_quietly(card.shown.id, ApprovalState::Withdrawn).await;
                }
                _ => told.push((card.shown.id.clone(), retelling(&card.shown))),
            }
        }
        let (ids, told): (Vec<String>, Vec<String>) = told.into_iter().unzip();
        let is_idle = taken.is_empty() && told.is_empty();
        if let Some(run) = self.run.as_mut().filter(|_| !told.is_empty()) {
            run.set_busy();
            run.send(synthetic(&told.join("\n\n"))).await;
            self.note_told(ids).await;
        }
        let nudge = self.run.as_mut().and_then(|run| run.nudge.take());
        match nudge {
            Some(text) if is_idle && self.messages.is_empty() => self.nudge(text).await,
            // With nothing taken up, whatever was cut off has to be started by its own message.
            _ => self.deliver_all(is_idle).await,
        }
        let is_busy = self.run.as_ref().is_some_and(|run| run.busy_since.is_some());
        if is_idle && !is_busy && self.trouble.look_at.is_none() {
            self.row.shown.state = ConversationState::Idle;
            self.keep(Change::default()).await;
        }
    }

    async fn note_told(&self, ids: Vec<String>) {
        let noted = self.shared.store.write(move |db| StoredApproval::note_told(db, &ids)).await;
        if let Err(error) = noted {
            tracing::error!(%error, "a session may be told of an answer once more");
        }
    }

    /// What a session that knows nothing is told of answers to an earlier one; they are used up.
    pub(crate) async fn retell_answers(&mut self) -> Vec<String> {
        let cards = self.unheard_cards().await;
        let answered: Vec<_> = cards.into_iter().filter(StoredApproval::is_unheard).collect();
        let told = answered.iter().map(|card| retelling(&card.shown)).collect();
        if !answered.is_empty() {
            self.use_up(answered.into_iter().map(|card| card.shown.id).collect()).await;
        }
        told
    }

    /// Whether a run is asking its session to take up calls again.
    pub(crate) fn is_reopening(&self) -> bool {
        self.run.as_ref().is_some_and(Run::is_reopening)
    }
}

/// A prompt that no person wrote.
fn synthetic(content: &str) -> Value {
    json!({"type": "user", "session_id": "", "parent_tool_use_id": null, "isSynthetic": true,
        "message": {"role": "user", "content": content}})
}
