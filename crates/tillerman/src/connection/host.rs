//! Answers what the engine asks.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tillerman_ports::BoxFuture;
use tillerman_protocol::control::{CanUseTool, ControlBody, PersonRequest};
use tillerman_protocol::hook::{HookEvent, HookInput, HookOutput};

use crate::callback::{
    Elicitation, HookPoint as _, HookTable, Permission, PreToolUse, ToolAnswer, ToolRequest,
};
use crate::options::{Callbacks, Options, ServerConfig};
use crate::tools::McpServer;

const QUESTION_TOOL: &str = "AskUserQuestion";
const NOBODY: &str = "Nobody answers permission questions for this session, so the call was \
                      denied. The host can set `can_use_tool`.";

/// What is sent back: a value, or why there is none.
pub(crate) type Reply = Result<Value, String>;

/// Answers what the engine asks.
#[derive(Debug)]
pub(crate) struct Host {
    callbacks: Callbacks,
    hooks: HookTable,
    servers: BTreeMap<String, McpServer>,
}

/// A question on its way to its callback.
pub(crate) struct Asked {
    /// Which callback, for people.
    pub(crate) callback: String,
    /// What it is about, for people.
    pub(crate) subject: String,
    /// What is answered when the callback panics.
    pub(crate) if_panics: Reply,
    /// The answer.
    pub(crate) reply: BoxFuture<Reply>,
}

impl Host {
    pub(crate) fn new(options: &Options) -> Self {
        let servers = options.extension.servers.iter();
        let own = servers.filter_map(|(name, server)| match server {
            ServerConfig::InProcess(server) => Some((name.clone(), server.clone())),
            ServerConfig::External(_) => None,
        });
        Self {
            callbacks: options.callbacks.clone(),
            hooks: HookTable::new(&options.callbacks.hooks),
            servers: own.collect(),
        }
    }

    pub(crate) fn serve(&mut self, servers: BTreeMap<String, McpServer>) {
        self.servers.extend(servers);
    }

    /// The hooks that hear of the end, as they run.
    pub(crate) fn goodbyes(&self, input: &HookInput) -> Vec<BoxFuture<HookOutput>> {
        let hooks = self.callbacks.hooks.iter();
        let hooks = hooks.filter(|hook| hook.event == HookEvent::SessionEnd);
        hooks.map(|hook| (hook.callback)(input.clone())).collect()
    }

    pub(crate) fn heard_stderr(&self, line: &str) {
        if let Some(callback) = &self.callbacks.stderr {
            callback(line);
        }
    }

    /// Passes a question on, or says why nobody can answer it.
    pub(crate) fn ask(&self, body: ControlBody) -> Result<Asked, String> {
        match body {
            ControlBody::CanUseTool(request) => Ok(self.can_use_tool(*request)),
            ControlBody::HookCallback { callback_id, input, .. } => {
                self.run_hook(&callback_id, *input)
            }
            ControlBody::McpMessage { server_name, message } => {
                Ok(self.pass_to_server(&server_name, message))
            }
            ControlBody::Person(request @ PersonRequest::Elicitation { .. }) => {
                self.elicit(request)
            }
            other => Err(format!("Unsupported control request subtype: {}", other.subtype())),
        }
    }

    fn can_use_tool(&self, request: CanUseTool) -> Asked {
        let (subject, input) = (request.tool_name.clone(), request.input.clone());
        let deny = |message: &str| wire(&Permission::deny(message).into_wire(Value::Null));
        let reply: BoxFuture<Reply> = match (&self.callbacks.question, &self.callbacks.can_use_tool)
        {
            (Some(answer), _) if request.tool_name == QUESTION_TOOL => {
                use serde::Deserialize as _;
                let questions = crate::callback::Questions::deserialize(&input).unwrap_or_default();
                let answering = answer(questions);
                Box::pin(async move {
                    let permission = match answering.await.into_input(input) {
                        Ok(input) => Permission::allow_with(input),
                        Err(why) => Permission::deny(why),
                    };
                    wire(&permission.into_wire(Value::Null))
                })
            }
            (_, Some(decide)) => {
                let deciding = decide(ToolRequest::of(request));
                Box::pin(async move { wire(&deciding.await.into_wire(input)) })
            }
            _ => Box::pin(std::future::ready(deny(NOBODY))),
        };
        let if_panics = deny("The host's permission callback failed, so the call was denied.");
        Asked { callback: "can_use_tool".to_owned(), subject, if_panics, reply }
    }

    fn run_hook(&self, id: &str, input: HookInput) -> Result<Asked, String> {
        let Some(hook) = self.hooks.find(id) else {
            return Err(format!("No hook callback found for ID: {id}"));
        };
        let failed = "The host's hook failed, so the call was denied.";
        let if_panics = match hook.event {
            HookEvent::PreToolUse => wire(&PreToolUse::write(ToolAnswer::deny(failed))),
            _ => Err("the hook callback failed".to_owned()),
        };
        let subject = subject(&input);
        let running = (hook.callback)(input);
        Ok(Asked {
            callback: format!("hook {}", hook.event.name()),
            subject,
            if_panics,
            reply: Box::pin(async move { wire(&running.await) }),
        })
    }

    fn pass_to_server(&self, name: &str, message: Value) -> Asked {
        let subject = crate::tools::subject_of(name, &message);
        let if_panics = Ok(json!({"mcp_response": crate::tools::failure_of(&message)}));
        let reply: BoxFuture<Reply> = match self.servers.get(name) {
            Some(server) => {
                let answering = server.answer(message);
                Box::pin(async move { Ok(json!({"mcp_response": answering.await})) })
            }
            None => {
                let error =
                    json!({"code": -32601, "message": format!("Server '{name}' not found")});
                let answer = json!({"jsonrpc": "2.0", "id": message.get("id"), "error": error});
                Box::pin(std::future::ready(Ok(json!({"mcp_response": answer}))))
            }
        };
        Asked { callback: "tool".to_owned(), subject, if_panics, reply }
    }

    fn elicit(&self, request: PersonRequest) -> Result<Asked, String> {
        let Some(callback) = &self.callbacks.elicitation else {
            return Err("nobody answers questions of MCP servers".to_owned());
        };
        let Some(elicitation) = Elicitation::of(request) else {
            return Err("not a question".to_owned());
        };
        let subject = elicitation.server.clone();
        let answering = callback(elicitation);
        Ok(Asked {
            callback: "on_elicitation".to_owned(),
            subject,
            if_panics: Ok(json!({"action": "decline"})),
            reply: Box::pin(async move { Ok(answering.await.into_wire()) }),
        })
    }
}

fn wire(answer: &impl serde::Serialize) -> Reply {
    serde_json::to_value(answer).map_err(|error| format!("the answer cannot be sent: {error}"))
}

/// What a hook is about, for people.
fn subject(input: &HookInput) -> String {
    let wire = serde_json::to_value(&input.detail).unwrap_or_default();
    wire.get("tool_name").and_then(Value::as_str).unwrap_or_default().to_owned()
}
