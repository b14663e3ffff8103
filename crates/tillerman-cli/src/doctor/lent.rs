//! What `tillerman doctor` says about credentials that the settings lend to commands.

use std::path::Path;

use tillerman_assembly::{Environment, lending};
use tillerman_config::Layers;

use super::SANDBOX;
use super::report::{Report, Row};

/// Tells of each credential by its name, and whether it can be read. What was read is forgotten.
pub(super) fn examine(report: &mut Report, environment: &Environment, layers: &Layers, cwd: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let examined = match runtime {
        Ok(runtime) => runtime.block_on(lending::examine(environment, layers, cwd)),
        Err(error) => {
            let meaning = format!("they could not be looked at: {error}");
            return report.add(Row::bad(SANDBOX, "lent", meaning, "try again"));
        }
    };
    // Settings that make no sense are told of where they are read.
    for credential in examined.unwrap_or_default() {
        let (name, hosts) = (&credential.name, credential.hosts.join(", "));
        report.add(match credential.unreadable {
            None => Row::ok(SANDBOX, "lent", format!("{name} can be read, for {hosts}")),
            Some(why) => Row::bad(
                SANDBOX,
                "lent",
                format!("{name} cannot be read: {why}"),
                "mend it, or take it out of sandbox.credentials",
            ),
        });
    }
    if let Ok(Some(text)) = lending::obstacle(layers) {
        let (meaning, advice) = text.split_once(". ").unwrap_or((&text, ""));
        report.add(Row::note(SANDBOX, "lent", meaning, advice));
    }
}
