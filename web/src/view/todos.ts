// The list of steps that the agent keeps.

import type { Todo } from "./view";

/** Reads a list as the tool is given it; undefined when it is none. */
export function readTodos(input: unknown): Todo[] | undefined {
  const entries = (input as { todos?: unknown } | null | undefined)?.todos;
  if (!Array.isArray(entries)) {
    return undefined;
  }
  return entries.flatMap((entry: { content?: unknown; activeForm?: unknown; status?: unknown } | null) => {
    if (typeof entry?.content !== "string") {
      return [];
    }
    const status = entry.status === "completed" || entry.status === "in_progress" ? entry.status : "pending";
    const active = typeof entry.activeForm === "string" ? entry.activeForm : entry.content;
    return [{ content: entry.content, active, status }];
  });
}
