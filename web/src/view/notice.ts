// Sentences of the engine and the host among what was said.

import type { Draft } from "./draft";
import type { Level } from "./view";
import { MAIN } from "./view";

export function notice(
  draft: Draft,
  at: string,
  id: string,
  level: Level,
  text: string,
  detail: string | null = null,
): void {
  draft.put(MAIN, { type: "notice", key: `notice:${id}`, at, level, text, detail });
}
