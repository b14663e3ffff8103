//! Proof that the checks can fail: hand-made bad requests are refused, each for its own reason.

use std::sync::Arc;

use serde_json::json;
use tillerman_engine::{CallId, Effect, Limits};
use tillerman_protocol::content::{Block, Content, Message, Role, ToolResult};

use super::callbook::CallBook;
use super::requests::{Tail, check_messages, check_prefix};

fn message(role: Role, blocks: Vec<Block>) -> Arc<Message> {
    Arc::new(Message { role, content: Content::Blocks(blocks) })
}

fn user(text: &str) -> Arc<Message> {
    message(Role::User, vec![Block::text(text)])
}

fn call(id: &str) -> Block {
    Block::ToolUse { id: id.into(), name: "Look".to_owned(), input: json!({}) }
}

fn result(id: &str) -> Block {
    let content = Content::Text("seen".to_owned());
    Block::ToolResult(ToolResult { tool_use_id: id.into(), content, is_error: false })
}

#[track_caller]
fn refuses(messages: &[Arc<Message>], check: &str) {
    let fault = check_messages(messages, Tail::User).expect_err("the request is bad");
    assert_eq!(fault.check, check, "{}", fault.detail);
}

#[test]
fn bad_requests_are_refused() {
    let thought = Block::Thinking { thinking: "hm".to_owned(), signature: String::new() };
    let asks = message(Role::Assistant, vec![call("a"), call("b")]);
    refuses(&[user("hi"), user("again")], "roles-alternate");
    refuses(&[message(Role::Assistant, vec![Block::text("hi")])], "roles-alternate");
    refuses(
        &[user("hi"), message(Role::Assistant, vec![Block::text("yes")])],
        "last-message-is-the-users",
    );
    refuses(&[message(Role::User, Vec::new())], "messages-are-not-empty");
    refuses(&[user(" ")], "text-is-not-blank");
    refuses(
        &[user("hi"), message(Role::Assistant, vec![thought]), user("go")],
        "thoughts-are-signed",
    );
    refuses(&[user("hi"), asks.clone()], "calls-are-answered");
    refuses(
        &[user("hi"), asks.clone(), message(Role::User, vec![result("a")])],
        "calls-are-answered",
    );
    let late = vec![result("a"), Block::text("so"), result("b")];
    refuses(&[user("hi"), asks, message(Role::User, late)], "results-come-first");
    let twice = message(Role::Assistant, vec![call("a"), call("a")]);
    refuses(&[user("hi"), twice], "call-ids-are-unique");
}

#[test]
fn rewritten_history_and_unpermitted_calls_are_refused() {
    let (first, second) = ([user("hi")], [user("ho")]);
    let fault = check_prefix(&first, &second).expect_err("the first message changed");
    assert_eq!(fault.check, "prefix-is-kept");
    let run = Effect::RunTool {
        call: CallId(1),
        tool_use_id: "a".into(),
        name: "Look".to_owned(),
        input: json!({}),
    };
    let fault = CallBook::default().see(&run, &Limits::unlimited()).expect_err("nobody asked");
    assert_eq!(fault.check, "calls-are-written-before-they-run");
}
