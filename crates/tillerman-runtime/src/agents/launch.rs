//! From a call for an agent to an agent at work.

use serde_json::{Value, json};
use tillerman_engine::{
    AgentIdentity, AgentTask, CallId, Input, Place, Prompt, Restored, Seat, TaskStart, restore,
};
use tillerman_ports::{BackgroundTask, Member, MemberState, Transcript};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::{Frame, UserFrame};
use tillerman_protocol::task::TaskKind;
use tillerman_protocol::tool::{ToolFailure, ToolOutcome};
use tillerman_protocol::{TaskId, ToolUseId};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agents::book::{Agent, Introduction};
use crate::agents::child::{Launch, Part};
use crate::agents::desk::Agents;
use crate::agents::given_tree::GivenTree;
use crate::agents::order::Order;
use crate::agents::{outcome, relay};
use crate::hook_desk::HookDesk;
use crate::hook_lent::{Worker, of_agent};
use crate::session_task::{Inbound, SessionTask};
use crate::setup::SessionSetup;
use crate::teams::{LEAD, with_team_tools};

const WORDS_IN_FLIGHT: usize = 64;

/// A call that wants an agent.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Nothing when an agent goes on without having been called again.
    pub(crate) call: Option<CallId>,
    pub(crate) tool_use_id: ToolUseId,
}

/// An agent that has ended and goes on.
#[derive(Debug)]
pub(crate) struct Former {
    pub(crate) id: TaskId,
    pub(crate) transcript: Box<dyn Transcript>,
    pub(crate) restored: Restored,
}

/// What an agent begins with, beside its order.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    pub(crate) former: Option<Former>,
    /// What it is woken with, in the place of a prompt.
    pub(crate) mail: Vec<Prompt>,
    /// The directory that hooks have made for it.
    pub(crate) tree: Option<GivenTree>,
}

impl SessionTask {
    /// Starts the agent that a call asks for, or says why not.
    pub(crate) fn start_agent(&mut self, caller: &Caller, input: &Value) {
        if let Err(refusal) = self.try_start(caller, input) {
            self.answer(caller, Err(ToolFailure::new(refusal)));
        }
    }

    fn try_start(&mut self, caller: &Caller, input: &Value) -> Result<(), String> {
        let order = Order::parse(input)?;
        let definition = self.definition_for(&order)?;
        let in_background =
            order.background.unwrap_or_else(|| definition.background.unwrap_or(false));
        let is_teammate = order.name.is_some() && self.leads_team();
        let place = place(in_background || is_teammate);
        if self.hooks_make_tree(&order, &definition) {
            self.ask_for_tree(caller, order, definition, place);
            return Ok(());
        }
        self.launch(caller, &order, &definition, Opening::default(), place)
    }

    fn leads_team(&self) -> bool {
        let seat = self.agents.as_ref().and_then(Agents::seat);
        seat.is_some_and(|seat| seat == LEAD)
    }

    pub(crate) fn answer(&mut self, caller: &Caller, outcome: ToolOutcome) {
        let call = caller.call;
        self.pending.extend(call.map(|call| Input::ToolEnded { call, outcome }));
    }

    /// Has an agent that ended go on with a message, in the background.
    pub(crate) fn wake_agent(
        &mut self,
        caller: &Caller,
        id: &str,
        message: &str,
    ) -> Result<(), String> {
        let Some(agents) = &self.agents else { return Err("there are no agents".to_owned()) };
        let reopened = agents.tree().files.reopen(id)?;
        let order = Self::order_of_former(&reopened.note, message)?;
        let restored = restore(&reopened.entries);
        let former = Former { id: TaskId::new(id), transcript: reopened.transcript, restored };
        let opening = Opening { former: Some(former), ..Opening::default() };
        self.wake_former(caller, &order, opening)
    }

    /// What an agent that goes on is told, by the note that was kept about it.
    pub(crate) fn order_of_former(note: &Value, message: &str) -> Result<Order, String> {
        let text = |name: &str| note.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Order {
            description: text("description").unwrap_or_else(|| "further work".to_owned()),
            prompt: message.to_owned(),
            kind: text("agentType").ok_or("nothing is known about this agent any more")?,
            model: text("model"),
            effort: None,
            background: Some(true),
            name: text("name"),
            isolation: text("isolation"),
            worktree: text("worktreePath"),
        })
    }

    /// Starts an agent that goes on, in the background.
    pub(crate) fn wake_former(
        &mut self,
        caller: &Caller,
        order: &Order,
        opening: Opening,
    ) -> Result<(), String> {
        let definition = self.definition_for(order)?;
        self.launch(caller, order, &definition, opening, Place::Background)
    }

    fn definition_for(&self, order: &Order) -> Result<AgentDefinition, String> {
        let Some(agents) = &self.agents else { return Err("there are no agents".to_owned()) };
        let roster = agents.roster();
        let definition = roster.find(&order.kind).ok_or_else(|| {
            format!(
                "There is no agent {}. The agents are: {}.",
                order.kind,
                roster.names().join(", ")
            )
        })?;
        let limits = agents.tree().limits;
        if agents.depth() >= limits.depth {
            return Err(format!(
                "Agents may be nested {} deep and this one is; nothing was started. Do the work \
                 yourself.",
                limits.depth
            ));
        }
        let at_work = agents.tree().book.at_work();
        if at_work >= limits.at_once {
            return Err(format!(
                "{at_work} agents are at work, which is the limit; nothing was started. Wait for \
                 one to end, or stop one with TaskStop."
            ));
        }
        Ok(definition.clone())
    }

    /// The session's hooks, and those that the definition brings.
    fn hooks_below(&self, definition: &AgentDefinition, setup: &mut SessionSetup) -> HookDesk {
        let mut hooks = self.hooks.inherit();
        if let Some(source) = of_agent(definition, Worker::Agent) {
            setup.hooks.remarks.extend(hooks.bring(&source));
        }
        hooks
    }

    pub(crate) fn launch(
        &mut self,
        caller: &Caller,
        order: &Order,
        definition: &AgentDefinition,
        opening: Opening,
        place: Place,
    ) -> Result<(), String> {
        let Some(parent) = &self.agents else { return Err("there are no agents".to_owned()) };
        let Opening { former, mail, tree } = opening;
        let mut below = parent.below(definition);
        let known = former.as_ref().map(|former| &former.id).or(tree.as_ref().map(|tree| &tree.id));
        let id = known.cloned().unwrap_or_else(|| self.new_agent_id());
        let model = self.model_for(order, definition)?;
        let belongings = self.belongings(order, definition, &id, tree)?;
        let definition = &belongings.equip(definition);
        let seat = self.take_seat(order, definition, &id, former.is_some())?;
        let definition =
            &seat.as_ref().map_or_else(|| definition.clone(), |_| with_team_tools(definition));
        let mut note = note(caller, order, definition, below.depth());
        let own = self.agents.as_ref().and_then(Agents::own);
        note["parentAgentId"] = json!(own.map(|own| &own.id));
        note["worktreePath"] = json!(belongings.given);
        let (transcript, restored) = match former {
            Some(former) => (former.transcript, former.restored),
            None => (below.tree().files.begin(id.as_str(), &note), Restored::default()),
        };
        let (line, inbound) = mpsc::channel(WORDS_IN_FLIGHT);
        let agent = Agent::new(
            Introduction {
                id: id.clone(),
                name: order.name.clone(),
                kind: definition.name.clone(),
                description: order.description.clone(),
                prompt: order.prompt.clone(),
                model: model.clone(),
                depth: below.depth(),
                output_file: transcript.path(),
                seat: seat.as_ref().map(|seat| seat.name.clone()),
            },
            line,
        );
        below.become_agent(agent.clone());
        below.directory = belongings.directory().or(below.directory.take());
        let part = Part {
            definition,
            identity: AgentIdentity {
                id: id.to_string(),
                kind: definition.name.clone(),
                transcript_path: transcript.path(),
                seat,
            },
            model,
            effort: order.effort.clone().or_else(|| effort(definition)),
            transcript,
            restored,
            directory: below.directory.clone(),
        };
        let mut setup = Box::new(self.child_setup(part, &below));
        setup.observer = self.watch_below(&caller.tool_use_id, id.as_str(), &definition.name);
        belongings.hand_over(&mut setup);
        let hooks = self.hooks_below(definition, &mut setup);
        let launch = Launch {
            tool_use_id: caller.tool_use_id.clone(),
            session_id: self.engine.config().session_id.clone(),
            started_at: self.ports.clock.now(),
            seed: self.seed(),
            setup,
            agents: below,
            hooks,
            inbound,
            mail,
            copy: belongings.copy,
            line: self.hook_line(),
            agent: agent.clone(),
        };
        self.announce(caller, launch, place);
        Ok(())
    }

    /// Has the lead's agents with names join the team, or come back to it.
    fn take_seat(
        &self,
        order: &Order,
        definition: &AgentDefinition,
        id: &TaskId,
        comes_back: bool,
    ) -> Result<Option<Seat>, String> {
        let named = order.name.clone().filter(|_| self.leads_team());
        let (Some(name), Some(team)) = (named, self.team()) else { return Ok(None) };
        if comes_back {
            if team.find(id.as_str()).is_none() {
                return Ok(None);
            }
            team.note_state(id.as_str(), MemberState::Working);
        } else {
            team.join(&Member {
                name: name.clone(),
                agent_id: id.to_string(),
                agent_type: definition.name.clone(),
                state: MemberState::Working,
                asked_to_leave: false,
            })?;
        }
        Ok(Some(Seat { name, team: team.name.clone() }))
    }

    pub(crate) fn new_agent_id(&mut self) -> TaskId {
        agent_id(self.ids.entry_id().as_str())
    }

    /// Makes the task known; the work begins once the engine has registered it.
    fn announce(&mut self, caller: &Caller, launch: Launch, place: Place) {
        let agent = launch.agent.clone();
        let Some(agents) = &mut self.agents else { return };
        agents.tree().book.enter(agent.clone());
        let start = TaskStart {
            id: agent.id.clone(),
            tool_use_id: caller.tool_use_id.clone(),
            kind: TaskKind::LocalAgent,
            description: agent.description.clone(),
            output_file: agent.output_file.clone(),
            place,
            agent: Some(Box::new(AgentTask {
                kind: agent.kind.clone(),
                prompt: agent.prompt.clone(),
                depth: agent.depth,
                parent: agents.own().map(|own| own.id.clone()),
            })),
        };
        agents.keep_launch(launch, place);
        self.pending.push_back(Input::TaskStarted(Box::new(start)));
        match place {
            Place::Background => {
                self.answer(caller, Ok(outcome::launched(&agent)));
            }
            Place::Foreground => {
                let Some(call) = caller.call else { return };
                let cancel = CancellationToken::new();
                self.work.call(call, cancel.clone(), wait_for(agent, cancel));
            }
        }
    }

    /// Begins the work of an agent whose task is known by now.
    pub(crate) fn begin_agent(&mut self, task: &TaskId) {
        let Some(agents) = &mut self.agents else { return };
        let Some(launch) = agents.take_launch(task) else { return };
        let host_left = agents.tree().host_left();
        let agent = launch.agent.clone();
        let prompt = UserFrame::new(Content::Blocks(vec![Block::text(agent.prompt.as_str())]));
        let mut words: Vec<Inbound> =
            launch.mail.iter().cloned().map(|mail| Inbound::Mail(Box::new(mail))).collect();
        if words.is_empty() {
            words.push(Inbound::Frame(Box::new(Frame::User(Box::new(prompt)))));
        }
        words.extend(host_left.then_some(Inbound::Closed));
        for word in words {
            if agent.line.try_send(word).is_err() {
                tracing::error!("an agent that has not begun did not hear its prompt");
            }
        }
        self.work.task(BackgroundTask {
            id: agent.id.clone(),
            tool_use_id: launch.tool_use_id.clone(),
            kind: TaskKind::LocalAgent,
            description: agent.description.clone(),
            output_file: agent.output_file.clone(),
            cancel: agent.cancel.clone(),
            work: relay::work(launch),
        });
    }
}

/// Waits for an agent on behalf of its call; ending the call ends the agent.
async fn wait_for(agent: std::sync::Arc<Agent>, cancel: CancellationToken) -> ToolOutcome {
    tokio::select! {
        biased;
        progress = agent.wait() => outcome::finished(&agent, progress),
        () = cancel.cancelled() => {
            agent.cancel.cancel();
            let progress = agent.wait().await;
            outcome::finished(&agent, progress)
        }
    }
}

/// What is kept about an agent beside its transcript, so that it can go on.
fn note(caller: &Caller, order: &Order, definition: &AgentDefinition, depth: u32) -> Value {
    json!({
        "agentType": definition.name,
        "description": order.description,
        "toolUseId": caller.tool_use_id,
        "spawnDepth": depth,
        "model": order.model,
        "name": order.name,
        "isolation": order.isolation,
    })
}

const fn place(in_background: bool) -> Place {
    if in_background { Place::Background } else { Place::Foreground }
}

/// Short, safe as a file name, and not to be confused with the ids of commands.
fn agent_id(uuid: &str) -> TaskId {
    let digits: String = uuid.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    TaskId::new(format!("a{digits}"))
}

fn effort(definition: &AgentDefinition) -> Option<String> {
    definition.effort.as_ref().and_then(Value::as_str).map(str::to_owned)
}
