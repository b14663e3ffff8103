//! What everybody but the model answers: policy, people, tools and hooks.

use serde_json::{Value, json};
use tillerman_engine::{HookDecision, HookOutcome, Judgement, PermissionAnswer};
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::hook::HookEvent;
use tillerman_protocol::permission::{
    PermissionMode, PermissionResult, PermissionRule, PermissionUpdate, RuleBehavior,
    UpdateDestination,
};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome, ToolOutput};

use super::dice::Dice;

pub(super) fn judgement(dice: &mut Dice, tool: &str) -> Judgement {
    if tool == "Nope" {
        return Judgement::UnknownTool;
    }
    match dice.below(100) {
        0..55 => Judgement::Allow,
        55..68 => {
            Judgement::Deny { message: "a rule forbids it".to_owned(), reason_type: "rule".into() }
        }
        68..94 => Judgement::Ask {
            reason: dice.pick(&[None, Some("it writes".to_owned())]),
            blocked_path: None,
            suggestions: updates(dice),
        },
        _ => Judgement::Invalid { message: dice.pick(&["", "n is missing"]).to_owned() },
    }
}

pub(super) fn permission(dice: &mut Dice, input: &Value) -> PermissionAnswer {
    match dice.below(100) {
        0..40 => PermissionAnswer::Allow { updated_input: None, updates: updates(dice) },
        40..50 => {
            PermissionAnswer::Allow { updated_input: Some(input.clone()), updates: Vec::new() }
        }
        50..65 => {
            PermissionAnswer::Allow { updated_input: Some(changed(dice)), updates: Vec::new() }
        }
        65..80 => PermissionAnswer::Deny { message: message(dice), interrupt: false },
        80..92 => PermissionAnswer::Deny { message: message(dice), interrupt: true },
        _ => PermissionAnswer::Failed { message: "the host is gone".to_owned() },
    }
}

pub(super) fn tool(dice: &mut Dice, number: u64) -> ToolOutcome {
    let structured = dice.chance(30).then(|| json!({"number": number}));
    let content = match dice.below(100) {
        // Long enough that clearing it makes room.
        0..3 => Content::Text(format!("very long output {number} ").repeat(4_000)),
        3..10 => Content::Text(format!("long output {number} ").repeat(300)),
        10..60 => Content::Text(format!("output {number}")),
        60..70 => Content::Text(dice.pick(&["", " \n"]).to_owned()),
        70..75 => Content::Blocks(Vec::new()),
        75..85 => Content::Blocks(vec![Block::text(" "), Block::text(format!("block {number}"))]),
        _ => return Err(ToolFailure { message: message(dice), structured }),
    };
    Ok(ToolOutput::new(content, structured))
}

pub(super) fn hooks(dice: &mut Dice, event: HookEvent) -> HookOutcome {
    let mut outcome = HookOutcome::default();
    if dice.chance(45) {
        return outcome;
    }
    if dice.chance(5) {
        outcome.halt = Some("a hook halts".to_owned());
    }
    if dice.chance(12) {
        outcome.block = Some(dice.pick(&["a hook blocks", ""]).to_owned());
    }
    if dice.chance(25) {
        outcome.context.push(dice.pick(&["a hook adds", "", "a hook adds more"]).to_owned());
    }
    if dice.chance(10) {
        outcome.messages.push("a hook says".to_owned());
    }
    match event {
        HookEvent::PreToolUse => {
            outcome.updated_input = dice.chance(20).then(|| changed(dice));
            let deny = HookDecision::Deny("a hook denies".to_owned());
            let (allow, ask) = (Some(HookDecision::Allow), Some(HookDecision::Ask(String::new())));
            outcome.decision =
                dice.pick(&[None, None, allow, ask, Some(deny), Some(HookDecision::Defer)]);
        }
        HookEvent::PostToolUse => {
            outcome.updated_output = dice.pick(&[
                None,
                Some(json!("replaced")),
                Some(json!("")),
                Some(json!([{"type": "text", "text": "replaced"}])),
                Some(json!([1, "two"])),
                Some(json!({"any": "thing"})),
            ]);
        }
        // A halt before the first round would end it without its beginning being seen.
        HookEvent::SessionStart | HookEvent::SessionEnd => outcome.halt = None,
        HookEvent::PermissionRequest => outcome.permission = permission_of_hook(dice),
        _ => {}
    }
    outcome
}

fn permission_of_hook(dice: &mut Dice) -> Option<PermissionResult> {
    let updated_permissions = Some(updates(dice));
    match dice.below(5) {
        0 => Some(PermissionResult::Allow { updated_input: None, updated_permissions }),
        1 => Some(PermissionResult::Allow {
            updated_input: Some(changed(dice)),
            updated_permissions,
        }),
        2 => Some(PermissionResult::Deny { message: message(dice), interrupt: dice.chance(30) }),
        _ => None,
    }
}

fn changed(dice: &mut Dice) -> Value {
    let number = dice.below(1_000_000);
    dice.pick(&[json!({}), json!({"changed": number})])
}

fn message(dice: &mut Dice) -> String {
    dice.pick(&["", "  ", "it went wrong"]).to_owned()
}

fn updates(dice: &mut Dice) -> Vec<PermissionUpdate> {
    let destination = UpdateDestination::Session;
    let rules = vec![PermissionRule { tool_name: "Look".to_owned(), rule_content: None }];
    match dice.below(8) {
        0 => vec![PermissionUpdate::SetMode { mode: PermissionMode::AcceptEdits, destination }],
        1 => {
            vec![PermissionUpdate::AddRules { rules, behavior: RuleBehavior::Allow, destination }]
        }
        _ => Vec::new(),
    }
}
