//! Whether a rule is about a call.

use std::path::Path;

use serde_json::Value;

use crate::call::{Facts, Family, MONITOR};
use crate::glob::{self, Case};
use crate::path_pattern::Side;
use crate::place::{Names, Place};
use crate::rule::{Matter, Rule};

/// What the names of the desktop tools begin with.
const DESKTOP: &str = "mcp__desktop-assistant-tools__";

impl Rule {
    /// Whether the rule is about this tool, whatever the call.
    pub(crate) fn is_about(&self, tool: &str, side: Side) -> bool {
        let name = self.tool();
        if name == tool || (former_name(name) == former_name(tool)) {
            return true;
        }
        if tool == MONITOR && self.is_about("Bash", side) {
            return true;
        }
        // What must not be touched is safe from the desktop tools too. Allowing goes by their own
        // names alone, since any server can call itself like this one.
        let desktop = tool.strip_prefix(DESKTOP).filter(|_| side == Side::Restrict);
        let edits =
            matches!(tool, "Write" | "MultiEdit" | "NotebookEdit") || desktop == Some("write_file");
        let reads = matches!(tool, "Grep" | "Glob" | "LSP" | "NotebookRead")
            || matches!(desktop, Some("read_file" | "analyze_image" | "open_in_default_app"));
        if (name == "Edit" && edits) || (name == "Read" && reads) {
            return true;
        }
        // What must not be read must not be written either.
        if name == "Read" && side == Side::Restrict && (edits || tool == "Edit") {
            return self.content().is_some();
        }
        if is_server(name) && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__")) {
            return true;
        }
        name.contains('*')
            && (side == Side::Restrict || has_literal_server(name))
            && glob::matches(name, tool, Case::Exact)
    }

    /// Whether the rule is about a call that is not a shell command.
    pub(crate) fn fits(
        &self,
        facts: &Facts<'_>,
        paths: &[Names],
        place: &Place<'_>,
        side: Side,
    ) -> bool {
        if !self.is_about(facts.tool, side) {
            return false;
        }
        match &self.matter {
            Matter::Everything => true,
            Matter::Path(_) => match side {
                Side::Allow => {
                    // `Write(…)`, `Glob(…)` and their like are read but never allow anything.
                    let counts = matches!(self.tool(), "Read" | "Edit" | "Cd");
                    counts
                        && !paths.is_empty()
                        && paths
                            .iter()
                            .all(|names| names.all(|name| self.fits_path(name, place, side)))
                }
                Side::Restrict => {
                    paths.is_empty()
                        || paths
                            .iter()
                            .any(|names| names.any(|name| self.fits_path(name, place, side)))
                }
            },
            Matter::Domain(wanted) => match facts.text("url").and_then(host) {
                Some(host) => fits_domain(wanted, &host),
                None => side == Side::Restrict,
            },
            Matter::Name(wanted) => {
                let fields = ["subagent_type", "agent_type", "skill", "command", "name"];
                match fields.iter().find_map(|field| facts.text(field)) {
                    Some(name) => fits_name(wanted, name),
                    None => side == Side::Restrict,
                }
            }
            Matter::Parameter { name, value } => {
                side == Side::Restrict
                    && facts
                        .input
                        .get(name)
                        .and_then(scalar)
                        .is_some_and(|given| glob::matches(value, &given, Case::Exact))
            }
            // Only the shell's own rules know commands.
            Matter::Command(pattern) => match (side, facts.text("command")) {
                (Side::Restrict, Some(command)) => pattern.is_mentioned_in(command),
                (Side::Restrict, None) => !facts.watches_task(),
                (Side::Allow, command) => command.map(str::trim) == self.content(),
            },
            Matter::Unknown => side == Side::Restrict,
        }
    }

    /// Whether the rule's path pattern describes a path.
    pub(crate) fn fits_path(&self, path: &Path, place: &Place<'_>, side: Side) -> bool {
        match &self.matter {
            Matter::Path(pattern) => pattern.matches(path, place, self.source.as_deref(), side),
            Matter::Everything => true,
            _ => side == Side::Restrict,
        }
    }

    /// Whether a parameter rule such as `Bash(run_in_background:true)` fits, which looks like a command.
    pub(crate) fn fits_parameter(&self, facts: &Facts<'_>) -> bool {
        let Some((name, value)) = self.content().and_then(|content| content.split_once(':')) else {
            return false;
        };
        facts.family() == Family::Shell
            && name != "command"
            && facts
                .parameter(name)
                .as_ref()
                .and_then(scalar)
                .is_some_and(|given| glob::matches(value, &given, Case::Exact))
    }
}

fn former_name(tool: &str) -> &str {
    match tool {
        "Task" => "Agent",
        tool => tool,
    }
}

/// `mcp__server` without a tool.
fn is_server(name: &str) -> bool {
    name.strip_prefix("mcp__")
        .is_some_and(|rest| !rest.is_empty() && !rest.contains("__") && !rest.contains('*'))
}

/// `mcp__server__…*`: a wildcard may allow tools of one server only.
fn has_literal_server(name: &str) -> bool {
    name.strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"))
        .is_some_and(|(server, _)| !server.is_empty() && !server.contains('*'))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn fits_name(wanted: &str, name: &str) -> bool {
    let name = name.trim_start_matches('/');
    match wanted.strip_suffix(" *").or_else(|| wanted.strip_suffix(":*")) {
        Some(start) => {
            name == start || name.strip_prefix(start).is_some_and(|rest| rest.starts_with(' '))
        }
        None => glob::matches(wanted, name, Case::Exact),
    }
}

/// A leading `*.` covers any depth of subdomains; any other star stays inside a label.
fn fits_domain(wanted: &str, host: &str) -> bool {
    if wanted == "*" {
        return true;
    }
    if let Some(apex) = wanted.strip_prefix("*.") {
        let labels = apex.split('.').count();
        let given: Vec<&str> = host.split('.').collect();
        return given.len() > labels && fits_domain(apex, &given[given.len() - labels..].join("."));
    }
    let (wanted, given): (Vec<&str>, Vec<&str>) =
        (wanted.split('.').collect(), host.split('.').collect());
    wanted.len() == given.len()
        && wanted
            .iter()
            .zip(&given)
            .all(|(wanted, label)| glob::matches(wanted, label, Case::Folded))
}

/// The host of a plain web address; anything unusual has none.
pub(crate) fn host(url: &str) -> Option<String> {
    let rest = ["https://", "http://"].iter().find_map(|scheme| {
        url.get(..scheme.len())
            .filter(|start| start.eq_ignore_ascii_case(scheme))
            .map(|start| &url[start.len()..])
    })?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, port),
        None => (authority, ""),
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_plain = !host.is_empty()
        && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    (is_plain && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(host)
}
