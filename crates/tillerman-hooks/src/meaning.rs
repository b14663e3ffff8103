//! From exit codes and printed text to an answer.

use serde_json::Value;
use tillerman_ports::HookEnd;
use tillerman_protocol::hook::{HookEvent, HookOutput, HookSpecificOutput};

/// How much of a text is quoted in a complaint.
const QUOTED: usize = 300;

/// What a handler's end means.
#[derive(Debug)]
pub(crate) struct Meaning {
    pub(crate) end: HookEnd,
    /// Something people should know although it did not fail.
    pub(crate) remark: Option<String>,
    /// What hosts are shown of it.
    pub(crate) stdout: String,
}

impl Meaning {
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self { end: HookEnd::Failed(why.into()), remark: None, stdout: String::new() }
    }

    pub(crate) fn answered(output: HookOutput) -> Self {
        Self { end: HookEnd::Answered(Box::new(output)), remark: None, stdout: String::new() }
    }
}

/// What a command left behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left<'a> {
    pub(crate) event: HookEvent,
    pub(crate) exit_code: i32,
    pub(crate) stdout: &'a str,
    pub(crate) stderr: &'a str,
    /// Whether exit code 2 is meant for the model, whatever the event.
    pub(crate) wakes: bool,
}

/// What an exit code and the text beside it mean.
pub(crate) fn of_command(left: Left<'_>) -> Meaning {
    match left.exit_code {
        0 => of_text(left.event, left.stdout),
        2 => of_refusal(left),
        code => match looks_like_json(left.stdout) {
            true => of_text(left.event, left.stdout),
            false => Meaning::failed(exited(code, left.stderr)),
        },
    }
}

/// What a text means that came from a handler which succeeded.
pub(crate) fn of_text(event: HookEvent, text: &str) -> Meaning {
    if !looks_like_json(text) {
        let mut output = HookOutput::default();
        if !text.trim().is_empty() {
            output.hook_specific_output = of_plain_text(event, text);
        }
        return Meaning::answered(output);
    }
    match read(event, text) {
        Ok((output, remark)) => Meaning { remark, ..Meaning::answered(output) },
        Err(why) => Meaning::failed(why),
    }
}

fn of_refusal(left: Left<'_>) -> Meaning {
    let said = looks_like_json(left.stdout).then(|| read(left.event, left.stdout).ok()).flatten();
    let mut output = said.map(|(output, _)| output).unwrap_or_default();
    let given = refusal_in(&mut output);
    if !left.wakes && !can_refuse(left.event) {
        return Meaning::failed(exited(2, left.stderr));
    }
    let reason = given.unwrap_or_else(|| left.stderr.trim().to_owned());
    output.decision = Some("block".to_owned());
    output.reason = Some(if reason.is_empty() { "no reason given".to_owned() } else { reason });
    Meaning::answered(output)
}

/// Takes everything out of an answer that would let the event go on; returns its own reason.
fn refusal_in(output: &mut HookOutput) -> Option<String> {
    let blocks = output.decision.as_deref() == Some("block");
    let mut reason = output.reason.take().filter(|_| blocks);
    if let Some(specific) = &mut output.hook_specific_output {
        let decision = specific.permission_decision.take();
        let why = specific.permission_decision_reason.take();
        if decision.as_deref() == Some("deny") {
            reason = reason.or(why);
        }
        specific.updated_input = None;
        specific.decision = None;
    }
    reason.filter(|reason| !reason.trim().is_empty())
}

fn read(event: HookEvent, text: &str) -> Result<(HookOutput, Option<String>), String> {
    let mut output: HookOutput = serde_json::from_str(text.trim()).map_err(|error| {
        format!("it printed something that begins like JSON and cannot be read: {error}")
    })?;
    let named = output.hook_specific_output.as_ref().map(|it| it.hook_event_name.clone());
    let remark = match named {
        Some(name) if !name.is_empty() && name != event.name() => {
            output.hook_specific_output = None;
            Some(format!(
                "its hookSpecificOutput is for {name} and not for {}, so that part was left out",
                event.name()
            ))
        }
        _ => None,
    };
    Ok((output, remark))
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Plain text is meant for the model at some events, and names a directory at one.
fn of_plain_text(event: HookEvent, text: &str) -> Option<HookSpecificOutput> {
    let mut said =
        HookSpecificOutput { hook_event_name: event.name(), ..HookSpecificOutput::default() };
    match event {
        HookEvent::UserPromptSubmit | HookEvent::UserPromptExpansion | HookEvent::SessionStart => {
            said.additional_context = Some(text.trim_end().to_owned());
        }
        HookEvent::WorktreeCreate => {
            said.extra.insert("worktreePath".to_owned(), Value::from(text.trim()));
        }
        _ => return None,
    }
    Some(said)
}

/// Events at which exit code 2 stops something, or reaches the model.
const fn can_refuse(event: HookEvent) -> bool {
    matches!(
        event,
        HookEvent::PreToolUse
            | HookEvent::PostToolUse
            | HookEvent::PostToolUseFailure
            | HookEvent::PostToolBatch
            | HookEvent::UserPromptSubmit
            | HookEvent::UserPromptExpansion
            | HookEvent::Stop
            | HookEvent::SubagentStop
            | HookEvent::TeammateIdle
            | HookEvent::TaskCreated
            | HookEvent::TaskCompleted
            | HookEvent::ConfigChange
            | HookEvent::PreCompact
            | HookEvent::Elicitation
            | HookEvent::ElicitationResult
            | HookEvent::PreModelSwitch
            | HookEvent::WorktreeCreate
    )
}

fn exited(code: i32, stderr: &str) -> String {
    match quoted(stderr).as_str() {
        "" => format!("it exited with code {code} and said nothing"),
        said => format!("it exited with code {code}: {said}"),
    }
}

/// The beginning of a text, for a complaint.
pub(crate) fn quoted(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
