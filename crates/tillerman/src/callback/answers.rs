//! What hooks may answer, by what their event allows.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_protocol::hook::{HookOutput, HookSpecificOutput};

macro_rules! answer {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[must_use]
        pub struct $name(HookOutput);

        impl $name {
            /// No opinion: everything goes on as it would without the hook.
            pub fn pass() -> Self {
                Self::default()
            }

            /// Ends the whole run.
            pub fn stop(reason: impl Into<String>) -> Self {
                Self(HookOutput {
                    go_on: Some(false),
                    stop_reason: Some(reason.into()),
                    ..HookOutput::default()
                })
            }

            /// Goes on in the background, for at most this long; the event does not wait.
            pub fn in_background(timeout: Duration) -> Self {
                Self(HookOutput {
                    in_background: Some(true),
                    async_timeout: Some(timeout.as_secs_f64()),
                    ..HookOutput::default()
                })
            }

            /// Shows this to the person.
            pub fn with_message(mut self, text: impl Into<String>) -> Self {
                self.0.system_message = Some(text.into());
                self
            }

            /// The answer for this event, as it goes over the wire.
            pub(crate) fn into_output(mut self, event: &str) -> HookOutput {
                if let Some(specific) = &mut self.0.hook_specific_output {
                    event.clone_into(&mut specific.hook_event_name);
                }
                self.0
            }
        }
    };
}

answer! {
    /// The answer of a `PreToolUse` hook.
    ToolAnswer
}
answer! {
    /// The answer of a `PostToolUse` hook.
    ToolReview
}
answer! {
    /// The answer of a `UserPromptSubmit` hook.
    PromptAnswer
}
answer! {
    /// The answer of a `SessionStart` hook.
    GreetingAnswer
}
answer! {
    /// The answer of a `Stop` or `SubagentStop` hook.
    StopAnswer
}
answer! {
    /// The answer of a `PermissionRequest` hook.
    PermissionRequestAnswer
}
answer! {
    /// The answer of a hook that only watches.
    Observed
}

impl ToolAnswer {
    fn decide(decision: &str, reason: String) -> Self {
        let mut answer = Self::default();
        let own = specific(&mut answer.0);
        own.permission_decision = Some(decision.to_owned());
        own.permission_decision_reason = Some(reason);
        answer
    }

    /// Run it without a question, unless a rule forbids it.
    pub fn allow(reason: impl Into<String>) -> Self {
        Self::decide("allow", reason.into())
    }

    /// Do not run it; the model is told why.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::decide("deny", reason.into())
    }

    /// Ask the approver, whatever the mode.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::decide("ask", reason.into())
    }

    /// End the run here and leave the call to the host.
    pub fn defer(reason: impl Into<String>) -> Self {
        Self::decide("defer", reason.into())
    }

    /// Judge and run it with this input instead.
    pub fn with_input(mut self, input: Value) -> Self {
        specific(&mut self.0).updated_input = Some(input);
        self
    }

    /// Tells the model this too.
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        specific(&mut self.0).additional_context = Some(text.into());
        self
    }
}

impl ToolReview {
    /// Tells the model that something is wrong with what the tool did.
    pub fn block(reason: impl Into<String>) -> Self {
        Self(blocking(reason.into()))
    }

    /// Tells the model this too.
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        specific(&mut self.0).additional_context = Some(text.into());
        self
    }

    /// Shows the model this in place of what the tool said.
    pub fn with_output(mut self, output: Value) -> Self {
        specific(&mut self.0).updated_tool_output = Some(output);
        self
    }
}

impl PromptAnswer {
    /// Does not let the prompt through; the person is told why.
    pub fn block(reason: impl Into<String>) -> Self {
        Self(blocking(reason.into()))
    }

    /// Tells the model this too.
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        specific(&mut self.0).additional_context = Some(text.into());
        self
    }

    /// Gives the session this title.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        specific(&mut self.0).session_title = Some(title.into());
        self
    }
}

impl GreetingAnswer {
    /// Tells the model this from the beginning.
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        specific(&mut self.0).additional_context = Some(text.into());
        self
    }

    /// Gives the session this title.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        specific(&mut self.0).session_title = Some(title.into());
        self
    }

    /// Begins with this prompt.
    pub fn with_first_prompt(mut self, prompt: impl Into<String>) -> Self {
        specific(&mut self.0).initial_user_message = Some(prompt.into());
        self
    }
}

impl StopAnswer {
    /// Does not let the agent stop; it is told why and goes on.
    pub fn go_on(reason: impl Into<String>) -> Self {
        Self(blocking(reason.into()))
    }
}

impl PermissionRequestAnswer {
    /// Allows the call in place of the person.
    pub fn allow() -> Self {
        Self::decide(json!({"behavior": "allow"}))
    }

    /// Allows the call with this input.
    pub fn allow_with(input: &Value) -> Self {
        Self::decide(json!({"behavior": "allow", "updatedInput": input}))
    }

    /// Denies the call in place of the person.
    pub fn deny(message: impl Into<String>) -> Self {
        let message: String = message.into();
        Self::decide(json!({"behavior": "deny", "message": message}))
    }

    fn decide(decision: Value) -> Self {
        let mut answer = Self::default();
        specific(&mut answer.0).decision = Some(decision);
        answer
    }
}

/// The part of an answer that depends on its event.
fn specific(output: &mut HookOutput) -> &mut HookSpecificOutput {
    output.hook_specific_output.get_or_insert_default()
}

fn blocking(reason: String) -> HookOutput {
    HookOutput { decision: Some("block".to_owned()), reason: Some(reason), ..HookOutput::default() }
}
