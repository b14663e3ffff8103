//! The tool through which a model delivers an output that matches a schema.

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use tillerman_engine::{Input, StructuredOutputConfig};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::control::InitializeRequest;
use tillerman_protocol::tool::{Access, ToolOutcome, ToolOutput, ToolSpec};

use crate::session_task::SessionTask;

const NAME: &str = "StructuredOutput";
/// The field that holds an output which is not an object, since inputs of tools are objects.
const WRAPPER: &str = "output";
/// How many faults the model is told at once.
const MOST_FAULTS: usize = 10;
const LONGEST_FAULT: usize = 500;

const DESCRIPTION: &str = "\
Delivers your final answer in the form that was asked for. The input of this call is the answer. \
Call it exactly once, when the work is done; your turn ends with it, and words beside it do not \
count.";

/// Why a schema cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the JSON schema cannot be used: {0}")]
pub struct SchemaError(String);

/// Takes outputs that match a schema.
#[derive(Clone, Debug)]
pub struct StructuredOutput {
    validator: Arc<Validator>,
    input_schema: Arc<Value>,
    is_wrapped: bool,
}

impl StructuredOutput {
    /// Reads the schema as it stands on a command line.
    ///
    /// # Errors
    /// When it is not JSON, or cannot be used.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let schema = serde_json::from_str(text);
        Self::new(schema.map_err(|error| SchemaError(format!("it is not JSON: {error}")))?)
    }

    /// Takes outputs that match this schema. It is read as draft 7 unless it names another.
    ///
    /// # Errors
    /// When it is no valid schema, or refers to something outside of it.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        if !schema.is_object() {
            return Err(SchemaError("it is not an object".to_owned()));
        }
        let mut options = jsonschema::options();
        if schema.get("$schema").is_none() {
            options = options.with_draft(Draft::Draft7);
        }
        let validator = options.build(&schema);
        let validator = validator.map_err(|error| {
            SchemaError(match error.kind() {
                ValidationErrorKind::Referencing(_) => dangling(&error.to_string()),
                _ => fault(&error),
            })
        })?;
        let is_wrapped = schema.get("type").and_then(Value::as_str) != Some("object");
        let input_schema = if is_wrapped { wrap(schema) } else { schema };
        let (validator, input_schema) = (Arc::new(validator), Arc::new(input_schema));
        Ok(Self { validator, input_schema, is_wrapped })
    }

    /// What the engine is told about it.
    #[must_use]
    pub fn config(&self, max_retries: u32) -> StructuredOutputConfig {
        StructuredOutputConfig { tool: self.spec(), max_retries }
    }

    /// The output in an input.
    fn output<'a>(&self, input: &'a Value) -> Result<&'a Value, String> {
        match (self.is_wrapped, input.get(WRAPPER)) {
            (false, _) => Ok(input),
            (true, Some(output)) => Ok(output),
            (true, None) => Err(format!("the field {WRAPPER} is missing")),
        }
    }
}

/// Puts a schema of something else than objects into one of an object. Definitions stay at the
/// top, where references look for them.
fn wrap(mut schema: Value) -> Value {
    let mut wrapper =
        json!({"type": "object", "required": [WRAPPER], "additionalProperties": false});
    for key in ["$schema", "$defs", "definitions"] {
        if let Some(value) = schema.as_object_mut().and_then(|fields| fields.shift_remove(key)) {
            wrapper[key] = value;
        }
    }
    wrapper["properties"] = json!({ WRAPPER: schema });
    wrapper
}

/// What to do about a reference that leads nowhere; its name is what stands in quotes.
fn dangling(error: &str) -> String {
    let name = error.split('\'').nth(1).unwrap_or("something");
    format!(
        "it refers to {name}, which is not part of it; put everything that it needs into it, such \
         as under $defs"
    )
}

fn fault(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let text: String = error.to_string().chars().take(LONGEST_FAULT).collect();
    if place.is_empty() { text } else { format!("at {place}: {text}") }
}

impl SessionTask {
    /// A host may ask for structured output in the handshake instead of on the command line.
    pub(crate) async fn choose_output(
        &mut self,
        hello: &InitializeRequest,
    ) -> Result<(), SchemaError> {
        let format = hello.extra.get("outputFormat").and_then(|format| format.get("schema"));
        let Some(schema) = hello.json_schema.as_ref().or(format) else { return Ok(()) };
        let tool = StructuredOutput::new(schema.clone())?;
        let config = tool.config(self.facing.output_retries);
        let tool: Arc<dyn Tool> = Arc::new(tool);
        self.ports.tools.retain(|held| held.spec().name != NAME);
        self.ports.tools.push(Arc::clone(&tool));
        self.tools.insert(NAME.to_owned(), tool);
        self.feed(Input::OutputChosen(Box::new(config))).await;
        Ok(())
    }
}

impl Tool for StructuredOutput {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: (*self.input_schema).clone(),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        let output = self.output(input)?;
        let faults: Vec<String> =
            self.validator.iter_errors(output).take(MOST_FAULTS).map(|e| fault(&e)).collect();
        if faults.is_empty() {
            return Ok(());
        }
        let faults = faults.join("; ");
        Err(format!("the output does not match the schema: {faults}. Mend it and call again."))
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let output = self.output(&call.input).cloned().unwrap_or_default();
        let content = Content::Text("The output was delivered.".to_owned());
        Box::pin(std::future::ready(Ok(ToolOutput::new(content, Some(output)))))
    }
}
