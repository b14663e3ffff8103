//! Git commands that only look, and the environment in which git runs nothing on its own.

use super::dispatch::program;
use super::options::{self, Arguments, Options};
use super::read_only::Looking;
use super::script::Simple;
use super::word::Word;

/// Variables that keep git from running what a repository's configuration names.
///
/// Pagers, hooks, monitors, signature checkers, transports and editors are switched off. Filters and
/// text converters need attributes, which are read from an empty tree instead of the work tree. No
/// variable switches off `diff.external`; see [`crate::Disk::repository_names_programs`].
pub(crate) const NEUTRAL: [(&str, &str); 35] = [
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_ATTR_SOURCE", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    ("GIT_CONFIG_COUNT", "12"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ("GIT_CONFIG_KEY_2", "core.pager"),
    ("GIT_CONFIG_VALUE_2", "cat"),
    ("GIT_CONFIG_KEY_3", "core.attributesFile"),
    ("GIT_CONFIG_VALUE_3", "/dev/null"),
    ("GIT_CONFIG_KEY_4", "core.sshCommand"),
    ("GIT_CONFIG_VALUE_4", "false"),
    ("GIT_CONFIG_KEY_5", "log.showSignature"),
    ("GIT_CONFIG_VALUE_5", "false"),
    ("GIT_CONFIG_KEY_6", "gpg.program"),
    ("GIT_CONFIG_VALUE_6", "false"),
    ("GIT_CONFIG_KEY_7", "gpg.ssh.program"),
    ("GIT_CONFIG_VALUE_7", "false"),
    ("GIT_CONFIG_KEY_8", "gpg.x509.program"),
    ("GIT_CONFIG_VALUE_8", "false"),
    ("GIT_CONFIG_KEY_9", "diff.ignoreSubmodules"),
    ("GIT_CONFIG_VALUE_9", "all"),
    ("GIT_CONFIG_KEY_10", "status.submoduleSummary"),
    ("GIT_CONFIG_VALUE_10", "false"),
    ("GIT_CONFIG_KEY_11", "submodule.recurse"),
    ("GIT_CONFIG_VALUE_11", "false"),
];

/// A subcommand that only looks with these options.
struct Subcommand {
    name: &'static str,
    options: Options,
    operands: Operands,
}

/// What the operands of a subcommand are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Revisions and paths of the repository.
    Inside,
    /// Only with one of the options that list; a name would be created.
    OnlyWhenListing,
    /// Exactly one.
    One,
}

const fn letters(switches: &'static str, valued: &'static str) -> Options {
    Options::letters(switches, valued)
}

const fn sub(name: &'static str, options: Options, operands: Operands) -> Subcommand {
    Subcommand { name, options, operands }
}

const HISTORY: &[&str] = &[
    "oneline",
    "graph",
    "all",
    "decorate=?",
    "no-decorate",
    "stat=?",
    "shortstat",
    "numstat",
    "name-only",
    "name-status",
    "abbrev-commit",
    "no-merges",
    "merges",
    "first-parent",
    "reverse",
    "pretty=?",
    "format=",
    "date=",
    "since=",
    "until=",
    "after=",
    "before=",
    "author=",
    "committer=",
    "grep=",
    "max-count=",
    "skip=",
    "follow",
    "patch",
    "no-patch",
    "color=?",
    "no-color",
    "abbrev=?",
    "branches=?",
    "tags=?",
    "remotes=?",
    "summary",
    "find-renames=?",
    "diff-filter=",
    "topo-order",
    "date-order",
    "relative-date",
    "invert-grep",
    "all-match",
    "extended-regexp",
    "fixed-strings",
    "perl-regexp",
    "regexp-ignore-case",
    "cached",
    "staged",
    "word-diff=?",
    "unified=",
    "check",
    "minimal",
    "patience",
    "histogram",
    "ignore-all-space",
    "ignore-space-change",
    "ignore-blank-lines",
    "no-renames",
    "exit-code",
    "quiet",
    "relative=?",
    "merge-base",
    "raw",
    "full-index",
    "cc",
    "left-right",
    "cherry-pick",
    "count",
    "no-ext-diff",
    "no-textconv",
    "no-prefix",
    "compact-summary",
    "dirstat=?",
    "function-context",
];

const SUBCOMMANDS: &[Subcommand] = &[
    sub(
        "status",
        letters("sbvz", "").long(&[
            "short",
            "branch",
            "porcelain=?",
            "long",
            "verbose",
            "untracked-files=?",
            "ignored=?",
            "show-stash",
            "ahead-behind",
            "no-ahead-behind",
            "renames",
            "no-renames",
            "column=?",
        ]),
        Operands::Inside,
    ),
    sub("log", letters("pqsuiEFPtcmzbwR", "nSGLU").long(HISTORY).number(), Operands::Inside),
    sub("show", letters("pqsutcmzbw", "nSGLU").long(HISTORY).number(), Operands::Inside),
    sub("diff", letters("pqsubwzRaBMW", "SGU").long(HISTORY), Operands::Inside),
    sub("rev-list", letters("", "n").long(HISTORY).number(), Operands::Inside),
    sub(
        "shortlog",
        letters("snec", "").long(&[
            "summary",
            "numbered",
            "email",
            "no-merges",
            "since=",
            "until=",
            "all",
        ]),
        Operands::Inside,
    ),
    sub(
        "branch",
        letters("avr", "").long(&[
            "list",
            "all",
            "remotes",
            "show-current",
            "verbose",
            "contains=",
            "no-contains=",
            "merged=?",
            "no-merged=?",
            "points-at=",
            "sort=",
            "format=",
            "column=?",
            "no-column",
            "color=?",
            "no-color",
        ]),
        Operands::OnlyWhenListing,
    ),
    sub(
        "tag",
        letters("l", "").long(&[
            "list",
            "contains=",
            "no-contains=",
            "merged=?",
            "points-at=",
            "sort=",
            "format=",
            "column=?",
            "color=?",
        ]),
        Operands::OnlyWhenListing,
    ),
    sub(
        "rev-parse",
        letters("q", "").long(&[
            "abbrev-ref=?",
            "show-toplevel",
            "short=?",
            "verify",
            "git-dir",
            "absolute-git-dir",
            "git-common-dir",
            "is-inside-work-tree",
            "is-inside-git-dir",
            "is-bare-repository",
            "show-prefix",
            "show-cdup",
            "symbolic-full-name",
            "quiet",
        ]),
        Operands::Inside,
    ),
    sub(
        "ls-files",
        letters("cdmosiuzt", "x").long(&[
            "cached",
            "deleted",
            "modified",
            "others",
            "stage",
            "exclude-standard",
            "full-name",
            "error-unmatch",
            "unmerged",
            "ignored",
        ]),
        Operands::Inside,
    ),
    sub(
        "ls-tree",
        letters("rdtlz", "").long(&["name-only", "name-status", "full-name", "full-tree", "long"]),
        Operands::Inside,
    ),
    sub(
        "blame",
        letters("wesltfnpcbM", "L").long(&[
            "date=",
            "porcelain",
            "line-porcelain",
            "root",
            "show-email",
            "abbrev=",
            "color-lines",
        ]),
        Operands::Inside,
    ),
    sub("annotate", letters("wesltfn", "L"), Operands::Inside),
    sub(
        "describe",
        Options::NONE.long(&[
            "tags",
            "all",
            "long",
            "always",
            "abbrev=",
            "exact-match",
            "first-parent",
            "match=",
            "exclude=",
            "contains",
            "candidates=",
        ]),
        Operands::Inside,
    ),
    sub("name-rev", Options::NONE.long(&["name-only", "tags", "always"]), Operands::Inside),
    sub(
        "merge-base",
        letters("a", "").long(&["all", "is-ancestor", "fork-point", "octopus", "independent"]),
        Operands::Inside,
    ),
    sub("cat-file", letters("tspe", ""), Operands::Inside),
    sub(
        "show-ref",
        letters("hds", "").long(&[
            "heads",
            "tags",
            "head",
            "verify",
            "hash=?",
            "dereference",
            "branches",
        ]),
        Operands::Inside,
    ),
    sub(
        "for-each-ref",
        Options::NONE.long(&["format=", "sort=", "count=", "contains=", "merged=?", "points-at="]),
        Operands::Inside,
    ),
    sub("symbolic-ref", letters("q", "").long(&["short", "quiet"]), Operands::One),
    sub("count-objects", letters("vH", "").long(&["verbose", "human-readable"]), Operands::Inside),
    sub(
        "check-ignore",
        letters("vnq", "").long(&["verbose", "non-matching", "no-index", "quiet"]),
        Operands::Inside,
    ),
    sub(
        "grep",
        letters("nilLcwvEFGPoqahHIz", "ABCem")
            .long(&[
                "line-number",
                "ignore-case",
                "files-with-matches",
                "count",
                "word-regexp",
                "invert-match",
                "extended-regexp",
                "fixed-strings",
                "perl-regexp",
                "only-matching",
                "quiet",
                "cached",
                "untracked",
                "heading",
                "break",
                "show-function",
                "and",
                "or",
                "not",
                "all-match",
                "max-depth=",
                "color=?",
                "column",
                "full-name",
            ])
            .number(),
        Operands::Inside,
    ),
];

/// Whether a command is git, at any place in it.
pub(crate) fn runs_git(simple: &Simple) -> bool {
    simple.words.iter().any(|word| program(Word::text(word)) == "git")
}

/// Whether arguments of git only look.
pub(crate) fn looks(words: &[&str]) -> Option<Looking> {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        match *word {
            "--no-pager" | "--no-optional-locks" | "--literal-pathspecs" => rest = after,
            "--version" | "version" if after.is_empty() => return Some(nothing()),
            _ => break,
        }
    }
    let (name, rest) = rest.split_first()?;
    if !rest.iter().all(|word| is_inside(word)) {
        return None;
    }
    match (*name, rest) {
        ("remote", [] | ["-v" | "--verbose"] | ["get-url", _])
        | ("stash", ["list"])
        | ("reflog", [])
        | ("worktree", ["list"] | ["list", "--porcelain"]) => return Some(nothing()),
        ("stash", ["show", shown @ ..]) => return listed("show", shown),
        ("reflog", ["show", shown @ ..]) => return listed("log", shown),
        ("config", rest) => return config(rest),
        _ => {}
    }
    listed(name, rest)
}

fn nothing() -> Looking {
    Looking { reads: Vec::new(), deep: false }
}

fn listed(name: &str, rest: &[&str]) -> Option<Looking> {
    let subcommand = SUBCOMMANDS.iter().find(|subcommand| subcommand.name == name)?;
    let arguments = options::parse(&subcommand.options, rest)?;
    let fits = match subcommand.operands {
        Operands::Inside => true,
        Operands::One => arguments.operands.len() == 1,
        Operands::OnlyWhenListing => arguments.operands.is_empty() || arguments.has(&["list", "l"]),
    };
    (fits && has_tame_formats(&arguments)).then(nothing)
}

/// `%G…` placeholders run a signature checker.
fn has_tame_formats(arguments: &Arguments<'_>) -> bool {
    let runs = |value: &str| value.contains("%G") || value.contains("signature");
    !arguments.given.iter().any(|(name, value)| {
        matches!(*name, "format" | "pretty" | "sort") && value.is_some_and(runs)
    })
}

/// No path that leaves the repository: git would compare files anywhere on the disk.
fn is_inside(word: &str) -> bool {
    !word.starts_with(['/', '~'])
        && !word.split(['/', '=', ':']).any(|part| part == "..")
        && !word.contains("=/")
}

fn config(rest: &[&str]) -> Option<Looking> {
    let options = letters("lz", "").long(&[
        "get",
        "get-all",
        "get-regexp",
        "list",
        "global",
        "local",
        "show-origin",
        "show-scope",
        "name-only",
        "null",
        "bool",
        "int",
        "type=",
    ]);
    let arguments = options::parse(&options, rest)?;
    let lists = arguments.has(&["l", "list"]) && arguments.operands.is_empty();
    let gets = arguments.has(&["get", "get-all", "get-regexp"]) && arguments.operands.len() == 1;
    let names_one = arguments.operands.len() == 1 && arguments.operands[0].contains('.');
    (lists || gets || names_one).then(nothing)
}
