//! What an agent is started with: its parent's world, cut down to what its definition says.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use tillerman_engine::{AgentIdentity, Books, Echo, Limits, Prompt, Restored, SessionConfig};
use tillerman_policy::{Policy, Rule};
use tillerman_ports::{Tool, Transcript, WorkingCopy};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::frame::Init;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::ToolSpec;
use tillerman_protocol::{Moment, SessionId, ToolUseId};
use tokio::sync::mpsc;

use crate::agents::book::Agent;
use crate::agents::desk::Agents;
use crate::agents::message;
use crate::agents::order::{self, AGENT, is_agent_call};
use crate::agents::roster::split;
use crate::agents::skills::with_skills;
use crate::hook_desk::HookDesk;
use crate::hook_line::HookLine;
use crate::session_task::{Inbound, SessionTask};
use crate::setup::{Ports, SessionSetup, SystemPrompt};
use crate::teams::introduction;

/// Tools that no agent has: they are about the conversation with a person.
const NOT_FOR_AGENTS: [&str; 4] =
    ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "StructuredOutput"];

/// An agent that is ready to begin.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) agent: Arc<Agent>,
    pub(crate) tool_use_id: ToolUseId,
    pub(crate) session_id: SessionId,
    pub(crate) started_at: Moment,
    pub(crate) seed: [u64; 2],
    pub(crate) setup: Box<SessionSetup>,
    pub(crate) agents: Agents,
    pub(crate) hooks: HookDesk,
    pub(crate) inbound: mpsc::Receiver<Inbound>,
    /// What it is woken with, in the place of a prompt.
    pub(crate) mail: Vec<Prompt>,
    /// The copy of the project in which it works alone.
    pub(crate) copy: Option<Arc<dyn WorkingCopy>>,
    /// Reaches the hooks of the session that has called it.
    pub(crate) line: HookLine,
}

/// What a definition makes of an agent.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) definition: &'a AgentDefinition,
    pub(crate) identity: AgentIdentity,
    pub(crate) model: String,
    pub(crate) effort: Option<String>,
    pub(crate) transcript: Box<dyn Transcript>,
    pub(crate) restored: Restored,
    /// The directory it works in, where that is its own.
    pub(crate) directory: Option<PathBuf>,
}

impl SessionTask {
    /// The setup of an agent below this session.
    pub(crate) fn child_setup(&mut self, part: Part<'_>, agents: &Agents) -> SessionSetup {
        let definition = part.definition;
        let mode = mode_below(self.engine.mode(), definition.permission_mode);
        let policy = policy_below(&self.policy, definition);
        let mut tools = self.tools_below(&part, agents);
        let deferred = self.defer_below(definition, &mut tools);
        let mut specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec()).collect();
        specs.retain(|spec| !deferred.contains(&spec.name));
        let seat = part.identity.seat.as_ref();
        let name = seat.map(|seat| seat.name.as_str());
        specs.extend(specs_about_agents(definition, agents, name));
        let prompt = SystemPrompt {
            base: with_skills(self.ports.library.as_deref(), definition),
            append: seat.map(introduction),
            memory: self.facing.prompt.memory.clone(),
            environment: self.facing.prompt.environment.clone(),
        };
        let seed = self.seed();
        let parent = self.engine.config();
        let engine = SessionConfig {
            seed,
            model: part.model,
            system: prompt.blocks(),
            tools: specs.into(),
            mode,
            effort: part.effort.or_else(|| parent.effort.clone()),
            limits: Limits {
                max_turns: definition.max_turns.filter(|turns| *turns > 0),
                // The pool decides for all agents together.
                max_budget_usd: None,
                ..parent.limits.clone()
            },
            echo: Echo { partial_messages: false, prompts: true, ..parent.echo },
            init: Init { deferred, ..Init::default() },
            checkpoints: false,
            // A tool that answers for the host does so for the conversation with the host only.
            has_approver: parent.has_approver && self.approver().is_none(),
            structured_output: None,
            agent: Some(part.identity),
            books: Books::Shared,
            ..parent.clone()
        };
        SessionSetup {
            engine,
            restored: part.restored,
            copied: Vec::new(),
            prompt,
            policy,
            may_bypass: mode == PermissionMode::BypassPermissions,
            ports: Ports {
                model: Arc::clone(&self.ports.model),
                tools,
                transcript: part.transcript,
                clock: Arc::clone(&self.ports.clock),
                checkpoints: None,
                keeper: Arc::clone(&self.ports.keeper),
                library: self.ports.library.clone(),
            },
            mirror: self.facing.mirror,
            greeting: Map::new(),
            settings: self.settings_below(),
            mcp: None,
            secrets: self.facing.secrets.clone(),
            shutdown: self.facing.shutdown.clone(),
            agents: None,
            observer: None,
            output_retries: self.facing.output_retries,
            hooks: self.hook_room.below(),
        }
    }

    /// Fresh tools where there are any, since files seen and directories entered are each agent's
    /// own; otherwise the parent's. Nothing that the parent does not have.
    fn tools_below(&self, part: &Part<'_>, agents: &Agents) -> Vec<Arc<dyn Tool>> {
        let definition = part.definition;
        let seat = part.identity.seat.as_ref().map(|seat| seat.name.as_str());
        let toolbox = &agents.tree().toolbox;
        let fresh = match &part.directory {
            Some(directory) => toolbox.tools_in(directory, seat),
            None => toolbox.tools(seat),
        };
        let mine = |tool: &Arc<dyn Tool>| {
            let name = tool.spec().name;
            fresh.iter().find(|fresh| fresh.spec().name == name).unwrap_or(tool).clone()
        };
        let wanted = |tool: &Arc<dyn Tool>| {
            let name = tool.spec().name;
            !NOT_FOR_AGENTS.contains(&name.as_str()) && offers(definition, &name)
        };
        // Servers are shared: an agent calls the tools of those that its parent is connected with.
        let own = self.ports.tools.iter();
        let theirs = self.tools.values().filter(|tool| tool.spec().name.starts_with("mcp__"));
        let mut theirs: Vec<&Arc<dyn Tool>> = theirs.collect();
        theirs.sort_by_key(|tool| tool.spec().name);
        own.chain(theirs).map(mine).filter(wanted).collect()
    }

    /// A seed for a session below this one.
    pub(crate) fn seed(&mut self) -> [u64; 2] {
        [self.ids.below(u64::MAX), self.ids.below(u64::MAX)]
    }
}

/// The tools of an agent that are about other agents.
pub(crate) fn specs_about_agents(
    definition: &AgentDefinition,
    agents: &Agents,
    seat: Option<&str>,
) -> Vec<ToolSpec> {
    let team = agents.tree().team.as_ref().filter(|_| seat.is_some());
    let starts_agents = agents.offers() && offers(definition, AGENT);
    let start = starts_agents.then(|| order::spec(agents.roster(), None));
    let message = (starts_agents || team.is_some()).then(|| message::spec(team));
    start.into_iter().chain(message).collect()
}

/// Whether a definition lets an agent have a tool.
pub(crate) fn offers(definition: &AgentDefinition, name: &str) -> bool {
    let names = |entry: &String, bare: bool| {
        split(entry).is_some_and(|(tool, content)| {
            let same = tool == "*" || tool == name || (is_agent_call(tool) && is_agent_call(name));
            let server = tool.strip_suffix("__*").unwrap_or(tool);
            let of_server = server.starts_with("mcp__")
                && name.strip_prefix(server).is_some_and(|rest| rest.starts_with("__"));
            (same || of_server) && !(bare && content.is_some())
        })
    };
    let listed =
        definition.tools.as_ref().is_none_or(|tools| tools.iter().any(|t| names(t, false)))
            || is_served(definition, name);
    let forbidden = definition.disallowed_tools.iter().flatten().any(|t| names(t, true));
    // Who may not run commands may not watch any.
    let runs_none = name == "Monitor" && is_forbidden(definition, "Bash");
    listed && !forbidden && !runs_none
}

/// Whether a definition takes a tool away altogether.
fn is_forbidden(definition: &AgentDefinition, name: &str) -> bool {
    let mut forbidden = definition.disallowed_tools.iter().flatten().filter_map(|it| split(it));
    forbidden.any(|(tool, content)| tool == name && content.is_none())
}

/// Whether a tool comes from a server that a definition names.
fn is_served(definition: &AgentDefinition, tool: &str) -> bool {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    let serves = |server: &str| {
        let server = server.replace(|char| !is_plain(char), "_");
        let rest = tool.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(server.as_str()));
        !server.is_empty() && rest.is_some_and(|rest| rest.starts_with("__"))
    };
    let entries = || definition.mcp_servers.iter().flatten();
    let mut named = entries().filter_map(Value::as_str);
    let mut written_out = entries().filter_map(Value::as_object).flat_map(Map::keys);
    named.any(serves) || written_out.any(|name| serves(name))
}

/// The parent's rules, and what the definition forbids beyond them. A rule that cannot be read
/// forbids the whole tool.
pub(crate) fn policy_below(parent: &Policy, definition: &AgentDefinition) -> Policy {
    let mut policy = parent.clone();
    for entry in definition.disallowed_tools.iter().flatten() {
        let whole_tool = || split(entry).and_then(|(tool, _)| Rule::parse(tool).ok());
        policy.deny.extend(Rule::parse(entry).ok().or_else(whole_tool));
    }
    policy
}

/// The mode of an agent: its parent's, or a stricter one that its definition asks for. Where the
/// parent needs no approval for edits the agent needs none either, unless it may only look or
/// never ask.
pub(crate) fn mode_below(parent: PermissionMode, wanted: Option<PermissionMode>) -> PermissionMode {
    use PermissionMode::{AcceptEdits, Auto, BypassPermissions, Default, DontAsk, Plan};
    match (parent, wanted) {
        (_, None) => parent,
        (_, Some(Plan)) => Plan,
        (Plan, Some(_)) => Plan,
        (_, Some(DontAsk)) => DontAsk,
        (DontAsk, Some(_)) => DontAsk,
        (BypassPermissions | AcceptEdits | Auto, Some(_)) => parent,
        (Default, Some(_)) => Default,
    }
}
