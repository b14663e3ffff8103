//! The tools that work on the list of tasks of a team.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};

use crate::blocking::off_thread;
use crate::board::change::Change;
use crate::board::list::{LEAD, List, Status, Task};
use crate::board::storage::Storage;
use crate::input::Fields;

const MOST_TASKS: usize = 5_000;

/// Makes the tools with which a member, or the lead, works on the list in this directory.
#[must_use]
pub fn board_tools(directory: PathBuf, member: Option<&str>) -> Vec<Arc<dyn Tool>> {
    let storage = Storage::new(directory);
    let member = member.unwrap_or(LEAD).to_owned();
    [Deed::Create, Deed::Get, Deed::List, Deed::Update]
        .into_iter()
        .map(|deed| {
            let (storage, member) = (storage.clone(), member.clone());
            Arc::new(BoardTool { deed, storage, member }) as Arc<dyn Tool>
        })
        .collect()
}

/// What a tool does with the list.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Create,
    Get,
    List,
    Update,
}

#[derive(Clone, Debug)]
struct BoardTool {
    deed: Deed,
    storage: Storage,
    /// Who works with it.
    member: String,
}

impl Deed {
    const fn name(self) -> &'static str {
        match self {
            Self::Create => "TaskCreate",
            Self::Get => "TaskGet",
            Self::List => "TaskList",
            Self::Update => "TaskUpdate",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Create => {
                "Adds a task to the list that the team shares. It belongs to nobody until somebody \
                 takes it or is given it with TaskUpdate."
            }
            Self::Get => "Shows everything about one task of the list.",
            Self::List => {
                "Shows the list of tasks: how far each is, whose it is, and what it waits for. \
                 Look for one that is pending, belongs to nobody and waits for nothing."
            }
            Self::Update => {
                "Changes a task. Setting it in_progress takes it for you, unless somebody was \
                 faster or it waits for others; mark it completed only when it really is."
            }
        }
    }

    fn schema(self) -> Value {
        let text = |about: &str| json!({"type": "string", "description": about});
        let ids = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
        let (properties, required) = match self {
            Self::List => (json!({}), json!([])),
            Self::Get => (json!({"taskId": text("The task.")}), json!(["taskId"])),
            Self::Create => (
                json!({
                    "subject": text("The task in a few words."),
                    "description": text("What is to be done."),
                    "activeForm": text("The same while it is being done: \"Running the tests\"."),
                    "metadata": {"type": "object", "description": "Anything else to keep with it."},
                }),
                json!(["subject", "description"]),
            ),
            Self::Update => (
                json!({
                    "taskId": text("The task."),
                    "subject": text("Another subject."),
                    "description": text("Another description."),
                    "activeForm": text("Another form of the subject while it is being done."),
                    "status": {"type": "string", "enum": Status::NAMES, "description": "How far it is; deleted removes it."},
                    "owner": text("Whose it is from now on, by name."),
                    "addBlocks": ids("Tasks that wait for this one."),
                    "addBlockedBy": ids("Tasks that this one waits for."),
                    "metadata": {"type": "object", "description": "Keys to keep; null removes one."},
                }),
                json!(["taskId"]),
            ),
        };
        json!({"type": "object", "properties": properties, "required": required})
    }
}

impl Tool for BoardTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.deed.name().to_owned(),
            description: self.deed.description().to_owned(),
            input_schema: self.deed.schema(),
            // The list belongs to the team; nothing outside of it changes.
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        let fields = Fields::of(self.deed.name(), input)?;
        match self.deed {
            Deed::Create => {
                fields.required_text("subject", "the task in a few words")?;
                fields.required_text("description", "what is to be done").map(drop)
            }
            Deed::Get => fields.required_text("taskId", "the task to show").map(drop),
            Deed::List => Ok(()),
            Deed::Update => Change::parse(self.deed.name(), input).map(drop),
        }
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let own = self.clone();
        Box::pin(async move {
            off_thread(call.cancel, move |_| {
                own.run(&call.input)
                    .map(|(text, value)| ToolOutput::new(Content::Text(text), Some(value)))
                    .map_err(ToolFailure::new)
            })
            .await
        })
    }
}

impl BoardTool {
    fn run(&self, input: &Value) -> Result<(String, Value), String> {
        let fields = Fields::of(self.deed.name(), input)?;
        match self.deed {
            Deed::Create => self.create(&fields, input),
            Deed::Get => {
                let id = fields.required_text("taskId", "the task to show")?;
                let list = self.storage.load();
                let shown = list.find(id).map_or(Value::Null, |task| whole(&list, task));
                let text = match &shown {
                    Value::Null => format!("There is no task {id}."),
                    task => task.to_string(),
                };
                Ok((text, json!({"task": shown})))
            }
            Deed::List => {
                let list = self.storage.load();
                let tasks: Vec<Value> = list.iter().map(|task| brief(&list, task)).collect();
                let lines: Vec<String> = list.iter().map(|task| line(&list, task)).collect();
                let text = if lines.is_empty() {
                    "There are no tasks.".to_owned()
                } else {
                    lines.join("\n")
                };
                Ok((text, json!({"tasks": tasks})))
            }
            Deed::Update => {
                let change = Change::parse(self.deed.name(), input)?;
                let answer = self.storage.change(|list| change.apply(list, &self.member))?;
                let id = answer["taskId"].as_str().unwrap_or_default();
                Ok((format!("Task {id} was changed."), answer))
            }
        }
    }

    fn create(&self, fields: &Fields<'_>, input: &Value) -> Result<(String, Value), String> {
        let mut task = Task {
            subject: fields.required_text("subject", "the task in a few words")?.to_owned(),
            description: fields.required_text("description", "what is to be done")?.to_owned(),
            active_form: fields.optional_text("activeForm")?.map(str::to_owned),
            metadata: input.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default(),
            ..Task::default()
        };
        let created = self.storage.change(|list| {
            if list.len() >= MOST_TASKS {
                return Err(format!("There are {MOST_TASKS} tasks already; nothing was added."));
            }
            task.id = list.next_id();
            Ok((vec![task.clone()], task))
        })?;
        let text = format!("Task {} was added: {}", created.id, created.subject);
        let Task { id, subject, description, .. } = created;
        Ok((text, json!({"task": {"id": id, "subject": subject, "description": description}})))
    }
}

fn whole(list: &List, task: &Task) -> Value {
    let mut value = brief(list, task);
    value["description"] = json!(task.description);
    value["blocks"] = json!(list.blocked_by(&task.id));
    value
}

fn brief(list: &List, task: &Task) -> Value {
    let mut value = json!({
        "id": task.id,
        "subject": task.subject,
        "status": task.status.name(),
        "blockedBy": list.open_blockers(task),
    });
    if let Some(owner) = &task.owner {
        value["owner"] = json!(owner);
    }
    value
}

fn line(list: &List, task: &Task) -> String {
    let owner = task.owner.as_ref().map_or_else(String::new, |owner| format!(" ({owner})"));
    let blockers = list.open_blockers(task);
    let waits = match blockers.is_empty() {
        true => String::new(),
        false => format!(" [waits for {}]", blockers.join(", ")),
    };
    format!("#{} [{}] {}{owner}{waits}", task.id, task.status.name(), task.subject)
}
