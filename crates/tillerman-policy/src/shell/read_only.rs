//! Whether a simple command only looks: exact argument lists, everything else does not count.

use super::git;
use super::little_languages::{awk_only_prints, jq_only_walks, sed_only_prints};
use super::options::{self, Arguments, Options};
use super::readers::{AWK, DATE, JQ, Operands, READERS, SED};
use super::redirect::RedirectKind;
use super::script::Simple;
use super::word::{Piece, Word};

/// What looking amounts to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Looking {
    /// The paths that are looked at.
    pub(crate) reads: Vec<String>,
    /// Whether everything below them is looked at.
    pub(crate) deep: bool,
}

impl Looking {
    fn nothing() -> Self {
        Self { reads: Vec::new(), deep: false }
    }

    fn at(reads: &[&str]) -> Self {
        let paths = reads.iter().filter(|path| **path != "-");
        Self { reads: paths.map(|path| (*path).to_owned()).collect(), deep: false }
    }
}

/// Whether a command only looks, and at what. Its redirections are judged apart, save for input.
pub(crate) fn looks(simple: &Simple, words: &[&str]) -> Option<Looking> {
    let mut looking = looks_at(words)?;
    for redirect in &simple.redirects {
        if redirect.kind == RedirectKind::Read {
            looking.reads.push(redirect.target.as_ref()?.literal()?.to_owned());
        } else if redirect.kind == RedirectKind::Text
            && redirect.target.as_ref().is_some_and(|target| target.literal().is_none())
        {
            return None;
        }
    }
    Some(looking)
}

/// Whether a program reads the files it is given, so that an open word may be any of them.
pub(crate) fn reads_files(program: &str) -> bool {
    let kinds = [Operands::Paths, Operands::OnePath, Operands::PatternThenPaths];
    matches!(program, "sed" | "awk" | "jq" | "cp" | "mv" | "dd" | "base64" | "source" | ".")
        || READERS
            .iter()
            .any(|reader| reader.names.contains(&program) && kinds.contains(&reader.operands))
}

/// The words of a command as certain text; a wildcard counts for programs that only list names.
pub(crate) fn certain_words(simple: &Simple) -> Option<Vec<String>> {
    let lists_names = matches!(simple.words.first()?.literal(), Some("ls" | "echo"));
    simple
        .words
        .iter()
        .map(|word| match word.literal() {
            Some(text) => Some(text.to_owned()),
            None if lists_names => listed(word),
            None => None,
        })
        .collect()
}

/// The folder that a wildcard such as `src/*.rs` looks at.
fn listed(word: &Word) -> Option<String> {
    let Some(Piece::Text(start)) = word.pieces.first() else {
        return (word.is_glob() && !word.raw.contains('/')).then(|| ".".to_owned());
    };
    let is_tame = word.is_glob() && !word.raw.contains("..") && !start.starts_with(['-', '/']);
    let folder = start.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let further = word.raw.get(start.len()..).is_none_or(|rest| rest.contains('/'));
    (is_tame && !further).then(|| folder.to_owned())
}

fn looks_at(words: &[&str]) -> Option<Looking> {
    let (name, rest) = words.split_first()?;
    match *name {
        "git" => git::looks(rest),
        "cd" => match rest {
            [directory] if !directory.is_empty() && !directory.starts_with('-') => {
                Some(Looking::at(&[directory]))
            }
            _ => None,
        },
        "echo" => Some(Looking::nothing()),
        "printf" => {
            rest.first().filter(|format| !format.starts_with('-')).map(|_| Looking::nothing())
        }
        "test" => test(rest),
        "[" => {
            rest.split_last().filter(|(last, _)| **last == "]").and_then(|(_, inner)| test(inner))
        }
        "command" => match rest {
            ["-v" | "-V", _] => Some(Looking::nothing()),
            _ => None,
        },
        "date" => {
            let arguments = options::parse(&DATE, rest)?;
            arguments.operands.iter().all(|operand| operand.starts_with('+')).then(Looking::nothing)
        }
        "find" => find(rest),
        "sed" => scripted(&SED, rest, &["e", "expression"], sed_only_prints),
        "awk" => scripted(&AWK, rest, &[], awk_only_prints),
        "jq" => scripted(&JQ, rest, &[], jq_only_walks),
        name => listed_reader(name, rest),
    }
}

fn listed_reader(name: &str, rest: &[&str]) -> Option<Looking> {
    let reader = READERS.iter().find(|reader| reader.names.contains(&name))?;
    let arguments = options::parse(&reader.options, rest)?;
    let operands = arguments.operands.as_slice();
    match reader.operands {
        Operands::None => operands.is_empty().then(Looking::nothing),
        Operands::Text => Some(Looking::nothing()),
        Operands::Paths => Some(Looking::at(operands)),
        Operands::OnePath => (operands.len() <= 1).then(|| Looking::at(operands)),
        Operands::Tree => {
            let here: &[&str] = if operands.is_empty() { &["."] } else { operands };
            Some(Looking::at(here))
        }
        Operands::PatternThenPaths => searched(name, &arguments),
    }
}

fn searched(name: &str, arguments: &Arguments<'_>) -> Option<Looking> {
    let has_pattern = arguments.has(&["e", "regexp", "files", "type-list"]);
    let paths =
        if has_pattern { arguments.operands.as_slice() } else { arguments.operands.get(1..)? };
    let deep = name == "rg" || arguments.has(&["r", "recursive"]);
    let here: &[&str] = if paths.is_empty() && deep { &["."] } else { paths };
    Some(Looking { deep, ..Looking::at(here) })
}

/// Programs whose first operand is a script.
fn scripted(
    options: &Options,
    rest: &[&str],
    script_options: &[&str],
    is_harmless: fn(&str) -> bool,
) -> Option<Looking> {
    let arguments = options::parse(options, rest)?;
    let mut scripts: Vec<&str> = Vec::new();
    for (name, value) in &arguments.given {
        if script_options.contains(name) {
            scripts.push((*value)?);
        }
    }
    let paths = if scripts.is_empty() {
        let (script, paths) = arguments.operands.split_first()?;
        scripts.push(script);
        paths
    } else {
        arguments.operands.as_slice()
    };
    // An awk operand with an equals sign is an assignment.
    let is_path = |path: &&str| !path.contains('=');
    (scripts.iter().all(|script| is_harmless(script)) && paths.iter().all(is_path))
        .then(|| Looking::at(paths))
}

/// `test` with plain operands: arithmetic on anything but numbers could run code.
fn test(words: &[&str]) -> Option<Looking> {
    let words = words.strip_prefix(&["!"]).unwrap_or(words);
    let is_plain = |word: &str| !word.starts_with('-') && !word.contains(['$', '`', '[', '(']);
    let is_number = |word: &str| {
        let digits = word.strip_prefix('-').unwrap_or(word);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    match words {
        [word] if is_plain(word) => Some(Looking::nothing()),
        ["-n" | "-z", text] if is_plain(text) => Some(Looking::nothing()),
        ["-e" | "-f" | "-d" | "-s" | "-r" | "-w" | "-x" | "-L" | "-h", path] if is_plain(path) => {
            Some(Looking::at(&[path]))
        }
        [left, "=" | "==" | "!=", right] if is_plain(left) && is_plain(right) => {
            Some(Looking::nothing())
        }
        [left, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge", right]
            if is_number(left) && is_number(right) =>
        {
            Some(Looking::nothing())
        }
        _ => None,
    }
}

/// `find` with tests that only compare names and times, and actions that only print.
fn find(words: &[&str]) -> Option<Looking> {
    let starts = words.iter().take_while(|word| !word.starts_with(['-', '(', '!'])).count();
    let (paths, mut rest) = words.split_at(starts);
    while let Some((word, after)) = rest.split_first() {
        let values = match *word {
            "(" | ")" | "!" | "-not" | "-a" | "-and" | "-o" | "-or" | "-print" | "-print0"
            | "-prune" | "-empty" | "-readable" | "-writable" | "-executable" | "-depth"
            | "-mount" | "-xdev" | "-ls" | "-true" | "-false" | "-daystart" | "-quit" => 0,
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex"
            | "-regextype" | "-type" | "-maxdepth" | "-mindepth" | "-size" | "-mtime"
            | "-atime" | "-ctime" | "-mmin" | "-amin" | "-cmin" | "-user" | "-group" | "-perm"
            | "-links" | "-inum" | "-printf" => 1,
            _ => return None,
        };
        rest = after.get(values..)?;
    }
    let here: &[&str] = if paths.is_empty() { &["."] } else { paths };
    Some(Looking::at(here))
}
