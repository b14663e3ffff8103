//! A session that itself works by an agent's definition.

use std::sync::Arc;

use serde_json::json;
use tillerman_runtime::MainAgent;

use crate::agent_stage::{helper, with_agents};
use crate::model::says;
use crate::servers::TestServers;
use crate::tools::{Conduct, changing, looking};

fn main_agent(name: &str) -> Option<MainAgent> {
    Some(MainAgent { name: name.to_owned(), chosen: Vec::new() })
}

#[tokio::test(start_paused = true)]
async fn a_session_works_by_a_definition() {
    let (look, touch) = (looking("Look", Conduct::Succeed), changing("Touch", Conduct::Succeed));
    let mut definition = helper();
    definition.tools = Some(vec!["Look".to_owned()]);
    definition.model = Some("swift".to_owned());
    definition.initial_prompt = Some("First look around.".to_owned());
    let (mut stage, _) =
        with_agents([says("Yes."), says("Again.")], [&look, &touch], vec![definition]);
    stage.setup.agents.as_mut().unwrap().main = main_agent("helper");
    let mut play = stage.begin();
    play.say("Hello").await;
    play.round().await;
    play.say("Hello again").await;
    play.round().await;
    let requests = play.model.requests();
    assert!(requests[0].system[0].text.starts_with("You are the helper."));
    assert_eq!(requests[0].model, "test-swift-2");
    let names: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Look"]);
    let heard = play.model.heard();
    assert_eq!(heard.matches("First look around.").count(), 1, "{heard}");
}

#[tokio::test(start_paused = true)]
async fn a_definition_may_come_with_the_handshake() {
    let (mut stage, _) = with_agents([says("Yes.")], [], Vec::new());
    stage.setup.agents.as_mut().unwrap().main = main_agent("late");
    let mut play = stage.begin();
    let agents = json!({"late": {"description": "comes late", "prompt": "You are late."}});
    let answer = play.ask(json!({"subtype": "initialize", "agents": agents})).await;
    let listed = answer["response"]["agents"].as_array().unwrap();
    assert!(listed.iter().any(|agent| agent["name"] == "late"), "{listed:?}");
    play.say("Hello").await;
    play.round().await;
    assert!(play.model.requests()[0].system[0].text.starts_with("You are late."));
}

#[tokio::test(start_paused = true)]
async fn a_definition_of_the_handshake_brings_all_it_asks_for() {
    let (mut stage, _) = with_agents([says("Yes.")], [], Vec::new());
    stage.setup.agents.as_mut().unwrap().main = main_agent("late");
    let servers = TestServers::ready();
    stage.setup.mcp = Some(Arc::new(servers.clone()));
    let mut play = stage.begin();
    let late = json!({
        "description": "comes late", "prompt": "You are late.", "effort": "high",
        "permissionMode": "plan", "mcpServers": [{"own": {"command": "serve"}}, "known"],
        "memory": "user",
    });
    play.ask(json!({"subtype": "initialize", "agents": {"late": late}})).await;
    play.say("Hello").await;
    let frames = play.round().await;
    let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    assert_eq!(init["permissionMode"], "plan");
    assert_eq!(play.model.requests()[0].effort.as_deref(), Some("high"));
    assert!(servers.log().contains(&"added own".to_owned()), "{:?}", servers.log());
    let remark = frames.iter().find(|frame| frame["key"] == "main_agent").unwrap();
    assert!(remark["text"].as_str().unwrap().contains("has no memory (user)"), "{remark}");
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_nobody_gives_is_missed_aloud() {
    let (mut stage, _) = with_agents([says("Yes.")], [], Vec::new());
    stage.setup.agents.as_mut().unwrap().main = main_agent("nobody");
    let mut play = stage.begin();
    play.say("Hello").await;
    let notice = play.until("system/notification").await;
    assert!(notice["text"].as_str().unwrap().starts_with("There is no agent nobody"), "{notice}");
    play.until("result/success").await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_takes_an_agent_out_of_the_list() {
    let (stage, _) = with_agents([says("Yes.")], [], vec![helper()]);
    let mut play = stage.deny("Agent(Explore)").begin();
    play.say("Hello").await;
    let frames = play.round().await;
    assert_eq!(frames[0]["agents"], json!(["general-purpose", "Plan", "helper"]));
    let requests = play.model.requests();
    let agent = requests[0].tools.iter().find(|tool| tool.name == "Agent").unwrap();
    assert!(agent.description.contains("helper: helps"));
    assert!(!agent.description.contains("Explore"));
}
