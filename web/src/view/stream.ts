// Responses while they are being written.

import type { Delta, StreamEventFrame } from "../protocol";
import type { Draft } from "./draft";
import type { Live } from "./view";
import { MAIN } from "./view";

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
      growBlock(draft, thread, event.index, event.delta);
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
  if (live !== undefined && live.message === message) {
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
  const live = draft.view.live.get(thread);
  if (live === undefined || live.broken || typeof block !== "object" || block === null) {
    return;
  }
  const head = block as { type?: string; id?: string; name?: string; text?: string; thinking?: string };
  const key = blockKey(live.message, index);
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
  setLive(draft, thread, { ...live, blocks });
}

function growBlock(draft: Draft, thread: string, index: number, delta: Delta): void {
  const live = draft.view.live.get(thread);
  const key = live?.blocks[index];
  if (live === undefined || live.broken || key === undefined || key === null || index < live.complete) {
    return;
  }
  switch (delta.type) {
    case "text_delta":
      draft.patch(key, "text", (item) => ({ ...item, text: item.text + delta.text }));
      return;
    case "thinking_delta":
      draft.patch(key, "thinking", (item) => ({ ...item, text: item.text + delta.thinking }));
      return;
    case "input_json_delta": {
      const id = key.slice("call:".length);
      const call = draft.view.calls.get(id);
      if (call !== undefined && call.input === undefined) {
        draft.own("calls").set(id, { ...call, partial: call.partial + delta.partial_json });
      }
      return;
    }
    default:
      return;
  }
}

function setLive(draft: Draft, thread: string, live: Live): void {
  draft.own("live").set(thread, live);
}

function blockKey(message: string, index: number): string {
  return `block:${message}:${index}`;
}
