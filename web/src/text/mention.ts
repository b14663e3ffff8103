// What a person is in the middle of writing: a command, or the mention of an agent or file.

export interface Mention {
  kind: "command" | "mention";
  /** What is written so far, without its mark. */
  query: string;
  start: number;
  end: number;
}

/** The mention the caret stands in, if there is one. */
export function mentionAt(text: string, caret: number): Mention | null {
  const before = text.slice(0, caret);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command !== null) {
    return { kind: "command", query: command[1] ?? "", start: 0, end: caret };
  }
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (mention !== null) {
    const query = mention[1] ?? "";
    return { kind: "mention", query, start: caret - query.length - 1, end: caret };
  }
  return null;
}

/** The text with the mention replaced, and where the caret goes. */
export function complete(text: string, mention: Mention, value: string): { text: string; caret: number } {
  const mark = mention.kind === "command" ? "/" : "@";
  const word = `${value.startsWith(mark) ? value : mark + value} `;
  const rest = text.slice(mention.end).replace(/^ /, "");
  return { text: text.slice(0, mention.start) + word + rest, caret: mention.start + word.length };
}
