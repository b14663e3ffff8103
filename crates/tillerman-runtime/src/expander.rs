//! Putting the text of a command or skill together: words, output of programs, contents of files.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_policy::{Before, Facts, Policy, Rule, Ruling, Verdict};
use tillerman_ports::{Invocation, InvocationPart, Library, Programs, Reading};
use tillerman_ports::{TaskDesk, Tool, ToolCall};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::Content;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput};
use tokio_util::sync::CancellationToken;

use crate::facts::{RealDisk, bounds, hidden};

/// How long a program in a command may run, in milliseconds.
const PROGRAM_TIMEOUT: u64 = 120_000;
const MOST_FILES: usize = 20;

/// What a prompt that begins with a slash has become.
#[derive(Debug)]
pub(crate) enum Expanded {
    /// It is for the session as it is.
    Plain,
    /// It is answered without a model.
    Answer(String),
    /// It stands for this text.
    Prompt { name: String, text: String, grants: Vec<String>, model: Option<String> },
}

/// Whether the rules of a skill hold for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lends {
    Rules,
    Nothing,
}

/// Puts texts together with the permissions of the moment in which they were asked for.
#[derive(Debug)]
pub(crate) struct Expander {
    pub(crate) library: Arc<dyn Library>,
    pub(crate) policy: Policy,
    pub(crate) mode: PermissionMode,
    pub(crate) cwd: PathBuf,
    /// Runs programs, if the session has such a tool.
    pub(crate) shell: Option<Arc<dyn Tool>>,
    /// Shows files, if the session has such a tool.
    pub(crate) reader: Option<Arc<dyn Tool>>,
    pub(crate) tasks: Arc<dyn TaskDesk>,
    pub(crate) cancel: CancellationToken,
}

impl Expander {
    /// What a prompt becomes.
    pub(crate) async fn command(self, prompt: String) -> Expanded {
        let library = Arc::clone(&self.library);
        let read = tokio::task::spawn_blocking(move || library.command(&prompt)).await;
        match read.unwrap_or_else(|_| Reading::Answer("The command could not be read.".to_owned()))
        {
            Reading::Plain => Expanded::Plain,
            Reading::Answer(answer) => Expanded::Answer(answer),
            Reading::Invocation(invocation) => {
                let (grants, model) = (invocation.grants.clone(), invocation.model.clone());
                let name = invocation.name.clone();
                match self.put_together(invocation).await {
                    Ok(text) => Expanded::Prompt { name, text, grants, model },
                    Err(reason) => Expanded::Answer(reason),
                }
            }
        }
    }

    /// What the model gets that asks for a skill.
    pub(crate) async fn skill(self, input: Value, lends: Lends) -> ToolOutcome {
        let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        let name = text("skill").or_else(|| text("command")).unwrap_or_default();
        let name = name.trim_start_matches('/').to_owned();
        let arguments = text("args").unwrap_or_default();
        let library = Arc::clone(&self.library);
        let asked = name.clone();
        let read = tokio::task::spawn_blocking(move || library.skill(&asked, &arguments)).await;
        let mut invocation = read
            .unwrap_or_else(|_| Err("The skill could not be read.".to_owned()))
            .map_err(ToolFailure::new)?;
        if lends == Lends::Nothing {
            invocation.grants.clear();
        }
        let text = self.put_together(invocation).await.map_err(ToolFailure::new)?;
        let shown = json!({"success": true, "commandName": name});
        Ok(ToolOutput::new(Content::Text(text), Some(shown)))
    }

    async fn put_together(mut self, invocation: Invocation) -> Result<String, String> {
        let Invocation { name, parts, programs, grants, .. } = invocation;
        self.policy.allow.extend(grants.iter().filter_map(|rule| Rule::parse(rule).ok()));
        let mut text = String::new();
        let mut files = Vec::new();
        for part in parts {
            match part {
                InvocationPart::Text(words) => text.push_str(&words),
                InvocationPart::Program(_) if programs == Programs::Refused => {
                    return Err(format!(
                        "/{name} was not run: it runs programs, and it comes from a project that is \
                         not trusted. Trust the project, or copy the command to your own commands."
                    ));
                }
                InvocationPart::Program(command) => {
                    let output = self.run(&command).await;
                    text.push_str(&output.map_err(|why| format!("/{name} was not run: {why}"))?);
                }
                InvocationPart::File(path) => {
                    text.push('@');
                    text.push_str(&path);
                    if files.len() < MOST_FILES && !files.iter().any(|(held, _)| *held == path) {
                        let content = self.show(&path).await;
                        files.extend(content.map(|content| (path, content)));
                    }
                }
            }
        }
        for (path, content) in files {
            text.push_str(&format!("\n\nContents of {path}:\n{content}"));
        }
        Ok(text)
    }

    /// Runs a program if nobody would have to be asked about it.
    async fn run(&self, command: &str) -> Result<String, String> {
        let Some(shell) = &self.shell else {
            return Err("it runs programs, and this session has no Bash tool".to_owned());
        };
        let input = json!({"command": command, "timeout": PROGRAM_TIMEOUT});
        let ruling = self.judge("Bash", &**shell, &input, self.mode)?;
        match &ruling.verdict {
            Verdict::Allow => {}
            Verdict::Deny { message, .. } => {
                return Err(format!("`{command}` is denied: {message}"));
            }
            Verdict::Ask { reason, .. } => {
                return Err(format!(
                    "`{command}` is not allowed in advance ({reason}). Allow it in the settings, \
                     or in allowed-tools of a command of your own."
                ));
            }
        }
        let outcome = self.call(shell, input, ruling).await;
        let output =
            outcome.map_err(|failure| format!("`{command}` failed: {}", failure.message))?;
        if self.cancel.is_cancelled() {
            return Err("it was interrupted".to_owned());
        }
        Ok(output.content.plain_text().trim_end().to_owned())
    }

    /// The contents of a file that may be read without a question, whatever the mode.
    async fn show(&self, name: &str) -> Option<String> {
        let reader = self.reader.as_ref()?;
        let path = self.cwd.join(name);
        if !path.is_file() {
            return None;
        }
        let input = json!({"file_path": path});
        let ruling = self.judge("Read", &**reader, &input, PermissionMode::Default).ok()?;
        if ruling.verdict != Verdict::Allow {
            return None;
        }
        let output = self.call(reader, input, ruling).await.ok()?;
        Some(output.content.plain_text())
    }

    fn judge(
        &self,
        name: &str,
        tool: &dyn Tool,
        input: &Value,
        mode: PermissionMode,
    ) -> Result<Ruling, String> {
        tool.check(input)?;
        let only_looks = tool.spec().access == Access::ReadOnly;
        let facts = Facts { tool: name, input, only_looks, disk: &RealDisk };
        Ok(self.policy.judge(&facts, mode, Before::Nothing))
    }

    async fn call(&self, tool: &Arc<dyn Tool>, input: Value, ruling: Ruling) -> ToolOutcome {
        let call = ToolCall {
            tool_use_id: ToolUseId::new("command"),
            input,
            cancel: self.cancel.clone(),
            environment: ruling.run_with,
            bounds: bounds(ruling.runs),
            hidden: hidden(&self.policy),
            tasks: Arc::clone(&self.tasks),
        };
        tool.call(call).await
    }
}
