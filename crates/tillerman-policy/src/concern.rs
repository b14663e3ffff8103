//! Whether a rule is about a call, for those who ask without judging.

use crate::call::Facts;
use crate::path_pattern::Side;
use crate::place::Place;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::shell_call::ShellCall;

impl Policy {
    /// Whether a rule is about a call, or about a part of its command. Where nobody can tell, it is.
    #[must_use]
    pub fn concerns(&self, rule: &Rule, facts: &Facts<'_>) -> bool {
        let place =
            Place { directories: &self.directories, home: self.home.as_deref(), disk: facts.disk };
        let Some(command) = facts.command() else {
            return rule.fits(facts, &facts.paths(&place), &place, Side::Restrict);
        };
        if !rule.is_about(facts.tool, Side::Restrict) {
            return false;
        }
        let call = ShellCall::read(facts, command, place, &self.guard);
        call.restricted(std::slice::from_ref(rule)).is_some() || rule.fits_parameter(facts)
    }
}
