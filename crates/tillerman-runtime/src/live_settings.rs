//! Settings that change while a session runs: new rules hold from the next request on.

use serde_json::{Map, Value, json};
use tillerman_engine::{HookOutcome, Input};
use tillerman_policy::Rule;
use tillerman_ports::{SettingsChange, SettingsRules};
use tillerman_protocol::hook::{HookDetail, HookEvent};

use crate::control::Answer;
use crate::hook_desk::RunKey;
use crate::model_switch::ModelWish;
use crate::session_task::SessionTask;

/// The source of files that only administrators write.
const POLICY: &str = "policy_settings";

impl SessionTask {
    /// Takes over what changed in the settings files since the last look.
    pub(crate) async fn refresh_settings(&mut self) {
        self.tell_remarks().await;
        let Some(change) = self.facing.settings.refresh() else { return };
        let is_hooked = self.hooks.events().contains(&HookEvent::ConfigChange);
        let Some((source, path)) = change.files.first().cloned().filter(|_| is_hooked) else {
            self.take_settings(&change).await;
            return self.tell_about_settings().await;
        };
        let file_path = Some(path.display().to_string());
        let detail = HookDetail::ConfigChange { source: source.to_owned(), file_path };
        let input = self.engine.hook_input(detail);
        if change.files.iter().any(|(source, _)| *source == POLICY) {
            // What administrators decide is told to hooks and not for them to refuse.
            self.take_settings(&change).await;
            self.tell_hooks(input).await;
        } else {
            let key = self.hooks.for_settings();
            self.hook_room.held.insert(key, change);
            self.start_hooks(key, input).await;
        }
        self.tell_about_settings().await;
    }

    /// Takes changed settings over, unless hooks object.
    pub(crate) async fn settings_judged(&mut self, key: RunKey, outcome: HookOutcome) {
        let Some(change) = self.hook_room.held.remove(&key) else { return };
        for message in &outcome.messages {
            self.notify("hook", message).await;
        }
        let Some(reason) = outcome.block.or(outcome.halt) else {
            return self.take_settings(&change).await;
        };
        let files: Vec<String> =
            change.files.iter().map(|(_, path)| path.display().to_string()).collect();
        let text = format!(
            "A hook refused changed settings ({}): {reason}. The session goes on with those it had; \
             a new session reads the files as they are.",
            files.join(", ")
        );
        tracing::warn!("{text}");
        self.notify("settings_refused", &text).await;
    }

    /// Tells the host what has not been told yet about its settings.
    pub(crate) async fn tell_about_settings(&mut self) {
        // Hosts expect to be greeted first.
        if !self.facing.has_greeted {
            return;
        }
        for notice in self.facing.settings.notices() {
            self.notify(notice.key, &notice.text).await;
        }
    }

    /// What `get_settings` is answered with: the files, and what holds right now.
    pub(crate) fn describe_settings(&self) -> Value {
        let mut told = self.facing.settings.describe();
        if let Value::Object(told) = &mut told {
            let effort = &self.engine.config().effort;
            told.insert(
                "applied".to_owned(),
                json!({"model": self.engine.model(), "effort": effort}),
            );
        }
        told
    }

    /// Refuses a model that the settings do not make available.
    pub(crate) fn check_model(&self, model: &str) -> Result<(), (String, Option<&'static str>)> {
        match self.facing.settings.available_models() {
            Some(list) if !self.engine.config().catalog.includes(&list, model) => {
                let text = format!(
                    "{model} is not among the models that the settings make available ({}), so \
                     nothing was changed",
                    list.join(", ")
                );
                Err((text, Some("model_not_available")))
            }
            _ => Ok(()),
        }
    }

    pub(crate) async fn apply_flag_settings(&mut self, settings: &Map<String, Value>) -> Answer {
        if let Some(model) = settings.get("model").and_then(Value::as_str) {
            self.check_model(model)?;
        }
        let applied = self.facing.settings.apply_flags(settings);
        let change = applied.map_err(|text| (text, Some("settings_not_applied")))?;
        self.take_settings(&change).await;
        if let Some(model) = settings.get("model") {
            let catalog = &self.engine.config().catalog;
            let model = model.as_str().map(|name| catalog.resolve(name).to_owned());
            self.wish_for_model(ModelWish { request: None, model }).await;
        }
        if let Some(effort) = settings.get("effortLevel") {
            let effort = effort.as_str().map(str::to_owned);
            self.feed(Input::EffortChosen(effort)).await;
        }
        Ok(json!({}))
    }

    pub(crate) async fn update_settings(
        &mut self,
        source: &str,
        settings: &Map<String, Value>,
    ) -> Answer {
        if settings.is_empty() {
            let text = "update_settings names no key, so nothing was changed";
            return Err((text.to_owned(), Some("settings_not_applied")));
        }
        let updated = self.facing.settings.update_file(source, settings);
        updated.map_err(|text| (text, Some("settings_not_applied")))?;
        self.refresh_settings().await;
        Ok(json!({}))
    }

    /// Swaps the rules that settings give; what flags and answers gave stays.
    async fn take_settings(&mut self, change: &SettingsChange) {
        let (gone, new) = (read(&change.before), read(&change.after));
        swap(&mut self.policy.allow, &gone.allow, new.allow);
        swap(&mut self.policy.deny, &gone.deny, new.deny);
        swap(&mut self.policy.ask, &gone.ask, new.ask);
        swap(&mut self.policy.directories, &gone.directories, new.directories);
        for remark in self.hooks.swap_settings(&change.hooks) {
            tracing::warn!("{remark}");
            self.notify("hook_settings", &remark).await;
        }
        self.pending.push_back(Input::HooksRegistered(self.hooks.events()));
        self.watch_files();
    }
}

struct Lists {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
    ask: Vec<Rule>,
    directories: Vec<std::path::PathBuf>,
}

/// Reads rules as they are read when a session starts: one that approves and cannot be read
/// approves nothing, one that restricts holds for every call of its tool.
fn read(rules: &SettingsRules) -> Lists {
    let restricting = |texts: &[String]| -> Vec<Rule> {
        texts.iter().map(|text| Rule::parse_restriction(text).0).collect()
    };
    Lists {
        allow: rules.allow.iter().filter_map(|text| Rule::parse(text).ok()).collect(),
        deny: restricting(&rules.deny),
        ask: restricting(&rules.ask),
        directories: rules.directories.clone(),
    }
}

/// Takes out each item once, the newest first, so that one which somebody else gave as well stays,
/// and adds the new.
fn swap<T: PartialEq>(held: &mut Vec<T>, gone: &[T], new: Vec<T>) {
    for item in gone {
        if let Some(place) = held.iter().rposition(|it| it == item) {
            held.remove(place);
        }
    }
    held.extend(new);
}
