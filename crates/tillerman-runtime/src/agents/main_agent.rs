//! The definition by which a session itself works, as if it were one of its agents.

use std::sync::Arc;

use tillerman_engine::Input;
use tillerman_ports::Grounds;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::UserFrame;
use tillerman_protocol::tool::ToolSpec;

use crate::agents::belongings::written_out;
use crate::agents::child::{offers, policy_below};
use crate::agents::main_part::{MainPart, Surroundings};
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
    /// It works by a definition.
    Taken(Taken),
}

/// What is left to do for a session that works by a definition.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// What the first prompt of a conversation is to begin with.
    initial: Option<String>,
    /// What people are to be told with the first prompt.
    remarks: Vec<String>,
}

impl Role {
    /// Has a session that has not begun work by a definition, if that is known already; returns
    /// the definition as the session works by it.
    pub(crate) fn take(
        setup: &mut SessionSetup,
        main: MainAgent,
        definition: Option<&AgentDefinition>,
        grounds: &dyn Grounds,
    ) -> (Self, Option<AgentDefinition>) {
        let Some(definition) = definition else { return (Self::Wanted(main), None) };
        let library = setup.ports.library.as_deref();
        let around = Surroundings { library, grounds, may_bypass: setup.may_bypass };
        let part = MainPart::new(definition, &main, &around);
        let definition = &part.definition;
        setup.policy = policy_below(&setup.policy, definition);
        setup.policy.keeps.extend(part.keeps.clone());
        setup.prompt.base.clone_from(&part.prompt);
        setup.engine.system = setup.prompt.blocks();
        setup.hooks.sources.extend(of_agent(definition, Worker::Session));
        setup.ports.tools.retain(|tool| offers(definition, &tool.spec().name));
        let offered = remaining(definition, &setup.engine.tools);
        setup.engine.offer(&offered);
        if let Some(model) = &part.model {
            setup.engine.model = setup.engine.catalog.resolve(model).to_owned();
        }
        setup.engine.mode = part.mode.unwrap_or(setup.engine.mode);
        setup.engine.effort = part.effort.clone().or_else(|| setup.engine.effort.take());
        let turns = setup.engine.limits.max_turns;
        setup.engine.limits.max_turns = turns.or(definition.max_turns);
        (Self::Taken(Taken::by(&part)), Some(part.definition))
    }
}

impl Taken {
    fn by(part: &MainPart) -> Self {
        let name = &part.definition.name;
        let remark =
            |remark: &String| format!("The session works as the agent {name} and {remark}.");
        Self {
            initial: part.definition.initial_prompt.clone(),
            remarks: part.remarks.iter().map(remark).collect(),
        }
    }
}

impl SessionTask {
    /// Works by a definition that came with the handshake.
    pub(crate) async fn become_main_agent(&mut self) {
        let Some(agents) = &self.agents else { return };
        let Role::Wanted(main) = agents.role().clone() else { return };
        let Some(definition) = agents.roster().find(&main.name).cloned() else { return };
        let grounds = Arc::clone(&agents.tree().grounds);
        let library = self.ports.library.as_deref();
        let may_bypass = self.facing.may_bypass;
        let around = Surroundings { library, grounds: &*grounds, may_bypass };
        let part = MainPart::new(&definition, &main, &around);
        let definition = part.definition.clone();
        self.policy = policy_below(&self.policy, &definition);
        self.policy.keeps.extend(part.keeps.clone());
        self.facing.prompt.base.clone_from(&part.prompt);
        let blocks = self.system_blocks();
        self.bring_hooks_of(&definition);
        let tools = remaining(&definition, &self.engine.config().tools);
        self.tools.retain(|name, _| offers(&definition, name));
        self.ports.tools.retain(|tool| offers(&definition, &tool.spec().name));
        self.feed(Input::SystemChosen(blocks)).await;
        self.feed(Input::ToolsChanged(tools)).await;
        if let Some(model) = &part.model {
            let model = self.engine.config().catalog.resolve(model).to_owned();
            self.feed(Input::ModelChosen(Some(model))).await;
        }
        if part.effort.is_some() {
            self.feed(Input::EffortChosen(part.effort.clone())).await;
        }
        if let Some(mode) = part.mode.filter(|mode| *mode != self.engine.mode()) {
            self.feed(Input::ModeChosen(mode)).await;
        }
        if let Some(agents) = &mut self.agents {
            agents.narrow(&definition);
            agents.set_role(Role::Taken(Taken::by(&part)));
            agents.work_by(definition.clone());
        }
        self.add_servers(written_out(&definition));
    }

    /// The first prompt begins with what the definition says; a definition that never came, and
    /// what it asks for in vain, is missed aloud.
    pub(crate) async fn open_as_main_agent(&mut self, frame: &mut UserFrame) {
        let Some(agents) = &mut self.agents else { return };
        let remarks = match std::mem::replace(agents.role_mut(), Role::None) {
            Role::None => return,
            Role::Taken(taken) => {
                let is_new = self.engine.conversation().messages().is_empty();
                if let Some(text) = taken.initial.filter(|_| is_new) {
                    put_before(text, frame);
                }
                taken.remarks
            }
            Role::Wanted(main) => {
                let names = agents.roster().names().join(", ");
                let text = format!(
                    "There is no agent {}, so the session works as usual. The agents are: {names}.",
                    main.name
                );
                vec![text]
            }
        };
        for text in remarks {
            tracing::warn!("{text}");
            self.notify("main_agent", &text).await;
        }
    }
}

fn put_before(text: String, frame: &mut UserFrame) {
    let said = std::mem::replace(&mut frame.message.content, Content::Text(String::new()));
    let mut blocks = vec![Block::text(text)];
    blocks.extend(said.into_blocks());
    frame.message.content = Content::Blocks(blocks);
}

fn remaining(definition: &AgentDefinition, tools: &[ToolSpec]) -> Arc<[ToolSpec]> {
    tools.iter().filter(|tool| offers(definition, &tool.name)).cloned().collect()
}
