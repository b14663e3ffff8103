//! Frames of a known type that cannot be read: the host hears of its mistake at once, instead of
//! waiting for an answer that never comes.

use serde_json::Value;
use tillerman_protocol::RequestId;
use tillerman_protocol::control::ControlResponse;

use crate::session_task::SessionTask;

impl SessionTask {
    /// Hears a frame that has no type here; those of other versions are passed over in silence.
    pub(crate) async fn hear_malformed(&mut self, frame: &Value) {
        match frame.get("type").and_then(Value::as_str) {
            Some("control_request") => self.refuse_unreadable(frame.get("request_id")).await,
            Some("control_response") => {
                let response = frame.get("response");
                self.take_unreadable(response.and_then(|it| it.get("request_id"))).await;
            }
            Some("user") => {
                let text = "A prompt could not be read and was left out. It needs a message with \
                            the role user and a content.";
                tracing::warn!("{text}");
                self.notify("bad_prompt", text).await;
            }
            _ => {}
        }
    }

    async fn refuse_unreadable(&mut self, id: Option<&Value>) {
        let text = "The control request could not be read. It needs a request_id and a request \
                    with a subtype.";
        tracing::warn!("{text}");
        match id.and_then(Value::as_str) {
            Some(id) => {
                let refusal = Err((text.to_owned(), Some("invalid_request")));
                self.respond(RequestId::new(id), refusal).await;
            }
            None => self.notify("bad_control_request", text).await,
        }
    }

    /// An answer that nobody can read is no answer, and no consent.
    async fn take_unreadable(&mut self, id: Option<&Value>) {
        let text = "A control response could not be read. It needs a response with a request_id \
                    and the subtype success or error.";
        tracing::warn!("{text}");
        self.notify("bad_control_response", text).await;
        if let Some(id) = id.and_then(Value::as_str) {
            let id = RequestId::new(id);
            self.take_answer(ControlResponse::error(id, "the answer could not be read", None))
                .await;
        }
    }
}
