//! Output styles: text that changes how the agent answers.

use std::path::{Path, PathBuf};

use crate::extensions::frontmatter::{self, flag, text};
use crate::extensions::origin::{Home, Origin};
use crate::extensions::problem::Problem;
use crate::extensions::tree;

/// The style of a session that chooses none.
pub const DEFAULT_STYLE: &str = "default";

/// An output style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputStyle {
    /// What it is chosen by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What the agent is told.
    pub text: String,
    /// What becomes of the instructions for coding.
    pub coding: CodingInstructions,
    /// Where it comes from.
    pub origin: Origin,
    /// The file; empty for styles that are built in.
    pub path: PathBuf,
}

/// What becomes of the instructions for coding under a style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodingInstructions {
    /// They stay, and the style is added to them.
    Kept,
    /// The style stands in their place.
    Replaced,
}

const BUILT_IN: [(&str, &str, &str); 4] = [
    (
        "Proactive",
        "Acts without waiting to be told each step",
        "Take the next sensible step yourself instead of proposing it. Ask only where a wrong \
         guess would be costly, and report what you did and why at the end.",
    ),
    (
        "Concise",
        "Says as little as possible",
        "Answer in as few words as carry the meaning. No introductions, no summaries of what \
         was just said, no offers. Prefer a line of code or a path to a paragraph.",
    ),
    (
        "Explanatory",
        "Explains choices while working",
        "While you work, explain the choices that matter: why this place, why this way, what \
         the codebase already does and what you deliberately left alone. Keep each explanation \
         to a few sentences and tie it to the code at hand.",
    ),
    (
        "Learning",
        "Works together with somebody who wants to learn",
        "Work with the person as with a colleague who wants to learn. Do the groundwork \
         yourself, and where a decision is instructive and small, leave it to them: say what is \
         to be written, where, and what to think about, then wait for their version and \
         discuss it.",
    ),
];

/// Reads the styles of all places, strongest first, then those that are built in.
pub(crate) fn load(homes: &[Home], problems: &mut Vec<Problem>) -> Vec<OutputStyle> {
    let mut styles: Vec<OutputStyle> = Vec::new();
    for home in homes {
        for path in tree::markdown_files(&home.root, &home.directory, problems) {
            match read(home, &path) {
                Ok(Some(style)) if !styles.iter().any(|held| held.name == style.name) => {
                    styles.push(style);
                }
                Ok(_) => {}
                Err(problem) => problems.push(problem),
            }
        }
    }
    let built_in = BUILT_IN.iter().map(|(name, description, text)| OutputStyle {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        text: (*text).to_owned(),
        coding: CodingInstructions::Kept,
        origin: Origin::Managed,
        path: PathBuf::new(),
    });
    for style in built_in {
        if !styles.iter().any(|held| held.name == style.name) {
            styles.push(style);
        }
    }
    styles
}

fn read(home: &Home, path: &Path) -> Result<Option<OutputStyle>, Problem> {
    let Some(content) = tree::read(&home.root, path)? else { return Ok(None) };
    let document = frontmatter::parse(path, &content)?;
    let file_name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let name = text(&document.fields, "name").unwrap_or_else(|| file_name.to_owned());
    let name = match &home.origin {
        Origin::Plugin { name: plugin, .. } => format!("{plugin}:{name}"),
        _ => name,
    };
    let keeps = flag(&document.fields, "keep-coding-instructions") == Some(true);
    Ok(Some(OutputStyle {
        name,
        description: text(&document.fields, "description").unwrap_or_default(),
        text: document.body,
        coding: if keeps { CodingInstructions::Kept } else { CodingInstructions::Replaced },
        origin: home.origin.clone(),
        path: path.to_path_buf(),
    }))
}
