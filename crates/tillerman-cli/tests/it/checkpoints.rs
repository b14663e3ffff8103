//! Files come back as they were before a prompt, also when commands changed them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{Agent, FRAMES_OUT, World};

const ON: &str = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING";
const SESSION: &str = "11111111-1111-4111-8111-111111111111";
const FIRST: &str = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const SECOND: &str = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
const HAVOC: &str = "sed -i s/one/ONE/ a.txt && mv src/lib.rs src/main.rs && rm run.sh && \
                     mkdir -p new/deep && echo x > new/deep/x && rm -r empty && chmod 600 a.txt";

/// Every name below a directory with its mode and contents.
type Picture = BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>;

fn picture(directory: &Path) -> Picture {
    let mut picture = Picture::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode();
        let contents = (!path.is_dir()).then(|| std::fs::read(&path).unwrap());
        if path.is_dir() {
            picture.extend(self::picture(&path));
        }
        picture.insert(path, (mode, contents));
    }
    picture
}

fn project(world: &World) -> Picture {
    std::fs::create_dir_all(world.file("empty/inner")).unwrap();
    std::fs::create_dir_all(world.file("src")).unwrap();
    std::fs::write(world.file("a.txt"), "one\ntwo\n").unwrap();
    std::fs::write(world.file("src/lib.rs"), "fn main() {}\n").unwrap();
    std::fs::write(world.file("run.sh"), "#!/bin/sh\n").unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.file("run.sh"), executable).unwrap();
    picture(&world.path("work"))
}

async fn havoc() -> ScriptedServer {
    let call = response().tool_call("Bash", json!({ "command": HAVOC }));
    ScriptedServer::start(script().reply(call).reply(response().text("done"))).await
}

async fn rewind(agent: &mut Agent, message: &str, dry_run: bool) -> Value {
    let request =
        json!({ "subtype": "rewind_files", "user_message_id": message, "dry_run": dry_run });
    agent.send(json!({ "type": "control_request", "request_id": "r", "request": request })).await;
    let answer = agent.frame("an answer", |frame| frame["type"] == "control_response").await;
    answer["response"].clone()
}

#[tokio::test]
async fn what_commands_did_is_undone_exactly() {
    let world = World::new();
    let before = project(&world);
    let server = havoc().await;
    let launch = world.tillerman().asks(&server).unguarded().env(ON, "true");
    let mut agent = launch.args(["--replay-user-messages"]).start();
    agent.prompt("make a mess").await;
    let is_replay = |frame: &Value| frame["type"] == "user" && frame["isReplay"] == true;
    let message = agent.frame("the prompt", is_replay).await["uuid"].as_str().unwrap().to_owned();
    assert_eq!(agent.result().await["subtype"], "success");
    let mess = picture(&world.path("work"));
    assert_ne!(mess, before);

    let dry = rewind(&mut agent, &message, true).await["response"].clone();
    assert_eq!(dry["canRewind"], true);
    assert_eq!(dry["filesChanged"].as_array().unwrap().len(), 5, "{dry}");
    assert_eq!(picture(&world.path("work")), mess);

    let answer = rewind(&mut agent, &message, false).await["response"].clone();
    assert_eq!((&answer["canRewind"], &answer["skippedLinks"]), (&json!(true), &json!(0)));
    assert_eq!(picture(&world.path("work")), before);

    let undo = answer["undoId"].as_str().unwrap();
    rewind(&mut agent, undo, false).await;
    assert_eq!(picture(&world.path("work")), mess);

    let unknown = rewind(&mut agent, "00000000-0000-4000-8000-000000000000", false).await;
    assert_eq!(unknown["error"], "No file checkpoint found for this message.");
    let (finished, _) = agent.finish().await;
    finished.assert_code(0).assert_no_panic();
}

#[tokio::test]
async fn without_checkpointing_nothing_is_kept() {
    for (enable, disable) in [("false", "false"), ("true", "true")] {
        let world = World::new();
        project(&world);
        let server = havoc().await;
        let launch = world.tillerman().asks(&server).unguarded().env(ON, enable);
        let mut agent = launch.env("CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING", disable).start();
        agent.prompt("make a mess").await;
        agent.result().await;
        let answer = rewind(&mut agent, FIRST, false).await;
        assert_eq!(answer["subtype"], "error");
        assert!(!world.config().join("file-history").exists());
        agent.finish().await.0.assert_code(0);
    }
}

/// A session in which one prompt was answered and the second made a mess.
async fn messed_up(world: &World) -> Picture {
    let before = project(world);
    let replies = script()
        .reply(response().text("hello"))
        .reply(response().tool_call("Bash", json!({ "command": HAVOC })))
        .reply(response().text("done"));
    let server = ScriptedServer::start(replies).await;
    let launch = world.tillerman().asks(&server).unguarded().env(ON, "true");
    let mut agent = launch.args(["--session-id", SESSION]).start();
    for (text, uuid) in [("hello", FIRST), ("make a mess", SECOND)] {
        let message = json!({ "role": "user", "content": text });
        agent.send(json!({ "type": "user", "message": message, "uuid": uuid })).await;
        agent.result().await;
    }
    agent.finish().await.0.assert_code(0);
    assert_ne!(picture(&world.path("work")), before);
    before
}

#[tokio::test]
async fn files_of_an_earlier_run_come_back_from_the_command_line() {
    let world = World::new();
    let before = messed_up(&world).await;
    let mess = picture(&world.path("work"));
    let rewind = ["-p", "--resume", SESSION, "--rewind-files", SECOND];

    let dry = world.tillerman().args(rewind).args(["--dry-run"]).run().await;
    dry.assert_code(0);
    assert!(dry.text().contains("3 files would be restored, 2 files would be deleted"), "{dry:?}");
    assert_eq!(picture(&world.path("work")), mess);

    let wet = world.tillerman().args(rewind).run().await;
    wet.assert_code(0).assert_no_panic();
    assert!(wet.text().contains("3 files restored, 2 files deleted"), "{}", wet.text());
    assert_eq!(picture(&world.path("work")), before);

    let text = wet.text();
    let undo = text.lines().find_map(|line| line.strip_prefix("To undo: tillerman ")).unwrap();
    world.tillerman().args(undo.split(' ')).run().await.assert_code(0);
    assert_eq!(picture(&world.path("work")), mess);
}

#[tokio::test]
async fn a_rewind_that_makes_no_sense_is_refused() {
    let world = World::new();
    messed_up(&world).await;
    let mess = picture(&world.path("work"));
    let table: [(&[&str], &str); 4] = [
        (&["--rewind-files", SECOND], "needs --resume"),
        (&["--resume", SESSION, "--rewind-files", SESSION], "No file checkpoint found"),
        (&["--resume", FIRST, "--rewind-files", SECOND], "has no file checkpoints"),
        (&["--resume", SESSION, "--rewind-files", SECOND, "go on"], "--resume-drops-turn"),
    ];
    for (arguments, reason) in table {
        let finished = world.tillerman().args(["-p"]).args(arguments.iter().copied()).run().await;
        finished.assert_code(1).assert_stderr(reason);
    }
    assert_eq!(picture(&world.path("work")), mess);
}

#[tokio::test]
async fn conversation_and_files_are_rewound_together() {
    let world = World::new();
    let before = messed_up(&world).await;
    let replies = script()
        .reply(response().tool_call("Bash", json!({ "command": "cat a.txt" })))
        .reply(response().text("better"));
    let server = ScriptedServer::start(replies).await;
    let launch = world.tillerman().asks(&server).unguarded().env(ON, "true").args(FRAMES_OUT);
    let arguments = ["--resume", SESSION, "--resume-drops-turn", SECOND, "--rewind-files", SECOND];
    let finished = launch.args(arguments).args(["be careful"]).run().await;
    finished.assert_code(0).assert_stderr("3 files restored");
    assert_eq!(finished.result()["result"], "better");
    assert_eq!(server.request(0).user_text(), "hello\nbe careful");
    assert_eq!(picture(&world.path("work")), before);
}
