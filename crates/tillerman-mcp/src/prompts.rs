//! Prompts of servers as commands.

use rmcp::model::{ClientRequest, GetPromptRequest, GetPromptRequestParams, Prompt};
use serde_json::{Map, Value};
use tillerman_ports::{McpPrompt, McpRefusal};
use tillerman_protocol::content::Content;
use tokio_util::sync::CancellationToken;

use crate::board::Board;
use crate::call::{Wait, ask};
use crate::names::full_name;
use crate::outcome::{Shelf, content};

/// The prompts of all connected servers.
pub(crate) fn prompts(board: &Board) -> Vec<McpPrompt> {
    let described = |server: &str, prompt: &Prompt| McpPrompt {
        command: full_name(server, &prompt.name),
        description: prompt.description.clone().unwrap_or_default(),
        arguments: arguments(prompt),
    };
    board.read(|entries| {
        let mut all = Vec::new();
        for (name, entry) in entries {
            let offered = entry.phase.offer().into_iter().flat_map(|offer| &offer.prompts);
            all.extend(offered.map(|prompt| described(name, prompt)));
        }
        all
    })
}

/// Renders a prompt with what was typed after its name.
pub(crate) async fn render(
    board: &Board,
    command: &str,
    typed: &str,
) -> Result<Content, McpRefusal> {
    let (server, prompt) = find(board, command)
        .ok_or_else(|| McpRefusal(format!("There is no prompt called /{command}.")))?;
    let mut params = GetPromptRequestParams::new(prompt.name.clone());
    let given = assigned(&arguments(&prompt), typed);
    if !given.is_empty() {
        params = params.with_arguments(given);
    }
    let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
    let cancel = CancellationToken::new();
    let timeout = board.config.limits.connect;
    let wait = Wait { server: &server, timeout, cancel: &cancel };
    let refusal = |error: crate::call::CallError| McpRefusal(error.to_string());
    let result = ask(board, request, &wait).await.map_err(refusal)?;
    let messages = result.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
    let shelf = Shelf {
        directory: board.config.scratch_directory.clone(),
        chars: board.config.limits.output_chars,
    };
    Ok(content(&messages, command, &shelf).await)
}

fn find(board: &Board, command: &str) -> Option<(String, Prompt)> {
    board.read(|entries| {
        entries.iter().find_map(|(name, entry)| {
            let mut offered = entry.phase.offer()?.prompts.iter();
            let prompt = offered.find(|prompt| full_name(name, &prompt.name) == command)?;
            Some((name.clone(), prompt.clone()))
        })
    })
}

fn arguments(prompt: &Prompt) -> Vec<String> {
    let listed = prompt.arguments.iter().flatten();
    listed.map(|argument| argument.name.clone()).collect()
}

/// Words in order for arguments in order; the last argument takes all that is left.
fn assigned(names: &[String], typed: &str) -> Map<String, Value> {
    let mut rest = typed.trim();
    let mut given = Map::new();
    for (index, name) in names.iter().enumerate() {
        if rest.is_empty() {
            break;
        }
        let is_last = index + 1 == names.len();
        let (word, left) = if is_last {
            (rest, "")
        } else {
            rest.split_once(char::is_whitespace).unwrap_or((rest, ""))
        };
        given.insert(name.clone(), Value::String(word.to_owned()));
        rest = left.trim_start();
    }
    given
}
