//! From options to the command line and environment that every engine understands.

use std::collections::BTreeMap;

use serde_json::json;
use tillerman_protocol::mcp::McpConfig;
use tillerman_protocol::permission::PermissionMode;

use crate::error::Result;
use crate::options::builder::Options;
use crate::options::model::{Effort, SystemPrompt, Thinking};
use crate::options::permission::{ToolEnvironment, ToolSet};
use crate::options::session::Origin;
use crate::options::settings;
use crate::options::surroundings::Audience;
use crate::transport::{Launch, OtherEngines};

/// Whose flags may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// Those of Tillerman.
    Tillerman,
    /// Those that every engine has.
    Common,
}

/// Arguments that are being put together.
#[derive(Debug, Default)]
struct Arguments(Vec<String>);

impl Arguments {
    fn flag(&mut self, name: &str) {
        self.0.push(name.to_owned());
    }

    fn flag_if(&mut self, name: &str, wanted: bool) {
        if wanted {
            self.flag(name);
        }
    }

    fn pair(&mut self, name: &str, value: &(impl ToString + ?Sized)) {
        self.0.extend([name.to_owned(), value.to_string()]);
    }

    fn pair_if(&mut self, name: &str, value: Option<&(impl ToString + ?Sized)>) {
        if let Some(value) = value {
            self.pair(name, value);
        }
    }

    /// The form in which a value that begins with a dash is no flag.
    fn joined(&mut self, name: &str, value: &str) {
        self.0.push(format!("{name}={value}"));
    }

    fn list(&mut self, name: &str, values: &[String]) {
        if !values.is_empty() {
            self.pair(name, &values.join(","));
        }
    }
}

impl Options {
    /// What a transport is told.
    ///
    /// # Errors
    /// When a settings file that the sandbox is to be added to cannot be read.
    pub(crate) fn launch(&self) -> Result<Launch> {
        let surroundings = &self.surroundings;
        let patience = &surroundings.patience;
        Ok(Launch {
            arguments: self.arguments(Dialect::Tillerman)?,
            cwd: surroundings.cwd.clone(),
            environment: self.environment(),
            bare_environment: surroundings.bare_env,
            program: surroundings.program.path.clone(),
            runtime: surroundings.program.runtime,
            max_line_bytes: patience.longest_line,
            grace: patience.grace,
            wants_stderr: self.callbacks.stderr.is_some(),
            other_engines: self.other_engines()?,
        })
    }

    fn other_engines(&self) -> Result<OtherEngines> {
        let protection = &self.permission.protection;
        let is_strict = protection.environment == ToolEnvironment::Strict;
        let needs = [("guard", !protection.guarded.is_empty()), ("strict_environment", is_strict)];
        let options: Vec<&str> =
            needs.into_iter().filter(|(_, is_needed)| *is_needed).map(|(name, _)| name).collect();
        Ok(match protection.environment {
            _ if !options.is_empty() => OtherEngines::Refuse { options },
            ToolEnvironment::StrictWherePossible => {
                OtherEngines::StrictProcess { arguments: self.arguments(Dialect::Common)? }
            }
            ToolEnvironment::Usual | ToolEnvironment::Strict => OtherEngines::Same,
        })
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        let mut set = |name: &str, value: &str| {
            variables.insert(name.to_owned(), value.to_owned());
        };
        set("CLAUDE_CODE_ENTRYPOINT", "sdk-rust");
        set("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
        if self.session.keeping.checkpoints {
            set("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true");
        }
        variables.extend(self.surroundings.env.clone());
        variables
    }

    fn arguments(&self, dialect: Dialect) -> Result<Vec<String>> {
        let mut all = Arguments::default();
        all.pair("--output-format", "stream-json");
        all.flag("--verbose");
        self.add_model(&mut all);
        self.add_permissions(&mut all);
        if dialect == Dialect::Tillerman {
            self.add_protection(&mut all);
        }
        self.add_session(&mut all);
        self.add_extensions(&mut all)?;
        self.add_surroundings(&mut all);
        all.pair("--input-format", "stream-json");
        Ok(all.0)
    }

    fn add_model(&self, all: &mut Arguments) {
        let model = &self.model;
        match &model.system_prompt {
            None => all.pair("--system-prompt", ""),
            Some(SystemPrompt::Text(text)) => all.pair("--system-prompt", text),
            Some(SystemPrompt::File(path)) => all.pair("--system-prompt-file", &path.display()),
            Some(SystemPrompt::Preset { append, .. }) => {
                all.pair_if("--append-system-prompt", append.as_ref());
            }
        }
        all.pair_if("--model", model.model.as_ref());
        all.list("--fallback-model", &model.fallbacks);
        all.list("--betas", &model.betas);
        match model.thinking {
            None => {}
            Some(Thinking::Adaptive) => all.pair("--thinking", "adaptive"),
            Some(Thinking::Disabled) => all.pair("--thinking", "disabled"),
            Some(Thinking::Budget(tokens)) => all.pair("--max-thinking-tokens", &tokens),
        }
        all.pair_if("--effort", model.effort.map(Effort::name));
        all.pair_if("--json-schema", model.output_schema.as_ref());
        let limits = &model.limits;
        all.pair_if("--max-turns", limits.max_turns.as_ref());
        all.pair_if("--max-budget-usd", limits.max_budget_usd.as_ref());
        all.pair_if("--task-budget", limits.task_budget.as_ref());
    }

    fn add_permissions(&self, all: &mut Arguments) {
        let permission = &self.permission;
        match &permission.tools {
            None => {}
            Some(ToolSet::All) => all.pair("--tools", "default"),
            Some(ToolSet::None) => all.pair("--tools", ""),
            Some(ToolSet::Only(names)) => all.pair("--tools", &names.join(",")),
        }
        all.list("--allowedTools", &permission.allowed);
        all.list("--disallowedTools", &permission.disallowed);
        if self.callbacks.approves() {
            all.pair("--permission-prompt-tool", "stdio");
        } else {
            all.pair_if("--permission-prompt-tool", permission.prompt_tool.as_ref());
        }
        all.pair_if("--permission-mode", permission.mode.map(PermissionMode::as_str));
        all.flag_if("--allow-dangerously-skip-permissions", permission.may_bypass);
        for directory in &permission.directories {
            all.pair("--add-dir", &directory.display());
        }
    }

    fn add_protection(&self, all: &mut Arguments) {
        let protection = &self.permission.protection;
        for guarded in &protection.guarded {
            all.pair("--guard", guarded);
        }
        let is_strict = protection.environment != ToolEnvironment::Usual;
        all.flag_if("--strict-environment", is_strict);
    }

    fn add_session(&self, all: &mut Arguments) {
        let session = &self.session;
        match &session.origin {
            Origin::New => {}
            Origin::Newest => all.flag("--continue"),
            Origin::Session(id) => all.joined("--resume", id),
        }
        if let Some(id) = &session.session_id {
            all.joined("--session-id", id);
        }
        all.flag_if("--fork-session", session.fork);
        if let Some(message) = &session.resume_at {
            all.joined("--resume-session-at", message);
        }
        all.flag_if("--no-session-persistence", session.keeping.nothing);
        all.flag_if("--session-mirror", session.store.is_some());
    }

    fn add_extensions(&self, all: &mut Arguments) -> Result<()> {
        let extension = &self.extension;
        let sandbox = self.permission.sandbox.as_ref();
        let settings = settings::argument(extension.settings.as_ref(), sandbox)?;
        all.pair_if("--settings", settings.as_ref());
        let sources: Vec<&str> = extension.setting_sources.iter().map(|it| it.name()).collect();
        all.joined("--setting-sources", &sources.join(","));
        if !extension.servers.is_empty() {
            let servers = extension.servers.iter();
            let mcp_servers =
                servers.map(|(name, server)| (name.clone(), server.on_the_wire(name))).collect();
            all.pair("--mcp-config", &json!(McpConfig { mcp_servers }));
        }
        all.flag_if("--strict-mcp-config", extension.strict_servers);
        for plugin in &extension.plugins {
            all.pair("--plugin-dir", &plugin.display());
        }
        Ok(())
    }

    fn add_surroundings(&self, all: &mut Arguments) {
        let shown = &self.surroundings.shown;
        all.flag_if("--include-partial-messages", shown.partial_messages);
        all.flag_if("--include-hook-events", shown.hook_events);
        all.flag_if("--replay-user-messages", shown.replays == Audience::Caller);
        for (name, value) in &self.surroundings.extra_args {
            match value {
                None => all.flag(&format!("--{name}")),
                Some(value) if value.starts_with('-') => all.joined(&format!("--{name}"), value),
                Some(value) => all.pair(&format!("--{name}"), value),
            }
        }
    }
}
