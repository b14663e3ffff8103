//! A shell command as the list of simple commands it consists of.

use std::path::{Path, PathBuf};

use super::dispatch::{Launch, launch};
use super::heredoc;
use super::redirect::Redirect;
use super::rough;
use super::walk::Walker;
use super::word::{Variables, Word};
use crate::hidden;

/// Longer commands are not read at all.
const MAX_BYTES: usize = 10_000;

/// More parts than a person would check are not approved.
const MAX_PARTS: usize = 50;

/// The parser's time grows with the square of operators in broken commands, so there is a limit.
const MAX_OPERATORS: usize = 1_000;

/// The same goes for brackets, each of which may begin a test, a class or an index.
const MAX_BRACKETS: usize = 300;

/// The parser looks for the end of a here-document anew at each token, through all of the text when
/// there is none, so longer commands with such a here-document are not parsed.
const MAX_BYTES_UNENDED: usize = 1_000;

/// How deep scripts within scripts are followed.
const MAX_DEPTH: usize = 3;

/// A whole command.
#[derive(Debug)]
pub(crate) struct Script {
    /// As it was given.
    pub(crate) text: String,
    /// Its simple commands, those in substitutions and in scripts within it included.
    pub(crate) commands: Vec<Simple>,
    /// Why it is not understood as a whole.
    pub(crate) doubt: Option<String>,
    /// Whether it is a command that the parser could make sense of.
    pub(crate) readable: bool,
}

/// A simple command: a program with its words and redirections.
#[derive(Debug)]
pub(crate) struct Simple {
    /// As it is written.
    pub(crate) text: String,
    /// Variables set for it, or for the shell when there are no words.
    pub(crate) assignments: Vec<(String, Word)>,
    /// The program and its arguments.
    pub(crate) words: Vec<Word>,
    /// Its redirections.
    pub(crate) redirects: Vec<Redirect>,
    /// Where it runs.
    pub(crate) directory: Directory,
    /// Why it is not understood.
    pub(crate) doubt: Option<&'static str>,
}

/// Where a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directory {
    /// Every directory it may be; none means that nobody knows.
    pub(crate) candidates: Vec<PathBuf>,
    /// Whether a `cd` came before.
    pub(crate) moved: bool,
}

impl Simple {
    /// All words as certain text, or nothing.
    pub(crate) fn literal_words(&self) -> Option<Vec<&str>> {
        self.words.iter().map(Word::literal).collect()
    }

    /// The directory for showing and refusing.
    pub(crate) fn likely_directory<'a>(&'a self, otherwise: &'a Path) -> &'a Path {
        self.directory.candidates.last().map_or(otherwise, PathBuf::as_path)
    }
}

/// Reads a command that runs in `cwd`.
pub(crate) fn read(text: &str, cwd: &Path, home: Option<&Path>) -> Script {
    if text.len() > MAX_BYTES {
        return Script {
            text: text.to_owned(),
            commands: Vec::new(),
            doubt: Some(format!("it is longer than {MAX_BYTES} characters")),
            readable: false,
        };
    }
    let directory = Directory { candidates: vec![cwd.to_path_buf()], moved: false };
    let mut script = read_at(text, &directory, home, 0);
    if let Some(found) = hidden::find(text) {
        script.doubt = Some(format!("it contains a hidden character ({found})"));
        script.readable = false;
    }
    if script.commands.len() > MAX_PARTS {
        script.doubt.get_or_insert(format!("it has more than {MAX_PARTS} parts"));
    }
    script
}

fn read_at(text: &str, directory: &Directory, home: Option<&Path>, depth: usize) -> Script {
    let mut variables = Variables::new();
    if let Some(cwd) = directory.candidates.last().and_then(|path| path.to_str()) {
        variables.insert("PWD".to_owned(), cwd.to_owned());
    }
    if let Some(home) = home.and_then(Path::to_str) {
        variables.insert("HOME".to_owned(), home.to_owned());
    }
    let parsed = parse(text).and_then(|tree| {
        let mut walker = Walker::new(text, directory.clone(), variables.clone());
        walker.walk(tree.root_node());
        walker.finish(&tree)
    });
    let mut script = match parsed {
        Some((commands, doubt)) => Script {
            text: text.to_owned(),
            commands,
            doubt: doubt.map(str::to_owned),
            readable: true,
        },
        None => Script {
            text: text.to_owned(),
            commands: rough::read(text, directory, &variables),
            doubt: Some("it is not a command that can be read for certain".to_owned()),
            readable: false,
        },
    };
    follow(&mut script, home, depth);
    script
}

/// Also reads the scripts that are arguments, such as that of `sh -c`.
fn follow(script: &mut Script, home: Option<&Path>, depth: usize) {
    let mut inner = Vec::new();
    for command in &script.commands {
        let words: Vec<&str> = command.words.iter().map(Word::text).collect();
        for launched in launch(&words) {
            let Launch::Code(code) = launched else { continue };
            if depth >= MAX_DEPTH || code.len() > MAX_BYTES {
                script.doubt.get_or_insert_with(|| "it nests scripts too deeply".to_owned());
                continue;
            }
            for mut found in read_at(&code, &command.directory, home, depth + 1).commands {
                found.doubt.get_or_insert("it is part of a script in an argument");
                inner.push(found);
            }
        }
    }
    script.commands.extend(inner);
}

/// Whether what may be the beginning of a range, such as `{1..`, stands before a character beyond
/// ASCII. The grammar's scanner looks that character up in a table that is not made for it, and
/// reads whatever memory lies behind the table, or crashes.
fn opens_foreign_range(text: &str) -> bool {
    let is_digit = |next: char| next.is_ascii_digit();
    text.split('{').skip(1).any(|rest| {
        let rest = rest.trim_start_matches(is_digit);
        let rest = rest.strip_prefix("..").map_or(rest, |rest| rest.trim_start_matches(is_digit));
        rest.starts_with(|next: char| !next.is_ascii())
    })
}

/// Parses, and gives up at the first error: recovering from errors is slow and nothing is gained.
fn parse(text: &str) -> Option<tree_sitter::Tree> {
    let operators = text.bytes().filter(|byte| b"|;&()<>".contains(byte)).count();
    let brackets = text.bytes().filter(|byte| *byte == b'[').count();
    if operators > MAX_OPERATORS
        || brackets > MAX_BRACKETS
        || opens_foreign_range(text)
        || (text.len() > MAX_BYTES_UNENDED && !heredoc::all_end(text))
    {
        return None;
    }
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut stop_at_errors = |state: &tree_sitter::ParseState| {
        if state.has_error() {
            std::ops::ControlFlow::Break(())
        } else {
            std::ops::ControlFlow::Continue(())
        }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut stop_at_errors);
    let bytes = text.as_bytes();
    let tree = parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(options),
    )?;
    (!tree.root_node().has_error()).then_some(tree)
}
