//! A made-up workspace for judging calls in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tillerman_policy::{
    Before, Disk, Facts, Guard, Guarded, OtherNames, Policy, Rule, Ruling, Runs,
};
use tillerman_protocol::permission::PermissionMode;

/// A workspace, what it holds, and who decided what.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) policy: Policy,
    pub(crate) mode: PermissionMode,
    pub(crate) before: Before,
    pub(crate) disk: Links,
}

/// A disk on which some names lead elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    pub(crate) links: HashMap<PathBuf, PathBuf>,
    pub(crate) with_other_names: Vec<PathBuf>,
    pub(crate) names_programs: bool,
}

impl Disk for Links {
    fn resolve(&self, path: &Path) -> PathBuf {
        let mut resolved = PathBuf::new();
        for part in path.components() {
            resolved.push(part);
            if let Some(target) = self.links.get(&resolved) {
                resolved.clone_from(target);
            }
        }
        resolved
    }

    fn other_names(&self, path: &Path) -> OtherNames {
        if self.with_other_names.iter().any(|known| known == path) {
            OtherNames::Some
        } else {
            OtherNames::None
        }
    }

    fn repository_names_programs(&self, _directory: &Path) -> bool {
        self.names_programs
    }
}

/// `/mnt/w` with the home `/mnt/h`, in which CLAUDE.md, `.claude` and `.git` are guarded.
pub(crate) fn default_world() -> World {
    let guarded = ["CLAUDE.md", ".claude", ".git"].iter().map(|text| Guarded::read(text)).collect();
    World {
        policy: Policy {
            directories: vec![PathBuf::from("/mnt/w")],
            home: Some(PathBuf::from("/mnt/h")),
            guard: Guard { guarded },
            ..Policy::default()
        },
        mode: PermissionMode::Default,
        before: Before::Nothing,
        disk: Links::default(),
    }
}

/// The same without guarded files.
pub(crate) fn unguarded_world() -> World {
    let mut world = default_world();
    world.policy.guard = Guard::default();
    world
}

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| Rule::parse(text).unwrap()).collect()
}

impl World {
    pub(crate) fn mode(mut self, name: &str) -> Self {
        self.mode = PermissionMode::parse(name).unwrap();
        self
    }

    pub(crate) fn allow(mut self, texts: &[&str]) -> Self {
        self.policy.allow = rules(texts);
        self
    }

    pub(crate) fn deny(mut self, texts: &[&str]) -> Self {
        self.policy.deny = rules(texts);
        self
    }

    pub(crate) fn ask(mut self, texts: &[&str]) -> Self {
        self.policy.ask = rules(texts);
        self
    }

    pub(crate) fn after_hook_allow(mut self) -> Self {
        self.before = Before::HookAllowed;
        self
    }

    pub(crate) fn link(mut self, from: &str, to: &str) -> Self {
        self.disk.links.insert(PathBuf::from(from), PathBuf::from(to));
        self
    }

    pub(crate) fn ruling(&self, command: &str) -> Ruling {
        self.ruling_of("Bash", &json!({ "command": command }), false)
    }

    /// What is said about watching a command, apart from the name of the tool.
    pub(crate) fn watching(&self, command: &str) -> Told {
        let input = json!({"command": command, "description": "watch it"});
        told(&self.ruling_of("Monitor", &input, false))
    }

    pub(crate) fn ruling_of(&self, tool: &str, input: &Value, only_looks: bool) -> Ruling {
        let facts = Facts { tool, input, only_looks, disk: &self.disk };
        self.policy.judge(&facts, self.mode, self.before)
    }

    pub(crate) fn verdict_of(&self, tool: &str, input: &Value) -> &'static str {
        let only_looks = matches!(tool, "Read" | "Grep" | "Glob" | "WebFetch" | "WebSearch");
        self.ruling_of(tool, input, only_looks).verdict.name()
    }
}

/// What a ruling comes to: verdict, reason, where the command runs and with which variables.
pub(crate) type Told = (&'static str, String, Runs, Vec<(String, String)>);

pub(crate) fn told(ruling: &Ruling) -> Told {
    let Ruling { verdict, reason, runs, run_with, .. } = ruling;
    (verdict.name(), reason.clone(), *runs, run_with.clone())
}

/// Every command gets one of the verdicts, whether it is run or watched; all that do not are told
/// at once.
pub(crate) fn assert_all(commands: &[&str], world: &World, expected: &[&str]) {
    let wrong: Vec<String> = commands
        .iter()
        .filter_map(|command| {
            let ruling = world.ruling(command);
            let verdict = ruling.verdict.name();
            assert_eq!(world.watching(command), told(&ruling), "to watch {command:?}");
            (!expected.contains(&verdict))
                .then(|| format!("{verdict}: {command:?} ({})", ruling.reason))
        })
        .collect();
    assert!(wrong.is_empty(), "expected {expected:?}:\n{}", wrong.join("\n"));
}

/// The same with a rule that allows for each command.
pub(crate) fn assert_pairs(pairs: &[(&str, &str)], expected: &[&str]) {
    for (command, rule) in pairs {
        assert_all(&[command], &default_world().allow(&[rule]), expected);
    }
}
