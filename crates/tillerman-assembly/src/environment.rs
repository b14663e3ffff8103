//! The environment variables that a session goes by.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A snapshot of environment variables, given by whoever orders a session.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
    /// Names that children do not get, besides those that nobody's children do.
    withheld: Vec<String>,
}

impl Environment {
    /// The environment with these variables.
    #[must_use]
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.into_iter().collect(), withheld: Vec::new() }
    }

    /// What the user's own helper sees: every variable, credentials of providers included, but for
    /// what is lent.
    pub(crate) fn for_helpers(&self) -> Vec<(OsString, OsString)> {
        let may_see = |name: &OsString| self.withheld.iter().all(|held| *name != **held);
        self.variables.iter().filter(|(name, _)| may_see(name)).cloned().collect()
    }

    /// The environment with variables of settings over it. Where settings themselves lie was
    /// decided before they were read.
    #[must_use]
    pub fn overlaid(&self, variables: Vec<(String, String)>) -> Self {
        let mut all = self.variables.clone();
        for (name, value) in variables {
            if matches!(name.as_str(), "CLAUDE_CONFIG_DIR" | "HOME") {
                continue;
            }
            all.retain(|(held, _)| *held != *name);
            all.push((name.into(), value.into()));
        }
        Self { variables: all, withheld: self.withheld.clone() }
    }

    /// The environment with further names that children do not get.
    pub(crate) fn withholding(mut self, names: Vec<String>) -> Self {
        self.withheld.extend(names);
        self
    }

    /// Whether children may get a variable of this name.
    pub(crate) fn passes_on(&self, name: &str) -> bool {
        tillerman_policy::keep_variable(name) && self.withheld.iter().all(|held| held != name)
    }

    /// A variable that is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(key, _)| key == name);
        found
            .and_then(|(_, value)| value.to_str())
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
    }

    /// Whether a switch is on.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| matches!(value.as_str(), "1" | "true" | "yes" | "on"))
    }

    /// A variable that holds a number.
    #[must_use]
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// A variable that holds milliseconds.
    pub(crate) fn millis(&self, name: &str) -> Option<Duration> {
        self.number(name).map(Duration::from_millis)
    }

    /// Where sessions and settings lie.
    #[must_use]
    pub fn config_dir(&self) -> PathBuf {
        let home =
            || PathBuf::from(self.get("HOME").unwrap_or_else(|| "/".to_owned())).join(".claude");
        self.get("CLAUDE_CONFIG_DIR").map_or_else(home, PathBuf::from)
    }

    /// Where temporary files go.
    #[must_use]
    pub fn temp_dir(&self) -> PathBuf {
        self.get("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
    }

    /// Everything that children may see.
    pub(crate) fn for_children(&self) -> Vec<(OsString, OsString)> {
        let may_see = |name: &OsString| name.to_str().is_none_or(|name| self.passes_on(name));
        self.variables.iter().filter(|(name, _)| may_see(name)).cloned().collect()
    }
}

/// Names alone: values may be credentials, and orders are printed when something goes wrong.
impl std::fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.variables.iter().map(|(name, _)| name)).finish()
    }
}
