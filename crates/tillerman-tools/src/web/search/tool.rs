//! The search call: from the model's query to hits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::endpoint::Endpoint;
use super::provider;
use super::results::{Part, Query};
use crate::config::{SearchSource, SideModel};
use crate::input::Fields;

const NAME: &str = "WebSearch";
const SEARCHES_PER_SESSION: usize = 200;

const DESCRIPTION: &str = "\
Searches the web and returns titles and addresses of pages, for what may have changed since your \
knowledge ends. Read the pages themselves with WebFetch. Name the pages your answer rests on.";

/// Searches the web.
#[derive(Debug)]
pub(crate) struct WebSearch {
    search: Arc<Search>,
}

#[derive(Debug)]
struct Search {
    source: Source,
    made: AtomicUsize,
}

#[derive(Debug)]
enum Source {
    Endpoint(Endpoint),
    Provider(SideModel),
}

impl WebSearch {
    pub(crate) fn new(source: SearchSource) -> Self {
        let source = match source {
            SearchSource::Endpoint(template) => Source::Endpoint(Endpoint::new(template)),
            SearchSource::Provider(model) => Source::Provider(model),
        };
        Self { search: Arc::new(Search { source, made: AtomicUsize::new(0) }) }
    }
}

fn parse(input: &Value) -> Result<Query, String> {
    let fields = Fields::of(NAME, input)?;
    let text = fields.required_text("query", "what to search for")?;
    if text.trim().chars().count() < 2 {
        return Err(fields.fault("query must have at least two characters."));
    }
    let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let allowed = owned(fields.texts("allowed_domains")?);
    let blocked = owned(fields.texts("blocked_domains")?);
    if !allowed.is_empty() && !blocked.is_empty() {
        return Err(fields.fault("give either allowed_domains or blocked_domains, not both."));
    }
    Ok(Query { text: text.trim().to_owned(), allowed, blocked })
}

impl Tool for WebSearch {
    fn spec(&self) -> ToolSpec {
        let domains = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 2, "description": "What to search for."},
                    "allowed_domains": domains("Only pages of these domains."),
                    "blocked_domains": domains("No pages of these domains."),
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
            // It changes nothing, but it sends the query to a stranger, so it is asked about.
            access: Access::Mutating,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let search = Arc::clone(&self.search);
        Box::pin(async move {
            let query = parse(&call.input).map_err(ToolFailure::new)?;
            if search.made.fetch_add(1, Ordering::Relaxed) >= SEARCHES_PER_SESSION {
                return Err(ToolFailure::new(format!(
                    "The web was not searched: a session may search {SEARCHES_PER_SESSION} times. \
                     Work with what was found."
                )));
            }
            run(&search.source, &query, &call.cancel).await
        })
    }
}

async fn run(source: &Source, query: &Query, cancel: &CancellationToken) -> ToolOutcome {
    let start = Instant::now();
    let found = match source {
        Source::Endpoint(endpoint) => endpoint.search(query, cancel).await,
        Source::Provider(model) => provider::search(model, query, cancel).await,
    };
    let parts =
        found.map_err(|why| ToolFailure::new(format!("The web was not searched: {why}.")))?;
    let searches = parts.iter().filter(|part| matches!(part, Part::Hits(..))).count();
    let shown: Vec<String> =
        parts.iter().map(Part::shown).filter(|text| !text.is_empty()).collect();
    let text = if shown.is_empty() {
        format!("Nothing was found for {:?}.", query.text)
    } else {
        format!("Found for {:?}:\n\n{}", query.text, shown.join("\n\n"))
    };
    let structured = json!({
        "query": query.text,
        "results": parts.iter().map(Part::to_value).collect::<Vec<_>>(),
        "durationSeconds": start.elapsed().as_secs_f64(),
        "searchCount": searches,
    });
    Ok(ToolOutput::new(Content::Text(text), Some(structured)))
}
