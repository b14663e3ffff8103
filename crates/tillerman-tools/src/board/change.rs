//! Changing a task: who may, what follows from it, and what is refused.

use serde_json::{Map, Value, json};

use crate::board::list::{LEAD, List, Status, Task};
use crate::input::Fields;

/// What is to become of a task.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    id: String,
    subject: Option<String>,
    description: Option<String>,
    active_form: Option<String>,
    status: Option<Status>,
    owner: Option<String>,
    blocks: Vec<String>,
    blocked_by: Vec<String>,
    metadata: Map<String, Value>,
}

impl Change {
    /// Reads an input.
    ///
    /// # Errors
    /// A text for the model that names the field and what is wrong with it.
    pub(crate) fn parse(tool: &'static str, input: &Value) -> Result<Self, String> {
        let fields = Fields::of(tool, input)?;
        let text = |name: &str| Ok::<_, String>(fields.optional_text(name)?.map(str::to_owned));
        let texts = |name: &str| {
            Ok::<Vec<String>, String>(fields.texts(name)?.into_iter().map(str::to_owned).collect())
        };
        let metadata = match input.get("metadata") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(metadata)) => metadata.clone(),
            Some(_) => return Err(fields.fault("metadata must be an object")),
        };
        Ok(Self {
            id: fields.required_text("taskId", "the task to change")?.to_owned(),
            subject: text("subject")?,
            description: text("description")?,
            active_form: text("activeForm")?,
            status: fields.optional_choice("status", &Status::NAMES)?.and_then(Status::parse),
            owner: text("owner")?.filter(|owner| !owner.is_empty()),
            blocks: texts("addBlocks")?,
            blocked_by: texts("addBlockedBy")?,
            metadata,
        })
    }

    /// The tasks as they are afterwards, and what the caller is told.
    ///
    /// # Errors
    /// A text for the model that says why nothing was changed.
    pub(crate) fn apply(&self, list: &List, member: &str) -> Result<(Vec<Task>, Value), String> {
        let Some(before) = list.find(&self.id) else {
            return Err(format!("There is no task {}. TaskList shows all.", self.id));
        };
        self.refuse_if_taken(before, member)?;
        let mut task = before.clone();
        self.fill_in(&mut task);
        // Whoever begins a task takes it.
        if self.status == Some(Status::InProgress) && task.owner.is_none() {
            task.owner = Some(member.to_owned());
        }
        let mut work = list.clone();
        for blocker in &self.blocked_by {
            link(&work, &mut task, blocker)?;
        }
        work.put(task.clone());
        let mut changed = Vec::new();
        for id in &self.blocks {
            let Some(mut other) = work.find(id).cloned() else { return Err(unknown(id)) };
            link(&work, &mut other, &self.id)?;
            work.put(other.clone());
            changed.push(other);
        }
        let blockers = list.open_blockers(&task);
        if self.status == Some(Status::InProgress) && !blockers.is_empty() {
            return Err(format!(
                "Task {} waits for {}; it cannot be begun before. Nothing was changed.",
                self.id,
                blockers.join(", ")
            ));
        }
        let mut answer =
            json!({"success": true, "taskId": self.id, "updatedFields": self.fields()});
        if before.status != task.status {
            let (from, to) = (before.status.name(), task.status.name());
            answer["statusChange"] = json!({"from": from, "to": to});
        }
        changed.insert(0, task);
        Ok((changed, answer))
    }

    fn fill_in(&self, task: &mut Task) {
        let set = |field: &mut String, value: &Option<String>| {
            value.iter().for_each(|value| field.clone_from(value));
        };
        set(&mut task.subject, &self.subject);
        set(&mut task.description, &self.description);
        task.active_form = self.active_form.clone().or_else(|| task.active_form.take());
        task.owner = self.owner.clone().or_else(|| task.owner.take());
        task.status = self.status.unwrap_or(task.status);
        for (key, value) in &self.metadata {
            if value.is_null() {
                task.metadata.remove(key);
            } else {
                task.metadata.insert(key.clone(), value.clone());
            }
        }
    }

    /// A task that somebody took is theirs; only the lead takes it away again.
    fn refuse_if_taken(&self, task: &Task, member: &str) -> Result<(), String> {
        let Some(owner) = task.owner.as_ref().filter(|owner| *owner != member) else {
            return Ok(());
        };
        if member == LEAD || (self.status.is_none() && self.owner.is_none()) {
            return Ok(());
        }
        Err(format!(
            "Task {} was taken by {owner}; nothing was changed. Take another one, or ask {owner}.",
            task.id
        ))
    }

    fn fields(&self) -> Vec<&'static str> {
        let given = [
            ("subject", self.subject.is_some()),
            ("description", self.description.is_some()),
            ("activeForm", self.active_form.is_some()),
            ("status", self.status.is_some()),
            ("owner", self.owner.is_some()),
            ("blocks", !self.blocks.is_empty()),
            ("blockedBy", !self.blocked_by.is_empty()),
            ("metadata", !self.metadata.is_empty()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }
}

/// Has a task wait for another one, unless that one waits for it.
fn link(list: &List, task: &mut Task, blocker: &str) -> Result<(), String> {
    if list.find(blocker).is_none() {
        return Err(unknown(blocker));
    }
    if list.waits_for(blocker, &task.id) {
        return Err(format!(
            "Task {blocker} waits for task {} itself, so neither could ever begin; nothing was \
             changed.",
            task.id
        ));
    }
    if !task.blocked_by.iter().any(|held| held == blocker) {
        task.blocked_by.push(blocker.to_owned());
    }
    Ok(())
}

fn unknown(id: &str) -> String {
    format!("There is no task {id}; nothing was changed. TaskList shows all.")
}
