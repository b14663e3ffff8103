//! What a definition makes of a session that itself works by it.

use std::path::PathBuf;

use serde_json::Value;
use tillerman_ports::{Grounds, Library};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::permission::PermissionMode;

use crate::agents::belongings::{Belongings, about_memory};
use crate::agents::setup::{Chosen, MainAgent};
use crate::agents::skills::with_skills;

/// What a definition makes of a session.
#[derive(Debug)]
pub(crate) struct MainPart {
    /// The definition, with the tools that keeping a memory takes.
    pub(crate) definition: AgentDefinition,
    /// The system prompt, with skills and memory.
    pub(crate) prompt: String,
    /// Where the memory is, which the session keeps itself.
    pub(crate) keeps: Option<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) mode: Option<PermissionMode>,
    /// What it could not have of what its definition asks for.
    pub(crate) remarks: Vec<String>,
}

/// What the session has to give.
pub(crate) struct Surroundings<'a> {
    pub(crate) library: Option<&'a dyn Library>,
    pub(crate) grounds: &'a dyn Grounds,
    pub(crate) may_bypass: bool,
}

impl MainPart {
    /// Reads a definition for the session itself. What was chosen for the session outranks it.
    pub(crate) fn new(
        definition: &AgentDefinition,
        main: &MainAgent,
        around: &Surroundings<'_>,
    ) -> Self {
        let mut remarks = Vec::new();
        let mut prompt = with_skills(around.library, definition);
        let belongings = remember(definition, around.grounds, &mut remarks);
        if let Some(memory) = &belongings.memory {
            prompt.push_str(&about_memory(memory));
        }
        if definition.isolation.is_some() {
            remarks.push(
                "works in the directory it was started in, although its definition asks for \
                 isolation, which is for agents below a session"
                    .to_owned(),
            );
        }
        let free = |chosen| !main.chosen.contains(&chosen);
        let model = definition.model.clone().filter(|model| model != "inherit");
        let effort = definition.effort.as_ref().and_then(Value::as_str).map(str::to_owned);
        let mode = definition.permission_mode.filter(|_| free(Chosen::Mode));
        Self {
            prompt,
            keeps: belongings.memory.as_ref().map(|memory| memory.directory.clone()),
            model: model.filter(|_| free(Chosen::Model)),
            effort: effort.filter(|_| free(Chosen::Effort)),
            mode: mode.and_then(|mode| permitted(mode, around.may_bypass, &mut remarks)),
            definition: belongings.equip(definition),
            remarks,
        }
    }
}

fn remember(
    definition: &AgentDefinition,
    grounds: &dyn Grounds,
    remarks: &mut Vec<String>,
) -> Belongings {
    let Some(scope) = &definition.memory else { return Belongings::default() };
    match grounds.memory(&definition.name, scope) {
        Ok(memory) => Belongings { memory: Some(memory), ..Belongings::default() },
        Err(why) => {
            remarks.push(format!("has no memory ({scope}): {why}"));
            Belongings::default()
        }
    }
}

/// To bypass permissions takes more than a definition, wherever it comes from.
fn permitted(
    mode: PermissionMode,
    may_bypass: bool,
    remarks: &mut Vec<String>,
) -> Option<PermissionMode> {
    if mode == PermissionMode::BypassPermissions && !may_bypass {
        remarks.push(
            "keeps its permission mode, since bypassPermissions is for sessions that were started \
             for it (--allow-dangerously-skip-permissions)"
                .to_owned(),
        );
        return None;
    }
    Some(mode)
}
