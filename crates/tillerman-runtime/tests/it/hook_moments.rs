//! Hooks beside the loop of calls: questions of servers, other models, texts for people, files.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tillerman_ports::{LiveSettings, SettingsChange, SettingsNotice};
use tillerman_protocol::control::{ControlBody, PersonRequest};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::handlers::{ScriptedRunner, answers, does, on};
use crate::model::says;
use crate::servers::TestServers;
use crate::stage::{kinds, stage};

fn question() -> ControlBody {
    ControlBody::Person(PersonRequest::Elicitation {
        mcp_server_name: "notes".to_owned(),
        message: "Which?".to_owned(),
        mode: Some("form".to_owned()),
        url: None,
        elicitation_id: Some("e1".to_owned()),
        requested_schema: Some(json!({"type": "object"})),
        extra: Map::new(),
    })
}

fn says_to(event: &str, specific: &Value) -> Value {
    let mut specific = specific.clone();
    specific["hookEventName"] = json!(event);
    answers(&json!({ "hookSpecificOutput": specific }))
}

#[tokio::test(start_paused = true)]
async fn hooks_hear_a_servers_question_and_its_answer_and_may_give_another() {
    let person = json!({"action": "accept", "content": {"x": 1}});
    let decline = json!({"action": "decline"});
    let own = json!({"action": "accept", "content": {"x": 2}});
    let no = answers(&json!({"decision": "block", "reason": "not here"}));
    let table = [
        (on("Stop", &json!([does("x")])), true, person.clone()),
        (on("Elicitation", &json!([does("x")])), true, person.clone()),
        (on("Elicitation", &json!([says_to("Elicitation", &own)])), false, own.clone()),
        (on("Elicitation", &json!([no])), false, decline.clone()),
        (on("ElicitationResult", &json!([does("x")])), true, person.clone()),
        (on("ElicitationResult", &json!([says_to("ElicitationResult", &own)])), true, own.clone()),
        (on("ElicitationResult", &json!([no])), true, decline.clone()),
        // Whoever agrees to nothing is stronger.
        (
            on(
                "Elicitation",
                &json!([says_to("Elicitation", &decline), says_to("Elicitation", &own)]),
            ),
            false,
            decline,
        ),
    ];
    for (section, is_asked, expected) in table {
        let (runner, servers) = (ScriptedRunner::default(), TestServers::ready());
        let mut stage = stage([]).handlers(runner.setup(std::array::from_ref(&section)));
        stage.setup.mcp = Some(Arc::new(servers.clone()));
        let mut play = stage.begin();
        play.ask(json!({"subtype": "mcp_status"})).await;
        let mut asking = JoinSet::new();
        asking.spawn(servers.host().ask(question()));
        if is_asked {
            let request = play.until("control_request/elicitation").await;
            play.answer(&request, person.clone()).await;
        }
        let answer = asking.join_next().await.unwrap().unwrap().unwrap();
        assert_eq!(answer, expected, "{section}");
        for ran in runner.log() {
            assert_eq!(ran.input["mcp_server_name"], "notes");
            assert_eq!(ran.input["elicitation_id"], "e1");
        }
        let (frames, _) = play.close().await;
        assert!(!kinds(&frames).iter().any(|kind| kind.starts_with("control")), "{frames:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_host_hears_when_a_person_is_done_with_a_page() {
    let servers = TestServers::ready();
    let mut stage = stage([]);
    stage.setup.mcp = Some(Arc::new(servers.clone()));
    let mut play = stage.begin();
    play.ask(json!({"subtype": "mcp_status"})).await;
    servers.host().elicitation_completed("notes", "e1").await;
    let frame = play.until("system/elicitation_complete").await;
    assert_eq!(frame["mcp_server_name"], "notes");
    assert_eq!(frame["elicitation_id"], "e1");
    play.close().await;
}

#[tokio::test(start_paused = true)]
async fn another_model_waits_for_hooks_and_prompts_wait_with_it() {
    let runner = ScriptedRunner::default();
    let hooks = runner.setup(&[on("PreModelSwitch", &json!([does("slow {}")]))]);
    let mut play = stage([says("Hi.")]).handlers(hooks).begin();
    play.request("r1", json!({"subtype": "set_model", "model": "test-swift"})).await;
    play.say("Go").await;
    let frames = play.round().await;
    assert_eq!(frames[0]["response"]["response"], json!({"model": "test-swift"}));
    assert_eq!(play.model.requests()[0].model, "test-swift");
    let told = &runner.log()[0].input;
    assert_eq!(
        (&told["from_model"], &told["to_model"], &told["source"]),
        (&json!("test-model"), &json!("test-swift"), &json!("sdk"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hooks_refuse_does_not_answer() {
    let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "too dear"});
    let no = answers(&json!({"decision": "block", "reason": "too dear"}));
    for handler in [says_to("PreModelSwitch", &deny), no] {
        let runner = ScriptedRunner::default();
        let hooks = runner.setup(&[on("PreModelSwitch", &json!([handler]))]);
        let mut play = stage([says("Hi.")]).handlers(hooks).begin();
        let answer = play.ask(json!({"subtype": "set_model", "model": "test-swift"})).await;
        assert_eq!(answer["subtype"], "error", "{handler}");
        assert!(answer["error"].as_str().unwrap().contains("too dear"), "{answer}");
        play.say("Go").await;
        play.round().await;
        assert_eq!(play.model.requests()[0].model, "test-model", "{handler}");
    }
}

/// Settings that take whatever the host wants.
#[derive(Debug)]
struct Willing;

impl LiveSettings for Willing {
    fn describe(&self) -> Value {
        json!({})
    }

    fn notices(&mut self) -> Vec<SettingsNotice> {
        Vec::new()
    }

    fn refresh(&mut self) -> Option<SettingsChange> {
        None
    }

    fn apply_flags(&mut self, _: &Map<String, Value>) -> Result<SettingsChange, String> {
        Ok(SettingsChange::default())
    }

    fn update_file(&mut self, _: &str, _: &Map<String, Value>) -> Result<(), String> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_of_changed_settings_can_be_refused_as_well() {
    let mut play = stage([says("Hi.")]).settings(Willing).begin();
    play.hook(json!({"PreModelSwitch": [{"hookCallbackIds": ["hook_0"]}]})).await;
    let flags = json!({"subtype": "apply_flag_settings", "settings": {"model": "test-swift"}});
    play.request("r1", flags).await;
    let callback = play.until("control_request/hook_callback").await;
    play.answer(&callback, json!({"decision": "block", "reason": "too dear"})).await;
    let told = play.until("system/notification").await;
    assert_eq!(told["key"], "model_refused");
    play.say("Go").await;
    play.round().await;
    assert_eq!(play.model.requests()[0].model, "test-model");
}

#[tokio::test(start_paused = true)]
async fn closing_the_input_waits_for_no_callback_about_a_model() {
    let mut play = stage([says("Hi.")]).begin();
    play.hook(json!({"PreModelSwitch": [{"hookCallbackIds": ["hook_0"]}]})).await;
    let began = Instant::now();
    play.request("r1", json!({"subtype": "set_model", "model": "test-swift"})).await;
    play.until("control_request/hook_callback").await;
    play.say("Go").await;
    let (frames, _) = play.close().await;
    assert_eq!(
        kinds(&frames),
        ["control_response", "system/init", "assistant", "result/success"],
        "what was asked for before the end is done"
    );
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn people_see_the_text_that_a_hook_gives_and_everything_in_order() {
    let runner = ScriptedRunner::default();
    let shown = json!({"hookSpecificOutput":
        {"hookEventName": "MessageDisplay", "displayContent": "[hidden]"}});
    let slow = does(&format!("slow {shown}"));
    let hooks = runner.setup(&[on("MessageDisplay", &json!([slow]))]);
    let play = stage([says("The word is Ada.")]).handlers(hooks).begin();
    let shelf = play.shelf.clone();
    play.say("Go").await;
    let (frames, _) = play.close().await;
    assert_eq!(kinds(&frames), ["system/init", "assistant", "result/success"]);
    assert_eq!(frames[1]["message"]["content"][0]["text"], "[hidden]");
    let told = &runner.log()[0].input;
    assert_eq!((&told["delta"], &told["final"]), (&json!("The word is Ada."), &json!(true)));
    assert_eq!(told["turn_id"], told["prompt_id"]);
    assert!(shelf.text().contains("The word is Ada."), "the transcript keeps the words");
}

#[tokio::test(start_paused = true)]
async fn a_display_hook_that_fails_hides_nothing() {
    for conduct in ["crash", "never", "fail"] {
        let runner = ScriptedRunner::default();
        let hooks = runner.setup(&[on("MessageDisplay", &json!([does(conduct)]))]);
        let play = stage([says("Ada.")]).handlers(hooks).begin();
        play.say("Go").await;
        let (frames, _) = play.close().await;
        let said = frames.iter().find(|frame| frame["type"] == "assistant").unwrap();
        assert_eq!(said["message"]["content"][0]["text"], "Ada.", "{conduct}");
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_hear_of_files_that_they_name() {
    let folder = std::env::temp_dir().join(format!("tillerman-watch-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (env, other) = (folder.join(".env"), folder.join("other"));
    std::fs::write(&other, "1").unwrap();
    let runner = ScriptedRunner::default();
    let watch = says_to("SessionStart", &json!({"watchPaths": [other]}));
    let section = json!({
        "FileChanged": [{"matcher": ".env|notes.txt", "hooks": [does("named")]},
            {"hooks": [does("all")]}],
        "SessionStart": [{"hooks": [watch]}],
    });
    let mut stage = stage([says("Hi.")]).handlers(runner.setup(&[section]));
    stage.setup.engine.origin.cwd = folder.display().to_string();
    let mut play = stage.begin();
    play.say("Go").await;
    play.round().await;
    let mut heard = 1;
    for (file, text, event, runs) in [
        (&env, Some("A=1"), "add", 2),
        (&env, Some("A=12"), "change", 2),
        (&other, Some("23"), "change", 1),
        (&env, None, "unlink", 2),
    ] {
        assert!(play.is_silent_for(2).await);
        match text {
            Some(text) => std::fs::write(file, text).unwrap(),
            None => std::fs::remove_file(file).unwrap(),
        }
        assert!(play.is_silent_for(2).await);
        let log = runner.log();
        assert_eq!(log.len(), heard + runs, "{event}: {log:?}");
        for ran in &log[heard..] {
            assert_eq!(ran.input["file_path"], json!(file));
            assert_eq!((&ran.input["event"], ran.env_file), (&json!(event), false));
        }
        heard = log.len();
    }
    play.close().await;
    std::fs::remove_dir_all(&folder).unwrap();
}
