//! What agents have of their own: memory, working trees, servers, and work in the background.

use std::path::Path;

use serde_json::{Value, json};
use tillerman_assembly::SessionOrder;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::permission::PermissionMode;
use tillerman_testkit::{Response, ScriptedServer, response, script};

use crate::world::{World, converse};

const SERVER: &str = include_str!("../../../tillerman-mcp/tests/it/server.py");

/// An agent called `keeper`.
fn keeper(more: &Value) -> AgentDefinition {
    let mut definition = json!({"name": "keeper", "description": "keeps", "prompt": "You keep."});
    definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(definition).unwrap()
}

fn calls_keeper() -> Response {
    let input = json!({"description": "keep", "prompt": "do it", "subagent_type": "keeper"});
    response().tool_call("Agent", input)
}

/// Has the model call the keeper, which answers with these responses.
async fn with_keeper(
    world: &World,
    name: &str,
    definition: &Value,
    replies: Vec<Response>,
) -> (ScriptedServer, SessionOrder) {
    let mut script = script().reply(calls_keeper());
    for reply in replies {
        script = script.reply(reply);
    }
    let server = ScriptedServer::start(script.reply(response().text("done"))).await;
    let mut order = world.order_asking(name, &server);
    order.extension.agents = vec![keeper(definition)];
    (server, order)
}

/// Runs git, and returns what it prints.
pub(crate) async fn git(directory: &Path, line: &str) -> String {
    let mut command = tokio::process::Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(line.split(' '));
    let run = command.current_dir(directory).output().await.unwrap();
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).unwrap()
}

pub(crate) async fn repository(directory: &Path) {
    std::fs::write(directory.join("rudder.txt"), "left\n").unwrap();
    git(directory, "init -q").await;
    git(directory, "add rudder.txt").await;
    git(directory, "commit -q -m begin").await;
}

#[tokio::test]
async fn a_memory_is_written_unasked_and_known_the_next_time() {
    let world = World::new();
    let definition = json!({"memory": "project", "tools": ["Grep"]});
    let write = |path: &Path, text: &str| {
        response().tool_call("Write", json!({"file_path": path, "content": text}))
    };
    let memory = world.path("work").join(".claude/agent-memory/keeper");
    let replies = vec![
        write(&memory.join("MEMORY.md"), "The rudder is stiff."),
        write(&world.path("work").join(".claude/settings.json"), "{}"),
        response().text("noted"),
    ];
    let (server, mut order) = with_keeper(&world, "work", &definition, replies).await;
    order.permission.mode = Some(PermissionMode::Default);
    converse(&order, "go").await;
    assert!(server.request(1).system_text().contains("It is empty so far."));
    let results = server.request(3).tool_result_texts();
    assert!(!results[1].is_empty() && results[1].contains("not"), "{results:?}");
    let noted = std::fs::read_to_string(memory.join("MEMORY.md")).unwrap();
    assert_eq!(noted, "The rudder is stiff.");
    assert!(!world.path("work/.claude/settings.json").exists(), "only its own memory");

    let again = ScriptedServer::start(
        script().reply(calls_keeper()).reply(response().text("ok")).reply(response().text("done")),
    )
    .await;
    let mut order = world.order_asking("elsewhere", &again);
    order.cwd = world.path("work");
    order.extension.agents = vec![keeper(&definition)];
    converse(&order, "go").await;
    let request = again.request(1);
    assert!(request.system_text().contains("The rudder is stiff."), "{}", request.system_text());
    assert!(request.tool_names().contains(&"Edit"), "{:?}", request.tool_names());
}

#[tokio::test]
async fn a_memory_behind_a_link_is_refused() {
    let world = World::new();
    let (server, order) =
        with_keeper(&world, "work", &json!({"memory": "local"}), Vec::new()).await;
    std::fs::create_dir_all(order.cwd.join(".claude")).unwrap();
    std::os::unix::fs::symlink(world.path("home"), order.cwd.join(".claude/agent-memory-local"))
        .unwrap();
    converse(&order, "go").await;
    let told = server.request(1).tool_result_texts().join("");
    assert!(told.contains("was not started") && told.contains("behind a link"), "{told}");
}

#[tokio::test]
async fn an_isolated_agent_leaves_a_tree_that_changed_and_no_other() {
    let world = World::new();
    let isolated = json!({"isolation": "worktree"});
    let work = response().tool_call("Bash", json!({"command": "pwd; echo new > new.txt"}));
    let replies = vec![work, response().text("written")];
    let (server, order) = with_keeper(&world, "changed", &isolated, replies).await;
    repository(&order.cwd).await;
    converse(&order, "go").await;
    let report = server.request(3).tool_result_texts().join("");
    assert!(report.contains("working tree stays at"), "{report}");
    assert!(!order.cwd.join("new.txt").exists());
    let trees = order.cwd.join(".claude/worktrees");
    let tree = std::fs::read_dir(&trees).unwrap().map(|entry| entry.unwrap().path());
    let tree = tree.into_iter().find(|path| path.is_dir()).unwrap();
    assert_eq!(std::fs::read_to_string(tree.join("new.txt")).unwrap(), "new\n");
    let shown = server.request(2).tool_result_texts().join("");
    assert!(shown.contains(&tree.display().to_string()), "{shown}");

    let replies = vec![response().text("nothing to do")];
    let (server, order) = with_keeper(&world, "unchanged", &isolated, replies).await;
    repository(&order.cwd).await;
    converse(&order, "go").await;
    let report = server.request(2).tool_result_texts().join("");
    assert!(report.contains("nothing to do") && !report.contains("stays"), "{report}");
    let left = std::fs::read_dir(order.cwd.join(".claude/worktrees")).unwrap();
    assert_eq!(left.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(), 0);
}

#[tokio::test]
async fn isolation_outside_of_git_is_refused_by_name() {
    let world = World::new();
    let isolated = json!({"isolation": "worktree"});
    let (server, order) = with_keeper(&world, "work", &isolated, Vec::new()).await;
    converse(&order, "go").await;
    let told = server.request(1).tool_result_texts().join("");
    assert!(told.contains("Isolation (worktree) is not available"), "{told}");
    assert!(told.contains("is in no git repository"), "{told}");
}

#[tokio::test]
async fn servers_that_a_definition_writes_out_are_the_agent_s_alone() {
    let world = World::new();
    let file = world.path("server.py");
    std::fs::write(&file, SERVER).unwrap();
    let server = json!({"command": "python3", "args": [file, "well", world.path("notes")]});
    let definition = json!({"mcpServers": [{"own": server}], "tools": ["Read"]});
    let call = response().tool_call("mcp__own__echo", json!({"t": "here"}));
    let replies = vec![call, response().text("called")];
    let (server, order) = with_keeper(&world, "work", &definition, replies).await;
    converse(&order, "go").await;
    let results = server.request(2).tool_result_texts();
    assert_eq!(results, ["ECHO:here"]);
    let names = |number: usize| server.request(number).tool_names().join(" ");
    assert!(names(1).contains("mcp__own__echo") && !names(1).contains("Bash"), "{}", names(1));
    assert!(!names(0).contains("mcp__own") && !names(3).contains("mcp__own"), "{}", names(3));
}

#[tokio::test]
async fn a_command_in_the_background_of_an_agent_ends_with_it() {
    let world = World::new();
    let sleep = json!({"command": "sleep 60; echo late > late.txt", "run_in_background": true});
    let replies = vec![response().tool_call("Bash", sleep), response().text("started")];
    let (server, order) = with_keeper(&world, "work", &json!({}), replies).await;
    let finished = converse(&order, "go").await;
    assert_eq!(finished.result()["subtype"], "success");
    let of = |subtype: &str| {
        let frames = finished.frames.iter().filter(move |frame| frame["subtype"] == subtype);
        frames.cloned().collect::<Vec<Value>>()
    };
    let started = of("task_started");
    let shell = started.iter().find(|frame| frame["task_type"] == "local_bash");
    let shell = shell.unwrap_or_else(|| panic!("{started:?}"));
    let ended = of("task_notification");
    let its_end = ended.iter().find(|frame| frame["task_id"] == shell["task_id"]);
    assert!(its_end.is_some(), "{ended:?}");
    let lists = of("background_tasks_changed");
    assert_eq!(lists.last().unwrap()["tasks"], json!([]));
    assert_eq!(server.left_over(), 0);
    assert!(!order.cwd.join("late.txt").exists());
}

/// Hooks that make and clear away the directories of agents.
fn tree_hooks(create: &str, remove: &str) -> Value {
    let group = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    json!({"hooks": {"WorktreeCreate": group(create), "WorktreeRemove": group(remove)}})
}

#[tokio::test]
async fn hooks_make_the_tree_of_an_agent_and_clear_it_away() {
    let world = World::new();
    let isolated = json!({"isolation": "worktree"});
    let replies =
        vec![response().tool_call("Bash", json!({"command": "pwd"})), response().text("seen")];
    let (server, mut order) = with_keeper(&world, "work", &isolated, replies).await;
    let (made, heard) = (world.path("made"), world.path("heard"));
    let create = format!("mkdir {0}; cat > {0}/asked.json; echo {0}", made.display());
    let remove = format!("cat > {}; rm -r {}", heard.display(), made.display());
    order.extension.settings = Some(tree_hooks(&create, &remove).into());
    // No repository: it is for the hook to know how a copy is made.
    converse(&order, "go").await;
    let shown = server.request(2).tool_result_texts().join("");
    assert_eq!(shown.trim(), made.display().to_string());
    let report = server.request(3).tool_result_texts().join("");
    assert!(report.contains("seen") && !report.contains("stays"), "{report}");
    let told: Value = serde_json::from_slice(&std::fs::read(heard).unwrap()).unwrap();
    assert_eq!(told["hook_event_name"], "WorktreeRemove");
    assert_eq!(told["worktree_path"], made.display().to_string());
    assert!(!made.exists());
}

#[tokio::test]
async fn an_agent_without_the_tree_that_hooks_should_make_is_not_started() {
    let isolated = json!({"isolation": "worktree"});
    let cases = [
        ("echo too many trees >&2; exit 2", "one objected: too many trees"),
        ("exit 1", "none of them named one"),
        ("true", "none of them named one"),
        ("echo made", "made is no absolute path"),
        ("echo /nowhere/at/all", "what it named is unusable: /nowhere/at/all"),
    ];
    for (command, expected) in cases {
        let world = World::new();
        let (server, mut order) = with_keeper(&world, "work", &isolated, Vec::new()).await;
        order.extension.settings = Some(tree_hooks(command, "true").into());
        repository(&order.cwd).await;
        converse(&order, "go").await;
        let told = server.request(1).tool_result_texts().join("");
        assert!(told.contains("The agent was not started"), "{command}: {told}");
        assert!(told.contains(expected), "{command}: {told}");
        assert!(!order.cwd.join(".claude/worktrees").exists(), "{command}");
    }
}

#[tokio::test]
async fn hooks_hear_of_a_tree_of_git_that_is_removed() {
    let world = World::new();
    let replies = vec![response().text("nothing to do")];
    let isolated = json!({"isolation": "worktree"});
    let (_server, mut order) = with_keeper(&world, "work", &isolated, replies).await;
    let heard = world.path("heard");
    let remove =
        json!([{"hooks": [{"type": "command", "command": format!("cat > {}", heard.display())}]}]);
    order.extension.settings = Some(json!({"hooks": {"WorktreeRemove": remove}}).into());
    repository(&order.cwd).await;
    converse(&order, "go").await;
    let told: Value = serde_json::from_slice(&std::fs::read(heard).unwrap()).unwrap();
    let path = told["worktree_path"].as_str().unwrap();
    let trees = order.cwd.join(".claude/worktrees");
    assert!(path.starts_with(&trees.display().to_string()), "{path}");
    assert!(!Path::new(path).exists());
}
