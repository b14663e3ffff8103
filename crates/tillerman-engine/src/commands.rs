//! Prompts that the session answers itself, without a model.

use tillerman_protocol::content::Content;
use tillerman_protocol::hook::HookDetail;

use crate::input::Prompt;
use crate::round::{Ending, Round};
use crate::session::Session;
use crate::threshold::Beginning;

/// The commands with a line about each, as `/help` and `initialize` list them.
pub const COMMANDS: [(&str, &str); 7] = [
    ("help", "List the commands that work here"),
    ("compact", "Replace the conversation by a summary: /compact WHAT TO KEEP"),
    ("clear", "Start over with an empty conversation"),
    ("cost", "Show what this session has cost so far"),
    ("context", "Show how full the context window is"),
    ("model", "Show the model, or switch to another: /model NAME"),
    ("rename", "Give the session a title: /rename TITLE"),
];

/// Other names of commands, which files may use for something else.
pub const ALIASES: [(&str, &str); 3] = [("new", "clear"), ("reset", "clear"), ("usage", "cost")];

/// A command and what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// One that the session knows.
    Known { name: &'static str, argument: String },
    /// One that was answered before the session heard of it.
    Answered(String),
}

/// Reads a prompt as a command, if it is one.
pub(crate) fn parse(prompt: &Prompt) -> Option<Command> {
    if let Some(command) = &prompt.command {
        return command.answer.clone().map(Command::Answered);
    }
    let text = match &prompt.content {
        Content::Text(text) => text,
        Content::Blocks(blocks) => match &blocks[..] {
            [only] => only.as_text()?,
            _ => return None,
        },
    };
    let words = text.trim().strip_prefix('/')?;
    let (name, argument) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    let (name, _) = COMMANDS.iter().find(|(known, _)| *known == name)?;
    Some(Command::Known { name, argument: argument.trim().to_owned() })
}

impl Session {
    /// Answers a command as a round of its own that asks no model.
    pub(crate) fn run_command(&mut self, prompt: Prompt, command: &Command) {
        let mut round = Round::new(self.now, self.choices.model.clone());
        round.prompt_text = Some(prompt.typed());
        round.prompts.extend(prompt.uuid.clone());
        self.round = Some(Box::new(round));
        self.emit_running();
        if let Some(uuid) = prompt.uuid {
            self.emit_lifecycle(uuid, "started");
        }
        let answer = match command {
            Command::Answered(answer) => answer.clone(),
            Command::Known { name: "clear", .. } => {
                self.emit_init();
                self.tell_hooks(HookDetail::SessionEnd { reason: "clear".to_owned() });
                self.start_over();
                self.finish(Ending::Cleared);
                return self.begin(Beginning { source: "clear".to_owned(), setup: None });
            }
            Command::Known { name: "compact", argument } => {
                self.emit_init();
                return self.compact_by_command(argument);
            }
            Command::Known { name: "cost", .. } => self.describe_cost(),
            Command::Known { name: "context", .. } => self.describe_context(),
            Command::Known { name: "model", argument } => {
                let model = self.config.catalog.resolve(argument).to_owned();
                if !argument.is_empty() && self.ask_about_model(&model) {
                    return;
                }
                self.describe_model(argument)
            }
            Command::Known { name: "rename", argument } if argument.is_empty() => {
                "Give a title: /rename TITLE".to_owned()
            }
            Command::Known { name: "rename", argument } => {
                self.entitle(Some(argument.clone()));
                format!("The session is now called {argument}.")
            }
            Command::Known { .. } => describe_commands(),
        };
        self.emit_init();
        self.record_answer(&answer);
        self.finish(Ending::Command(answer));
    }

    /// What the session has cost, for people.
    #[must_use]
    pub fn describe_cost(&self) -> String {
        let mut lines = vec![format!("Total cost: ${:.4}", self.ledger.total_usd())];
        for (model, usage) in self.ledger.by_model() {
            lines.push(format!(
                "{model}: {} in, {} out, {} cache read, {} cache write (${:.4})",
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens,
                usage.cost_usd
            ));
        }
        lines.join("\n")
    }

    fn describe_context(&self) -> String {
        let usage = self.context_usage();
        let mut lines = vec![format!("Context: {} of {} tokens", usage.total, usage.window)];
        lines.extend(usage.parts().map(|(name, tokens)| format!("{name}: {tokens}")));
        lines.join("\n")
    }

    fn describe_model(&mut self, name: &str) -> String {
        if !name.is_empty() {
            let model = self.config.catalog.resolve(name).to_owned();
            self.choose_model(Some(model), "command");
        }
        format!("Model: {}", self.choices.model)
    }
}

fn describe_commands() -> String {
    let lines: Vec<String> =
        COMMANDS.iter().map(|(name, about)| format!("/{name}: {about}")).collect();
    lines.join("\n")
}
