//! What agents of a project are told and given, put together in a fixed order.

use std::path::PathBuf;

use serde_json::{Map, Value};
use tillerman_protocol::agent::AgentDefinition;

use crate::document::Fault;
use crate::launch::{RunOrder, SessionStart};
use crate::wire::{Agent, Persona, Project, Skill};

/// Names of variables that change what programs do instead of telling them something.
const STEERING: [&str; 16] = [
    "BASH_ENV",
    "ENV",
    "NODE_OPTIONS",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "VIMINIT",
    "EXINIT",
    "LUA_INIT",
    "HOSTALIASES",
    "GLIBC_TUNABLES",
    "SHELL",
    "PATH",
    "HOME",
    "IFS",
];
const STEERING_BEGINNINGS: [&str; 6] = ["LD_", "DYLD_", "GIT_", "PYTHON", "SSL_", "CLAUDE_"];

/// A project with everything it names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Composition {
    pub(crate) project: Option<Project>,
    pub(crate) personas: Vec<Persona>,
    pub(crate) skills: Vec<Skill>,
    pub(crate) agents: Vec<Agent>,
}

impl Composition {
    /// Text for the system prompt: the project's own, then personas, then skills.
    pub(crate) fn prompt(&self) -> String {
        let own = self.project.as_ref().map(|project| project.additional_prompt.clone());
        let skills: Vec<&str> = self.skills.iter().map(|skill| skill.text.trim()).collect();
        let skills = skills.join("\n\n");
        let skills = if skills.is_empty() {
            String::new()
        } else {
            format!("## Skill Instructions\n\n{skills}")
        };
        let parts = own
            .into_iter()
            .chain(self.personas.iter().map(|persona| persona.text.clone()))
            .chain([skills]);
        let parts: Vec<String> =
            parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
        parts.join("\n\n")
    }

    /// The agents that can be called, as the handshake names them.
    pub(crate) fn agents(&self) -> Map<String, Value> {
        let define = |agent: &Agent| {
            let definition = AgentDefinition {
                description: agent.description.clone(),
                prompt: agent.prompt.clone(),
                tools: agent.tools.clone(),
                disallowed_tools: Some(agent.disallowed_tools.clone())
                    .filter(|tools| !tools.is_empty()),
                model: agent.model.clone(),
                ..AgentDefinition::default()
            };
            (agent.name.clone(), serde_json::to_value(definition).unwrap_or_default())
        };
        self.agents.iter().map(define).collect()
    }

    /// The order for a session of this project.
    pub(crate) fn order(&self, session: SessionStart, cwd: PathBuf, mode: String) -> RunOrder {
        let project = self.project.clone().unwrap_or_default();
        let mut disallowed_tools = project.disallowed_tools;
        if mode == "bypassPermissions" {
            // Planning ends with a question, and in this mode nothing is asked.
            disallowed_tools.extend(["EnterPlanMode", "ExitPlanMode"].map(str::to_owned));
        }
        RunOrder {
            session,
            cwd,
            model: None,
            permission_mode: mode,
            may_bypass: false,
            allowed_tools: project.allowed_tools,
            disallowed_tools,
            guarded_paths: project.guarded_paths,
            environment: project.environment,
            mcp_servers: project.mcp_servers,
            max_budget_usd: project.max_budget_usd,
            owner: None,
        }
    }
}

/// Says what is wrong with a project that somebody wants to keep.
pub(crate) fn check(project: &Project) -> Result<(), Fault> {
    if project.name.trim().is_empty() {
        return Err(Fault::new("name", "A project needs a name."));
    }
    if !project.cwd.starts_with('/') {
        let text = "The working directory of a project is an absolute path.";
        return Err(Fault::new("cwd", text));
    }
    for name in project.environment.keys() {
        check_variable(name).map_err(|text| Fault::new("environment", text))?;
    }
    for (field, rules) in
        [("allowed_tools", &project.allowed_tools), ("disallowed_tools", &project.disallowed_tools)]
    {
        if let Some(rule) = rules.iter().find(|rule| rule.is_empty() || rule.starts_with('-')) {
            let text =
                format!("{rule:?} is not a rule about tools, such as Read or Bash(git status).");
            return Err(Fault::new(field, text));
        }
    }
    for (field, amount) in
        [("max_budget_usd", project.max_budget_usd), ("daily_budget_usd", project.daily_budget_usd)]
    {
        if amount.is_some_and(|amount| !amount.is_finite() || amount < 0.0) {
            return Err(Fault::new(field, "A budget is a number of dollars, such as 0.50."));
        }
    }
    if let Some(mode) = &project.permission_mode {
        check_mode(mode).map_err(|text| Fault::new("permission_mode", text))?;
    }
    Ok(())
}

/// Says what is wrong with a mode.
pub(crate) fn check_mode(mode: &str) -> Result<(), String> {
    use tillerman_protocol::permission::PermissionMode;
    match PermissionMode::parse(mode) {
        Some(_) => Ok(()),
        None => {
            let names: Vec<&str> = PermissionMode::ALL.iter().map(|(name, _)| *name).collect();
            Err(format!("{mode:?} is not a permission mode. The modes are {}.", names.join(", ")))
        }
    }
}

fn check_variable(name: &str) -> Result<(), String> {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if !begins || !letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Err(format!("{name:?} is not a name of a variable."));
    }
    let upper = name.to_ascii_uppercase();
    let steers = STEERING.contains(&upper.as_str())
        || upper.ends_with("_PROXY")
        || STEERING_BEGINNINGS.iter().any(|beginning| upper.starts_with(beginning));
    if steers {
        return Err(format!(
            "{name} changes what programs do and cannot be set by a project. Set it for the whole \
             host if you need it."
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
