//! Which provider answers for which model.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value};
use tillerman_models::anthropic::{
    Anthropic, AnthropicConfig, CachePolicy, Credential, USER_AGENT,
};
use tillerman_models::connections::Connections;
use tillerman_models::openai::{
    Dialect, OPENAI_BASE_URL, OpenAiCompatible, OpenAiConfig, ProviderKind, provider_for,
};
use tillerman_models::rehearsal::{Rehearsal, RehearsalNote};
use tillerman_models::secret::Secret;
use tillerman_ports::{BoxFuture, EventStream, Model};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure, ModelRequest};

use crate::credentials::Credentials;
use crate::environment::Environment;

const ANTHROPIC: &str = "https://api.anthropic.com";
/// Local servers refuse a limit that does not fit into their window.
const LOCAL_MAX_TOKENS: u64 = 4_096;
const NO_CREDENTIALS: &str = "No credentials were found, so nothing was sent. Set ANTHROPIC_API_KEY, \
     or choose --model rehearsal to try things offline.";

/// What happens when there are no credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutCredentials {
    /// The rehearsal model answers, and says so: a person is looking.
    Rehearse,
    /// Every request fails: a program is looking.
    #[default]
    Fail,
}

/// Sends each request to the provider of its model; providers are made when first needed.
#[derive(Debug)]
pub(crate) struct Router {
    anthropic: Option<AnthropicConfig>,
    anthropic_client: OnceLock<Arc<Anthropic>>,
    connections: Connections,
    base_url: Option<String>,
    openai_key: Option<Secret>,
    openai_url: Option<String>,
    without: WithoutCredentials,
    note: RehearsalNote,
}

impl Router {
    pub(crate) fn new(
        environment: &Environment,
        credentials: &Credentials,
        without: WithoutCredentials,
        note: RehearsalNote,
        connections: Connections,
    ) -> Self {
        let base_url = environment.get("ANTHROPIC_BASE_URL");
        let credential = credentials.anthropic.clone();
        Self {
            anthropic: credential.map(|credential| config(environment, credential)),
            anthropic_client: OnceLock::new(),
            connections,
            base_url,
            openai_key: credentials.openai.clone(),
            openai_url: environment.get("OPENAI_BASE_URL"),
            without,
            note,
        }
    }

    fn choose(&self, request: &mut ModelRequest) -> Arc<dyn Model> {
        let base_url = self.base_url.as_deref();
        match provider_for(&request.model, self.openai_url.as_deref().or(base_url)) {
            ProviderKind::Rehearsal => Arc::new(Rehearsal::new(self.note)),
            ProviderKind::OpenAiCompatible { base_url, model } => {
                request.model = model;
                let config = openai_config(base_url, self.openai_key.clone());
                Arc::new(OpenAiCompatible::sharing(config, self.connections.clone()))
            }
            ProviderKind::Anthropic => match (&self.anthropic, self.without) {
                (Some(config), _) => {
                    let connections = || self.connections.clone();
                    let make = || Arc::new(Anthropic::sharing(config.clone(), connections()));
                    Arc::clone(self.anthropic_client.get_or_init(make)) as Arc<dyn Model>
                }
                (None, WithoutCredentials::Rehearse) => {
                    Arc::new(Rehearsal::new(RehearsalNote::NoKey))
                }
                (None, WithoutCredentials::Fail) => Arc::new(Unconfigured),
            },
        }
    }
}

impl Model for Router {
    fn respond(&self, mut request: ModelRequest) -> EventStream {
        self.choose(&mut request).respond(request)
    }

    fn count_tokens(&self, mut request: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        self.choose(&mut request).count_tokens(request)
    }
}

/// Stands where no provider is configured.
#[derive(Debug)]
struct Unconfigured;

impl Model for Unconfigured {
    fn respond(&self, _: ModelRequest) -> EventStream {
        let failure = ModelFailure::new(FailureKind::Authentication, NO_CREDENTIALS);
        Box::pin(futures_util::stream::iter([ModelEvent::Failed(failure)]))
    }

    fn count_tokens(&self, _: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        let failure = ModelFailure::new(FailureKind::Authentication, NO_CREDENTIALS);
        Box::pin(std::future::ready(Err(failure)))
    }
}

fn config(environment: &Environment, credential: Credential) -> AnthropicConfig {
    let cache = if environment.is_on("DISABLE_PROMPT_CACHING") {
        CachePolicy::Off
    } else if environment.is_on("ENABLE_PROMPT_CACHING_1H") {
        CachePolicy::OneHour
    } else {
        CachePolicy::FiveMinutes
    };
    let betas = environment.get("ANTHROPIC_BETAS").unwrap_or_default();
    let seconds = Duration::from_secs;
    AnthropicConfig {
        base_url: environment.get("ANTHROPIC_BASE_URL").unwrap_or_else(|| ANTHROPIC.to_owned()),
        credential,
        custom_headers: custom_headers(environment),
        betas: betas.split(',').filter(|beta| !beta.is_empty()).map(str::to_owned).collect(),
        extra_body: extra_body(environment),
        user_agent: USER_AGENT.to_owned(),
        cache,
        connect_timeout: environment
            .millis("CLAUDE_CODE_CONNECT_TIMEOUT_MS")
            .unwrap_or(seconds(30)),
        request_timeout: environment.millis("API_TIMEOUT_MS").unwrap_or(seconds(600)),
        idle_timeout: environment.millis("CLAUDE_STREAM_IDLE_TIMEOUT_MS").unwrap_or(seconds(300)),
    }
}

fn openai_config(base_url: String, api_key: Option<Secret>) -> OpenAiConfig {
    let is_openai = base_url == OPENAI_BASE_URL;
    OpenAiConfig {
        dialect: if is_openai { Dialect::OpenAi } else { Dialect::Compatible },
        base_url,
        api_key,
        custom_headers: Vec::new(),
        extra_body: Map::new(),
        max_output_tokens: (!is_openai).then_some(LOCAL_MAX_TOKENS),
        user_agent: USER_AGENT.to_owned(),
        connect_timeout: Duration::from_secs(30),
        request_timeout: Duration::from_secs(600),
        idle_timeout: Duration::from_secs(300),
    }
}

fn custom_headers(environment: &Environment) -> Vec<(String, String)> {
    let lines = environment.get("ANTHROPIC_CUSTOM_HEADERS").unwrap_or_default();
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    lines.lines().filter_map(header).collect()
}

fn extra_body(environment: &Environment) -> Map<String, Value> {
    let text = environment.get("CLAUDE_CODE_EXTRA_BODY").unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
