//! The tools that begin and end planning. Ending it is a question to the user, asked by the
//! permission layer before the call gets here.

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};

use crate::input::Fields;

const ENTER: &str = "EnterPlanMode";
const EXIT: &str = "ExitPlanMode";

const ENTER_DESCRIPTION: &str = "\
Begins planning: from then on you only look around, until the user has approved a plan through \
ExitPlanMode. Use it before larger changes whose way is not clear yet.";

const EXIT_DESCRIPTION: &str = "\
Shows the user your finished plan and asks for approval. When it is approved planning ends and you \
carry the plan out. Use it only in plan mode and only for work that changes something.";

/// Begins planning.
#[derive(Debug)]
pub(crate) struct EnterPlanMode;

impl Tool for EnterPlanMode {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: ENTER.to_owned(),
            description: ENTER_DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object", "properties": {}, "required": [], "additionalProperties": false,
            }),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        Fields::of(ENTER, input).map(drop)
    }

    fn call(&self, _: ToolCall) -> BoxFuture<ToolOutcome> {
        let message = "Planning has begun. Look around without changing anything, then show the \
                       user a plan with ExitPlanMode.";
        let mut output =
            ToolOutput::new(Content::Text(message.to_owned()), Some(json!({"message": message})));
        output.switches_to = Some(PermissionMode::Plan);
        Box::pin(std::future::ready(Ok(output)))
    }
}

/// Ends planning with a plan that was approved.
#[derive(Debug)]
pub(crate) struct ExitPlanMode;

fn parse(input: &Value) -> Result<&str, String> {
    Fields::of(EXIT, input)?.required_text("plan", "the plan as the user is to see it")
}

impl Tool for ExitPlanMode {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: EXIT.to_owned(),
            description: EXIT_DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "plan": {"type": "string", "description": "The plan, in Markdown."},
                },
                "required": ["plan"],
                "additionalProperties": false,
            }),
            access: Access::Mutating,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        Box::pin(async move {
            let plan = parse(&call.input).map_err(ToolFailure::new)?;
            let text = format!("The user approved the plan. Carry it out now.\n\n{plan}");
            let structured = json!({"plan": plan, "isAgent": false});
            let mut output = ToolOutput::new(Content::Text(text), Some(structured));
            output.switches_to = Some(PermissionMode::Default);
            Ok(output)
        })
    }
}
