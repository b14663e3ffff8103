//! Rounds that end with an output in a given form, delivered through a tool.

use serde_json::Value;
use tillerman_protocol::tool::ToolSpec;

use crate::input::Author;
use crate::round::Ending;
use crate::session::Session;

/// The form in which rounds end.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredOutputConfig {
    /// The tool through which the model delivers it.
    pub tool: ToolSpec,
    /// How often it may try.
    pub max_retries: u32,
}

impl Session {
    /// Offers the tool from the next request on.
    pub(crate) fn choose_output(&mut self, output: StructuredOutputConfig) {
        let others = self.config.tools.iter().filter(|tool| tool.name != output.tool.name);
        self.config.tools = others.cloned().chain([output.tool.clone()]).collect();
        let listed = &mut self.config.init.tools;
        if !listed.contains(&output.tool.name) {
            listed.push(output.tool.name.clone());
        }
        self.config.structured_output = Some(output);
    }

    /// Notes how a call ended, if it is the one that delivers.
    pub(crate) fn note_structured_output(
        &mut self,
        name: &str,
        is_error: bool,
        output: Option<&Value>,
    ) {
        let delivers =
            self.config.structured_output.as_ref().is_some_and(|form| form.tool.name == name);
        if !delivers {
            return;
        }
        self.with_round(|round| match output {
            Some(output) if !is_error => round.structured = Some(output.clone()),
            _ => round.structured_failures += 1,
        });
    }

    pub(crate) fn has_structured_output(&self) -> bool {
        self.round.as_ref().is_some_and(|round| round.structured.is_some())
    }

    /// Whether the round may not end yet, because nothing was delivered.
    pub(crate) fn wants_structured_output(&self) -> bool {
        self.config.structured_output.is_some() && !self.has_structured_output()
    }

    /// Whether the model has failed to deliver as often as it may.
    pub(crate) fn has_tried_enough(&self) -> bool {
        let failures = self.round.as_ref().map_or(0, |round| round.structured_failures);
        let form = self.config.structured_output.as_ref();
        form.is_some_and(|form| failures >= form.max_retries.max(1))
    }

    /// Tells a model that answered with words that something else was wanted.
    pub(crate) fn ask_for_structured_output(&mut self) {
        self.with_round(|round| round.structured_failures += 1);
        if self.has_tried_enough() {
            return self.finish(Ending::NoStructuredOutput);
        }
        let Some(form) = &self.config.structured_output else { return };
        let text = format!(
            "Your answer must be delivered by calling {} with an input that matches its schema. \
             Call it now.",
            form.tool.name
        );
        self.tell_aloud(&text, Author::Engine);
        self.request();
    }
}
