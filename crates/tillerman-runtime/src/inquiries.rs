//! Control requests that ask about a session and the files it may see.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tillerman_engine::Input;
use tillerman_policy::{Before, Facts, Rule, Verdict};
use tillerman_protocol::SessionId;
use tillerman_protocol::control::{ControlBody, SessionRequest, SettingsRequest};

use crate::control::Answer;
use crate::facts::RealDisk;
use crate::file_view::{FileView, base64, view};
use crate::session_task::SessionTask;

const READ: &str = "Read";

impl SessionTask {
    /// Answers a request of this kind; nothing for any other.
    pub(crate) async fn inquire(&mut self, body: &ControlBody) -> Option<Answer> {
        match body {
            ControlBody::Settings(request) => self.inquire_about_settings(request).await,
            ControlBody::Session(request) => self.inquire_about_session(request).await,
            // Lines are never held back here, so it makes no difference who watches.
            ControlBody::Other(fields) if is_about_subscribers(fields) => Some(Ok(json!({}))),
            _ => None,
        }
    }

    async fn inquire_about_settings(&mut self, request: &SettingsRequest) -> Option<Answer> {
        Some(match request {
            SettingsRequest::ListModels => {
                let models = self.facing.greeting.get("models").cloned();
                Ok(json!({"models": models.unwrap_or_else(|| json!([]))}))
            }
            SettingsRequest::ListPermissionRules => Ok(self.describe_rules()),
            SettingsRequest::SeedReadState { path, mtime } => self.seed_read(path, *mtime).await,
            SettingsRequest::RegisterRepoRoot { directory, extra } => {
                self.register_root(directory, extra).await
            }
            _ => return None,
        })
    }

    async fn inquire_about_session(&mut self, request: &SessionRequest) -> Option<Answer> {
        Some(match request {
            SessionRequest::GetUsage => Ok(self.describe_usage()),
            SessionRequest::GetSessionCost => Ok(json!({"text": self.engine.describe_cost()})),
            SessionRequest::GetBinaryVersion => {
                let told = |name: &str| self.facing.greeting.get(name).cloned();
                let (level, own) = (told("claude_code_version"), told("tillerman_version"));
                Ok(json!({"version": level, "tillermanVersion": own}))
            }
            SessionRequest::RenameSession { title, session_id, .. } => {
                self.rename(title, session_id.as_ref()).await
            }
            SessionRequest::ReadFile { path, max_bytes, encoding } => {
                self.show_file(path, *max_bytes, encoding.as_deref() == Some("base64")).await
            }
            _ => return None,
        })
    }

    /// Gives a new session the title that the host chose; one that goes on has its own.
    pub(crate) async fn take_title(&mut self, title: Option<&str>) {
        let is_new = self.engine.conversation().messages().is_empty();
        if let Some(title) = title.map(str::trim).filter(|title| is_new && !title.is_empty()) {
            self.feed(Input::Titled(title.to_owned())).await;
        }
    }

    async fn rename(&mut self, title: &str, session: Option<&SessionId>) -> Answer {
        if session.is_some_and(|session| *session != self.engine.config().session_id) {
            let text = "session_id names another session than the one that runs here, so nothing \
                        was renamed";
            return Err((text.to_owned(), None));
        }
        let title = title.trim();
        if title.is_empty() {
            return Err(("title must not be empty, so nothing was renamed".to_owned(), None));
        }
        self.feed(Input::Titled(title.to_owned())).await;
        Ok(json!({}))
    }

    /// Shows a file to the host, if the model may read it without a question.
    async fn show_file(&mut self, path: &str, most: Option<u64>, as_base64: bool) -> Answer {
        let absolute = PathBuf::from(&self.engine.config().origin.cwd).join(path);
        let denied = || {
            let text = format!("{path} is not shown: it is no file that may be read here");
            (text, Some("read_denied"))
        };
        if !self.may_read(&absolute) {
            return Err(denied());
        }
        let reading = tokio::task::spawn_blocking(move || view(&absolute, most));
        let Ok(Ok(FileView { bytes, path: found, truncated })) = reading.await else {
            return Err(denied());
        };
        let mut answer = json!({"absPath": found, "requested_path": path});
        if truncated {
            answer["truncated"] = json!(true);
        }
        if as_base64 {
            answer["contents"] = json!(base64(&self.without_secrets(&bytes)));
            answer["encoding"] = json!("base64");
            return Ok(answer);
        }
        answer["lossy"] = json!(std::str::from_utf8(&bytes).is_err());
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        self.facing.secrets.redact_text(&mut text);
        answer["contents"] = json!(text);
        Ok(answer)
    }

    /// The bytes of a file with credentials taken out of what is text in them.
    fn without_secrets(&self, bytes: &[u8]) -> Vec<u8> {
        let length = match std::str::from_utf8(bytes) {
            Ok(text) => text.len(),
            // The last character was cut in two.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => 0,
        };
        let (text, rest) = bytes.split_at(length);
        let mut text = String::from_utf8_lossy(text).into_owned();
        self.facing.secrets.redact_text(&mut text);
        [text.as_bytes(), rest].concat()
    }

    fn may_read(&self, path: &Path) -> bool {
        let input = json!({"file_path": path});
        let facts = Facts { tool: READ, input: &input, only_looks: true, disk: &RealDisk };
        let ruling = self.policy.judge(&facts, self.engine.mode(), Before::Nothing);
        ruling.verdict == Verdict::Allow
    }

    /// Counts a file as read; one that has changed since then is not.
    async fn seed_read(&mut self, path: &str, mtime: f64) -> Answer {
        let Some(tool) = self.tools.get(READ).cloned() else { return Ok(json!({})) };
        let path = PathBuf::from(&self.engine.config().origin.cwd).join(path);
        let seeding = tokio::task::spawn_blocking(move || tool.count_as_read(&path, mtime));
        if seeding.await.is_err() {
            return Err(("The file could not be looked at.".to_owned(), None));
        }
        Ok(json!({}))
    }

    /// Works in a directory below one it works in already.
    async fn register_root(&mut self, directory: &str, extra: &Map<String, Value>) -> Answer {
        let wanted = PathBuf::from(&self.engine.config().origin.cwd).join(directory);
        let Ok(found) = wanted.canonicalize() else {
            let text = format!("{directory} cannot be found, so it was not added");
            return Err((text, Some("no_such_directory")));
        };
        let lies_below = |root: &PathBuf| found.starts_with(root) && found != *root;
        let known = &self.policy.directories;
        if !found.is_dir() || !(known.contains(&found) || known.iter().any(lies_below)) {
            let text = format!(
                "{directory} is no directory below the working directories, so it was not added"
            );
            return Err((text, Some("outside_of_session")));
        }
        if !self.policy.directories.contains(&found) {
            self.policy.directories.push(found.clone());
        }
        let reloads = |name: &str| extra.get(name) == Some(&Value::Bool(true));
        if ["reload_claude_md", "reload_plugins", "reload_skills"].into_iter().any(reloads) {
            self.reload().await?;
        }
        Ok(json!({"directory": found}))
    }

    fn describe_usage(&self) -> Value {
        let ledger = self.engine.ledger();
        let (added, removed) = self.facing.changes.lines();
        json!({
            "session": {
                "total_cost_usd": ledger.total_usd(),
                "total_api_duration_ms": ledger.api_ms(),
                "total_duration_ms": self.ports.clock.now().millis_since(self.facing.begun),
                "total_lines_added": added,
                "total_lines_removed": removed,
                "model_usage": ledger.by_model(),
            },
            "subscription_type": null,
            "rate_limits_available": false,
            "rate_limits": null,
            "behaviors": null,
        })
    }

    fn describe_rules(&self) -> Value {
        let settings = self.facing.settings.describe();
        let sources = settings["sources"].as_array().cloned().unwrap_or_default();
        let mut rules = Vec::new();
        let lists =
            [("allow", &self.policy.allow), ("deny", &self.policy.deny), ("ask", &self.policy.ask)];
        for (behavior, list) in lists {
            rules.extend(list.iter().map(|rule| described(behavior, rule, &sources)));
        }
        let cwd = &self.engine.config().origin.cwd;
        let others = self.policy.directories.iter().filter(|held| held.as_path() != Path::new(cwd));
        let others: Vec<Value> =
            others.map(|path| json!({"path": path, "source": "session"})).collect();
        json!({"state": {
            "rules": rules,
            "workspaceDirectories": others,
            "originalCwd": cwd,
            "managedOnly": settings["effective"]["allowManagedPermissionRulesOnly"] == true,
        }})
    }
}

/// A rule with where it is written down; one that no settings have was given for this session.
fn described(behavior: &str, rule: &Rule, sources: &[Value]) -> Value {
    let text = rule.to_string();
    let has_it = |source: &&Value| {
        let list = source["settings"]["permissions"][behavior].as_array();
        list.is_some_and(|list| list.iter().any(|held| *held == *text))
    };
    let source = sources.iter().rev().find(has_it).and_then(|source| source["source"].as_str());
    let (source, editability) = match source {
        Some("user") => ("userSettings", "persistent"),
        Some("project") => ("projectSettings", "persistent"),
        Some("local") => ("localSettings", "persistent"),
        Some("flag") => ("flagSettings", "readonly"),
        Some("managed") => ("policySettings", "readonly"),
        _ => ("session", "session"),
    };
    json!({"behavior": behavior, "source": source, "rule": text, "editability": editability})
}

fn is_about_subscribers(fields: &Map<String, Value>) -> bool {
    fields.get("subtype").is_some_and(|subtype| subtype == "set_has_subscribers")
}
