// Responses while they are being written.

import type { Delta, StreamEventFrame } from "../protocol";
import type { Draft } from "./draft";
import type { Live } from "./view";
import { MAIN } from "./view";

/** The name of a response whose beginning was missed. */
const UNKNOWN = "?";

/** Applies one raw event of a streamed response. */
export function applyStream(draft: Draft, at: string, frame: StreamEventFrame): void {
  const thread = frame.parent_tool_use_id ?? MAIN;
  const event = frame.event;
  switch (event.type) {
    case "message_start": {
      const message = event.message.id || frame.uuid;
      cutThread(draft, thread);
      setLive(draft, thread, { message, blocks: [], complete: draft.view.blocks.get(message) ?? 0, broken: false });
      draft.view.activity = null;
      return;
    }
    case "content_block_start":
      startBlock(draft, at, thread, event.index, event.content_block);
      return;
    case "content_block_delta":
      growBlock(draft, at, thread, event.index, event.delta);
      return;
    case "message_stop":
      cutThread(draft, thread);
      return;
    default:
      return;
  }
}

/** The key of the block that a complete block of the same response stands for. */
export function keyOfComplete(draft: Draft, thread: string, message: string): string {
  const complete = draft.view.blocks.get(message) ?? 0;
  draft.own("blocks").set(message, complete + 1);
  const live = draft.view.live.get(thread);
  if (live?.message === UNKNOWN) {
    // What was seen of a response without its beginning is now seen whole.
    for (const key of live.blocks) {
      if (key?.startsWith(`block:${UNKNOWN}:`)) {
        draft.remove(thread, key);
      }
    }
    draft.own("live").delete(thread);
  } else if (live?.message === message) {
    setLive(draft, thread, { ...live, complete: complete + 1 });
  }
  return blockKey(message, complete);
}

/** Ends everything that is being written: nothing more will come. */
export function cutLive(draft: Draft): void {
  for (const thread of [...draft.view.live.keys()]) {
    cutThread(draft, thread);
  }
}

function cutThread(draft: Draft, thread: string): void {
  const live = draft.view.live.get(thread);
  if (live === undefined) {
    return;
  }
  for (const key of live.blocks) {
    if (key === null) {
      continue;
    }
    const item = draft.view.items.get(key);
    if (item?.type === "text" && item.streaming) {
      if (item.text === "") {
        draft.remove(thread, key);
      } else {
        draft.patch(key, "text", (text) => ({ ...text, streaming: false, cut: true }));
      }
    } else if (item?.type === "thinking" && item.streaming) {
      draft.patch(key, "thinking", (thinking) => ({ ...thinking, streaming: false }));
    }
  }
  draft.own("live").delete(thread);
}

function startBlock(draft: Draft, at: string, thread: string, index: number, block: unknown): void {
  const live = draft.view.live.get(thread) ?? unknown();
  if (typeof block !== "object" || block === null) {
    return;
  }
  const head = block as { type?: string; id?: string; name?: string; text?: string; thinking?: string };
  const key = keyIn(live, thread, index);
  const blocks = [...live.blocks];
  blocks[index] = null;
  if (index < live.complete) {
    // The complete block came first; there is nothing to add to it.
  } else if (head.type === "text") {
    blocks[index] = key;
    draft.put(thread, { type: "text", key, at, text: head.text ?? "", streaming: true, cut: false });
  } else if (head.type === "thinking") {
    blocks[index] = key;
    draft.put(thread, { type: "thinking", key, at, text: head.thinking ?? "", streaming: true });
  } else if (head.type === "tool_use" && head.id !== undefined) {
    blocks[index] = `call:${head.id}`;
    draft.call(head.id, thread, at, { name: head.name ?? "" });
  }
  setLive(draft, thread, { ...live, blocks, broken: false });
}

function growBlock(draft: Draft, at: string, thread: string, index: number, delta: Delta): void {
  const live = draft.view.live.get(thread) ?? unknown();
  if (index < live.complete) {
    return;
  }
  switch (delta.type) {
    case "text_delta":
    case "thinking_delta":
      growText(draft, at, thread, live, index, delta);
      return;
    case "input_json_delta": {
      const id = live.blocks[index]?.slice("call:".length) ?? "";
      const call = draft.view.calls.get(id);
      if (call !== undefined && call.input === undefined && !live.broken) {
        draft.own("calls").set(id, { ...call, partial: call.partial + delta.partial_json });
      }
      return;
    }
    default:
      return;
  }
}

/** What was missed before a piece is shown as an ellipsis until the whole block comes. */
function growText(draft: Draft, at: string, thread: string, live: Live, index: number, delta: Delta): void {
  const isText = delta.type === "text_delta";
  const piece = delta.type === "text_delta" ? delta.text : delta.type === "thinking_delta" ? delta.thinking : "";
  const key = live.blocks[index];
  const item = key === undefined || key === null ? undefined : draft.view.items.get(key);
  if (item?.type === "text" || item?.type === "thinking") {
    const grown = { ...item, text: item.text + (live.broken ? " … " : "") + piece };
    draft.put(thread, grown);
    if (live.broken) {
      setLive(draft, thread, { ...live, broken: false });
    }
    return;
  }
  const begun = keyIn(live, thread, index);
  const base = { key: begun, at, text: `… ${piece}`, streaming: true };
  draft.put(thread, isText ? { type: "text", cut: false, ...base } : { type: "thinking", ...base });
  const blocks = [...live.blocks];
  blocks[index] = begun;
  setLive(draft, thread, { ...live, blocks, broken: false });
}

function setLive(draft: Draft, thread: string, live: Live): void {
  draft.own("live").set(thread, live);
}

function unknown(): Live {
  return { message: UNKNOWN, blocks: [], complete: 0, broken: false };
}

/** Responses without a name are told apart by their threads. */
function keyIn(live: Live, thread: string, index: number): string {
  return blockKey(live.message === UNKNOWN ? `${UNKNOWN}:${thread}` : live.message, index);
}

function blockKey(message: string, index: number): string {
  return `block:${message}:${index}`;
}
