//! Reads the rest of a request once its beginning is known.

use super::heads::{Head, is_tool};
use super::token::{Kind, Token};
use super::understand::slice;
use super::wish::{Place, Wish};

const ARTICLES: &[&str] = &["the", "a", "an", "my", "our", "this", "that", "all", "file", "files"];
const HERE: &[&str] = &["here", "this", "current", "project", "repository", "everything", "."];

/// Reads a request; nothing when it makes no sense after all.
pub(super) fn read_request(
    head: Head,
    body: &[Token<'_>],
    prompt: &str,
    tools: &[&str],
) -> Vec<Wish> {
    let wish = match head {
        Head::List => Some(Wish::List(place(body))),
        Head::Read | Head::Show => return files(body),
        Head::Run => return commands(body, prompt),
        Head::Write => write(body, prompt),
        Head::Replace => replace(body, prompt),
        Head::Search => search(body, prompt),
        Head::Ask => Some(ask(body, prompt)),
        Head::Delegate => delegate(body, prompt),
        Head::Todo => todo(body, prompt),
        Head::Fetch => fetch(body),
        Head::Use => use_tool(body, tools),
        Head::Say => Some(Wish::Say(one_text(body, prompt))),
    };
    wish.into_iter().collect()
}

/// The directory after "in", unless it is the working directory.
fn place(body: &[Token<'_>]) -> Option<String> {
    let at = body.iter().position(|t| t.is_any(&["in", "of", "under", "inside", "from"]));
    let mut rest = body[at.map_or(0, |at| at + 1)..].iter();
    let named = match at {
        Some(_) => rest.find(|token| token.is_content() && !token.is_any(ARTICLES)),
        None => rest.find(|token| token.is_path_like()),
    }?;
    let is_here = named.is_any(HERE) || named.is_any(&["directory", "folder"]);
    (!is_here).then(|| named.text.to_owned())
}

fn files(body: &[Token<'_>]) -> Vec<Wish> {
    let named: Vec<&Token<'_>> = body.iter().filter(|token| token.is_path_like()).collect();
    if !named.is_empty() {
        return named.into_iter().map(|token| Wish::Read(token.text.to_owned())).collect();
    }
    let words: Vec<&Token<'_>> =
        body.iter().filter(|token| token.is_content() && !token.is_any(ARTICLES)).collect();
    match words[..] {
        [only] => vec![Wish::Read(only.text.to_owned())],
        _ => Vec::new(),
    }
}

fn commands(body: &[Token<'_>], prompt: &str) -> Vec<Wish> {
    let after_colon = body.first().is_some_and(|token| token.kind == Kind::Colon);
    let quoted: Vec<&Token<'_>> = body.iter().filter(|t| t.kind == Kind::Quoted).collect();
    let (body, place) = background(body);
    let starts_quoted = body
        .iter()
        .find(|token| token.is_content() && !token.is_any(&["the", "command", "commands"]))
        .is_some_and(|token| token.kind == Kind::Quoted);
    if starts_quoted {
        return quoted.into_iter().map(|t| Wish::Run(t.text.trim().to_owned(), place)).collect();
    }
    let body = &body[usize::from(after_colon)..];
    let command = slice(prompt, body);
    let is_prose = body
        .first()
        .is_none_or(|first| first.is_any(&["the", "a", "an", "my", "your", "some", "it", "all"]));
    if command.is_empty() || is_prose { Vec::new() } else { vec![Wish::Run(command, place)] }
}

/// Takes "in the background" off the end.
fn background<'t, 'a>(body: &'t [Token<'a>]) -> (&'t [Token<'a>], Place) {
    match body.iter().rposition(|token| token.is("background")) {
        Some(at) if at >= 2 && body[at - 1].is("the") && body[at - 2].is("in") => {
            let after = &body[at + 1..];
            if at == 2 { (after, Place::Background) } else { (&body[..at - 2], Place::Background) }
        }
        _ => (body, Place::Foreground),
    }
}

const CONTENT_WORDS: &[&str] = &["with", "containing", "saying", "says", "contains", "reading"];

fn write(body: &[Token<'_>], prompt: &str) -> Option<Wish> {
    // "write `hello` to notes.txt": the content comes first.
    let goal = body.iter().rposition(|token| token.is_any(&["to", "into", "in"]));
    if let Some(at) = goal
        && let Some(path) = body[at + 1..].iter().find(|token| token.is_path_like())
        && !body[..at].iter().any(|t| t.kind == Kind::Word && t.is_path_like())
        && body[..at].iter().any(Token::is_content)
    {
        return Some(Wish::Write {
            path: path.text.to_owned(),
            content: one_text(&body[..at], prompt),
        });
    }
    let named = body.iter().position(Token::is_path_like)?;
    let rest = &body[named + 1..];
    let lead = rest.iter().position(|token| token.is_any(CONTENT_WORDS));
    let colon = rest.iter().position(|token| token.kind == Kind::Colon);
    let from = colon.or(lead).map_or(rest.len(), |at| at + 1);
    let noise = ["the", "content", "contents", "text", "line", "words", "word"];
    let skipped = rest[from..].iter().take_while(|token| token.is_any(&noise)).count();
    let content = one_text(&rest[from + skipped..], prompt);
    Some(Wish::Write { path: body[named].text.to_owned(), content })
}

/// The first quoted piece, or everything as it stands.
fn one_text(body: &[Token<'_>], prompt: &str) -> String {
    let from = body.iter().position(Token::is_content).unwrap_or(body.len());
    let quoted = body.iter().find(|token| token.kind == Kind::Quoted);
    quoted.map_or_else(|| slice(prompt, &body[from..]), |token| token.text.to_owned())
}

fn replace(body: &[Token<'_>], prompt: &str) -> Option<Wish> {
    let with = body.iter().position(|t| t.is_any(&["with", "by", "to", "into"]))?;
    let after = &body[with + 1..];
    let place = after.iter().rposition(|token| token.is_any(&["in", "inside", "of"]))?;
    let path =
        after[place + 1..].iter().find(|token| token.is_content() && !token.is_any(ARTICLES))?;
    let (old, new) = (one_text(&body[..with], prompt), one_text(&after[..place], prompt));
    (!old.is_empty()).then(|| Wish::Replace { path: path.text.to_owned(), old, new })
}

fn search(body: &[Token<'_>], prompt: &str) -> Option<Wish> {
    const NOISE: &[&str] = &[
        "the",
        "a",
        "word",
        "words",
        "text",
        "string",
        "phrase",
        "all",
        "any",
        "occurrences",
        "uses",
        "of",
        "files",
        "file",
        "lines",
        "that",
        "which",
        "contain",
        "containing",
        "mention",
        "mentioning",
        "with",
        "for",
        "named",
        "called",
        "matching",
        "every",
    ];
    let by_name = body.iter().any(|token| token.is_any(&["named", "called", "matching"]));
    // "search src for salt" names the place first.
    let split = body.iter().position(|token| token.is("for")).filter(|at| *at > 0);
    let (mut before, mut rest) = split.map_or((&body[..0], body), |at| body.split_at(at));
    if let Some(at) = rest.iter().rposition(|t| t.is_any(&["in", "under", "inside"]))
        && at > 0
    {
        (rest, before) = rest.split_at(at);
    }
    let skipped = rest.iter().take_while(|token| token.is_any(NOISE)).count();
    let text = one_text(&rest[skipped..], prompt);
    if text.is_empty() {
        return None;
    }
    if by_name || text.contains('*') {
        return Some(Wish::FindFiles(text));
    }
    let lead = before.iter().take_while(|token| token.is_any(&["in", "under", "inside"])).count();
    let named = before[lead..].iter().find(|token| token.is_content() && !token.is_any(ARTICLES));
    let place = named.filter(|token| !token.is_any(HERE) && !token.is("directory"));
    Some(Wish::Search { text, place: place.map(|token| token.text.to_owned()) })
}

/// Options stand after a colon: "which color: red, blue or green".
fn ask(body: &[Token<'_>], prompt: &str) -> Wish {
    let start = usize::from(body.first().is_some_and(|token| token.kind == Kind::Colon));
    let body = &body[start..];
    let colon = body.iter().position(|token| token.kind == Kind::Colon);
    let (question, options) = colon.map_or((body, &body[..0]), |at| (&body[..at], &body[at + 1..]));
    let question = slice(prompt, question);
    let question = question.trim_end_matches(['?', '.']);
    let options = items(options, prompt);
    Wish::Ask { question: format!("{question}?"), options }
}

/// Splits an enumeration at commas, "and", "or" and ends of lines.
fn items(body: &[Token<'_>], prompt: &str) -> Vec<String> {
    body.split(|token| !token.is_content() || token.is_any(&["and", "or"]))
        .map(|item| match item {
            [only] => only.text.to_owned(),
            _ => slice(prompt, item),
        })
        .map(|item| item.trim_start_matches(['-', '*', ' ']).to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

fn delegate(body: &[Token<'_>], prompt: &str) -> Option<Wish> {
    let (body, place) = background(body);
    let colon = body.iter().position(|token| token.kind == Kind::Colon);
    let mut agent = None;
    let mut task = body;
    if let Some(at) = colon {
        let words = ["to", "a", "an", "the", "agent", "subagent", "this"];
        agent = body[..at].iter().find(|t| t.is_content() && !t.is_any(&words));
        task = &body[at + 1..];
    }
    let skipped = task.iter().take_while(|token| token.is_any(&["to", "that"])).count();
    let only_quoted = matches!(task, [only] if only.kind == Kind::Quoted);
    let task = if only_quoted { one_text(task, prompt) } else { slice(prompt, &task[skipped..]) };
    let agent = agent.map(|token| token.text.to_owned());
    (!task.is_empty()).then_some(Wish::Delegate { task, agent, place })
}

fn todo(body: &[Token<'_>], prompt: &str) -> Option<Wish> {
    let colon = body.iter().position(|token| token.kind == Kind::Colon);
    let items = items(&body[colon.map_or(0, |at| at + 1)..], prompt);
    (!items.is_empty()).then_some(Wish::Todo(items))
}

fn fetch(body: &[Token<'_>]) -> Option<Wish> {
    let url = body.iter().find(|token| token.text.contains("://"))?;
    Some(Wish::Fetch(url.text.to_owned()))
}

fn use_tool(body: &[Token<'_>], tools: &[&str]) -> Option<Wish> {
    let tool = body.iter().find(|token| is_tool(token, tools))?.text.to_owned();
    let json = body.iter().find(|token| token.kind == Kind::Json);
    let input = json.and_then(|token| serde_json::from_str(token.text).ok());
    Some(Wish::Use { tool, input })
}
