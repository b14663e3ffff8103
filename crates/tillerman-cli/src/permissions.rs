//! `tillerman permissions explain`: what would be decided about a call, and why.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tillerman_assembly::{Environment, JsonSource, StartFailure, confine, settings};
use tillerman_config::Layers;
use tillerman_policy::{
    Before, Disk, Facts, Guard, Guarded, Policy, Rule, Ruling, Unseen, Verdict,
};
use tillerman_protocol::permission::PermissionMode;
use tillerman_runtime::RealDisk;

use crate::arguments::permission_mode;
use crate::order::sources;
use crate::{environment, permission_cases};

/// What can be done about permissions.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Say what would be decided about a call, and why; nothing is run
    Explain(Box<ExplainArguments>),
}

/// Which call to explain, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArguments {
    /// The tool that is called
    #[arg(long, default_value = "Bash")]
    pub(crate) tool: String,
    /// The call's input, such as {"command":"git status"}
    #[arg(long, value_name = "JSON", required_unless_present = "cases")]
    pub(crate) input: Option<String>,
    /// default, acceptEdits, plan, bypassPermissions, dontAsk or auto
    #[arg(long, visible_alias = "permission-mode", value_name = "MODE", value_parser = permission_mode)]
    pub(crate) mode: Option<PermissionMode>,
    /// Further settings: a file or a JSON object
    #[arg(long, value_name = "FILE-OR-JSON")]
    pub(crate) settings: Option<String>,
    /// Which settings files are read: user, project, local (default: all, none with --cases)
    #[arg(long, value_name = "SOURCES")]
    pub(crate) setting_sources: Option<String>,
    /// The working directory; it need not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The home directory; it need not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Another working directory (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// A rule that allows (repeatable)
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// A rule that denies (repeatable)
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// A rule that asks (repeatable)
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// A file, folder or name that nothing may write (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) guard: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge every line of a file of cases and print those that come out differently
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Option<PathBuf>,
}

/// Where calls are judged.
pub(crate) struct Setting {
    /// The rules and directories.
    pub(crate) policy: Policy,
    /// The mode of calls that name none.
    pub(crate) mode: PermissionMode,
    /// Whether the working directory exists and can be looked at.
    pub(crate) is_there: bool,
}

impl Setting {
    /// The disk, or the lack of one where the folders are made up.
    pub(crate) fn disk(&self) -> &'static dyn Disk {
        if self.is_there { &RealDisk } else { &Unseen }
    }

    /// Judges a call.
    pub(crate) fn judge(&self, tool: &str, input: &Value, mode: PermissionMode) -> Ruling {
        let facts = Facts { tool, input, only_looks: only_looks(tool), disk: self.disk() };
        self.policy.judge(&facts, mode, Before::Nothing)
    }

    /// A path as people write it: relative to the working directory or to the home.
    pub(crate) fn shown(&self, path: &str) -> String {
        let below = |folder: &Path| {
            Path::new(path).strip_prefix(folder).ok().filter(|below| !below.as_os_str().is_empty())
        };
        if let Some(below) = self.policy.directories.first().and_then(|cwd| below(cwd)) {
            return below.display().to_string();
        }
        match self.policy.home.as_deref().and_then(below) {
            Some(below) => format!("~/{}", below.display()),
            None => path.to_owned(),
        }
    }
}

/// Runs the command; the result is the exit code.
pub(crate) fn run(command: &PermissionsCommand) -> Result<u8, StartFailure> {
    let PermissionsCommand::Explain(arguments) = command;
    let setting = setting(arguments, &environment::capture())?;
    if let Some(file) = &arguments.cases {
        return permission_cases::run(file, setting);
    }
    let text = arguments.input.as_deref().unwrap_or("{}");
    let input: Value = serde_json::from_str(text).map_err(|error| {
        StartFailure::usage(format!(
            "--input is not JSON: {error}. Write an object such as {{\"command\":\"ls\"}}."
        ))
    })?;
    if !input.is_object() {
        return Err(StartFailure::usage(
            "--input is not a JSON object. Write one such as {\"command\":\"ls\"}.",
        ));
    }
    let ruling = setting.judge(&arguments.tool, &input, setting.mode);
    let told = if arguments.json {
        format!("{}\n", as_json(&ruling, &setting))
    } else {
        as_text(&ruling, &setting)
    };
    drop(std::io::stdout().write_all(told.as_bytes()));
    Ok(0)
}

fn setting(
    arguments: &ExplainArguments,
    environment: &Environment,
) -> Result<Setting, StartFailure> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let cwd = arguments.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
    let is_there = cwd.is_dir();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let layers = layers(arguments, environment, &cwd)?;
    let mut directories = vec![real(&cwd)];
    directories.extend(
        arguments.add_dir.iter().chain(&layers.directories()).map(|more| real(&cwd.join(more))),
    );
    let home = arguments.home.clone().or_else(|| environment.get("HOME").map(PathBuf::from));
    let rules = |flag: &str, texts: &[String], kind: &str, more: Vec<String>| {
        let mut rules = read_rules(flag, texts)?;
        rules.extend(read_rules(&format!("permissions.{kind} of the settings"), &more)?);
        Ok::<_, StartFailure>(rules)
    };
    let policy = Policy {
        allow: rules("--allow", &arguments.allow, "allow", layers.allow())?,
        deny: rules("--deny", &arguments.deny, "deny", layers.deny())?,
        ask: rules("--ask", &arguments.ask, "ask", layers.ask())?,
        directories,
        keeps: Vec::new(),
        home,
        guard: Guard { guarded: arguments.guard.iter().map(|text| Guarded::read(text)).collect() },
        sandbox: confine::settings(&layers)?,
    };
    let mode = arguments.mode.or_else(|| layers.default_mode()).unwrap_or_default();
    Ok(Setting { policy, mode, is_there })
}

/// Reads rules; the message says which of them is wrong, and where.
pub(crate) fn read_rules(list: &str, texts: &[String]) -> Result<Vec<Rule>, StartFailure> {
    Rule::parse_all(list, texts).map_err(|error| {
        StartFailure::usage(format!("{error}. Nothing was judged; mend the rule."))
    })
}

fn layers(
    arguments: &ExplainArguments,
    environment: &Environment,
    cwd: &Path,
) -> Result<Layers, StartFailure> {
    // A table says by itself which rules hold.
    let none = arguments.cases.is_some().then_some("");
    let named = arguments.setting_sources.as_deref().or(none).map(sources).transpose()?;
    let over = arguments.settings.as_deref().map(JsonSource::read);
    let places = settings::places(environment, cwd, None);
    let layers = settings::load(&places, named.as_deref(), over.as_ref())?;
    for error in layers.errors() {
        drop(writeln!(std::io::stderr(), "{error}"));
    }
    Ok(layers)
}

/// Tools that are known to only look.
fn only_looks(tool: &str) -> bool {
    matches!(tool, "Read" | "Grep" | "Glob" | "LSP" | "NotebookRead" | "WebFetch" | "WebSearch")
}

fn as_json(ruling: &Ruling, setting: &Setting) -> Value {
    let parts: Vec<Value> = ruling
        .parts
        .iter()
        .map(|part| {
            let writes: Vec<String> = part.writes.iter().map(|written| setting.shown(&written.path)).collect();
            json!({ "text": part.text, "verdict": part.verdict, "reason": part.reason, "writes": writes })
        })
        .collect();
    let mut told =
        json!({ "verdict": ruling.verdict.name(), "reason": ruling.reason, "parts": parts });
    match &ruling.verdict {
        Verdict::Deny { message, .. } => told["message"] = json!(message),
        Verdict::Ask { suggestions, blocked_path, .. } => {
            told["suggestions"] = json!(suggestions);
            if let Some(path) = blocked_path {
                told["blockedPath"] = json!(path);
            }
        }
        Verdict::Allow => {}
    }
    if !ruling.run_with.is_empty() {
        told["environment"] =
            ruling.run_with.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    }
    told
}

fn as_text(ruling: &Ruling, setting: &Setting) -> String {
    let mut text = format!("{}: {}\n", ruling.verdict.name(), ruling.reason);
    for part in &ruling.parts {
        // Hidden characters must not act on the terminal of whoever reads this.
        text.push_str(&format!("  {:<5} {}: {}\n", part.verdict, visible(&part.text), part.reason));
        for written in &part.writes {
            text.push_str(&format!("        writes {}\n", visible(&setting.shown(&written.path))));
        }
    }
    if !ruling.run_with.is_empty() {
        text.push_str("  git is run with its hooks, pagers and other programs switched off\n");
    }
    text
}

/// A text in which nothing is hidden: line breaks, controls and invisible characters are spelled out.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    shown
}
