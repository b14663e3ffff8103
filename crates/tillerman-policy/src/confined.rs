//! What a sandbox changes about a shell command's permission.

use std::path::PathBuf;

use serde_json::Value;
use tillerman_protocol::sandbox::SandboxSettings;

use crate::call::Facts;
use crate::guard::Guarded;
use crate::place::{Place, Unseen};
use crate::policy::Policy;
use crate::rule::{Matter, Rule};
use crate::shell_call::ShellCall;
use crate::verdict::Runs;

impl Policy {
    /// Where a command runs, in a session that confines its commands.
    pub(crate) fn runs(&self, facts: &Facts<'_>, call: &ShellCall<'_>) -> Runs {
        let Some(sandbox) = &self.sandbox else { return Runs::Confined };
        let asks_for_freedom =
            facts.input.get("dangerouslyDisableSandbox") == Some(&Value::Bool(true));
        if asks_for_freedom && sandbox.allows_unsandboxed() {
            return Runs::Free;
        }
        // What cannot be read whole could hold a part that nobody excluded.
        let is_clear = call.script.readable && call.script.doubt.is_none();
        let parts = call.script.commands.iter().map(|simple| simple.text.as_str());
        if is_clear && sandbox.excludes(parts) { Runs::Free } else { Runs::Confined }
    }

    /// Whether being confined is approval enough.
    pub(crate) fn vouches(&self, facts: &Facts<'_>, call: &ShellCall<'_>) -> bool {
        let auto_allows = self.sandbox.as_ref().is_some_and(SandboxSettings::auto_allows);
        auto_allows && self.runs(facts, call) == Runs::Confined
    }

    /// Paths that deny rules about reading name outright, for a sandbox to hide.
    #[must_use]
    pub fn unreadable_paths(&self) -> Vec<PathBuf> {
        self.denied_paths("Read")
    }

    /// Paths that the host guards or that deny rules about editing name outright, for a sandbox to
    /// keep as they are.
    #[must_use]
    pub fn unwritable_paths(&self) -> Vec<PathBuf> {
        let guarded = self.guard.guarded.iter().flat_map(|guarded| match guarded {
            Guarded::Path(path) => vec![path.clone()],
            Guarded::Name(name) | Guarded::Fragment(name) => {
                self.directories.iter().map(|directory| directory.join(name)).collect()
            }
        });
        guarded.chain(self.denied_paths("Edit")).collect()
    }

    /// Domains that rules let tools fetch from, for a sandbox to let commands reach.
    #[must_use]
    pub fn fetchable_domains(&self) -> Vec<String> {
        domains(&self.allow)
    }

    /// Domains that rules keep tools from.
    #[must_use]
    pub fn unfetchable_domains(&self) -> Vec<String> {
        domains(&self.deny)
    }

    fn denied_paths(&self, tool: &str) -> Vec<PathBuf> {
        let place =
            Place { directories: &self.directories, home: self.home.as_deref(), disk: &Unseen };
        let about = self.deny.iter().filter(|rule| rule.tool() == tool);
        about
            .flat_map(|rule| match &rule.matter {
                Matter::Path(pattern) => pattern.plain_paths(&place, rule.source.as_deref()),
                _ => Vec::new(),
            })
            .collect()
    }
}

fn domains(rules: &[Rule]) -> Vec<String> {
    let about = rules.iter().filter(|rule| rule.tool() == "WebFetch");
    about
        .filter_map(|rule| match &rule.matter {
            Matter::Domain(domain) => Some(domain.clone()),
            _ => None,
        })
        .collect()
}
