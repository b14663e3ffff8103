//! A session's own part in the tree: the agents it may start, and its share of the budget.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_engine::{
    Bill, Books, CallId, Grant, Input, Judgement, Place, ResponseId, Share, Standing,
};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::control::{ControlBody, ControlRequest, ControlResponse};
use tillerman_protocol::frame::Frame;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::ToolSpec;
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{RequestId, TaskId, ToolUseId};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::agents::book::Agent;
use crate::agents::child::{Launch, mode_below, offers, specs_about_agents};
use crate::agents::delivery::Unheard;
use crate::agents::launch::Caller;
use crate::agents::main_agent::Role;
use crate::agents::message;
use crate::agents::order::{self, AGENT, Order, is_agent_call};
use crate::agents::outcome;
use crate::agents::purse::{Asked, Reservation};
use crate::agents::roster::Roster;
use crate::agents::tree::{Soil, Tree};
use crate::session_task::{Inbound, SessionTask};
use crate::setup::SessionSetup;
use crate::teams::LEAD;
use crate::work::Name;

/// A session's own part in the tree.
#[derive(Debug)]
pub(crate) struct Agents {
    tree: Arc<Tree>,
    roster: Roster,
    /// The agent that this session is.
    own: Option<Arc<Agent>>,
    depth: u32,
    /// The directory it works in, where that is not the session's.
    pub(crate) directory: Option<PathBuf>,
    /// The definition by which this session itself works.
    by: Option<AgentDefinition>,
    launches: HashMap<TaskId, Launch>,
    /// Agents that this session started and that have not ended.
    children: HashMap<TaskId, Arc<Agent>>,
    /// Agents that a call waits for.
    foreground: HashMap<TaskId, Arc<Agent>>,
    calls: HashMap<ToolUseId, TaskId>,
    reservations: HashMap<ResponseId, Reservation>,
    role: Role,
    mail: MailState,
    /// Messages for agents whose end is not known here yet.
    kept: Vec<Unheard>,
}

/// How far the lead of a team is with its mail.
#[derive(Debug, Default)]
struct MailState {
    has_opened: bool,
    /// When teammates must have ended, once the input is closed.
    ceiling: Option<Instant>,
}

impl Agents {
    /// The part of the session at the root, which offers its agents from the first request on.
    pub(crate) fn plant(
        setup: &mut SessionSetup,
        host: &mpsc::Sender<Frame>,
    ) -> Option<(Self, mpsc::Receiver<Bill>)> {
        let agents = setup.agents.take()?;
        let roster = Roster::new(agents.definitions.clone(), agents.built_in);
        let limits = &setup.engine.limits;
        let (tree, bills) = Tree::plant(Soil {
            setup: &agents,
            budget: limits.pooled(),
            spent: setup.restored.ledger.total(),
            host: host.clone(),
            shutdown: setup.shutdown.clone(),
        });
        let mut own = Self::new(tree, roster.permitted(&setup.policy), 0);
        setup.engine.books = Books::Shared;
        let offered = own.with_specs(&setup.engine.tools);
        setup.engine.offer(&offered);
        setup.engine.init.agents = own.roster.names();
        if let Some(main) = agents.main {
            let definition = own.roster.find(&main.name).cloned();
            let grounds = Arc::clone(&own.tree.grounds);
            (own.role, own.by) = Role::take(setup, main, definition.as_ref(), &*grounds);
            definition.iter().for_each(|definition| own.narrow(definition));
        }
        Some((own, bills))
    }

    fn new(tree: Arc<Tree>, roster: Roster, depth: u32) -> Self {
        Self {
            tree,
            roster,
            own: None,
            depth,
            directory: None,
            by: None,
            launches: HashMap::new(),
            children: HashMap::new(),
            foreground: HashMap::new(),
            calls: HashMap::new(),
            reservations: HashMap::new(),
            role: Role::None,
            mail: MailState::default(),
            kept: Vec::new(),
        }
    }

    /// The part of an agent with this definition, one level down.
    pub(crate) fn below(&self, definition: &AgentDefinition) -> Self {
        let roster = match &definition.tools {
            Some(tools) if !tools.iter().any(|tool| tool == "*") => self.roster.for_tools(tools),
            _ => self.roster.clone(),
        };
        let by = Some(definition.clone());
        let directory = self.directory.clone();
        Self { by, directory, ..Self::new(Arc::clone(&self.tree), roster, self.depth + 1) }
    }

    /// Forgets the agents that a session with this definition may not start.
    pub(crate) fn narrow(&mut self, definition: &AgentDefinition) {
        self.roster = self.below(definition).roster;
    }

    pub(crate) fn become_agent(&mut self, agent: Arc<Agent>) {
        self.own = Some(agent);
    }

    pub(crate) const fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    pub(crate) const fn roster(&self) -> &Roster {
        &self.roster
    }

    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    pub(crate) const fn own(&self) -> Option<&Arc<Agent>> {
        self.own.as_ref()
    }

    pub(crate) const fn role(&self) -> &Role {
        &self.role
    }

    pub(crate) const fn role_mut(&mut self) -> &mut Role {
        &mut self.role
    }

    pub(crate) fn set_role(&mut self, role: Role) {
        self.role = role;
    }

    /// Whether this session may start agents at all.
    pub(crate) fn offers(&self) -> bool {
        self.depth < self.tree.limits.depth && !self.roster.is_empty()
    }

    /// What the team calls this session; nothing when it does not belong to one.
    pub(crate) fn seat(&self) -> Option<String> {
        self.tree.team.as_ref()?;
        self.own.as_ref().map_or_else(|| Some(LEAD.to_owned()), |own| own.seat.clone())
    }

    /// Whether an agent of this session is at work, or has ended unnoticed so far.
    pub(crate) fn is_at_work(&self, task: &TaskId) -> bool {
        self.children.contains_key(task)
    }

    pub(crate) const fn has_opened_mail(&self) -> bool {
        self.mail.has_opened
    }

    /// The lead takes mail from now on; says whether it did before.
    pub(crate) fn open_mail(&mut self) -> bool {
        std::mem::replace(&mut self.mail.has_opened, true)
    }

    pub(crate) fn give_until(&mut self, ceiling: Instant) {
        self.mail.ceiling.get_or_insert(ceiling);
    }

    pub(crate) const fn give_no_more(&mut self) {
        self.mail.ceiling = None;
    }

    /// When teammates must have ended.
    pub(crate) const fn ceiling(&self) -> Option<Instant> {
        self.mail.ceiling
    }

    pub(crate) fn keep_launch(&mut self, launch: Launch, place: Place) {
        let agent = Arc::clone(&launch.agent);
        if place == Place::Foreground {
            self.calls.insert(launch.tool_use_id.clone(), agent.id.clone());
            self.foreground.insert(agent.id.clone(), Arc::clone(&agent));
        }
        self.children.insert(agent.id.clone(), agent);
        self.launches.insert(launch.agent.id.clone(), launch);
    }

    pub(crate) fn take_launch(&mut self, task: &TaskId) -> Option<Launch> {
        self.launches.remove(task)
    }

    /// The agents that a call, or any call, waits for.
    fn waited_for(&self, call: Option<&ToolUseId>) -> Vec<Arc<Agent>> {
        let wanted = |task: &TaskId| {
            call.is_none_or(|call| self.calls.get(call).is_some_and(|held| held == task))
        };
        self.foreground.values().filter(|agent| wanted(&agent.id)).cloned().collect()
    }

    /// No call waits for this agent any more.
    pub(crate) fn forget(&mut self, task: &TaskId) {
        self.foreground.remove(task);
        self.calls.retain(|_, held| held != task);
    }

    /// Keeps a message until the end of its agent is known.
    pub(crate) fn keep_word(&mut self, word: Unheard) {
        self.kept.push(word);
    }

    pub(crate) fn take_kept(&mut self, task: &TaskId) -> Vec<Unheard> {
        self.kept.extract_if(.., |word| word.to == *task).collect()
    }

    /// Has the session work by a definition.
    pub(crate) fn work_by(&mut self, definition: AgentDefinition) {
        self.by = Some(definition);
    }

    /// Whether the definition by which the session works lets it have a tool.
    pub(crate) fn permits(&self, name: &str) -> bool {
        self.by.as_ref().is_none_or(|definition| offers(definition, name))
    }

    /// These tools, and those that are about agents.
    pub(crate) fn with_specs(&self, tools: &[ToolSpec]) -> Vec<ToolSpec> {
        let others = |spec: &&ToolSpec| spec.name != AGENT && spec.name != message::NAME;
        let mut specs: Vec<ToolSpec> = tools.iter().filter(others).cloned().collect();
        if let (Some(own), Some(definition)) = (&self.own, &self.by) {
            specs.extend(specs_about_agents(definition, self, own.seat.as_deref()));
        } else if self.offers() {
            let team = self.tree.team.as_ref();
            specs.push(order::spec(&self.roster, team));
            specs.push(message::spec(team));
        }
        specs.retain(|spec| self.permits(&spec.name));
        specs
    }
}

impl SessionTask {
    /// Takes up what a host says about agents in the handshake.
    pub(crate) async fn hear_of_agents(
        &mut self,
        definitions: Option<&BTreeMap<String, Value>>,
        forwards_text: Option<bool>,
    ) -> Vec<Value> {
        let Some(agents) = &mut self.agents else { return Vec::new() };
        agents.tree.forward_text(forwards_text.unwrap_or_default());
        let complaints = definitions.map(|given| agents.roster.add_from_host(given));
        agents.roster = agents.roster.permitted(&self.policy);
        let describe = |agent: &AgentDefinition| {
            let mut value = json!({"name": agent.name, "description": agent.description});
            if let Some(model) = &agent.model {
                value["model"] = json!(model);
            }
            value
        };
        let listed = agents.roster.iter().map(describe).collect();
        if definitions.is_some() {
            let specs = agents.with_specs(&self.engine.config().tools);
            let names = agents.roster.names();
            self.feed(Input::ToolsChanged(specs.into())).await;
            self.feed(Input::AgentsChosen(names)).await;
        }
        self.become_main_agent().await;
        for complaint in complaints.into_iter().flatten() {
            tracing::warn!("{complaint}");
            self.notify("agent_definition", &complaint).await;
        }
        listed
    }

    /// Judges a call that is about agents; nothing when it is about something else.
    pub(crate) fn judge_agent_call(
        &mut self,
        call: CallId,
        name: &str,
        input: &Value,
        standing: Standing,
    ) -> Option<Judgement> {
        let agents = self.agents.as_ref()?;
        let (offers, writes) = (agents.offers(), agents.offers() || agents.seat().is_some());
        let checked = if offers && is_agent_call(name) {
            Order::parse(input).map(|_| (AGENT, order::as_judged(input)))
        } else if writes && name == message::NAME {
            message::Message::parse(input).map(|_| (message::NAME, input.clone()))
        } else {
            return None;
        };
        Some(match checked {
            Ok((name, input)) => self.rule_on(call, name, &input, true, standing),
            Err(message) => Judgement::Invalid { message },
        })
    }

    /// Runs a call that is about agents; says whether it was one.
    pub(crate) fn run_agent_call(
        &mut self,
        call: CallId,
        tool_use_id: &ToolUseId,
        name: &str,
        input: &Value,
    ) -> bool {
        let Some(agents) = &self.agents else { return false };
        let writes = name == message::NAME && (agents.offers() || agents.seat().is_some());
        if writes || (agents.offers() && is_agent_call(name)) {
            let caller = Caller { call: Some(call), tool_use_id: tool_use_id.clone() };
            if name == message::NAME {
                self.send_message(&caller, input);
            } else {
                self.start_agent(&caller, input);
            }
            return true;
        }
        let task = input.get("task_id").and_then(Value::as_str);
        let Some(agent) = task.and_then(|task| agents.tree.book.find(task)) else { return false };
        match name {
            "TaskOutput" => self.show_agent(call, agent, input),
            "TaskStop" => self.stop_agent(call, agent),
            _ => return false,
        }
        true
    }

    /// Sets aside what a request may take.
    pub(crate) fn reserve(&mut self, response: ResponseId, share: Share) {
        let Some(agents) = &mut self.agents else {
            let (grant, spent) = (Grant::Granted, Share::default());
            return self.pending.push_back(Input::Reserved { response, grant, spent });
        };
        let (reservation, asked) = agents.tree.purse.ask(share);
        agents.reservations.insert(response, reservation);
        match asked {
            Asked::Answered((grant, spent)) => {
                self.pending.push_back(Input::Reserved { response, grant, spent });
            }
            Asked::Waiting(granted) => self.work.reservation(response, granted),
        }
    }

    pub(crate) fn cancel_reserve(&mut self, response: ResponseId) {
        self.work.abort(&Name::Reservation(response));
        if let Some(agents) = &mut self.agents {
            agents.reservations.remove(&response);
        }
    }

    /// Enters a response in the books of the tree; those of the root cover everybody.
    pub(crate) async fn settle(&mut self, bill: Bill) {
        let Some(agents) = &mut self.agents else { return };
        if let Some(reservation) = agents.reservations.remove(&bill.response) {
            reservation.settle(bill.share());
        }
        if agents.own.is_some() {
            agents.tree.bill(bill).await;
        }
    }

    /// Lets calls go on without the agents they wait for; says which these are.
    pub(crate) async fn background_agents(&mut self, call: Option<&ToolUseId>) -> Vec<TaskId> {
        let Some(agents) = &self.agents else { return Vec::new() };
        let chosen = agents.waited_for(call);
        for agent in &chosen {
            let outcome = Box::new(Ok(outcome::launched(agent)));
            let task = agent.id.clone();
            self.feed(Input::TaskBackgrounded { task, outcome }).await;
            if let Some(agents) = &mut self.agents {
                agents.forget(&agent.id);
            }
        }
        chosen.iter().map(|agent| agent.id.clone()).collect()
    }

    /// A task has ended; it may have been an agent's.
    pub(crate) fn forget_agent(&mut self, task: &TaskId) {
        if let Some(agents) = &mut self.agents {
            agents.forget(task);
            agents.children.remove(task);
        }
    }

    /// Agents at work are never freer than the session that started them.
    pub(crate) fn pass_mode(&self) {
        let mode = self.engine.mode();
        let children = self.agents.iter().flat_map(|agents| agents.children.values());
        for agent in children.filter(|agent| agent.is_at_work()) {
            if agent.line.try_send(Inbound::ParentMode(mode)).is_err() {
                // Rather no agent than one that may do more than its parent.
                tracing::warn!("the agent {} did not hear of another mode and is ended", agent.id);
                agent.cancel.cancel();
            }
        }
    }

    pub(crate) async fn follow_mode(&mut self, parent: PermissionMode) {
        let mode = mode_below(parent, Some(self.engine.mode()));
        if mode != self.engine.mode() {
            self.feed(Input::ModeChosen(mode)).await;
        }
    }

    /// Passes an answer of the host on to the agent that waits for it.
    pub(crate) fn pass_answer(&self, id: &RequestId, response: ControlResponse) {
        let frame = Frame::ControlResponse(Box::new(response));
        let passed = self.agents.as_ref().is_some_and(|own| own.tree.switchboard.answer(id, frame));
        if !passed {
            tracing::debug!("an answer to an unknown request was ignored");
        }
    }

    /// Passes a request to stop a task on to the agent that keeps it; says whether there is one.
    pub(crate) fn pass_stop(&self, id: &RequestId, task: &TaskId) -> bool {
        let Some(agents) = &self.agents else { return false };
        let request = ControlBody::StopTask { task_id: task.clone() };
        let frame = ControlRequest { request_id: id.clone(), request };
        agents.tree.switchboard.about_task(task, Frame::ControlRequest(Box::new(frame)))
    }

    /// The host cannot answer anybody any more.
    pub(crate) fn close_agents(&self) {
        if let Some(agents) = self.agents.as_ref().filter(|agents| agents.own.is_none()) {
            agents.tree.close();
        }
    }
}

impl SessionTask {
    /// Stores what agents spent that ended after the last totals were stored.
    pub(crate) async fn enter_late_bills(&mut self, bills: Option<mpsc::Receiver<Bill>>) {
        let Some(mut bills) = bills else { return };
        let mut ledger = self.engine.ledger().clone();
        let config = self.engine.config();
        let mut is_late = false;
        while let Ok(bill) = bills.try_recv() {
            ledger.enter_bill(&config.catalog, &bill);
            is_late = true;
        }
        if is_late {
            let state = ledger.to_state(config.session_id.clone());
            self.append(&Entry::CostState(Box::new(state))).await;
        }
    }
}
