//! From the text of a skill or command to parts: words, programs to run, files to show.

use crate::extensions::words;

const MOST_PROGRAMS: usize = 32;

/// A part of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words as they are.
    Text(String),
    /// A shell command whose output stands in its place.
    Program(String),
    /// A file that is mentioned, as it is written.
    File(String),
}

/// What stands behind the name of a skill, and what its text may refer to.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Everything behind the name.
    pub text: String,
    /// Names for the words of it.
    pub names: Vec<String>,
    /// Values of `${NAME}`.
    pub variables: Vec<(&'static str, String)>,
}

/// Takes a text apart and fills the arguments in.
///
/// Programs and files are found before anything is filled in, so that arguments, which the model
/// may choose, bring neither.
#[must_use]
pub fn expand(template: &str, arguments: &Arguments) -> Vec<Part> {
    let filler = words::Filler::new(arguments);
    let mut used = false;
    let mut parts: Vec<Part> = split(template)
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => Part::Text(filler.fill(&text, &mut used)),
            Part::Program(text) => Part::Program(filler.fill(&text, &mut used)),
            Part::File(text) => Part::File(filler.fill(&text, &mut used)),
        })
        .collect();
    if !used && !arguments.text.trim().is_empty() {
        parts.push(Part::Text(format!("\n\nARGUMENTS: {}", arguments.text.trim())));
    }
    parts
}

/// Finds programs and files in a text.
fn split(template: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut programs = 0;
    let mut fence = Fence::None;
    for line in template.split_inclusive('\n') {
        let trimmed = line.trim();
        match &mut fence {
            Fence::Program(body) if trimmed == "```" => {
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Program(body.trim().to_owned()));
                text.push('\n');
                fence = Fence::None;
            }
            Fence::Program(body) => body.push_str(line),
            Fence::Code => {
                if trimmed.starts_with("```") {
                    fence = Fence::None;
                }
                text.push_str(line);
            }
            Fence::None if trimmed == "```!" && programs < MOST_PROGRAMS => {
                programs += 1;
                fence = Fence::Program(String::new());
            }
            Fence::None if trimmed.starts_with("```") => {
                fence = Fence::Code;
                text.push_str(line);
            }
            Fence::None => split_line(line, &mut text, &mut parts, &mut programs),
        }
    }
    if let Fence::Program(body) = fence {
        // Never ended: it is no program, only text.
        text.push_str("```!\n");
        text.push_str(&body);
    }
    parts.push(Part::Text(text));
    parts.retain(|part| *part != Part::Text(String::new()));
    parts
}

enum Fence {
    None,
    Code,
    Program(String),
}

fn split_line(line: &str, text: &mut String, parts: &mut Vec<Part>, programs: &mut usize) {
    let mut rest = line;
    let mut before = ' ';
    while let Some(next) = rest.chars().next() {
        if before.is_whitespace()
            && next == '!'
            && *programs < MOST_PROGRAMS
            && let Some(body) = rest.strip_prefix("!`")
            && let Some(end) = body.find('`')
        {
            *programs += 1;
            parts.push(Part::Text(std::mem::take(text)));
            parts.push(Part::Program(body[..end].trim().to_owned()));
            rest = &body[end + 1..];
            before = '`';
            continue;
        }
        if next == '`'
            && let Some(end) = rest[1..].find('`')
        {
            text.push_str(&rest[..end + 2]);
            rest = &rest[end + 2..];
            before = '`';
            continue;
        }
        if before.is_whitespace()
            && next == '@'
            && let Some(path) = mention(&rest[1..])
        {
            parts.push(Part::Text(std::mem::take(text)));
            parts.push(Part::File(path.to_owned()));
            rest = &rest[1 + path.len()..];
            before = '@';
            continue;
        }
        text.push(next);
        before = next;
        rest = &rest[next.len_utf8()..];
    }
}

/// The path behind an `@`.
fn mention(text: &str) -> Option<&str> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let path = text[..end].trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
    (!path.is_empty() && !path.contains('@')).then_some(path)
}
