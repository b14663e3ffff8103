//! Cutting HTML into texts and tags.

use super::entities::decode;

/// Elements whose content is no text for readers.
const HIDDEN: [&str; 10] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "head",
];

/// A piece of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Text as it stands, references included.
    Text(&'a str),
    /// The beginning of an element.
    Start(Tag<'a>),
    /// The end of an element.
    End(String),
}

/// The beginning of an element.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// The name in lower case.
    pub(super) name: String,
    attributes: &'a str,
}

impl Tag<'_> {
    /// The value of an attribute.
    pub(super) fn attribute(&self, wanted: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|char: char| char.is_whitespace() || char == '/');
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|char: char| char.is_whitespace() || "=/".contains(char));
            let (name, after) = rest.split_at(end.unwrap_or(rest.len()).max(1).min(rest.len()));
            let after = after.trim_start();
            let (value, next) = match after.strip_prefix('=') {
                Some(after) => value(after.trim_start()),
                None => ("", after),
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(decode(value).into_owned());
            }
            rest = next;
        }
    }
}

fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// The pieces of a page in order. Comments, declarations and hidden elements are left out.
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(html: &'a str) -> Self {
        Self { rest: html }
    }

    /// Passes over everything up to and with a text, or to the end.
    fn skip_past(&mut self, end: &str) {
        self.rest = self.rest.split_once(end).map_or("", |(_, after)| after);
    }

    /// Passes over the content of an element and its end.
    fn skip_content(&mut self, name: &str) {
        loop {
            self.skip_past("</");
            let found = self.rest.get(..name.len());
            if self.rest.is_empty() || found.is_some_and(|it| it.eq_ignore_ascii_case(name)) {
                self.skip_past(">");
                return;
            }
        }
    }

    /// The tag at the present place, after its `<` or `</`.
    fn tag(&mut self) -> Tag<'a> {
        let text = self.rest;
        let name_end = text.find(|char: char| char.is_whitespace() || "/>".contains(char));
        let (name, after) = text.split_at(name_end.unwrap_or(text.len()));
        let mut quote = None;
        let end = after.char_indices().find(|(_, char)| match quote {
            Some(open) => {
                if *char == open {
                    quote = None;
                }
                false
            }
            None if matches!(char, '"' | '\'') => {
                quote = Some(*char);
                false
            }
            None => *char == '>',
        });
        let (attributes, rest) = match end {
            Some((end, _)) => (&after[..end], &after[end + 1..]),
            // A quote that never ends would swallow the page; the first bracket ends the tag then.
            None => after.split_once('>').unwrap_or((after, "")),
        };
        self.rest = rest;
        Tag { name: name.to_ascii_lowercase(), attributes }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let starts_tag = |text: &str| text.starts_with(|char: char| char.is_ascii_alphabetic());
            let Some(after) = self.rest.strip_prefix('<') else {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                let (text, rest) = self.rest.split_at(end);
                self.rest = rest;
                return Some(Token::Text(text));
            };
            if let Some(comment) = after.strip_prefix("!--") {
                self.rest = comment;
                self.skip_past("-->");
            } else if after.starts_with(['!', '?']) {
                self.skip_past(">");
            } else if let Some(end) = after.strip_prefix('/').filter(|end| starts_tag(end)) {
                self.rest = end;
                return Some(Token::End(self.tag().name));
            } else if starts_tag(after) {
                self.rest = after;
                let tag = self.tag();
                if HIDDEN.contains(&tag.name.as_str()) {
                    self.skip_content(&tag.name);
                    continue;
                }
                return Some(Token::Start(tag));
            } else {
                let (text, rest) = self.rest.split_at(1);
                self.rest = rest;
                return Some(Token::Text(text));
            }
        }
    }
}
