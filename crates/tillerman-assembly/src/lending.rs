//! Credentials that confined commands use without seeing them, from settings to what is lent.

use std::path::Path;
use std::sync::Arc;

use tillerman_config::Layers;
use tillerman_policy::Policy;
use tillerman_protocol::sandbox::{CredentialFrom, CredentialSettings, SandboxSettings};
use tillerman_runtime::Secrets;
use tillerman_sandbox::egress::DomainRules;
use tillerman_sandbox::{LentCredential, SecretSource as _};

use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::lent_secret::LentSource;
use crate::rules;

/// A name that hosts of repositories take with a token for a password.
const USUAL_USERNAME: &str = "x-access-token";

/// A credential of the settings, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExaminedCredential {
    /// What people call it.
    pub name: String,
    /// The hosts it is for.
    pub hosts: Vec<String>,
    /// Why it cannot be read, if so.
    pub unreadable: Option<String>,
}

/// Reads every credential of the settings once and forgets it. Commands that print one are run.
///
/// # Errors
/// When what settings say about the sandbox cannot be read.
///
/// # Cancel safety
/// Dropping the future ends what was started.
pub async fn examine(
    environment: &Environment,
    layers: &Layers,
    cwd: &Path,
) -> Result<Vec<ExaminedCredential>, StartFailure> {
    let environment = environment.overlaid(layers.own_variables()).withholding(withheld(layers)?);
    let mut examined = Vec::new();
    for credential in &sandbox(layers)?.credentials {
        let source = source(credential, &environment, cwd, &Secrets::default());
        examined.push(ExaminedCredential {
            name: credential.name.clone(),
            hosts: credential.hosts.clone(),
            unreadable: source.reveal().await.err(),
        });
    }
    Ok(examined)
}

/// Why credentials of the settings are not lent, if any is not, and what to do about it.
///
/// # Errors
/// When what settings say about the sandbox cannot be read.
pub fn obstacle(layers: &Layers) -> Result<Option<String>, StartFailure> {
    let policy = Policy {
        allow: rules::allowing(&layers.allow()),
        deny: rules::restricting(&layers.deny()),
        ..Policy::default()
    };
    obstacle_under(&policy, layers)
}

/// The same in a session with these rules.
pub(crate) fn obstacle_under(
    policy: &Policy,
    layers: &Layers,
) -> Result<Option<String>, StartFailure> {
    let settings = sandbox(layers)?;
    let names: Vec<&str> = settings.credentials.iter().map(|it| it.name.as_str()).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let names = names.join(", ");
    let network = &settings.network;
    if !settings.is_enabled() {
        return Ok(Some(format!(
            "The settings lend credentials ({names}), but commands are not confined, so none is \
             lent. Switch sandbox.enabled on, or take sandbox.credentials out."
        )));
    }
    if network.http_proxy_port.is_some() || network.socks_proxy_port.is_some() {
        return Ok(Some(format!(
            "The settings lend credentials ({names}), but a proxy of your own carries the traffic, \
             so none is lent. Take sandbox.network.httpProxyPort and socksProxyPort out, or \
             sandbox.credentials."
        )));
    }
    let allowed = [network.allowed_domains.clone(), policy.fetchable_domains()].concat();
    let denied = [network.denied_domains.clone(), policy.unfetchable_domains()].concat();
    // A rule that is no domain has the sandbox refuse to start, and says so itself.
    let rules = DomainRules::parse(&allowed, &denied).unwrap_or_default();
    let hosts = settings.credentials.iter().flat_map(|it| &it.hosts);
    let closed: Vec<&str> =
        hosts.filter(|host| !rules.lets_through(host)).map(String::as_str).collect();
    Ok((!closed.is_empty()).then(|| {
        format!(
            "The settings lend credentials for hosts that commands may not reach: {}. Add them to \
             sandbox.network.allowedDomains, or take them out of sandbox.credentials.",
            closed.join(", ")
        )
    }))
}

/// The variables that hold a credential or what stands for it, which children do not inherit.
pub(crate) fn withheld(layers: &Layers) -> Result<Vec<String>, StartFailure> {
    let settings = sandbox(layers)?;
    let names = settings.credentials.iter().flat_map(CredentialSettings::variables);
    Ok(names.map(str::to_owned).collect())
}

/// The files that hold credentials, which nothing inside may read.
pub(crate) fn files(settings: &SandboxSettings) -> impl Iterator<Item = String> {
    settings.credentials.iter().filter_map(|credential| match &credential.from {
        CredentialFrom::File(path) => Some(path.clone()),
        CredentialFrom::Environment(_) | CredentialFrom::Command(_) => None,
    })
}

/// What is lent to the commands of a session.
pub(crate) fn credentials(
    settings: &SandboxSettings,
    environment: &Environment,
    cwd: &Path,
    secrets: &Secrets,
) -> Vec<LentCredential> {
    let lend = |credential: &CredentialSettings| {
        let source = source(credential, environment, cwd, secrets);
        source.announce();
        LentCredential {
            name: credential.name.clone(),
            hosts: credential.hosts.clone(),
            variables: credential.environment.clone(),
            username: username(credential).to_owned(),
            source: Arc::new(source),
        }
    };
    settings.credentials.iter().map(lend).collect()
}

fn source(
    credential: &CredentialSettings,
    environment: &Environment,
    cwd: &Path,
    secrets: &Secrets,
) -> LentSource {
    LentSource::new(&credential.from, username(credential), environment, cwd, secrets)
}

fn username(credential: &CredentialSettings) -> &str {
    credential.username.as_deref().unwrap_or(USUAL_USERNAME)
}

fn sandbox(layers: &Layers) -> Result<SandboxSettings, StartFailure> {
    layers.sandbox().map_err(|error| StartFailure::usage(error.to_string()))
}
