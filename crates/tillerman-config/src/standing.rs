//! What of a repository's settings takes effect: everything may tighten, little may run, less may
//! loosen.

use std::fmt;

use serde_json::{Map, Value};
use tillerman_protocol::permission::PermissionMode;

use crate::keys::{self, Needs};
use crate::source::Source;
use crate::trust::TrustState;
use crate::variables::steers;

/// How far the files of a repository are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The sources that the host named itself; what runs from them may run.
    pub named: Vec<Source>,
    /// Whether the user trusts the repository as it is now.
    pub trust: TrustState,
    /// Rules and directories that the user approved one by one.
    pub approved: Vec<String>,
}

impl Standing {
    /// Nobody named anything and nothing is trusted.
    #[must_use]
    pub fn untrusted(why: &str) -> Self {
        let trust = TrustState::Untrusted { why: why.to_owned() };
        Self { named: Vec::new(), trust, approved: Vec::new() }
    }

    /// Whether what a source runs (hooks, servers, commands, variables) takes effect.
    #[must_use]
    pub fn runs(&self, source: Source) -> bool {
        !source.is_in_repository() || self.named.contains(&source) || self.loosens(source)
    }

    /// Whether what a source loosens takes effect.
    #[must_use]
    pub fn loosens(&self, source: Source) -> bool {
        !source.is_in_repository() || self.trust == TrustState::Trusted
    }
}

impl Default for Standing {
    fn default() -> Self {
        Self::untrusted("nobody has trusted this directory")
    }
}

/// Something of a repository that did not take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The layer it is in.
    pub source: Source,
    /// The key, with a dot between names.
    pub key: String,
    /// What would have let it take effect.
    pub wants: Wants,
}

/// What lets a repository's settings take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// The user's trust, or that the host names the source.
    Consent,
    /// The user's trust.
    Trust,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.key, self.source)
    }
}

/// The part of a layer that takes effect, and the rest by name. The mode that the user's own
/// settings choose says what would be looser.
pub(crate) fn weigh(
    source: Source,
    said: &Map<String, Value>,
    standing: &Standing,
    users_mode: PermissionMode,
) -> (Map<String, Value>, Vec<LeftOut>) {
    if !source.is_in_repository() {
        return (said.clone(), Vec::new());
    }
    let mut scales = Scales { source, standing, users_mode, left_out: Vec::new() };
    let mut kept = Map::new();
    for (name, value) in said {
        if let Some(value) = scales.key(name, value) {
            kept.insert(name.clone(), value);
        }
    }
    (kept, scales.left_out)
}

struct Scales<'a> {
    source: Source,
    standing: &'a Standing,
    users_mode: PermissionMode,
    left_out: Vec<LeftOut>,
}

impl Scales<'_> {
    fn key(&mut self, name: &str, value: &Value) -> Option<Value> {
        // Nobody knows what a key will mean that is not known now, so it takes what hooks take.
        let Some(key) = keys::of(name) else {
            return self.standing.runs(self.source).then(|| value.clone());
        };
        match key.needs {
            Needs::Nothing => Some(value.clone()),
            Needs::Consent => {
                self.if_it(self.standing.runs(self.source), name, Wants::Consent, value)
            }
            Needs::Trust => {
                self.if_it(self.standing.loosens(self.source), name, Wants::Trust, value)
            }
            Needs::Parts => match name {
                "permissions" => self.permissions(value),
                "env" => self.variables(value),
                "sandbox" => self.sandbox(value),
                _ => self.model(name, value),
            },
        }
    }

    fn if_it(&mut self, may: bool, key: &str, wants: Wants, value: &Value) -> Option<Value> {
        if !may && !is_empty(value) {
            self.leave_out(key, wants);
        }
        may.then(|| value.clone())
    }

    fn leave_out(&mut self, key: &str, wants: Wants) {
        self.left_out.push(LeftOut { source: self.source, key: key.to_owned(), wants });
    }

    fn permissions(&mut self, value: &Value) -> Option<Value> {
        let loosens = self.standing.loosens(self.source);
        let mut kept = Map::new();
        for (name, value) in value.as_object()? {
            let needs = keys::of_permissions(name).map(|key| key.needs);
            let key = format!("permissions.{name}");
            let value = match needs {
                Some(Needs::Nothing) => Some(value.clone()),
                Some(Needs::Parts) => self.if_it(self.may_choose(value), &key, Wants::Trust, value),
                Some(Needs::Trust) if !loosens => self.approved(&key, value),
                Some(Needs::Trust | Needs::Consent) => Some(value.clone()),
                None => loosens.then(|| value.clone()),
            };
            kept.extend(value.map(|value| (name.clone(), value)));
        }
        Some(Value::Object(kept))
    }

    /// Keeps what the user approved item by item.
    fn approved(&mut self, key: &str, value: &Value) -> Option<Value> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_approved = |item: &&Value| {
            item.as_str().is_some_and(|text| self.standing.approved.iter().any(|it| it == text))
        };
        let kept: Vec<Value> = items.iter().filter(is_approved).cloned().collect();
        if kept.len() < items.len() || !value.is_array() {
            self.leave_out(key, Wants::Trust);
        }
        (!kept.is_empty()).then_some(Value::Array(kept))
    }

    /// A repository may always be strict; being loose takes trust, and giving up every question is
    /// not a repository's to choose.
    fn may_choose(&self, mode: &Value) -> bool {
        match serde_json::from_value(mode.clone()) {
            Ok(PermissionMode::BypassPermissions | PermissionMode::Auto) | Err(_) => false,
            Ok(PermissionMode::AcceptEdits) => {
                let tightens = matches!(
                    self.users_mode,
                    PermissionMode::BypassPermissions | PermissionMode::Auto
                );
                tightens || self.standing.loosens(self.source)
            }
            Ok(PermissionMode::Default | PermissionMode::DontAsk | PermissionMode::Plan) => true,
        }
    }

    /// A model that names its provider decides where the conversation is sent.
    fn model(&mut self, name: &str, value: &Value) -> Option<Value> {
        let elsewhere = |value: &Value| value.as_str().is_some_and(|text| text.contains(':'));
        let is_plain = !elsewhere(value) && !value.as_array().into_iter().flatten().any(elsewhere);
        self.if_it(is_plain || self.standing.loosens(self.source), name, Wants::Trust, value)
    }

    fn variables(&mut self, value: &Value) -> Option<Value> {
        if !self.standing.runs(self.source) {
            return self.if_it(false, "env", Wants::Consent, value);
        }
        if self.standing.loosens(self.source) {
            return Some(value.clone());
        }
        let (steering, plain): (Map<_, _>, Map<_, _>) =
            value.as_object()?.clone().into_iter().partition(|(name, _)| steers(name));
        for name in steering.keys() {
            self.leave_out(&format!("env.{name}"), Wants::Trust);
        }
        Some(Value::Object(plain))
    }

    fn sandbox(&mut self, value: &Value) -> Option<Value> {
        // A section that cannot be read stops everything, whoever wrote it.
        let Some(section) = value.as_object() else { return Some(value.clone()) };
        if self.standing.loosens(self.source) {
            return Some(Value::Object(self.lending_nothing(section.clone())));
        }
        let mut kept = Map::new();
        for (name, value) in section {
            let tighter = match (name.as_str(), value) {
                ("enabled" | "failIfUnavailable", Value::Bool(true))
                | ("allowUnsandboxedCommands" | "autoAllowBashIfSandboxed", Value::Bool(false)) => {
                    Some(value.clone())
                }
                ("network", Value::Object(_)) => Some(self.only(name, value, &["deniedDomains"])),
                ("filesystem", Value::Object(_)) => {
                    Some(self.only(name, value, &["denyRead", "denyWrite"]))
                }
                _ => None,
            };
            if tighter.is_none() {
                self.leave_out(&format!("sandbox.{name}"), Wants::Trust);
            }
            kept.extend(tighter.map(|value| (name.clone(), value)));
        }
        Some(Value::Object(kept))
    }

    /// The user's credentials are not a repository's to lend, however far it is trusted: it would
    /// say where they are sent.
    fn lending_nothing(&mut self, mut section: Map<String, Value>) -> Map<String, Value> {
        let lent = section.shift_remove("credentials");
        if lent.is_some_and(|lent| !lent.is_null() && !is_empty(&lent)) {
            self.leave_out("sandbox.credentials", Wants::Trust);
        }
        section
    }

    fn only(&mut self, section: &str, value: &Value, names: &[&str]) -> Value {
        let mut kept = Map::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            if names.contains(&name.as_str()) {
                kept.insert(name.clone(), value.clone());
            } else {
                self.leave_out(&format!("sandbox.{section}.{name}"), Wants::Trust);
            }
        }
        Value::Object(kept)
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(items) => items.is_empty(),
        Value::Bool(on) => !on,
        Value::Null | Value::Number(_) | Value::String(_) => false,
    }
}
