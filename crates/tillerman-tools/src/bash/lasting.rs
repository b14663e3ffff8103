//! Which commands may go on in the background when their time is over.

use std::path::Path;

/// Whether a command may go on: not one that only waits, nor one that may hold the lock of a
/// repository, nor one of which that cannot be said.
pub(super) fn may_go_on(command: &str) -> bool {
    is_plain(command) && !begins_with_sleep(command) && !names_git(command)
}

fn begins_with_sleep(command: &str) -> bool {
    let mut words = command.split(|char: char| char.is_whitespace() || ";|&".contains(char));
    let program = words.find(|word| !word.is_empty() && !word.contains('='));
    program.is_some_and(|program| is_program(program, "sleep"))
}

/// Anywhere, since programs run programs; to be wrong about this only ends a command.
fn names_git(command: &str) -> bool {
    let mut words = command
        .split(|char: char| !(char.is_alphanumeric() || matches!(char, '.' | '_' | '-' | '/')));
    words.any(|word| is_program(word, "git") || word.starts_with("git-"))
}

fn is_program(word: &str, name: &str) -> bool {
    Path::new(word).file_name().is_some_and(|file| file == name)
}

/// Whether every program that a command runs stands in it as it is: all quotes are closed, and
/// nothing is substituted, grouped or fed from a text.
fn is_plain(command: &str) -> bool {
    let mut quote = None;
    let mut chars = command.chars().peekable();
    while let Some(char) = chars.next() {
        let next = chars.peek().copied();
        match (quote, char) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(chars.next()),
            (_, '`') => return false,
            (_, '$') if next == Some('(') => return false,
            (None, '\'' | '"') => quote = Some(char),
            (None, '(' | ')') => return false,
            (None, '<') if next == Some('<') => return false,
            _ => {}
        }
    }
    quote.is_none()
}

#[cfg(test)]
mod tests;
