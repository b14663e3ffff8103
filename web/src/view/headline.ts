// One line about a call: what it does, to what.

import { visible } from "../text/visible";
import type { Call } from "./view";

/** The fields that say most about a call, by tool; others show their first text. */
const TELLING: Record<string, string[]> = {
  Bash: ["command"],
  Read: ["file_path"],
  Write: ["file_path"],
  Edit: ["file_path"],
  MultiEdit: ["file_path"],
  NotebookEdit: ["notebook_path"],
  Glob: ["pattern", "path"],
  Grep: ["pattern", "path"],
  WebFetch: ["url"],
  WebSearch: ["query"],
  Agent: ["description"],
  Task: ["description"],
  Skill: ["skill"],
  TaskOutput: ["task_id"],
  TaskStop: ["task_id"],
  SendMessage: ["to", "message"],
  Monitor: ["description", "command", "task_id"],
};

const LONGEST = 140;

export function headline(call: Call): string {
  const fields = fieldsOf(call);
  if (call.name === "ExitPlanMode" || call.name === "AskUserQuestion") {
    // Their cards say it in full.
    return "";
  }
  const telling = TELLING[call.name] ?? Object.keys(fields);
  const parts = telling.flatMap((name) => (typeof fields[name] === "string" ? [fields[name] as string] : []));
  const between = call.name === "Monitor" ? ": " : " in ";
  const text = TELLING[call.name] === undefined ? (parts[0] ?? "") : parts.join(between);
  const line = visible(text.trim().split("\n")[0] ?? "");
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** Tools whose own names say little to people who did not write them. */
const NAMES: Record<string, string> = {
  AskUserQuestion: "Question",
  EnterPlanMode: "Planning",
  ExitPlanMode: "Plan",
  TodoWrite: "Steps",
};

/** The name of a tool as people read it: `mcp__server__tool` is "server: tool". */
export function toolName(name: string): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined ? (NAMES[name] ?? name) : `${server}: ${tool}`;
}

function fieldsOf(call: Call): Record<string, unknown> {
  if (typeof call.input === "object" && call.input !== null) {
    return call.input as Record<string, unknown>;
  }
  return partialFields(call.partial);
}

/** Text fields that are complete, or at least begun, in JSON that is still being written. */
export function partialFields(json: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [, name, raw] of json.matchAll(/"([a-zA-Z_]+)"\s*:\s*"((?:[^"\\]|\\.)*)/g)) {
    if (name !== undefined && raw !== undefined && !(name in fields)) {
      fields[name] = unescape(raw);
    }
  }
  return fields;
}

function unescape(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}
