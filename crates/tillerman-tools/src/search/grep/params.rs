//! What a search by content is asked for.

use serde_json::{Value, json};

use crate::files::check_path;
use crate::input::Fields;

pub(super) const NAME: &str = "Grep";
const DEFAULT_LIMIT: usize = 250;
const MODES: [&str; 3] = ["content", "files_with_matches", "count"];
/// More context than this is better read from the file.
const MOST_CONTEXT: u64 = 1_000;

/// What is shown of the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The matching lines.
    Content,
    /// The files that have any.
    Files,
    /// How many each file has.
    Count,
}

impl Mode {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Content => MODES[0],
            Self::Files => MODES[1],
            Self::Count => MODES[2],
        }
    }
}

/// How lines are matched and shown.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) numbers: Numbers,
    pub(super) part: Part,
}

/// Whether lines are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    Shown,
    Hidden,
}

/// How much of a matching line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Line,
    MatchOnly,
}

/// One search.
#[derive(Debug)]
pub(super) struct Params {
    pub(super) pattern: String,
    pub(super) path: Option<String>,
    pub(super) globs: Vec<String>,
    pub(super) file_type: Option<String>,
    pub(super) mode: Mode,
    pub(super) lines: Lines,
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
    /// Nothing means as many as there are.
    pub(super) limit: Option<usize>,
    pub(super) offset: usize,
}

impl Params {
    pub(super) fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let pattern = fields.required_text("pattern", "the regular expression to look for")?;
        let path = fields.optional_text("path")?.filter(|path| !path.is_empty());
        if let Some(path) = path {
            check_path(NAME, "path", path)?;
        }
        let mode = match fields.optional_choice("output_mode", &MODES)? {
            Some("content") => Mode::Content,
            Some("count") => Mode::Count,
            _ => Mode::Files,
        };
        let count = |name: &str| {
            let count = fields.optional_whole(name)?;
            Ok::<_, String>(count.map(|count| count.min(MOST_CONTEXT) as usize))
        };
        let around = count("-C")?.or(count("context")?).unwrap_or(0);
        let numbered = fields.optional_flag("-n")?.unwrap_or(true);
        let match_only = fields.optional_flag("-o")?.unwrap_or(false);
        let lines = Lines {
            before: count("-B")?.unwrap_or(around),
            after: count("-A")?.unwrap_or(around),
            numbers: if numbered { Numbers::Shown } else { Numbers::Hidden },
            part: if match_only { Part::MatchOnly } else { Part::Line },
        };
        let whole = |name: &str| {
            let number = fields.optional_whole(name)?;
            Ok::<_, String>(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
        };
        let limit = whole("head_limit")?.unwrap_or(DEFAULT_LIMIT);
        Ok(Self {
            pattern: pattern.to_owned(),
            path: path.map(str::to_owned),
            globs: fields.optional_text("glob")?.map(split_globs).unwrap_or_default(),
            file_type: fields.optional_text("type")?.filter(|it| !it.is_empty()).map(str::to_owned),
            mode,
            lines,
            ignore_case: fields.optional_flag("-i")?.unwrap_or(false),
            multiline: fields.optional_flag("multiline")?.unwrap_or(false),
            limit: (limit > 0).then_some(limit),
            offset: whole("offset")?.unwrap_or(0),
        })
    }
}

/// Several globs may stand in one text, separated by spaces or commas outside of braces.
fn split_globs(text: &str) -> Vec<String> {
    let mut globs = vec![String::new()];
    let mut depth = 0_usize;
    for char in text.chars() {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (char == ',' || char.is_whitespace()) {
            globs.push(String::new());
        } else if let Some(glob) = globs.last_mut() {
            glob.push(char);
        }
    }
    globs.retain(|glob| !glob.is_empty());
    globs
}

pub(super) fn input_schema() -> Value {
    let flag = |about: &str| json!({"type": "boolean", "description": about});
    let number = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let text = |about: &str| json!({"type": "string", "description": about});
    json!({
        "type": "object",
        "properties": {
            "pattern": text("The regular expression to look for."),
            "path": text("The file or directory to search; the session's directory unless given."),
            "glob": text("Only files whose path fits, for example \"*.{ts,tsx}\"."),
            "type": text("Only files of this type, for example rust, py or js."),
            "output_mode": {
                "type": "string",
                "enum": MODES,
                "default": MODES[1],
                "description": "Show matching lines, the files that have some, or how many each has.",
            },
            "-B": number("Lines to show before each match; for content."),
            "-A": number("Lines to show after each match; for content."),
            "-C": number("Lines to show before and after each match; for content."),
            "context": number("The same as -C."),
            "-n": flag("Number the lines; for content, true unless given."),
            "-i": flag("Do not distinguish upper and lower case."),
            "-o": flag("Show only the matching parts of lines; for content."),
            "multiline": flag("Let the pattern span lines; a dot matches line ends then."),
            "head_limit": number("How many lines or files to show; 250 unless given, 0 for all."),
            "offset": number("How many lines or files to leave out first."),
        },
        "required": ["pattern"],
        "additionalProperties": false,
    })
}
