//! Filling arguments into a text: `$ARGUMENTS`, `$0`, names and variables, in a single pass.

use crate::extensions::template::Arguments;

/// Fills arguments in. What was filled in is never looked at again.
pub(crate) struct Filler<'a> {
    arguments: &'a Arguments,
    words: Vec<String>,
}

impl<'a> Filler<'a> {
    pub(crate) fn new(arguments: &'a Arguments) -> Self {
        Self { arguments, words: split_words(&arguments.text) }
    }

    /// Fills a text; `used` becomes true where it refers to an argument.
    pub(crate) fn fill(&self, text: &str, used: &mut bool) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let is_escaped = rest[..at].ends_with('\\');
            let before = if is_escaped { &rest[..at - 1] } else { &rest[..at] };
            let after = &rest[at + 1..];
            match self.reference(after) {
                Some((value, length, is_argument)) if !is_escaped => {
                    filled.push_str(before);
                    filled.push_str(&value);
                    *used |= is_argument;
                    rest = &after[length..];
                }
                Some(_) => {
                    filled.push_str(before);
                    filled.push('$');
                    rest = after;
                }
                None => {
                    filled.push_str(&rest[..=at]);
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// What stands behind a `$`: its value, its length, and whether it is an argument.
    fn reference(&self, after: &str) -> Option<(String, usize, bool)> {
        if let Some(inner) = after.strip_prefix('{') {
            let end = inner.find('}')?;
            let known = self.arguments.variables.iter().find(|(name, _)| *name == &inner[..end]);
            return known.map(|(_, value)| (value.clone(), end + 2, false));
        }
        let length = after
            .find(|it: char| !(it.is_ascii_alphanumeric() || it == '_'))
            .unwrap_or(after.len());
        let name = &after[..length];
        if name == "ARGUMENTS" {
            return Some(self.all_or_one(&after[length..]));
        }
        if !name.is_empty() && name.chars().all(|it| it.is_ascii_digit()) {
            return Some((self.word(name.parse().ok()?), length, true));
        }
        let place = self.arguments.names.iter().position(|held| held == name)?;
        Some((self.word(place), length, true))
    }

    /// `$ARGUMENTS`, or one word of it with `[N]` behind.
    fn all_or_one(&self, after: &str) -> (String, usize, bool) {
        let whole = "ARGUMENTS".len();
        let index = after.strip_prefix('[').and_then(|inner| inner.split_once(']'));
        match index.and_then(|(digits, _)| Some((digits.len(), digits.parse().ok()?))) {
            Some((digits, place)) => (self.word(place), whole + digits + 2, true),
            None => (self.arguments.text.trim().to_owned(), whole, true),
        }
    }

    fn word(&self, place: usize) -> String {
        self.words.get(place).cloned().unwrap_or_default()
    }
}

/// Words between spaces; quotes hold words together.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for it in text.chars() {
        match quote {
            Some(held) if it == held => quote = None,
            Some(_) => word.get_or_insert_default().push(it),
            None if it == '"' || it == '\'' => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            None if it.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    words
}
