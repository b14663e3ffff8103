//! What makes git ask for credentials to be lent, with nothing configured inside.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::loans::Broker;
use super::rewriting::basic_value;

const COUNT: &str = "GIT_CONFIG_COUNT";
/// Git refuses absurd counts; with one of those it would read nothing of ours either.
const MOST: usize = 10_000;

/// Adds to the settings that the environment already has for git: addresses of lent hosts lead to
/// the broker, and requests carry what stands for the credential.
pub(crate) fn configure(broker: &Broker, environment: &mut BTreeMap<OsString, OsString>) {
    let entries = entries(broker);
    if entries.is_empty() {
        return;
    }
    let count = environment.get(OsStr::new(COUNT)).and_then(|count| count.to_str()?.parse().ok());
    let before: usize = count.filter(|count| *count <= MOST).unwrap_or(0);
    environment.insert(COUNT.into(), (before + entries.len()).to_string().into());
    for (index, (key, value)) in entries.into_iter().enumerate() {
        let number = before + index;
        environment.insert(format!("GIT_CONFIG_KEY_{number}").into(), key.into());
        environment.insert(format!("GIT_CONFIG_VALUE_{number}").into(), value.into());
    }
}

fn entries(broker: &Broker) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    for service in &broker.services {
        // Of several credentials git can only use one.
        let Some(loan) = service.loans.first().and_then(|index| broker.loans.get(*index)) else {
            continue;
        };
        let authority = service.authority();
        let rewrite = format!("url.http://{authority}/.insteadOf");
        entries.push((rewrite.clone(), format!("https://{authority}/")));
        if service.is_usual() {
            // There are no keys for SSH inside, and most clones use it.
            entries.push((rewrite.clone(), format!("git@{authority}:")));
            entries.push((rewrite, format!("ssh://git@{authority}/")));
        }
        let value = basic_value(&loan.credential.username, &loan.sentinel);
        let header = format!("http.http://{authority}/.extraHeader");
        entries.push((header, format!("Authorization: {value}")));
    }
    entries
}

#[cfg(test)]
mod tests;
