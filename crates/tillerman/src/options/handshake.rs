//! What an engine is told in the handshake.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tillerman_protocol::control::InitializeRequest;

use crate::callback::HookTable;
use crate::options::builder::Options;
use crate::options::extension::ServerConfig;
use crate::options::model::SystemPrompt;
use crate::options::surroundings::Audience;

impl Options {
    /// The handshake that fits these options.
    pub(crate) fn handshake(&self) -> InitializeRequest {
        let agents: BTreeMap<String, Value> = self
            .extension
            .agents
            .iter()
            .map(|(name, agent)| (name.clone(), serde_json::to_value(agent).unwrap_or_default()))
            .collect();
        let excludes = matches!(
            self.model.system_prompt,
            Some(SystemPrompt::Preset { exclude_dynamic_sections: true, .. })
        );
        let forwards = self.surroundings.shown.subagent_text == Audience::Caller;
        InitializeRequest {
            hooks: HookTable::registration(&self.callbacks.hooks),
            agents: (!agents.is_empty()).then_some(agents),
            sdk_mcp_servers: self.in_process_servers(),
            exclude_dynamic_sections: excludes.then_some(true),
            skills: self.extension.skills.clone(),
            forward_subagent_text: forwards.then_some(true),
            title: self.session.title.clone(),
            extra: Map::new(),
            ..InitializeRequest::default()
        }
    }

    fn in_process_servers(&self) -> Option<Vec<String>> {
        let servers = self.extension.servers.iter();
        let own = servers.filter(|(_, server)| matches!(server, ServerConfig::InProcess(_)));
        let names: Vec<String> = own.map(|(name, _)| name.clone()).collect();
        (!names.is_empty()).then_some(names)
    }
}
