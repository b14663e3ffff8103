//! Which model an agent works with, within what the settings make available.

use serde_json::{Map, Value};
use tillerman_ports::{LiveSettings, SettingsChange, SettingsNotice};
use tillerman_protocol::agent::AgentDefinition;

use crate::agents::order::Order;
use crate::session_task::SessionTask;

impl SessionTask {
    /// The model that a call or a definition names, or else the session's own.
    ///
    /// # Errors
    /// A text for the model when the settings do not make it available.
    pub(crate) fn model_for(
        &self,
        order: &Order,
        definition: &AgentDefinition,
    ) -> Result<String, String> {
        let named = order.model.as_deref().or(definition.model.as_deref());
        let Some(name) = named.filter(|name| *name != "inherit") else {
            return Ok(self.engine.model().to_owned());
        };
        let catalog = &self.engine.config().catalog;
        match self.facing.settings.available_models() {
            Some(list) if !catalog.includes(&list, name) => Err(format!(
                "The agent was not started: {name} is not among the models that the settings make \
                 available ({}). Name one of them in `model`, or `inherit`.",
                list.join(", ")
            )),
            _ => Ok(catalog.resolve(name).to_owned()),
        }
    }

    /// The settings of an agent, whose own agents are bound to the same models.
    pub(crate) fn settings_below(&self) -> Box<dyn LiveSettings> {
        Box::new(SettingsBelow { available: self.facing.settings.available_models() })
    }
}

/// Settings that never change; hosts do not ask agents for them.
#[derive(Debug)]
struct SettingsBelow {
    available: Option<Vec<String>>,
}

impl LiveSettings for SettingsBelow {
    fn describe(&self) -> Value {
        Value::Null
    }

    fn available_models(&self) -> Option<Vec<String>> {
        self.available.clone()
    }

    fn notices(&mut self) -> Vec<SettingsNotice> {
        Vec::new()
    }

    fn refresh(&mut self) -> Option<SettingsChange> {
        None
    }

    fn apply_flags(&mut self, changes: &Map<String, Value>) -> Result<SettingsChange, String> {
        Value::Null.apply_flags(changes)
    }

    fn update_file(&mut self, source: &str, settings: &Map<String, Value>) -> Result<(), String> {
        Value::Null.update_file(source, settings)
    }
}
