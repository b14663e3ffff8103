// What a file tool changes, from its result when there is one, otherwise from its input.

import type { Hunk } from "../text/diff";
import { diffTexts, readPatch } from "../text/diff";
import { Diff } from "./Diff";

const FILE_TOOLS = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

interface CallDiffProps {
  name: string;
  input: unknown;
  result: unknown;
}

export function CallDiff({ name, input, result }: CallDiffProps) {
  if (!FILE_TOOLS.has(name)) {
    return null;
  }
  const hunks = readPatch(result) ?? hunksOf(name, input);
  return hunks === null ? null : <Diff hunks={hunks} path={pathOf(input)} />;
}

export function hasDiff(name: string): boolean {
  return FILE_TOOLS.has(name);
}

function pathOf(input: unknown): string {
  const fields = input as { file_path?: unknown; notebook_path?: unknown } | null | undefined;
  const path = fields?.file_path ?? fields?.notebook_path;
  return typeof path === "string" ? path : "";
}

function hunksOf(name: string, input: unknown): Hunk[] | null {
  const fields = (input ?? {}) as Record<string, unknown>;
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  switch (name) {
    case "Write":
      return typeof fields["content"] === "string" ? diffTexts("", fields["content"]) : null;
    case "Edit":
      return diffTexts(text(fields["old_string"]), text(fields["new_string"]));
    case "MultiEdit": {
      const edits = Array.isArray(fields["edits"]) ? (fields["edits"] as Record<string, unknown>[]) : [];
      return edits.flatMap((edit) => diffTexts(text(edit["old_string"]), text(edit["new_string"])));
    }
    case "NotebookEdit":
      return diffTexts("", text(fields["new_source"]));
    default:
      return null;
  }
}
