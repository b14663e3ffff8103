//! Words of a shell command: their text where it is certain, and what is open where it is not.

use std::collections::HashMap;
use std::ops::Range;

use super::ansi_c::ansi_c;

/// A stretch of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text that stays as it is.
    Text(String),
    /// A wildcard character that is compared with file names.
    Glob(char),
    /// The value of a variable.
    Variable(String),
    /// Something that only running the command would tell.
    Open,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// As it is written.
    pub(crate) raw: String,
    /// What it is made of.
    pub(crate) pieces: Vec<Piece>,
    /// Whether it is only a guess that the pieces are all of it.
    pub(crate) certain: bool,
    /// Whether any part of it is quoted or escaped.
    pub(crate) quoted: bool,
    /// Its most likely text: good for refusing and for showing, never for approving.
    pub(crate) likely: Option<String>,
    /// The same with wildcards left as they are.
    pub(crate) shape: Option<String>,
}

/// Values of variables that are known well enough for a guess.
pub(crate) type Variables = HashMap<String, String>;

impl Word {
    /// A word that is nothing but text.
    pub(crate) fn plain(text: &str) -> Self {
        Self {
            raw: text.to_owned(),
            pieces: vec![Piece::Text(text.to_owned())],
            certain: true,
            quoted: false,
            likely: Some(text.to_owned()),
            shape: Some(text.to_owned()),
        }
    }

    /// Its text, if that is beyond doubt.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] if self.certain => Some(text),
            [] if self.certain => Some(""),
            _ => None,
        }
    }

    /// Fills in the likely text with what is known of variables.
    pub(crate) fn guess(&mut self, variables: &Variables) {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Glob(c) => text.push(*c),
                Piece::Variable(name) => match variables.get(name) {
                    Some(value) => text.push_str(value),
                    None => return,
                },
                Piece::Open => return,
            }
        }
        let has_wildcards = self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)));
        self.likely = (!has_wildcards).then(|| text.clone());
        self.shape = Some(text);
    }

    /// The likely text, or the word as it is written.
    pub(crate) fn text(&self) -> &str {
        self.likely.as_deref().unwrap_or(&self.raw)
    }

    /// The word as a wildcard pattern in which everything open is a star.
    pub(crate) fn as_glob(&self) -> String {
        let mut pattern = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => {
                    for c in text.chars() {
                        if matches!(c, '*' | '?' | '[' | '\\') {
                            pattern.push('\\');
                        }
                        pattern.push(c);
                    }
                }
                Piece::Glob('[' | ']') => pattern.push('*'),
                Piece::Glob(c) => pattern.push(*c),
                Piece::Variable(_) | Piece::Open => pattern.push('*'),
            }
        }
        pattern
    }

    /// Whether nothing at all is known of it.
    pub(crate) fn is_open(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if !text.is_empty()))
            && !self.pieces.is_empty()
    }

    /// Whether it is plain text and wildcards.
    pub(crate) fn is_glob(&self) -> bool {
        self.certain
            && self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
            && self.pieces.iter().all(|piece| matches!(piece, Piece::Glob(_) | Piece::Text(_)))
    }
}

/// Words found in a stretch of source.
#[derive(Debug)]
pub(crate) struct Lexed {
    /// The words in order.
    pub(crate) words: Vec<Word>,
    /// What stood in the way of reading it, if anything did.
    pub(crate) doubt: Option<&'static str>,
}

/// Cuts source text into words.
///
/// `holes` are the expansions in it and `gaps` are stretches to leave out, both in bytes of `text`
/// and in order.
pub(crate) fn lex(text: &str, holes: &[Range<usize>], gaps: &[Range<usize>]) -> Lexed {
    let mut lexer = Lexer { text, at: 0, words: Vec::new(), word: None, doubt: None };
    while lexer.at < text.len() {
        if let Some(gap) = starting_at(gaps, lexer.at) {
            lexer.leave_out(gap);
        } else if let Some(hole) = starting_at(holes, lexer.at) {
            lexer.expansion(hole);
        } else {
            lexer.step(holes);
        }
    }
    lexer.finish_word();
    Lexed { words: lexer.words, doubt: lexer.doubt }
}

fn starting_at(ranges: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    let found = ranges.binary_search_by_key(&at, |range| range.start).ok()?;
    ranges.get(found).filter(|range| range.end > range.start)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    words: Vec<Word>,
    word: Option<Building>,
    doubt: Option<&'static str>,
}

/// A word that is being read.
struct Building {
    start: usize,
    pieces: Vec<Piece>,
    certain: bool,
    quoted: bool,
    braces: Braces,
}

/// What was seen of `{a,b}` or `{1..3}`.
#[derive(Default)]
struct Braces {
    opened: bool,
    listed: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn word(&mut self) -> &mut Building {
        let start = self.at;
        self.word.get_or_insert(Building {
            start,
            pieces: Vec::new(),
            certain: true,
            quoted: false,
            braces: Braces::default(),
        })
    }

    fn push(&mut self, part: &str) {
        let pieces = &mut self.word().pieces;
        match pieces.last_mut() {
            Some(Piece::Text(text)) => text.push_str(part),
            _ => pieces.push(Piece::Text(part.to_owned())),
        }
    }

    fn push_piece(&mut self, piece: Piece) {
        self.word().pieces.push(piece);
    }

    fn doubt(&mut self, doubt: &'static str) {
        self.doubt.get_or_insert(doubt);
    }

    fn leave_out(&mut self, gap: &Range<usize>) {
        if self.word.as_ref().is_some_and(|word| is_number(&self.text[word.start..self.at])) {
            self.doubt("a number touches a redirection");
        }
        self.finish_word();
        self.at = gap.end;
        let mut after = self.rest();
        while let Some(joined) = after.strip_prefix("\\\n") {
            after = joined;
        }
        if after.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '<' | '>' | '&')) {
            self.doubt("a word touches a redirection");
        }
    }

    fn expansion(&mut self, hole: &Range<usize>) {
        let raw = &self.text[hole.clone()];
        let name = raw.strip_prefix('$').map(|name| {
            name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name)
        });
        let piece = match name {
            Some(name) if is_name(name) => Piece::Variable(name.to_owned()),
            _ => Piece::Open,
        };
        self.push_piece(piece);
        self.at = hole.end;
    }

    fn finish_word(&mut self) {
        let Some(mut building) = self.word.take() else { return };
        let raw = self.text[building.start..self.at].to_owned();
        if building.braces.opened && (building.braces.listed || is_descriptor(&raw)) {
            building.pieces = vec![Piece::Open];
        }
        if raw.len() > 1 && raw.starts_with('=') {
            // Some shells put the path of a program here.
            building.certain = false;
        }
        if !building.quoted && raw.starts_with('~') {
            let user = &raw[..raw.find('/').unwrap_or(raw.len())];
            if user == "~" {
                // The guess goes through the home directory; approving does not.
                let rest = building.pieces.first().cloned();
                if let Some(Piece::Text(text)) = rest {
                    building.pieces[0] = Piece::Text(text[1..].to_owned());
                }
                building.pieces.insert(0, Piece::Variable("HOME".to_owned()));
            } else {
                building.pieces = vec![Piece::Open];
            }
        }
        self.words.push(Word {
            raw,
            pieces: building.pieces,
            certain: building.certain,
            quoted: building.quoted,
            likely: None,
            shape: None,
        });
    }

    fn step(&mut self, holes: &[Range<usize>]) {
        let Some(c) = self.rest().chars().next() else { return };
        match c {
            ' ' | '\t' => {
                self.finish_word();
                self.at += 1;
            }
            // A command ends at the end of a line, whatever the parser thinks.
            '\n' => {
                self.doubt("a line break in an unexpected place");
                self.finish_word();
                self.at += 1;
            }
            '\\' => self.backslash(),
            '\'' => self.single_quoted(),
            '"' => self.double_quoted(holes),
            '$' => self.dollar(),
            '`' => {
                self.doubt("a substitution that could not be read");
                self.push_piece(Piece::Open);
                self.at += 1;
            }
            ';' | '&' | '|' | '<' | '>' | '(' | ')' => {
                self.doubt("an operator in an unexpected place");
                self.finish_word();
                self.at += 1;
            }
            '*' | '?' | '[' => {
                self.push_piece(Piece::Glob(c));
                self.at += 1;
            }
            '{' | '}' | ',' => {
                let word = self.word();
                word.braces.opened |= c == '{';
                word.braces.listed |= c == ',';
                self.push(&c.to_string());
                self.at += 1;
            }
            '#' if self.word.is_none() => {
                self.doubt("a comment in an unexpected place");
                self.at = self.text.len();
            }
            c => {
                if self.rest().starts_with("..") {
                    self.word().braces.listed = true;
                }
                self.push(&c.to_string());
                self.at += c.len_utf8();
            }
        }
    }

    fn backslash(&mut self) {
        let next = self.rest().chars().nth(1);
        match next {
            Some('\n') => self.at += 2,
            Some(c) => {
                self.word().quoted = true;
                self.push(&c.to_string());
                self.at += 1 + c.len_utf8();
            }
            None => {
                self.doubt("a backslash at the end");
                self.word();
                self.at += 1;
            }
        }
    }

    fn single_quoted(&mut self) {
        self.word().quoted = true;
        let inner = &self.text[self.at + 1..];
        match inner.find('\'') {
            Some(end) => {
                let part = inner[..end].to_owned();
                self.push(&part);
                self.at += end + 2;
            }
            None => {
                self.doubt("a quote that is never closed");
                self.at = self.text.len();
            }
        }
    }

    fn double_quoted(&mut self, holes: &[Range<usize>]) {
        self.word().quoted = true;
        self.push("");
        self.at += 1;
        while self.at < self.text.len() {
            if let Some(hole) = starting_at(holes, self.at) {
                self.expansion(hole);
                continue;
            }
            let mut chars = self.rest().chars();
            let (Some(c), next) = (chars.next(), chars.next()) else { break };
            match (c, next) {
                ('"', _) => {
                    self.at += 1;
                    return;
                }
                ('\\', Some('\n')) => self.at += 2,
                ('\\', Some(escaped @ ('$' | '`' | '"' | '\\'))) => {
                    self.push(&escaped.to_string());
                    self.at += 2;
                }
                ('$', Some(after)) if after == '(' || after == '{' || is_variable_start(after) => {
                    self.doubt("an expansion that could not be read");
                    self.push_piece(Piece::Open);
                    self.at += 1;
                }
                ('`', _) => {
                    self.doubt("a substitution that could not be read");
                    self.push_piece(Piece::Open);
                    self.at += 1;
                }
                (c, _) => {
                    self.push(&c.to_string());
                    self.at += c.len_utf8();
                }
            }
        }
        self.doubt("a quote that is never closed");
    }

    fn dollar(&mut self) {
        let next = self.rest().chars().nth(1);
        match next {
            Some('\'') => {
                let (text, used) = ansi_c(&self.text[self.at + 2..]);
                let word = self.word();
                word.quoted = true;
                word.certain = false;
                match used {
                    Some(used) => self.at += 2 + used,
                    None => {
                        self.doubt("a quote that is never closed");
                        self.at = self.text.len();
                    }
                }
                self.push(&text);
            }
            // Translated by the locale, so only guessed at.
            Some('"') => {
                self.word().certain = false;
                self.at += 1;
            }
            Some(c) if c == '(' || c == '{' || c == '[' || is_variable_start(c) => {
                self.doubt("an expansion that could not be read");
                self.push_piece(Piece::Open);
                self.at += 1;
            }
            _ => {
                self.push("$");
                self.at += 1;
            }
        }
    }
}

/// Whether a text is digits, which directly before a redirection are a descriptor.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_variable_start(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '*' | '#' | '?' | '-' | '$' | '!')
}

/// Whether a text is the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `{name}` before a redirection is the name of a file descriptor.
fn is_descriptor(raw: &str) -> bool {
    raw.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(is_name)
}
