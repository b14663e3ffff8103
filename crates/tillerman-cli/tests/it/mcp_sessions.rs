//! Sessions of the binary whose servers are many, slow, broken, or decide in the host's place.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{FRAMES_OUT, World, prompt, tool_result_texts};

const SERVER: &str = include_str!("../../../tillerman-mcp/tests/it/server.py");

fn server(world: &World, conduct: &str) -> Value {
    let path = world.path("server.py");
    std::fs::write(&path, SERVER).unwrap();
    json!({"command": "python3", "args": [path, conduct, world.path("notes")]})
}

fn config(servers: &Value) -> String {
    json!({"mcpServers": servers}).to_string()
}

#[tokio::test]
async fn tools_are_looked_up_when_the_environment_says_so() {
    let world = World::new();
    let found = response().tool_call("mcp__s__echo", json!({"t": "found"}));
    let replies = script()
        .reply(response().tool_call("ToolSearch", json!({"query": "select:mcp__s__echo"})))
        .reply(found.moves_prefix("a tool was looked up"))
        .reply(response().text("done"));
    let model = ScriptedServer::start(replies).await;
    let servers = config(&json!({"s": server(&world, "well")}));
    let launch = world.tillerman().asks(&model).unguarded().env("ENABLE_TOOL_SEARCH", "true");
    let arguments = ["--mcp-config", &servers, "--", "go"];
    let finished = launch.args(FRAMES_OUT).args(arguments).run().await;
    finished.assert_code(0).assert_no_panic();
    let frames = finished.frames();
    let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    let listed = init["tools"].as_array().unwrap();
    assert!(listed.contains(&json!("mcp__s__pid")) && listed.contains(&json!("ToolSearch")));
    let foreign = |number: usize| -> Vec<String> {
        let request = model.request(number);
        let names = request.tool_names();
        names.iter().filter(|it| it.starts_with("mcp__")).map(|&it| it.to_owned()).collect()
    };
    assert_eq!(foreign(0), [""; 0]);
    assert_eq!(foreign(1), ["mcp__s__echo"]);
    assert_eq!(model.request(2).tool_result_texts()[1], "ECHO:found");
    model.verify();
}

#[tokio::test]
async fn a_tool_of_a_server_decides_what_may_run_and_its_instructions_are_told() {
    let world = World::new();
    let replies =
        script()
            .reply(response().tool_call("Bash", json!({"command": "touch allowed.txt"})))
            .reply(response().tool_call(
                "Write",
                json!({"file_path": world.file("written.txt"), "content": "x"}),
            ))
            .reply(response().tool_call("Bash", json!({"command": "touch odd.txt"})))
            .reply(response().text("done"));
    let model = ScriptedServer::start(replies).await;
    let servers = config(&json!({"s": server(&world, "asking")}));
    let launch = world.tillerman().asks(&model);
    let approver = ["--permission-prompt-tool", "mcp__s__approve"];
    let arguments = ["--mcp-config", &servers, "--", "go"];
    let finished = launch.args(FRAMES_OUT).args(approver).args(arguments).run().await;
    finished.assert_code(0).assert_no_panic();
    let frames = finished.frames();
    assert!(frames.iter().all(|frame| frame["type"] != "control_request"), "the tool is asked");
    assert!(world.file("allowed.txt").exists());
    assert!(!world.file("written.txt").exists() && !world.file("odd.txt").exists());
    let results = tool_result_texts(&frames);
    assert!(results[1].contains("nothing is written today"), "{results:?}");
    assert!(results[2].contains("did not answer with a JSON object"), "{results:?}");
    let notes = std::fs::read_to_string(world.path("notes")).unwrap();
    assert_eq!(notes.lines().filter(|line| line.starts_with("approve")).count(), 3, "{notes}");
    let system = model.request(0).system_text();
    assert!(system.contains("## s\n\nAsk for roots first."), "{system}");
    assert!(!system.contains(&"x".repeat(2_001)), "instructions are cut");
    model.verify();
}

#[tokio::test]
async fn a_session_goes_on_when_a_server_dies_hangs_and_floods() {
    let world = World::new();
    let replies = script()
        .reply(response().tool_call("mcp__s__die", json!({})))
        .reply(response().tool_call("mcp__s__hang", json!({})))
        .reply(response().tool_call("mcp__s__flood", json!({})))
        .reply(response().tool_call("mcp__s__echo", json!({"t": "still here"})))
        .reply(response().text("done"))
        .reply(response().text("and again"));
    let model = ScriptedServer::start(replies).await;
    let mut server = server(&world, "asking");
    server["timeout"] = json!(2_000);
    let servers = config(&json!({"s": server}));
    let launch = world.tillerman().asks(&model).unguarded();
    let mut agent = launch.args(["--mcp-config", &servers]).start();
    agent.send(prompt("go")).await;
    let result = agent.result().await;
    assert_eq!(result["result"], "done");
    let peak = agent.memory_peak() >> 20;
    assert!(peak < 150, "{peak} MiB were used for 100 MiB that nobody wants");
    agent.send(prompt("once more")).await;
    assert_eq!(agent.result().await["result"], "and again");
    agent.close();
    let (finished, _) = agent.finish().await;
    finished.assert_code(0).assert_no_panic();
    let results = model.request(4).tool_result_texts();
    assert!(results[0].contains("I have had enough"), "{results:?}");
    assert!(results[1].contains("did not answer within 2 s"), "{results:?}");
    assert!(results[2].contains("was lost during the call"), "{results:?}");
    assert_eq!(results[3], "ECHO:still here");
    model.verify();
}

/// From the start of the process to its first init frame.
async fn until_init(world: &World) -> Duration {
    let model = ScriptedServer::start(script().reply(response().text("done"))).await;
    let launch = world.tillerman().asks(&model);
    let since = Instant::now();
    let mut agent = launch.start();
    agent.send(prompt("go")).await;
    agent.frame("init", |frame| frame["subtype"] == "init").await;
    let elapsed = since.elapsed();
    agent.close();
    agent.finish().await;
    elapsed
}

#[tokio::test]
async fn ten_servers_that_nobody_waits_for_cost_the_start_next_to_nothing() {
    let (with, without) = (World::new(), World::new());
    let sleeper = json!({"command": "sleep", "args": ["600"]});
    let servers: serde_json::Map<String, Value> =
        (0..10).map(|number| (format!("s{number}"), sleeper.clone())).collect();
    let file = with.config().join(".claude.json");
    std::fs::write(file, json!({"mcpServers": servers}).to_string()).unwrap();
    // The best of several, because other work on the machine only ever adds to a measurement.
    let mut best = [Duration::MAX; 2];
    for _ in 0..7 {
        for (world, best) in [&with, &without].into_iter().zip(&mut best) {
            *best = until_init(world).await.min(*best);
        }
    }
    let [with, without] = best;
    assert!(with < without + Duration::from_millis(20), "{with:?} instead of {without:?}");
}
