//! Words, quoted texts, JSON values and semicolons: what a line of a transcript is made of.

use std::collections::VecDeque;

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Json(Value),
    Semicolon,
}

/// The tokens of a line that have not been read yet.
#[derive(Clone, Debug)]
pub(super) struct Words {
    tokens: VecDeque<Token>,
    line: String,
}

impl Words {
    pub(super) fn of(line: &str) -> Self {
        let mut tokens = VecDeque::new();
        let mut rest = line.trim();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' | '{' | '[' => {
                    let (value, length) = json_prefix(rest);
                    tokens.push_back(match value {
                        Value::String(text) => Token::Text(text),
                        value => Token::Json(value),
                    });
                    length
                }
                ';' => {
                    tokens.push_back(Token::Semicolon);
                    1
                }
                _ => {
                    let end = rest.find([' ', ';']).unwrap_or(rest.len());
                    tokens.push_back(Token::Word(rest[..end].to_owned()));
                    end
                }
            };
            rest = rest[length..].trim_start();
        }
        Self { tokens, line: line.to_owned() }
    }

    /// The parts between semicolons.
    pub(super) fn clauses(self) -> Vec<Self> {
        let mut clauses = vec![VecDeque::new()];
        for token in self.tokens {
            match (token, clauses.last_mut()) {
                (Token::Semicolon, _) => clauses.push(VecDeque::new()),
                (token, Some(clause)) => clause.push_back(token),
                (_, None) => {}
            }
        }
        clauses.into_iter().map(|tokens| Self { tokens, line: self.line.clone() }).collect()
    }

    pub(super) fn word(&mut self) -> String {
        match self.tokens.pop_front() {
            Some(Token::Word(word)) => word,
            other => panic!("expected a word, not {other:?}, in: {}", self.line),
        }
    }

    pub(super) fn text(&mut self) -> String {
        self.maybe_text().unwrap_or_else(|| panic!("expected a quoted text in: {}", self.line))
    }

    pub(super) fn json(&mut self) -> Value {
        self.maybe_json().unwrap_or_else(|| panic!("expected a JSON value in: {}", self.line))
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self) -> T {
        let word = self.word();
        word.parse().ok().unwrap_or_else(|| panic!("{word} is no number, in: {}", self.line))
    }

    pub(super) fn maybe_word(&mut self) -> Option<String> {
        matches!(self.tokens.front(), Some(Token::Word(_))).then(|| self.word())
    }

    pub(super) fn maybe_text(&mut self) -> Option<String> {
        match self.tokens.front() {
            Some(Token::Text(text)) => {
                let text = text.clone();
                self.tokens.pop_front();
                Some(text)
            }
            _ => None,
        }
    }

    pub(super) fn maybe_json(&mut self) -> Option<Value> {
        match self.tokens.front() {
            Some(Token::Json(value)) => {
                let value = value.clone();
                self.tokens.pop_front();
                Some(value)
            }
            _ => None,
        }
    }

    /// Takes `key=value` out, wherever it stands.
    pub(super) fn option(&mut self, key: &str) -> Option<String> {
        let value = |token: &Token| match token {
            Token::Word(word) => {
                word.split_once('=').filter(|(k, _)| *k == key).map(|(_, v)| v.to_owned())
            }
            _ => None,
        };
        let index = self.tokens.iter().position(|token| value(token).is_some())?;
        self.tokens.remove(index).and_then(|token| value(&token))
    }

    /// Takes a bare word out, wherever it stands.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let index = self.tokens.iter().position(|token| *token == Token::Word(name.to_owned()));
        index.and_then(|index| self.tokens.remove(index)).is_some()
    }

    pub(super) fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.maybe_word()).collect()
    }

    pub(super) fn end(&self) {
        assert!(self.tokens.is_empty(), "{:?} is left over in: {}", self.tokens, self.line);
    }

    pub(super) fn misread(&self, what: &str) -> ! {
        panic!("nothing is called {what}, in: {}", self.line)
    }
}

fn json_prefix(text: &str) -> (Value, usize) {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => (value, values.byte_offset()),
        other => panic!("bad JSON ({other:?}) at: {text}"),
    }
}
