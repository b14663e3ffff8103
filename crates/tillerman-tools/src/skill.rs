//! The tool by which the model asks for a skill.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::library::InvocationPart;
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Library, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};

use crate::input::Fields;

const NAME: &str = "Skill";

const DESCRIPTION: &str = "\
Loads a skill: instructions that somebody wrote for a kind of work. When one of the skills below \
fits what you were asked, load it first and follow it; do not guess at what it says. A skill that \
was loaded in this conversation needs no second call.

Skills:
";

/// What the model is told about skills, given the lines that list them.
#[must_use]
pub fn skill_spec(listing: &str) -> ToolSpec {
    ToolSpec {
        name: NAME.to_owned(),
        description: format!("{DESCRIPTION}{listing}"),
        input_schema: json!({
            "type": "object",
            "properties": {
                "skill": {"type": "string", "minLength": 1, "description": "The skill's name, as it is listed."},
                "args": {"type": "string", "description": "What the skill is to work on, if it takes anything."},
            },
            "required": ["skill"],
            "additionalProperties": false,
        }),
        access: Access::ReadOnly,
    }
}

/// The tool for the skills of a library, given the lines that list them.
#[must_use]
pub fn skill_tool(library: Arc<dyn Library>, listing: &str) -> Arc<dyn Tool> {
    Arc::new(Skill { library, spec: skill_spec(listing) })
}

/// Loads skills. A session with permission rules runs the programs in them; by itself the tool
/// runs none.
#[derive(Debug)]
struct Skill {
    library: Arc<dyn Library>,
    spec: ToolSpec,
}

impl Tool for Skill {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        let fields = Fields::of(NAME, input)?;
        fields.required_text("skill", "the name of a skill")?;
        fields.optional_text("args").map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let library = Arc::clone(&self.library);
        Box::pin(async move {
            let text =
                |name: &str| call.input.get(name).and_then(Value::as_str).unwrap_or_default();
            let invocation =
                library.skill(text("skill"), text("args")).map_err(ToolFailure::new)?;
            let shown = invocation.parts.iter().map(|part| match part {
                InvocationPart::Text(text) => Ok(text.clone()),
                InvocationPart::File(path) => Ok(format!("@{path}")),
                InvocationPart::Program(_) => Err(ToolFailure::new(
                    "The skill runs programs, which only a session with permission rules does.",
                )),
            });
            let text: String = shown.collect::<Result<_, _>>()?;
            Ok(ToolOutput::new(Content::Text(text), None))
        })
    }
}
