//! The tool that finds files by name.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};
use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Hidden, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::bounds::{Brake, Foremost};
use super::place::{ByChange, Place, is_version_control};
use crate::blocking::{interrupted, off_thread};
use crate::files::check_path;
use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "Glob";
const MOST_FILES: usize = 100;

const DESCRIPTION: &str = "\
Finds files by name, the most recently changed first, up to 100 of them. A pattern with a slash, such \
as \"src/**/*.rs\", is compared with the path below the searched directory; one without, such as \
\"*.rs\", with the name at any depth. {a,b} and [abc] work too. Hidden files and files that git ignores \
are found as well; the inside of .git is not.";

/// Finds files by name.
#[derive(Debug)]
pub(crate) struct Glob {
    session: Arc<Session>,
}

impl Glob {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

struct Params {
    pattern: String,
    path: Option<String>,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let pattern = fields.required_text("pattern", "the pattern of the names to find")?;
        if pattern.trim().is_empty() {
            return Err(fields.fault("pattern is empty; give one such as \"**/*.rs\"."));
        }
        let path = fields.optional_text("path")?.filter(|path| !path.is_empty());
        if let Some(path) = path {
            check_path(NAME, "path", path)?;
        }
        // Whoever approves a search approves a directory; the pattern must not lead out of it.
        let mut parts = Path::new(pattern).components();
        if parts.any(|part| part == Component::ParentDir) {
            return Err(
                fields.fault("pattern contains \"..\"; name the directory in path instead.")
            );
        }
        Ok(Self { pattern: pattern.to_owned(), path: path.map(str::to_owned) })
    }
}

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "The pattern of the names to find."},
                    "path": {
                        "type": "string",
                        "description": "The directory to search; the session's directory unless given.",
                    },
                },
                "required": ["pattern"],
                "additionalProperties": false,
            }),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        Params::parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let session = Arc::clone(&self.session);
        Box::pin(async move {
            let params = Params::parse(&call.input).map_err(ToolFailure::new)?;
            let ToolCall { cancel, hidden, .. } = call;
            off_thread(cancel, move |cancel| glob(&session, &params, hidden, cancel)).await
        })
    }
}

fn glob(
    session: &Session,
    params: &Params,
    hidden: Hidden,
    cancel: &CancellationToken,
) -> ToolOutcome {
    let start = Instant::now();
    let place = Place::find(session, params.path.as_deref(), hidden).map_err(ToolFailure::new)?;
    if !place.root.is_dir() {
        let root = place.root.display();
        return Err(ToolFailure::new(format!("{root} is a file; path must name a directory.")));
    }
    let plan = Plan::make(&place.root, &params.pattern).map_err(ToolFailure::new)?;
    let brake = Brake::new(cancel);
    let found = walk(&plan, &place, &brake);
    if brake.is_cancelled() {
        return Err(interrupted());
    }
    let total = found.total();
    let names: Vec<String> =
        found.into_sorted().iter().map(|file| place.name(&file.path)).collect();
    let truncated = total > names.len();
    let mut lines = names.clone();
    if names.is_empty() {
        lines.push(format!("No file matches {} in {}.", params.pattern, place.root.display()));
    }
    if truncated {
        lines.push(format!(
            "[{} of {total} files, the most recently changed. Use a narrower pattern or path to see others.]",
            names.len()
        ));
    }
    let mut structured = json!({
        "filenames": names,
        "durationMs": start.elapsed().as_millis() as u64,
        "numFiles": names.len(),
        "truncated": truncated,
        "totalMatches": total,
        "countIsComplete": !brake.timed_out(),
    });
    if brake.timed_out() {
        lines.push(
            "[The search took too long and was stopped; there may be more files.]".to_owned(),
        );
        structured["timedOut"] = Value::from(true);
    }
    Ok(ToolOutput::new(Content::Text(lines.join("\n")), Some(structured)))
}

/// Where to walk and what to compare with what.
struct Plan {
    start: PathBuf,
    base: PathBuf,
    matcher: GlobMatcher,
    into_version_control: bool,
}

impl Plan {
    fn make(root: &Path, pattern: &str) -> Result<Self, String> {
        let relative = match Path::new(pattern).strip_prefix(root) {
            Ok(relative) => relative.to_str().unwrap_or(pattern),
            Err(_) if pattern.starts_with('/') => {
                return Err(format!(
                    "{NAME}: the pattern {pattern} does not lie in {}. Give the directory as path \
                     and a pattern relative to it.",
                    root.display()
                ));
            }
            Err(_) => pattern.strip_prefix("./").unwrap_or(pattern),
        };
        let anywhere = if relative.contains('/') { String::new() } else { "**/".to_owned() };
        let matcher = GlobBuilder::new(&format!("{anywhere}{relative}"))
            .literal_separator(true)
            .build()
            .map_err(|error| {
                format!("{NAME}: the pattern {pattern} is not valid: {}.", error.kind())
            })?
            .compile_matcher();
        // Directories named in full need no search, so the walk starts below them.
        let literal = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
        let parts: Vec<&str> = relative.split('/').collect();
        let fixed = parts[..parts.len() - 1].iter().copied().take_while(literal);
        let start = fixed.fold(root.to_path_buf(), |path, part| path.join(part));
        let into_version_control = parts.iter().any(|part| part.starts_with(".git"));
        Ok(Self { start, base: root.to_path_buf(), matcher, into_version_control })
    }
}

fn walk(plan: &Plan, place: &Place, brake: &Brake<'_>) -> Foremost<ByChange> {
    let found = Mutex::new(Foremost::new(MOST_FILES));
    // Links are not followed, and a start that is a link would lead out of what was approved.
    if !plan.start.is_dir() || leads_elsewhere(plan) {
        return found.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
    let all = plan.into_version_control;
    let passes = place.passes();
    WalkBuilder::new(&plan.start)
        .standard_filters(false)
        .follow_links(false)
        .filter_entry(move |entry| (all || !is_version_control(entry)) && passes(entry))
        .build_parallel()
        .run(|| {
            Box::new(|entry| {
                if brake.is_pulled() {
                    return WalkState::Quit;
                }
                // What cannot be entered is left out, as every search does.
                let Ok(entry) = entry else { return WalkState::Continue };
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                let matches = is_file
                    && entry
                        .path()
                        .strip_prefix(&plan.base)
                        .is_ok_and(|path| plan.matcher.is_match(path));
                if matches {
                    let file = ByChange::new(entry.into_path());
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(file);
                }
                WalkState::Continue
            })
        });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn leads_elsewhere(plan: &Plan) -> bool {
    match (plan.start.canonicalize(), plan.base.canonicalize()) {
        (Ok(start), Ok(base)) => !start.starts_with(base),
        _ => true,
    }
}
