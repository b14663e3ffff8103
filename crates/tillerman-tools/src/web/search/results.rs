//! What searches find, wherever they search.

use serde_json::{Value, json};

/// How many hits of one search are shown.
pub(super) const MOST_HITS: usize = 20;
const SNIPPET_CHARS: usize = 500;

/// One query with the domains it is limited to.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) allowed: Vec<String>,
    pub(super) blocked: Vec<String>,
}

impl Query {
    /// Whether hits of this host are wanted.
    pub(super) fn wants(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let covers = |domain: &String| {
            let domain = domain.trim_start_matches("*.").to_ascii_lowercase();
            host == domain || host.ends_with(&format!(".{domain}"))
        };
        (self.allowed.is_empty() || self.allowed.iter().any(covers))
            && !self.blocked.iter().any(covers)
    }
}

/// One page that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) snippet: String,
}

impl Hit {
    /// A hit from an object that names its parts in one of the usual ways.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let part = |names: &[&str]| {
            let found = names.iter().find_map(|name| value.get(*name)?.as_str());
            found.unwrap_or_default().trim().to_owned()
        };
        let url = part(&["url", "link", "href"]);
        let snippet = part(&["snippet", "content", "description"]);
        let snippet = snippet.chars().take(SNIPPET_CHARS).collect();
        let title = part(&["title", "name"]);
        (!url.is_empty()).then_some(Self { title, url, snippet })
    }

    fn line(&self) -> String {
        let mut line = format!("- [{}]({})", self.title, self.url);
        if !self.snippet.is_empty() {
            line.push_str(&format!("\n  {}", self.snippet));
        }
        line
    }

    fn to_value(&self) -> Value {
        json!({"title": self.title, "url": self.url})
    }
}

/// A part of what a search brought.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Hits, with the id of the search that found them.
    Hits(String, Vec<Hit>),
    /// Words about them.
    Text(String),
}

impl Part {
    /// The part as the model sees it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Hits(_, hits) => hits.iter().map(Hit::line).collect::<Vec<_>>().join("\n"),
            Self::Text(text) => text.trim().to_owned(),
        }
    }

    /// The part as hosts see it.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Hits(id, hits) => {
                let content: Vec<Value> = hits.iter().map(Hit::to_value).collect();
                json!({"tool_use_id": id, "content": content})
            }
            Self::Text(text) => Value::from(text.trim()),
        }
    }
}
