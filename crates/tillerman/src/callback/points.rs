//! The points at which hooks run, each as a type that a closure can take.

use serde_json::Value;
use tillerman_protocol::hook::{HookBase, HookDetail, HookEvent, HookInput, HookOutput};
use tillerman_protocol::permission::PermissionUpdate;

use crate::callback::answers::{
    GreetingAnswer, Observed, PermissionRequestAnswer, PromptAnswer, StopAnswer, ToolAnswer,
    ToolReview,
};

/// What a hook is told at one point, and what it may answer there.
///
/// The argument's type of the closure chooses the event:
///
/// ```
/// use tillerman::Options;
/// use tillerman::callback::{PreToolUse, ToolAnswer};
///
/// let options = Options::new().hook("Bash", async |call: PreToolUse| {
///     match call.tool_input["command"].as_str() {
///         Some(command) if command.contains("rm ") => ToolAnswer::deny("nothing is deleted here"),
///         _ => ToolAnswer::pass(),
///     }
/// });
/// # drop(options);
/// ```
pub trait HookPoint: Sized + Send + 'static {
    /// The event.
    const EVENT: HookEvent;
    /// What may be answered.
    type Answer: Send + 'static;

    /// Reads what a hook is told; nothing when it belongs to another event.
    fn read(input: HookInput) -> Option<Self>;

    /// The answer as it goes over the wire.
    fn write(answer: Self::Answer) -> HookOutput;
}

macro_rules! hook_point {
    (
        $(#[$doc:meta])*
        $name:ident => $answer:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            /// What every hook is told.
            pub base: HookBase,
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl HookPoint for $name {
            const EVENT: HookEvent = HookEvent::$name;
            type Answer = $answer;

            fn read(input: HookInput) -> Option<Self> {
                let HookInput { base, detail } = input;
                match detail {
                    HookDetail::$name { $($field,)* .. } => Some(Self { base, $($field,)* }),
                    _ => None,
                }
            }

            fn write(answer: $answer) -> HookOutput {
                answer.into_output(stringify!($name))
            }
        }
    };
}

hook_point! {
    /// A tool is about to run.
    PreToolUse => ToolAnswer {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// The call.
        tool_use_id: tillerman_protocol::ToolUseId,
    }
}
hook_point! {
    /// A tool succeeded.
    PostToolUse => ToolReview {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// The call.
        tool_use_id: tillerman_protocol::ToolUseId,
        /// What it returned.
        tool_response: Value,
        /// How long it took.
        duration_ms: u64,
    }
}
hook_point! {
    /// A tool failed.
    PostToolUseFailure => ToolReview {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// The call.
        tool_use_id: tillerman_protocol::ToolUseId,
        /// What went wrong.
        error: String,
        /// Whether it was interrupted.
        is_interrupt: bool,
    }
}
hook_point! {
    /// The person should notice something.
    Notification => Observed {
        /// The text.
        message: String,
        /// Its heading.
        title: Option<String>,
        /// Its kind.
        notification_type: String,
    }
}
hook_point! {
    /// A prompt was submitted, and the model has not seen it yet.
    UserPromptSubmit => PromptAnswer {
        /// The prompt.
        prompt: String,
    }
}
hook_point! {
    /// The session began, was resumed, cleared or compacted.
    SessionStart => GreetingAnswer {
        /// `startup`, `resume`, `clear`, `compact` or `fork`.
        source: String,
        /// The model.
        model: String,
    }
}
hook_point! {
    /// The session ended. Its hooks run here, once the engine is gone and before the last message.
    SessionEnd => Observed {
        /// Why.
        reason: String,
    }
}
hook_point! {
    /// The agent is about to stop.
    Stop => StopAnswer {
        /// Whether a hook already made it go on; making it go on again may never end.
        stop_hook_active: bool,
        /// What it said last.
        last_assistant_message: String,
    }
}
hook_point! {
    /// A subagent was started; the base names it.
    SubagentStart => Observed {}
}
hook_point! {
    /// A subagent is about to stop; the base names it.
    SubagentStop => StopAnswer {
        /// Whether a hook already made it go on.
        stop_hook_active: bool,
        /// Where its transcript lies.
        agent_transcript_path: String,
        /// What it said last.
        last_assistant_message: String,
    }
}
hook_point! {
    /// The conversation is about to be compacted.
    PreCompact => Observed {
        /// `manual` or `auto`.
        trigger: String,
        /// What the person wants to be kept.
        custom_instructions: Option<String>,
    }
}
hook_point! {
    /// Somebody is about to be asked for permission.
    PermissionRequest => PermissionRequestAnswer {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// Updates that would make the question unnecessary.
        permission_suggestions: Vec<PermissionUpdate>,
    }
}
