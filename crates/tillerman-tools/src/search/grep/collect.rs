//! Taking in the matches of one file.

use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::params::{Lines, Numbers, Part};

/// Longer lines are shown around their match only.
const LINE_CHARS: usize = 500;
const CHARS_BEFORE_MATCH: usize = 100;

/// Notices that a file matches.
#[derive(Debug, Default)]
pub(super) struct AnyMatch {
    pub(super) found: bool,
}

impl Sink for AnyMatch {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.found = true;
        Ok(false)
    }
}

/// Counts the matching lines of a file.
#[derive(Debug, Default)]
pub(super) struct MatchCount {
    pub(super) count: u64,
    is_binary: bool,
}

impl MatchCount {
    /// The count; binary files do not count.
    pub(super) fn of_text(&self) -> u64 {
        if self.is_binary { 0 } else { self.count }
    }
}

impl Sink for MatchCount {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += matched.lines().count() as u64;
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Takes in the matching lines of a file with those around them.
#[derive(Debug)]
pub(super) struct MatchLines<'a> {
    matcher: &'a RegexMatcher,
    lines: &'a Lines,
    name: &'a str,
    most: usize,
    kept: Vec<String>,
    total: usize,
    is_binary: bool,
}

impl<'a> MatchLines<'a> {
    /// Keeps at most so many lines and counts all.
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        lines: &'a Lines,
        name: &'a str,
        most: usize,
    ) -> Self {
        let (kept, total, is_binary) = (Vec::new(), 0, false);
        Self { matcher, lines, name, most, kept, total, is_binary }
    }

    /// The lines kept and how many there were, unless the file is binary after all.
    pub(super) fn into_lines(self) -> Option<(Vec<String>, usize)> {
        (!self.is_binary && self.total > 0).then_some((self.kept, self.total))
    }

    fn push(&mut self, sign: char, number: Option<u64>, text: &str) {
        self.total += 1;
        if self.kept.len() >= self.most {
            return;
        }
        let name = self.name;
        self.kept.push(match number.filter(|_| self.lines.numbers == Numbers::Shown) {
            Some(number) => format!("{name}{sign}{number}{sign}{text}"),
            None => format!("{name}{sign}{text}"),
        });
    }

    fn push_matches(&mut self, number: Option<u64>, line: &[u8]) -> io::Result<()> {
        let mut parts = Vec::new();
        let matcher = self.matcher;
        matcher.find_iter(line, |found| {
            parts.push(found);
            true
        })?;
        for part in parts.iter().filter(|part| !part.is_empty()) {
            self.push(':', number, &shown(&line[part.start()..part.end()], 0));
        }
        Ok(())
    }
}

impl Sink for MatchLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        let first = matched.line_number();
        if self.lines.part == Part::MatchOnly {
            self.push_matches(first, matched.bytes())?;
            return Ok(true);
        }
        for (index, line) in matched.lines().enumerate() {
            let number = first.map(|first| first + index as u64);
            if self.kept.len() >= self.most {
                self.total += 1;
                continue;
            }
            let at = if line.len() > LINE_CHARS {
                self.matcher.find(line)?.map_or(0, |found| found.start())
            } else {
                0
            };
            self.push(':', number, &shown(line, at));
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.push('-', context.line_number(), &shown(context.bytes(), 0));
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.total += 1;
        if self.kept.len() < self.most {
            self.kept.push("--".to_owned());
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A line as it is shown: without its end, and only the surroundings of the match when it is long.
fn shown(line: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\n', '\r']);
    if text.len() <= LINE_CHARS {
        return text.to_owned();
    }
    // Bytes that are no text may have moved the place a little; that does no harm.
    let mut start = at.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let start = text[..start].char_indices().rev().nth(CHARS_BEFORE_MATCH).map_or(0, |(at, _)| at);
    let rest = &text[start..];
    let end = rest.char_indices().nth(LINE_CHARS).map_or(rest.len(), |(end, _)| end);
    let before = if start > 0 { "[…] " } else { "" };
    let after = if end < rest.len() { " […]" } else { "" };
    format!("{before}{}{after}", &rest[..end])
}
