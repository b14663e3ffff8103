//! The server: its name, and its tools under the names that models call them by.

use std::sync::Arc;

use serde_json::Value;
use tillerman_ports::{BoxFuture, Tool, ToolCall};
use tillerman_protocol::tool::{ToolOutcome, ToolSpec};

use crate::config::DesktopConfig;
use crate::plan::Plan;
use crate::tools::PLANS;

/// The name of the server.
pub const SERVER_NAME: &str = "desktop-assistant-tools";

/// The names of its tools, without the server's.
pub const TOOL_NAMES: [&str; 11] = [
    "list_files",
    "read_file",
    "write_file",
    "search_files",
    "run_shell_command",
    "get_system_info",
    "open_in_default_app",
    "read_clipboard",
    "write_clipboard",
    "capture_screenshot",
    "analyze_image",
];

/// The tools that only look at what lies below the root, as the built-in file tools may without a
/// question, by their full names.
#[must_use]
pub fn looking_tools() -> Vec<String> {
    ["list_files", "read_file", "search_files", "get_system_info", "analyze_image"]
        .map(full_name)
        .to_vec()
}

/// The name by which models and permission rules know a tool of the server.
#[must_use]
pub fn full_name(tool: &str) -> String {
    format!("mcp__{SERVER_NAME}__{tool}")
}

/// The tools, ready to be handed to a session.
#[must_use]
pub fn desktop_tools(config: DesktopConfig) -> Vec<Arc<dyn Tool>> {
    let config = Arc::new(config);
    let tool = |plan: &'static Plan| -> Arc<dyn Tool> {
        Arc::new(DesktopTool { plan, config: Arc::clone(&config) })
    };
    PLANS.iter().map(tool).collect()
}

#[derive(Debug)]
struct DesktopTool {
    plan: &'static Plan,
    config: Arc<DesktopConfig>,
}

impl Tool for DesktopTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: full_name(self.plan.name),
            description: self.plan.description.to_owned(),
            input_schema: self.plan.schema(),
            access: self.plan.access,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        self.plan.check(input)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        (self.plan.run)(Arc::clone(&self.config), call)
    }
}
