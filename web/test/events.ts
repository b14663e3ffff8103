// Small events to build conversations from.

import type { Approval, HostEvent, NumberedEvent } from "../src/host/contract";
import type { Block, Frame, StreamEvent } from "../src/protocol";

export const AT = "2026-01-02T03:04:05.000Z";

/** Numbers events as the host does: stream events are live only and have no number. */
export function numbered(events: HostEvent[], first = 1): NumberedEvent[] {
  let seq = first;
  return events.map((event) => {
    const live = event.kind === "frame" && event.frame.type === "stream_event";
    return { seq: live ? null : seq++, at: AT, event };
  });
}

export function frame(value: Frame): HostEvent {
  return { kind: "frame", frame: value };
}

export function user(message_id: string, text: string): HostEvent {
  return { kind: "user", message_id, text, attachments: [], by: "ada", client_id: `client-${message_id}` };
}

let uuids = 0;
const uuid = (): string => `uuid-${(uuids += 1)}`;

export function assistant(message: string, block: Block, parent: string | null = null): HostEvent {
  return frame({
    type: "assistant",
    message: { id: message, model: "m", content: [block] },
    parent_tool_use_id: parent,
    session_id: "s",
    uuid: uuid(),
  } as Frame);
}

export function toolUse(message: string, id: string, name: string, input: unknown, parent: string | null = null): HostEvent {
  return assistant(message, { type: "tool_use", id, name, input }, parent);
}

export function toolResult(id: string, content: string, options: { failed?: boolean; structured?: unknown; parent?: string | null } = {}): HostEvent {
  const block: Block = { type: "tool_result", tool_use_id: id, content, is_error: options.failed ?? false };
  return frame({
    type: "user",
    message: { role: "user", content: [block] },
    parent_tool_use_id: options.parent ?? null,
    session_id: "s",
    uuid: uuid(),
    tool_use_result: options.structured,
  } as Frame);
}

export function stream(event: StreamEvent, parent: string | null = null): HostEvent {
  return frame({ type: "stream_event", event, parent_tool_use_id: parent, uuid: uuid(), session_id: "s" });
}

export function system(detail: Record<string, unknown>): HostEvent {
  return frame({ type: "system", session_id: "s", uuid: uuid(), ...detail } as unknown as Frame);
}

export function progress(id: string, name: string, seconds: number): HostEvent {
  return frame({
    type: "tool_progress",
    tool_use_id: id,
    tool_name: name,
    parent_tool_use_id: null,
    elapsed_time_seconds: seconds,
    uuid: uuid(),
    session_id: "s",
  } as Frame);
}

export function result(fields: Record<string, unknown> = {}): HostEvent {
  return frame({
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: 1200,
    duration_api_ms: 900,
    num_turns: 1,
    total_cost_usd: 0.25,
    session_id: "s",
    uuid: uuid(),
    ...fields,
  } as unknown as Frame);
}

export function run(state: "running" | "idle" | "interrupted" | "failed", message: string | null = null): HostEvent {
  return { kind: "run", state, message };
}

export function approval(id: string, call: string, state: Approval["state"], fields: Partial<Approval> = {}): Approval {
  return {
    id,
    conversation_id: "c",
    tool_use_id: call,
    tool_name: "Bash",
    input: { command: "ls" },
    input_hash: "h",
    display: { title: "Run a command", lines: ["ls"] },
    kind: "permission",
    suggestions: [],
    cwd: "/tmp",
    agent_id: null,
    reason: null,
    created_at: AT,
    expires_at: null,
    state,
    answered_by: state === "pending" ? null : "ada",
    answered_at: null,
    message: null,
    ...fields,
  };
}

export function permutations<T>(list: T[]): T[][] {
  if (list.length <= 1) {
    return [list];
  }
  return list.flatMap((one, index) => permutations([...list.slice(0, index), ...list.slice(index + 1)]).map((rest) => [one, ...rest]));
}
