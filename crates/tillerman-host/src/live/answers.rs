//! What sessions are told when a card is answered, in the form that each kind of question takes.

use serde_json::{Value, json};

use crate::forms::check;
use crate::live::order::{Refusal, RefusalKind};
use crate::wire::{AnswerRequest, Approval, ApprovalKind, ApprovalState, Decision};

const DENIED: &str = "The user denied this call.";

/// The answer that agrees to nothing, in the form that this kind of question takes.
pub(crate) fn refusal(kind: ApprovalKind, message: &str) -> Value {
    match kind {
        ApprovalKind::Elicitation => json!({"action": "decline"}),
        ApprovalKind::Permission | ApprovalKind::Question | ApprovalKind::Plan => {
            deny(message, false)
        }
    }
}

/// The answer when there is none.
pub(crate) fn denial(kind: ApprovalKind) -> Value {
    refusal(kind, DENIED)
}

fn deny(message: &str, interrupt: bool) -> Value {
    json!({"behavior": "deny", "message": message, "interrupt": interrupt})
}

/// What became of a card, and how the audit calls it.
pub(crate) fn outcome(decision: Decision) -> (ApprovalState, &'static str) {
    match decision {
        Decision::Allow => (ApprovalState::Allowed, "approval.allow"),
        Decision::Deny => (ApprovalState::Denied, "approval.deny"),
        Decision::Cancel => (ApprovalState::Cancelled, "approval.cancel"),
    }
}

/// The answer as an engine takes it.
pub(crate) fn answer_for(card: &Approval, request: &AnswerRequest) -> Result<Value, Refusal> {
    if card.kind == ApprovalKind::Elicitation {
        return answer_server(card, request);
    }
    match request.decision {
        Decision::Allow => allow(card, request),
        Decision::Deny => {
            let message = request.message.as_deref().filter(|text| !text.trim().is_empty());
            Ok(deny(message.unwrap_or(DENIED), request.interrupt))
        }
        Decision::Cancel => Err(bad("A call is allowed or denied; only questions of servers can \
                                     be put aside.")),
    }
}

fn allow(card: &Approval, request: &AnswerRequest) -> Result<Value, Refusal> {
    let mut input = request.updated_input.clone().map_or_else(|| card.input.clone(), Value::Object);
    if let Some(answers) = &request.answers {
        let Some(fields) = input.as_object_mut() else {
            return Err(bad("This call takes no answers."));
        };
        fields.insert("answers".to_owned(), json!(answers));
    }
    let mut updates = Vec::new();
    for place in &request.always {
        match card.suggestions.get(*place) {
            Some(suggestion) => updates.push(suggestion.update.clone()),
            None => return Err(bad("The card has no such suggestion.")),
        }
    }
    let mut answer = json!({"behavior": "allow", "updatedInput": input});
    if !updates.is_empty() {
        answer["updatedPermissions"] = Value::Array(updates);
    }
    Ok(answer)
}

fn answer_server(card: &Approval, request: &AnswerRequest) -> Result<Value, Refusal> {
    match request.decision {
        Decision::Deny => return Ok(json!({"action": "decline"})),
        Decision::Cancel => return Ok(json!({"action": "cancel"})),
        Decision::Allow => {}
    }
    let Some(asked) = &card.elicitation else {
        return Err(bad("The question is not readable, so that it can only be declined."));
    };
    if let Some(problem) = &asked.problem {
        return Err(bad(format!("{problem} It can only be declined or put aside.")));
    }
    if asked.url.is_some() {
        return Ok(json!({"action": "accept"}));
    }
    let answers = request.answers.clone().unwrap_or_default();
    match check(&asked.fields, &answers) {
        Ok(content) => Ok(json!({"action": "accept", "content": content})),
        Err(fields) => {
            let text = "Some fields are not as the form wants them. Nothing was sent; correct them \
                        and answer again.";
            Err(Refusal { fields, ..Refusal::new(RefusalKind::Bad, text) })
        }
    }
}

fn bad(text: impl Into<String>) -> Refusal {
    Refusal::new(RefusalKind::Bad, text)
}

/// What the model is told when its call, or a server's question, cannot be taken up again.
pub(crate) fn retelling(card: &Approval) -> String {
    let Approval { tool_name, input, message, state, .. } = card;
    if let Some(asked) = &card.elicitation {
        // What people filled in is for the server alone.
        let word = match state {
            ApprovalState::Allowed => {
                "has now answered it, and the server gets the answer when it asks the same again. \
                 Make the call again if that does no harm"
            }
            _ => "has now declined it. Do not make the call again unless the user asks for it",
        };
        return format!(
            "The host was restarted while the MCP server {} waited for the user's answer to {:?}. \
             The call during which it asked was cut off, and what it did until then is unknown. \
             The user {word}, then go on with the work.",
            asked.server, asked.message
        );
    }
    let word = match state {
        ApprovalState::Allowed => "allowed it. Make exactly that call again",
        _ => "denied it. Do not make it again",
    };
    let message = message.as_deref().unwrap_or_default();
    format!(
        "The host was restarted while you waited for permission to call {tool_name} with {input}. \
         It never ran. The user has now {word}, then go on with the work. {message}"
    )
}
