//! What can be said for certain about a shell command: little, so most commands are asked about.

use crate::rule::Doubt;

/// Characters that mean nothing to a shell wherever they stand in a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '-' | '.' | '/' | ':' | ',' | '@' | '%' | '+' | ' ')
}

/// The words of a command that is nothing but plain words.
pub(crate) fn plain_words(command: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    (!words.is_empty() && command.chars().all(is_plain)).then_some(words)
}

/// Whether a rule's content matches a command: exactly, or by prefix (`git:*`, `git *`).
pub(crate) fn matches(content: &str, command: &str, doubt: Doubt) -> bool {
    let command = command.trim();
    if content == command {
        return true;
    }
    let prefix = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
    let Some(words) = plain_words(command) else {
        // A compound command may hide the part that the rule is about.
        return doubt == Doubt::Matches;
    };
    match prefix {
        Some(prefix) => {
            let expected: Vec<&str> = prefix.split(' ').filter(|word| !word.is_empty()).collect();
            !expected.is_empty() && words.starts_with(&expected)
        }
        None => content.contains('*') && doubt == Doubt::Matches,
    }
}

/// Whether a command only looks at the working directory, whatever it contains.
pub(crate) fn only_looks(command: &str) -> bool {
    let Some(words) = plain_words(command.trim()) else { return false };
    match words.as_slice() {
        ["pwd"] => true,
        ["ls", arguments @ ..] => arguments.iter().all(|word| is_ls_flag(word) || is_below(word)),
        _ => false,
    }
}

fn is_ls_flag(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| {
        !flags.is_empty() && flags.chars().all(|flag| "1aAhlrtSR".contains(flag))
    })
}

/// A relative path that does not climb.
fn is_below(word: &str) -> bool {
    !word.starts_with(['/', '-', '~']) && word.split('/').all(|part| part != "..")
}
