//! The tool that keeps the list of what is to be done.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};

use crate::input::Fields;

const NAME: &str = "TodoWrite";
const MOST_ENTRIES: usize = 500;
const STATUSES: [&str; 3] = ["pending", "in_progress", "completed"];

const DESCRIPTION: &str = "\
Writes the list of steps of the present work, which the user sees. Every call replaces the whole \
list. Use it for work of several steps: mark a step in_progress before you begin it, completed as \
soon as it is really done, and keep one step in progress at a time.";

/// Keeps the list of what is to be done.
#[derive(Debug, Default)]
pub(crate) struct TodoWrite {
    list: Arc<Mutex<Value>>,
}

/// The list in the form hosts know.
fn parse(input: &Value) -> Result<Vec<Value>, String> {
    let fields = Fields::of(NAME, input)?;
    let entries = fields.required_items("todos", "the whole list of steps")?;
    if entries.len() > MOST_ENTRIES {
        return Err(format!("{NAME}: todos has more than {MOST_ENTRIES} entries; keep it short."));
    }
    let entries = entries.iter().map(|entry| {
        let content = entry.required_text("content", "what is to be done")?;
        let status = entry.optional_choice("status", &STATUSES)?;
        let status = status.map_or_else(|| entry.required_text("status", "how far it is"), Ok)?;
        let active = entry.optional_text("activeForm")?.unwrap_or(content);
        Ok(json!({"content": content, "status": status, "activeForm": active}))
    });
    entries.collect()
}

impl Tool for TodoWrite {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "description": "The whole list, in order.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "content": {"type": "string", "minLength": 1, "description": "What is to be done: \"Run the tests\"."},
                                "status": {"type": "string", "enum": STATUSES, "description": "How far it is."},
                                "activeForm": {"type": "string", "minLength": 1, "description": "The same while it is being done: \"Running the tests\"."},
                            },
                            "required": ["content", "status", "activeForm"],
                            "additionalProperties": false,
                        },
                    },
                },
                "required": ["todos"],
                "additionalProperties": false,
            }),
            // The list belongs to the session; nothing outside of it changes.
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let list = Arc::clone(&self.list);
        Box::pin(async move {
            let entries = parse(&call.input).map_err(ToolFailure::new)?;
            let open = entries.iter().filter(|entry| entry["status"] != "completed").count();
            let text = format!(
                "The list was written: {} steps, {open} of them not completed yet.",
                entries.len()
            );
            let new = Value::Array(entries);
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            let old = match std::mem::replace(&mut *list, new.clone()) {
                Value::Null => json!([]),
                old => old,
            };
            let structured = json!({"oldTodos": old, "newTodos": new});
            Ok(ToolOutput::new(Content::Text(text), Some(structured)))
        })
    }
}
