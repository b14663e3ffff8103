//! Contents of Bash rules, and which commands they are about.

use super::dispatch::{Launch, is_interpreter, is_shell, launch, program, views};
use super::risky;
use super::script::{Script, Simple};
use super::word::{Piece, Word};
use crate::glob::{self, Case};

/// A command with wildcards, such as `git log *` or `npm run test:*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    /// As it is written.
    text: String,
    /// Its words; a star is a wildcard.
    words: Vec<String>,
    /// Whether any further words may follow.
    open_ended: bool,
}

/// How well a rule fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hit {
    /// It is about something else.
    No,
    /// Nobody can tell.
    Maybe,
    /// It fits.
    Yes,
}

/// Stands for a blank inside a word, where a pattern's blank must not match.
const INNER_BLANK: char = '\u{1}';

impl CommandPattern {
    /// Reads a pattern; the fault is a character index and a sentence.
    pub(crate) fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        if let Some(at) = text.chars().position(|c| c.is_control() && c != '\n' && c != '\t') {
            return Err((at, "a command cannot contain control characters"));
        }
        let (body, open_ended) = match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
            Some(body) => (body, true),
            None => (text, false),
        };
        if let Some(at) = body.find(":*") {
            let at = body[..at].chars().count();
            return Err((at, ":* stands for further words and belongs at the end"));
        }
        let words: Vec<String> = body.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err((0, "the command is empty"));
        }
        Ok(Self { text: text.to_owned(), words, open_ended })
    }

    /// Whether the rule certainly covers a command whose words are certain, so that it may allow it.
    pub(crate) fn covers(&self, simple: &Simple, words: &[&str]) -> bool {
        if self.text == simple.text && !self.text.contains('*') {
            return true;
        }
        let has_wildcard = self.open_ended || self.words.iter().any(|word| word.contains('*'));
        let text = canonical(words);
        if !self.fits(&text, Case::Exact) {
            return false;
        }
        if !has_wildcard {
            return true;
        }
        let fixed = self.words.iter().take_while(|word| !word.contains('*')).count();
        let anchor = self.words.get(fixed).map(String::as_str);
        !risky::leaves_too_much_open(words, fixed, anchor)
    }

    fn fits(&self, text: &str, case: Case) -> bool {
        let body = escape(&self.words.join(" "));
        glob::matches(&body, text, case)
            || (self.open_ended && glob::matches(&format!("{body} *"), text, case))
    }

    /// How well the rule fits a part of a script, for forbidding it.
    pub(crate) fn hits(&self, simple: &Simple, script: &Script) -> Hit {
        let texts: Vec<&str> = simple.words.iter().map(Word::text).collect();
        let mut best = Hit::No;
        for view in views(&texts) {
            let offset = texts.len() - view.len();
            best = best.max(self.hits_view(view, &simple.words[offset..], script));
        }
        best.max(self.hits_hidden(&texts, simple, script))
    }

    fn hits_view(&self, view: &[&str], words: &[Word], script: &Script) -> Hit {
        let Some(first) = view.first() else { return Hit::No };
        let mut named: Vec<&str> = view.to_vec();
        named[0] = program(first);
        if self.fits(&canonical(view), Case::Exact) || self.fits(&canonical(&named), Case::Exact) {
            return Hit::Yes;
        }
        let wanted = &self.words[0];
        let word = &words[0];
        if word.likely.is_none() {
            let pattern = word.as_glob();
            let could_be = glob::matches(&pattern, wanted, Case::Exact)
                || glob::matches(&pattern, &format!("/bin/{wanted}"), Case::Exact)
                || glob::matches(&pattern, &format!("/usr/bin/{wanted}"), Case::Exact);
            return match (
                could_be,
                word.is_open() && word.pieces.iter().all(|piece| *piece != Piece::Glob('?')),
            ) {
                (false, _) => Hit::No,
                (true, false) => Hit::Yes,
                (true, true) if self.is_mentioned_in(&script.text) => Hit::Yes,
                (true, true) => Hit::Maybe,
            };
        }
        if !glob::matches(&escape(wanted), named[0], Case::Exact) {
            return Hit::No;
        }
        self.hits_arguments(&view[1..], &words[1..])
    }

    /// Compares arguments as sets of options and rows of operands, so that order and spelling of
    /// options do not matter.
    fn hits_arguments(&self, texts: &[&str], words: &[Word]) -> Hit {
        let given: Vec<String> = texts.iter().flat_map(|word| single_options(word)).collect();
        let operands: Vec<&str> =
            texts.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let mut left = operands.iter();
        let mut missing = false;
        for wanted in &self.words[1..] {
            let found = if wanted.starts_with('-') && !wanted.contains('*') {
                single_options(wanted)
                    .iter()
                    .all(|option| given.iter().any(|given| same_option(option, given)))
            } else {
                left.any(|operand| glob::matches(&escape(wanted), operand, Case::Exact))
            };
            missing |= !found;
        }
        let too_many = !self.open_ended
            && left.next().is_some()
            && !self.words.iter().any(|word| word.contains('*'));
        let is_open = words.iter().any(|word| word.likely.is_none());
        match (missing || too_many, is_open) {
            (false, _) => Hit::Yes,
            (true, true) => Hit::Maybe,
            (true, false) => Hit::No,
        }
    }

    /// Code that cannot be seen, or is written in another language, may run the command.
    fn hits_hidden(&self, texts: &[&str], simple: &Simple, script: &Script) -> Hit {
        let Some(first) = texts.first() else { return Hit::No };
        let unseen = launch(texts).contains(&Launch::Unseen)
            && (is_shell(first) || matches!(*first, "source" | "."));
        if unseen && texts.len() == 1 {
            return if self.is_mentioned_in(&script.text) { Hit::Yes } else { Hit::Maybe };
        }
        let elsewhere = is_interpreter(first)
            && simple.words.iter().skip(1).any(|word| self.is_mentioned_in(word.text()));
        if elsewhere { Hit::Maybe } else { Hit::No }
    }

    /// Whether the program's name stands where a command could begin.
    pub(crate) fn could_begin_in(&self, text: &str) -> bool {
        let name = program(&self.words[0]);
        text.match_indices(name).any(|(at, _)| {
            let before = text[..at].trim_end_matches([' ', '\t']).chars().next_back();
            let after = text[at + name.len()..].chars().next();
            before.is_none_or(|c| matches!(c, ';' | '|' | '&' | '(' | '\n' | '`' | '{' | '!' | '/'))
                && after.is_none_or(|c| !c.is_alphanumeric())
        })
    }

    /// Whether the program's name stands somewhere in a text.
    pub(crate) fn is_mentioned_in(&self, text: &str) -> bool {
        let name = program(&self.words[0]);
        if name.contains('*') {
            return true;
        }
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        text.match_indices(name).any(|(at, _)| {
            !is_part(text[..at].chars().next_back())
                && !is_part(text[at + name.len()..].chars().next())
        })
    }
}

/// Words joined by blanks, with the blanks inside words made different.
fn canonical(words: &[&str]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| word.replace([' ', '\t', '\n'], &INNER_BLANK.to_string()))
        .collect();
    words.join(" ")
}

/// In rules only the star is a wildcard.
fn escape(pattern: &str) -> String {
    let mut escaped = String::with_capacity(pattern.len());
    for c in pattern.chars() {
        if matches!(c, '?' | '[' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// `-rf` as `-r` and `-f`; anything else as it is.
fn single_options(word: &str) -> Vec<String> {
    match word.strip_prefix('-') {
        Some(letters)
            if !letters.is_empty()
                && !letters.starts_with('-')
                && letters.chars().all(char::is_alphanumeric) =>
        {
            letters.chars().map(|letter| format!("-{letter}")).collect()
        }
        Some(_) => vec![word.split('=').next().unwrap_or(word).to_owned()],
        None => Vec::new(),
    }
}

/// Options that mean the same in most programs.
const SAME: [&[&str]; 8] = [
    &["-r", "-R", "--recursive"],
    &["-f", "--force"],
    &["-i", "--in-place"],
    &["-n", "--dry-run"],
    &["-v", "--verbose"],
    &["-a", "--all"],
    &["-d", "--delete"],
    &["-o", "--output"],
];

fn same_option(wanted: &str, given: &str) -> bool {
    if wanted == given {
        return true;
    }
    let shortened =
        |long: &str| given.len() > 3 && given.starts_with("--") && long.starts_with(given);
    shortened(wanted)
        || SAME.iter().any(|same| {
            same.contains(&wanted) && same.iter().any(|other| *other == given || shortened(other))
        })
}
