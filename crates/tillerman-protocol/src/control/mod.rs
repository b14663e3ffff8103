//! Control requests and answers, in both directions.

mod request;

mod further;
mod initialize;

mod answer;

pub use answer::{ControlAnswer, ControlResponse};
pub use further::{McpRequest, PersonRequest, SessionRequest, SettingsRequest};
pub use initialize::InitializeRequest;
pub use request::{CanUseTool, ControlBody, ControlCancel, ControlRequest};
