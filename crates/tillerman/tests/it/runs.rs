//! Runs: numbers, messages, exit codes and outages.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tillerman::run::{Outages, PromptParts, Run, RunEvent, RunPlan};
use tillerman::testing::{Gate, fault, response, script};
use tillerman::transport::{Launch, Link, Transport};
use tillerman::{BoxFuture, Error, ErrorKind, Options};
use tokio::sync::mpsc;

use crate::world::{Way, World, drives_tillerman, over_every_transport, within};

over_every_transport![
    a_run_has_a_number_and_ends_with_zero,
    messages_reach_a_running_session_and_no_other,
    a_killed_run_ends_with_zero_and_without_an_error,
    a_run_that_fails_ends_with_one_after_an_error,
    three_failures_in_a_row_are_an_outage_and_no_exit,
    guarded_files_stay_even_in_full_auto,
];

/// What a run told its supervisor.
#[derive(Debug, PartialEq)]
enum Told {
    Error(ErrorKind),
    Exit(i32),
    Outage,
}

/// Has a run tell everything that ends it to this channel.
fn listen(plan: RunPlan) -> (RunPlan, mpsc::Receiver<Told>) {
    let (sender, receiver) = mpsc::channel(16);
    let (errors, exits, outages) = (sender.clone(), sender.clone(), sender);
    let plan = plan
        .on_event(move |event| {
            if let RunEvent::Error(error) = event {
                errors.try_send(Told::Error(error.kind())).unwrap();
            }
        })
        .on_exit(move |code| exits.try_send(Told::Exit(code)).unwrap())
        .on_api_outage(move || outages.try_send(Told::Outage).unwrap());
    (plan, receiver)
}

async fn a_run_has_a_number_and_ends_with_zero(way: Way) {
    let script = script().reply(response().text("one")).reply(response().text("two"));
    let world = World::new(way, script).await;
    let (plan, mut told) = listen(RunPlan::new("hello", world.options()));
    let first = Run::start(plan);
    assert_eq!(within(told.recv()).await, Some(Told::Exit(0)));
    assert!(!first.send_message("too late").await);
    let (plan, mut told) = listen(RunPlan::new("hello", world.options()));
    let second = Run::start(plan);
    assert!(first.pid() >= 900_000 && second.pid() > first.pid());
    assert_eq!(within(told.recv()).await, Some(Told::Exit(0)));
}

async fn messages_reach_a_running_session_and_no_other(way: Way) {
    let gate = Gate::new();
    let script =
        script().reply(response().text("one").hold_before(&gate)).reply(response().text("two"));
    let world = World::new(way, script).await;
    let (plan, mut told) = listen(RunPlan::new("hello", world.options()));
    let run = Run::start(plan);
    world.server.wait_for_requests(1).await;
    assert!(run.send_message("and this").await);
    gate.open();
    assert_eq!(within(told.recv()).await, Some(Told::Exit(0)));
    assert!(world.server.request(1).user_text().contains("and this"));
    assert!(!run.send_message("and that").await);
}

async fn a_killed_run_ends_with_zero_and_without_an_error(way: Way) {
    let gate = Gate::new();
    let world = World::new(way, script().reply(response().text("x").hold_before(&gate))).await;
    let options = world.options().close_timeout(std::time::Duration::from_millis(10));
    let (plan, mut told) = listen(RunPlan::new("hello", options));
    let run = Run::start(plan);
    world.server.wait_for_requests(1).await;
    run.kill();
    assert!(!run.send_message("hello?").await);
    assert_eq!(within(told.recv()).await, Some(Told::Exit(0)));
}

async fn a_run_that_fails_ends_with_one_after_an_error(way: Way) {
    let world = World::new(way, script().reply(fault::status(400))).await;
    let (plan, mut told) = listen(RunPlan::new("hello", world.options()));
    let _run = Run::start(plan);
    assert_eq!(within(told.recv()).await, Some(Told::Error(ErrorKind::Api)));
    assert_eq!(within(told.recv()).await, Some(Told::Exit(1)));
}

async fn three_failures_in_a_row_are_an_outage_and_no_exit(way: Way) {
    let refuse = || fault::status(529).says_do_not_retry();
    let script = script().reply(refuse()).reply(refuse()).reply(refuse());
    let world = World::new(way, script).await;
    let outages = Outages::new();
    for number in 1..=3 {
        let plan = RunPlan::new("hello", world.options()).outages(&outages);
        let (plan, mut told) = listen(plan);
        let run = Run::start(plan);
        if number < 3 {
            assert_eq!(within(told.recv()).await, Some(Told::Error(ErrorKind::Api)));
            assert_eq!(within(told.recv()).await, Some(Told::Exit(1)));
        } else {
            assert_eq!(within(told.recv()).await, Some(Told::Outage));
            drop(run);
            assert_eq!(within(told.recv()).await, None);
        }
        assert_eq!(outages.in_a_row(), number);
    }
}

async fn guarded_files_stay_even_in_full_auto(way: Way) {
    let write = json!({"file_path": "CLAUDE.md", "content": "mine now"});
    let script = script()
        .reply(response().tool_call("Write", write))
        .reply(response().tool_call("Bash", json!({"command": "echo mine > CLAUDE.md"})))
        .reply(response().tool_call("Bash", json!({"command": "touch other"})))
        .reply(response().text("done"));
    let world = World::new(way, script).await;
    world.write("CLAUDE.md", "protected");
    let plan = RunPlan::new("go", world.options()).guard(["CLAUDE.md"]).mode("full-auto").unwrap();
    let (plan, mut told) = listen(plan);
    let _run = Run::start(plan);
    if !drives_tillerman() {
        // Nothing else guards files, so that nothing else is started.
        assert_eq!(within(told.recv()).await, Some(Told::Error(ErrorKind::Unsupported)));
        assert_eq!(world.server.requests().len(), 0);
        return;
    }
    assert_eq!(within(told.recv()).await, Some(Told::Exit(0)));
    assert_eq!(std::fs::read_to_string(world.file("CLAUDE.md")).unwrap(), "protected");
    assert!(world.file("other").exists());
    let tools = world.server.request(0).tool_names().join(" ");
    assert!(!tools.contains("PlanMode"), "{tools}");
}

/// A transport that keeps what it is told and opens nothing.
#[derive(Clone, Debug, Default)]
struct Listening(Arc<Mutex<Option<Launch>>>);

impl Transport for Listening {
    fn name(&self) -> &'static str {
        "listening"
    }

    fn open(&self, launch: Launch) -> BoxFuture<tillerman::Result<Link>> {
        *self.0.lock().unwrap() = Some(launch);
        let error = Error::new(ErrorKind::Connection, "this transport opens nothing");
        Box::pin(std::future::ready(Err(error)))
    }
}

#[tokio::test]
async fn tools_of_a_run_keep_their_connection_for_two_hours() {
    let transport = Listening::default();
    let options = Options::new().transport(transport.clone());
    let parts = PromptParts { persona: Some("Be kind.".to_owned()), ..PromptParts::default() };
    let plan = RunPlan::new("hello", options).prompt_parts(&parts).mode("full-auto").unwrap();
    let (plan, mut told) = listen(plan);
    let _run = Run::start(plan);
    assert_eq!(within(told.recv()).await, Some(Told::Error(ErrorKind::Connection)));
    let launch = transport.0.lock().unwrap().take().unwrap();
    assert_eq!(launch.environment["CLAUDE_CODE_STREAM_CLOSE_TIMEOUT"], "7200000");
    let line = launch.arguments.join(" ");
    for part in [
        "--append-system-prompt Be kind.",
        "--permission-mode bypassPermissions",
        "--disallowedTools EnterPlanMode,ExitPlanMode",
        "--strict-environment",
    ] {
        assert!(line.contains(part), "{line}");
    }
    assert!(!line.contains("--allowedTools"), "{line}");
}

#[test]
fn prompts_are_composed_in_order() {
    let parts = PromptParts {
        system_prompt: Some("You help.".to_owned()),
        append_prompt: Some("Be brief.".to_owned()),
        persona: Some(String::new()),
        skills: Some("Juggle.".to_owned()),
    };
    let wanted = "You help.\n\nBe brief.\n\n## Skill Instructions\nJuggle.";
    assert_eq!(parts.compose().as_deref(), Some(wanted));
    assert_eq!(PromptParts::default().compose(), None);
}

#[test]
fn a_mode_that_nobody_knows_is_refused() {
    let error = RunPlan::new("x", Options::new()).mode("yolo").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert!(RunPlan::new("x", Options::new()).mode("auto-edit").is_ok());
}
