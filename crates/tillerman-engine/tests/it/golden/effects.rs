//! From effects to the `<` lines of a transcript.

use serde_json::Value;
use tillerman_engine::{Effect, PermissionAsk, Standing, Sync};
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::Frame;
use tillerman_protocol::hook::HookDetail;
use tillerman_protocol::model::ModelRequest;
use tillerman_protocol::transcript::{CostState, Entry};

use super::frames;
use super::names::Names;
use super::said::{Said, message, messages, quoted};

/// The model that answers unless a script says otherwise; it goes without saying.
pub(super) const USUAL_MODEL: &str = "model-a";

/// Renders effects; remembers the last request, so that only what was added is shown.
#[derive(Debug, Default)]
pub(super) struct Renderer {
    last_request: Option<Vec<Said>>,
    last_tools: Option<Vec<String>>,
}

impl Renderer {
    pub(super) fn lines(&mut self, effects: &[Effect], names: &mut Names) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest = effects;
        while let Some((first, more)) = rest.split_first() {
            rest = more;
            let line = match (first, more) {
                // What every round ends with, in one line.
                (Effect::Append(costs), [Effect::Append(last), Effect::Sync(Sync::Finish), ..])
                    if let (Entry::CostState(costs), Entry::LastPrompt { last_prompt, .. }) =
                        (&**costs, &**last) =>
                {
                    rest = &more[2..];
                    let cost = cost(costs);
                    format!("store{cost} last-prompt {}", quoted(last_prompt))
                }
                // An entry and the frame that shows the same.
                (Effect::Append(entry), [Effect::Emit(frame), ..])
                    if let Some(line) = record(entry, frame) =>
                {
                    rest = &more[1..];
                    line
                }
                (effect, _) => self.line(effect, names),
            };
            lines.push(line);
        }
        lines
    }

    fn line(&mut self, effect: &Effect, names: &mut Names) -> String {
        match effect {
            Effect::Emit(frame) => format!("emit {}", frames::line(frame)),
            Effect::Append(entry) => format!("append {}", entry_line(entry)),
            Effect::Sync(Sync::Begin) => "sync begin".to_owned(),
            Effect::Sync(Sync::Finish) => "sync finish".to_owned(),
            Effect::Checkpoint { messages } => format!("checkpoint {}", messages.len()),
            Effect::Reserve { response, share } => {
                format!("reserve {}{}", names.response(*response), frames::cost(share.usd))
            }
            Effect::CancelReserve { response } => {
                format!("cancel-reserve {}", names.response(*response))
            }
            Effect::Settle(bill) => {
                format!("settle {}{}", names.response(bill.response), frames::cost(bill.usd))
            }
            Effect::CallModel { response, request } => {
                let name = names.response(*response);
                format!("call-model {name}{}", self.request(request))
            }
            Effect::CancelModel { response } => {
                format!("cancel-model {}", names.response(*response))
            }
            Effect::RunHooks { run, input } => {
                format!("run-hooks {} {}", names.hook_run(*run), hook_detail(&input.detail))
            }
            Effect::TellHooks { input } => format!("tell-hooks {}", hook_detail(&input.detail)),
            Effect::CancelHooks { run } => format!("cancel-hooks {}", names.hook_run(*run)),
            Effect::JudgeCall { call, name, input, standing } => {
                let standing = match standing {
                    Standing::Fresh => "",
                    Standing::HookAllowed => " hook-allowed",
                    Standing::HookAsked => " hook-asked",
                    Standing::Approved => " approved",
                };
                format!("judge {} {name} {input}{standing}", names.call(*call))
            }
            Effect::AskPermission { ask, request } => {
                format!("ask {} {}", names.ask(*ask), question(request))
            }
            Effect::CancelAsk { ask } => format!("cancel-ask {}", names.ask(*ask)),
            Effect::UpdatePermissions(updates) => {
                format!("update-permissions {}", serde_json::to_value(updates).unwrap())
            }
            Effect::Grant(rules) => format!("grant {}", rules.join(" ")),
            Effect::StartOver { .. } => "start-over".to_owned(),
            Effect::RunTool { call, name, input, .. } => {
                format!("run {} {name} {input}", names.call(*call))
            }
            Effect::CancelTool { call } => format!("cancel-tool {}", names.call(*call)),
            Effect::StartTask { task } => format!("start-task {task}"),
            Effect::StopTask { task } => format!("stop-task {task}"),
            Effect::StartTimer { timer, after_ms } => {
                format!("timer {} {}", names.timer(*timer), frames::delay(*after_ms))
            }
            Effect::CancelTimer { timer } => format!("cancel-timer {}", names.timer(*timer)),
            Effect::End => "end".to_owned(),
        }
    }

    /// What a request says beyond the one before it.
    fn request(&mut self, request: &ModelRequest) -> String {
        let said = messages(&request.messages);
        let before = self.last_request.replace(said.clone());
        let added = match &before {
            None => format!(": {}", message(&said)),
            Some(before) => match said.strip_prefix(before.as_slice()) {
                Some([]) => " again".to_owned(),
                Some(added) => format!(" + {}", message(added)),
                None => format!(" anew: {}", message(&said)),
            },
        };
        let tools: Vec<String> = request.tools.iter().map(|tool| tool.name.clone()).collect();
        let had = self.last_tools.replace(tools.clone());
        // Tools go without saying until they change.
        let added = match had {
            Some(had) if had != tools => format!(" tools={}{added}", tools.join(",")),
            _ => added,
        };
        if request.model == USUAL_MODEL { added } else { format!(" {}{added}", request.model) }
    }
}

fn record(entry: &Entry, frame: &Frame) -> Option<String> {
    match (entry, frame) {
        (Entry::User(entry), Frame::User(frame))
            if frame.uuid.as_ref() == Some(&entry.link.uuid) && frame.message == entry.message =>
        {
            Some(format!("record {}", frames::user(frame)))
        }
        (Entry::Assistant(entry), Frame::Assistant(frame))
            if frame.uuid == entry.link.uuid && frame.message == entry.message =>
        {
            Some(format!("record {}", frames::assistant(frame)))
        }
        _ => None,
    }
}

fn entry_line(entry: &Entry) -> String {
    match entry {
        Entry::User(entry) => {
            let meta = if entry.is_meta == Some(true) { " meta" } else { "" };
            let summary = if entry.is_compact_summary == Some(true) { " summary" } else { "" };
            format!("user {}{meta}{summary}", content(&entry.message.content))
        }
        Entry::System(entry) if entry.subtype.ends_with("compact_boundary") => {
            entry.subtype.clone()
        }
        Entry::System(note) => {
            format!("system {} {}", note.subtype, Value::Object(note.extra.clone()))
        }
        Entry::CustomTitle { custom_title, .. } => format!("title {}", quoted(custom_title)),
        Entry::CostState(costs) => format!("cost-state{}", cost(costs)),
        Entry::LastPrompt { last_prompt, .. } => format!("last-prompt {}", quoted(last_prompt)),
        other => serde_json::to_string(other).unwrap(),
    }
}

fn cost(costs: &CostState) -> String {
    frames::cost(costs.total_cost_usd)
}

fn content(content: &Content) -> String {
    super::said::content(content)
}

fn question(ask: &PermissionAsk) -> String {
    let reason = ask.reason.as_ref().map_or_else(String::new, |why| format!(" {}", quoted(why)));
    let path = ask.blocked_path.as_ref().map_or_else(String::new, |path| format!(" path={path}"));
    format!("{} {} {}{reason}{path}", ask.tool_use_id, ask.tool_name, ask.input)
}

fn hook_detail(detail: &HookDetail) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(detail) else {
        return format!("{detail:?}");
    };
    let event = fields.shift_remove("hook_event_name").unwrap_or_default();
    format!("{} {}", event.as_str().unwrap_or_default(), Value::Object(fields))
}
