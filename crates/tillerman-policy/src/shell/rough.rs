//! A rough reading of commands that the parser rejects: enough to refuse them, never to approve.

use super::redirect::{Redirect, RedirectKind};
use super::script::{Directory, Simple};
use super::word::{Piece, Variables, Word};

/// Cuts a text at everything that could separate commands, in any shell.
pub(crate) fn read(text: &str, directory: &Directory, variables: &Variables) -> Vec<Simple> {
    let mut reader = Reader {
        directory,
        variables,
        commands: Vec::new(),
        words: Vec::new(),
        redirects: Vec::new(),
        word: None,
        redirecting: None,
        text: String::new(),
    };
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        reader.text.push(c);
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                reader.word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None | Some('"'), '\\') => {
                if let Some(next) = chars.next().filter(|next| *next != '\n') {
                    reader.push(next);
                }
            }
            (None | Some('"'), '`') => reader.end_command(),
            (None | Some('"'), '$') if chars.peek() == Some(&'(') => reader.end_command(),
            (None, ' ' | '\t') => reader.end_word(),
            (None, ';' | '(' | ')' | '\n' | '\r' | '|' | '&') if reader.redirecting.is_none() => {
                // `&>` writes.
                if c == '&' && chars.peek() == Some(&'>') {
                    reader.end_word();
                } else {
                    reader.end_command();
                }
            }
            (None, '<' | '>') => reader.operator(c),
            // Further characters of an operator, such as the bar of `>|`.
            (None, '|' | '&' | '!') if reader.word.is_none() => {}
            (_, c) => reader.push(c),
        }
    }
    reader.end_command();
    reader.commands
}

struct Reader<'a> {
    directory: &'a Directory,
    variables: &'a Variables,
    commands: Vec<Simple>,
    words: Vec<Word>,
    redirects: Vec<Redirect>,
    word: Option<String>,
    redirecting: Option<RedirectKind>,
    text: String,
}

impl Reader<'_> {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn operator(&mut self, c: char) {
        let is_descriptor = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_descriptor) {
            self.word = None;
        }
        self.end_word();
        let writes = c == '>' || self.redirecting == Some(RedirectKind::Write);
        self.redirecting = Some(if writes { RedirectKind::Write } else { RedirectKind::Read });
    }

    fn end_word(&mut self) {
        let Some(text) = self.word.take() else { return };
        let mut word = Word::plain(&text);
        word.certain = false;
        let has_list = text.contains('{') && text.contains(',');
        if text.contains(['*', '?', '[']) {
            let piece = |c: char| match c {
                '*' | '?' | '[' => Piece::Glob(c),
                c => Piece::Text(c.to_string()),
            };
            word.pieces = text.chars().map(piece).collect();
            word.likely = None;
        }
        if text.contains('$') || has_list {
            word.pieces = vec![Piece::Open];
            word.shape = None;
            word.likely = text
                .strip_prefix("$PWD")
                .zip(self.variables.get("PWD"))
                .map(|(rest, directory)| format!("{directory}{rest}"));
        }
        match self.redirecting.take() {
            Some(kind) => self.redirects.push(Redirect { kind, target: Some(word) }),
            None => self.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirecting = None;
        let words = std::mem::take(&mut self.words);
        let redirects = std::mem::take(&mut self.redirects);
        let text = std::mem::take(&mut self.text);
        if words.is_empty() && redirects.is_empty() {
            return;
        }
        let mut words = words.into_iter().peekable();
        let mut assignments = Vec::new();
        while let Some(word) = words.next_if(|word| is_assignment(&word.raw)) {
            let name = word.raw.split('=').next().unwrap_or_default().to_owned();
            assignments.push((name, word));
        }
        self.commands.push(Simple {
            text: text.trim_matches([' ', ';', '\n', '&', '|', '(', ')']).to_owned(),
            assignments,
            words: words.collect(),
            redirects,
            directory: self.directory.clone(),
            doubt: Some("it could not be read for certain"),
        });
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| super::word::is_name(name))
}
