//! Searching with the tool that the model's provider runs itself.

use serde_json::{Map, Value, json};
use tillerman_protocol::model::FailureKind;
use tokio_util::sync::CancellationToken;

use super::results::{Hit, MOST_HITS, Part, Query};
use crate::config::SideModel;
use crate::web::side_request::{self, ask};

const MOST_SEARCHES: u32 = 8;
const SEARCHER: &str = "\
You search the web for somebody else. Search for what they ask, more than once if that helps, then \
sum up in a few sentences what the results say.";

/// Searches.
///
/// # Errors
/// A text for the model.
pub(super) async fn search(
    model: &SideModel,
    query: &Query,
    cancel: &CancellationToken,
) -> Result<Vec<Part>, String> {
    let mut tool = json!({
        "type": "web_search_20250305",
        "name": "web_search",
        "max_uses": MOST_SEARCHES,
    });
    for (name, domains) in
        [("allowed_domains", &query.allowed), ("blocked_domains", &query.blocked)]
    {
        if !domains.is_empty() {
            tool[name] = json!(domains);
        }
    }
    let mut extra_body = Map::new();
    extra_body.insert("tools".to_owned(), json!([tool]));
    let prompt = format!("Search the web for: {}", query.text);
    let answer =
        ask(model, SEARCHER, prompt, extra_body, cancel).await.map_err(
            |failure| match failure.kind {
                FailureKind::InvalidRequest | FailureKind::ModelUnavailable => format!(
                    "the provider of {} refused ({failure}); it may offer no web search. Set \
                 TILLERMAN_SEARCH_URL to search another way",
                    model.name
                ),
                _ => failure.to_string(),
            },
        )?;
    let parts: Vec<Part> = answer.into_iter().filter_map(read).collect();
    if !parts.iter().any(|part| matches!(part, Part::Hits(..))) {
        return Err(format!(
            "{} answered without searching, so its provider offers no web search. Set \
             TILLERMAN_SEARCH_URL to search another way",
            model.name
        ));
    }
    Ok(parts)
}

fn read(part: side_request::Part) -> Option<Part> {
    let block = match part {
        side_request::Part::Text(text) => {
            return (!text.trim().is_empty()).then_some(Part::Text(text));
        }
        side_request::Part::Block(block) => block,
    };
    if block.get("type")? != "web_search_tool_result" {
        return None;
    }
    let id = block.get("tool_use_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    match block.get("content")? {
        Value::Array(found) => {
            Some(Part::Hits(id, found.iter().filter_map(Hit::read).take(MOST_HITS).collect()))
        }
        error => {
            let code = error.get("error_code").and_then(Value::as_str).unwrap_or("unknown");
            Some(Part::Text(format!("One search failed: {code}.")))
        }
    }
}
