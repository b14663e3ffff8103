//! MCP servers of a session: which ones there are, and the hub that owns them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tillerman_config::extensions::Plugin;
use tillerman_config::{FoundServer, Layers, McpPlaces, McpScope, Source, expand, find_servers};
use tillerman_mcp::{
    ClientIdentity, CredentialFiles, HubConfig, Limits, McpHub, NamedServer, Patience,
};
use tillerman_ports::Deferral;
use tillerman_protocol::mcp::McpServerConfig;

use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::order::{JsonSource, SessionOrder};
use crate::permission::working_directories;
use crate::{engine_setup, toolbox};

/// Roughly how many characters a token has.
const CHARS_PER_TOKEN: usize = 4;
/// Percent of the window that tools of servers may take before they are looked up.
const SHARE: u8 = 10;

/// Starts to connect to every server of the session.
pub(crate) fn start(
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
    cwd: &Path,
    scratch_directory: PathBuf,
    plugins: &[Plugin],
    of_agent: Vec<NamedServer>,
) -> Result<McpHub, StartFailure> {
    let mut servers = servers(order, environment, layers, cwd)?;
    servers.retain(|server| !of_agent.iter().any(|other| other.name == server.name));
    servers.extend(of_agent);
    if !order.extension.strict_mcp_config {
        servers.extend(plugins.iter().flat_map(|plugin| of_plugin(plugin, environment)));
    }
    if environment.get("MCP_CONNECTION_NONBLOCKING").is_some_and(|it| it == "0" || it == "false") {
        for server in &mut servers {
            server.patience = server.patience.max(Patience::Preferred);
        }
    }
    let config = hub_config(order, environment, layers, cwd, scratch_directory);
    let roots = working_directories(order, layers, cwd);
    Ok(McpHub::start(HubConfig { roots, ..config }, servers))
}

/// The user's file of servers and where the project's is looked for.
#[must_use]
pub fn places(environment: &Environment, cwd: &Path) -> McpPlaces {
    let beside_home = environment.get("HOME").map(PathBuf::from);
    let user_file = match (environment.get("CLAUDE_CONFIG_DIR"), beside_home) {
        (None, Some(home)) => home.join(".claude.json"),
        _ => environment.config_dir().join(".claude.json"),
    };
    McpPlaces { user_file, cwd: cwd.to_path_buf() }
}

/// Where the tokens of servers are kept.
#[must_use]
pub fn credential_files(environment: &Environment) -> CredentialFiles {
    CredentialFiles::new(environment.config_dir().join("mcp-credentials"))
}

/// What a hub is told about this machine.
#[must_use]
pub fn hub_config(
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
    cwd: &Path,
    scratch_directory: PathBuf,
) -> HubConfig {
    let usual = Limits::default();
    let tokens: Option<usize> = environment.number("MAX_MCP_OUTPUT_TOKENS");
    HubConfig {
        environment: toolbox::variables(order, environment, layers),
        cwd: cwd.to_path_buf(),
        scratch_directory,
        identity: identity(),
        limits: Limits {
            connect: environment.millis("MCP_TIMEOUT").unwrap_or(usual.connect),
            call: environment.millis("MCP_TOOL_TIMEOUT").unwrap_or(usual.call),
            output_chars: tokens
                .map_or(usual.output_chars, |tokens| tokens.saturating_mul(CHARS_PER_TOKEN)),
            ..usual
        },
        deferral: if toolbox::is_wanted(order, "ToolSearch") {
            deferral(environment)
        } else {
            Deferral::Never
        },
        approver: engine_setup::approver_tool(order),
        roots: vec![cwd.to_path_buf()],
        credentials: Some(credential_files(environment)),
    }
}

/// When tools are looked up. A foreign address is often a test or a gateway that expects every tool
/// in every request, so that only an explicit wish counts there.
fn deferral(environment: &Environment) -> Deferral {
    let wish = environment.get("ENABLE_TOOL_SEARCH").map(|wish| wish.to_lowercase());
    let address = environment.get("ANTHROPIC_BASE_URL");
    let is_foreign = address.is_some_and(|address| !address.contains("://api.anthropic.com"));
    match wish.as_deref() {
        None if is_foreign => Deferral::Never,
        None | Some("auto") => Deferral::Beyond(SHARE),
        Some("true" | "1" | "yes" | "on") => Deferral::Always,
        Some("false" | "0" | "no" | "off") => Deferral::Never,
        Some(other) => {
            let share = other.strip_prefix("auto:").and_then(|share| share.parse::<u8>().ok());
            match share.filter(|share| *share <= 100) {
                Some(0) => Deferral::Always,
                Some(100) => Deferral::Never,
                Some(share) => Deferral::Beyond(share),
                None => {
                    tracing::warn!(
                        "ENABLE_TOOL_SEARCH={other} is none of true, false, auto and auto:0 to \
                         auto:100; auto is used"
                    );
                    Deferral::Beyond(SHARE)
                }
            }
        }
    }
}

/// Who we are to servers and clients.
#[must_use]
pub fn identity() -> ClientIdentity {
    ClientIdentity { name: "tillerman".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// Servers of files, expanded; what cannot be used is said on standard error.
#[must_use]
pub fn configured(
    environment: &Environment,
    layers: &Layers,
    cwd: &Path,
    scopes: &[McpScope],
) -> Vec<NamedServer> {
    let found = find_servers(&places(environment, cwd), scopes);
    for problem in &found.problems {
        tracing::warn!("{problem}");
    }
    let blocked = blocked(layers);
    let is_blocked =
        |server: &FoundServer| server.scope == McpScope::Project && blocked.contains(&server.name);
    let usable = found.servers.into_iter().filter(|server| !is_blocked(server));
    usable.map(|server| named(server, environment)).collect()
}

/// All servers of the order and of files, those of plugins left out.
///
/// # Errors
/// When those of the order cannot be read.
pub fn servers(
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
    cwd: &Path,
) -> Result<Vec<NamedServer>, StartFailure> {
    let flags = &order.extension;
    let mut servers = BTreeMap::new();
    if !flags.strict_mcp_config {
        for server in configured(environment, layers, cwd, &scopes(order, layers)) {
            servers.insert(server.name.clone(), server);
        }
    }
    for source in &flags.mcp_config {
        for (name, mut config) in read(source, cwd)? {
            complain(&name, &expand(&mut config, &|name| environment.get(name)));
            let server = NamedServer {
                name: name.clone(),
                config: McpServerConfig::from(config),
                scope: "dynamic".to_owned(),
                // The host asked for it by name, so that the first prompt counts on it.
                patience: Patience::Required,
            };
            servers.insert(name, server);
        }
    }
    Ok(servers.into_values().collect())
}

/// Whose servers are used; a repository's only when it is trusted or the host named it.
fn scopes(order: &SessionOrder, layers: &Layers) -> Vec<McpScope> {
    let named = order.extension.setting_sources.as_ref();
    let is_read = |source: Source| named.is_none_or(|named| named.contains(&source));
    let mut scopes = Vec::new();
    if is_read(Source::Local) {
        scopes.push(McpScope::Local);
    }
    if is_read(Source::Project) && layers.runs(Source::Project) {
        scopes.push(McpScope::Project);
    }
    if is_read(Source::User) {
        scopes.push(McpScope::User);
    }
    scopes
}

fn named(server: FoundServer, environment: &Environment) -> NamedServer {
    let FoundServer { name, mut config, scope } = server;
    // A repository must not be able to have our own credentials sent anywhere.
    let may_see = |name: &str| scope != McpScope::Project || environment.passes_on(name);
    let lookup = |name: &str| environment.get(name).filter(|_| may_see(name));
    complain(&name, &expand(&mut config, &lookup));
    let is_preferred = config.get("alwaysLoad") == Some(&Value::Bool(true));
    NamedServer {
        name,
        config: McpServerConfig::from(config),
        scope: scope.as_str().to_owned(),
        patience: if is_preferred { Patience::Preferred } else { Patience::None },
    }
}

/// The servers that a plugin brings, under names that say so.
fn of_plugin(plugin: &Plugin, environment: &Environment) -> Vec<NamedServer> {
    let named = |(name, config): (&String, &Value)| {
        let name = format!("plugin:{}:{name}", plugin.name);
        let mut config = config.clone();
        let may_see = |name: &str| environment.passes_on(name);
        let lookup = |name: &str| environment.get(name).filter(|_| may_see(name));
        complain(&name, &expand(&mut config, &lookup));
        NamedServer {
            name,
            config: McpServerConfig::from(config),
            scope: "plugin".to_owned(),
            patience: Patience::None,
        }
    };
    plugin.mcp_servers.iter().map(named).collect()
}

fn complain(server: &str, missing: &[String]) {
    for name in missing {
        tracing::warn!("the MCP server {server} uses ${{{name}}}, which is not set");
    }
}

/// Servers of a project that settings forbid.
fn blocked(layers: &Layers) -> Vec<String> {
    let merged = layers.merged().value;
    let listed = merged.get("disabledMcpjsonServers").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The servers of one `--mcp-config`: a JSON object or a file that holds one.
fn read(source: &JsonSource, cwd: &Path) -> Result<Vec<(String, Value)>, StartFailure> {
    let invalid = |why: String| StartFailure::usage(format!("--mcp-config {source}: {why}"));
    let json = match source {
        JsonSource::Text(text) => text.clone(),
        JsonSource::File(path) => {
            std::fs::read_to_string(cwd.join(path)).map_err(|error| invalid(error.to_string()))?
        }
    };
    let config: Value = serde_json::from_str(&json).map_err(|error| invalid(error.to_string()))?;
    match config.get("mcpServers") {
        Some(Value::Object(servers)) => {
            Ok(servers.iter().map(|(name, config)| (name.clone(), config.clone())).collect())
        }
        Some(_) => Err(invalid("`mcpServers` is not an object".to_owned())),
        None => Ok(Vec::new()),
    }
}
