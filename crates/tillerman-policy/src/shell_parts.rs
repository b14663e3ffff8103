//! Which parts of a shell command are approved, and by what.

use tillerman_protocol::permission::PermissionMode;

use crate::path_pattern::Side;
use crate::place::OtherNames;
use crate::protected::is_protected;
use crate::rule::{Matter, Rule};
use crate::shell::{self, Launch, Simple, Target};
use crate::shell_call::{ShellCall, is_free};

/// What approves a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It only looks at what may be looked at.
    Looks,
    /// The mode approves such edits.
    Edits,
    /// A rule allows it.
    Rule(String),
    /// Nothing does.
    Open(String),
}

/// Variables that change how output looks and nothing else.
const SAFE_VARIABLES: [&str; 22] = [
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
    "TERM",
    "CI",
    "NODE_ENV",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "CARGO_TERM_COLOR",
    "PYTHONUNBUFFERED",
];

impl ShellCall<'_> {
    /// What approves a part in a mode, with these allow rules.
    pub(crate) fn standing(&self, at: usize, mode: PermissionMode, allow: &[Rule]) -> Standing {
        let simple = &self.script.commands[at];
        let targets = shell::targets(simple);
        let bare = allow.iter().find(|rule| {
            rule.matter == Matter::Everything && rule.is_about(self.tool, Side::Allow)
        });
        let protected = targets.iter().find(|target| self.is_protected(target, simple));
        let understood = self.understood(simple, mode, allow);
        match (understood, protected) {
            // A rule does not reach protected files, and neither do modes.
            (Standing::Rule(_) | Standing::Edits, Some(target))
            | (Standing::Open(_), Some(target)) => {
                Standing::Open(format!("it writes {}, which is protected", target.text))
            }
            (Standing::Open(reason), None) => match bare {
                Some(rule) if self.script.readable => Standing::Rule(rule.to_string()),
                _ => Standing::Open(reason),
            },
            (standing, _) => standing,
        }
    }

    fn understood(&self, simple: &Simple, mode: PermissionMode, allow: &[Rule]) -> Standing {
        let open = |reason: &str| Standing::Open(reason.to_owned());
        if let Some(doubt) = &self.script.doubt {
            return open(doubt);
        }
        if let Some(doubt) = simple.doubt {
            return open(doubt);
        }
        let Some(words) = shell::certain_words(simple) else {
            return self.without_words(simple, mode, allow);
        };
        if let Some((name, _)) =
            simple.assignments.iter().find(|(name, value)| !is_safe_variable(name, value.literal()))
        {
            return Standing::Open(format!("it sets {name}"));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (inner, only_rules) = behind_wrappers(&words);
        if let Err(reason) = self.redirections(simple, mode, allow) {
            return Standing::Open(reason);
        }
        let looked = if only_rules { None } else { shell::looks(simple, inner) };
        let reason = match looked {
            Some(looking) => match self.may_look(simple, &looking.reads) {
                Ok(()) => return Standing::Looks,
                Err(reason) => reason,
            },
            None => "no rule allows it".to_owned(),
        };
        if mode == PermissionMode::AcceptEdits && !only_rules && self.may_edit(simple, inner) {
            return Standing::Edits;
        }
        let is_certain = simple.literal_words().is_some();
        let rule = allow.iter().find(|rule| match &rule.matter {
            Matter::Command(pattern) => {
                is_certain && self.is_subject_to(rule) && pattern.covers(simple, inner)
            }
            _ => false,
        });
        rule.map_or(Standing::Open(reason), |rule| Standing::Rule(rule.to_string()))
    }

    /// The first file or directory of a part that lies outside the working directories.
    pub(crate) fn outside(&self, at: usize) -> Option<String> {
        let simple = &self.script.commands[at];
        let words = shell::certain_words(simple).unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (inner, _) = behind_wrappers(&words);
        let read = shell::looks(simple, inner).map(|looking| looking.reads).unwrap_or_default();
        let edited = shell::edits(inner).unwrap_or_default();
        let written = shell::targets(simple).into_iter().map(|target| target.text.clone());
        let mut paths = read.into_iter().chain(edited.into_iter().map(|it| it.path)).chain(written);
        let is_outside =
            |path: &String| !is_free(path) && !self.place.contains(&self.names(path, simple));
        let found = paths.find(is_outside)?;
        Some(self.names(&found, simple).shown().display().to_string())
    }

    /// A part that is nothing but redirections or assignments, or has words that are open.
    fn without_words(&self, simple: &Simple, mode: PermissionMode, allow: &[Rule]) -> Standing {
        let open = |reason: &str| Standing::Open(reason.to_owned());
        if !simple.words.is_empty() {
            return open("it has words that only running it would tell");
        }
        if !simple.assignments.is_empty() {
            return open("it sets variables of the shell");
        }
        if simple.redirects.iter().any(|redirect| redirect.input().is_some()) {
            return open("shells disagree about a redirection without a command");
        }
        self.redirections(simple, mode, allow).map_or_else(Standing::Open, |()| Standing::Edits)
    }

    /// Whether every path lies where looking is free.
    fn may_look(&self, simple: &Simple, reads: &[String]) -> Result<(), String> {
        if simple.directory.candidates.is_empty() {
            return Err("nobody can tell in which directory it runs".to_owned());
        }
        if simple.directory.moved && shell::runs_git(simple) {
            return Err("it runs git in another directory".to_owned());
        }
        if shell::runs_git(simple) && self.place.disk.repository_names_programs(self.place.cwd()) {
            return Err(
                "the repository's configuration names a program that git would run".to_owned()
            );
        }
        match reads
            .iter()
            .find(|path| !is_free(path) && !self.place.contains(&self.names(path, simple)))
        {
            Some(path) => Err(format!("{path} lies outside the working directories")),
            None => Ok(()),
        }
    }

    fn may_edit(&self, simple: &Simple, words: &[&str]) -> bool {
        let Some(edited) = shell::edits(words) else { return false };
        let is_root = |path: &str| {
            self.names(path, simple)
                .any(|name| self.place.directories.iter().any(|directory| directory == name))
        };
        let is_fine = |edited: &shell::Edited| {
            self.is_tame(&edited.path, simple) || (edited.landing && is_root(&edited.path))
        };
        !simple.directory.moved && edited.iter().all(is_fine)
    }

    /// Whether a file may be edited without a question in acceptEdits mode.
    fn is_tame(&self, path: &str, simple: &Simple) -> bool {
        let names = self.names(path, simple);
        self.place.contains(&names)
            && names.all(|name| !is_protected(name))
            && names.all(|name| {
                !self.place.directories.iter().any(|directory| directory.starts_with(name))
            })
            && self.place.disk.other_names(names.shown()) != OtherNames::Some
    }

    /// Whether every file that a redirection writes may be edited.
    fn redirections(
        &self,
        simple: &Simple,
        mode: PermissionMode,
        allow: &[Rule],
    ) -> Result<(), String> {
        let written = shell::targets(simple);
        let refused = written
            .iter()
            .filter(|target| target.redirected && !is_free(&target.text))
            .find(|target| !self.may_redirect(target, simple, mode, allow));
        let inputs = simple.redirects.iter().filter_map(|redirect| redirect.input());
        let open_input = inputs.into_iter().find(|word| {
            word.literal().is_none_or(|text| text.starts_with("/dev/") && !is_free(text))
        });
        match (refused, open_input) {
            (Some(target), _) => Err(format!("it writes {}", target.text)),
            (None, Some(word)) => Err(format!("it reads {}", word.raw)),
            (None, None) => Ok(()),
        }
    }

    fn may_redirect(
        &self,
        target: &Target,
        simple: &Simple,
        mode: PermissionMode,
        allow: &[Rule],
    ) -> bool {
        if !target.certain || simple.directory.moved || self.is_protected(target, simple) {
            return false;
        }
        let names = self.names(&target.text, simple);
        let by_rule = || {
            allow.iter().any(|rule| {
                rule.tool() == "Edit"
                    && names.all(|name| rule.fits_path(name, &self.place, Side::Allow))
            })
        };
        (mode == PermissionMode::AcceptEdits && self.is_tame(&target.text, simple)) || by_rule()
    }
}

/// The command behind the wrappers that rules look through, and whether it gets further words.
fn behind_wrappers<'a, 'b>(words: &'b [&'a str]) -> (&'b [&'a str], bool) {
    let mut inner = words;
    let mut only_rules = false;
    for _ in 0..4 {
        match shell::launch(inner).as_slice() {
            [Launch::Command { at, seen_through: true }] => {
                only_rules |= inner[0] == "xargs";
                inner = &inner[*at..];
            }
            _ => break,
        }
    }
    (inner, only_rules)
}

fn is_safe_variable(name: &str, value: Option<&str>) -> bool {
    let is_plain = |value: &str| {
        value.chars().all(|c| {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | ':' | ',' | '=')
        })
    };
    SAFE_VARIABLES.contains(&name)
        && value.is_some_and(|value| is_plain(value) && !value.starts_with(':'))
}
