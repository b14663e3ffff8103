//! What definitions and settings give agents, and what they withhold.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tillerman_ports::{LiveSettings, SettingsChange, SettingsNotice};

use crate::agent_stage::{helper, sends_helper, with_agents};
use crate::model::says;
use crate::stage::tool_result;
use crate::tools::{Conduct, looking};

/// Settings that make one model available.
#[derive(Debug)]
struct OneModel;

impl LiveSettings for OneModel {
    fn describe(&self) -> Value {
        Value::Null
    }

    fn available_models(&self) -> Option<Vec<String>> {
        Some(vec!["test-model".to_owned()])
    }

    fn notices(&mut self) -> Vec<SettingsNotice> {
        Vec::new()
    }

    fn refresh(&mut self) -> Option<SettingsChange> {
        None
    }

    fn apply_flags(&mut self, _: &Map<String, Value>) -> Result<SettingsChange, String> {
        Err("fixed".to_owned())
    }

    fn update_file(&mut self, _: &str, _: &Map<String, Value>) -> Result<(), String> {
        Err("fixed".to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn agents_have_the_models_that_the_settings_make_available() {
    for (model, starts) in [("swift", false), ("test-model", true), ("inherit", true)] {
        // An agent is bound to the same models when it starts agents itself.
        for scripts in [
            vec![sends_helper("toolu_1", "x", &json!({"model": model}))],
            vec![
                sends_helper("toolu_1", "x", &json!({})),
                sends_helper("toolu_2", "y", &json!({"model": model})),
            ],
        ] {
            let (stage, shelves) = with_agents(scripts.clone(), [], vec![helper()]);
            let mut play = stage.settings(OneModel).begin();
            play.say("Go").await;
            let frames = play.round().await;
            let expected = scripts.len() - usize::from(!starts);
            assert_eq!(shelves.ids().len(), expected, "{model}");
            let result = tool_result(&frames).to_string();
            let refused = result.contains("swift is not among the models");
            assert_eq!(refused, !starts, "{model}: {result}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_named_server_is_an_agents_beside_its_listed_tools() {
    let (look, touch) = (looking("Look", Conduct::Succeed), looking("Touch", Conduct::Succeed));
    let (ours, theirs) = (
        looking("mcp__my_files__read", Conduct::Succeed),
        looking("mcp__my__read", Conduct::Succeed),
    );
    let mut definition = helper();
    definition.tools = Some(vec!["Look".to_owned()]);
    definition.mcp_servers = Some(vec![json!("my files"), json!("absent")]);
    let scripts = [sends_helper("toolu_1", "x", &json!({})), says("Done."), says("Good.")];
    let (stage, _) = with_agents(scripts, [&look, &touch, &ours, &theirs], vec![definition]);
    let mut play = stage.begin();
    play.say("Go").await;
    play.round().await;
    let requests = play.model.requests();
    let offered: BTreeSet<&str> = requests[1].tools.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(offered, BTreeSet::from(["Look", "mcp__my_files__read"]));
}
