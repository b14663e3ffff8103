//! One session of a tree: the root, or an agent below another.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::{Map, json};
use tillerman_engine::{
    AgentIdentity, Books, CallId, CompactionConfig, Echo, Input, Limits, Origin, Place, ResponseId,
    Restored, Session, SessionConfig, Ticket, TimerId,
};
use tillerman_protocol::catalog::{Catalog, ModelProfile, Price};
use tillerman_protocol::frame::Init;
use tillerman_protocol::model::{ModelEvent, Thinking};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::{Access, ToolSpec};
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{SessionId, TaskId};

/// A response may cost a dollar at most.
pub(super) const MOST_OUTPUT: u64 = 1_000;

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Planned,
    AtWork,
    Over,
}

/// One session of a tree.
pub(super) struct Node {
    pub(super) session: Session,
    /// The node above it.
    pub(super) parent: Option<usize>,
    pub(super) task: TaskId,
    pub(super) depth: u32,
    /// The call above that started it, while that call waits.
    pub(super) waiting_call: Option<CallId>,
    pub(super) place: Place,
    /// What it hears next, before anything else.
    pub(super) inbox: VecDeque<Input>,
    pub(super) responses: BTreeMap<ResponseId, VecDeque<ModelEvent>>,
    pub(super) tickets: BTreeMap<ResponseId, Ticket>,
    pub(super) judging: Vec<CallId>,
    pub(super) tools: Vec<CallId>,
    pub(super) timers: Vec<TimerId>,
    pub(super) entries: Vec<Entry>,
    pub(super) life: Life,
    /// It was told to end before its work was done.
    pub(super) stopped: bool,
    /// The text of its last result, and whether that was a success.
    pub(super) result: Option<(String, bool)>,
    /// Its end was told to the node above while the node above would pass it on.
    pub(super) owes_report: bool,
}

impl Node {
    pub(super) fn new(
        config: SessionConfig,
        restored: Restored,
        parent: Option<usize>,
        depth: u32,
        place: Place,
    ) -> Self {
        let task = config.agent.as_ref().map_or("root", |agent| agent.id.as_str());
        Self {
            task: TaskId::new(task),
            session: Session::new(config, restored),
            parent,
            depth,
            waiting_call: None,
            place,
            inbox: VecDeque::new(),
            responses: BTreeMap::new(),
            tickets: BTreeMap::new(),
            judging: Vec::new(),
            tools: Vec::new(),
            timers: Vec::new(),
            entries: Vec::new(),
            life: if parent.is_none() { Life::AtWork } else { Life::Planned },
            stopped: false,
            result: None,
            owes_report: false,
        }
    }

    /// Whether anything could happen to it.
    pub(super) fn is_alive(&self) -> bool {
        self.life == Life::AtWork
    }

    /// How often a text was written down for its model: in a tool result, or in a notification.
    pub(super) fn heard(&self, text: &str) -> usize {
        let told = self.entries.iter().filter(|entry| match entry {
            // A summary tells again what was written down before.
            Entry::User(entry) if entry.is_compact_summary != Some(true) => {
                let said = serde_json::to_string(&entry.message).unwrap();
                said.contains(text)
            }
            _ => false,
        });
        told.count()
    }
}

/// What stays the same for all nodes of all trees.
pub(super) fn config(
    seed: [u64; 2],
    agent: Option<String>,
    limits: Limits,
    window: Option<u64>,
) -> SessionConfig {
    let price = Price { input: 1e3, output: 1e3, cache_read: 1e3, cache_write: 1e3 };
    let profile = ModelProfile {
        id: "sim".to_owned(),
        display_name: "Sim".to_owned(),
        description: String::new(),
        context_window: 200_000,
        max_output_tokens: MOST_OUTPUT,
        price,
    };
    let spec = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        input_schema: json!({"type": "object"}),
        access: Access::ReadOnly,
    };
    SessionConfig {
        session_id: SessionId::new("00000000-0000-4000-8000-000000000000"),
        seed,
        model: "sim".to_owned(),
        fallback_models: Vec::new(),
        catalog: Arc::new(Catalog { models: vec![profile], aliases: Vec::new() }),
        system: Vec::new(),
        tools: [spec("Look"), spec("Agent")].into(),
        mode: PermissionMode::Default,
        has_approver: false,
        thinking: Thinking::Unset,
        effort: None,
        betas: Vec::new(),
        extra_body: Map::new(),
        limits,
        echo: Echo::default(),
        origin: Origin::default(),
        init: Init::default(),
        hooked: Vec::new(),
        checkpoints: false,
        agent: agent.map(|id| AgentIdentity {
            id,
            kind: "helper".to_owned(),
            transcript_path: String::new(),
            seat: None,
        }),
        books: Books::Shared,
        compaction: CompactionConfig { window, ..CompactionConfig::automatic() },
        structured_output: None,
    }
}
