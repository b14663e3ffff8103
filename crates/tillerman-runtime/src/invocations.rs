//! Prompts that begin with a slash, skills, and what they lend to the round that works on them.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_engine::{CommandUse, Expansion, Input, Listing, Prompt, ToolChange};
use tillerman_policy::{Before, Facts, Rule, Verdict};
use tillerman_ports::{Contents, Library};
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::tool::ToolOutcome;
use tillerman_protocol::{EntryId, SessionId};
use tokio_util::sync::CancellationToken;

use crate::control::Answer;
use crate::expander::{Expanded, Expander, Lends};
use crate::facts::RealDisk;
use crate::hook_line::HookLine;
use crate::session_task::SessionTask;

/// The tool by which the model asks for skills.
pub(crate) const SKILL: &str = "Skill";
const MOST_HELD: usize = 1_000;

/// Prompts on their way to the session. While one is being put together later ones wait behind it,
/// so that they keep their order.
#[derive(Debug, Default)]
pub(crate) struct PromptDesk {
    expanding: Option<(Box<Prompt>, CancellationToken)>,
    held: VecDeque<Prompt>,
    closing: bool,
    /// Rules that hold until the round has its result.
    lent: Vec<Rule>,
}

impl PromptDesk {
    /// The prompt that is being put together is no longer wanted.
    pub(crate) fn interrupt(&self) {
        if let Some((_, cancel)) = &self.expanding {
            cancel.cancel();
        }
    }

    /// Whether the end of the input has to wait for a prompt; it is remembered then.
    pub(crate) fn closes_later(&mut self) -> bool {
        self.closing |= self.expanding.is_some();
        self.expanding.is_some()
    }

    /// Takes a prompt back that waits here.
    pub(crate) fn withdraw(&mut self, uuid: &EntryId) -> bool {
        let before = self.held.len();
        self.held.retain(|prompt| prompt.uuid.as_ref() != Some(uuid));
        self.held.len() < before
    }

    /// Ids of the prompts that wait here.
    pub(crate) fn queued(&self) -> impl Iterator<Item = EntryId> {
        let expanding = self.expanding.iter().filter_map(|(prompt, _)| prompt.uuid.clone());
        expanding.chain(self.held.iter().filter_map(|prompt| prompt.uuid.clone()))
    }
}

impl SessionTask {
    /// Takes a prompt, which may be a command that stands for more than it says.
    pub(crate) async fn read_prompt(&mut self, prompt: Prompt) {
        if self.prompts.expanding.is_none() {
            return self.expand_prompt(prompt).await;
        }
        if self.prompts.held.len() < MOST_HELD {
            return self.prompts.held.push_back(prompt);
        }
        let text = "Too many prompts wait for a command to be put together; one was dropped.";
        tracing::warn!("{text}");
        self.notify("prompt_dropped", text).await;
    }

    async fn expand_prompt(&mut self, prompt: Prompt) {
        let Some((library, text)) = self.ports.library.clone().zip(slash_text(&prompt.content))
        else {
            return self.hear_prompt(prompt).await;
        };
        let cancel = CancellationToken::new();
        let expander = self.expander(library, cancel.clone());
        self.work.expansion(expander.command(text));
        self.prompts.expanding = Some((Box::new(prompt), cancel));
    }

    /// A prompt was put together: the session hears of it, then of those that waited behind it.
    pub(crate) async fn expanded(&mut self, expanded: Expanded) {
        let Some((mut prompt, _)) = self.prompts.expanding.take() else { return };
        let typed = prompt.content.plain_text();
        let command = match expanded {
            Expanded::Plain => None,
            Expanded::Answer(mut answer) => {
                self.facing.secrets.redact_text(&mut answer);
                Some(CommandUse { typed, answer: Some(answer), ..CommandUse::default() })
            }
            Expanded::Prompt { name, mut text, grants, model } => {
                if let Some(library) = self.ports.library.clone() {
                    self.bring_hooks(&library, &name);
                }
                self.facing.secrets.redact_text(&mut text);
                prompt.content = Content::Text(text);
                let expansion = Some(expansion("slash_command", &typed, name));
                Some(CommandUse { typed, answer: None, grants, model, expansion })
            }
        };
        prompt.command = command.map(Box::new);
        self.hear_prompt(*prompt).await;
        while self.prompts.expanding.is_none()
            && let Some(prompt) = self.prompts.held.pop_front()
        {
            self.expand_prompt(prompt).await;
        }
        if self.prompts.expanding.is_none() && std::mem::take(&mut self.prompts.closing) {
            self.feed(Input::InputClosed).await;
        }
    }

    pub(crate) fn expander(
        &self,
        library: Arc<dyn Library>,
        cancel: CancellationToken,
    ) -> Expander {
        Expander {
            library,
            policy: self.policy.clone(),
            mode: self.engine.mode(),
            cwd: PathBuf::from(&self.engine.config().origin.cwd),
            shell: self.tools.get("Bash").cloned(),
            reader: self.tools.get("Read").cloned(),
            tasks: self.work.desk(),
            cancel,
        }
    }

    /// The work on a skill that the model asks for. It lends its rules where somebody allowed it:
    /// to load a text is no question, but a model that was misled must not allow itself anything.
    pub(crate) fn skill(
        &mut self,
        library: Arc<dyn Library>,
        cancel: &CancellationToken,
        input: Value,
    ) -> impl Future<Output = ToolOutcome> + Send + 'static {
        let facts = Facts { tool: SKILL, input: &input, only_looks: false, disk: &RealDisk };
        let ruling = self.policy.judge(&facts, self.engine.mode(), Before::Nothing);
        let lends = if ruling.verdict == Verdict::Allow { Lends::Rules } else { Lends::Nothing };
        let name = input.get("skill").and_then(Value::as_str).unwrap_or_default();
        if lends == Lends::Rules {
            self.lend(&library.grants(name));
        }
        self.bring_hooks(&library, name);
        self.expander(library, cancel.clone()).skill(input, lends)
    }

    /// Allows calls by these rules until the round has its result.
    pub(crate) fn lend(&mut self, rules: &[String]) {
        for text in rules {
            match Rule::parse(text) {
                Ok(rule) => {
                    self.policy.allow.push(rule.clone());
                    self.prompts.lent.push(rule);
                }
                Err(error) => tracing::warn!("{error}; nothing is allowed by it"),
            }
        }
    }

    /// Takes back what was lent.
    pub(crate) fn take_back(&mut self) {
        for rule in std::mem::take(&mut self.prompts.lent) {
            // The same rule may have been allowed for good meanwhile; that one stays.
            if let Some(at) = self.policy.allow.iter().rposition(|held| *held == rule) {
                self.policy.allow.remove(at);
            }
        }
    }

    /// What comes from now on belongs to another session.
    pub(crate) fn start_over(&mut self, session: &SessionId) {
        self.copied.clear();
        self.ports.transcript.start_over(session);
        let path = self.ports.transcript.path();
        self.pending.push_back(Input::TranscriptMoved(path));
    }

    /// Offers the model only the skills that the host wants.
    pub(crate) async fn choose_skills(&mut self, wanted: Option<&[String]>) {
        let Some((library, names)) = self.ports.library.clone().zip(wanted) else { return };
        let contents = library.limit_skills(names);
        self.relist(contents).await;
    }

    /// Reads extensions again and tells what there is now.
    pub(crate) async fn reload(&mut self) -> Answer {
        let Some(library) = self.ports.library.clone() else {
            return Ok(json!({"commands": [], "skills": [], "plugins": [], "error_count": 0}));
        };
        let read = tokio::task::spawn_blocking(move || library.reload()).await;
        let Ok(contents) = read else {
            return Err(("The files could not be read again.".to_owned(), None));
        };
        let mut answer = contents.greeting.clone();
        let commands = answer.get("commands").and_then(Value::as_array).into_iter().flatten();
        let of_files = commands.filter(|it| it.get("builtin") != Some(&Value::Bool(true)));
        let of_files: Vec<Value> = of_files.cloned().collect();
        answer.insert("skills".to_owned(), Value::Array(of_files));
        answer.insert("plugins".to_owned(), json!(contents.init.plugins));
        answer.insert("mcpServers".to_owned(), self.mcp_status()["mcpServers"].clone());
        answer.insert("error_count".to_owned(), json!(contents.problems.len()));
        self.relist(contents).await;
        Ok(Value::Object(answer))
    }

    async fn relist(&mut self, contents: Contents) {
        self.facing.greeting.extend(contents.greeting);
        // A tool that was denied to the session stays denied.
        let tool = self.tools.contains_key(SKILL).then(|| match contents.skill_tool {
            Some(spec) => ToolChange::Offered(spec),
            None => ToolChange::Withdrawn(SKILL.to_owned()),
        });
        let listing = Listing {
            slash_commands: contents.init.slash_commands,
            skills: contents.init.skills,
            plugins: contents.init.plugins,
            tool,
        };
        self.feed(Input::Relisted(Box::new(listing))).await;
    }
}

/// What hooks are told of a command that was typed.
pub(crate) fn expansion(kind: &'static str, typed: &str, name: String) -> Expansion {
    let arguments =
        typed.trim().split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim());
    Expansion { kind, name, arguments: arguments.to_owned(), source: None }
}

/// The text of a prompt that may be a command.
fn slash_text(content: &Content) -> Option<String> {
    let text = match content {
        Content::Text(text) => text,
        Content::Blocks(blocks) => match &blocks[..] {
            [Block::Text { text, .. }] => text,
            _ => return None,
        },
    };
    text.trim_start().starts_with('/').then(|| text.trim().to_owned())
}

/// The file that a call looks at or changes.
pub(crate) fn touched(tool: &str, input: &Value) -> Option<PathBuf> {
    let field = match tool {
        "Read" | "Edit" | "MultiEdit" | "Write" => "file_path",
        "NotebookEdit" => "notebook_path",
        _ => return None,
    };
    input.get(field).and_then(Value::as_str).map(PathBuf::from)
}

/// Adds to the outcome of a call what people want the agent to know about the place it looked at.
pub(crate) async fn with_memory(
    outcome: ToolOutcome,
    library: Arc<dyn Library>,
    path: PathBuf,
    line: HookLine,
) -> ToolOutcome {
    let mut output = outcome?;
    let read = move || (library.memory_for(&path), library.take_loaded());
    let (texts, loaded) = tokio::task::spawn_blocking(read).await.unwrap_or_default();
    for detail in loaded {
        line.tell(detail).await;
    }
    if !texts.is_empty() {
        let mut blocks =
            std::mem::replace(&mut output.content, Content::Blocks(Vec::new())).into_blocks();
        blocks.extend(texts.into_iter().map(Block::text));
        output.content = Content::Blocks(blocks);
    }
    Ok(output)
}
