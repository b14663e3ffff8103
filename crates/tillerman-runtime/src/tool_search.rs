//! The tool with which a model looks up tools that it was only told the names of.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolOutcome, ToolOutput, ToolSpec};

/// The tool's name.
pub(crate) const NAME: &str = "ToolSearch";
/// Tools that one search brings.
const MOST_RESULTS: usize = 5;
/// Characters of names that the description has room for.
const NAMES_ROOM: usize = 24_000;
/// Characters of a description that a result repeats.
const SUMMARY: usize = 240;

/// Finds tools by words or by name.
#[derive(Clone, Debug)]
pub(crate) struct ToolSearch {
    tools: Arc<[ToolSpec]>,
}

impl ToolSearch {
    /// A search among these tools.
    pub(crate) fn new(tools: impl Into<Arc<[ToolSpec]>>) -> Self {
        Self { tools: tools.into() }
    }

    fn find(&self, query: &Query) -> Vec<&ToolSpec> {
        match query {
            Query::Select(names) => {
                let called = |name: &String| self.tools.iter().find(|it| is_called(&it.name, name));
                let mut found: Vec<&ToolSpec> = Vec::new();
                for tool in names.iter().filter_map(called) {
                    if found.iter().all(|held| held.name != tool.name) {
                        found.push(tool);
                    }
                }
                found
            }
            Query::Words(words) => {
                let scored = self.tools.iter().map(|tool| (score(tool, words), tool));
                let mut found: Vec<(u32, &ToolSpec)> =
                    scored.filter(|(score, _)| *score > 0).collect();
                // Stable, so that equally good ones stay in the order of the list.
                found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
                found.into_iter().map(|(_, tool)| tool).collect()
            }
        }
    }

    fn answer(&self, input: &Value) -> ToolOutput {
        let text = input.get("query").and_then(Value::as_str).unwrap_or_default();
        let query = Query::parse(text);
        let wanted = input.get("max_results").and_then(Value::as_u64);
        let wanted = wanted.and_then(|number| usize::try_from(number).ok());
        let most = wanted.unwrap_or(MOST_RESULTS).clamp(1, MOST_RESULTS);
        let found = self.find(&query);
        let total = self.tools.len();
        let brought: Vec<&ToolSpec> = found.iter().take(most).copied().collect();
        let names: Vec<&str> = brought.iter().map(|tool| tool.name.as_str()).collect();
        let structured = json!({"matches": names, "query": text, "total_deferred_tools": total});
        let mut said = if brought.is_empty() {
            format!("No tool fits `{text}`; {total} were searched. Try other or fewer words.")
        } else {
            "These tools can be called from now on:".to_owned()
        };
        for tool in &brought {
            let summary: String = tool.description.chars().take(SUMMARY).collect();
            // Writing to a string cannot fail.
            let _ = write!(said, "\n- {}: {}", tool.name, summary.replace('\n', " "));
        }
        let rest = found.len() - brought.len();
        if rest > 0 && matches!(query, Query::Select(_)) {
            let _ = write!(said, "\n{rest} more were named; one search brings at most {most}.");
        }
        ToolOutput::new(Content::Text(said), Some(structured))
    }
}

impl Tool for ToolSearch {
    fn spec(&self) -> ToolSpec {
        let names = listed(&self.tools);
        ToolSpec {
            name: NAME.to_owned(),
            description: format!(
                "Brings tools that you know only by name: what they do and what they take is there \
                 from your next step on, and then they are called like any other.\n\
                 `query` is either `select:` and names with commas between them, or words that \
                 describe what you need; a word after `+` must be in the tool's name. One search \
                 brings up to {MOST_RESULTS} tools.\n\
                 The tools that can be looked up:\n{names}"
            ),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string",
                        "description": "`select:name,name`, or words to search for."},
                    "max_results": {"type": "number", "default": MOST_RESULTS,
                        "description": "How many tools to bring at most."},
                },
                "required": ["query"],
            }),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        let query = input.get("query").and_then(Value::as_str).map(str::trim);
        match (query, input.get("max_results")) {
            (None | Some(""), _) => Err("`query` must be a text that is not empty".to_owned()),
            (_, Some(number)) if number.as_f64().is_none_or(|number| number < 1.0) => {
                Err("`max_results` must be a number of at least 1".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        Box::pin(std::future::ready(Ok(self.answer(&call.input))))
    }
}

/// What is searched for.
enum Query {
    Select(Vec<String>),
    Words(Vec<Word>),
}

struct Word {
    text: String,
    must_be_in_name: bool,
}

impl Query {
    fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(names) = text.strip_prefix("select:") {
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            return Self::Select(names.map(str::to_owned).collect());
        }
        let word = |word: &str| {
            let (text, must_be_in_name) = match word.strip_prefix('+') {
                Some(rest) => (rest, true),
                None => (word, false),
            };
            Word { text: text.to_lowercase(), must_be_in_name }
        };
        let words = text.split_whitespace().map(word);
        Self::Words(words.filter(|word| !word.text.is_empty()).collect())
    }
}

/// Whether a name means a tool: its own, or what is left of it without the server.
fn is_called(tool: &str, name: &str) -> bool {
    let short = tool.splitn(3, "__").nth(2);
    tool.eq_ignore_ascii_case(name) || short.is_some_and(|short| short.eq_ignore_ascii_case(name))
}

/// How well words fit a tool: its name counts more than what is said about it.
fn score(tool: &ToolSpec, words: &[Word]) -> u32 {
    let name = tool.name.to_lowercase();
    let described = tool.description.to_lowercase();
    let is_separator = |c: char| !c.is_alphanumeric();
    let mut total = 0;
    for word in words {
        let in_name = name.contains(&word.text);
        if word.must_be_in_name && !in_name {
            return 0;
        }
        total += match in_name {
            true if name.split(is_separator).any(|part| part == word.text) => 12,
            true => 6,
            false if described.split(is_separator).any(|part| part == word.text) => 3,
            false if described.contains(&word.text) => 1,
            false => 0,
        };
    }
    total
}

/// The names, as far as there is room for them.
fn listed(tools: &[ToolSpec]) -> String {
    let mut text = String::new();
    for (position, tool) in tools.iter().enumerate() {
        if text.len() + tool.name.len() > NAMES_ROOM {
            let rest = tools.len() - position;
            text.push_str(&format!("and {rest} more, which words find\n"));
            break;
        }
        text.push_str(&tool.name);
        text.push('\n');
    }
    text
}
