//! Which tools of servers a model is offered, and which it has to look up.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use tillerman_engine::{CallId, Input, tool_tokens};
use tillerman_ports::{Deferral, McpServers, Tool};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::tool::ToolSpec;

use crate::agents::offers;
use crate::session_task::SessionTask;
use crate::tool_search::{NAME, ToolSearch};

/// What a session remembers about tools that are looked up.
#[derive(Debug, Default)]
pub(crate) struct ToolShelf {
    /// Whether a prompt was taken up: what was offered until then stays offered.
    has_begun: bool,
    is_deferring: bool,
    /// Tools that were offered before there were too many.
    kept: HashSet<String>,
    /// Tools that were looked up, in the order in which that happened.
    loaded: Vec<String>,
    searches: HashSet<CallId>,
}

/// Tools as a session arranges them.
struct Arranged {
    offered: Vec<ToolSpec>,
    deferred: Vec<String>,
    search: Option<ToolSearch>,
}

impl ToolShelf {
    /// From now on nothing that was offered is taken back for want of room.
    pub(crate) const fn begin(&mut self) {
        self.has_begun = true;
    }

    /// Remembers that a call is a search.
    pub(crate) fn note_call(&mut self, call: CallId, name: &str) {
        if name == NAME {
            self.searches.insert(call);
        }
    }

    /// Splits tools into those that are offered and those that are looked up. Looked up ones come
    /// last, in the order in which they were found, so that a request only ever grows at the end.
    fn arrange(&mut self, specs: Vec<ToolSpec>, rules: &Rules<'_>) -> Arranged {
        let can_wait = |spec: &ToolSpec, kept: &HashSet<String>| {
            spec.name.starts_with("mcp__")
                && !rules.always.contains(&spec.name)
                && !kept.contains(&spec.name)
        };
        let weight = tool_tokens(specs.iter().filter(|spec| can_wait(spec, &self.kept)));
        let is_too_much = match rules.deferral {
            Deferral::Never => false,
            Deferral::Beyond(percent) => weight * 100 > rules.window * u64::from(percent),
            Deferral::Always => weight > 0,
        };
        if !self.has_begun {
            self.is_deferring = is_too_much;
        } else if is_too_much && !self.is_deferring {
            self.is_deferring = true;
            self.kept.extend(rules.offered.iter().map(|spec| spec.name.clone()));
        }
        if !self.is_deferring {
            return Arranged { offered: specs, deferred: Vec::new(), search: None };
        }
        let (waiting, mut offered): (Vec<ToolSpec>, Vec<ToolSpec>) =
            specs.into_iter().partition(|spec| can_wait(spec, &self.kept));
        let found =
            self.loaded.iter().filter_map(|name| waiting.iter().find(|it| it.name == *name));
        let found: Vec<ToolSpec> = found.cloned().collect();
        let names = waiting.iter().map(|spec| &spec.name);
        let deferred = names.filter(|name| !self.loaded.contains(name)).cloned().collect();
        let search = ToolSearch::new(waiting);
        offered.push(search.spec());
        offered.extend(found);
        Arranged { offered, deferred, search: Some(search) }
    }
}

/// What decides about tools.
struct Rules<'a> {
    deferral: Deferral,
    always: &'a HashSet<String>,
    window: u64,
    offered: &'a [ToolSpec],
}

impl SessionTask {
    /// Offers the model these tools, or the way to those that would take too much room.
    pub(crate) async fn offer_tools(&mut self, servers: &dyn McpServers, specs: Vec<ToolSpec>) {
        let may_search = !self.policy.removes(NAME)
            && self.agents.as_ref().is_none_or(|agents| agents.permits(NAME));
        let config = self.engine.config();
        let rules = Rules {
            deferral: if may_search { servers.deferral() } else { Deferral::Never },
            always: &servers.always_offered(),
            window: self.engine.window(),
            offered: &config.tools,
        };
        let Arranged { offered, deferred, search } = self.mcp.shelf.arrange(specs, &rules);
        if let Some(search) = search {
            self.tools.insert(NAME.to_owned(), Arc::new(search));
        }
        if *offered != *config.tools || deferred != config.init.deferred {
            self.feed(Input::ToolsDeferred { tools: offered.into(), deferred }).await;
        }
    }

    /// Offers what a search has found, before the engine hears of the search's end.
    pub(crate) async fn take_found(&mut self, input: &Input) {
        let Input::ToolEnded { call, outcome } = input else { return };
        if !self.mcp.shelf.searches.remove(call) {
            return;
        }
        let structured = outcome.as_ref().ok().and_then(|output| output.structured.as_ref());
        let matches = structured.and_then(|found| found.get("matches")).and_then(Value::as_array);
        let names = matches.into_iter().flatten().filter_map(Value::as_str);
        let config = self.engine.config();
        let mut tools = config.tools.to_vec();
        let mut deferred = config.init.deferred.clone();
        for name in names {
            let position = deferred.iter().position(|held| held == name);
            if let (Some(position), Some(tool)) = (position, self.tools.get(name)) {
                self.mcp.shelf.loaded.push(deferred.remove(position));
                tools.push(tool.spec());
            }
        }
        if tools.len() > config.tools.len() {
            self.feed(Input::ToolsDeferred { tools: tools.into(), deferred }).await;
        }
    }

    /// Has an agent look up what its parent has to look up, and names it. One whose definition
    /// lists its tools is offered them.
    pub(crate) fn defer_below(
        &self,
        definition: &AgentDefinition,
        tools: &mut Vec<Arc<dyn Tool>>,
    ) -> Vec<String> {
        // The parent's own search would bring what this agent may not have.
        tools.retain(|tool| tool.spec().name != NAME);
        let deferred = &self.engine.config().init.deferred;
        if deferred.is_empty() || definition.tools.is_some() || !offers(definition, NAME) {
            return Vec::new();
        }
        let specs = tools.iter().map(|tool| tool.spec());
        let waiting: Vec<ToolSpec> = specs.filter(|it| deferred.contains(&it.name)).collect();
        let names = waiting.iter().map(|spec| spec.name.clone()).collect();
        tools.push(Arc::new(ToolSearch::new(waiting)));
        names
    }
}
