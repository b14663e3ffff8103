//! What a call for an agent is answered with.

use serde_json::json;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::ResultFrame;
use tillerman_protocol::task::{TaskEnd, TaskReport, TaskStatus};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome, ToolOutput};

use crate::agents::book::{Agent, Progress};

/// How many characters of a report are passed on.
const LONGEST_REPORT: usize = 32_000;

/// The answer of a call that does not wait.
pub(crate) fn launched(agent: &Agent) -> ToolOutput {
    let id = &agent.id;
    let for_teammate = agent.seat.as_ref().map(|name| {
        format!(
            "The teammate {name} works now. You will be told when it rests, so do not wait for it \
             and do not do its work yourself. SendMessage to {name} tells it more, also when it \
             rests. Its id is {id}."
        )
    });
    let text = for_teammate.unwrap_or_else(|| format!(
        "The agent {id} works in the background. You will be told when it has ended; do not wait \
         for it and do not do its work yourself. TaskOutput with this id shows how far it is, \
         TaskStop ends it, SendMessage tells it more."
    ));
    let structured = json!({
        "status": "async_launched",
        "isAsync": true,
        "agentId": id,
        "description": agent.description,
        "prompt": agent.prompt,
        "resolvedModel": agent.model,
        "outputFile": agent.output_file,
        "canReadOutputFile": !agent.output_file.is_empty(),
    });
    ToolOutput::new(Content::Text(text), Some(structured))
}

/// The answer of a call that waited.
pub(crate) fn finished(agent: &Agent, progress: Progress) -> ToolOutcome {
    let Some(end) = progress.ended else {
        return Err(ToolFailure::new("The agent ended without a word."));
    };
    let report = end.report.map(|report| *report).unwrap_or_default();
    if end.status != TaskStatus::Completed {
        let said = report.text.trim();
        let said =
            if said.is_empty() { String::new() } else { format!("\nWhat it said last:\n{said}") };
        let text = format!("{} (agent {}){said}", end.summary, agent.id);
        return Err(ToolFailure::new(text));
    }
    let trailer = format!(
        "[Agent {}: {} tokens, {} tool calls, {} ms. SendMessage to this id goes on with it.]",
        agent.id, report.usage.total_tokens, report.usage.tool_uses, report.usage.duration_ms
    );
    let blocks = vec![Block::text(report.text), Block::text(trailer)];
    Ok(ToolOutput::new(Content::Blocks(blocks), progress.outcome))
}

/// What hosts are told about an agent that did its work.
pub(crate) fn structured(
    agent: &Agent,
    report: &TaskReport,
    usage: &tillerman_protocol::stream::Usage,
) -> serde_json::Value {
    json!({
        "status": "completed",
        "agentId": agent.id,
        "agentType": agent.kind,
        "prompt": agent.prompt,
        "content": [{"type": "text", "text": report.text}],
        "resolvedModel": agent.model,
        "totalToolUseCount": report.usage.tool_uses,
        "totalDurationMs": report.usage.duration_ms,
        "totalTokens": report.usage.total_tokens,
        "usage": usage,
    })
}

/// The end of an agent, for its task.
pub(crate) fn end(agent: &Agent, status: TaskStatus, why: &str, report: TaskReport) -> TaskEnd {
    if let Some(name) = &agent.seat {
        let summary = match status {
            TaskStatus::Completed => {
                format!("The teammate {name} has done its work and rests; SendMessage wakes it.")
            }
            TaskStatus::Failed => format!("The teammate {name} failed: {why}."),
            TaskStatus::Stopped => format!("The teammate {name} was stopped."),
        };
        return TaskEnd { status, summary, report: Some(Box::new(report)) };
    }
    let name = &agent.description;
    let summary = match status {
        TaskStatus::Completed => format!("The agent \"{name}\" has done its work."),
        TaskStatus::Failed => format!("The agent \"{name}\" failed: {why}."),
        TaskStatus::Stopped => format!("The agent \"{name}\" was stopped."),
    };
    TaskEnd { status, summary, report: Some(Box::new(report)) }
}

/// The report of an agent that reached its own limit before it was done.
pub(crate) fn unfinished(
    said: &str,
    presentable: impl Fn(&str) -> String,
    result: &ResultFrame,
) -> String {
    let limit = result.errors.iter().flatten().next().map_or("its limit", String::as_str);
    let note =
        format!("[The agent stopped before it was done: {limit}. SendMessage has it go on.]");
    match said.trim() {
        "" => note,
        said => format!("{}\n\n{note}", presentable(said)),
    }
}

/// A report as models see it: never empty, never longer than a conversation can bear.
pub(crate) fn presentable(text: &str, output_file: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return "(the agent ended without a report)".to_owned();
    }
    let Some((cut, _)) = text.char_indices().nth(LONGEST_REPORT) else { return text.to_owned() };
    let rest = match output_file {
        "" => "and is not kept".to_owned(),
        file => format!("and is at the end of {file}"),
    };
    format!("{}\n[The report is longer than {LONGEST_REPORT} characters {rest}.]", &text[..cut])
}
