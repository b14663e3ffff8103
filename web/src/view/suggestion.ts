// What "always allow" would change, and for how long, in words.

import type { Suggestion } from "../host/contract";

const SCOPES: Record<string, string> = {
  session: "until this conversation's session ends",
  cliArg: "until this conversation's session ends",
  localSettings: "in this directory, for you (kept in .claude/settings.local.json)",
  projectSettings: "in this directory, for everybody (kept in .claude/settings.json)",
  userSettings: "everywhere, for you (kept in your own settings)",
};

interface Update {
  type?: string;
  destination?: string;
  behavior?: string;
  mode?: string;
  rules?: { toolName?: string; ruleContent?: string }[];
  directories?: string[];
}

/** Where and for how long a suggestion holds. */
export function scopeOf(suggestion: Suggestion): string {
  const update = (suggestion.update ?? {}) as Update;
  return SCOPES[update.destination ?? "session"] ?? `in ${String(update.destination)}`;
}

/** The rules a suggestion adds, exactly as they are stored. */
export function rulesOf(suggestion: Suggestion): string[] {
  const update = (suggestion.update ?? {}) as Update;
  if (update.type === "setMode" && update.mode !== undefined) {
    return [`mode: ${update.mode}`];
  }
  if (Array.isArray(update.directories)) {
    return update.directories.map((directory) => `directory: ${directory}`);
  }
  return (update.rules ?? []).map((rule) =>
    rule.ruleContent === undefined ? `${rule.toolName}` : `${rule.toolName}(${rule.ruleContent})`,
  );
}
