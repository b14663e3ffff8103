//! A session that itself works by the definition of an agent.

use serde_json::{Value, json};
use tillerman_assembly::SessionOrder;
use tillerman_protocol::permission::PermissionMode;
use tillerman_testkit::{Response, ScriptedServer, response, script};

use crate::world::{Finished, World, converse};

const SERVER: &str = include_str!("../../../tillerman-mcp/tests/it/server.py");

/// A session that is to work as `pilot`, as the host defines it, and the model that answers it.
async fn as_pilot(
    world: &World,
    more: &Value,
    replies: Vec<Response>,
) -> (ScriptedServer, SessionOrder) {
    let (server, mut order) = named_pilot(world, replies).await;
    let mut definition = json!({"name": "pilot", "description": "steers", "prompt": "You steer."});
    definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    order.extension.agents = vec![serde_json::from_value(definition).unwrap()];
    (server, order)
}

/// The same, as some file defines it.
async fn named_pilot(world: &World, replies: Vec<Response>) -> (ScriptedServer, SessionOrder) {
    let replies = replies.into_iter().fold(script(), tillerman_testkit::ScriptBuilder::reply);
    let server = ScriptedServer::start(replies).await;
    let mut order = world.order_asking("work", &server);
    order.permission.mode = None;
    order.extension.agent = Some("pilot".to_owned());
    (server, order)
}

fn mode(finished: &Finished) -> String {
    let init = finished.frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    init["permissionMode"].as_str().unwrap().to_owned()
}

fn remarks(finished: &Finished) -> String {
    let told = finished.frames.iter().filter(|frame| frame["key"] == "main_agent");
    told.map(|frame| frame["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn effort_mode_and_prompt_are_those_of_the_definition() {
    let world = World::new();
    let more = json!({
        "effort": "high", "permissionMode": "acceptEdits", "initialPrompt": "Look around first.",
        "model": "claude-sonnet-4-6",
    });
    let write = json!({"file_path": world.path("work/log.txt"), "content": "steady"});
    let replies = vec![response().tool_call("Write", write), response().text("noted")];
    let (server, order) = as_pilot(&world, &more, replies).await;
    let finished = converse(&order, "go").await;
    assert_eq!(mode(&finished), "acceptEdits");
    assert_eq!(std::fs::read_to_string(world.path("work/log.txt")).unwrap(), "steady");
    let request = server.request(0);
    assert!(request.system_text().starts_with("You steer."), "{}", request.system_text());
    assert_eq!(request.body["output_config"]["effort"], "high");
    assert!(request.user_text().starts_with("Look around first."), "{}", request.user_text());
    assert_eq!(remarks(&finished), "");
}

#[tokio::test]
async fn what_the_order_chooses_outranks_the_definition() {
    let world = World::new();
    let more = json!({"effort": "high", "permissionMode": "acceptEdits", "model": "opus"});
    let (server, mut order) = as_pilot(&world, &more, vec![response().text("aye")]).await;
    order.permission.mode = Some(PermissionMode::Plan);
    order.model.effort = Some("low".to_owned());
    order.model.model = Some("claude-sonnet-4-6".to_owned());
    let finished = converse(&order, "go").await;
    assert_eq!(mode(&finished), "plan");
    let request = server.single_request();
    assert_eq!(request.body["output_config"]["effort"], "low");
    assert!(request.model().starts_with("claude-sonnet-4-6"), "{}", request.model());
}

#[tokio::test]
async fn no_definition_bypasses_permissions_by_itself() {
    let more = json!({"permissionMode": "bypassPermissions"});
    for (may_bypass, expected) in [(false, "default"), (true, "bypassPermissions")] {
        let world = World::new();
        let (_server, mut order) = as_pilot(&world, &more, vec![response().text("aye")]).await;
        order.permission.may_bypass = may_bypass;
        let finished = converse(&order, "go").await;
        assert_eq!(mode(&finished), expected);
        let is_told = remarks(&finished).contains("bypassPermissions is for sessions");
        assert_eq!(is_told, !may_bypass, "{finished:?}");
    }
}

#[tokio::test]
async fn a_repository_that_is_not_trusted_loosens_nothing() {
    for (wanted, expected) in [("acceptEdits", "default"), ("plan", "plan")] {
        let world = World::new();
        let (_server, order) = named_pilot(&world, vec![response().text("aye")]).await;
        let file = order.cwd.join(".claude/agents/pilot.md");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let head = format!("name: pilot\ndescription: steers\npermissionMode: {wanted}");
        std::fs::write(&file, format!("---\n{head}\n---\nYou steer.\n")).unwrap();
        assert_eq!(mode(&converse(&order, "go").await), expected);
    }
}

#[tokio::test]
async fn the_user_s_own_definition_may_choose_the_mode() {
    let world = World::new();
    let (server, order) = named_pilot(&world, vec![response().text("aye")]).await;
    let folder = world.path("config/agents");
    std::fs::create_dir_all(&folder).unwrap();
    let head = "name: pilot\ndescription: steers\npermissionMode: acceptEdits";
    std::fs::write(folder.join("pilot.md"), format!("---\n{head}\n---\nYou steer.\n")).unwrap();
    assert_eq!(mode(&converse(&order, "go").await), "acceptEdits");
    assert!(server.single_request().system_text().starts_with("You steer."));
}

#[tokio::test]
async fn skills_and_memory_stand_in_the_prompt() {
    let world = World::new();
    let skill = world.path("config/skills/knots/SKILL.md");
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    let text = "---\nname: knots\ndescription: ties\n---\nAlways use a bowline.\n";
    std::fs::write(&skill, text).unwrap();
    let memory = world.path("work/.claude/agent-memory/pilot/MEMORY.md");
    let more = json!({"skills": ["knots"], "memory": "project", "tools": ["Grep"]});
    let note = json!({"file_path": memory, "content": "The rudder is stiff."});
    let replies = vec![response().tool_call("Write", note), response().text("noted")];
    let (server, order) = as_pilot(&world, &more, replies).await;
    let finished = converse(&order, "go").await;
    let request = server.request(0);
    assert!(request.system_text().contains("Always use a bowline."), "{}", request.system_text());
    assert!(request.system_text().contains("# Your memory"), "{}", request.system_text());
    assert_eq!(std::fs::read_to_string(&memory).unwrap(), "The rudder is stiff.");
    assert!(!request.tool_names().contains(&"Bash"), "{:?}", request.tool_names());
    assert_eq!(remarks(&finished), "");
}

#[tokio::test]
async fn what_cannot_be_had_is_said() {
    let world = World::new();
    let more = json!({"isolation": "worktree", "memory": "elsewhere"});
    let (_server, order) = as_pilot(&world, &more, vec![response().text("aye")]).await;
    let finished = converse(&order, "go").await;
    let remarks = remarks(&finished);
    assert!(remarks.contains("has no memory (elsewhere)"), "{remarks}");
    assert!(remarks.contains("although its definition asks for isolation"), "{remarks}");
    assert_eq!(finished.result()["subtype"], "success");
}

#[tokio::test]
async fn servers_that_the_definition_writes_out_are_the_session_s() {
    let world = World::new();
    let file = world.path("server.py");
    std::fs::write(&file, SERVER).unwrap();
    let server = json!({"command": "python3", "args": [file, "well", world.path("notes")]});
    let more = json!({"mcpServers": [{"own": server}], "tools": ["Read"]});
    let call = response().tool_call("mcp__own__echo", json!({"t": "here"}));
    let (server, mut order) = as_pilot(&world, &more, vec![call, response().text("done")]).await;
    order.permission.allow = vec!["mcp__own".to_owned()];
    converse(&order, "go").await;
    assert_eq!(server.request(1).tool_result_texts(), ["ECHO:here"]);
    let names = server.request(0).tool_names().join(" ");
    assert!(names.contains("mcp__own__echo") && !names.contains("Bash"), "{names}");
}
