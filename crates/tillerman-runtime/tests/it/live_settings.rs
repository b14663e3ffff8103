//! Settings that change while a session runs.

use serde_json::{Map, Value, json};
use tillerman_ports::{LiveSettings, SettingsChange, SettingsNotice, SettingsRules};

use crate::model::{calls, says};
use crate::stage::{kinds, stage, tool_result};
use crate::tools::{Conduct, changing};

/// Settings that are different from the second request on.
#[derive(Debug, Default)]
struct Turning {
    looks: usize,
    notices: Vec<SettingsNotice>,
}

fn rules(allow: &[&str], deny: &[&str]) -> SettingsRules {
    let texts = |rules: &[&str]| rules.iter().map(|&rule| rule.to_owned()).collect();
    SettingsRules { allow: texts(allow), deny: texts(deny), ..SettingsRules::default() }
}

impl LiveSettings for Turning {
    fn describe(&self) -> Value {
        json!({"effective": {"looks": self.looks}})
    }

    fn notices(&mut self) -> Vec<SettingsNotice> {
        std::mem::take(&mut self.notices)
    }

    fn refresh(&mut self) -> Option<SettingsChange> {
        self.looks += 1;
        let change =
            |before, after| Some(SettingsChange { before, after, ..SettingsChange::default() });
        match self.looks {
            1 => change(rules(&[], &[]), rules(&["Touch"], &[])),
            3 => {
                let text = "the rules changed".to_owned();
                self.notices.push(SettingsNotice { key: "settings_error", text });
                change(rules(&["Touch"], &[]), rules(&[], &["Touch"]))
            }
            _ => None,
        }
    }

    fn apply_flags(&mut self, changes: &Map<String, Value>) -> Result<SettingsChange, String> {
        match changes.get("permissions") {
            Some(_) => Err("permissions cannot be changed".to_owned()),
            None => Ok(SettingsChange::default()),
        }
    }

    fn update_file(&mut self, source: &str, _: &Map<String, Value>) -> Result<(), String> {
        Err(format!("{source} cannot be changed"))
    }
}

#[tokio::test(start_paused = true)]
async fn new_rules_hold_from_the_next_request_on_and_old_ones_no_longer() {
    let touch = changing("Touch", Conduct::Succeed);
    let call = |id: &str| calls("Touch", id, &json!({"what": "it"}));
    let scripts = [call("toolu_1"), call("toolu_2"), says("Done.")];
    let mut play = stage(scripts).tools([&touch]).settings(Turning::default()).begin();
    play.say("Touch it twice").await;
    let frames = play.round().await;
    assert_eq!(touch.log().len(), 1, "the first was allowed, the second denied");
    assert_eq!(frames.last().unwrap()["permission_denials"].as_array().unwrap().len(), 1);
    assert!(tool_result(&frames).is_object());
    let notice = frames.iter().find(|frame| frame["key"] == "settings_error");
    assert_eq!(notice.unwrap()["text"], "the rules changed", "{:?}", kinds(&frames));
}

#[tokio::test(start_paused = true)]
async fn the_host_may_change_settings_and_hears_why_not() {
    let mut play = stage([says("Hm.")]).settings(Turning::default()).begin();
    let apply = |settings: Value| json!({"subtype": "apply_flag_settings", "settings": settings});
    let answer = play.ask(apply(json!({"model": "swift"}))).await;
    assert_eq!(answer["response"], json!({}), "{answer}");
    let told = play.ask(json!({"subtype": "get_settings"})).await["response"].clone();
    assert_eq!(told["applied"]["model"], "test-swift-2");
    let answer = play.ask(apply(json!({"permissions": {}, "model": "other"}))).await;
    assert_eq!(answer["error_code"], "settings_not_applied");
    assert_eq!(answer["error"], "permissions cannot be changed");
    let told = play.ask(json!({"subtype": "get_settings"})).await["response"].clone();
    assert_eq!(told["applied"]["model"], "test-swift-2", "nothing of it was taken");
    let request = json!({"subtype": "update_settings", "source": "userSettings",
        "settings": {"effortLevel": "low"}});
    assert_eq!(play.ask(request).await["error"], "userSettings cannot be changed");
    let request = json!({"subtype": "update_settings", "source": "userSettings", "settings": {}});
    let answer = play.ask(request).await;
    assert!(answer["error"].as_str().unwrap().contains("names no key"), "{answer}");
}
