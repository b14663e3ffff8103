//! Searches bring in nothing that rules keep from being read.

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{FRAMES_OUT, World, tool_result_texts};

/// What a call shows in a session with these arguments.
async fn shown(world: &World, tool: &str, input: Value, arguments: &[&str]) -> String {
    let replies = script().reply(response().tool_call(tool, input)).reply(response().text("ok"));
    let server = ScriptedServer::start(replies).await;
    let arguments = FRAMES_OUT.into_iter().chain(arguments.iter().copied()).chain(["--", "look"]);
    let finished = world.tillerman().asks(&server).unguarded().args(arguments).run().await;
    finished.assert_code(0).assert_no_panic();
    let [shown] = tool_result_texts(&finished.frames()).try_into().unwrap();
    shown
}

#[tokio::test]
async fn what_must_not_be_read_is_not_found_either() {
    let world = World::new();
    for (file, content) in [("secret/key.txt", "token: hunter2"), ("open.txt", "token: none")] {
        let path = world.path("work").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    std::os::unix::fs::symlink(world.path("work"), world.path("work/again")).unwrap();
    let again = world.path("work/again").display().to_string();
    let grep = |more: Value| {
        let mut input = json!({"pattern": "token"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("Grep", input)
    };
    let calls = [
        grep(json!({"output_mode": "content"})),
        grep(json!({"output_mode": "count"})),
        grep(json!({})),
        // The place of the search goes by another name.
        grep(json!({"output_mode": "content", "path": &again})),
        ("Glob", json!({"pattern": "**/*.txt"})),
        ("Glob", json!({"pattern": "**/*.txt", "path": &again})),
    ];
    for (tool, input) in calls {
        let free = shown(&world, tool, input.clone(), &[]).await;
        assert!(free.contains("key.txt") && free.contains("open.txt"), "{tool} {input}: {free}");
        for rule in ["Read(./secret/**)", "Read(secret)", "Read(*.txt)", "Read(**/key.*)"] {
            let found = shown(&world, tool, input.clone(), &["--disallowedTools", rule]).await;
            let hidden = !found.contains("key") && !found.contains("hunter2");
            assert!(hidden, "{tool} {input} under {rule}: {found}");
            let open = found.contains("open.txt");
            assert_eq!(open, rule != "Read(*.txt)", "{tool} {input} under {rule}: {found}");
        }
    }
}
