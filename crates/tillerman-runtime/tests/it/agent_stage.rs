//! A session with agents: scripted tools for each, and transcripts in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tillerman_ports::{AgentFiles, NoGrounds, Reopened, Tool, Toolbox, Transcript};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::catalog::Price;
use tillerman_runtime::{AgentLimits, AgentSetup};

use crate::model::{Script, calls};
use crate::shelf::Shelf;
use crate::stage::{Stage, stage};
use crate::tools::TestTool;

/// The transcripts of all agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelves(Arc<Mutex<BTreeMap<String, (Shelf, Value)>>>);

impl Shelves {
    pub(crate) fn ids(&self) -> Vec<String> {
        self.0.lock().unwrap().keys().cloned().collect()
    }

    /// Holds the transcripts of an earlier process too.
    pub(crate) fn take_over(&self, earlier: &Self) {
        self.0.lock().unwrap().extend(earlier.0.lock().unwrap().clone());
    }

    /// The entries and the note of the only agent.
    pub(crate) fn only(&self) -> (Shelf, Value) {
        let shelves = self.0.lock().unwrap();
        assert_eq!(shelves.len(), 1, "{:?}", shelves.keys());
        shelves.values().next().unwrap().clone()
    }
}

impl AgentFiles for Shelves {
    fn begin(&self, agent: &str, note: &Value) -> Box<dyn Transcript> {
        let shelf = Shelf::default();
        self.0.lock().unwrap().insert(agent.to_owned(), (shelf.clone(), note.clone()));
        Box::new(shelf)
    }

    fn reopen(&self, agent: &str) -> Result<Reopened, String> {
        let shelves = self.0.lock().unwrap();
        let Some((shelf, note)) = shelves.get(agent) else {
            return Err(format!("there is no agent {agent}"));
        };
        let entries = shelf.entries().into_iter().map(|e| serde_json::from_value(e).unwrap());
        let entries = entries.collect();
        Ok(Reopened { transcript: Box::new(shelf.clone()), entries, note: note.clone() })
    }
}

/// Hands out the same tools to everybody.
#[derive(Debug)]
struct SameTools(Vec<TestTool>);

impl Toolbox for SameTools {
    fn tools_in(&self, _: &Path, teammate: Option<&str>) -> Vec<Arc<dyn Tool>> {
        self.tools(teammate)
    }

    fn tools(&self, _: Option<&str>) -> Vec<Arc<dyn Tool>> {
        self.0.iter().map(|tool| Arc::new(tool.clone()) as Arc<dyn Tool>).collect()
    }
}

/// An agent named `helper`.
pub(crate) fn helper() -> AgentDefinition {
    AgentDefinition {
        name: "helper".to_owned(),
        description: "helps".to_owned(),
        prompt: "You are the helper.".to_owned(),
        ..AgentDefinition::default()
    }
}

/// A session that can start these agents, and where their transcripts go.
pub(crate) fn with_agents<const N: usize>(
    scripts: impl IntoIterator<Item = Script>,
    tools: [&TestTool; N],
    definitions: Vec<AgentDefinition>,
) -> (Stage, Shelves) {
    let shelves = Shelves::default();
    let mut stage = stage(scripts).tools(tools);
    stage.setup.agents = Some(AgentSetup {
        definitions,
        built_in: true,
        main: None,
        team: None,
        limits: AgentLimits::default(),
        toolbox: Arc::new(SameTools(tools.into_iter().cloned().collect())),
        files: Arc::new(shelves.clone()),
        grounds: Arc::new(NoGrounds),
    });
    (stage, shelves)
}

/// Every token costs a tenth of a cent, and the session may spend this much.
pub(crate) fn with_budget(mut stage: Stage, dollars: f64) -> Stage {
    let price = Price { input: 1e3, output: 1e3, cache_read: 1e3, cache_write: 1e3 };
    let mut catalog = (*stage.setup.engine.catalog).clone();
    for model in &mut catalog.models {
        model.price = price;
    }
    stage.setup.engine.catalog = Arc::new(catalog);
    stage.setup.engine.limits.max_budget_usd = Some(dollars);
    stage
}

/// A response that calls for the helper.
pub(crate) fn sends_helper(id: &str, prompt: &str, more: &Value) -> Script {
    calls("Agent", id, &order(prompt, more))
}

/// The input of a call for the helper.
pub(crate) fn order(prompt: &str, more: &Value) -> Value {
    let mut input = json!({"description": "help out", "prompt": prompt, "subagent_type": "helper"});
    for (key, value) in more.as_object().unwrap() {
        input[key] = value.clone();
    }
    input
}
