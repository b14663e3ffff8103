// What the host's API speaks, beyond the frames of the protocol.

import type { Frame } from "../protocol";

export interface Model {
  id: string;
  name: string;
}

export type Role = "viewer" | "approver" | "owner";

export interface Info {
  version: string;
  protocol_level: string;
  rehearsal: boolean;
  model: string;
  models: Model[];
  modes: string[];
  user: { name: string; role: Role };
  limits: { max_upload_bytes: number };
}

export type ConversationState = "idle" | "running" | "waiting" | "paused" | "failed";

export interface Conversation {
  id: string;
  title: string;
  /** Who made it. */
  owner: string;
  project_id: string | null;
  cwd: string;
  model: string | null;
  permission_mode: string;
  created_at: string;
  updated_at: string;
  archived: boolean;
  session_id: string | null;
  state: ConversationState;
  pending_approvals: number;
  queued: number;
  cost_usd: number;
  last_text: string | null;
  snippet?: string | null;
}

export type ApprovalState = "pending" | "allowed" | "denied" | "cancelled" | "expired" | "withdrawn";

export interface Suggestion {
  label: string;
  update: unknown;
}

export interface Approval {
  id: string;
  conversation_id: string;
  tool_use_id: string;
  tool_name: string;
  input: unknown;
  input_hash: string;
  display: { title: string; lines: string[]; warnings?: string[] };
  kind: "permission" | "question" | "plan" | "elicitation";
  /** What an MCP server asks. */
  elicitation?: Elicitation;
  suggestions: Suggestion[];
  cwd: string;
  agent_id: string | null;
  reason: string | null;
  created_at: string;
  expires_at: string | null;
  state: ApprovalState;
  answered_by: string | null;
  answered_at: string | null;
  message: string | null;
}

/** What an MCP server wants from a person: fields to fill in, or a page to open. */
export interface Elicitation {
  server: string;
  message: string;
  fields: FormField[];
  url?: string;
  /** Why it can only be declined. */
  problem?: string;
}

export interface FormField {
  name: string;
  label: string;
  description?: string;
  required: boolean;
  default?: unknown;
  kind: FieldKind;
}

export type FieldKind =
  | { type: "text"; format?: "email" | "uri" | "date" | "date-time"; min_length?: number; max_length?: number }
  | { type: "number"; whole: boolean; minimum?: number; maximum?: number }
  | { type: "flag" }
  | { type: "choice"; choices: FieldChoice[] }
  | { type: "choices"; choices: FieldChoice[]; min_items?: number; max_items?: number };

export interface FieldChoice {
  value: string;
  label: string;
}

export interface ApprovalAnswer {
  decision: "allow" | "deny" | "cancel";
  message?: string;
  updated_input?: unknown;
  always?: number[];
  answers?: Record<string, unknown>;
  interrupt?: boolean;
}

/** How long questions wait: until their time is over, until answered, or not at all. */
export interface ApprovalPolicy {
  mode: "normal" | "queued" | "paused";
  expires_after_seconds: number | null;
}

export interface AttachmentNote {
  name: string;
  media_type: string;
  size: number;
  url?: string;
}

export type RunState =
  | "starting"
  | "running"
  | "idle"
  | "interrupted"
  | "failed"
  | "paused"
  | "restarting";

export type HostEvent =
  | {
      kind: "user";
      message_id: string;
      text: string;
      attachments?: AttachmentNote[];
      by?: string | null;
      client_id?: string | null;
    }
  | { kind: "queued"; message_id: string; position: number }
  | { kind: "unqueued"; message_id: string }
  | { kind: "frame"; frame: Frame }
  | { kind: "approval"; approval: Approval }
  | { kind: "run"; state: RunState; message?: string | null }
  | { kind: "rewound"; message_id: string; conversation?: boolean; files?: number };

/** One numbered event of a conversation; live events have no number and are never repeated. */
export interface NumberedEvent {
  seq: number | null;
  at: string;
  event: HostEvent;
}

export interface RewindAnswer {
  can_rewind: boolean;
  files: (string | { path: string; insertions?: number; deletions?: number })[];
  insertions: number;
  deletions: number;
  error?: string | null;
}

export interface ContextUsage {
  categories: { id: string; name: string; tokens: number; kind: string }[];
  totalTokens: number;
  maxTokens: number;
  percentage: number;
  model?: string;
  memoryFiles?: { path: string; type?: string; tokens: number }[];
  autoCompactThreshold?: number | null;
}

export interface TaskOutput {
  output: string;
  truncated?: boolean;
  running?: boolean;
}

export interface Completion {
  value: string;
  description: string | null;
}

export interface Project {
  id: string;
  /** The file it is read from, and can only be changed in. */
  source?: string;
  name: string;
  cwd: string;
  environment: Record<string, string>;
  guarded_paths: string[];
  allowed_tools: string[];
  disallowed_tools: string[];
  permission_mode: string | null;
  model: string | null;
  max_budget_usd: number | null;
  daily_budget_usd: number | null;
  persona_ids: string[];
  skill_ids: string[];
  agent_ids: string[];
  mcp_servers: Record<string, unknown>;
  additional_prompt: string;
}

/** A persona or a skill: a name and a text that becomes part of the prompt. */
export interface Note {
  id: string;
  source?: string;
  name: string;
  text: string;
}

/** Somebody whom agents can have a part of their work done by. */
export interface Agent {
  id: string;
  source?: string;
  name: string;
  description: string;
  prompt: string;
  tools: string[] | null;
  disallowed_tools: string[];
  model: string | null;
}

/** Where projects, personas, skills and agents are read from, and what is wrong with some of the files. */
export interface DocumentFiles {
  directory: string;
  problems: FileProblem[];
}

export interface FileProblem {
  kind: string;
  path: string;
  line: number | null;
  message: string;
}

export interface UsageDay {
  date: string;
  cost_usd: number;
  input_tokens: number;
  output_tokens: number;
  runs: number;
}

export interface UsageShare {
  model?: string;
  project_id?: string | null;
  name?: string | null;
  cost_usd: number;
  input_tokens?: number;
  output_tokens?: number;
  runs?: number;
}

export interface UsageReport {
  days: UsageDay[];
  by_model: UsageShare[];
  by_project: UsageShare[];
  today_cost_usd: number;
  daily_limit_usd: number | null;
}

export interface AuditEntry {
  at: string;
  user: string | null;
  action: string;
  subject: string | null;
  detail: unknown;
}

export type ServerMessage =
  | ({ type: "event"; conversation_id: string } & NumberedEvent)
  | { type: "conversation"; conversation: Conversation }
  | { type: "conversation_deleted"; id: string }
  | { type: "approval"; approval: Approval }
  | { type: "documents" }
  | { type: "caught_up"; conversation_id: string; seq: number }
  | { type: "pong" }
  | { type: "error"; error: { code: string; message: string } };
