//! Where in a text each value of a JSON document begins.

use std::collections::HashMap;

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// Deeper values share the place of what holds them.
const DEEPEST: usize = 64;

/// The places of all values of a document, by JSON pointer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spots(HashMap<String, Spot>);

impl Spots {
    /// Finds all values of a text that is known to be JSON.
    pub(crate) fn of(text: &str) -> Self {
        let mut scan =
            Scan { rest: text.chars().peekable(), line: 1, column: 1, found: HashMap::new() };
        scan.value(&mut String::new(), 0);
        Self(scan.found)
    }

    /// Where a value begins; what has no place of its own is looked up in what holds it.
    pub(crate) fn find(&self, pointer: &str) -> Option<Spot> {
        let mut pointer = pointer;
        loop {
            if let Some(spot) = self.0.get(pointer) {
                return Some(*spot);
            }
            pointer = &pointer[..pointer.rfind('/')?];
        }
    }
}

/// A key as a part of a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

struct Scan<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    column: usize,
    found: HashMap<String, Spot>,
}

impl Scan<'_> {
    fn value(&mut self, pointer: &mut String, depth: usize) {
        self.skip_blanks();
        if depth <= DEEPEST {
            let spot = Spot { line: self.line, column: self.column };
            self.found.insert(pointer.clone(), spot);
        }
        match self.rest.peek() {
            Some('{') => self.object(pointer, depth),
            Some('[') => self.array(pointer, depth),
            Some('"') => drop(self.text()),
            _ => {
                while self.rest.peek().is_some_and(|c| !matches!(c, ',' | ']' | '}')) {
                    self.next();
                }
            }
        }
    }

    fn object(&mut self, pointer: &mut String, depth: usize) {
        self.skip();
        loop {
            self.skip_blanks();
            match self.rest.peek() {
                Some('"') => {
                    let key = self.text();
                    self.skip_blanks();
                    self.next();
                    self.within(pointer, &escaped(&key), depth);
                }
                Some(',') => self.skip(),
                _ => return self.skip(),
            }
        }
    }

    fn array(&mut self, pointer: &mut String, depth: usize) {
        self.skip();
        let mut index = 0;
        loop {
            self.skip_blanks();
            match self.rest.peek() {
                None | Some(']' | '}') => return self.skip(),
                Some(',') => self.skip(),
                Some(_) => {
                    self.within(pointer, &index.to_string(), depth);
                    index += 1;
                }
            }
        }
    }

    fn within(&mut self, pointer: &mut String, key: &str, depth: usize) {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(key);
        self.value(pointer, depth + 1);
        pointer.truncate(length);
    }

    /// Reads a text and returns what it says.
    fn text(&mut self) -> String {
        let mut written = String::from('"');
        self.next();
        while let Some(c) = self.next() {
            written.push(c);
            match c {
                '\\' => written.extend(self.next()),
                '"' => break,
                _ => {}
            }
        }
        serde_json::from_str(&written).unwrap_or(written)
    }

    fn skip_blanks(&mut self) {
        while self.rest.peek().is_some_and(|c| c.is_whitespace()) {
            self.next();
        }
    }

    fn skip(&mut self) {
        self.next();
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }
}
