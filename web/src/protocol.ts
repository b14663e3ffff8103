export type Frame =
  | ({ type: "assistant" } & AssistantFrame)
  | ({ type: "user" } & UserFrame)
  | ({ type: "system" } & SystemFrame)
  | ({ type: "result" } & ResultFrame)
  | ({ type: "stream_event" } & StreamEventFrame)
  | ({ type: "tool_progress" } & ToolProgress)
  | ({ type: "tool_use_summary" } & ToolUseSummary)
  | ({ type: "rate_limit_event" } & RateLimitEvent)
  | ({ type: "prompt_suggestion" } & PromptSuggestion)
  | ({ type: "conversation_reset" } & ConversationReset)
  | { type: "keep_alive" };
export interface PromptSuggestion { suggestion: string; uuid: string; session_id: string }
export interface ConversationReset { new_conversation_id: string; trigger?: string; uuid: string; session_id: string; [key: string]: unknown }
export interface RateLimitEvent { rate_limit_info: { status: string; resetsAt?: number; rateLimitType?: string; utilization?: number; [key: string]: unknown }; uuid: string; session_id: string }
export interface ToolProgress { tool_use_id: string; tool_name: string; parent_tool_use_id: string | null; elapsed_time_seconds: number; task_id?: string; uuid: string; session_id: string; [key: string]: unknown }
export interface ToolUseSummary { summary: string; preceding_tool_use_ids?: string[]; uuid: string; session_id: string }
export interface StreamEventFrame { event: StreamEvent; parent_tool_use_id: string | null; uuid: string; session_id: string; ttft_ms?: number }
export type StreamEvent =
  | { type: "message_start"; message: { id?: string; model?: string; usage?: Usage } }
  | { type: "content_block_start"; index: number; content_block: unknown }
  | { type: "content_block_delta"; index: number; delta: Delta }
  | { type: "content_block_stop"; index: number }
  | { type: "message_delta"; delta: { stop_reason?: string | null }; usage?: Usage }
  | { type: "message_stop" }
  | { type: "ping" };
export type Delta =
  | { type: "text_delta"; text: string }
  | { type: "input_json_delta"; partial_json: string }
  | { type: "thinking_delta"; thinking: string }
  | { type: "signature_delta"; signature: string };
export interface Usage { input_tokens?: number; cache_creation_input_tokens?: number; cache_read_input_tokens?: number; output_tokens?: number; [key: string]: unknown }
export interface AssistantFrame { message: AssistantMessage; parent_tool_use_id?: string | null; session_id: string; uuid: string; timestamp?: string; error?: string; is_api_error_message?: boolean; agent_id?: string; [key: string]: unknown }
export interface AssistantMessage { id?: string; model: string; content: Block[]; stop_reason?: string | null; usage?: Usage; [key: string]: unknown }
export interface UserFrame { message: Message; parent_tool_use_id?: string | null; session_id?: string; uuid?: string; timestamp?: string; tool_use_result?: unknown; tool_result_meta?: { id: string; permission_decision?: unknown; non_execution_kind?: string }[]; isReplay?: boolean; isSynthetic?: boolean; [key: string]: unknown }
export interface Message { role: "user" | "assistant"; content: Content }
export type Content = string | Block[];
export type Block =
  | { type: "text"; text: string; [key: string]: unknown }
  | { type: "thinking"; thinking: string; signature?: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input?: unknown }
  | ({ type: "tool_result" } & ToolResult)
  | { type: "image"; source: unknown };
export interface ToolResult { tool_use_id: string; content?: Content; is_error?: boolean }
export type SystemFrame = SystemDetail & { session_id: string; uuid: string };
export type SystemDetail =
  | ({ subtype: "init" } & Init)
  | { subtype: "status"; status: string | null; permissionMode?: string; compact_result?: string; compact_error?: string }
  | { subtype: "session_state_changed"; state: string; sdk_host_only?: boolean }
  | { subtype: "permission_denied"; tool_name: string; tool_use_id: string; decision_reason_type?: string; decision_reason?: string; message: string }
  | { subtype: "api_retry"; attempt: number; max_retries: number; retry_delay_ms: number; error_status: number | null; error: string }
  | ({ subtype: "task_started" } & TaskStarted)
  | ({ subtype: "task_progress" } & TaskProgress)
  | ({ subtype: "task_updated" } & TaskUpdated)
  | ({ subtype: "task_notification" } & TaskNotification)
  | { subtype: "background_tasks_changed"; tasks?: TaskSummary[] }
  | { subtype: "compact_boundary"; compact_metadata: { trigger: string; pre_tokens: number; [key: string]: unknown } }
  | { subtype: "notification"; key: string; text: string; priority: string }
  | { subtype: "thinking_tokens"; estimated_tokens: number; estimated_tokens_delta?: number }
  | { subtype: "session_title_changed"; title?: string; [key: string]: unknown }
  | { subtype: "local_command_output"; content: string }
  | { subtype: "informational"; content: string; level: string; [key: string]: unknown };
export interface Init { cwd: string; tools: string[]; model: string; permissionMode?: string; slash_commands?: string[]; agents?: string[]; [key: string]: unknown }
export interface TaskStarted { task_id: string; description: string; tool_use_id?: string; task_type?: string; subagent_type?: string; is_backgrounded?: boolean; prompt?: string; [key: string]: unknown }
export interface TaskProgress { task_id: string; description: string; usage: TaskUsage; last_tool_name?: string; [key: string]: unknown }
export interface TaskUpdated { task_id: string; patch?: { status?: string; end_time?: number; error?: string; [key: string]: unknown } }
export interface TaskNotification { task_id: string; status: string; output_file: string; summary: string; tool_use_id?: string; usage?: TaskUsage; [key: string]: unknown }
export interface TaskUsage { total_tokens: number; tool_uses: number; duration_ms: number }
export interface TaskSummary { task_id: string; task_type?: string; description?: string; [key: string]: unknown }
export interface ResultFrame { subtype: "success" | "error_during_execution" | "error_max_turns" | "error_max_budget_usd" | "error_max_structured_output_retries" | (string & {}); is_error: boolean; duration_ms: number; duration_api_ms: number; num_turns: number; result?: string; errors?: string[]; stop_reason?: string | null; total_cost_usd?: number; usage?: Usage; modelUsage?: Record<string, ModelUsage>; terminal_reason?: string; uuid?: string; session_id: string; [key: string]: unknown }
export interface ModelUsage { inputTokens?: number; outputTokens?: number; cacheReadInputTokens?: number; cacheCreationInputTokens?: number; costUSD?: number; contextWindow?: number; maxOutputTokens?: number }
