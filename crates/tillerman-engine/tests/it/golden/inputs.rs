//! From the `>` lines of a transcript to what a session hears.

use serde_json::{Value, json};
use tillerman_engine::{
    AgentTask, Author, Beginning, Bill, CommandUse, Expansion, Grant, HookOutcome, Input,
    Judgement, PermissionAnswer, Place, Prompt, ResponseId, Share, Shortage, TaskStart,
};
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::McpServerState;
use tillerman_protocol::hook::{HookEvent, HookOutput};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::stream::Usage;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome, ToolOutput};
use tillerman_protocol::{EntryId, TaskId, ToolUseId};

use super::names::Names;
use super::notation::Words;
use super::streams::Streams;

/// What a line says happened, input by input.
pub(super) fn read(line: &str, names: &Names, streams: &mut Streams) -> Vec<Input> {
    let mut words = Words::of(line);
    let verb = words.word();
    if verb == "model" {
        let name = words.word();
        let response = names.response_id(&name);
        let clauses = words.clauses();
        let events = clauses.into_iter().flat_map(|clause| streams.events(&name, clause));
        return events.map(|event| Input::ModelReported { response, event }).collect();
    }
    let input = one(&verb, &mut words, names);
    words.end();
    vec![input]
}

fn one(verb: &str, words: &mut Words, names: &Names) -> Input {
    match verb {
        "prompt" => Input::Prompted(prompt(words)),
        "judged" => {
            let call = names.call_id(&words.word());
            Input::CallJudged { call, judgement: judgement(words) }
        }
        "answered" => {
            let ask = names.ask_id(&words.word());
            Input::PermissionAnswered { ask, answer: answer(words) }
        }
        "tool" => {
            let call = names.call_id(&words.word());
            Input::ToolEnded { call, outcome: outcome(words) }
        }
        "hooks" => {
            let run = names.hook_run_id(&words.word());
            let outcome = HookOutcome::merge(hook_outputs(words.json()));
            Input::HooksAnswered { run, outcome: Box::new(outcome) }
        }
        "begun" => {
            let source = words.word();
            let setup = words.option("setup");
            Input::Begun(Beginning { source, setup })
        }
        "moved" => Input::DirectoryChanged { old: words.word(), new: words.word() },
        "spoke" => {
            let wakes = words.flag("wakes");
            let outcome = Box::new(HookOutcome::merge(hook_outputs(words.json())));
            Input::HooksSpoke { outcome, wakes }
        }
        "timer" => Input::TimerFired { timer: names.timer_id(&words.word()) },
        "interrupt" => Input::Interrupted,
        "withdraw" => Input::PromptWithdrawn(EntryId::new(words.word())),
        "set-model" => Input::ModelChosen(Some(words.word()).filter(|name| name != "default")),
        "set-mode" => {
            let name = words.word();
            let mode = PermissionMode::parse(&name);
            Input::ModeChosen(mode.unwrap_or_else(|| words.misread(&name)))
        }
        "set-hooks" => Input::HooksRegistered(hook_events(words)),
        "set-tools" => {
            Input::ToolsChanged(words.rest().iter().map(|name| super::setup::tool(name)).collect())
        }
        "reopen" => Input::CallsReopened(words.rest().iter().map(ToolUseId::new).collect()),
        "approver-stays" => Input::ApproverStays,
        "set-deferred" => {
            let deferred = words.option("deferred").unwrap_or_default();
            Input::ToolsDeferred {
                deferred: deferred.split_terminator(',').map(str::to_owned).collect(),
                tools: words.rest().iter().map(|name| super::setup::tool(name)).collect(),
            }
        }
        "set-servers" => Input::ServersChanged {
            commands: words.option("command").into_iter().collect(),
            servers: words.rest().iter().map(|server| server_state(server)).collect(),
        },
        "close" => Input::InputClosed,
        "shutdown" => Input::ShutDown,
        other => of_tasks(other, words, names),
    }
}

/// What is about tasks and the money that they share.
fn of_tasks(verb: &str, words: &mut Words, names: &Names) -> Input {
    match verb {
        "task-started" => Input::TaskStarted(Box::new(TaskStart {
            id: TaskId::new(words.word()),
            tool_use_id: ToolUseId::new("u1"),
            description: words.text(),
            output_file: "/tmp/out".to_owned(),
            place: if words.flag("foreground") { Place::Foreground } else { Place::Background },
            kind: match (words.flag("agent"), words.flag("watch")) {
                (true, _) => TaskKind::LocalAgent,
                (false, true) => TaskKind::Watch,
                (false, false) => TaskKind::LocalBash,
            },
            agent: words.option("kind").map(|kind| {
                Box::new(AgentTask { kind, prompt: "go".to_owned(), depth: 1, parent: None })
            }),
        })),
        "task-spoke" => {
            let task = TaskId::new(words.word());
            Input::TaskSpoke { task, text: words.text() }
        }
        "task-backgrounded" => {
            let task = TaskId::new(words.word());
            Input::TaskBackgrounded { task, outcome: Box::new(outcome(words)) }
        }
        "reserved" => {
            let response = names.response_id(&words.word());
            let grant = match words.flag("refused") {
                true if words.flag("tokens") => Grant::Refused(Shortage::Tokens),
                true if words.flag("turns") => Grant::Refused(Shortage::Turns),
                true => Grant::Refused(Shortage::Dollars),
                false => Grant::Granted,
            };
            let tokens = if words.flag("used") { words.number() } else { 0 };
            Input::Reserved { response, grant, spent: Share { tokens, ..Share::default() } }
        }
        "billed" => Input::BilledElsewhere(Box::new(Bill {
            response: ResponseId(1),
            model: words.word(),
            usage: Usage { input_tokens: words.number(), ..Usage::default() },
            usd: 0.0,
            api_ms: 1,
            turns: 1,
        })),
        "task-ended" => {
            let task = TaskId::new(words.word());
            let status = match words.word().as_str() {
                "completed" => TaskStatus::Completed,
                "failed" => TaskStatus::Failed,
                "stopped" => TaskStatus::Stopped,
                other => words.misread(other),
            };
            Input::TaskEnded { task, end: TaskEnd::new(status, words.text()) }
        }
        other => words.misread(other),
    }
}

/// The names of hook events up to the end of the line.
pub(super) fn hook_events(words: &mut Words) -> Vec<HookEvent> {
    let event = |name: String| serde_json::from_value(Value::String(name)).expect("a hook event");
    words.rest().into_iter().map(event).collect()
}

fn server_state(text: &str) -> McpServerState {
    let (name, status) = text.split_once(':').expect("a server and its state");
    McpServerState { name: name.to_owned(), status: status.to_owned(), source: None }
}

fn prompt(words: &mut Words) -> Prompt {
    let content = match words.maybe_text() {
        Some(text) => Content::Text(text),
        None => serde_json::from_value(words.json()).expect("content blocks"),
    };
    let author = if words.flag("mail") { Author::Engine } else { Author::Person };
    let uuid = words.option("uuid").map(EntryId::new);
    let typed = words.option("typed");
    let command = typed.map(|typed| CommandUse {
        typed,
        answer: words.option("answer"),
        grants: words.option("grants").into_iter().collect(),
        model: words.option("with"),
        expansion: words.option("command").map(|name| Expansion {
            kind: "slash_command",
            name,
            arguments: words.option("args").unwrap_or_default(),
            source: None,
        }),
    });
    let command = command.map(Box::new);
    Prompt { uuid, wants_answer: !words.flag("quiet"), command, author, ..Prompt::new(content) }
}

fn judgement(words: &mut Words) -> Judgement {
    match words.word().as_str() {
        "allow" => Judgement::Allow,
        "deny" => Judgement::Deny { message: words.text(), reason_type: "rule".to_owned() },
        "ask" => Judgement::Ask {
            reason: words.maybe_text(),
            blocked_path: words.option("path"),
            suggestions: Vec::new(),
        },
        "invalid" => Judgement::Invalid { message: words.text() },
        "unknown" => Judgement::UnknownTool,
        other => words.misread(other),
    }
}

fn answer(words: &mut Words) -> PermissionAnswer {
    match words.word().as_str() {
        "allow" => {
            let mut updates = Vec::new();
            let mut updated_input = None;
            while let Some(value) = words.maybe_json() {
                match value {
                    Value::Array(_) => {
                        updates = serde_json::from_value(value).expect("permission updates");
                    }
                    input => updated_input = Some(input),
                }
            }
            PermissionAnswer::Allow { updated_input, updates }
        }
        "deny" => PermissionAnswer::Deny { message: words.text(), interrupt: false },
        "deny!" => PermissionAnswer::Deny { message: words.text(), interrupt: true },
        "failed" => PermissionAnswer::Failed { message: words.text() },
        other => words.misread(other),
    }
}

fn outcome(words: &mut Words) -> ToolOutcome {
    match words.word().as_str() {
        "ok" => {
            let content = match words.maybe_json() {
                Some(blocks) => serde_json::from_value(blocks).expect("content blocks"),
                None => Content::Text(words.text()),
            };
            let times = words.option("times").map_or(1, |times| times.parse().expect("a count"));
            let content = match content {
                Content::Text(text) => Content::Text(text.repeat(times)),
                blocks @ Content::Blocks(_) => blocks,
            };
            let command = words.option("left").map(|task| json!({"backgroundTaskId": task}));
            let agent = words.option("launched").map(|agent| {
                json!({"status": "async_launched", "agentId": agent, "description": "digging"})
            });
            let structured = command.or(agent).or_else(|| words.maybe_json());
            Ok(ToolOutput::new(content, structured))
        }
        "err" => Err(ToolFailure::new(words.text())),
        other => words.misread(other),
    }
}

/// One hook's answer, or a list of the answers of several.
fn hook_outputs(value: Value) -> Vec<HookOutput> {
    let outputs = match value {
        Value::Array(outputs) => outputs,
        output => vec![output],
    };
    let output = |value| serde_json::from_value(value).expect("a hook's answer");
    outputs.into_iter().map(output).collect()
}
