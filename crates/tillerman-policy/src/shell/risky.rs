//! What a wildcard in an allow rule does not cover: words that choose a program or its configuration.
//!
//! This list can never be complete. It keeps rules written for convenience from becoming rules for
//! everything; whoever allows an interpreter or a build tool allows what it runs.

use super::dispatch::{Launch, is_interpreter, is_shell, launch, program};

/// Parts of option names that choose code, configuration or a place to write.
const STEMS: [&str; 52] = [
    "exec",
    "shell",
    "comm",
    "cmd",
    "conf",
    "eval",
    "prog",
    "pager",
    "edit",
    "hook",
    "plug",
    "requir",
    "import",
    "load",
    "rsh",
    "pack",
    "upload",
    "receiv",
    "wrap",
    "interp",
    "brows",
    "prox",
    "script",
    "init",
    "compress",
    "checkpoint",
    "tool",
    "setting",
    "makefile",
    "cred",
    "agent",
    "runner",
    "transform",
    "preset",
    "setup",
    "resolv",
    "formatter",
    "rootdir",
    "rulesdir",
    "outp",
    "rcfile",
    "env-file",
    "ext-diff",
    "textconv",
    "open-files",
    "git-dir",
    "work-tree",
    "chdir",
    "cwd",
    "prefix",
    "manifest",
    "directory",
];

/// Letters that do the same in particular programs.
const LETTERS: [(&[&str], &str); 14] = [
    (&["make", "gmake"], "fCIE"),
    (&["git"], "cCOxup"),
    (&["ssh", "scp", "sftp"], "oFJLRDS"),
    (&["rsync"], "e"),
    (&["tar", "bsdtar"], "IFTCPx"),
    (&["zip", "unzip"], "Td"),
    (&["curl"], "KoOTdF"),
    (&["wget"], "OoiePX"),
    (&["sort"], "oT"),
    (&["man"], "PHC"),
    (&["pytest", "py.test"], "pco"),
    (&["docker", "podman"], "vHce"),
    (&["vim", "vi", "nvim", "less", "more"], "cSuUkKo"),
    (&["gradle", "gradlew", "mvn"], "IbDPfs"),
];

/// Programs that hand words behind `--` to a script.
const PASSING_ON: [&str; 8] = ["npm", "pnpm", "yarn", "bun", "npx", "deno", "just", "task"];

/// Programs in which `NAME=value` replaces any variable.
const WITH_VARIABLES: [&str; 7] = ["make", "gmake", "bmake", "just", "task", "scons", "rake"];

/// Words of git that run commands or change what it runs.
const GIT_WORDS: [&str; 12] = [
    "config",
    "bisect",
    "filter-branch",
    "submodule",
    "difftool",
    "mergetool",
    "hook",
    "worktree",
    "daemon",
    "send-email",
    "svn",
    "p4",
];

/// Whether a wildcard would cover words that should not be covered.
///
/// The first `fixed` words are spelled out in the rule; `anchor` is the rule's next word.
pub(crate) fn leaves_too_much_open(words: &[&str], fixed: usize, anchor: Option<&str>) -> bool {
    let Some(first) = words.first() else { return true };
    let name = program(first);
    let free = words.get(fixed..).unwrap_or_default();
    if fixed == 0 {
        // `*` as the program: only a bare rule allows every command.
        let spelled = anchor.and_then(|anchor| anchor.split('*').next()).unwrap_or_default();
        return spelled.len() < 2
            || is_shell(name)
            || is_interpreter(name)
            || !launch(words).is_empty();
    }
    runs_something_open(words, fixed)
        || free.iter().any(|word| is_risky(name, word))
        || passes_on(name, free)
        || opens_address(words, fixed, anchor)
}

/// A program that runs others must have the other program spelled out.
fn runs_something_open(words: &[&str], fixed: usize) -> bool {
    if is_shell(words[0]) || is_interpreter(words[0]) {
        // A script file may be free; options and what belongs to them may not.
        let is_code = |word: &&str| word.starts_with('-') || word.contains(['{', '(', ' ', ';']);
        return words[fixed - 1].starts_with('-')
            || (fixed == 1 && words.get(1).is_none_or(is_code));
    }
    let launched = launch(words);
    launched.iter().any(|launched| match launched {
        Launch::Command { at, .. } => *at >= fixed,
        Launch::Code(_) | Launch::Unseen => true,
    }) || words[0] == "find"
        && words
            .iter()
            .any(|word| matches!(*word, "-delete" | "-fprint" | "-fprint0" | "-fprintf" | "-fls"))
}

fn is_risky(name: &str, word: &str) -> bool {
    if name == "git" && GIT_WORDS.contains(&word) {
        return true;
    }
    if let Some((variable, _)) = word.split_once('=')
        && WITH_VARIABLES.contains(&name)
        && super::word::is_name(variable)
    {
        return true;
    }
    if !word.starts_with('-') || word == "-" || word == "--" {
        return false;
    }
    let option =
        word.trim_start_matches('-').split('=').next().unwrap_or_default().to_ascii_lowercase();
    if option.len() > 1 && STEMS.iter().any(|stem| option.contains(stem)) {
        return true;
    }
    let letters =
        LETTERS.iter().find(|(names, _)| names.contains(&name)).map_or("", |(_, letters)| letters);
    !word.starts_with("--") && word[1..].contains(|letter| letters.contains(letter))
}

fn passes_on(name: &str, free: &[&str]) -> bool {
    PASSING_ON.contains(&name) && free.contains(&"--")
}

/// A wildcard in or behind an address must not extend its host or add another address.
fn opens_address(words: &[&str], fixed: usize, anchor: Option<&str>) -> bool {
    let is_address = |word: &&str| word.contains("://");
    let (spelled, free) = words.split_at(fixed.min(words.len()));
    if spelled.iter().any(is_address)
        && free.iter().any(|word| is_address(word) || word.starts_with('@'))
    {
        return true;
    }
    let Some((scheme, host)) = anchor
        .and_then(|anchor| anchor.split_once('*'))
        .and_then(|(start, _)| start.split_once("://"))
    else {
        return false;
    };
    let fixed_length = scheme.len() + 3 + host.len();
    let behind = words.get(fixed).and_then(|word| word.get(fixed_length..)).unwrap_or_default();
    !host.contains('/') && !behind.is_empty() && !behind.starts_with(['/', '?', '#'])
}
