//! Questions about permission that a tool of a server answers in the host's place.

use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};
use tillerman_engine::{AskId, PermissionAsk};
use tillerman_ports::McpRefusal;
use tillerman_protocol::RequestId;
use tillerman_protocol::control::{ControlAnswer, ControlResponse, McpRequest};

use crate::mcp_desk::{McpReport, McpWork};
use crate::questions::Question;
use crate::session_task::SessionTask;
use crate::work::Name;

impl SessionTask {
    /// The tool that answers questions about permission, where the host named one.
    pub(crate) fn approver(&self) -> Option<String> {
        self.mcp.servers.as_ref()?.approver()
    }

    /// Asks the tool instead of the host; false when there is none.
    pub(crate) fn ask_approver(&mut self, ask: AskId, request: &PermissionAsk) -> bool {
        let (Some(servers), Some(tool)) = (self.mcp.servers.clone(), self.approver()) else {
            return false;
        };
        let id: RequestId = self.ids.entry_id().as_str().into();
        self.questions.put(id.clone(), Question::Permission(ask));
        let arguments = json!({"tool_name": request.tool_name, "input": request.input,
            "tool_use_id": request.tool_use_id});
        let call = McpRequest::McpCall { tool, arguments: Some(arguments), extra: Map::new() };
        let answered = servers.carry_out(call);
        let work = McpWork::Approve(id.clone());
        self.work.mcp(work, answered.map(move |answer| McpReport::Approved(id, answer)));
        true
    }

    /// Forgets a question to the tool; false when the question went to the host.
    pub(crate) fn cancel_approver(&mut self, id: &RequestId) -> bool {
        let asks_tool = self.approver().is_some();
        if asks_tool {
            self.work.abort(&Name::Mcp(McpWork::Approve(id.clone())));
        }
        asks_tool
    }

    /// Takes the tool's answer as if the host had given it; whatever is not one denies.
    pub(crate) async fn approver_answered(
        &mut self,
        request_id: RequestId,
        answer: Result<Value, McpRefusal>,
    ) {
        let response = match answer.map_err(|refusal| refusal.0).and_then(|it| decision(&it)) {
            Ok(decision) => ControlAnswer::Success {
                request_id,
                response: Some(decision),
                pending_permission_requests: None,
                pending_user_dialog_requests: None,
            },
            Err(error) => ControlAnswer::Error { request_id, error, error_code: None },
        };
        self.take_answer(ControlResponse { response }).await;
    }
}

/// The decision in a tool's result: the JSON object that its text is.
fn decision(result: &Value) -> Result<Value, String> {
    let blocks = result.get("content").and_then(Value::as_array);
    let text = blocks.into_iter().flatten().find_map(|block| block.get("text")?.as_str());
    let text = text.ok_or("the permission prompt tool answered without a text")?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err(format!("the permission prompt tool failed: {text}"));
    }
    serde_json::from_str(text)
        .map_err(|_| "the permission prompt tool did not answer with a JSON object".to_owned())
}
