// Generated from the Rust of tillerman-protocol by `cargo xtask types`. Do not edit.
// Readers are tolerant: other kinds than those listed in a union may arrive and are to be ignored.

/** A request to the model failed and will be repeated. */
export interface ApiRetry {
  /** Which repetition comes next, from 1. */
  attempt: number;
  /** How many there may be. */
  max_retries: number;
  /** How long the engine waits first. */
  retry_delay_ms: number;
  /** The HTTP status, if there was one. */
  error_status: number | null;
  /** The kind of failure. */
  error: string;
}

/** One content block of the model. A response of three blocks arrives as three frames with one message id. */
export interface AssistantFrame {
  /** The message. Required by official clients. */
  message: AssistantMessage;
  /** The call whose subagent speaks. */
  parent_tool_use_id?: ToolUseId | null;
  /** The session. */
  session_id: SessionId;
  /** The frame, and the transcript entry that stores it. */
  uuid: EntryId;
  /** When it was said. */
  timestamp?: string;
  /** The provider's id of the request. */
  request_id?: string;
  /** The kind of failure this message reports. */
  error?: string;
  /** Whether the engine wrote this message to report a failure. */
  is_api_error_message?: boolean;
  /** The HTTP status of that failure. */
  api_error_status?: number;
  /** The subagent that speaks. */
  agent_id?: string;
  [key: string]: unknown;
}

/** A message of the model as it stands in frames and transcripts. */
export interface AssistantMessage {
  /** The provider's id, shared by all blocks of a response. */
  id?: string;
  /** Always `message`. */
  type?: string;
  /** Always `assistant`. */
  role?: string;
  /** The model, or `<synthetic>`. Required by official clients. */
  model: string;
  /** The blocks. Required by official clients. */
  content: Block[];
  /** Why the model stopped, once known. */
  stop_reason?: string | null;
  /** The stop sequence that was hit. */
  stop_sequence?: string | null;
  /** Tokens, as far as known when the block was complete. */
  usage?: Usage;
  [key: string]: unknown;
}

/** How far signing in has come. */
export interface AuthStatus {
  /** Whether it is under way. */
  isAuthenticating: boolean;
  /** What the sign-in printed, line by line. */
  output?: string[];
  /** Why it failed. */
  error?: string;
  /** This frame. */
  uuid: EntryId;
  /** The session. */
  session_id: SessionId;
}

/** Work that goes on while the agent stops. */
export interface BackgroundWork {
  /** The task. */
  id: TaskId;
  /** What kind of work it is: `shell` or `subagent`. */
  type: string;
  /** How far it is; always `running` here. */
  status: string;
  /** One line about it. */
  description?: string;
  /** The kind of agent that does it. */
  agent_type?: string;
}

/** One content block. Unknown kinds are carried through untouched. */
export type Block =
  /** Text. */
  | {
      type: "text";
      /** The text. Required by official clients. */
      text: string;
      [key: string]: unknown;
    }
  /** The model's reasoning; must be sent back unchanged. */
  | {
      type: "thinking";
      /** The reasoning text. Required by official clients. */
      thinking: string;
      /** The signature that proves it unchanged. Required by official clients. */
      signature?: string;
    }
  /** Reasoning the provider keeps encrypted. */
  | {
      type: "redacted_thinking";
      /** The opaque payload. */
      data: string;
    }
  /** A request to run a tool. */
  | {
      type: "tool_use";
      /** Identifies the call. Required by official clients. */
      id: ToolUseId;
      /** The tool. Required by official clients. */
      name: string;
      /** The tool's input. Required by official clients. */
      input?: unknown;
    }
  /** The outcome of a tool call. */
  | ({ type: "tool_result" } & ToolResult)
  /** A picture the user or a tool shows the model. */
  | {
      type: "image";
      /** Where the picture comes from. */
      source: unknown;
    };

/** May this tool run? */
export interface CanUseTool {
  /** The tool. Required by official clients. */
  tool_name: string;
  /** Its name for people. */
  display_name?: string;
  /** Its input. Required by official clients. */
  input: unknown;
  /** The call. */
  tool_use_id: ToolUseId;
  /** What the model says it is for. */
  description?: string;
  /** Updates that would make the question unnecessary. */
  permission_suggestions?: PermissionUpdate[];
  /** The path that made it a question. */
  blocked_path?: string;
  /** Why it is a question. */
  decision_reason?: string;
  /** The question in one line. */
  title?: string;
  /** The subagent that wants to run it. */
  agent_id?: string;
  [key: string]: unknown;
}

/** How far a prompt that carried an id has come. */
export interface CommandLifecycle {
  /** The prompt's id. */
  command_uuid: EntryId;
  /** `queued`, `started` or `completed`. */
  state: string;
  /** This frame. */
  uuid: EntryId;
  /** The session. */
  session_id: SessionId;
}

/** Why and how much of a conversation was summarised. */
export interface CompactMetadata {
  /** `manual` or `auto`. */
  trigger: string;
  /** Tokens before. */
  pre_tokens: number;
  [key: string]: unknown;
}

/** Content as clients may send it: a bare string or a list of blocks. */
export type Content =
  /** A single text. */
  | (string & {})
  /** Blocks in order. */
  | Block[];

/** The answer itself. */
export type ControlAnswer =
  /** It worked. */
  | {
      subtype: "success";
      /** The request. */
      request_id: RequestId;
      /** What was asked for; absent means `{}`. */
      response?: unknown;
      /** Permission questions that are still open (answers to `initialize`). */
      pending_permission_requests?: unknown[];
      /** Dialogs that are still open (answers to `initialize`). */
      pending_user_dialog_requests?: unknown[];
    }
  /** It did not. */
  | {
      subtype: "error";
      /** The request. */
      request_id: RequestId;
      /** Why, for people. */
      error: string;
      /** Why, for programs. */
      error_code?: string;
    };

/** What is wanted, by `subtype`. */
export type ControlBody =
  /** Host → engine: the handshake. */
  | ({ subtype: "initialize" } & InitializeRequest)
  /** Host → engine: end the round that is under way. */
  | { subtype: "interrupt" }
  /** Host → engine: change the permission mode. */
  | {
      subtype: "set_permission_mode";
      /** The mode's name. */
      mode: string;
    }
  /** Host → engine: change the model; nothing means the default. */
  | {
      subtype: "set_model";
      /** The model or an alias. */
      model?: string | null;
    }
  /** Host → engine: change the thinking budget; nothing means the default. */
  | {
      subtype: "set_max_thinking_tokens";
      /** The budget. */
      max_thinking_tokens?: number | null;
    }
  /** Host → engine: the state of all MCP servers. */
  | { subtype: "mcp_status" }
  /** Host → engine: how full the context window is. */
  | { subtype: "get_context_usage" }
  /** Host → engine: stop a background task. */
  | {
      subtype: "stop_task";
      /** The task. */
      task_id: TaskId;
    }
  /** Host → engine: restore files as they were before a user message. */
  | {
      subtype: "rewind_files";
      /** The message. */
      user_message_id: string;
      /** Only say what would happen. */
      dry_run?: boolean;
    }
  /** Host → engine: the settings in force. */
  | { subtype: "get_settings" }
  /** Host → engine: take a queued prompt back. */
  | {
      subtype: "cancel_async_message";
      /** The prompt's id. */
      message_uuid: string;
    }
  /** Host → engine: finish and exit. */
  | { subtype: "end_session" }
  /** Engine → host: may this tool run? */
  | ({ subtype: "can_use_tool" } & CanUseTool)
  /** Engine → host: run a hook callback. */
  | {
      subtype: "hook_callback";
      /** The callback. */
      callback_id: string;
      /** What it is told. */
      input: HookInput;
      /** The call, or another id of the event. */
      tool_use_id?: string | null;
    }
  /** Engine → host: a JSON-RPC message for an in-process MCP server. */
  | {
      subtype: "mcp_message";
      /** The server. */
      server_name: string;
      /** The message. */
      message: unknown;
    }
  /** Requests about MCP servers. */
  | McpRequest
  /** Requests about settings and what they bring in. */
  | SettingsRequest
  /** Requests about the session and the files it works on. */
  | SessionRequest
  /** Questions for the person. */
  | PersonRequest;

/** The answer to a request is no longer wanted. */
export interface ControlCancel {
  /** The request. */
  request_id: RequestId;
}

/** A request that wants an answer. */
export interface ControlRequest {
  /** Chosen by the sender, repeated in the answer. */
  request_id: RequestId;
  /** What is wanted. */
  request: ControlBody;
}

/** An answer. */
export interface ControlResponse {
  /** The answer itself. */
  response: ControlAnswer;
}

/** The conversation starts over under a new id. */
export interface ConversationReset {
  /** The new session. Required by official clients. */
  new_conversation_id: SessionId;
  /** Why: `clear`, `plan_mode_exit`, … */
  trigger?: string;
  /** Required by official clients. */
  uuid: EntryId;
  /** Required by official clients. */
  session_id: SessionId;
  [key: string]: unknown;
}

/** What a content block gains. */
export type Delta =
  /** More text. */
  | {
      type: "text_delta";
      /** The text. */
      text: string;
    }
  /** More of a tool's input, as JSON text. */
  | {
      type: "input_json_delta";
      /** A piece of JSON. */
      partial_json: string;
    }
  /** More reasoning. */
  | {
      type: "thinking_delta";
      /** The reasoning text. */
      thinking: string;
    }
  /** The signature of the reasoning. */
  | {
      type: "signature_delta";
      /** The signature. */
      signature: string;
    };

/** How hard a model tries. */
export interface Effort {
  /** `low`, `medium`, `high`, `xhigh` or `max`. */
  level: string;
}

/** Names one frame and, for user and assistant frames, the transcript entry that stores it. */
export type EntryId = string;

/** Variables that a host hands to a running engine. */
export interface EnvironmentUpdate {
  /** The variables by name. */
  variables?: Record<string, string>;
}

/** A file that could not be uploaded. */
export interface FileFailure {
  /** Its name. */
  filename: string;
  /** Why. */
  error: string;
}

/** One line of the protocol, in either direction. */
export type Frame =
  /** A content block of the model. */
  | ({ type: "assistant" } & AssistantFrame)
  /** A prompt, a tool result or a synthetic message. */
  | ({ type: "user" } & UserFrame)
  /** News about the session. */
  | ({ type: "system" } & SystemFrame)
  /** The end of a prompt round. */
  | ({ type: "result" } & ResultFrame)
  /** A raw event of a streamed response. */
  | ({ type: "stream_event" } & StreamEventFrame)
  /** Somebody wants an answer. */
  | ({ type: "control_request" } & ControlRequest)
  /** Somebody answers. */
  | ({ type: "control_response" } & ControlResponse)
  /** The answer to a request is no longer wanted. */
  | ({ type: "control_cancel_request" } & ControlCancel)
  /** Transcript entries for a host that keeps a copy. */
  | ({ type: "transcript_mirror" } & TranscriptMirror)
  /** How far a prompt that carried an id has come. */
  | ({ type: "command_lifecycle" } & CommandLifecycle)
  /** A tool is still running. */
  | ({ type: "tool_progress" } & ToolProgress)
  /** What a few calls did together. */
  | ({ type: "tool_use_summary" } & ToolUseSummary)
  /** How close an account is to its limits. */
  | ({ type: "rate_limit_event" } & RateLimitEvent)
  /** How far signing in has come. */
  | ({ type: "auth_status" } & AuthStatus)
  /** What the person may want to say next. */
  | ({ type: "prompt_suggestion" } & PromptSuggestion)
  /** The conversation starts over under a new id. */
  | ({ type: "conversation_reset" } & ConversationReset)
  /** Variables that a host hands to a running engine. */
  | ({ type: "update_environment_variables" } & EnvironmentUpdate)
  /** Keeps the connection alive. */
  | { type: "keep_alive" };

/** What every hook is told, whatever the event. */
export interface HookBase {
  /** The session. Required by official clients. */
  session_id: SessionId;
  /** Where the transcript lies. Required by official clients. */
  transcript_path: string;
  /** The working directory. Required by official clients. */
  cwd: string;
  /** The prompt that is being worked on; the same for everything its round does. */
  prompt_id?: string;
  /** The permission mode in force. */
  permission_mode?: PermissionMode;
  /** How hard the model tries. */
  effort?: Effort;
  /** The subagent in which the hook runs; of `SubagentStart` and `SubagentStop` the subagent that starts or stops. */
  agent_id?: string;
  /** The kind of that subagent. */
  agent_type?: string;
}

/** What a hook is told about its event. */
export type HookDetail =
  /** A tool is about to run. */
  | {
      hook_event_name: "PreToolUse";
      /** The tool. */
      tool_name: string;
      /** Its input. */
      tool_input: unknown;
      /** The call. */
      tool_use_id: ToolUseId;
    }
  /** A tool succeeded. */
  | {
      hook_event_name: "PostToolUse";
      /** The tool. */
      tool_name: string;
      /** Its input. */
      tool_input: unknown;
      /** The call. */
      tool_use_id: ToolUseId;
      /** What it returned. */
      tool_response: unknown;
      /** How long it took. */
      duration_ms?: number;
    }
  /** A tool failed. */
  | {
      hook_event_name: "PostToolUseFailure";
      /** The tool. */
      tool_name: string;
      /** Its input. */
      tool_input: unknown;
      /** The call. */
      tool_use_id: ToolUseId;
      /** What went wrong. */
      error: string;
      /** Whether it was interrupted. */
      is_interrupt?: boolean;
      /** How long it took. */
      duration_ms?: number;
    }
  /** All calls of a turn ended. */
  | {
      hook_event_name: "PostToolBatch";
      /** The calls, each with name, input, id and response. */
      tool_calls: unknown[];
    }
  /** A prompt was submitted. */
  | {
      hook_event_name: "UserPromptSubmit";
      /** The prompt. */
      prompt: string;
    }
  /** The session began. */
  | {
      hook_event_name: "SessionStart";
      /** `startup`, `resume`, `clear`, `compact` or `fork`. */
      source: string;
      /** The model. */
      model?: string;
    }
  /** The session ended. */
  | {
      hook_event_name: "SessionEnd";
      /** Why. */
      reason: string;
    }
  /** The agent is about to stop. */
  | {
      hook_event_name: "Stop";
      /** Whether a Stop hook already made it go on. */
      stop_hook_active: boolean;
      /** What it said last. */
      last_assistant_message?: string;
      /** What still goes on in the background. */
      background_tasks?: BackgroundWork[];
      /** Prompts that are to come by themselves later. */
      session_crons?: unknown[];
    }
  /** The round ended in an error. */
  | {
      hook_event_name: "StopFailure";
      /** What kind of error, such as `rate_limit`. */
      error: string;
      /** What happened, for people. */
      error_details?: string;
      /** What it said last. */
      last_assistant_message?: string;
    }
  /** Somebody is about to be asked. */
  | {
      hook_event_name: "PermissionRequest";
      /** The tool. */
      tool_name: string;
      /** Its input. */
      tool_input: unknown;
      /** Updates that would make the question unnecessary. */
      permission_suggestions?: PermissionUpdate[];
    }
  /** The person should notice something. */
  | {
      hook_event_name: "Notification";
      /** The text. */
      message: string;
      /** Its heading. */
      title?: string;
      /** Its kind. */
      notification_type?: string;
    }
  /** A call was denied. */
  | {
      hook_event_name: "PermissionDenied";
      /** The tool. */
      tool_name: string;
      /** Its input. */
      tool_input: unknown;
      /** The call. */
      tool_use_id: ToolUseId;
      /** Why. */
      reason: string;
    }
  /** A subagent was started; [`HookBase`] names it. */
  | {
      hook_event_name: "SubagentStart";
    }
  /** A subagent is about to stop; [`HookBase`] names it. */
  | {
      hook_event_name: "SubagentStop";
      /** Whether a hook already made it go on. */
      stop_hook_active: boolean;
      /** Where its transcript lies. */
      agent_transcript_path: string;
      /** What it said last. */
      last_assistant_message?: string;
      /** What still goes on in the background. */
      background_tasks?: BackgroundWork[];
      /** Prompts that are to come by themselves later. */
      session_crons?: unknown[];
    }
  /** The conversation is about to be summarised. */
  | {
      hook_event_name: "PreCompact";
      /** `manual` or `auto`. */
      trigger: string;
      /** What the person wants to be kept. */
      custom_instructions?: string | null;
    }
  /** The conversation was summarised. */
  | {
      hook_event_name: "PostCompact";
      /** `manual` or `auto`. */
      trigger: string;
      /** The summary. */
      compact_summary: string;
    }
  /** A working copy is prepared. */
  | {
      hook_event_name: "Setup";
      /** `init` or `maintenance`. */
      trigger: string;
    }
  /** A prompt was expanded from a command. */
  | {
      hook_event_name: "UserPromptExpansion";
      /** `slash_command` or `mcp_prompt`. */
      expansion_type: string;
      /** The command. */
      command_name: string;
      /** What stood behind it. */
      command_args: string;
      /** Where the command comes from. */
      command_source?: string;
      /** What became of it. */
      prompt: string;
    }
  /** A teammate has nothing to do. */
  | {
      hook_event_name: "TeammateIdle";
      /** The teammate. */
      teammate_name: string;
      /** The team. */
      team_name: string;
    }
  /** A task was created. */
  | ({ hook_event_name: "TaskCreated" } & TaskSubject)
  /** A task was completed. */
  | ({ hook_event_name: "TaskCompleted" } & TaskSubject)
  /** A settings file changed. */
  | {
      hook_event_name: "ConfigChange";
      /** Which kind of file. */
      source: string;
      /** The file. */
      file_path?: string;
    }
  /** A watched file changed. */
  | {
      hook_event_name: "FileChanged";
      /** The file. */
      file_path: string;
      /** `change`, `add` or `unlink`. */
      event: string;
    }
  /** The working directory changed. */
  | {
      hook_event_name: "CwdChanged";
      /** The one before. */
      old_cwd: string;
      /** The one now. */
      new_cwd: string;
    }
  /** A further working directory was added. */
  | {
      hook_event_name: "DirectoryAdded";
      /** The directory. */
      directory: string;
      /** What added it. */
      source: string;
    }
  /** An MCP server asks the person something. */
  | {
      hook_event_name: "Elicitation";
      /** The server. */
      mcp_server_name: string;
      /** The question. */
      message: string;
      /** `form` or `url`. */
      mode?: string;
      /** The page to open. */
      url?: string;
      /** Names the question. */
      elicitation_id?: string;
      /** What an answer must look like. */
      requested_schema?: unknown;
    }
  /** The person answered an MCP server. */
  | {
      hook_event_name: "ElicitationResult";
      /** The server. */
      mcp_server_name: string;
      /** `accept`, `decline` or `cancel`. */
      action: string;
      /** The answer. */
      content?: unknown;
      /** `form` or `url`. */
      mode?: string;
      /** Names the question. */
      elicitation_id?: string;
    }
  /** Text is about to be shown. */
  | {
      hook_event_name: "MessageDisplay";
      /** The turn. */
      turn_id: string;
      /** The message. */
      message_id: string;
      /** Which piece of it, from 0. */
      index: number;
      /** Whether it is the last piece. */
      final: boolean;
      /** The piece. */
      delta: string;
    }
  /** The model is about to change. */
  | ({ hook_event_name: "PreModelSwitch" } & ModelSwitch)
  /** The model changed. */
  | ({ hook_event_name: "PostModelSwitch" } & ModelSwitch)
  /** A worktree is to be made. */
  | {
      hook_event_name: "WorktreeCreate";
      /** Its name. */
      name: string;
    }
  /** A worktree is to be removed. */
  | {
      hook_event_name: "WorktreeRemove";
      /** Where it lies. */
      worktree_path: string;
    }
  /** An instruction file was loaded. */
  | {
      hook_event_name: "InstructionsLoaded";
      /** The file. */
      file_path: string;
      /** `User`, `Project`, `Local` or `Managed`. */
      memory_type: string;
      /** Why it was loaded. */
      load_reason: string;
      /** The patterns under which it applies. */
      globs?: string[];
      /** The file that made it apply. */
      trigger_file_path?: string;
      /** The file that includes it. */
      parent_file_path?: string;
    };

/** Everything a hook is told. */
export type HookInput = HookBase & HookDetail & {};

/** What a hook printed. */
export interface HookPrinted {
  /** Everything, in the order in which it came. */
  output?: string;
  /** Standard output. */
  stdout?: string;
  /** Standard error. */
  stderr?: string;
}

/** A hook printed something. */
export type HookProgress = HookStarted & HookPrinted & {};

/** Hooks that an SDK registers with `initialize`. */
export interface HookRegistration {
  /** Which tools (or other subjects) the hooks are for; absent means all. */
  matcher?: string | null;
  /** The callbacks to call. */
  hookCallbackIds?: string[];
  /** Seconds to wait for each. */
  timeout?: number | null;
  /** What a failing callback means: `block` or `continue`. */
  onFailure?: string | null;
}

/** A hook ended. */
export type HookResponse = HookStarted & HookPrinted & {
  /** What the command returned. */
  exit_code?: number;
  /** `success`, `error` or `cancelled`. */
  outcome?: string;
};

/** A hook began. */
export interface HookStarted {
  /** This run of the hook. */
  hook_id: string;
  /** The hook, as in `PreToolUse:Bash`. */
  hook_name: string;
  /** The event. */
  hook_event: string;
  /** What people may be shown while it runs. */
  statusMessage?: string;
}

/** What a round runs with. */
export interface Init {
  /** The working directory. */
  cwd: string;
  /** The tools the model is offered, and those it has to look up first. */
  tools: string[];
  /** MCP servers and their state. */
  mcp_servers?: McpServerState[];
  /** The model. */
  model: string;
  /** The permission mode. */
  permissionMode?: PermissionMode;
  /** Commands that work as prompts. */
  slash_commands?: string[];
  /** Where the credentials come from. */
  apiKeySource?: string;
  /** The level of the protocol that is spoken. */
  claude_code_version?: string;
  /** The version of Tillerman. */
  tillerman_version?: string;
  /** The output style. */
  output_style?: string;
  /** Subagents by name. */
  agents?: string[];
  /** Skills by name. */
  skills?: string[];
  /** Plugins. */
  plugins?: unknown[];
  /** Directories beside `cwd` that tools may use. */
  additional_directories?: string[];
  [key: string]: unknown;
}

/** The handshake. Every field is optional. */
export interface InitializeRequest {
  /** Hook callbacks by event name. */
  hooks?: Record<string, HookRegistration[]> | null;
  /** Subagents by name. */
  agents?: Record<string, unknown>;
  /** In-process MCP servers by name. */
  sdkMcpServers?: string[];
  /** The schema the answer must match. */
  jsonSchema?: unknown;
  /** The system prompt. */
  systemPrompt?: unknown;
  /** Text added to the system prompt. */
  appendSystemPrompt?: string;
  /** Whether the parts of the system prompt that change are left out. */
  excludeDynamicSections?: boolean;
  /** Whether the system prompt is kept as it is for the whole session. */
  systemPromptSnapshot?: boolean;
  /** The skills the session may use. */
  skills?: string[];
  /** Whether the host wants what subagents say. */
  forwardSubagentText?: boolean;
  /** Whether the host wants suggestions for the next prompt. */
  promptSuggestions?: boolean;
  /** The session's title. */
  title?: string;
  [key: string]: unknown;
}

/** Host → engine: requests about MCP servers. */
export type McpRequest =
  /** Connect to a server again. */
  | {
      subtype: "mcp_reconnect";
      /** The server. */
      serverName: string;
    }
  /** Switch a server on or off. */
  | {
      subtype: "mcp_toggle";
      /** The server. */
      serverName: string;
      /** Whether it is to be on. */
      enabled: boolean;
    }
  /** Replace the servers that the host added. */
  | {
      subtype: "mcp_set_servers";
      /** The servers by name. */
      servers: Record<string, McpServerConfig>;
    }
  /** Call a tool of a server without a model. */
  | {
      subtype: "mcp_call";
      /** The tool by its full name. */
      tool: string;
      /** Its input. */
      arguments?: unknown;
      [key: string]: unknown;
    }
  /** Read a resource of a server. */
  | {
      subtype: "mcp_read_resource";
      /** The server. */
      serverName: string;
      /** The resource. */
      uri: string;
    };

/** One MCP server, as in `.mcp.json`, settings, `--mcp-config` and SDK options. */
export type McpServerConfig =
  /** A server that names its transport. */
  | TaggedMcpServer
  /** A server without `type`: a child process. */
  | StdioMcpServer;

/** An MCP server and its state. */
export interface McpServerState {
  /** The server. */
  name: string;
  /** `connected`, `pending`, `failed`, `needs-auth` or `disabled`. */
  status: string;
  /** Where it is configured: `sdk` for a server inside the host, `plugin`, or a scope. */
  source?: string;
}

/** One message of a conversation. */
export interface Message {
  /** Who speaks. */
  role: Role;
  /** What is said. */
  content: Content;
}

/** The head of a response, sent with `message_start`. */
export interface MessageHead {
  /** The provider's id of the response. */
  id?: string;
  /** The model that answers. */
  model?: string;
  /** Usage known at the start. */
  usage?: Usage;
  [key: string]: unknown;
}

/** How a response ended. */
export interface MessageOutcome {
  /** Why the model stopped: `end_turn`, `tool_use`, `max_tokens`, `stop_sequence`, `refusal`, … */
  stop_reason?: string | null;
  /** The stop sequence that was hit. */
  stop_sequence?: string | null;
  [key: string]: unknown;
}

/** Names a part of a host's copy of a transcript. */
export interface MirrorKey {
  /** The project; some writers call it `project_key`. */
  projectKey: string;
  /** The session; some writers call it `session_id`. */
  sessionId: SessionId;
  /** The subagent's part. */
  subpath?: string;
}

/** A change of the model. */
export interface ModelSwitch {
  /** The model before. */
  from_model: string;
  /** The model after. */
  to_model: string;
  /** The name that was asked for; nothing means the default. */
  requested_model?: string | null;
  /** What asked for it: `command`, `picker`, `sdk`, … */
  source: string;
  [key: string]: unknown;
}

/** Tokens and dollars of one model. */
export interface ModelUsage {
  /** Uncached input tokens. */
  inputTokens?: number;
  /** Generated tokens. */
  outputTokens?: number;
  /** Tokens read from the cache. */
  cacheReadInputTokens?: number;
  /** Tokens written to the cache. */
  cacheCreationInputTokens?: number;
  /** Searches the provider ran. */
  webSearchRequests?: number;
  /** Dollars. */
  costUSD?: number;
  /** Tokens that fit into a request. */
  contextWindow?: number;
  /** Tokens it may generate at most. */
  maxOutputTokens?: number;
}

/** A call that was denied. */
export interface PermissionDenial {
  /** The tool. */
  tool_name: string;
  /** The call. */
  tool_use_id: ToolUseId;
  /** Its input. */
  tool_input: unknown;
}

/** A call was denied because nobody could be asked. */
export interface PermissionDenied {
  /** The tool. */
  tool_name: string;
  /** The call. */
  tool_use_id: ToolUseId;
  /** What kind of thing decided. */
  decision_reason_type?: string;
  /** What decided. */
  decision_reason?: string;
  /** What the model is told. */
  message: string;
}

/** How tool calls are judged when no rule decides. */
export type PermissionMode =
  /** Ask for everything that is not plainly harmless. */
  | "default"
  /** File edits inside the working directories are approved. */
  | "acceptEdits"
  /** Look but do not touch. */
  | "plan"
  /** Everything that no deny rule or guard forbids is approved. */
  | "bypassPermissions"
  /** Never ask: what would be asked is denied. */
  | "dontAsk"
  /** A classifier decides what would otherwise be asked. */
  | "auto";

/** A rule as it travels in permission updates. */
export interface PermissionRule {
  /** The tool the rule is about. */
  toolName: string;
  /** What the call must match; absent means every call. */
  ruleContent?: string;
}

/** A change to the permissions of a session or of a settings file. */
export type PermissionUpdate =
  /** Adds rules. */
  | {
      type: "addRules";
      /** The rules. */
      rules: PermissionRule[];
      /** What they do. */
      behavior: RuleBehavior;
      /** Where they are kept. */
      destination?: UpdateDestination;
    }
  /** Replaces all rules of one behavior. */
  | {
      type: "replaceRules";
      /** The rules. */
      rules: PermissionRule[];
      /** What they do. */
      behavior: RuleBehavior;
      /** Where they are kept. */
      destination?: UpdateDestination;
    }
  /** Removes rules. */
  | {
      type: "removeRules";
      /** The rules. */
      rules: PermissionRule[];
      /** What they did. */
      behavior: RuleBehavior;
      /** Where they were kept. */
      destination?: UpdateDestination;
    }
  /** Changes the permission mode. */
  | {
      type: "setMode";
      /** The new mode. */
      mode: PermissionMode;
      /** Where it is kept. */
      destination?: UpdateDestination;
    }
  /** Adds working directories. */
  | {
      type: "addDirectories";
      /** The directories. */
      directories: string[];
      /** Where they are kept. */
      destination?: UpdateDestination;
    }
  /** Removes working directories. */
  | {
      type: "removeDirectories";
      /** The directories. */
      directories: string[];
      /** Where they were kept. */
      destination?: UpdateDestination;
    };

/** Engine → host: questions for the person. */
export type PersonRequest =
  /** An MCP server wants to know something. */
  | {
      subtype: "elicitation";
      /** The server. */
      mcp_server_name: string;
      /** The question. */
      message: string;
      /** `form` or `url`. */
      mode?: string;
      /** The page to open. */
      url?: string;
      /** Names the question. */
      elicitation_id?: string;
      /** What an answer must look like. */
      requested_schema?: unknown;
      [key: string]: unknown;
    }
  /** The host is to show a dialog of a kind it knows. */
  | {
      subtype: "request_user_dialog";
      /** The kind. */
      dialog_kind: string;
      /** What it shows. */
      payload?: unknown;
      /** The call it belongs to. */
      tool_use_id?: ToolUseId;
    };

/** What the person may want to say next. */
export interface PromptSuggestion {
  /** The prompt. */
  suggestion: string;
  /** This frame. */
  uuid: EntryId;
  /** The session. */
  session_id: SessionId;
}

/** A limit of an account. */
export interface RateLimit {
  /** `allowed`, `allowed_warning` or `rejected`. Required by official clients. */
  status: string;
  /** When the limit starts over, in seconds since the Unix epoch. */
  resetsAt?: number;
  /** Which limit: `five_hour`, `seven_day`, … */
  rateLimitType?: string;
  /** How much of it is used up, from 0 to 1. */
  utilization?: number;
  [key: string]: unknown;
}

/** How close an account is to its limits. */
export interface RateLimitEvent {
  /** The limit. Required by official clients. */
  rate_limit_info: RateLimit;
  /** Required by official clients. */
  uuid: EntryId;
  /** Required by official clients. */
  session_id: SessionId;
}

/** A server reached over the network. */
export interface RemoteMcpServer {
  /** Its address. */
  url: string;
  /** Headers sent with every request. */
  headers?: Record<string, string>;
  /** Milliseconds a call may take. */
  timeout?: number;
  [key: string]: unknown;
}

/** Names a control request, chosen by whoever sends it. */
export type RequestId = string;

/** The end of a prompt round: one per round, always. */
export interface ResultFrame {
  /** Required by official clients. */
  subtype: ResultSubtype;
  /** Whether the round failed. Required by official clients. */
  is_error: boolean;
  /** Wall-clock time of the round. Required by official clients. */
  duration_ms: number;
  /** Time spent waiting for the model, over the session. Required by official clients. */
  duration_api_ms: number;
  /** One more than the user frames the round produced. Required by official clients. */
  num_turns: number;
  /** What the agent said last; only with `success`. */
  result?: string;
  /** What went wrong; only with the error subtypes. */
  errors?: string[];
  /** Why the model stopped. */
  stop_reason?: string | null;
  /** Dollars spent, over the session. */
  total_cost_usd?: number;
  /** Tokens of this round. */
  usage?: Usage;
  /** Tokens and dollars by model, over the session. */
  modelUsage?: Record<string, ModelUsage>;
  /** Calls that were denied in this round. */
  permission_denials?: PermissionDenial[];
  /** `completed`, `max_turns`, `api_error`, `aborted_streaming`, `aborted_tools`, … */
  terminal_reason?: string;
  /** The HTTP status of an API failure. */
  api_error_status?: number;
  /** The call that a hook deferred. */
  deferred_tool_use?: unknown;
  /** The answer that matches the schema. */
  structured_output?: unknown;
  /** Ids of the prompts this round answered. */
  user_message_uuids?: EntryId[];
  /** Required by official clients. */
  session_id: SessionId;
  /** This frame. */
  uuid?: EntryId;
  [key: string]: unknown;
}

/** How a prompt round ended. */
export type ResultSubtype =
  /** The agent finished (or an API failure is reported with `is_error`). */
  | "success"
  /** It was interrupted or failed. */
  | "error_during_execution"
  /** The turn limit was reached. */
  | "error_max_turns"
  /** The dollar limit was reached. */
  | "error_max_budget_usd"
  /** No answer matched the schema. */
  | "error_max_structured_output_retries"
  /** An ending that this version does not know; the round is over all the same. */
  | (string & {});

/** Who speaks in a message. */
export type Role =
  /** The person or program that prompts, and the results of tools. */
  | "user"
  /** The model. */
  | "assistant";

/** What a rule does with the calls it matches. */
export type RuleBehavior =
  /** Approve. */
  | "allow"
  /** Refuse. */
  | "deny"
  /** Ask, whatever the mode. */
  | "ask";

/** A file that was uploaded. */
export interface SavedFile {
  /** Its name. */
  filename: string;
  /** The id it is known by now. */
  file_id: string;
}

/** Names a session: a UUID, also the name of its transcript file. */
export type SessionId = string;

/** Host → engine: requests about the session and the files it works on. */
export type SessionRequest =
  /** Think of a title. */
  | {
      subtype: "generate_session_title";
      /** What the session is about. */
      description?: string;
      [key: string]: unknown;
    }
  /** Give the session a title. */
  | {
      subtype: "rename_session";
      /** The title. */
      title: string;
      /** The session, when it is another one. */
      session_id?: SessionId;
      [key: string]: unknown;
    }
  /** Give the session a color. */
  | {
      subtype: "set_color";
      /** The color. */
      color: string;
    }
  /** Say what was used and which limits are near. */
  | { subtype: "get_usage" }
  /** Say what the session has cost. */
  | { subtype: "get_session_cost" }
  /** Say which program answers. */
  | { subtype: "get_binary_version" }
  /** Read what a background task printed. */
  | {
      subtype: "get_task_output";
      /** The task. */
      task_id: TaskId;
    }
  /** Take up calls again that nobody had decided about when an earlier run ended. Only a host that knows that they never ran may ask for it. */
  | {
      subtype: "reopen_calls";
      /** The calls. */
      tool_use_ids: ToolUseId[];
    }
  /** Let a call, or all of them, go on in the background. */
  | {
      subtype: "background_tasks";
      /** The call. */
      tool_use_id?: ToolUseId;
    }
  /** Read a file for the host. */
  | {
      subtype: "read_file";
      /** The file. */
      path: string;
      /** How much of it. */
      max_bytes?: number;
      /** `utf-8` or `base64`. */
      encoding?: string;
    }
  /** Find files whose names fit. */
  | {
      subtype: "file_suggestions";
      /** What was typed so far. */
      query: string;
    };

/** Whether the session works, waits or rests. */
export type SessionState =
  /** A round is under way. */
  | "running"
  /** Somebody has to answer before the round can go on. */
  | "requires_action"
  /** Nothing runs. */
  | "idle";

/** Host → engine: requests about settings and what they bring in. */
export type SettingsRequest =
  /** Lay settings over those of the command line. */
  | {
      subtype: "apply_flag_settings";
      /** The settings; `null` takes a key back. */
      settings: Record<string, unknown>;
    }
  /** Change a settings file. */
  | {
      subtype: "update_settings";
      /** `localSettings` or `userSettings`. */
      source: string;
      /** What changes. */
      settings: Record<string, unknown>;
    }
  /** Read the plugins again. */
  | { subtype: "reload_plugins" }
  /** Read the skills again. */
  | { subtype: "reload_skills" }
  /** Read the output styles again. */
  | { subtype: "reload_output_styles" }
  /** Work in a further directory. */
  | {
      subtype: "register_repo_root";
      /** The directory. */
      directory: string;
      [key: string]: unknown;
    }
  /** List the permission rules in force. */
  | { subtype: "list_permission_rules" }
  /** List the models that can be chosen. */
  | { subtype: "list_models" }
  /** List the hooks in force. */
  | { subtype: "get_hooks_listing" }
  /** Count a file as read, as it was at that time. */
  | {
      subtype: "seed_read_state";
      /** The file. */
      path: string;
      /** When it was changed last, in milliseconds since the Unix epoch. */
      mtime: number;
    };

/** A server started as a child process. */
export interface StdioMcpServer {
  /** The program. */
  command: string;
  /** Its arguments. */
  args?: string[];
  /** Variables added to its environment. */
  env?: Record<string, string>;
  /** Milliseconds a call may take. */
  timeout?: number;
  [key: string]: unknown;
}

/** One event of a streamed response. */
export type StreamEvent =
  /** The response begins. */
  | {
      type: "message_start";
      /** Its head: id, model, first usage. */
      message: MessageHead;
    }
  /** A content block begins. */
  | {
      type: "content_block_start";
      /** Position of the block. */
      index: number;
      /** The block with its starting content. */
      content_block: unknown;
    }
  /** A content block grows. */
  | {
      type: "content_block_delta";
      /** Position of the block. */
      index: number;
      /** What is added. */
      delta: Delta;
    }
  /** A content block is complete. */
  | {
      type: "content_block_stop";
      /** Position of the block. */
      index: number;
    }
  /** The response's outcome: stop reason and final usage. */
  | {
      type: "message_delta";
      /** What is now known. */
      delta: MessageOutcome;
      /** Usage so far. */
      usage?: Usage;
    }
  /** The response is complete. */
  | { type: "message_stop" }
  /** Keeps the connection alive. */
  | { type: "ping" };

/** A raw event of a streamed response. */
export interface StreamEventFrame {
  /** The event. Required by official clients. */
  event: StreamEvent;
  /** The call whose subagent speaks. */
  parent_tool_use_id: ToolUseId | null;
  /** Required by official clients. */
  uuid: EntryId;
  /** Required by official clients. */
  session_id: SessionId;
  /** Milliseconds from the request to this first event. */
  ttft_ms?: number;
}

/** What the news is, by `subtype`. */
export type SystemDetail =
  /** What this round runs with; opens every round. */
  | ({ subtype: "init" } & Init)
  /** What the engine is doing right now. */
  | {
      subtype: "status";
      /** `requesting`, `compacting` or nothing. */
      status: string | null;
      /** The permission mode, when it changed. */
      permissionMode?: PermissionMode;
      /** How a compaction ended: `success` or `failed`. */
      compact_result?: string;
      /** Why a compaction failed. */
      compact_error?: string;
    }
  /** Whether the session works, waits or rests. */
  | {
      subtype: "session_state_changed";
      /** The state. */
      state: SessionState;
      /** Marks the frame as meant for hosts that asked for it. */
      sdk_host_only?: boolean;
    }
  /** A call was denied because nobody could be asked. */
  | ({ subtype: "permission_denied" } & PermissionDenied)
  /** A request to the model failed and will be repeated. */
  | ({ subtype: "api_retry" } & ApiRetry)
  /** A background task began. */
  | ({ subtype: "task_started" } & TaskStarted)
  /** A background task made progress. */
  | ({ subtype: "task_progress" } & TaskProgress)
  /** A background task changed. */
  | ({ subtype: "task_updated" } & TaskUpdated)
  /** A background task ended. */
  | ({ subtype: "task_notification" } & TaskNotification)
  /** The list of background tasks changed. */
  | {
      subtype: "background_tasks_changed";
      /** Those that run now. */
      tasks?: TaskSummary[];
    }
  /** The conversation before this point was summarised. */
  | {
      subtype: "compact_boundary";
      /** Why and how much. */
      compact_metadata: CompactMetadata;
      /** The entry before the boundary. */
      logical_parent_uuid?: EntryId;
    }
  /** Old outputs of tools were cleared to make room. */
  | {
      subtype: "microcompact_boundary";
      /** Why and how much. */
      microcompact_metadata: CompactMetadata;
    }
  /** Something a person should know. */
  | {
      subtype: "notification";
      /** What kind of thing. */
      key: string;
      /** The text. */
      text: string;
      /** `low`, `medium`, `high` or `immediate`. */
      priority: string;
    }
  /** A hook began. */
  | ({ subtype: "hook_started" } & HookStarted)
  /** A hook printed something. */
  | ({ subtype: "hook_progress" } & HookProgress)
  /** A hook ended. */
  | ({ subtype: "hook_response" } & HookResponse)
  /** The model thinks; how much is estimated. */
  | {
      subtype: "thinking_tokens";
      /** Tokens so far. */
      estimated_tokens: number;
      /** Tokens since the last such frame. */
      estimated_tokens_delta?: number;
    }
  /** The session has another title. */
  | {
      subtype: "session_title_changed";
      /** The title. */
      title?: string;
      [key: string]: unknown;
    }
  /** A host's copy of the transcript could not be kept up to date. */
  | {
      subtype: "mirror_error";
      /** What went wrong. */
      error: string;
      /** What could not be stored. */
      key?: MirrorKey;
    }
  /** Files were uploaded or not. */
  | {
      subtype: "files_persisted";
      /** Those that were. */
      files?: SavedFile[];
      /** Those that were not. */
      failed?: FileFailure[];
      /** When. */
      processed_at?: string;
    }
  /** A command that needs no model printed something. */
  | {
      subtype: "local_command_output";
      /** The text. */
      content: string;
    }
  /** The person is done with a question of an MCP server. */
  | {
      subtype: "elicitation_complete";
      /** The server. */
      mcp_server_name: string;
      /** The question. */
      elicitation_id: string;
    }
  /** The list of commands changed. */
  | {
      subtype: "commands_changed";
      /** The commands, each with name and description. */
      commands: unknown[];
    }
  /** A line for the person. */
  | {
      subtype: "informational";
      /** The text. */
      content: string;
      /** `info`, `notice`, `suggestion` or `warning`. */
      level: string;
      [key: string]: unknown;
    }
  /** Memories were given to the model. */
  | {
      subtype: "memory_recall";
      /** How they were chosen. */
      mode: string;
      /** The memories, each with path and scope. */
      memories: unknown[];
    };

/** News about the session. */
export type SystemFrame = SystemDetail & {
  /** The session. */
  session_id: SessionId;
  /** This frame. */
  uuid: EntryId;
};

/** A server that names its transport. */
export type TaggedMcpServer =
  /** A child process spoken to over its standard streams. */
  | ({ type: "stdio" } & StdioMcpServer)
  /** Server-sent events. */
  | ({ type: "sse" } & RemoteMcpServer)
  /** Streamable HTTP. */
  | ({ type: "http" } & RemoteMcpServer)
  /** A WebSocket. */
  | ({ type: "ws" } & RemoteMcpServer)
  /** A server inside the SDK's process, reached over the control protocol. */
  | {
      type: "sdk";
      /** The server's name. */
      name: string;
      /** Milliseconds a call may take. */
      timeout?: number;
    };

/** Names a background task. */
export type TaskId = string;

/** A task ended. */
export interface TaskNotification {
  /** The task. Required by official clients. */
  task_id: TaskId;
  /** `completed`, `failed` or `stopped`. Required by official clients. */
  status: string;
  /** The file with everything it printed. Required by official clients. */
  output_file: string;
  /** What came of it. Required by official clients. */
  summary: string;
  /** The call that started it. */
  tool_use_id?: ToolUseId;
  /** What it used. */
  usage?: TaskUsage;
  [key: string]: unknown;
}

/** What changed about a task. */
export interface TaskPatch {
  /** `pending`, `running`, `completed`, `failed`, `killed` or `paused`. */
  status?: string;
  /** When it ended, in milliseconds since the Unix epoch. */
  end_time?: number;
  /** Why it failed. */
  error?: string;
  [key: string]: unknown;
}

/** A task made progress. */
export interface TaskProgress {
  /** The task. Required by official clients. */
  task_id: TaskId;
  /** What it does. Required by official clients. */
  description: string;
  /** What it has used so far. Required by official clients. */
  usage: TaskUsage;
  /** The tool it used last. */
  last_tool_name?: string;
  [key: string]: unknown;
}

/** A task began. */
export interface TaskStarted {
  /** The task. Required by official clients. */
  task_id: TaskId;
  /** What it does. Required by official clients. */
  description: string;
  /** The call that started it. */
  tool_use_id?: ToolUseId;
  /** `local_bash`, `local_agent`, … */
  task_type?: string;
  /** The kind of subagent. */
  subagent_type?: string;
  /** Whether the call that started it has returned already. */
  is_backgrounded?: boolean;
  /** What the subagent was asked. */
  prompt?: string;
  [key: string]: unknown;
}

/** A task on the list of things to do. */
export interface TaskSubject {
  /** The task. */
  task_id: TaskId;
  /** Its subject. */
  task_subject: string;
  /** What it is about. */
  task_description?: string;
  /** The teammate it belongs to. */
  teammate_name?: string;
  /** The team. */
  team_name?: string;
}

/** A task in the list of those that run. */
export interface TaskSummary {
  /** The task. */
  task_id: TaskId;
  /** `local_bash`, `local_agent`, … */
  task_type?: string;
  /** What it does. */
  description?: string;
  [key: string]: unknown;
}

/** A task changed. */
export interface TaskUpdated {
  /** The task. */
  task_id: TaskId;
  /** What changed. */
  patch?: TaskPatch;
}

/** What a task has used. */
export interface TaskUsage {
  /** Tokens. */
  total_tokens: number;
  /** Calls. */
  tool_uses: number;
  /** Milliseconds. */
  duration_ms: number;
}

/** A tool is still running. */
export interface ToolProgress {
  /** The call. */
  tool_use_id: ToolUseId;
  /** The tool. */
  tool_name: string;
  /** The call whose subagent runs it. */
  parent_tool_use_id: ToolUseId | null;
  /** Seconds since it started. */
  elapsed_time_seconds: number;
  /** The background task it runs as. */
  task_id?: TaskId;
  /** This frame. */
  uuid: EntryId;
  /** The session. */
  session_id: SessionId;
  [key: string]: unknown;
}

/** The outcome of a tool call as the model sees it. */
export interface ToolResult {
  /** The call this answers. */
  tool_use_id: ToolUseId;
  /** What the tool said. */
  content?: Content;
  /** Whether the call failed. */
  is_error?: boolean;
}

/** How a tool result came about. */
export interface ToolResultMeta {
  /** The call. */
  id: ToolUseId;
  /** The decision that let it run or stopped it. */
  permission_decision?: unknown;
  /** Why it did not run. */
  non_execution_kind?: string;
}

/** Names a tool call as the model wrote it (`toolu_…`). */
export type ToolUseId = string;

/** What a few calls did together, in a sentence. */
export interface ToolUseSummary {
  /** The sentence. */
  summary: string;
  /** The calls; some writers leave them out. */
  preceding_tool_use_ids?: ToolUseId[];
  /** This frame. */
  uuid: EntryId;
  /** The session. */
  session_id: SessionId;
}

/** Transcript entries for a host that keeps a copy of the session. */
export interface TranscriptMirror {
  /** The file the entries were appended to. */
  filePath: string;
  /** The entries. */
  entries: unknown[];
}

/** Where a permission update is kept. */
export type UpdateDestination =
  /** The user's settings file. */
  | "userSettings"
  /** The project's shared settings file. */
  | "projectSettings"
  /** The project's local settings file. */
  | "localSettings"
  /** This session only; also what an update without a destination means. */
  | "session"
  /** The command line; holds for this session. */
  | "cliArg";

/** Tokens a response used. */
export interface Usage {
  /** Tokens read that were not cached. */
  input_tokens?: number;
  /** Tokens written to the cache. */
  cache_creation_input_tokens?: number;
  /** Tokens read from the cache. */
  cache_read_input_tokens?: number;
  /** Tokens generated. */
  output_tokens?: number;
  [key: string]: unknown;
}

/** A prompt on its way in; a tool result, replay or synthetic message on its way out. */
export interface UserFrame {
  /** The message. Required by official clients. */
  message: Message;
  /** The call whose subagent this belongs to. */
  parent_tool_use_id?: ToolUseId | null;
  /** The session; hosts may send anything here. */
  session_id?: SessionId;
  /** The frame, and the transcript entry that stores it. */
  uuid?: EntryId;
  /** When it was said. */
  timestamp?: string;
  /** The structured outcome of a tool. */
  tool_use_result?: unknown;
  /** How each tool result came about. */
  tool_result_meta?: ToolResultMeta[];
  /** Whether this repeats a prompt that came in. */
  isReplay?: boolean;
  /** Whether the engine wrote it. */
  isSynthetic?: boolean;
  [key: string]: unknown;
}
