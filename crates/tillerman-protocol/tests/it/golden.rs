//! What is written, to the letter: official clients read these lines, and files keep them.
//!
//! `UPDATE_GOLDEN=1` rewrites `testdata/`. Every file holds one line per value.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, json};
use tillerman_protocol::content::{Block, Content, ToolResult};
use tillerman_protocol::control::{
    CanUseTool, ControlBody, ControlCancel, ControlRequest, ControlResponse,
};
use tillerman_protocol::frame::{
    ApiRetry, AssistantFrame, AssistantMessage, CommandLifecycle, Frame, Init, ModelUsage,
    PermissionDenial, PermissionDenied, ResultFrame, ResultSubtype, SessionState, StreamEventFrame,
    SystemDetail, SystemFrame, TaskNotification, TaskStarted, TaskUsage, TranscriptMirror,
    UserFrame,
};
use tillerman_protocol::hook::{HookBase, HookDetail, HookInput};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::stream::{Delta, StreamEvent, Usage};
use tillerman_protocol::{EntryId, Moment, SessionId};

fn session() -> SessionId {
    SessionId::new("7a9f1c52-0d2b-4f7e-8f43-5f1f2f6b9c01")
}

fn uuid() -> EntryId {
    EntryId::new("0c6c1b7e-3a55-4f0e-9d5b-2f6f0c9a1e11")
}

fn usage() -> Usage {
    Usage { input_tokens: 12, output_tokens: 34, cache_read_input_tokens: 56, ..Usage::default() }
}

#[track_caller]
fn check<T: Serialize>(name: &str, values: &[T]) {
    let lines: Vec<String> =
        values.iter().map(|value| serde_json::to_string(value).unwrap()).collect();
    let written = lines.join("\n") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, expected, "{name} differs; UPDATE_GOLDEN=1 accepts it as it is now");
}

fn system(detail: SystemDetail) -> Frame {
    Frame::System(Box::new(SystemFrame { detail, session_id: session(), uuid: uuid() }))
}

#[test]
fn what_the_model_says() {
    let blocks = [
        Block::text("Good day."),
        Block::Thinking { thinking: "Hm.".to_owned(), signature: "c2ln".to_owned() },
        Block::ToolUse {
            id: "toolu_1".into(),
            name: "Bash".to_owned(),
            input: json!({"command": "ls"}),
        },
    ];
    let frames = blocks.map(|block| {
        let message =
            AssistantMessage::new("msg_1".to_owned(), "claude-x".to_owned(), block, usage());
        Frame::Assistant(Box::new(AssistantFrame {
            message,
            parent_tool_use_id: None,
            session_id: session(),
            uuid: uuid(),
            timestamp: Some(Moment::from_millis(1_700_000_000_123)),
            request_id: Some("req_1".to_owned()),
            error: None,
            is_api_error_message: None,
            api_error_status: None,
            agent_id: None,
            extra: Map::new(),
        }))
    });
    check("assistant.jsonl", &frames);
}

#[test]
fn what_the_user_and_the_tools_say() {
    let mut prompt = UserFrame::new(Content::Text("Hello".to_owned()));
    prompt.session_id = Some(session());
    prompt.uuid = Some(uuid());
    prompt.timestamp = Some(Moment::from_millis(1_700_000_000_123));
    let mut replay = prompt.clone();
    replay.is_replay = Some(true);
    let result = ToolResult {
        tool_use_id: "toolu_1".into(),
        content: Content::Text("no such file".to_owned()),
        is_error: true,
    };
    let mut outcome = prompt.clone();
    outcome.message.content = Content::Blocks(vec![Block::ToolResult(result)]);
    outcome.tool_use_result = Some(json!("Error: no such file"));
    check("user.jsonl", &[prompt, replay, outcome].map(|frame| Frame::User(Box::new(frame))));
}

#[test]
fn how_a_round_ends() {
    let model =
        ModelUsage { input_tokens: 12, output_tokens: 34, cost_usd: 0.25, ..Default::default() };
    let success = ResultFrame {
        subtype: ResultSubtype::Success,
        is_error: false,
        duration_ms: 1200,
        duration_api_ms: 900,
        num_turns: 2,
        result: Some("Good day.".to_owned()),
        errors: None,
        stop_reason: Some("end_turn".to_owned()),
        total_cost_usd: 0.25,
        usage: usage(),
        model_usage: [("claude-x".to_owned(), model)].into(),
        permission_denials: Vec::new(),
        terminal_reason: "completed".to_owned(),
        api_error_status: None,
        deferred_tool_use: None,
        structured_output: None,
        user_message_uuids: Vec::new(),
        session_id: session(),
        uuid: uuid(),
        extra: Map::new(),
    };
    let denial = PermissionDenial {
        tool_name: "Bash".to_owned(),
        tool_use_id: "toolu_1".into(),
        tool_input: json!({"command": "rm"}),
    };
    let failure = ResultFrame {
        subtype: ResultSubtype::ErrorMaxTurns,
        is_error: true,
        result: None,
        errors: Some(vec!["Reached the limit of 2 turns".to_owned()]),
        stop_reason: None,
        total_cost_usd: 0.0,
        permission_denials: vec![denial],
        terminal_reason: "max_turns".to_owned(),
        user_message_uuids: vec![uuid()],
        ..success.clone()
    };
    check("result.jsonl", &[success, failure].map(|frame| Frame::Result(Box::new(frame))));
}

#[test]
fn news() {
    let init = Init {
        cwd: "/project".to_owned(),
        tools: vec!["Bash".to_owned()],
        model: "claude-x".to_owned(),
        claude_code_version: "2.1.0".to_owned(),
        tillerman_version: "0.1.0".to_owned(),
        ..Init::default()
    };
    let status = |status: Option<&str>, permission_mode| SystemDetail::Status {
        status: status.map(str::to_owned),
        permission_mode,
        compact_result: None,
        compact_error: None,
    };
    let denied = PermissionDenied {
        tool_name: "Bash".to_owned(),
        tool_use_id: "toolu_1".into(),
        decision_reason_type: Some("mode".to_owned()),
        decision_reason: None,
        message: "Bash was not run.".to_owned(),
    };
    let retry = ApiRetry {
        attempt: 1,
        max_retries: 10,
        retry_delay_ms: 512,
        error_status: None,
        error: "overloaded".to_owned(),
    };
    let notification = SystemDetail::Notification {
        key: "transcript_paused".to_owned(),
        text: "The disk is full.".to_owned(),
        priority: "high".to_owned(),
    };
    let state = SessionState::RequiresAction;
    check(
        "system.jsonl",
        &[
            system(SystemDetail::Init(Box::new(init))),
            system(status(Some("requesting"), None)),
            system(status(None, Some(PermissionMode::AcceptEdits))),
            system(SystemDetail::SessionStateChanged { state, sdk_host_only: true }),
            system(SystemDetail::PermissionDenied(denied)),
            system(SystemDetail::ApiRetry(retry)),
            system(notification),
        ],
    );
}

#[test]
fn tasks() {
    let started = TaskStarted {
        task_id: "b1".into(),
        description: "Run the tests".to_owned(),
        tool_use_id: Some("toolu_1".into()),
        task_type: Some("local_bash".to_owned()),
        subagent_type: None,
        is_backgrounded: Some(true),
        prompt: None,
        extra: Map::new(),
    };
    let ended = TaskNotification {
        task_id: "b1".into(),
        status: "completed".to_owned(),
        output_file: "/tmp/b1.output".to_owned(),
        summary: "All passed".to_owned(),
        tool_use_id: Some("toolu_1".into()),
        usage: Some(TaskUsage { total_tokens: 5, tool_uses: 1, duration_ms: 20 }),
        extra: Map::new(),
    };
    check(
        "tasks.jsonl",
        &[
            system(SystemDetail::TaskStarted(Box::new(started))),
            system(SystemDetail::TaskNotification(Box::new(ended))),
        ],
    );
}

#[test]
fn side_frames() {
    let event = StreamEvent::ContentBlockDelta {
        index: 0,
        delta: Delta::TextDelta { text: "Good".to_owned() },
    };
    check(
        "side.jsonl",
        &[
            Frame::StreamEvent(Box::new(StreamEventFrame {
                event,
                parent_tool_use_id: None,
                uuid: uuid(),
                session_id: session(),
                ttft_ms: None,
            })),
            Frame::TranscriptMirror(TranscriptMirror {
                file_path: "/sessions/a.jsonl".to_owned(),
                entries: vec![json!({"type": "tag", "tag": "x", "sessionId": "s"})],
            }),
            Frame::CommandLifecycle(CommandLifecycle {
                command_uuid: EntryId::new("p"),
                state: "completed".to_owned(),
                uuid: uuid(),
                session_id: session(),
            }),
            Frame::KeepAlive,
        ],
    );
}

#[test]
fn questions_and_answers() {
    let ask = |request| {
        Frame::ControlRequest(Box::new(ControlRequest { request_id: "r1".into(), request }))
    };
    let question = CanUseTool {
        tool_name: "Bash".to_owned(),
        display_name: "Bash".to_owned(),
        input: json!({"command": "ls"}),
        tool_use_id: "toolu_1".into(),
        description: None,
        permission_suggestions: Vec::new(),
        blocked_path: None,
        decision_reason: Some("it needs permission".to_owned()),
        title: None,
        agent_id: None,
        extra: Map::new(),
    };
    let base = HookBase {
        session_id: session(),
        transcript_path: "/sessions/a.jsonl".to_owned(),
        cwd: "/project".to_owned(),
        prompt_id: None,
        permission_mode: Some(PermissionMode::Default),
        effort: None,
        agent_id: None,
        agent_type: None,
    };
    let detail = HookDetail::PreToolUse {
        tool_name: "Bash".to_owned(),
        tool_input: json!({"command": "ls"}),
        tool_use_id: "toolu_1".into(),
    };
    let callback = ControlBody::HookCallback {
        callback_id: "hook_0".to_owned(),
        input: Box::new(HookInput { base, detail }),
        tool_use_id: Some("toolu_1".to_owned()),
    };
    let answer = |response| Frame::ControlResponse(Box::new(response));
    check(
        "control.jsonl",
        &[
            ask(ControlBody::CanUseTool(Box::new(question))),
            ask(callback),
            Frame::ControlCancelRequest(ControlCancel { request_id: "r1".into() }),
            answer(ControlResponse::success("r2".into(), Some(json!({"still_queued": []})))),
            answer(ControlResponse::success("r2".into(), None)),
            answer(ControlResponse::error(
                "r2".into(),
                "No such thing",
                Some("unsupported_request"),
            )),
            answer(ControlResponse::error("r2".into(), "No", None)),
        ],
    );
}
