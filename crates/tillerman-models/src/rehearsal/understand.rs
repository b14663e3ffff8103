//! Turns a prompt into wishes.

use super::heads::{Head, fillers, head};
use super::readings::read_request;
use super::token::{Kind, Token, tokenize};
use super::wish::Wish;

/// The longest prompt that is looked at; plain requests are short.
const MAX_PROMPT_BYTES: usize = 64 * 1024;
/// How many words between two requests may lead up to the second.
const MAX_LEAD: usize = 32;

/// Reads the wishes out of a prompt, in order. `tools` are the names of the tools on offer.
///
/// A request goes on until its sentence ends or until a comma, "and" or "then" is followed by the
/// beginning of another request, so that "search for salt and pepper" stays one request.
pub(super) fn understand(prompt: &str, tools: &[&str]) -> Vec<Wish> {
    if asks_for_recap(prompt) {
        return vec![Wish::Recap];
    }
    if prompt.len() > MAX_PROMPT_BYTES {
        return vec![Wish::Unclear(prompt.to_owned())];
    }
    let tokens = tokenize(prompt);
    let mut wishes = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at += fillers(&tokens[at..]);
        if at == tokens.len() {
            break;
        }
        let end = match head(&tokens[at..], tools) {
            Some((head, used)) => {
                let end = request_end(&tokens, at + used, head, tools);
                let body = &tokens[at + used..end];
                let read = read_request(head, body, prompt, tools);
                let unclear = || vec![Wish::Unclear(slice(prompt, &tokens[at..end]))];
                wishes.extend(if read.is_empty() { unclear() } else { read });
                end
            }
            None => skip_unclear(prompt, &tokens, at, tools, &mut wishes),
        };
        at = end;
    }
    wishes
}

/// Whether any request in a prompt was understood.
pub(super) fn is_understood(wishes: &[Wish]) -> bool {
    wishes.iter().any(|wish| !matches!(wish, Wish::Unclear(_)))
}

fn asks_for_recap(prompt: &str) -> bool {
    let opening: String = prompt.chars().take(400).collect::<String>().to_lowercase();
    opening.contains("summar") && (opening.contains("conversation") || opening.contains("session"))
}

fn request_end(tokens: &[Token<'_>], from: usize, head: Head, tools: &[&str]) -> usize {
    let has_colon = tokens.get(from).is_some_and(|token| token.kind == Kind::Colon);
    for at in from..tokens.len() {
        let ends = match head {
            // What follows a colon is the command as it stands, up to the end of its line.
            Head::Run if has_colon => tokens[at].kind == Kind::Line && at > from + 1,
            Head::Write if content_follows(tokens, from, at) => is_next(tokens, at, tools),
            _ if tokens[at].ends_sentence() => !continues_on_next_line(tokens, at),
            _ if head.takes_sentence() => false,
            _ => is_next(tokens, at, tools),
        };
        if ends {
            return at;
        }
    }
    tokens.len()
}

/// Lines after "todo:" and lines with a bullet belong to the request.
fn continues_on_next_line(tokens: &[Token<'_>], at: usize) -> bool {
    let after_colon = at > 0 && tokens[at - 1].kind == Kind::Colon;
    let has_bullet = tokens.get(at + 1).is_some_and(|token| token.is_any(&["-", "*"]));
    tokens[at].kind == Kind::Line && (after_colon || has_bullet)
}

fn content_follows(tokens: &[Token<'_>], from: usize, at: usize) -> bool {
    tokens[from..at].iter().any(|token| token.kind == Kind::Colon)
}

fn is_next(tokens: &[Token<'_>], at: usize, tools: &[&str]) -> bool {
    // Of several separators in a row the first decides.
    let is_first = at == 0 || !separates(&tokens[at - 1]);
    separates(&tokens[at]) && is_first && {
        let near = tokens.len().min(at + MAX_LEAD);
        let next = at + fillers(&tokens[at..near]);
        head(&tokens[next..], tools).is_some()
    }
}

fn separates(token: &Token<'_>) -> bool {
    let is_mark = !token.is_content() && token.kind != Kind::Colon;
    is_mark || token.is_any(&["and", "then"])
}

fn skip_unclear(
    prompt: &str,
    tokens: &[Token<'_>],
    from: usize,
    tools: &[&str],
    wishes: &mut Vec<Wish>,
) -> usize {
    let mut end = from + 1;
    while end < tokens.len() && !tokens[end].ends_sentence() {
        // "I need you to …" only leads up to the request.
        if tokens[end].is("to") && head(&tokens[end + 1..], tools).is_some() {
            return end + 1;
        }
        if is_next(tokens, end, tools) {
            break;
        }
        end += 1;
    }
    wishes.push(Wish::Unclear(slice(prompt, &tokens[from..end])));
    end
}

/// The part of the prompt some tokens came from.
pub(super) fn slice(prompt: &str, tokens: &[Token<'_>]) -> String {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => prompt[first.start..last.end].trim().to_owned(),
        _ => String::new(),
    }
}
