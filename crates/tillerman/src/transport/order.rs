//! From the arguments of a launch to the order of a session.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;
use tillerman_assembly::{
    Approver, Environment, JsonSource, Resume, SessionOrder, SettingSource, TextSource,
    ThinkingMode,
};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::{EntryId, SessionId};

use crate::error::{Error, ErrorKind, Result};
use crate::transport::launch::Launch;

/// Reads the arguments that [`Options`](crate::Options) are turned into, for whoever runs the
/// engine itself: the in-process transport, or a host that was asked to open a session.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for an argument that an engine without a command line of its own
/// does not have, [`ErrorKind::InvalidOptions`] for one that makes no sense.
pub fn session_order(launch: &Launch) -> Result<SessionOrder> {
    let cwd = match &launch.cwd {
        Some(cwd) => std::path::absolute(cwd),
        None => std::env::current_dir(),
    };
    let cwd = cwd.map_err(|error| {
        let text = "the working directory cannot be used; nothing was started";
        Error::new(ErrorKind::NotFound, text).because(error)
    })?;
    if !cwd.is_dir() {
        let text = format!(
            "the working directory {} does not exist; nothing was started; create it or choose \
             another with `cwd`",
            cwd.display()
        );
        return Err(Error::new(ErrorKind::NotFound, text));
    }
    let environment = environment(launch);
    let mut order = SessionOrder { cwd, environment, ..SessionOrder::default() };
    let mut arguments = Arguments(launch.arguments.iter());
    while let Some((name, value)) = arguments.next_flag()? {
        let mut value = Given { name: &name, value, rest: &mut arguments };
        let known = conversation(&mut order, &mut value)?
            || model(&mut order, &mut value)?
            || limits(&mut order, &mut value)?
            || permission(&mut order, &mut value)?
            || extension(&mut order, &mut value)?
            || frames(&mut order, &mut value)?;
        if !known {
            let text = format!(
                "an engine in this process has no flag {name}; nothing was started; leave it out, \
                 or use the subprocess transport"
            );
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
    }
    Ok(order)
}

/// This process's environment with the launch's variables over it, or those alone.
fn environment(launch: &Launch) -> Environment {
    let own = launch.environment.iter();
    let own = own.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let inherited = (!launch.bare_environment).then(std::env::vars_os).into_iter().flatten();
    let inherited = inherited.filter(|(name, _)| {
        let is_set_anew = name.to_str().is_some_and(|name| launch.environment.contains_key(name));
        !is_set_anew && name != "CLAUDECODE"
    });
    Environment::new(inherited.chain(own))
}

/// Arguments that were not read yet.
struct Arguments<'a>(std::slice::Iter<'a, String>);

impl Arguments<'_> {
    /// The next flag, with its value if that is joined to it.
    fn next_flag(&mut self) -> Result<Option<(String, Option<String>)>> {
        let Some(argument) = self.0.next() else { return Ok(None) };
        if !argument.starts_with("--") {
            let text = format!("{argument} is no flag; nothing was started");
            return Err(Error::new(ErrorKind::InvalidOptions, text));
        }
        Ok(Some(match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (argument.clone(), None),
        }))
    }
}

/// A flag and what stands behind it.
struct Given<'a, 'b> {
    name: &'a str,
    value: Option<String>,
    rest: &'a mut Arguments<'b>,
}

impl Given<'_, '_> {
    fn text(&mut self) -> Result<String> {
        let value = self.value.take().or_else(|| self.rest.0.next().cloned());
        value.ok_or_else(|| self.wrong("has no value"))
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        let text = self.text()?;
        text.parse().map_err(|_| self.wrong(&format!("is no number: {text}")))
    }

    fn list(&mut self) -> Result<Vec<String>> {
        let text = self.text()?;
        Ok(text.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect())
    }

    fn wrong(&self, what: &str) -> Error {
        let text = format!("{} {what}; nothing was started", self.name);
        Error::new(ErrorKind::InvalidOptions, text)
    }
}

fn conversation(order: &mut SessionOrder, given: &mut Given<'_, '_>) -> Result<bool> {
    let session = &mut order.session;
    match given.name {
        "--continue" => session.resume = Some(Resume::Newest),
        "--resume" => session.resume = Some(Resume::Session(SessionId::new(given.text()?))),
        "--session-id" => session.id = Some(SessionId::new(given.text()?)),
        "--fork-session" => session.fork = true,
        "--resume-session-at" => session.resume_at = Some(EntryId::new(given.text()?)),
        "--resume-drops-turn" => session.resume_drops = Some(EntryId::new(given.text()?)),
        "--no-session-persistence" => session.no_persistence = true,
        "--session-mirror" => session.mirror = true,
        "--add-dir" => session.directories.push(PathBuf::from(given.text()?)),
        _ => return Ok(false),
    }
    Ok(true)
}

fn model(order: &mut SessionOrder, given: &mut Given<'_, '_>) -> Result<bool> {
    let model = &mut order.model;
    match given.name {
        "--model" => model.model = Some(given.text()?),
        "--fallback-model" => model.fallback = given.list()?,
        "--betas" => model.betas = given.list()?,
        "--system-prompt" => model.system_prompt = Some(TextSource::Text(given.text()?)),
        "--system-prompt-file" => {
            model.system_prompt = Some(TextSource::File(PathBuf::from(given.text()?)));
        }
        "--append-system-prompt" => {
            model.append_system_prompt = Some(TextSource::Text(given.text()?));
        }
        "--effort" => model.effort = Some(given.text()?),
        "--thinking" => {
            model.thinking = Some(match given.text()?.as_str() {
                "disabled" => ThinkingMode::Disabled,
                "enabled" => ThinkingMode::Enabled,
                _ => ThinkingMode::Adaptive,
            });
        }
        "--max-thinking-tokens" => model.max_thinking_tokens = Some(given.number()?),
        "--thinking-display" => model.thinking_display = Some(given.text()?),
        "--json-schema" => {
            let text = given.text()?;
            let schema: Value = serde_json::from_str(&text)
                .map_err(|error| given.wrong("is no JSON").because(error))?;
            model.json_schema = Some(schema);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn limits(order: &mut SessionOrder, given: &mut Given<'_, '_>) -> Result<bool> {
    let limits = &mut order.limits;
    match given.name {
        "--max-turns" => limits.max_turns = Some(given.number()?),
        "--max-budget-usd" => limits.max_budget_usd = Some(given.number()?),
        "--max-total-tokens" => limits.max_total_tokens = Some(given.number()?),
        "--max-duration" => {
            limits.max_duration = Some(std::time::Duration::from_secs(given.number()?));
        }
        "--task-budget" => limits.task_budget = Some(given.number()?),
        "--autocompact" => limits.autocompact = Some(given.number()?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn permission(order: &mut SessionOrder, given: &mut Given<'_, '_>) -> Result<bool> {
    let permission = &mut order.permission;
    match given.name {
        "--tools" => {
            permission.tools = Some(given.list()?).filter(|names| *names != ["default"]);
        }
        "--allowedTools" => permission.allow.push(given.text()?),
        "--disallowedTools" => permission.deny.push(given.text()?),
        "--permission-mode" => {
            let name = given.text()?;
            let mode = PermissionMode::parse(&name);
            let mode = mode.ok_or_else(|| given.wrong(&format!("has no mode {name}")))?;
            permission.mode = Some(mode);
        }
        "--permission-prompt-tool" => {
            permission.approver = match given.text()?.as_str() {
                "stdio" => Approver::Host,
                tool => Approver::Tool(tool.to_owned()),
            };
        }
        "--allow-dangerously-skip-permissions" => permission.may_bypass = true,
        "--guard" => permission.guard.push(given.text()?),
        "--strict-environment" => permission.strict_environment = true,
        _ => return Ok(false),
    }
    Ok(true)
}

fn extension(order: &mut SessionOrder, given: &mut Given<'_, '_>) -> Result<bool> {
    let extension = &mut order.extension;
    match given.name {
        "--settings" => extension.settings = Some(JsonSource::read(&given.text()?)),
        "--setting-sources" => {
            let names = given.list()?;
            let sources = names.iter().map(|name| {
                SettingSource::parse(name).ok_or_else(|| given.wrong(&format!("has no {name}")))
            });
            extension.setting_sources = Some(sources.collect::<Result<_>>()?);
        }
        "--mcp-config" => extension.mcp_config.push(JsonSource::read(&given.text()?)),
        "--strict-mcp-config" => extension.strict_mcp_config = true,
        "--plugin-dir" => extension.plugins.push(PathBuf::from(given.text()?)),
        "--agent" => extension.agent = Some(given.text()?),
        "--disable-slash-commands" => extension.disable_slash_commands = true,
        _ => return Ok(false),
    }
    Ok(true)
}

fn frames(order: &mut SessionOrder, given: &mut Given<'_, '_>) -> Result<bool> {
    let frames = &mut order.frames;
    match given.name {
        "--include-partial-messages" => frames.partial_messages = true,
        "--include-hook-events" => frames.hook_events = true,
        "--replay-user-messages" => frames.prompts = true,
        // An engine in this process has no other format.
        "--output-format" | "--input-format" => drop(given.text()?),
        "--verbose" => {}
        _ => return Ok(false),
    }
    Ok(true)
}
