//! What the documentation promises about hooks, row by row, through the real binary.

use serde_json::{Value, json};
use tillerman_testkit::{CapturedRequest, Reply, Script, ScriptedServer, response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

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

#[tokio::test]
async fn row_defer_ends_the_round_and_leaves_the_call_to_the_host() {
    let defer = json!({"hookSpecificOutput":
        {"hookEventName": "PreToolUse", "permissionDecision": "defer"}});
    let played = play(&json!({"PreToolUse": command(&format!("echo '{defer}'"))}), "go").await;
    assert!(!played.made() && played.requests() == 1);
    let result = played.finished.result();
    assert_eq!(result["terminal_reason"], "tool_deferred");
    assert_eq!(result["deferred_tool_use"]["name"], "Bash");
    assert_eq!(result["deferred_tool_use"]["input"], json!({"command": "touch made"}));
}

/// A session in which somebody would have to be asked about a command, and nobody is there.
async fn play_guarded(decision: &str, calls: &'static [&'static str]) -> Played {
    let world = World::new();
    let server = ScriptedServer::start(Script::from_fn(move |request| {
        match calls.get(request.tool_results().len()) {
            Some(line) => response().tool_call("Bash", json!({ "command": line })).into(),
            None => response().text("done").into(),
        }
    }))
    .await;
    let line = format!("cat >> asked; echo >> asked; {decision}");
    let settings = json!({"hooks": {"PermissionRequest": command(&line)}}).to_string();
    let launch = world.tillerman().asks(&server).args(FRAMES_OUT);
    let finished = launch.args(["--settings", &settings, "--", "go"]).run().await;
    finished.assert_code(0).assert_no_panic();
    Played { world, server, finished }
}

/// A command that gives this decision about a permission question.
fn decides(decision: &Value) -> String {
    let output = json!({"hookSpecificOutput":
        {"hookEventName": "PermissionRequest", "decision": decision}});
    format!("echo '{output}'")
}

#[tokio::test]
async fn row_permission_request_answers_in_a_persons_place() {
    let other = json!({"behavior": "allow", "updatedInput": {"command": "touch other"}});
    let rows = [
        (decides(&json!({"behavior": "allow"})), true, ""),
        (decides(&json!({"behavior": "deny", "message": "not today"})), false, "not today"),
        (decides(&other), false, ""),
        // No opinion, or one that does not count, leaves the question; nobody is there to ask.
        ("exit 0".to_owned(), false, "Bash was not run"),
        (NO.to_owned(), false, "Bash was not run"),
    ];
    for (decision, runs, said) in rows {
        let played = play_guarded(&decision, &["touch made"]).await;
        assert_eq!(played.made(), runs, "{decision}");
        assert_eq!(played.world.file("other").exists(), decision.contains("other"), "{decision}");
        let told = tool_result_texts(&played.finished.frames()).join("");
        assert!(told.contains(said), "{decision}: {told}");
        let asked = played.heard("asked");
        assert_eq!(asked[0]["tool_input"], json!({"command": "touch made"}));
        assert!(asked[0]["permission_suggestions"].is_array(), "{asked:?}");
    }
}

#[tokio::test]
async fn row_permission_updates_hold_where_they_say() {
    for (destination, is_kept) in [("session", false), ("localSettings", true)] {
        let rules = json!([{"toolName": "Bash", "ruleContent": "touch *"}]);
        let update = json!({"type": "addRules", "rules": rules, "behavior": "allow",
            "destination": destination});
        let allow = decides(&json!({"behavior": "allow", "updatedPermissions": [update]}));
        let played = play_guarded(&allow, &["touch made", "touch again"]).await;
        assert!(played.made() && played.world.file("again").exists(), "{destination}");
        assert_eq!(played.heard("asked").len(), 1, "{destination}: the second is no question");
        let local = std::fs::read_to_string(played.world.file(".claude/settings.local.json"));
        let kept = local.is_ok_and(|text| text.contains("Bash(touch *)"));
        assert_eq!(kept, is_kept, "{destination}");
    }
}

/// Answers every request on loopback alike, for ever.
async fn answer_all(listener: TcpListener, status: &str, body: &str) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        while !String::from_utf8_lossy(&received).ends_with('}') {
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).await.unwrap();
            received.extend_from_slice(&buffer[..read]);
        }
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close");
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
        stream.shutdown().await.ok();
    }
}

#[tokio::test]
async fn row_http_handlers_object_by_json_and_not_by_status() {
    let no = r#"{"decision":"block","reason":"not-so"}"#;
    let rows = [
        ("200 OK", "", true, false),
        ("204 No Content", "", true, false),
        ("200 OK", no, false, false),
        ("403 Forbidden", no, true, true),
        ("500 Internal Server Error", "", true, true),
    ];
    for (status, body, runs, complains) in rows {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let hook = json!({"type": "http", "url": url});
        let hooks = json!({"PreToolUse": [{"hooks": [hook]}]});
        let played = tokio::select! {
            played = play(&hooks, "go") => played,
            () = answer_all(listener, status, body) => unreachable!("it answers for ever"),
        };
        assert_eq!(played.made(), runs, "{status} {body}");
        let text = played.finished.text();
        assert_eq!(text.contains("hook_failed"), complains, "{status} {body}: {text}");
    }
}

/// A session whose checks by a model come out like this, and what the checks were asked.
async fn play_checked(hook: &Value, answer: &'static str) -> (Played, Vec<CapturedRequest>) {
    let world = World::new();
    std::fs::write(world.file("rules.txt"), "Touching is forbidden.").unwrap();
    let rules = world.file("rules.txt");
    let is_check = |request: &CapturedRequest| request.system_text().contains("You check one");
    let server = ScriptedServer::start(Script::from_fn(move |request| match is_check(request) {
        true if request.tool_names().contains(&"Read") && request.tool_results().is_empty() => {
            response().tool_call("Read", json!({"file_path": rules})).into()
        }
        true => response().text(answer).into(),
        false => work(request),
    }))
    .await;
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).to_string();
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let finished = launch.args(["--settings", &settings, "--", "go"]).run().await;
    finished.assert_code(0).assert_no_panic();
    let checks = server.requests().into_iter().filter(is_check).collect();
    (Played { world, server, finished }, checks)
}

#[tokio::test]
async fn row_prompt_and_agent_handlers_say_ok_or_give_a_reason() {
    let no = r#"{"ok": false, "reason": "not-so"}"#;
    // The answer, whether a refused call only fails, whether it runs, and the requests of the work.
    let rows = [(r#"{"ok": true}"#, false, true, 2), (no, false, false, 1), (no, true, false, 2)];
    for (kind, looks) in [("prompt", 0), ("agent", 1)] {
        for (answer, goes_on, runs, requests) in rows {
            let hook = json!({"type": kind, "prompt": "Fine? $ARGUMENTS",
                "continueOnBlock": goes_on});
            let (played, checks) = play_checked(&hook, answer).await;
            assert_eq!(played.made(), runs, "{kind} {answer} {goes_on}");
            assert_eq!(checks.len(), 1 + looks, "{kind}");
            assert_eq!(played.requests() - checks.len(), requests, "{kind} {answer} {goes_on}");
            assert!(checks[0].user_text().contains("touch made"), "{kind}");
            let seen = checks[looks].tool_result_texts().join("");
            assert_eq!(seen.contains("Touching is forbidden."), looks == 1, "{kind}: {seen}");
            let told = played.finished.text();
            assert_eq!(told.contains("not-so"), !runs, "{kind} {answer} {goes_on}");
        }
    }
}

#[tokio::test]
async fn row_instructions_hooks_hear_which_files_were_loaded_and_why() {
    let world = World::new();
    let put = |name: &str, text: &str| {
        let path = world.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("CLAUDE.md", "See @more.md");
    put("more.md", "More.");
    put("src/CLAUDE.md", "Sources.");
    put(".claude/rules/rust.md", "---\npaths: [\"src/*.rs\"]\n---\nRust.");
    put("src/a.rs", "fn main() {}");
    let path = world.file("src/a.rs");
    let server =
        ScriptedServer::start(Script::from_fn(move |request| match request.tool_results().len() {
            0 => response().tool_call("Read", json!({"file_path": path})).into(),
            _ => response().text("done").into(),
        }))
        .await;
    // Several run at once, so each writes its line in one go.
    let record = |file: &str| {
        let line = format!("told=$(cat); printf '%s\\n' \"$told\" >> {file}");
        json!({"type": "command", "command": line})
    };
    let (all, nested) = (record("told"), record("nested"));
    let settings = json!({"hooks": {"InstructionsLoaded": [{"hooks": [all]},
        {"matcher": "nested_traversal", "hooks": [nested]}]}})
    .to_string();
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let finished = launch.args(["--settings", &settings, "--", "go"]).run().await;
    finished.assert_code(0).assert_no_panic();
    let played = Played { world, server, finished };
    let mut told: Vec<(String, String)> = played
        .heard("told")
        .iter()
        .map(|it| {
            let file = it["file_path"].as_str().unwrap().rsplit("work/").next().unwrap();
            (file.to_owned(), it["load_reason"].as_str().unwrap().to_owned())
        })
        .collect();
    told.sort();
    let expected = [
        (".claude/rules/rust.md", "path_glob_match"),
        ("CLAUDE.md", "session_start"),
        ("more.md", "include"),
        ("src/CLAUDE.md", "nested_traversal"),
    ];
    assert_eq!(told, expected.map(|(file, why)| (file.to_owned(), why.to_owned())));
    assert_eq!(played.heard("nested").len(), 1);
}

#[tokio::test]
async fn row_task_hooks_take_a_task_off_the_list_or_keep_it_open() {
    // The hook that objects, and the list as it is in the end.
    let rows = [
        ("", "#1 [completed] dig", "Task 1 was changed."),
        ("TaskCreated", "There are no tasks.", "There is no task 1."),
        ("TaskCompleted", "#1 [pending] dig", "TaskCompleted hook error: not-so"),
    ];
    for (objects, list, said) in rows {
        let world = World::new();
        let server = ScriptedServer::start(Script::from_fn(move |request| {
            let task = json!({"subject": "dig", "description": "a hole"});
            let done = json!({"taskId": "1", "status": "completed"});
            match request.tool_results().len() {
                0 => response().tool_call("TaskCreate", task).into(),
                1 => response().tool_call("TaskUpdate", done).into(),
                2 => response().tool_call("TaskList", json!({})).into(),
                _ => response().text("done").into(),
            }
        }))
        .await;
        let mut hooks = json!({});
        for event in ["TaskCreated", "TaskCompleted"] {
            let end = if event == objects { NO } else { "exit 0" };
            hooks[event] = command(&format!("cat >> told; echo >> told; {end}"));
        }
        let settings = json!({ "hooks": hooks }).to_string();
        let launch = world.tillerman().asks(&server).args(FRAMES_OUT);
        let launch = launch.env("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1");
        let finished = launch.args(["--settings", &settings, "--", "go"]).run().await;
        finished.assert_code(0).assert_no_panic();
        let played = Played { world, server, finished };
        let results = tool_result_texts(&played.finished.frames());
        assert!(results[1].contains(said) && results[2].contains(list), "{objects}: {results:?}");
        let told = played.heard("told");
        assert_eq!(told.len(), if objects == "TaskCreated" { 1 } else { 2 }, "{told:?}");
        assert!(told.iter().all(|it| it["task_id"] == "1" && it["task_subject"] == "dig"));
    }
}
