//! The mode in which a session goes on when its plan was approved.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::{Access, ToolOutcome, ToolOutput, ToolSpec};

use crate::model::{calls, says};
use crate::stage::{Play, stage};

/// Begins or ends planning.
#[derive(Debug)]
struct Switch(&'static str, PermissionMode);

impl Tool for Switch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.0.to_owned(),
            description: "Switches.".to_owned(),
            input_schema: json!({"type": "object"}),
            access: match self.1 {
                PermissionMode::Plan => Access::ReadOnly,
                _ => Access::Mutating,
            },
        }
    }

    fn check(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    fn call(&self, _: ToolCall) -> BoxFuture<ToolOutcome> {
        let mut output = ToolOutput::new(Content::Text("Switched.".to_owned()), None);
        output.switches_to = Some(self.1);
        Box::pin(std::future::ready(Ok(output)))
    }
}

/// A session that plans, and shows its plan.
fn planning_in(mode: PermissionMode) -> Play {
    let scripts = [
        calls("EnterPlanMode", "toolu_1", &json!({})),
        calls("ExitPlanMode", "toolu_2", &json!({"plan": "Do it."})),
        says("Done."),
    ];
    let mut stage = stage(scripts);
    let tools: [Arc<dyn Tool>; 2] = [
        Arc::new(Switch("EnterPlanMode", PermissionMode::Plan)),
        Arc::new(Switch("ExitPlanMode", PermissionMode::Default)),
    ];
    stage.setup.engine.tools = tools.iter().map(|tool| tool.spec()).collect();
    stage.setup.ports.tools = tools.to_vec();
    stage.setup.engine.mode = mode;
    stage.begin()
}

/// Answers the question about the plan; says in which mode the round ends.
async fn ends_in(mut play: Play, answer: Value) -> Value {
    play.say("Go").await;
    loop {
        let frame = play.next().await.unwrap();
        if frame["type"] == "control_request" {
            assert_eq!(frame["request"]["tool_name"], "ExitPlanMode", "{frame}");
            play.answer(&frame, answer.clone()).await;
        }
        if frame["type"] == "result" {
            break;
        }
    }
    play.ask(json!({"subtype": "initialize"})).await["response"]["current_permission_mode"].clone()
}

#[tokio::test(start_paused = true)]
async fn planning_ends_in_the_mode_in_which_it_began() {
    let play = planning_in(PermissionMode::AcceptEdits);
    assert_eq!(ends_in(play, json!({"behavior": "allow"})).await, "acceptEdits");
    let play = planning_in(PermissionMode::Default);
    assert_eq!(ends_in(play, json!({"behavior": "allow"})).await, "default");
}

#[tokio::test(start_paused = true)]
async fn whoever_approves_a_plan_may_choose_the_mode() {
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    let answer = json!({"behavior": "allow", "updatedPermissions": [mode]});
    assert_eq!(ends_in(planning_in(PermissionMode::Default), answer).await, "acceptEdits");
}
