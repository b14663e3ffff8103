// Prompts that wait for their turn, and what ends their waiting.

import type { Draft } from "./draft";
import type { Item, View } from "./view";
import { MAIN } from "./view";

/** Notes the place of a prompt; zero means that the run has begun with it. */
export function takePosition(draft: Draft, at: string, message: string, position: number): void {
  const key = `prompt:${message}`;
  const item = draft.view.items.get(key);
  if (item?.type !== "prompt") {
    return;
  }
  if (item.position > 0 && position === 0) {
    // What waited goes to the run now, so it belongs after everything that was said before.
    draft.remove(MAIN, key);
    draft.put(MAIN, { ...item, at, position });
    return;
  }
  draft.patch(key, "prompt", (prompt) => ({ ...prompt, position }));
}

/** The prompts that wait for their turn, in order. */
export function queue(view: View): Extract<Item, { type: "prompt" }>[] {
  const waiting: Extract<Item, { type: "prompt" }>[] = [];
  for (const key of view.threads.get(MAIN) ?? []) {
    const item = view.items.get(key);
    if (item?.type === "prompt" && item.position > 0) {
      waiting.push(item);
    }
  }
  return waiting.sort((one, other) => one.position - other.position);
}
