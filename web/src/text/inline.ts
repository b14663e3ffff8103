// Markdown within a line, as a tree. Markup is never passed on: what is not understood stays text.

export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "strong" | "emphasis" | "deleted"; children: Inline[] }
  | { type: "link"; href: string; children: Inline[] }
  | { type: "break" };

/** Longer texts are shown as they are: nobody writes such a paragraph by hand. */
const LONGEST = 20_000;
const DEEPEST = 8;

export function parseInline(text: string): Inline[] {
  return text.length > LONGEST ? [{ type: "text", text }] : parse(text, 0);
}

/** The address if it may be opened from here: only the web and mail, never scripts or files. */
export function safeHref(address: string): string | null {
  const trimmed = address.trim();
  return /^(https?:\/\/|mailto:)[^\s]+$/i.test(trimmed) ? trimmed : null;
}

function parse(text: string, depth: number): Inline[] {
  const out: Inline[] = [];
  let plain = "";
  let at = 0;
  const flush = (): void => {
    if (plain !== "") {
      out.push({ type: "text", text: plain });
      plain = "";
    }
  };
  while (at < text.length) {
    const found = depth < DEEPEST ? special(text, at, depth) : null;
    if (found === null) {
      plain += text[at];
      at += 1;
    } else {
      if (typeof found.node === "string") {
        plain += found.node;
      } else {
        flush();
        out.push(found.node);
      }
      at = found.end;
    }
  }
  flush();
  return out;
}

interface Found {
  node: Inline | string;
  end: number;
}

function special(text: string, at: number, depth: number): Found | null {
  switch (text[at]) {
    case "\\":
      return escaped(text, at);
    case "`":
      return code(text, at);
    case "*":
    case "_":
    case "~":
      return emphasis(text, at, depth);
    case "!":
      return text[at + 1] === "[" ? link(text, at + 1, depth) : null;
    case "[":
      return link(text, at, depth);
    case "<":
      return autolink(text, at);
    case "h":
      return bareLink(text, at);
    case "\n":
      return { node: { type: "break" }, end: at + 1 };
    default:
      return null;
  }
}

function escaped(text: string, at: number): Found | null {
  const next = text[at + 1];
  return next !== undefined && /[!-/:-@[-`{-~]/.test(next) ? { node: next, end: at + 2 } : null;
}

function code(text: string, at: number): Found | null {
  const fence = /^`+/.exec(text.slice(at, at + 16))?.[0] ?? "`";
  let from = at + fence.length;
  for (;;) {
    const close = text.indexOf(fence, from);
    if (close < 0) {
      return { node: fence, end: at + fence.length };
    }
    const run = /^`+/.exec(text.slice(close, close + 32))?.[0].length ?? 0;
    if (run === fence.length) {
      const inner = text.slice(at + fence.length, close).replaceAll("\n", " ");
      const trimmed = /^ .*[^ ].* $/.test(inner) ? inner.slice(1, -1) : inner;
      return { node: { type: "code", text: trimmed }, end: close + run };
    }
    from = close + run;
  }
}

const KINDS: Record<string, "strong" | "emphasis" | "deleted"> = {
  "**": "strong",
  __: "strong",
  "~~": "deleted",
  "*": "emphasis",
  _: "emphasis",
};

function emphasis(text: string, at: number, depth: number): Found | null {
  const mark = text[at] as string;
  for (const delimiter of mark === "~" ? ["~~"] : [mark + mark, mark]) {
    const kind = KINDS[delimiter];
    if (kind === undefined || !text.startsWith(delimiter, at) || !opens(text, at, delimiter)) {
      continue;
    }
    const close = closing(text, at + delimiter.length, delimiter);
    if (close > at + delimiter.length) {
      const children = parse(text.slice(at + delimiter.length, close), depth + 1);
      return { node: { type: kind, children }, end: close + delimiter.length };
    }
  }
  return null;
}

function opens(text: string, at: number, delimiter: string): boolean {
  const after = text[at + delimiter.length];
  const inWord = delimiter.startsWith("_") && /[\p{L}\p{N}]/u.test(text[at - 1] ?? "");
  return after !== undefined && !/\s/.test(after) && !inWord;
}

function closing(text: string, from: number, delimiter: string): number {
  for (let at = text.indexOf(delimiter, from); at >= 0; at = text.indexOf(delimiter, at + 1)) {
    const before = text[at - 1] ?? " ";
    const after = text[at + delimiter.length] ?? "";
    const inWord = delimiter.startsWith("_") && /[\p{L}\p{N}]/u.test(after);
    const isLonger = delimiter.length === 1 && (after === delimiter || before === delimiter);
    if (!/\s/.test(before) && before !== "\\" && !inWord && !isLonger) {
      return at;
    }
  }
  return -1;
}

function link(text: string, at: number, depth: number): Found | null {
  const close = matching(text, at);
  if (close < 0 || text[close + 1] !== "(") {
    return null;
  }
  const end = text.indexOf(")", close + 2);
  if (end < 0) {
    return null;
  }
  const label = text.slice(at + 1, close);
  const address = (text.slice(close + 2, end).trim().split(/\s+/)[0] ?? "").replace(/^<|>$/g, "");
  const href = safeHref(address);
  const start = text[at - 1] === "!" ? "picture: " : "";
  if (href === null) {
    // Addresses that cannot be opened are shown, so that nothing hides behind a label.
    return { node: `${start}${label} (${address})`, end: end + 1 };
  }
  const children = parse(label === "" ? href : `${start}${label}`, depth + 1);
  return { node: { type: "link", href, children }, end: end + 1 };
}

function matching(text: string, at: number): number {
  let open = 0;
  for (let index = at; index < text.length && index < at + 1000; index += 1) {
    if (text[index] === "\\") {
      index += 1;
    } else if (text[index] === "[") {
      open += 1;
    } else if (text[index] === "]") {
      open -= 1;
      if (open === 0) {
        return index;
      }
    }
  }
  return -1;
}

function autolink(text: string, at: number): Found | null {
  const close = text.indexOf(">", at);
  const address = close < 0 || close > at + 2000 ? "" : text.slice(at + 1, close);
  const href = safeHref(address);
  return href === null ? null : { node: linkTo(href), end: close + 1 };
}

function bareLink(text: string, at: number): Found | null {
  const before = text[at - 1] ?? " ";
  if (!/[\s(*_]/.test(before) || !/^https?:\/\//.test(text.slice(at, at + 8))) {
    return null;
  }
  const raw = /^[^\s<>"'`]+/.exec(text.slice(at, at + 2000))?.[0] ?? "";
  const href = safeHref(raw.replace(/[.,;:!?)\]*_]+$/, ""));
  return href === null ? null : { node: linkTo(href), end: at + href.length };
}

function linkTo(href: string): Inline {
  return { type: "link", href, children: [{ type: "text", text: href }] };
}
