//! The one order in which guard, rules, modes and hooks decide about a call.

use std::path::Path;

use tillerman_protocol::permission::{PermissionMode, PermissionUpdate};

use crate::call::{Facts, Family};
use crate::guard::shown;
use crate::hidden;
use crate::path_pattern::Side;
use crate::place::{Names, OtherNames, Place};
use crate::policy::{Policy, tools_off_in};
use crate::protected::is_protected;
use crate::rule::Rule;
use crate::suggest;
use crate::verdict::{Before, Ruling, Runs, Verdict};

impl Policy {
    /// Judges a call in the one order: guard, deny, ask, mode, allow, question.
    ///
    /// `auto` is judged like `default`: no classifier runs here, so what it would decide is asked.
    #[must_use]
    pub fn judge(&self, facts: &Facts<'_>, mode: PermissionMode, before: Before) -> Ruling {
        let place =
            Place { directories: &self.directories, home: self.home.as_deref(), disk: facts.disk };
        match facts.command() {
            Some(command) => self.judge_shell(facts, command, place, mode, before),
            None => self.judge_tool(facts, &place, mode, before),
        }
    }

    fn judge_tool(
        &self,
        facts: &Facts<'_>,
        place: &Place<'_>,
        mode: PermissionMode,
        before: Before,
    ) -> Ruling {
        let paths = facts.paths(place);
        let tool = facts.tool;
        if !facts.only_looks
            && let Some(guarded) = paths.iter().find(|names| self.guard.covers(names))
        {
            let path = shown(guarded.shown(), place);
            return guarded_ruling(format!("Cannot modify protected file: {path}"));
        }
        let first = |rules: &'_ [Rule], side| {
            rules.iter().find(|rule| rule.fits(facts, &paths, place, side)).map(ToString::to_string)
        };
        if let Some(rule) = first(&self.deny, Side::Restrict) {
            return denied_by(tool, &rule);
        }
        if tools_off_in(mode).contains(&tool) {
            let reason = format!("{tool} is off in {} mode", mode.as_str());
            return denied(format!("{tool} was not run: {reason}."), "mode", reason);
        }
        if before == Before::Approved {
            return allowed("somebody approved it");
        }
        let question = |reason: String| self.question(facts, place, &paths, mode, reason);
        if let Some(rule) = first(&self.ask, Side::Restrict) {
            return question(format!("the ask rule {rule}"));
        }
        if before == Before::HookAsked {
            return question("a hook wants it to be asked".to_owned());
        }
        if tool == "AskUserQuestion" {
            return question("it is a question for a person".to_owned());
        }
        if mode == PermissionMode::BypassPermissions {
            return allowed("bypassPermissions mode");
        }
        if self.only_looks_inside(facts, place, &paths) {
            return allowed("it only looks");
        }
        let keeps = self.keeps_all(facts, place, &paths);
        if keeps && facts.only_looks {
            return allowed("the agent keeps it itself");
        }
        if mode == PermissionMode::Plan && !facts.only_looks {
            return question("plan mode only looks".to_owned());
        }
        if keeps {
            return allowed("the agent keeps it itself");
        }
        if before == Before::HookAllowed {
            return allowed("a hook allows it");
        }
        if let Some(reason) = self.unapprovable(facts, place, &paths) {
            return question(reason);
        }
        if mode == PermissionMode::AcceptEdits
            && facts.family() == Family::Edit
            && is_inside(place, &paths)
        {
            return allowed("acceptEdits mode");
        }
        match first(&self.allow, Side::Allow) {
            Some(rule) => allowed(&format!("the allow rule {rule}")),
            None => question(without_rule(place, &paths)),
        }
    }

    fn only_looks_inside(&self, facts: &Facts<'_>, place: &Place<'_>, paths: &[Names]) -> bool {
        let leaves_the_machine = matches!(facts.tool, "WebFetch" | "WebSearch");
        let looks = facts.only_looks || facts.watches_task();
        looks && !leaves_the_machine && paths.iter().all(|names| place.contains(names))
    }

    /// Whether a file tool stays within what the agent keeps itself.
    fn keeps_all(&self, facts: &Facts<'_>, place: &Place<'_>, paths: &[Names]) -> bool {
        let is_about_files = facts.only_looks || facts.family() == Family::Edit;
        let is_kept = |path: &Path| {
            let below = self.keeps.iter().find_map(|kept| path.strip_prefix(kept).ok());
            below.is_some_and(|below| {
                !is_protected(below) && hidden::find(&below.to_string_lossy()).is_none()
            })
        };
        let has_one_name = |names: &Names| {
            facts.only_looks || place.disk.other_names(names.shown()) != OtherNames::Some
        };
        is_about_files
            && !paths.is_empty()
            && paths.iter().all(|names| names.all(is_kept) && has_one_name(names))
    }

    /// Writes that neither a mode nor a rule approves.
    fn unapprovable(
        &self,
        facts: &Facts<'_>,
        place: &Place<'_>,
        paths: &[Names],
    ) -> Option<String> {
        if facts.only_looks || facts.family() != Family::Edit {
            return None;
        }
        let path = |names: &Names| shown(names.shown(), place);
        if let Some(names) = paths.iter().find(|names| names.any(is_protected)) {
            return Some(format!("{} is protected", path(names)));
        }
        if let Some(names) =
            paths.iter().find(|names| place.disk.other_names(names.shown()) == OtherNames::Some)
        {
            return Some(format!("{} has another name, which may be protected", path(names)));
        }
        paths
            .iter()
            .find_map(|names| hidden::find(&names.shown().to_string_lossy()))
            .map(|found| format!("its path contains a hidden character ({found})"))
    }

    fn question(
        &self,
        facts: &Facts<'_>,
        place: &Place<'_>,
        paths: &[Names],
        mode: PermissionMode,
        reason: String,
    ) -> Ruling {
        let outside = paths.iter().find(|names| !place.contains(names));
        let blocked_path = outside.map(|names| names.shown().display().to_string());
        let suggestions = suggest::for_tool(facts, paths, place);
        asked(facts.tool, mode, reason, blocked_path, suggestions)
    }
}

fn is_inside(place: &Place<'_>, paths: &[Names]) -> bool {
    !paths.is_empty() && paths.iter().all(|names| place.contains(names))
}

fn without_rule(place: &Place<'_>, paths: &[Names]) -> String {
    match paths.iter().find(|names| !place.contains(names)) {
        Some(names) => format!("{} lies outside the working directories", names.shown().display()),
        None => "no rule allows it".to_owned(),
    }
}

/// Approves.
pub(crate) fn allowed(reason: &str) -> Ruling {
    Ruling {
        verdict: Verdict::Allow,
        reason: reason.to_owned(),
        parts: Vec::new(),
        run_with: Vec::new(),
        runs: Runs::Confined,
    }
}

/// Refuses.
pub(crate) fn denied(message: String, by: &'static str, reason: String) -> Ruling {
    Ruling {
        verdict: Verdict::Deny { message, by },
        reason,
        parts: Vec::new(),
        run_with: Vec::new(),
        runs: Runs::Confined,
    }
}

/// Refuses because of a rule.
pub(crate) fn denied_by(tool: &str, rule: &str) -> Ruling {
    denied(
        format!("{tool} was not run: a deny rule ({rule}) forbids it."),
        "rule",
        format!("the deny rule {rule}"),
    )
}

/// Refuses because of the guard; the text is fixed.
pub(crate) fn guarded_ruling(message: String) -> Ruling {
    let reason = format!("the host guards it: {message}");
    denied(message, "safetyCheck", reason)
}

/// Asks, or refuses where nobody may be asked.
pub(crate) fn asked(
    tool: &str,
    mode: PermissionMode,
    reason: String,
    blocked_path: Option<String>,
    suggestions: Vec<PermissionUpdate>,
) -> Ruling {
    if mode == PermissionMode::DontAsk {
        let message =
            format!("{tool} was not run: {reason}, and this session never asks (dontAsk mode).");
        return denied(message, "mode", format!("dontAsk mode: {reason}"));
    }
    Ruling {
        verdict: Verdict::Ask { reason: reason.clone(), blocked_path, suggestions },
        reason,
        parts: Vec::new(),
        run_with: Vec::new(),
        runs: Runs::Confined,
    }
}
