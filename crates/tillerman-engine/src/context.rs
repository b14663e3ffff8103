//! What the context window is filled with.

use tillerman_protocol::tool::ToolSpec;

use crate::meter;
use crate::session::Session;
use crate::window::CompactionMode;

/// What the context window is filled with, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextUsage {
    /// The system prompt, estimated.
    pub system: u64,
    /// The tools of the session itself, estimated.
    pub tools: u64,
    /// The tools of MCP servers, estimated.
    pub mcp_tools: u64,
    /// Memory: what the session was reminded of before the first prompt, estimated.
    pub memory: u64,
    /// What was said: the rest of the total.
    pub messages: u64,
    /// Everything, as the provider counted it last and estimated for what was added since.
    pub total: u64,
    /// What fits into the model's window.
    pub window: u64,
    /// Tokens from which on the conversation is compacted; nothing when that does not happen by
    /// itself.
    pub threshold: Option<u64>,
}

impl ContextUsage {
    /// Tokens at the end of the window that are never used, because the conversation is compacted
    /// before.
    #[must_use]
    pub fn buffer(&self) -> u64 {
        self.threshold.map_or(0, |threshold| self.window.saturating_sub(threshold.max(self.total)))
    }

    /// Tokens that can still be used.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.window.saturating_sub(self.total).saturating_sub(self.buffer())
    }

    /// The parts by name.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let parts = [
            ("System prompt", self.system),
            ("Tools", self.tools),
            ("MCP tools", self.mcp_tools),
            ("Memory files", self.memory),
            ("Messages", self.messages),
            ("Free space", self.free()),
            ("Autocompact buffer", self.buffer()),
        ];
        parts.into_iter().filter(|(_, tokens)| *tokens > 0)
    }
}

/// About how many tokens tools take in a request.
pub fn tool_tokens<'a>(tools: impl IntoIterator<Item = &'a ToolSpec>) -> u64 {
    meter::of_tools(tools)
}

impl Session {
    /// What fits into the model's window, in tokens.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.config.compaction.window_of(&self.config.catalog, self.model())
    }

    /// What the context window is filled with.
    #[must_use]
    pub fn context_usage(&self) -> ContextUsage {
        let config = &self.config;
        let is_foreign = |tool: &&ToolSpec| tool.name.starts_with("mcp__");
        let mcp_tools = meter::of_tools(config.tools.iter().filter(is_foreign));
        let tools = meter::of_tools(config.tools.iter().filter(|tool| !is_foreign(tool)));
        let system = self.system_tokens();
        let memory = meter::of_blocks(self.conversation.reminders());
        let total = self.reading().max(system + tools + mcp_tools + memory);
        let window = self.window();
        let automatic = config.compaction.mode == CompactionMode::Automatic;
        let threshold = config.compaction.threshold(&config.catalog, self.model());
        ContextUsage {
            system,
            tools,
            mcp_tools,
            memory,
            messages: total - system - tools - mcp_tools - memory,
            total,
            window,
            threshold: automatic.then_some(threshold),
        }
    }
}
