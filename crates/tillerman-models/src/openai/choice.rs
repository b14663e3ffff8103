//! Decides which provider a model's name and a base URL mean.

use reqwest::Url;

/// Where OpenAI itself answers.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";
/// Where an Ollama on this machine answers.
pub const OLLAMA_BASE_URL: &str = "http://127.0.0.1:11434/v1";

const PREFIXES: [(&str, &str); 4] = [
    ("openai:", OPENAI_BASE_URL),
    ("openai/", OPENAI_BASE_URL),
    ("ollama:", OLLAMA_BASE_URL),
    ("ollama/", OLLAMA_BASE_URL),
];

/// Which provider answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    /// The Anthropic Messages API.
    Anthropic,
    /// A server that speaks OpenAI's chat completions.
    OpenAiCompatible {
        /// Its base URL, without `/chat/completions`.
        base_url: String,
        /// The model as that server names it.
        model: String,
    },
    /// The built-in rehearsal.
    Rehearsal,
}

/// Decides which provider a model's name and a base URL, if one is configured, mean.
///
/// A prefix of the name decides first, then the form of the URL.
#[must_use]
pub fn provider_for(model: &str, base_url: Option<&str>) -> ProviderKind {
    let model = model.trim();
    if model.eq_ignore_ascii_case("rehearsal") {
        return ProviderKind::Rehearsal;
    }
    let configured = base_url.map(str::trim).filter(|url| !url.is_empty() && !is_anthropic(url));
    let prefix = PREFIXES.iter().find(|(prefix, _)| starts_with(model, prefix));
    let base_url = match (prefix, configured) {
        (Some(_), Some(url)) => normal_base(url),
        (Some((_, default)), None) => (*default).to_owned(),
        (None, Some(url)) if speaks_chat(url) => normal_base(url),
        (None, _) => return ProviderKind::Anthropic,
    };
    let model = name_at(model, &base_url).to_owned();
    ProviderKind::OpenAiCompatible { base_url, model }
}

/// The name a server knows a model by.
///
/// Gateways and local servers have models whose names begin with `openai/`, so that prefix is
/// taken off only for OpenAI itself.
pub(super) fn name_at<'a>(model: &'a str, base_url: &str) -> &'a str {
    let found = PREFIXES.iter().find(|(prefix, _)| starts_with(model, prefix));
    match found {
        Some(("openai/", _)) if host(base_url).as_deref() != Some("api.openai.com") => model,
        Some((prefix, _)) => &model[prefix.len()..],
        None => model,
    }
}

/// A base URL without what requests add to it; a bare host gets the usual `/v1`.
pub(super) fn normal_base(url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix("/chat/completions").unwrap_or(url);
    let is_bare = Url::parse(url).is_ok_and(|parsed| matches!(parsed.path(), "" | "/"));
    if is_bare { format!("{url}/v1") } else { url.to_owned() }
}

fn speaks_chat(url: &str) -> bool {
    let url = url.trim_end_matches('/');
    url.ends_with("/v1") || url.ends_with("/chat/completions")
}

fn is_anthropic(url: &str) -> bool {
    host(url).is_some_and(|host| host == "anthropic.com" || host.ends_with(".anthropic.com"))
}

fn host(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn starts_with(model: &str, prefix: &str) -> bool {
    model.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        && model.len() > prefix.len()
}
