//! Agents that nobody waits for: left behind, moved there, looked at, told more, stopped.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_runtime::Inbound;
use tokio::time::Instant;

use crate::agent_stage::{Shelves, helper, sends_helper, with_agents, with_budget};
use crate::model::{Gate, Script, Step, calls, says, script};
use crate::stage::{Play, Stage, kind};
use crate::tools::{Conduct, looking};

fn in_background() -> Value {
    json!({"run_in_background": true})
}

/// A session whose helper waits at a gate before it says "Found it.".
fn with_helper_at(gate: &Gate, rest: Vec<Script>) -> (Stage, Shelves) {
    let answer = script().gate(gate).text("Found it.").done().by_helper();
    let mut scripts = vec![sends_helper("toolu_1", "find it", &json!({})), answer];
    scripts.extend(rest);
    with_agents(scripts, [], vec![helper()])
}

async fn launched(play: &mut Play) -> Vec<Value> {
    play.say("Go").await;
    play.round().await
}

#[tokio::test(start_paused = true)]
async fn an_agent_left_behind_wakes_the_session_with_its_report() {
    let gate = Gate::closed();
    let answer = script().gate(&gate).text("Found it.").done().by_helper();
    let first = sends_helper("toolu_1", "find it", &in_background());
    let (stage, shelves) = with_agents(
        [first, answer, says("It is on its way."), says("It was found.")],
        [],
        vec![helper()],
    );
    let mut play = stage.with_states().begin();
    let frames = launched(&mut play).await;
    let result = frames.iter().find(|frame| kind(frame) == "user").unwrap();
    assert_eq!(result["tool_use_result"]["status"], "async_launched");
    assert_eq!(result["tool_use_result"]["agentId"], json!(shelves.ids()[0]));
    let started = frames.iter().find(|frame| kind(frame) == "system/task_started").unwrap();
    assert_eq!(started["is_backgrounded"], true);
    assert!(play.is_silent_for(3600).await, "a session whose agent works is not at rest");
    gate.open();
    let ended = play.until("system/task_notification").await;
    assert_eq!(
        (&ended["status"], &ended["task_id"]),
        (&json!("completed"), &json!(shelves.ids()[0]))
    );
    assert_eq!(ended["usage"]["total_tokens"], 17);
    play.until("result/success").await;
    assert!(play.model.heard().contains("Found it."), "{}", play.model.heard());
    assert_eq!(play.until("system/session_state_changed").await["state"], "idle");
}

#[tokio::test(start_paused = true)]
async fn closing_the_input_does_not_end_an_agent() {
    let gate = Gate::closed();
    let answer = script().gate(&gate).text("Found it.").done().by_helper();
    let first = sends_helper("toolu_1", "find it", &in_background());
    let (stage, _) =
        with_agents([first, answer, says("Sent."), says("Heard.")], [], vec![helper()]);
    let mut play = stage.begin();
    launched(&mut play).await;
    play.tell(Inbound::Closed).await;
    assert!(play.is_silent_for(3600).await);
    gate.open();
    let model = play.model.clone();
    let (frames, end) = play.rest().await;
    assert!(!end.last_result_failed);
    assert_eq!(frames.last().map(kind).as_deref(), Some("result/success"));
    assert!(model.heard().contains("Found it."));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_waited_for_can_be_moved_to_the_background() {
    let gate = Gate::closed();
    let (stage, shelves) = with_helper_at(&gate, vec![says("I go on."), says("So it was found.")]);
    let mut play = stage.begin();
    play.say("Go").await;
    play.until("system/task_started").await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    let nobody = json!({"subtype": "background_tasks", "tool_use_id": "toolu_9"});
    assert_eq!(play.ask(nobody).await["response"]["backgrounded"], false);
    let request = json!({"subtype": "background_tasks", "tool_use_id": "toolu_1"});
    play.request("req_2", request).await;
    let updated = play.until("system/task_updated").await;
    assert_eq!(updated["patch"]["is_backgrounded"], true);
    let tasks = play.until("system/background_tasks_changed").await;
    assert_eq!(tasks["tasks"][0]["task_id"], json!(shelves.ids()[0]));
    assert_eq!(play.until("result/success").await["result"], "I go on.");
    assert!(play.model.heard().contains("works in the background"));
    gate.open();
    play.until("system/task_notification").await;
    assert_eq!(play.until("result/success").await["result"], "So it was found.");
    let heard = play.model.heard();
    assert_eq!(heard.matches("Found it.").count(), 1, "it reports once: {heard}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_stopped_by_the_host() {
    let (stage, shelves) = with_agents(
        [
            sends_helper("toolu_1", "x", &in_background()),
            script().then(Step::Hang).by_helper(),
            says("Sent."),
        ],
        [],
        vec![helper()],
    );
    let mut play = stage.with_states().begin();
    launched(&mut play).await;
    let id = shelves.ids()[0].clone();
    play.request("req_1", json!({"subtype": "stop_task", "task_id": id})).await;
    assert_eq!(play.until("system/task_updated").await["patch"]["status"], "killed");
    assert_eq!(play.until("system/task_notification").await["status"], "stopped");
    assert_eq!(play.until("system/session_state_changed").await["state"], "idle");
    play.until("control_response").await;
    assert_eq!(play.model.requests().len(), 3, "nobody is woken");
    let stops = play.shelf.entries();
    assert_eq!(stops.last().unwrap()["subtype"], "task_stopped");
}

#[tokio::test(start_paused = true)]
async fn the_model_looks_at_an_agent_and_stops_it() {
    let (output, stop) = (looking("TaskOutput", Conduct::Fail), looking("TaskStop", Conduct::Fail));
    let (stage, shelves) = with_agents(
        [
            sends_helper("toolu_1", "x", &in_background()),
            script().then(Step::Hang).by_helper(),
            says("Sent."),
        ],
        [&output, &stop],
        vec![helper()],
    );
    let mut play = stage.begin();
    launched(&mut play).await;
    let id = shelves.ids()[0].clone();
    let look = calls("TaskOutput", "toolu_2", &json!({"task_id": id, "block": false}));
    let end = calls("TaskStop", "toolu_3", &json!({"task_id": id}));
    play.model.then_play([look, end, says("Stopped.")]);
    play.say("How is it?").await;
    let frames = play.round().await;
    let shown: Vec<&Value> =
        frames.iter().filter(|f| kind(f) == "user").map(|f| &f["tool_use_result"]).collect();
    assert_eq!(shown[0]["retrieval_status"], "not_ready");
    assert_eq!(shown[0]["task"]["status"], "running");
    assert_eq!(shown[1]["task_id"], json!(id));
    assert_eq!(frames.last().unwrap()["result"], "Stopped.");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_has_ended_goes_on_where_it_stopped() {
    let (stage, shelves) = with_agents(
        [
            sends_helper("toolu_1", "find it", &json!({"name": "finder"})),
            says("Found it."),
            says("Good."),
        ],
        [],
        vec![helper()],
    );
    let mut play = stage.begin();
    launched(&mut play).await;
    let message = json!({"to": "finder", "message": "And now the other one."});
    play.model.then_play([
        calls("SendMessage", "toolu_2", &message),
        says("Found the other.").by_helper(),
        says("Told it."),
        says("Both were found."),
    ]);
    play.say("More").await;
    play.until("system/task_notification").await;
    play.until("result/success").await;
    assert_eq!(shelves.ids().len(), 1, "it is the same agent");
    let asked = play.model.requests();
    let of_helper = asked.iter().rfind(|request| request.system[0].text.contains("the helper"));
    let again = serde_json::to_string(&of_helper.unwrap().messages).unwrap();
    for said in ["find it", "Found it.", "And now the other one."] {
        assert!(again.contains(said), "{said} is not in {again}");
    }
}

#[tokio::test(start_paused = true)]
async fn agents_do_not_outlive_the_session() {
    let (stage, _) = with_agents(
        [
            sends_helper("toolu_1", "x", &in_background()),
            script().then(Step::Hang).by_helper(),
            says("Sent."),
        ],
        [],
        vec![helper()],
    );
    let mut play = stage.begin();
    launched(&mut play).await;
    let began = Instant::now();
    play.tell(Inbound::ShutDown).await;
    let (_, end) = play.rest().await;
    assert_eq!(end.storage_failure, None);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn agents_that_share_a_small_budget_take_turns() {
    let gate = Gate::closed();
    // Each response costs 1.7 cents and may cost about a dollar.
    let slow = script().gate(&gate).text("Slowly.").done();
    let scripts =
        [sends_helper("toolu_1", "x", &in_background()), slow, says("Sent."), says("Heard.")];
    let (stage, _) = with_agents(scripts, [], vec![helper()]);
    let mut play = with_budget(stage, 0.05).begin();
    play.say("Go").await;
    play.until("system/task_started").await;
    // The prompt of the agent and the answer of the call.
    play.until("user").await;
    play.until("user").await;
    assert!(play.is_silent_for(60).await);
    assert_eq!(play.model.requests().len(), 2, "the session waits while its agent spends");
    gate.open();
    play.until("result").await;
    let requests = play.model.requests().len();
    assert!(requests >= 3, "{requests}");
}

#[tokio::test(start_paused = true)]
async fn nobody_spends_what_the_tree_does_not_have() {
    let scripts = [
        sends_helper("toolu_1", "x", &json!({})),
        sends_helper("toolu_2", "deeper", &json!({})),
        says("Too late."),
    ];
    let (stage, _) = with_agents(scripts, [], vec![helper()]);
    let mut play = with_budget(stage, 0.03).begin();
    play.say("Go").await;
    let frames = play.round().await;
    let result = frames.last().unwrap();
    assert_eq!(result["subtype"], "error_max_budget_usd");
    let cost = result["total_cost_usd"].as_f64().unwrap();
    assert!((cost - 0.034).abs() < 1e-9, "one response over the budget at most: {cost}");
    assert_eq!(play.model.requests().len(), 2);
}
