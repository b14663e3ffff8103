//! Questions of MCP servers as cards: kept and answered like questions about calls.

use serde_json::{Value, json};
use tillerman_protocol::control::PersonRequest;

use crate::display::{Bound, of_elicitation};
use crate::forms;
use crate::live::answers::refusal;
use crate::live::talk::Talk;
use crate::wire::{Approval, ApprovalKind, ApprovalState};

impl Talk {
    /// A server wants to know something.
    pub(crate) async fn elicitation_wanted(&mut self, request_id: String, request: PersonRequest) {
        let Some(asked) = forms::read(request) else {
            return self.decline_server(&request_id).await;
        };
        let session = self.row.shown.session_id.clone().unwrap_or_default();
        let tool_name = format!("mcp__{}", asked.shown.server);
        // What a server asks runs nothing, whatever the mode.
        let bound = Bound {
            tool: &tool_name,
            input: &asked.input,
            cwd: &self.row.shown.cwd,
            session: &session,
            mode: "",
            programs: &Value::Null,
        };
        let hash = bound.hash();
        let open = match self.open_cards().await {
            Ok(open) => open,
            Err(refusal) => {
                tracing::error!(error = refusal.message, "a server's question was declined");
                return self.decline_server(&request_id).await;
            }
        };
        // The same question of an earlier run, whose server went away with it. Two that are open
        // at once are two questions.
        let is_waited_for =
            |card: &str| self.run.as_ref().is_some_and(|run| run.cards.contains_key(card));
        let earlier = open.into_iter().find(|card| {
            card.session_id == session
                && card.shown.kind == ApprovalKind::Elicitation
                && card.shown.input_hash == hash
                && matches!(card.shown.state, ApprovalState::Pending | ApprovalState::Allowed)
                && !is_waited_for(&card.shown.id)
        });
        if let Some(card) = earlier {
            return self.take_up(request_id, card).await;
        }
        let card = Approval {
            tool_name,
            display: of_elicitation(&asked.shown),
            input: asked.input,
            input_hash: hash,
            kind: ApprovalKind::Elicitation,
            elicitation: Some(Box::new(asked.shown)),
            ..self.blank_card()
        };
        self.issue(request_id, card).await;
    }

    /// A server says that the person is done with its page; nobody has to be asked any more whether
    /// to open it.
    pub(crate) async fn page_done(&mut self, frame: &Value) {
        let Some(run) = &self.run else { return };
        let waiting: Vec<String> = run.cards.keys().cloned().collect();
        let asked = ["mcp_server_name", "elicitation_id"];
        for card in self.open_cards().await.unwrap_or_default() {
            let Approval { id, state, input, elicitation, .. } = card.shown;
            let Some(shown) = elicitation.filter(|_| waiting.contains(&id)) else { continue };
            let is_it = state == ApprovalState::Pending
                && asked.iter().all(|name| input[name] == frame[name] && input[name].is_string());
            if !is_it {
                continue;
            }
            let request = self.run.as_mut().and_then(|run| run.cards.remove(&id));
            self.settle_quietly(id, ApprovalState::Withdrawn).await;
            // It agrees to opening the page, which has happened, and to nothing that people could
            // not have agreed to.
            let is_page = shown.url.is_some() && shown.problem.is_none();
            let action = if is_page { "accept" } else { "decline" };
            if let (Some(run), Some(request)) = (&self.run, request) {
                run.respond(&request, json!({"action": action})).await;
            }
        }
        self.wait_no_more().await;
    }

    async fn decline_server(&self, request_id: &str) {
        if let Some(run) = &self.run {
            run.respond(request_id, refusal(ApprovalKind::Elicitation, "")).await;
        }
    }
}
