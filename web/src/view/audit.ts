// What the audit says, for people.

import type { AuditEntry } from "../host/contract";
import { toolName } from "./headline";

export interface AuditLine {
  what: string;
  /** The conversation that it happened in. */
  conversation: string | null;
  about: string;
}

const WORDS: Record<string, string> = {
  "approval.allow": "approved",
  "approval.deny": "denied",
  "approval.cancel": "put aside",
  "approval.expire": "expired without an answer",
  "approvals.policy": "changed how long questions wait",
  "conversation.create": "began a conversation",
  "conversation.delete": "deleted a conversation",
  "conversation.interrupt": "stopped a run",
  "conversation.rewind": "rewound",
};
const HASH_LETTERS = 12;

/** An entry with words for its action, the conversation it belongs to, and the rest of it. */
export function readAudit(entry: AuditEntry): AuditLine {
  const detail = entry.detail === null || entry.detail === undefined ? "" : typeof entry.detail === "string" ? entry.detail : JSON.stringify(entry.detail);
  const subject = entry.subject ?? "";
  const [kind = "", verb = ""] = entry.action.split(".");
  const documents = { put: `saved a ${kind}`, delete: `deleted a ${kind}` }[verb];
  const inConversation = kind === "approval" || kind === "conversation";
  const what = WORDS[entry.action] ?? documents ?? entry.action;
  const about = kind === "approval" ? callOf(detail) : detail;
  return inConversation
    ? { what, conversation: subject === "" ? null : subject, about }
    : { what, conversation: null, about: [subject, about].filter((part) => part !== "").join(": ") };
}

/** `ID TOOL sha256:HASH edited always` as the tool, the beginning of the hash, and how it was changed. */
function callOf(detail: string): string {
  const [, tool, hash, changes] = /^\S+ (\S+) sha256:([0-9a-f]+)(.*)$/.exec(detail) ?? [];
  if (tool === undefined || hash === undefined) {
    return "";
  }
  const changed = (changes ?? "").trim().split(" ").filter((word) => word !== "");
  const said = changed.map((word) => ({ edited: "with another input", always: "from now on" })[word] ?? word);
  return [toolName(tool), ...said, `(${hash.slice(0, HASH_LETTERS)}…)`].join(" ");
}
