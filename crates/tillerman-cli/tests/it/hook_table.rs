//! What the documentation promises about hooks, row by row, through the real binary.

use serde_json::{Value, json};
use tillerman_testkit::{CapturedRequest, Reply, Script, ScriptedServer, response};

use crate::harness::{FRAMES_OUT, Finished, World, tool_result_texts};

const NO: &str = "echo not-so >&2; exit 2";

/// A session with hooks of the user, and what became of it.
struct Played {
    world: World,
    server: ScriptedServer,
    finished: Finished,
}

impl Played {
    fn requests(&self) -> usize {
        self.server.requests().len()
    }

    /// Everything the model was sent last.
    fn last(&self) -> String {
        self.server.requests().pop().unwrap().body.to_string()
    }

    fn heard(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.world.file(name)).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn made(&self) -> bool {
        self.world.file("made").exists()
    }
}

fn command(line: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": line}]}])
}

/// The model touches a file, hands an errand to an agent where it is told to, and says "done".
fn work(request: &CapturedRequest) -> Reply {
    let said = request.messages().last().unwrap().to_string();
    let first = request.messages()[0].to_string();
    let input = json!({"subagent_type": "general-purpose", "description": "d", "prompt": "errand"});
    if said.contains("tool_result") || first.contains("errand") || first.contains("only talk") {
        response().text("done").into()
    } else if first.contains("delegate") {
        response().tool_call("Agent", input).into()
    } else {
        response().tool_call("Bash", json!({"command": "touch made"})).into()
    }
}

async fn play(hooks: &Value, prompt: &str) -> Played {
    let world = World::new();
    std::fs::create_dir(world.config().join("commands")).unwrap();
    std::fs::write(world.config().join("commands/mine.md"), "only talk about $0").unwrap();
    let settings = json!({ "hooks": hooks }).to_string();
    std::fs::write(world.config().join("settings.json"), &settings).unwrap();
    let server = ScriptedServer::start(Script::from_fn(work)).await;
    // Given twice, so that every row also proves that a handler written down twice runs once.
    let launch = world.tillerman().asks(&server).unguarded().env("OTEL_SECRET", "x");
    let finished =
        launch.args(FRAMES_OUT).args(["--settings", &settings, "--", prompt]).run().await;
    finished.assert_code(0).assert_no_panic();
    Played { world, server, finished }
}

#[tokio::test]
async fn row_sources_hooks_run_once_and_inside_agents() {
    let hooks = json!({"SubagentStart": command("cat >> told; echo >> told"),
        "SubagentStop": command("cat >> told; echo >> told")});
    let played = play(&hooks, "delegate").await;
    let told = played.heard("told");
    let events: Vec<&str> = told.iter().map(|it| it["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(events, ["SubagentStart", "SubagentStop"]);
    assert!(told.iter().all(|it| it["agent_type"] == "general-purpose"), "{told:?}");
    assert!(told.iter().all(|it| it["agent_id"].is_string()), "{told:?}");
    assert_eq!(told[1]["last_assistant_message"], "done");
}

#[tokio::test]
async fn row_matcher_names_are_exact_and_patterns_fit_anywhere() {
    let rows = [
        ("", true),
        ("*", true),
        ("Bash", true),
        ("Read|Bash", true),
        ("Read, Bash", true),
        ("Bas", false),
        ("^Ba", true),
        ("as.$", true),
        ("bash", false),
        ("mcp__notes", false),
    ];
    for (matcher, fits) in rows {
        let hook = json!({"type": "command", "command": NO});
        let played =
            play(&json!({"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}), "go").await;
        assert_eq!(played.made(), !fits, "{matcher:?}");
    }
}

#[tokio::test]
async fn row_handlers_with_args_need_no_shell_and_conditions_choose_calls() {
    let exec = json!({"type": "command", "command": "touch", "args": ["a b;c"]});
    let other = json!({"type": "command", "command": NO, "if": "Bash(git *)"});
    let played = play(&json!({"PreToolUse": [{"hooks": [exec, other]}]}), "go").await;
    assert!(played.world.file("a b;c").exists() && played.made());
}

#[tokio::test]
async fn row_standard_input_and_environment() {
    let line = "cat > told; echo \"$CLAUDE_PROJECT_DIR\" > env; env >> env; \
                test -t 0 || (: < /dev/tty) 2>/dev/null || echo no-terminal >> env";
    let played = play(&json!({"PreToolUse": command(line)}), "go").await;
    let told = &played.heard("told")[0];
    let names = [
        "session_id",
        "transcript_path",
        "cwd",
        "prompt_id",
        "permission_mode",
        "hook_event_name",
        "tool_name",
        "tool_input",
        "tool_use_id",
    ];
    for name in names {
        assert!(!told[name].is_null(), "{name} is missing: {told}");
    }
    let seen = std::fs::read_to_string(played.world.file("env")).unwrap();
    let project = played.world.path("work").display().to_string();
    assert!(seen.starts_with(&project) && seen.contains("no-terminal"), "{seen}");
    assert!(!seen.contains("OTEL_SECRET") && !seen.contains("ANTHROPIC_API_KEY"), "{seen}");
}

#[tokio::test]
async fn row_exit_codes_mean_fine_no_and_failed() {
    let allow = r#"echo '{"decision":"approve"}'; exit 2"#;
    let deny = r#"echo '{"decision":"block","reason":"x"}'; exit 7"#;
    for (line, runs) in [
        ("exit 0", true),
        ("echo text", true),
        ("exit 1", true),
        (NO, false),
        (allow, false),
        (deny, false),
    ] {
        let played = play(&json!({"PreToolUse": command(line)}), "go").await;
        assert_eq!(played.made(), runs, "{line}");
    }
    let played = play(&json!({"UserPromptSubmit": command("echo It rains.")}), "only talk").await;
    assert!(played.last().contains("It rains."), "plain text is context for a prompt");
}

#[tokio::test]
async fn row_exit_two_does_what_it_says_for_each_event() {
    // The event, the prompt, how many requests are made, and what the last one or the host is told.
    let once = "grep -q '\"stop_hook_active\":true' || { echo not-so >&2; exit 2; }";
    let rows = [
        ("PreToolUse", NO, "go", 2, true),
        ("PostToolUse", NO, "go", 2, true),
        ("PostToolBatch", NO, "go", 1, true),
        ("UserPromptSubmit", NO, "go", 0, true),
        ("UserPromptExpansion", NO, "/mine x", 0, true),
        ("Stop", once, "only talk", 2, true),
        ("SubagentStop", once, "delegate", 4, false),
        ("SubagentStart", NO, "delegate", 3, false),
        ("SessionEnd", NO, "only talk", 1, false),
        ("SessionStart", NO, "only talk", 1, false),
    ];
    for (event, line, prompt, requests, is_told) in rows {
        let mut hooks = json!({});
        hooks[event] = command(line);
        let played = play(&hooks, prompt).await;
        assert_eq!(played.requests(), requests, "{event}: {}", played.finished.stderr);
        let told = played.finished.text().contains("not-so")
            || (requests > 0 && played.last().contains("not-so"));
        assert!(told || !is_told, "{event}: {}", played.finished.text());
    }
}

#[tokio::test]
async fn row_json_ends_the_round_speaks_to_the_person_and_is_cut() {
    let halt = r#"echo '{"continue":false,"stopReason":"enough","systemMessage":"Look here."}'"#;
    let played = play(&json!({"PreToolUse": command(halt)}), "go").await;
    assert!(!played.made() && played.requests() == 1);
    assert!(played.finished.text().contains("Look here."));
    let long = "head -c 30000 /dev/zero | tr '\\0' x";
    let played = play(&json!({"UserPromptSubmit": command(long)}), "only talk").await;
    let sent = played.last().matches('x').count();
    assert!((100..11_000).contains(&sent), "{sent} characters were sent");
}

#[tokio::test]
async fn row_loop_guard_lets_the_agent_stop_after_eight_objections() {
    let played = play(&json!({"Stop": command(NO)}), "only talk").await;
    assert_eq!(played.requests(), 9);
    assert_eq!(played.finished.result()["subtype"], "success");
}

#[tokio::test]
async fn row_disable_all_hooks_switches_those_of_settings_off() {
    let world = World::new();
    let settings = json!({"disableAllHooks": true, "hooks": {"PreToolUse": command(NO)}});
    let server = ScriptedServer::start(Script::from_fn(work)).await;
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let finished = launch.args(["--settings", &settings.to_string(), "--", "go"]).run().await;
    finished.assert_code(0);
    assert!(world.file("made").exists(), "{:?}", tool_result_texts(&finished.frames()));
}

#[tokio::test]
async fn faults_of_a_hook_child_stop_nothing_and_are_told() {
    let rows = [("kill -9 $$", 30.0), ("sleep 600", 0.3), ("exec yes flood", 30.0)];
    for (line, timeout) in rows {
        let hook = json!({"type": "command", "command": line, "timeout": timeout});
        let played = play(&json!({"PreToolUse": [{"hooks": [hook]}]}), "go").await;
        assert!(played.made(), "{line}");
        assert!(played.finished.text().contains("hook_failed"), "{line}");
        played.finished.assert_stderr("The work went on without it");
    }
}
