//! Puts into words what the calls of a rehearsal brought back.

use super::conversation::{Conversation, Outcome};
use super::digest::{enumerate, file_names, first_lines, line_count, shorten};
use super::model::RehearsalNote;
use super::plan::Part;
use super::wish::{Place, Wish};

const CAN_DO: &str = "I can rehearse plain requests such as: list the files here; read README.md; \
    run `git status`; write notes.txt containing `hello`; replace `a` with `b` in notes.txt; \
    search for a word; ask me a question; delegate a task; todo: one, two; \
    call a tool by its name with {\"its\": \"input\"}.";

/// Writes the final answer.
pub(super) fn answer(
    note: RehearsalNote,
    conversation: &Conversation,
    parts: &[Part],
    outcomes: &[Vec<Outcome>],
) -> String {
    let mut paragraphs: Vec<String> = parts
        .iter()
        .zip(outcomes)
        .map(|(part, outcomes)| paragraph(conversation, part, outcomes))
        .collect();
    if parts.is_empty() {
        paragraphs.push(greeting(&conversation.prompt));
    }
    if parts.iter().any(|part| matches!(part.wish, Wish::Unclear(_))) {
        paragraphs.push(CAN_DO.to_owned());
    }
    paragraphs.push(note.sentence().to_owned());
    paragraphs.join("\n\n")
}

fn greeting(prompt: &str) -> String {
    match prompt {
        "" => format!("You sent no text. {CAN_DO}"),
        _ => format!("You said: {}\n\n{CAN_DO}", shorten(prompt, 300)),
    }
}

fn paragraph(conversation: &Conversation, part: &Part, outcomes: &[Outcome]) -> String {
    if let Some(tool) = part.missing_tool {
        return format!(
            "I could not {}: {tool} is not among the tools of this session. \
             Allow it, or ask for something else.",
            goal(&part.wish)
        );
    }
    match outcomes.last() {
        None => without_calls(conversation, &part.wish),
        Some(outcome) if outcome.failed => failure(&part.wish, outcome),
        Some(outcome) => success(&part.wish, outcome, outcomes.len()),
    }
}

fn without_calls(conversation: &Conversation, wish: &Wish) -> String {
    match wish {
        Wish::Say(text) => text.clone(),
        Wish::Recap => recap(conversation),
        Wish::Unclear(text) => {
            format!("I did not understand this as a request: {}", shorten(text, 300))
        }
        _ => format!("I did nothing to {}.", goal(wish)),
    }
}

/// Quotes prompts whole, so that a recap put into a new conversation does not repeat requests.
fn recap(conversation: &Conversation) -> String {
    if conversation.earlier_prompts.is_empty() {
        return "Nothing was asked in this conversation so far.".to_owned();
    }
    let asked: Vec<String> = conversation
        .earlier_prompts
        .iter()
        .map(|prompt| format!("\"{}\"", shorten(&prompt.replace(['"', '\n'], " "), 200)))
        .collect();
    format!("Asked so far, oldest first: {}.", asked.join("; "))
}

/// What was wanted, after "I could not".
fn goal(wish: &Wish) -> String {
    match wish {
        Wish::List(None) => "list the files".to_owned(),
        Wish::List(Some(place)) => format!("list the files in {place}"),
        Wish::Read(path) => format!("read {path}"),
        Wish::Run(command, _) => format!("run `{}`", shorten(command, 120)),
        Wish::Write { path, .. } => format!("write {path}"),
        Wish::Replace { path, .. } => format!("change {path}"),
        Wish::Search { text, .. } => format!("search for {}", shorten(text, 80)),
        Wish::FindFiles(pattern) => format!("find files named {pattern}"),
        Wish::Ask { .. } => "ask you".to_owned(),
        Wish::Delegate { .. } => "delegate the task".to_owned(),
        Wish::Todo(_) => "keep the list".to_owned(),
        Wish::Fetch(url) => format!("fetch {url}"),
        Wish::Use { tool, .. } => format!("use {tool}"),
        Wish::Say(_) | Wish::Recap | Wish::Unclear(_) => "answer".to_owned(),
    }
}

fn failure(wish: &Wish, outcome: &Outcome) -> String {
    let goal = goal(wish);
    let reason = first_lines(&outcome.text, 3).join(" ");
    if is_denial(&outcome.text) {
        return format!(
            "I could not {goal}, because the call was not allowed: {reason}\n\
             Allow it when asked, or add a permission rule for it, and ask again."
        );
    }
    format!("I tried to {goal}, but it failed: {reason}\nCorrect that and ask again.")
}

fn is_denial(text: &str) -> bool {
    const SIGNS: [&str; 9] = [
        "permission",
        "denied",
        "deny",
        "forbid",
        "not allowed",
        "was not run",
        "doesn't want",
        "rejected",
        "declined",
    ];
    let text = text.to_lowercase();
    // With these words the system refuses a file, not a person a call.
    SIGNS.iter().any(|sign| text.contains(sign)) && !text.contains("permission denied")
}

fn success(wish: &Wish, outcome: &Outcome, calls: usize) -> String {
    let text = &outcome.text;
    match wish {
        Wish::List(place) => listing(place.as_deref(), text),
        Wish::Read(path) => quote(&format!("{path} says"), text, 6),
        Wish::Run(command, Place::Foreground) => {
            quote(&format!("I ran `{}`. It printed", shorten(command, 120)), text, 10)
        }
        Wish::Run(command, Place::Background) => {
            quote(&format!("I started `{}` in the background", shorten(command, 120)), text, 2)
        }
        Wish::Write { path, content } => format!("I wrote {path} ({} bytes).", content.len()),
        Wish::Replace { path, old, new } => {
            let (old, new) = (shorten(old, 60), shorten(new, 60));
            format!("I replaced `{old}` with `{new}` in {path}.")
        }
        Wish::Search { text: wanted, .. } => {
            quote(&format!("Searching for `{}` found", shorten(wanted, 80)), text, 8)
        }
        Wish::FindFiles(pattern) => quote(&format!("Files named {pattern}"), text, 8),
        Wish::Ask { question, .. } => quote(&format!("I asked: {question} The answer"), text, 4),
        Wish::Delegate { .. } => quote("The subagent reported", &without_notes(text), 8),
        Wish::Todo(items) => {
            format!(
                "I noted {} things to do in {calls} call(s): {}.",
                items.len(),
                enumerate(items, 8)
            )
        }
        Wish::Fetch(url) => quote(&format!("{url} says"), text, 6),
        Wish::Use { tool, .. } => quote(&format!("{tool} returned"), text, 8),
        Wish::Say(_) | Wish::Recap | Wish::Unclear(_) => text.clone(),
    }
}

fn listing(place: Option<&str>, text: &str) -> String {
    let names = file_names(text);
    let place = place.unwrap_or("the working directory");
    match names.len() {
        0 => format!("There are no files in {place}."),
        1 => format!("There is one entry in {place}: {}", names[0]),
        count => format!("There are {count} entries in {place}: {}", enumerate(&names, 20)),
    }
}

fn quote(lead: &str, text: &str, most: usize) -> String {
    let lines = first_lines(text, most);
    if lines.is_empty() {
        return format!("{lead}: nothing.");
    }
    let quoted: Vec<String> = lines.iter().map(|line| format!("> {line}")).collect();
    let more = line_count(text).saturating_sub(lines.len());
    let more = if more == 0 { String::new() } else { format!("\n(and {more} more lines)") };
    format!("{lead}:\n{}{more}", quoted.join("\n"))
}

/// A subagent's own remark that it is a rehearsal need not be repeated.
fn without_notes(text: &str) -> String {
    let is_note = |line: &&str| !line.starts_with(RehearsalNote::OPENING);
    text.lines().filter(is_note).collect::<Vec<_>>().join("\n")
}
