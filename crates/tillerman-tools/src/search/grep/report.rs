//! Telling the model and the host what was found, a page at a time.

use serde_json::{Value, json};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::ToolOutput;

use super::params::{Mode, Params};
use super::run::Found;

/// Reports what was found in at most so many characters.
pub(super) fn report(params: &Params, found: &Found, timed_out: bool, most: usize) -> ToolOutput {
    let page = page(params, found, most);
    let end = params.offset + page.len();
    let more = end < found.total;
    let mut text = page.join("\n");
    if page.is_empty() {
        text = match found.total {
            0 => "Nothing matches.".to_owned(),
            total => {
                format!("Nothing to show: offset is {}, but there are {total}.", params.offset)
            }
        };
    }
    if params.mode == Mode::Count && found.files > 0 {
        text.push_str(&format!("\n[{} matching lines in {} files.]", found.matches, found.files));
    }
    if more {
        let unit = if params.mode == Mode::Content { "lines" } else { "files" };
        text.push_str(&format!(
            "\n[{} of {} {unit}. Go on with offset {end}, or search for less.]",
            page.len(),
            found.total
        ));
    }
    if timed_out {
        text.push_str("\n[The search took too long and was stopped; there may be more matches.]");
    }
    let mut structured = structured(params, found, &page);
    if more {
        structured["appliedLimit"] = Value::from(page.len());
    }
    if params.offset > 0 {
        structured["appliedOffset"] = Value::from(params.offset);
    }
    if timed_out {
        structured["timedOut"] = Value::from(true);
    }
    ToolOutput::new(Content::Text(text), Some(structured))
}

/// The lines to show: those asked for, as far as they fit.
fn page<'a>(params: &Params, found: &'a Found, most: usize) -> Vec<&'a str> {
    let mut room = most;
    let wanted = found.entries.iter().skip(params.offset).take(params.limit.unwrap_or(usize::MAX));
    let mut page = Vec::new();
    for line in wanted {
        let cost = line.chars().count() + 1;
        if cost > room && !page.is_empty() {
            break;
        }
        room = room.saturating_sub(cost);
        page.push(line.as_str());
    }
    page
}

fn structured(params: &Params, found: &Found, page: &[&str]) -> Value {
    let mode = params.mode.name();
    match params.mode {
        Mode::Files => json!({
            "mode": mode,
            "filenames": page,
            "numFiles": page.len(),
            "totalFiles": found.total,
        }),
        Mode::Content => json!({
            "mode": mode,
            "numFiles": found.files,
            "filenames": [],
            "content": page.join("\n"),
            "numLines": page.len(),
            "totalLines": found.total,
        }),
        Mode::Count => json!({
            "mode": mode,
            "numFiles": found.files,
            "filenames": [],
            "content": page.join("\n"),
            "numMatches": found.matches,
            "totalFiles": found.total,
        }),
    }
}
