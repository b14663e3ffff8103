//! Skills that the definition of an agent names: it knows them before its first step.

use serde_json::json;

use crate::agent_stage::{helper, sends_helper, with_agents};
use crate::invocations::{deploy, program, text, with_library};
use crate::model::says;

#[tokio::test(start_paused = true)]
async fn an_agent_begins_with_the_skills_of_its_definition() {
    let skills = Some(vec!["deploy".to_owned(), "gone".to_owned()]);
    let definition = tillerman_protocol::agent::AgentDefinition { skills, ..helper() };
    let scripts = [sends_helper("toolu_1", "x", &json!({})), says("Done."), says("Heard.")];
    let (stage, _) = with_agents(scripts, [], vec![definition]);
    let parts = vec![text("Look at the state: "), program("git status")];
    let mut play = with_library(stage, deploy(parts)).begin();
    play.say("Go").await;
    play.round().await;
    let requests = play.model.requests();
    let system =
        |at: usize| requests[at].system.iter().map(|block| block.text.clone()).collect::<String>();
    let told = system(1);
    assert!(told.contains("You are the helper."), "{told}");
    assert!(told.contains("# Skill: deploy\n\nLook at the state: `git status`"), "{told}");
    assert!(told.contains("The skill gone could not be read and is missing: no skill gone"));
    assert!(!system(0).contains("Look at the state"), "the session itself does not have it");
}
