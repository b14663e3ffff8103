//! The definition by which a session itself works, as if it were one of its agents.

use tillerman_engine::Input;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::UserFrame;
use tillerman_protocol::tool::ToolSpec;

use crate::agents::child::{offers, policy_below};
use crate::agents::setup::MainAgent;
use crate::hook_lent::{Worker, of_agent};
use crate::session_task::SessionTask;
use crate::setup::SessionSetup;

/// How far the session has become the agent it is to be.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    /// It works by nobody's definition.
    None,
    /// Nobody has defined the agent yet.
    Wanted(MainAgent),
    /// It works by a definition, and its first prompt is to begin with this.
    Taken(Option<String>),
}

impl Role {
    /// Has a session that has not begun work by a definition, if that is known already.
    pub(crate) fn take(
        setup: &mut SessionSetup,
        main: MainAgent,
        definition: Option<&AgentDefinition>,
    ) -> Self {
        let Some(definition) = definition else { return Self::Wanted(main) };
        setup.policy = policy_below(&setup.policy, definition);
        setup.prompt.base.clone_from(&definition.prompt);
        setup.engine.system = setup.prompt.blocks();
        setup.hooks.sources.extend(of_agent(definition, Worker::Session));
        setup.ports.tools.retain(|tool| offers(definition, &tool.spec().name));
        let offered = remaining(definition, &setup.engine.tools);
        setup.engine.offer(&offered);
        if let Some(model) = model_of(definition, &main) {
            setup.engine.model = setup.engine.catalog.resolve(model).to_owned();
        }
        let turns = setup.engine.limits.max_turns;
        setup.engine.limits.max_turns = turns.or(definition.max_turns);
        Self::Taken(definition.initial_prompt.clone())
    }
}

impl SessionTask {
    /// Works by a definition that came with the handshake.
    pub(crate) async fn become_main_agent(&mut self) {
        let Some(agents) = &self.agents else { return };
        let Role::Wanted(main) = agents.role().clone() else { return };
        let Some(definition) = agents.roster().find(&main.name).cloned() else { return };
        self.policy = policy_below(&self.policy, &definition);
        self.facing.prompt.base.clone_from(&definition.prompt);
        let blocks = self.system_blocks();
        self.bring_hooks_of(&definition);
        let tools = remaining(&definition, &self.engine.config().tools);
        self.tools.retain(|name, _| offers(&definition, name));
        self.ports.tools.retain(|tool| offers(&definition, &tool.spec().name));
        self.feed(Input::SystemChosen(blocks)).await;
        self.feed(Input::ToolsChanged(tools)).await;
        if let Some(model) = model_of(&definition, &main) {
            let model = self.engine.config().catalog.resolve(model).to_owned();
            self.feed(Input::ModelChosen(Some(model))).await;
        }
        if let Some(agents) = &mut self.agents {
            agents.narrow(&definition);
            agents.set_role(Role::Taken(definition.initial_prompt.clone()));
            agents.work_by(definition);
        }
    }

    /// The first prompt begins with what the definition says; a definition that never came is
    /// missed aloud.
    pub(crate) async fn open_as_main_agent(&mut self, frame: &mut UserFrame) {
        let Some(agents) = &mut self.agents else { return };
        match std::mem::replace(agents.role_mut(), Role::None) {
            Role::None | Role::Taken(None) => {}
            Role::Taken(Some(text)) => {
                let said =
                    std::mem::replace(&mut frame.message.content, Content::Text(String::new()));
                let mut blocks = vec![Block::text(text)];
                blocks.extend(said.into_blocks());
                frame.message.content = Content::Blocks(blocks);
            }
            Role::Wanted(main) => {
                let names = agents.roster().names().join(", ");
                let text = format!(
                    "There is no agent {}, so the session works as usual. The agents are: {names}.",
                    main.name
                );
                tracing::warn!("{text}");
                self.notify("main_agent", &text).await;
            }
        }
    }
}

fn remaining(definition: &AgentDefinition, tools: &[ToolSpec]) -> std::sync::Arc<[ToolSpec]> {
    tools.iter().filter(|tool| offers(definition, &tool.name)).cloned().collect()
}

fn model_of<'a>(definition: &'a AgentDefinition, main: &MainAgent) -> Option<&'a str> {
    let model = definition.model.as_deref().filter(|model| *model != "inherit");
    model.filter(|_| !main.keeps_model)
}
