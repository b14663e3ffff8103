//! What an exit code means.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

/// What a command says by ending as it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It worked.
    Success,
    /// It worked, and its exit code is an answer.
    Answer(&'static str),
    /// It failed, as the text says.
    Failure(String),
}

/// Reads an exit status in the light of the command.
pub(crate) fn meaning(command: &str, status: ExitStatus) -> Meaning {
    if let Some(signal) = status.signal() {
        return Meaning::Failure(format!("The shell was ended by {}.", signal_name(signal)));
    }
    match status.code().unwrap_or(-1) {
        0 => Meaning::Success,
        1 => answer(command)
            .map_or_else(|| Meaning::Failure("Exit code 1".to_owned()), Meaning::Answer),
        code @ 129..=192 => {
            let signal = signal_name(code - 128);
            Meaning::Failure(format!("Exit code {code} (usually a command ended by {signal})"))
        }
        code => Meaning::Failure(format!("Exit code {code}")),
    }
}

/// What exit code 1 answers, when it is that of a command for which it is no failure.
fn answer(command: &str) -> Option<&'static str> {
    let words = last_command(command)?;
    let mut words = words.iter().map(String::as_str).skip_while(|word| is_assignment(word));
    let program = Path::new(words.next()?).file_name()?.to_str()?;
    match program {
        "grep" | "egrep" | "fgrep" | "rg" => Some("no matches were found"),
        "find" => Some("some places could not be searched"),
        "diff" => Some("the files differ"),
        "test" | "[" => Some("the condition is false"),
        "git" => match git_subcommand(words)? {
            "diff" => Some("there are differences"),
            "grep" => Some("no matches were found"),
            _ => None,
        },
        _ => None,
    }
}

fn git_subcommand<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    loop {
        match words.next()? {
            "-C" | "-c" | "--git-dir" | "--work-tree" => drop(words.next()),
            option if option.starts_with('-') => {}
            subcommand => return Some(subcommand),
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    })
}

/// The words of the command whose exit code it is: the only one, or the last one of a pipeline or a
/// sequence. Nothing when the shell might do more, since then the exit code may be another's.
fn last_command(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.trim().chars().peekable();
    let mut previous = ' ';
    while let Some(char) = chars.next() {
        match char {
            '\'' => loop {
                match chars.next()? {
                    '\'' => break word = Some(word.unwrap_or_default()),
                    quoted => word.get_or_insert_default().push(quoted),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break word = Some(word.unwrap_or_default()),
                    '`' | '$' if chars.peek().is_some_and(|next| *next == '(') => return None,
                    '`' => return None,
                    '\\' => word.get_or_insert_default().push(chars.next()?),
                    quoted => word.get_or_insert_default().push(quoted),
                }
            },
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '<' | '>' if chars.peek() == Some(&'(') => {
                skip_substitution(&mut chars)?;
                word.get_or_insert_default().push(char);
            }
            '|' if previous == '|' || chars.peek() == Some(&'|') => return None,
            '|' | ';' => {
                words.clear();
                word = None;
            }
            '(' | ')' | '`' | '\n' | '{' | '}' => return None,
            '&' if previous != '>' && chars.peek() != Some(&'>') => return None,
            ' ' | '\t' => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
        previous = char;
    }
    words.extend(word);
    Some(words)
}

/// Skips what stands in the place of a file: how those commands end is not asked. Nothing when its
/// end is not plain to see.
fn skip_substitution(chars: &mut impl Iterator<Item = char>) -> Option<()> {
    let mut depth = 0;
    for char in chars {
        match char {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(()),
            ')' => depth -= 1,
            '\'' | '"' | '`' | '\\' => return None,
            _ => {}
        }
    }
    None
}

fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    format!("signal {number}, {name}")
}

#[cfg(test)]
mod tests;
