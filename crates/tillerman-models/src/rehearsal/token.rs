//! Cuts a prompt into words, quoted pieces and punctuation.

use serde_json::Value;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word without the punctuation around it.
    Word,
    /// A piece in quotes, without the quotes.
    Quoted,
    /// A JSON object.
    Json,
    /// A comma or semicolon: another request may follow.
    Comma,
    /// A colon.
    Colon,
    /// The end of a sentence.
    Stop,
    /// The end of a line.
    Line,
}

/// One token and where it stands in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token<'_> {
    /// Whether this is the given word, in any case.
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether this is one of the given words.
    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    /// Whether a sentence or line ends here.
    pub(super) fn ends_sentence(&self) -> bool {
        matches!(self.kind, Kind::Stop | Kind::Line)
    }

    /// Whether it stands for something rather than separating.
    pub(super) fn is_content(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Quoted | Kind::Json)
    }

    /// Whether it can be taken for the name of a file.
    pub(super) fn is_path_like(&self) -> bool {
        match self.kind {
            Kind::Quoted => true,
            Kind::Word => is_path_like(self.text),
            _ => false,
        }
    }
}

fn is_path_like(word: &str) -> bool {
    const KNOWN: [&str; 6] =
        ["readme", "license", "makefile", "dockerfile", "changelog", "contributing"];
    if word.contains("://") {
        return false;
    }
    let has_extension = word
        .rsplit_once('.')
        .is_some_and(|(_, extension)| extension.starts_with(|c: char| c.is_ascii_alphabetic()));
    has_extension
        || word.contains('/')
        || word.starts_with('~')
        || KNOWN.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// Cuts a prompt into tokens.
pub(super) fn tokenize(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        if first == '\n' {
            tokens.push(Token { kind: Kind::Line, text: "", start: at, end: at + 1 });
            at += 1;
        } else if first.is_whitespace() {
            at += first.len_utf8();
        } else if let Some(token) = quoted(source, at).or_else(|| json(source, at)) {
            at = token.end;
            tokens.push(token);
        } else {
            at = push_word(source, at, &mut tokens);
        }
    }
    tokens
}

fn quoted(source: &str, start: usize) -> Option<Token<'_>> {
    let rest = &source[start..];
    if let Some(fenced) = rest.strip_prefix("```") {
        let close = fenced.find("```")?;
        let text = fenced[..close].split_once('\n').map_or(&fenced[..close], |(_, text)| text);
        return Some(Token { kind: Kind::Quoted, text, start, end: start + close + 6 });
    }
    let open = rest.chars().next()?;
    let inner = &rest[open.len_utf8()..];
    let close = match open {
        '`' | '"' => inner.find(open)?,
        '“' => inner.find('”')?,
        '\'' => closing_apostrophe(inner)?,
        _ => return None,
    };
    let close_length = inner[close..].chars().next()?.len_utf8();
    let end = start + open.len_utf8() + close + close_length;
    (close > 0).then(|| Token { kind: Kind::Quoted, text: &inner[..close], start, end })
}

/// An apostrophe closes a quotation only where no word goes on, so that "don't" stays whole, and
/// only nearby, so that many of them do not cost the square of the prompt.
fn closing_apostrophe(inner: &str) -> Option<usize> {
    inner
        .match_indices('\'')
        .map(|(at, _)| at)
        .take_while(|at| *at < 1024)
        .find(|at| inner[at + 1..].chars().next().is_none_or(|next| !next.is_alphanumeric()))
}

fn json(source: &str, start: usize) -> Option<Token<'_>> {
    let rest = &source[start..];
    if !rest.starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    values.next()?.ok()?;
    let end = start + values.byte_offset();
    Some(Token { kind: Kind::Json, text: &source[start..end], start, end })
}

fn push_word<'a>(source: &'a str, start: usize, tokens: &mut Vec<Token<'a>>) -> usize {
    let rest = &source[start..];
    let first_length = rest.chars().next().map_or(0, char::len_utf8);
    let end = rest[first_length..]
        .find(|c: char| c.is_whitespace() || c == '`')
        .map_or(source.len(), |length| start + first_length + length);
    let raw = &source[start..end];
    let follows_quotation = source[..start].ends_with(|c: char| !c.is_whitespace());
    let (word, mark) = match raw {
        // A lone dot is a place, unless it ends a sentence that ends in a quotation.
        "." if !follows_quotation => (raw, None),
        _ => split_punctuation(raw),
    };
    if !word.is_empty() {
        let end = start + word.len();
        tokens.push(Token { kind: Kind::Word, text: word, start, end });
    }
    if let Some(kind) = mark {
        tokens.push(Token { kind, text: "", start: start + word.len(), end });
    }
    end
}

fn split_punctuation(raw: &str) -> (&str, Option<Kind>) {
    // Names that end in such dots are places, not ends of sentences.
    if raw.ends_with("..") || raw.ends_with("/.") {
        return (raw, None);
    }
    let Some(last) = raw.chars().next_back() else { return (raw, None) };
    let kind = match last {
        ',' | ';' => Kind::Comma,
        ':' => Kind::Colon,
        '.' | '!' | '?' => Kind::Stop,
        _ => return (raw, None),
    };
    (&raw[..raw.len() - 1], Some(kind))
}
