//! The tool that asks the user. Its answers come in with its input, from whoever was asked for
//! permission to run it.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};

use crate::input::Fields;

const NAME: &str = "AskUserQuestion";

const DESCRIPTION: &str = "\
Asks the user up to four questions with two to four options each and returns the answers. Use it when \
the work depends on a choice only the user can make; decide yourself what you can. The user may \
always answer in their own words, so offer no option for that.";

/// Asks the user.
#[derive(Debug)]
pub(crate) struct AskUserQuestion;

fn check(input: &Value) -> Result<(), String> {
    let fields = Fields::of(NAME, input)?;
    let questions = fields.required_items("questions", "one to four questions")?;
    if !(1..=4).contains(&questions.len()) {
        return Err(format!(
            "{NAME}: questions must hold one to four questions, but it holds {}.",
            questions.len()
        ));
    }
    let mut texts = HashSet::new();
    for question in &questions {
        let text = question.required_text("question", "the question itself")?;
        if !texts.insert(text) {
            return Err(format!("{NAME}: the question {text:?} is asked twice."));
        }
        question.required_text("header", "one or two words to label the question")?;
        question.optional_flag("multiSelect")?;
        let options = question.required_items("options", "two to four options")?;
        if !(2..=4).contains(&options.len()) {
            return Err(format!(
                "{NAME}: the question {text:?} must have two to four options, but it has {}.",
                options.len()
            ));
        }
        let mut labels = HashSet::new();
        for option in &options {
            let label = option.required_text("label", "the option in a few words")?;
            option.optional_text("description")?;
            if !labels.insert(label) {
                return Err(format!("{NAME}: {text:?} offers the option {label:?} twice."));
            }
        }
    }
    Ok(())
}

impl Tool for AskUserQuestion {
    fn spec(&self) -> ToolSpec {
        let option = json!({
            "type": "object",
            "properties": {
                "label": {"type": "string", "description": "The option in a few words."},
                "description": {"type": "string", "description": "What choosing it means."},
                "preview": {"type": "string", "description": "What it would look like, if that helps to choose."},
            },
            "required": ["label", "description"],
            "additionalProperties": false,
        });
        let question = json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "The whole question."},
                "header": {"type": "string", "description": "A label of at most 12 characters."},
                "options": {"type": "array", "minItems": 2, "maxItems": 4, "items": option, "description": "The options."},
                "multiSelect": {"type": "boolean", "default": false, "description": "Whether several options may be chosen."},
            },
            "required": ["question", "header", "options", "multiSelect"],
            "additionalProperties": false,
        });
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "questions": {"type": "array", "minItems": 1, "maxItems": 4, "items": question, "description": "The questions."},
                    "answers": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "description": "Filled in by the user; leave it out.",
                    },
                },
                "required": ["questions"],
                "additionalProperties": false,
            }),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        check(input)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        Box::pin(std::future::ready(answer(&call.input)))
    }
}

fn answer(input: &Value) -> ToolOutcome {
    let answers: Map<String, Value> = input
        .get("answers")
        .and_then(Value::as_object)
        .map(|answers| answers.iter().map(|(question, answer)| (question.clone(), plain(answer))))
        .map(Iterator::collect)
        .unwrap_or_default();
    let response = input.get("response").and_then(Value::as_str).filter(|text| !text.is_empty());
    if answers.is_empty() && response.is_none() {
        return Err(ToolFailure::new(
            "Nobody answered the questions. Go on with what you know and say what you assumed, or \
             ask in your reply.",
        ));
    }
    let mut lines = vec!["The user answered:".to_owned()];
    for (question, answer) in &answers {
        lines.push(format!("- {question}\n  {}", answer.as_str().unwrap_or_default()));
        let notes =
            input.pointer("/annotations").and_then(|notes| notes.get(question)?.get("notes"));
        lines.extend(notes.and_then(Value::as_str).map(|notes| format!("  Notes: {notes}")));
    }
    lines.extend(response.map(|response| format!("In the user's own words: {response}")));
    let questions = input.get("questions").cloned().unwrap_or_default();
    let mut structured = json!({"questions": questions, "answers": answers});
    for name in ["response", "annotations"] {
        if let Some(value) = input.get(name) {
            structured[name] = value.clone();
        }
    }
    Ok(ToolOutput::new(Content::Text(lines.join("\n")), Some(structured)))
}

/// An answer as one text; hosts send several choices as a list or already joined.
fn plain(answer: &Value) -> Value {
    Value::String(match answer {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
            parts.join(", ")
        }
        other => other.to_string(),
    })
}
