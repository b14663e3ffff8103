//! Redirections of input and output.

use super::word::{Word, lex};

/// A redirection.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// What it does.
    pub(crate) kind: RedirectKind,
    /// What it is about.
    pub(crate) target: Option<Word>,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    /// Reads a file.
    Read,
    /// Writes a file.
    Write,
    /// Copies or closes a descriptor.
    Descriptor,
    /// Feeds text that is part of the command.
    Text,
}

impl Redirect {
    /// The file or text that it feeds in, if it is one that matters.
    pub(crate) fn input(&self) -> Option<&Word> {
        self.target
            .as_ref()
            .filter(|_| matches!(self.kind, RedirectKind::Read | RedirectKind::Text))
    }
}

/// A redirection as read, with the words that stood behind its target.
pub(crate) struct Read {
    pub(crate) redirect: Redirect,
    pub(crate) further: Vec<Word>,
    pub(crate) doubt: Option<&'static str>,
}

/// Reads source such as `2>> log` with the expansions in it.
pub(crate) fn read(source: &str, holes: &[std::ops::Range<usize>]) -> Read {
    let digits = source.len() - source.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = &source[digits..];
    let operator: String =
        after.chars().take_while(|c| matches!(c, '<' | '>' | '&' | '|')).collect();
    // `>(…)` is a substitution, not an operator with a target; the hole covers it.
    let start = digits + operator.len();
    let holes: Vec<_> = holes
        .iter()
        .filter(|hole| hole.start >= start)
        .map(|hole| hole.start - start..hole.end - start)
        .collect();
    let mut lexed = lex(&source[start..], &holes, &[]);
    let further = lexed.words.split_off(lexed.words.len().min(1));
    let mut further = further;
    let mut target = lexed.words.pop();
    // In zsh the mark belongs to the operator; here it would be the name of the file.
    if target.as_ref().is_some_and(|word| word.raw == "!") && !further.is_empty() {
        target = Some(further.remove(0));
        lexed.doubt = Some("a redirection that shells read differently");
    }
    let kind = kind(&operator, target.as_ref());
    let closing = operator.ends_with('&') && target.is_none();
    let doubt = match kind {
        None => Some("a redirection of an unknown kind"),
        Some(_) if target.is_none() && !closing => Some("a redirection without a target"),
        Some(RedirectKind::Descriptor) if !is_standard(target.as_ref()) => {
            Some("a descriptor that something else opened")
        }
        Some(_) => lexed.doubt,
    };
    let kind = kind.unwrap_or(RedirectKind::Write);
    Read { redirect: Redirect { kind, target }, further, doubt }
}

fn is_standard(target: Option<&Word>) -> bool {
    target.is_none_or(|word| matches!(word.raw.as_str(), "0" | "1" | "2" | "-"))
}

fn kind(operator: &str, target: Option<&Word>) -> Option<RedirectKind> {
    let is_descriptor = || {
        target.is_none_or(|word| {
            let digits = word.raw.strip_suffix('-').unwrap_or(&word.raw);
            !word.raw.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        })
    };
    match operator {
        "<<<" => Some(RedirectKind::Text),
        "<&" | ">&" if is_descriptor() => Some(RedirectKind::Descriptor),
        "<" | "<&" => Some(RedirectKind::Read),
        ">" | ">>" | ">|" | "&>" | "&>>" | ">&" | "<>" => Some(RedirectKind::Write),
        _ => None,
    }
}
