//! `tillerman mcp`: which servers there are, kept in files.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tillerman_assembly::{Environment, SessionOrder, StartFailure, servers, settings};
use tillerman_config::{McpScope, Source, add_server, find_servers, remove_server};
use tillerman_mcp::{McpHub, NamedServer, Patience};
use tillerman_ports::McpServers as _;
use tillerman_protocol::mcp::{McpServerConfig, McpServerStatus};

use crate::arguments::Arguments;
use crate::order::order;
use crate::{mcp_login, mcp_serve};

const LEAVE: Duration = Duration::from_secs(5);

/// What can be done about MCP servers.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum McpCommand {
    /// Add a server, in place of one that has the same name
    Add(Box<AddArguments>),
    /// Add a server from its JSON configuration
    AddJson(AddJsonArguments),
    /// List all servers and try each of them
    List,
    /// Show one server and try it
    Get {
        /// The server
        name: String,
    },
    /// Remove a server
    Remove {
        /// The server
        name: String,
        /// Where it is configured: local, project or user (default: wherever it is)
        #[arg(short, long, value_parser = scope)]
        scope: Option<McpScope>,
    },
    /// Sign in to a remote server
    Login {
        /// The server
        name: String,
    },
    /// Forget how to sign in to a server
    Logout {
        /// The server
        name: String,
    },
    /// Serve the built-in tools to an MCP client on standard input and output
    Serve,
}

/// Which server to add.
#[derive(Debug, clap::Args)]
pub(crate) struct AddArguments {
    /// The server's name
    name: String,
    /// The program to start, or the address of a remote server
    target: String,
    /// Arguments of the program; write -- before those that begin with a dash
    #[arg(trailing_var_arg = true)]
    args: Vec<String>,
    /// local (only you, only here), project (.mcp.json, for everybody) or user (only you, everywhere)
    #[arg(short, long, default_value = "local", value_parser = scope)]
    scope: McpScope,
    /// stdio, http or sse
    #[arg(short, long, default_value = "stdio", value_parser = ["stdio", "http", "sse"])]
    transport: String,
    /// A variable of the program's environment, as NAME=VALUE (repeatable)
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A header of every request, as "Name: value" (repeatable)
    #[arg(short = 'H', long, value_name = "HEADER")]
    header: Vec<String>,
}

/// Which server to add, as JSON.
#[derive(Debug, clap::Args)]
pub(crate) struct AddJsonArguments {
    /// The server's name
    name: String,
    /// Its configuration, such as {"type":"http","url":"https://…"}
    json: String,
    /// local, project or user
    #[arg(short, long, default_value = "local", value_parser = scope)]
    scope: McpScope,
}

fn scope(name: &str) -> Result<McpScope, String> {
    McpScope::parse(name).ok_or_else(|| "the scopes are local, project and user".to_owned())
}

/// Runs the command; the result is the exit code.
pub(crate) fn run(command: &McpCommand, arguments: &Arguments) -> Result<u8, StartFailure> {
    let order = order(arguments)?;
    let (environment, cwd) = (&order.environment, &order.cwd);
    match command {
        McpCommand::Add(wanted) => {
            add(environment, cwd, wanted.scope, &wanted.name, configuration(wanted)?)
        }
        McpCommand::AddJson(wanted) => {
            let config: Value = serde_json::from_str(&wanted.json)
                .map_err(|error| StartFailure::usage(format!("That is not JSON: {error}")))?;
            if matches!(McpServerConfig::from(config.clone()), McpServerConfig::Other(_)) {
                return Err(StartFailure::usage(
                    "That is not the configuration of a server. It needs a command, or a type \
                     (http, sse) and a url.",
                ));
            }
            add(environment, cwd, wanted.scope, &wanted.name, config)
        }
        McpCommand::Remove { name, scope } => remove(environment, cwd, name, *scope),
        McpCommand::List => block_on(list(&order)),
        McpCommand::Get { name } => block_on(get(&order, name)),
        McpCommand::Login { name } => block_on(mcp_login::login(&order, name)),
        McpCommand::Logout { name } => mcp_login::logout(environment, name),
        McpCommand::Serve => block_on(mcp_serve::serve(&order)),
    }
}

fn block_on(work: impl Future<Output = Result<u8, StartFailure>>) -> Result<u8, StartFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))?;
    let code = runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_secs(1));
    code
}

fn configuration(wanted: &AddArguments) -> Result<Value, StartFailure> {
    let pairs = |texts: &[String], between: char, example: &str| {
        let pair = |text: &String| {
            let (name, value) = text
                .split_once(between)
                .ok_or_else(|| StartFailure::usage(format!("{text} should look like {example}")))?;
            Ok((name.trim().to_owned(), json!(value.trim())))
        };
        texts.iter().map(pair).collect::<Result<Map<String, Value>, StartFailure>>()
    };
    if wanted.transport == "stdio" {
        let env = pairs(&wanted.env, '=', "NAME=VALUE")?;
        let command = &wanted.target;
        return Ok(json!({"type": "stdio", "command": command, "args": wanted.args, "env": env}));
    }
    if !wanted.target.starts_with("http://") && !wanted.target.starts_with("https://") {
        return Err(StartFailure::usage(format!(
            "{} is not an http:// or https:// address",
            wanted.target
        )));
    }
    let headers = pairs(&wanted.header, ':', "\"Name: value\"")?;
    Ok(json!({"type": wanted.transport, "url": wanted.target, "headers": headers}))
}

fn add(
    environment: &Environment,
    cwd: &Path,
    scope: McpScope,
    name: &str,
    config: Value,
) -> Result<u8, StartFailure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(StartFailure::usage(format!(
            "{name} cannot be a server's name: use letters, digits, - and _"
        )));
    }
    let path = add_server(&servers::places(environment, cwd), scope, name, config)
        .map_err(|error| StartFailure::usage(error.to_string()))?;
    say(&format!("Added {name} to {} ({} scope).", path.display(), scope.as_str()));
    Ok(0)
}

fn remove(
    environment: &Environment,
    cwd: &Path,
    name: &str,
    scope: Option<McpScope>,
) -> Result<u8, StartFailure> {
    let places = servers::places(environment, cwd);
    let holds = |scope: &McpScope| {
        find_servers(&places, &[*scope]).servers.iter().any(|server| server.name == name)
    };
    let scopes: Vec<McpScope> = match scope {
        Some(scope) => vec![scope],
        None => McpScope::ALL.into_iter().filter(holds).collect(),
    };
    if let [first, second, ..] = scopes.as_slice() {
        return Err(StartFailure::usage(format!(
            "{name} is in more than one scope ({}, {}); say which with --scope. Nothing was removed.",
            first.as_str(),
            second.as_str()
        )));
    }
    let scope = scopes.first().copied();
    let removed = match scope {
        Some(scope) => remove_server(&places, scope, name)
            .map_err(|error| StartFailure::usage(error.to_string()))?,
        None => false,
    };
    if !removed {
        return Err(StartFailure::usage(format!("There is no MCP server called {name}.")));
    }
    say(&format!("Removed {name} ({} scope).", scope.map_or("", McpScope::as_str)));
    Ok(0)
}

async fn list(order: &SessionOrder) -> Result<u8, StartFailure> {
    let states = tried(order, None).await?;
    if states.is_empty() {
        say(
            "No MCP servers are configured. Add one with: tillerman mcp add NAME PROGRAM [ARGUMENTS]",
        );
    }
    for state in &states {
        say(&line(state));
    }
    Ok(0)
}

async fn get(order: &SessionOrder, name: &str) -> Result<u8, StartFailure> {
    let states = tried(order, Some(name)).await?;
    let Some(state) = states.first() else {
        return Err(StartFailure::usage(format!("There is no MCP server called {name}.")));
    };
    say(&line(state));
    let config = serde_json::to_string_pretty(&state.config).unwrap_or_default();
    say(&format!("scope: {}\nconfiguration: {config}", state.scope.as_deref().unwrap_or("")));
    for tool in state.tools.iter().flatten() {
        let about = tool.description.as_deref().unwrap_or_default();
        say(&format!("tool {}: {}", tool.name, about.lines().next().unwrap_or_default()));
    }
    Ok(0)
}

/// Connects to the configured servers once and says how that went.
async fn tried(
    order: &SessionOrder,
    only: Option<&str>,
) -> Result<Vec<McpServerStatus>, StartFailure> {
    let (environment, cwd) = (&order.environment, &order.cwd);
    let layers = settings::of_session(order, environment, cwd)?;
    // A person at the keyboard looks at their own files; a repository's are shown and not started.
    let mut scopes = vec![McpScope::Local, McpScope::User];
    if layers.runs(Source::Project) {
        scopes.push(McpScope::Project);
    } else {
        mention_project(environment, cwd, only);
    }
    let mut found = servers::configured(environment, &layers, cwd, &scopes);
    found.retain(|server| only.is_none_or(|name| server.name == name));
    let found: Vec<NamedServer> = found
        .into_iter()
        .map(|server| NamedServer { patience: Patience::Required, ..server })
        .collect();
    let scratch = environment.temp_dir();
    let hub = McpHub::start(servers::hub_config(order, environment, &layers, cwd, scratch), found);
    hub.ready().await;
    let states = hub.status();
    if tokio::time::timeout(LEAVE, hub.shut_down()).await.is_err() {
        tracing::warn!("an MCP server did not end in time and was killed");
    }
    Ok(states)
}

fn mention_project(environment: &Environment, cwd: &Path, only: Option<&str>) {
    let found = find_servers(&servers::places(environment, cwd), &[McpScope::Project]);
    for server in found.servers.iter().filter(|it| only.is_none_or(|name| it.name == name)) {
        say(&format!(
            "{}: named by this project's .mcp.json and not tried; --setting-sources project trusts it",
            server.name
        ));
    }
}

fn line(state: &McpServerStatus) -> String {
    let text = |name: &str| {
        let config = serde_json::to_value(&state.config).unwrap_or_default();
        config.get(name).and_then(Value::as_str).map(str::to_owned)
    };
    let target = text("url").or_else(|| text("command")).unwrap_or_default();
    let why = state.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    format!("{}: {target} - {}{why}", state.name, state.status)
}

fn say(text: &str) {
    drop(writeln!(std::io::stdout(), "{text}"));
}
