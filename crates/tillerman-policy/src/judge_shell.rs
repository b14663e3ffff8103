//! The same order for shell commands, part by part.

use tillerman_protocol::permission::PermissionMode;

use crate::call::Facts;
use crate::judge::{allowed, asked, denied_by, guarded_ruling};
use crate::place::Place;
use crate::policy::Policy;
use crate::shell::{self, Hit};
use crate::shell_call::ShellCall;
use crate::shell_parts::Standing;
use crate::suggest;
use crate::verdict::{Before, Part, Ruling};

impl Policy {
    pub(crate) fn judge_shell(
        &self,
        facts: &Facts<'_>,
        command: &str,
        place: Place<'_>,
        mode: PermissionMode,
        before: Before,
    ) -> Ruling {
        let call = ShellCall::read(facts, command, place, &self.guard);
        let standings: Vec<Standing> = (0..call.script.commands.len())
            .map(|at| call.standing(at, mode, &self.allow))
            .collect();
        let mut parts = report(&call, &standings);
        let mut mark = |at: Option<usize>, verdict: &'static str, reason: &str| {
            if let Some(part) = at.and_then(|at| parts.get_mut(at)) {
                part.verdict = verdict;
                reason.clone_into(&mut part.reason);
            }
        };
        let runs = self.runs(facts, &call);
        let ruling = self.decide(facts, &call, &standings, mode, before, &mut mark);
        // Git that a rule or the mode lets run needs its hooks and transports.
        let mut git_parts = standings
            .iter()
            .zip(&call.script.commands)
            .filter(|(_, simple)| shell::runs_git(simple))
            .peekable();
        let neutral = mode != PermissionMode::BypassPermissions
            && git_parts.peek().is_some()
            && git_parts.all(|(standing, _)| *standing == Standing::Looks);
        let run_with = shell::NEUTRAL_GIT
            .iter()
            .filter(|_| neutral)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Ruling { parts, run_with, runs, ..ruling }
    }

    fn decide(
        &self,
        facts: &Facts<'_>,
        call: &ShellCall<'_>,
        standings: &[Standing],
        mode: PermissionMode,
        before: Before,
        mark: &mut dyn FnMut(Option<usize>, &'static str, &str),
    ) -> Ruling {
        if let Some((at, path)) = call.guarded() {
            mark(at, "deny", "it writes a guarded file");
            return guarded_ruling(format!(
                "Cannot modify protected files via shell commands: {path}"
            ));
        }
        let parameter = |rules: &[crate::Rule]| {
            rules
                .iter()
                .find(|rule| {
                    rule.is_about(facts.tool, crate::path_pattern::Side::Restrict)
                        && rule.fits_parameter(facts)
                })
                .map(ToString::to_string)
        };
        let denying = call.restricted(&self.deny);
        let denied = denying.as_ref().filter(|found| found.hit == Hit::Yes);
        if let Some(rule) =
            denied.map(|found| found.rule.to_string()).or_else(|| parameter(&self.deny))
        {
            mark(denied.and_then(|found| found.part), "deny", &format!("the deny rule {rule}"));
            return denied_by(facts.tool, &rule);
        }
        if before == Before::Approved {
            return allowed("somebody approved it");
        }
        let asks = |reason: String| asked(facts.tool, mode, reason, None, Vec::new());
        if let Some(found) = denying {
            let reason = format!("the deny rule {} may forbid it, and nobody can tell", found.rule);
            mark(found.part, "ask", &reason);
            return asks(reason);
        }
        // To be confined is answer enough to a rule that asks about every command.
        let asking = call
            .restricted(&self.ask)
            .filter(|found| found.rule.content().is_some() || !self.vouches(facts, call));
        if let Some(rule) =
            asking.as_ref().map(|found| found.rule.to_string()).or_else(|| parameter(&self.ask))
        {
            let reason = format!("the ask rule {rule}");
            mark(asking.and_then(|found| found.part), "ask", &reason);
            return asks(reason);
        }
        if before == Before::HookAsked {
            return asks("a hook wants it to be asked".to_owned());
        }
        if let Some((at, path)) = call.critical() {
            let reason = format!("it may remove {path}, which only a person approves");
            mark(Some(at), "ask", &reason);
            return asks(reason);
        }
        if let Some((at, name)) = call.mentions_guarded() {
            let reason = format!(
                "it is about {name}, which is guarded, and nobody can tell whether it writes it"
            );
            mark(Some(at), "ask", &reason);
            return asks(reason);
        }
        self.approve(facts, call, standings, mode, before)
    }

    /// Mode, allow rules and hooks, once nothing forbids the command.
    fn approve(
        &self,
        facts: &Facts<'_>,
        call: &ShellCall<'_>,
        standings: &[Standing],
        mode: PermissionMode,
        before: Before,
    ) -> Ruling {
        if mode == PermissionMode::BypassPermissions {
            return allowed("bypassPermissions mode");
        }
        let has_parts = !standings.is_empty();
        if has_parts && standings.iter().all(|standing| *standing == Standing::Looks) {
            return allowed("it only looks");
        }
        if mode == PermissionMode::Plan {
            return asked(facts.tool, mode, "plan mode only looks".to_owned(), None, Vec::new());
        }
        if before == Before::HookAllowed {
            return allowed("a hook allows it");
        }
        if self.vouches(facts, call) {
            return allowed("the sandbox confines it");
        }
        let open = standings.iter().enumerate().find_map(|(at, standing)| match standing {
            Standing::Open(reason) => Some((at, reason)),
            _ => None,
        });
        match open {
            None if has_parts => allowed(&approval(standings)),
            None => asked(
                facts.tool,
                mode,
                call.script.doubt.clone().unwrap_or_else(|| "there is no command in it".to_owned()),
                None,
                Vec::new(),
            ),
            Some((at, reason)) => {
                let text = &call.script.commands[at].text;
                let reason = if standings.len() > 1 {
                    format!("`{}`: {reason}", shortened(text))
                } else {
                    reason.clone()
                };
                let suggestions = if call.script.doubt.is_some() {
                    Vec::new()
                } else {
                    self.suggestions(call, standings)
                };
                asked(facts.tool, mode, reason, call.outside(at), suggestions)
            }
        }
    }

    fn suggestions(
        &self,
        call: &ShellCall<'_>,
        standings: &[Standing],
    ) -> Vec<tillerman_protocol::permission::PermissionUpdate> {
        let open: Vec<_> = standings
            .iter()
            .zip(&call.script.commands)
            .filter(|(standing, _)| matches!(standing, Standing::Open(_)))
            .map(|(_, simple)| simple)
            .collect();
        let protected = open.iter().any(|simple| {
            shell::targets(simple).iter().any(|target| call.is_protected(target, simple))
        });
        if protected { Vec::new() } else { suggest::for_parts(&open) }
    }
}

fn approval(standings: &[Standing]) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for standing in standings {
        let reason = match standing {
            Standing::Rule(rule) => format!("the allow rule {rule}"),
            Standing::Edits => "acceptEdits mode or an Edit rule".to_owned(),
            Standing::Looks | Standing::Open(_) => continue,
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons.join(", ")
}

fn report(call: &ShellCall<'_>, standings: &[Standing]) -> Vec<Part> {
    let describe = |(simple, standing): (&shell::Simple, &Standing)| {
        let (verdict, reason) = match standing {
            Standing::Looks => ("allow", "it only looks".to_owned()),
            Standing::Edits => ("allow", "acceptEdits mode or an Edit rule".to_owned()),
            Standing::Rule(rule) => ("allow", format!("the allow rule {rule}")),
            Standing::Open(reason) => ("ask", reason.clone()),
        };
        Part { text: simple.text.clone(), verdict, reason, writes: call.written(simple) }
    };
    call.script.commands.iter().zip(standings).map(describe).collect()
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= 80 {
        line.to_owned()
    } else {
        format!("{}…", line.chars().take(80).collect::<String>())
    }
}
