//! Teams in the real program: teammates outlive the lead's answer, its input and its process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use serde_json::{Value, json};
use tillerman_testkit::{CapturedRequest, Gate, Reply, Script, ScriptedServer, fault, response};

use crate::harness::{Agent, Launch, World};

/// Whose request it is.
fn speaker(request: &CapturedRequest) -> String {
    let system = request.system_text();
    let before = system.split(", a teammate in a team").next().filter(|text| *text != system);
    let name = before.and_then(|text| text.rsplit("You are ").next());
    name.unwrap_or("lead").to_owned()
}

/// What is told in the newest message that holds no results of calls.
fn newest(request: &CapturedRequest) -> String {
    request.last_text()
}

fn teammate(name: &str) -> Value {
    json!({"description": format!("{name}'s part"), "prompt": format!("{name}, begin"), "name": name})
}

fn mail(to: &str, message: impl Into<Value>) -> Value {
    json!({"to": to, "message": message.into()})
}

fn says(text: impl Into<String>) -> Reply {
    response().text(text).into()
}

/// How many results of calls the conversation holds, which says how far a speaker is.
fn step(request: &CapturedRequest) -> usize {
    request.tool_results().len()
}

fn with_team(world: &World, server: &ScriptedServer) -> Launch {
    world.tillerman().asks(server).env("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1")
}

/// A lead that has not begun, with a model that answers it and its team.
async fn lead(
    model: impl Fn(&CapturedRequest) -> Reply + Send + Sync + 'static,
) -> (World, ScriptedServer, Agent) {
    let server = ScriptedServer::start(Script::from_fn(model)).await;
    let world = World::new();
    let agent = with_team(&world, &server).start();
    (world, server, agent)
}

/// Everything that was asked in one name.
fn requests_of(server: &ScriptedServer, name: &str) -> Vec<CapturedRequest> {
    server.requests().into_iter().filter(|request| speaker(request) == name).collect()
}

fn results(frames: &[Value]) -> Vec<String> {
    let results = frames.iter().filter(|frame| frame["type"] == "result");
    results.map(|frame| frame["result"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn started(agent: &mut Agent) {
    agent.prompt("Go").await;
    assert_eq!(agent.result().await["result"], "Sent.");
}

fn gates<const N: usize>(names: [&str; N]) -> BTreeMap<String, Gate> {
    names.into_iter().map(|name| (name.to_owned(), Gate::new())).collect()
}

#[tokio::test]
async fn three_teammates_finish_after_the_lead_has_answered_and_its_input_is_closed() {
    let gates = gates(["ann", "bob", "cy"]);
    let held = gates.clone();
    let server = ScriptedServer::start(Script::from_fn(move |request| {
        let name = speaker(request);
        if let Some(gate) = held.get(&name) {
            return response().text(format!("{name} found it")).hold_before(gate).into();
        }
        if step(request) == 0 {
            let call = |reply: tillerman_testkit::Response, name: &str| {
                reply.tool_call("Agent", teammate(name))
            };
            return ["ann", "bob", "cy"].into_iter().fold(response(), call).into();
        }
        let heard = newest(request);
        let who = ["ann", "bob", "cy"].into_iter().find(|n| heard.contains(&format!("{n} found")));
        says(who.map_or_else(|| "Sent.".to_owned(), |name| format!("{name} is done.")))
    }))
    .await;
    let world = World::new();
    let hook = json!({"type": "command", "command": "cat >> idle.jsonl; echo >> idle.jsonl"});
    let settings = json!({"hooks": {"TeammateIdle": [{"hooks": [hook]}]}}).to_string();
    let mut agent = with_team(&world, &server).args(["--settings", &settings]).start();
    started(&mut agent).await;
    agent.close();
    for (name, gate) in &gates {
        gate.reached().await;
        gate.open();
        assert_eq!(agent.result().await["result"], format!("{name} is done."));
    }
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    assert_eq!(results(&frames), ["Sent.", "ann is done.", "bob is done.", "cy is done."]);
    let told = frames.iter().filter(|frame| frame["subtype"] == "task_notification");
    assert_eq!(told.filter(|frame| frame["status"] == "completed").count(), 3);
    let asked = server.requests().iter().any(|request| request.user_text().contains("shutdown"));
    assert!(!asked, "nobody is told to end");
    let idle = std::fs::read_to_string(world.file("idle.jsonl")).unwrap();
    for name in gates.keys() {
        assert!(idle.contains(&format!("\"teammate_name\":\"{name}\"")), "{idle}");
    }
}

#[tokio::test]
async fn a_teammate_that_never_answers_is_given_up_in_the_end() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = ScriptedServer::start(Script::from_fn(move |request| {
        if speaker(request) == "ann" {
            return response().text("never").hold_before(&held).into();
        }
        match step(request) {
            0 => response().tool_call("Agent", teammate("ann")).into(),
            _ if newest(request).contains("was stopped") => says("ann is gone."),
            _ => says("Sent."),
        }
    }))
    .await;
    let world = World::new();
    let mut agent = with_team(&world, &server).env("TILLERMAN_TEAM_CEILING_MS", "200").start();
    started(&mut agent).await;
    gate.reached().await;
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    assert_eq!(results(&frames), ["Sent.", "ann is gone."]);
}

#[tokio::test]
async fn a_teammate_that_fails_is_reported_and_the_others_go_on() {
    let gate = Gate::new();
    let held = gate.clone();
    let (_world, _server, mut agent) = lead(move |request| match speaker(request) {
        name if name == "ann" => fault::status(400).message("no such thing").into(),
        name if name == "bob" => response().text("bob found it").hold_before(&held).into(),
        _ if step(request) == 0 => response()
            .tool_call("Agent", teammate("ann"))
            .tool_call("Agent", teammate("bob"))
            .into(),
        _ if newest(request).contains("bob found it") => says("bob is done."),
        _ if request.user_text().contains("The teammate ann failed") => says("ann failed."),
        _ => says("Sent."),
    })
    .await;
    agent.prompt("Go").await;
    agent.frame("ann's failure to be told", |frame| frame["result"] == "ann failed.").await;
    gate.open();
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    assert_eq!(results(&frames).last().map(String::as_str), Some("bob is done."));
}

#[tokio::test]
async fn a_message_to_all_reaches_those_at_work_and_wakes_those_at_rest() {
    let gate = Gate::new();
    let held = gate.clone();
    let (_world, server, mut agent) = lead(move |request| {
        let (name, heard) = (speaker(request), newest(request));
        match name.as_str() {
            "lead" if step(request) == 0 => response()
                .tool_call("Agent", teammate("ann"))
                .tool_call("Agent", teammate("bob"))
                .into(),
            "lead" if heard.contains("Tell them") => {
                response().tool_call("SendMessage", mail("*", "The wind turns.")).into()
            }
            "lead" if heard.contains("turned back") => says("They turned."),
            "lead" if heard.contains("ann waits") => says("ann rests."),
            "lead" => says("Sent."),
            _ if request.user_text().contains("from=\"team-lead\"") => {
                says(format!("{name} turned back"))
            }
            "ann" => says("ann waits"),
            _ => response().tool_call("TaskList", json!({})).hold_before(&held).into(),
        }
    })
    .await;
    agent.prompt("Go").await;
    agent.frame("ann at rest", |frame| frame["status"] == "completed").await;
    gate.reached().await;
    agent.prompt("Tell them").await;
    let sent = |frame: &Value| frame["tool_use_result"]["recipients"] == json!(["ann", "bob"]);
    agent.frame("the message to be sent", sent).await;
    gate.open();
    let (finished, _) = agent.finish().await;
    finished.assert_code(0);
    for name in ["ann", "bob"] {
        let last = requests_of(&server, name).pop().unwrap().user_text();
        assert!(last.contains(&format!("{name}, begin")), "it goes on where it was: {last}");
        assert_eq!(last.matches("The wind turns.").count(), 1, "once: {last}");
    }
}

#[tokio::test]
async fn teammates_write_to_each_other_and_to_the_lead_after_the_input_is_closed() {
    let gate = Gate::new();
    let held = gate.clone();
    let (world, server, mut agent) = lead(move |request| {
        let (name, heard) = (speaker(request), newest(request));
        match (name.as_str(), step(request)) {
            ("lead", 0) => response()
                .tool_call("Agent", teammate("ann"))
                .tool_call("Agent", teammate("bob"))
                .into(),
            ("lead", _) => says("Heard."),
            ("ann", _) if heard.contains("from=\"bob\"") => says("ann took over"),
            ("ann", _) => says("ann waits"),
            (_, 0) => response()
                .tool_call("SendMessage", mail("ann", "Your turn."))
                .tool_call("SendMessage", mail("team-lead", "I am half done."))
                .hold_before(&held)
                .into(),
            _ => says("bob is done"),
        }
    })
    .await;
    agent.prompt("Go").await;
    agent.frame("ann at rest", |frame| frame["status"] == "completed").await;
    gate.reached().await;
    agent.close();
    gate.open();
    agent.finish().await.0.assert_code(0);
    let told = requests_of(&server, "lead").pop().unwrap().user_text();
    for (word, times) in [("I am half done.", 1), ("ann took over", 1), ("bob is done", 1)] {
        assert_eq!(told.matches(word).count(), times, "{word}: {told}");
    }
    let mailboxes = std::fs::read_dir(world.config().join("teams")).unwrap().next().unwrap();
    let mailbox = mailboxes.unwrap().path().join("inboxes/team-lead.jsonl");
    let lines = std::fs::read_to_string(mailbox).unwrap();
    assert_eq!(lines.matches("\"type\":\"read\"").count(), 1, "{lines}");
}

#[tokio::test]
async fn of_two_teammates_who_want_a_task_exactly_one_gets_it() {
    let gates = gates(["ann", "bob"]);
    let held = gates.clone();
    let outcomes = Arc::new(Mutex::new(BTreeMap::new()));
    let noted = Arc::clone(&outcomes);
    let (world, _server, mut agent) = lead(move |request| {
        let name = speaker(request);
        match (name.as_str(), step(request)) {
            ("lead", 0) => response()
                .tool_call("TaskCreate", json!({"subject": "dig", "description": "a hole"}))
                .into(),
            ("lead", 1) => response()
                .tool_call("Agent", teammate("ann"))
                .tool_call("Agent", teammate("bob"))
                .into(),
            ("lead", _) => says("Sent."),
            (_, 0) => response()
                .tool_call("TaskUpdate", json!({"taskId": "1", "status": "in_progress"}))
                .hold_before(&held[&name])
                .into(),
            (_, _) => {
                noted.lock().unwrap().insert(name, request.tool_result_texts().join(""));
                says("Tried.")
            }
        }
    })
    .await;
    started(&mut agent).await;
    for gate in gates.values() {
        gate.reached().await;
    }
    gates.values().for_each(Gate::open);
    agent.finish().await.0.assert_code(0);
    let outcomes = outcomes.lock().unwrap().clone();
    assert_eq!(outcomes.len(), 2);
    let lost: Vec<&String> = outcomes.values().filter(|it| it.contains("was taken by")).collect();
    assert_eq!(lost.len(), 1, "{outcomes:?}");
    let tasks = world.config().join("tasks");
    let list = std::fs::read_dir(tasks).unwrap().next().unwrap().unwrap().path().join("list.jsonl");
    let list = std::fs::read_to_string(list).unwrap();
    assert_eq!(list.matches("in_progress").count(), 1, "{list}");
}

#[tokio::test]
async fn a_killed_lead_goes_on_with_its_team() {
    let gate = Gate::new();
    let held = gate.clone();
    let (world, server, mut agent) = lead(move |request| {
        let (name, heard, all) = (speaker(request), newest(request), request.user_text());
        match name.as_str() {
            "ann" if all.contains("Where were you?") => says("ann found it"),
            "ann" => response().text("never").hold_before(&held).into(),
            _ if heard.contains("ann found it") => says("ann is done."),
            _ if step(request) == 0 => response().tool_call("Agent", teammate("ann")).into(),
            _ if heard.contains("Resume") => {
                response().tool_call("SendMessage", mail("ann", "Where were you?")).into()
            }
            _ => says("Sent."),
        }
    })
    .await;
    started(&mut agent).await;
    gate.reached().await;
    agent.signal(Signal::KILL);
    agent.finish().await;

    let mut agent = with_team(&world, &server).args(["-c"]).start();
    agent.prompt("Resume").await;
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    assert_eq!(results(&frames).last().map(String::as_str), Some("ann is done."));
    let lead = requests_of(&server, "lead");
    assert!(lead.iter().any(|it| it.user_text().contains("ann (general-purpose): interrupted")));
    let ann = requests_of(&server, "ann").pop().unwrap().user_text();
    assert!(ann.contains("ann, begin"), "it goes on where it was: {ann}");
}

#[tokio::test]
async fn a_teammate_may_refuse_to_leave_and_a_team_that_all_left_is_cleared_away() {
    let (world, _server, mut agent) = lead(move |request| {
        let (name, heard) = (speaker(request), newest(request));
        let answer = |approve: bool| {
            let word =
                json!({"type": "shutdown_response", "approve": approve, "reason": "the pot boils"});
            response().tool_call("SendMessage", mail("team-lead", word)).into()
        };
        match (name.as_str(), step(request)) {
            ("ann", 0) if heard.contains("asks you to leave") => answer(false),
            ("ann", 1) if heard.contains("asks you to leave") => answer(true),
            ("ann", _) => says("ann rests"),
            ("lead", 0) => response().tool_call("Agent", teammate("ann")).into(),
            ("lead", 1 | 2) if heard.contains("Leave") => {
                let word = json!({"type": "shutdown_request", "reason": "the work is done"});
                response().tool_call("SendMessage", mail("ann", word)).into()
            }
            _ if heard.contains("does not leave yet") => says("ann stays."),
            _ if heard.contains("has left the team") => says("ann left."),
            _ => says("Heard."),
        }
    })
    .await;
    agent.prompt("Go").await;
    agent.frame("ann at rest", |frame| frame["status"] == "completed").await;
    agent.prompt("Leave").await;
    agent.frame("the refusal", |frame| frame["result"] == "ann stays.").await;
    let teams = std::fs::read_dir(world.config().join("teams")).unwrap();
    assert_eq!(teams.count(), 1);
    agent.prompt("Leave").await;
    agent.frame("the approval", |frame| frame["result"] == "ann left.").await;
    agent.finish().await.0.assert_code(0);
    let teams = std::fs::read_dir(world.config().join("teams")).unwrap();
    assert_eq!(teams.count(), 0, "nothing is left behind");
}

#[tokio::test]
async fn a_request_to_leave_can_be_answered_after_a_restart() {
    let gate = Gate::new();
    let held = gate.clone();
    let (world, server, mut agent) = lead(move |request| {
        let (name, heard, step) = (speaker(request), newest(request), step(request));
        match name.as_str() {
            "ann" if heard.contains("Well?") && step == 0 => {
                let word = json!({"type": "shutdown_response", "approve": true});
                response().tool_call("SendMessage", mail("team-lead", word)).into()
            }
            "ann" if heard.contains("asks you to leave") => {
                response().text("never").hold_before(&held).into()
            }
            "ann" => says("ann rests"),
            _ if step == 0 => response().tool_call("Agent", teammate("ann")).into(),
            _ if heard.contains("Leave") && step == 1 => {
                let word = json!({"type": "shutdown_request"});
                response().tool_call("SendMessage", mail("ann", word)).into()
            }
            _ if heard.contains("Resume") && step == 2 => {
                response().tool_call("SendMessage", mail("ann", "Well?")).into()
            }
            _ if heard.contains("has left the team") => says("ann left."),
            _ => says("Heard."),
        }
    })
    .await;
    agent.prompt("Go").await;
    agent.frame("ann at rest", |frame| frame["status"] == "completed").await;
    agent.prompt("Leave").await;
    gate.reached().await;
    agent.frame("an answer", |frame| frame["result"] == "Heard.").await;
    agent.signal(Signal::KILL);
    agent.finish().await;

    let mut agent = with_team(&world, &server).args(["-c"]).start();
    agent.prompt("Resume").await;
    agent.frame("the approval", |frame| frame["result"] == "ann left.").await;
    agent.finish().await.0.assert_code(0);
}
