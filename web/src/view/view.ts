// What a person sees of a conversation, as plain values made from its events.

import type { Approval, AttachmentNote, RunState } from "../host/contract";
import type { Content, TaskUsage } from "../protocol";

/** The thread of the conversation itself; threads of agents are named after the call that started them. */
export const MAIN = "";

export type Level = "info" | "warning" | "error";

export type Item =
  | {
      type: "prompt";
      key: string;
      at: string;
      message_id: string | null;
      client_id: string | null;
      text: string;
      attachments: AttachmentNote[];
      by: string | null;
      /** 0 when it went to the run, otherwise its place in the queue. */
      position: number;
    }
  | { type: "text"; key: string; at: string; text: string; streaming: boolean; cut: boolean }
  | { type: "thinking"; key: string; at: string; text: string; streaming: boolean }
  | { type: "call"; key: string; at: string; call: string }
  /** A question of an MCP server, which belongs to no call that is known. */
  | { type: "elicitation"; key: string; at: string; approval: string }
  | { type: "notice"; key: string; at: string; level: Level; text: string; detail: string | null }
  | { type: "divider"; key: string; at: string; text: string }
  | { type: "result"; key: string; at: string; outcome: Outcome };

export interface Picture {
  media_type: string;
  data: string;
}

/** How a round ended. */
export interface Outcome {
  failed: boolean;
  headline: string;
  detail: string | null;
  duration_ms: number;
  cost_usd: number;
}

export interface CallResult {
  content: Content;
  failed: boolean;
  structured: unknown;
  at: string;
}

export interface Call {
  id: string;
  name: string;
  /** Undefined until the whole input is known. */
  input: unknown;
  /** The input as far as it was streamed, as JSON text. */
  partial: string;
  thread: string;
  /** Whether the place in the thread was only a guess. */
  provisional: boolean;
  begun_at: string;
  elapsed_seconds: number | null;
  progress: { done: number; total: number | null; message: string | null } | null;
  output: string | null;
  result: CallResult | null;
  refusal: string | null;
  approval: string | null;
  summary: string | null;
  task: string | null;
}

export type TaskState = "running" | "completed" | "failed" | "stopped";

export interface Task {
  id: string;
  description: string;
  kind: string;
  agent: string | null;
  call: string | null;
  parent: string | null;
  background: boolean;
  state: TaskState;
  last_tool: string | null;
  usage: TaskUsage | null;
  summary: string | null;
  begun_at: string;
}

export interface Todo {
  content: string;
  active: string;
  status: "pending" | "in_progress" | "completed";
}

/** A response that is being streamed into a thread. */
export interface Live {
  message: string;
  /** Keys of the blocks by their position; null for kinds that are not shown. */
  blocks: (string | null)[];
  /** How many of the blocks are complete. */
  complete: number;
  /** Set when pieces may have been missed; the next one is then marked. */
  broken: boolean;
}

export interface Meters {
  cost_usd: number;
  context_tokens: number;
  context_window: number;
  input_tokens: number;
  output_tokens: number;
}

export interface View {
  last_seq: number;
  items: Map<string, Item>;
  threads: Map<string, string[]>;
  calls: Map<string, Call>;
  tasks: Map<string, Task>;
  approvals: Map<string, Approval>;
  live: Map<string, Live>;
  /** How many blocks of each response are complete. */
  blocks: Map<string, number>;
  todos: Todo[];
  run: { state: RunState; message: string | null };
  /** What the engine says it is doing right now. */
  activity: string | null;
  meters: Meters;
  model: string | null;
  mode: string | null;
  commands: string[];
  agents: string[];
  suggestion: string | null;
}

export function emptyView(): View {
  return {
    last_seq: 0,
    items: new Map(),
    threads: new Map([[MAIN, []]]),
    calls: new Map(),
    tasks: new Map(),
    approvals: new Map(),
    live: new Map(),
    blocks: new Map(),
    todos: [],
    run: { state: "idle", message: null },
    activity: null,
    meters: { cost_usd: 0, context_tokens: 0, context_window: 0, input_tokens: 0, output_tokens: 0 },
    model: null,
    mode: null,
    commands: [],
    agents: [],
    suggestion: null,
  };
}
