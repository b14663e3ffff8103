//! What tasks say while they go on: shown to the host at once, told to the model when it listens.

use serde_json::{Map, json};
use tillerman_protocol::TaskId;
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::{SystemDetail, TaskProgress, TaskUsage};

use crate::input::{Author, News, Prompt, TaskStart};
use crate::session::Session;

/// How much of one task waits to be heard; beyond that the oldest lines are left out.
const WAITING_BYTES: usize = 16 * 1024;

impl Session {
    /// A task has something to say. Lines that still wait are heard together with the new ones, so
    /// that a session at work is not held up by what it could not listen to.
    pub(crate) fn task_spoke(&mut self, id: &TaskId, text: &str) {
        let Some(task) = self.tasks.find(id).cloned() else { return };
        let extra = Map::from_iter([
            ("tool_use_id".to_owned(), json!(task.tool_use_id)),
            ("summary".to_owned(), json!(text)),
        ]);
        self.emit_system(SystemDetail::TaskProgress(TaskProgress {
            task_id: task.id.clone(),
            description: task.description.clone(),
            usage: TaskUsage::default(),
            last_tool_name: None,
            extra,
        }));
        let waiting = self
            .queue
            .iter()
            .position(|prompt| prompt.news.as_ref().is_some_and(|news| news.task == *id));
        let before = waiting.and_then(|at| self.queue.remove(at)).and_then(|prompt| prompt.news);
        let text = match before {
            Some(before) => format!("{}\n{text}", before.text),
            None => text.to_owned(),
        };
        self.queue.push_back(prompt(&task, text));
    }
}

/// What the model is told. The mark before each line keeps what a program prints from passing for
/// something else.
fn prompt(task: &TaskStart, text: String) -> Prompt {
    let (kept, is_whole) = end_of(text);
    let lines: Vec<String> = kept.lines().map(|line| format!("> {line}")).collect();
    let gap = if is_whole { "" } else { "[Earlier lines were left out.]\n" };
    let told = format!(
        "<task-notification>\nThe background task {} ({}) goes on and says:\n{gap}{}\nAll of its \
         output is in {}.\n</task-notification>",
        task.id,
        task.description,
        lines.join("\n"),
        task.output_file
    );
    let news = News { task: task.id.clone(), text: kept };
    Prompt {
        author: Author::Engine,
        news: Some(Box::new(news)),
        ..Prompt::new(Content::Text(told))
    }
}

/// The last whole lines that may wait, and whether these are all.
fn end_of(text: String) -> (String, bool) {
    let Some(surplus) = text.len().checked_sub(WAITING_BYTES).filter(|surplus| *surplus > 0) else {
        return (text, true);
    };
    let cut = &text[text.ceil_char_boundary(surplus)..];
    let whole = cut.split_once('\n').map_or(cut, |(_, rest)| rest);
    (whole.to_owned(), false)
}
