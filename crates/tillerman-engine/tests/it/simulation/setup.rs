//! How a simulated session is set up: random limits, hooks, listeners.

use std::sync::Arc;

use serde_json::{Map, json};
use tillerman_engine::{
    Books, CompactionConfig, CompactionMode, Deadline, Echo, Limits, Origin, SessionConfig,
    StructuredOutputConfig,
};
use tillerman_protocol::catalog::{Catalog, ModelProfile, Price};
use tillerman_protocol::frame::Init;
use tillerman_protocol::hook::HookEvent;
use tillerman_protocol::model::{SystemBlock, Thinking};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::{Access, ToolSpec};
use tillerman_protocol::{Moment, SessionId};

use super::dice::Dice;

/// When simulated sessions begin, in milliseconds.
pub(super) const BEGINNING: i64 = 1_700_000_000_000;

const EVENTS: [HookEvent; 16] = [
    HookEvent::PreToolUse,
    HookEvent::PostToolUse,
    HookEvent::PostToolUseFailure,
    HookEvent::PostToolBatch,
    HookEvent::UserPromptSubmit,
    HookEvent::Stop,
    HookEvent::StopFailure,
    HookEvent::PermissionRequest,
    HookEvent::PermissionDenied,
    HookEvent::Notification,
    HookEvent::PostModelSwitch,
    HookEvent::SessionStart,
    HookEvent::SessionEnd,
    HookEvent::PreCompact,
    HookEvent::PostCompact,
    HookEvent::PreModelSwitch,
];

/// What stays the same for all sessions, so that it is built once.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    catalog: Arc<Catalog>,
    tools: Arc<[ToolSpec]>,
}

impl Stage {
    pub(super) fn new() -> Self {
        let price = Price { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 };
        let profile = ModelProfile {
            id: "sim".to_owned(),
            display_name: "Sim".to_owned(),
            description: String::new(),
            context_window: 200_000,
            max_output_tokens: 8_000,
            price,
        };
        let catalog = Arc::new(Catalog { models: vec![profile], aliases: Vec::new() });
        let spec = |name: &str, access| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json!({"type": "object"}),
            access,
        };
        let tools = Arc::from([
            spec("Look", Access::ReadOnly),
            spec("Peek", Access::ReadOnly),
            spec("Write", Access::Mutating),
        ]);
        Self { catalog, tools }
    }

    /// One of the tools delivers the output.
    fn structured_output(&self, dice: &mut Dice) -> StructuredOutputConfig {
        let max_retries = u32::try_from(dice.below(4)).unwrap_or(0);
        StructuredOutputConfig { tool: self.tools[1].clone(), max_retries }
    }

    /// A random configuration.
    pub(super) fn config(&self, dice: &mut Dice) -> SessionConfig {
        let all = ["sim-second".to_owned(), "free".to_owned()];
        SessionConfig {
            session_id: SessionId::new("00000000-0000-4000-8000-000000000000"),
            seed: [dice.next(), dice.next()],
            model: "sim-first".to_owned(),
            fallback_models: all[..dice.index(3)].to_vec(),
            catalog: self.catalog.clone(),
            system: vec![SystemBlock { text: "be simulated".to_owned() }],
            tools: self.tools.clone(),
            mode: PermissionMode::Default,
            has_approver: dice.chance(75),
            thinking: Thinking::Unset,
            effort: None,
            betas: Vec::new(),
            extra_body: Map::new(),
            limits: limits(dice),
            echo: Echo {
                partial_messages: dice.chance(30),
                prompts: dice.chance(50),
                session_state: dice.chance(50),
            },
            origin: Origin { cwd: "here".to_owned(), ..Origin::default() },
            init: Init::default(),
            hooked: hooked(dice),
            checkpoints: dice.chance(30),
            agent: None,
            books: Books::Own,
            compaction: compaction(dice),
            structured_output: dice.chance(15).then(|| self.structured_output(dice)),
        }
    }
}

fn compaction(dice: &mut Dice) -> CompactionConfig {
    let mode = match dice.below(10) {
        0 => CompactionMode::Off,
        1 => CompactionMode::OnRequest,
        _ => CompactionMode::Automatic,
    };
    CompactionConfig {
        mode,
        // The simulated provider counts anything up to 75,000 tokens.
        window: dice.pick(&[None, Some(5_000), Some(8_000), Some(60_000), Some(80_000)]),
        percent: dice.pick(&[None, None, Some(40)]),
        unknown_window: None,
        newest_outputs: dice.index(6),
    }
}

fn limits(dice: &mut Dice) -> Limits {
    #[expect(clippy::cast_precision_loss, reason = "the number is small")]
    let budget = dice.below(200) as f64 / 100.0;
    Limits {
        max_turns: dice.chance(25).then(|| u32::try_from(dice.below(8)).unwrap_or(1)),
        max_budget_usd: dice.chance(20).then_some(budget),
        max_total_tokens: dice.chance(8).then(|| dice.below(200_000)),
        max_total_turns: dice.chance(8).then(|| dice.below(40)),
        deadline: dice.chance(8).then(|| deadline(dice)),
        task_budget: dice.chance(10).then(|| dice.below(100_000)),
        max_output_tokens: None,
        max_retries: u32::try_from(dice.below(3)).unwrap_or(0),
        parallel_calls: 1 + dice.index(10),
        stop_hook_blocks: u32::try_from(dice.below(4)).unwrap_or(0),
    }
}

/// A moment that is reached soon, late or never.
fn deadline(dice: &mut Dice) -> Deadline {
    let millis = i64::try_from(dice.below(200_000)).unwrap_or(0);
    let (set_at, at) = (BEGINNING, BEGINNING + millis);
    Deadline { set_at: Moment::from_millis(set_at), at: Moment::from_millis(at) }
}

/// The events that hooks listen to: often none.
pub(super) fn hooked(dice: &mut Dice) -> Vec<HookEvent> {
    if dice.chance(35) {
        return Vec::new();
    }
    EVENTS.into_iter().filter(|_| dice.chance(35)).collect()
}
