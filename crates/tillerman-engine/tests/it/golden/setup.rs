//! From the `!` lines of a transcript to what a session is started with.

use std::sync::Arc;

use serde_json::{Map, json};
use tillerman_engine::{
    AgentIdentity, Books, CompactionConfig, CompactionMode, Deadline, Echo, Limits, Origin, Seat,
    SessionConfig, StructuredOutputConfig,
};
use tillerman_protocol::SessionId;
use tillerman_protocol::catalog::{Catalog, ModelProfile, Price};
use tillerman_protocol::frame::Init;
use tillerman_protocol::model::Thinking;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::{Access, ToolSpec};

use super::effects::USUAL_MODEL;
use super::inputs::hook_events;
use super::notation::Words;

/// The session of a transcript that says nothing about it: three tools, nobody to ask, no limits.
pub(super) fn usual() -> SessionConfig {
    SessionConfig {
        session_id: SessionId::new("session"),
        seed: [1, 2],
        model: USUAL_MODEL.to_owned(),
        fallback_models: Vec::new(),
        catalog: Arc::new(catalog()),
        system: Vec::new(),
        tools: ["Read:ro", "Bash", "Edit"].map(tool).into(),
        mode: PermissionMode::Default,
        has_approver: false,
        thinking: Thinking::Unset,
        effort: None,
        betas: Vec::new(),
        extra_body: Map::new(),
        limits: Limits::unlimited(),
        echo: Echo::default(),
        origin: Origin::default(),
        init: Init::default(),
        hooked: Vec::new(),
        checkpoints: false,
        agent: None,
        books: Books::Own,
        compaction: CompactionConfig::automatic(),
        structured_output: None,
    }
}

/// Applies one line.
pub(super) fn apply(config: &mut SessionConfig, line: &str) {
    let mut words = Words::of(line);
    match words.word().as_str() {
        "tools" => config.tools = words.rest().iter().map(|name| tool(name)).collect(),
        "max-turns" => config.limits.max_turns = Some(words.number()),
        "budget" => config.limits.max_budget_usd = Some(words.number()),
        "tokens" => config.limits.max_total_tokens = Some(words.number()),
        "total-turns" => config.limits.max_total_turns = Some(words.number()),
        "task-budget" => config.limits.task_budget = Some(words.number()),
        "deadline" => {
            let (set_at, at) = (super::moment(0), super::moment(words.number()));
            config.limits.deadline = Some(Deadline { set_at, at });
        }
        "retries" => config.limits.max_retries = words.number(),
        "parallel" => config.limits.parallel_calls = words.number(),
        "fallback" => config.fallback_models = words.rest(),
        "approver" => config.has_approver = true,
        "checkpoints" => config.checkpoints = true,
        "shared-books" => config.books = Books::Shared,
        "agent" => {
            let kind = words.word();
            let transcript_path = "/sub/agent-a1.jsonl".to_owned();
            let seat = words.option("seat");
            let seat = seat.map(|name| Seat { name, team: "crew".to_owned() });
            config.agent = Some(AgentIdentity { id: "a1".to_owned(), kind, transcript_path, seat });
        }
        "window" => config.compaction.window = Some(words.number()),
        "compaction" => {
            config.compaction.mode = match words.word().as_str() {
                "on-request" => CompactionMode::OnRequest,
                "off" => CompactionMode::Off,
                other => words.misread(other),
            }
        }
        "structured" => {
            let tool = tool("StructuredOutput:ro");
            config.tools = config.tools.iter().cloned().chain([tool.clone()]).collect();
            let max_retries = words.number();
            config.structured_output = Some(StructuredOutputConfig { tool, max_retries });
        }
        "hooks" => config.hooked = hook_events(&mut words),
        "echo" => {
            config.echo = Echo {
                partial_messages: words.flag("partial"),
                prompts: words.flag("prompts"),
                session_state: words.flag("state"),
            }
        }
        other => words.misread(other),
    }
    words.end();
}

pub(super) fn tool(name: &str) -> ToolSpec {
    let (name, access) = match name.strip_suffix(":ro") {
        Some(name) => (name, Access::ReadOnly),
        None => (name, Access::Mutating),
    };
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        input_schema: json!({"type": "object"}),
        access,
    }
}

/// Every token costs a tenth of a cent, so that sums can be checked by eye.
fn catalog() -> Catalog {
    let per_million = 1000.0;
    let price = Price {
        input: per_million,
        output: per_million,
        cache_read: per_million,
        cache_write: per_million,
    };
    let profile = ModelProfile {
        id: "model-".to_owned(),
        display_name: String::new(),
        description: String::new(),
        context_window: 200_000,
        max_output_tokens: 8_000,
        price,
    };
    Catalog { models: vec![profile], aliases: Vec::new() }
}
