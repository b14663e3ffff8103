//! Starting over and changing what a session is made of, while it runs.

use serde_json::Map;
use tillerman_protocol::SessionId;
use tillerman_protocol::frame::{ConversationReset, Frame};
use tillerman_protocol::tool::ToolSpec;

use crate::conversation::Conversation;
use crate::effect::{Effect, Sync};
use crate::input::{Listing, Prompt, ToolChange};
use crate::ledger::Ledger;
use crate::session::{Chain, Fullness, Session};

impl Session {
    /// Empties the conversation and goes on under a new id. What was said stays stored under the
    /// old one, from which it can be resumed.
    pub(crate) fn start_over(&mut self) {
        let new = SessionId::new(self.ids.entry_id().as_str());
        // A conversation in which nothing was said leaves nothing behind.
        if self.chain.tip.is_some() {
            self.append_costs();
            self.effects.push(Effect::Sync(Sync::Finish));
        }
        let reset = ConversationReset {
            new_conversation_id: new.clone(),
            trigger: Some("clear".to_owned()),
            uuid: self.ids.entry_id(),
            session_id: self.config.session_id.clone(),
            extra: Map::new(),
        };
        self.emit(Frame::ConversationReset(reset));
        self.conversation = Conversation::default();
        self.spending.before = self.spending.before.plus(self.ledger.total());
        self.forget_budget_news();
        self.ledger = Ledger::default();
        self.context = Fullness::default();
        // Ids of prompts stay known: one that comes twice was taken before all the same.
        self.chain = Chain { prompts: std::mem::take(&mut self.chain.prompts), ..Chain::default() };
        self.config.session_id = new.clone();
        self.effects.push(Effect::StartOver { session: new });
    }

    /// Takes over what `init` lists from now on.
    pub(crate) fn relist(&mut self, listing: Listing) {
        let init = &mut self.config.init;
        init.slash_commands = listing.slash_commands;
        init.skills = listing.skills;
        init.plugins = listing.plugins;
        let Some(change) = listing.tool else { return };
        let mut tools: Vec<ToolSpec> = self.config.tools.to_vec();
        match change {
            ToolChange::Offered(tool) => match tools.iter_mut().find(|it| it.name == tool.name) {
                Some(held) => *held = tool,
                None => tools.push(tool),
            },
            ToolChange::Withdrawn(name) => tools.retain(|it| it.name != name),
        }
        self.config.offer(&tools);
    }

    /// The model that answers these prompts: the one that a command among them asks for, if any.
    pub(crate) fn model_for(&self, prompts: &[Prompt]) -> String {
        let wanted = prompts.iter().find_map(|prompt| prompt.command.as_ref()?.model.as_deref());
        wanted.map_or_else(
            || self.choices.model.clone(),
            |name| self.config.catalog.resolve(name).to_owned(),
        )
    }
}
