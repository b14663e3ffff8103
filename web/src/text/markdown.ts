// Markdown as a tree of blocks. HTML in it is text like any other.

import type { Inline } from "./inline";
import { parseInline } from "./inline";

export type Align = "left" | "center" | "right" | null;

export type MarkdownBlock =
  | { type: "heading"; level: number; children: Inline[] }
  | { type: "paragraph"; children: Inline[] }
  | { type: "code"; language: string; text: string }
  | { type: "list"; ordered: boolean; start: number; items: ListItem[] }
  | { type: "quote"; blocks: MarkdownBlock[] }
  | { type: "table"; align: Align[]; head: Inline[][]; rows: Inline[][][] }
  | { type: "rule" };

export interface ListItem {
  /** Null for items that are no tasks. */
  checked: boolean | null;
  blocks: MarkdownBlock[];
}

const DEEPEST = 12;

export function parseMarkdown(text: string): MarkdownBlock[] {
  return parseLines(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

const FENCE = /^( {0,3})(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const BULLET = /^(\s*)([-*+]|\d{1,9}[.)])(\s+|$)(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DIVIDER = /^\s*\|?(\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$/;

function parseLines(lines: string[], depth: number): MarkdownBlock[] {
  const out: MarkdownBlock[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] as string;
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const [block, next] = parseBlock(lines, at, depth);
    out.push(block);
    at = Math.max(next, at + 1);
  }
  return out;
}

function parseBlock(lines: string[], at: number, depth: number): [MarkdownBlock, number] {
  const line = lines[at] as string;
  const fence = FENCE.exec(line);
  if (fence !== null) {
    return codeBlock(lines, at, fence);
  }
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const [, marks = "#", text = ""] = heading;
    return [{ type: "heading", level: marks.length, children: parseInline(text) }, at + 1];
  }
  if (RULE.test(line)) {
    return [{ type: "rule" }, at + 1];
  }
  if (QUOTE.test(line) && depth < DEEPEST) {
    return quoteBlock(lines, at, depth);
  }
  if (BULLET.test(line) && depth < DEEPEST) {
    return listBlock(lines, at, depth);
  }
  if (line.includes("|") && DIVIDER.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
    const columns = cells(line).length;
    if (cells(lines[at + 1] as string).length === columns) {
      return tableBlock(lines, at);
    }
  }
  return paragraph(lines, at);
}

function codeBlock(lines: string[], at: number, fence: RegExpExecArray): [MarkdownBlock, number] {
  const [, indent = "", mark = "```", language = ""] = fence;
  const body: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] as string;
    const closing = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1] ?? "";
    if (closing.length >= mark.length && closing[0] === mark[0]) {
      next += 1;
      break;
    }
    body.push(line.startsWith(indent) ? line.slice(indent.length) : line.trimStart());
  }
  return [{ type: "code", language, text: body.join("\n") }, next];
}

function quoteBlock(lines: string[], at: number, depth: number): [MarkdownBlock, number] {
  const inner: string[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next] as string;
    const quoted = QUOTE.exec(line);
    if (quoted !== null) {
      inner.push(quoted[1] ?? "");
    } else if (line.trim() === "" || startsBlock(line)) {
      break;
    } else {
      inner.push(line);
    }
  }
  return [{ type: "quote", blocks: parseLines(inner, depth + 1) }, next];
}

function listBlock(lines: string[], at: number, depth: number): [MarkdownBlock, number] {
  const first = BULLET.exec(lines[at] as string) as RegExpExecArray;
  const indent = (first[1] ?? "").length;
  const ordered = /\d/.test(first[2] ?? "");
  const items: string[][] = [];
  let next = at;
  let blank = false;
  for (; next < lines.length; next += 1) {
    const line = lines[next] as string;
    if (line.trim() === "") {
      blank = true;
      items.at(-1)?.push("");
      continue;
    }
    const bullet = BULLET.exec(line);
    const inset = (/^\s*/.exec(line)?.[0] ?? "").length;
    if (bullet !== null && inset <= indent + 1 && !RULE.test(line)) {
      if (/\d/.test(bullet[2] ?? "") !== ordered || inset < indent) {
        break;
      }
      items.push([bullet[4] ?? ""]);
    } else if (inset > indent + 1) {
      items.at(-1)?.push(line.slice(Math.min(inset, indent + 2 + (ordered ? 1 : 0))));
    } else if (blank || startsBlock(line)) {
      break;
    } else {
      items.at(-1)?.push(line);
    }
    blank = false;
  }
  const start = ordered ? Number.parseInt(first[2] ?? "1", 10) : 1;
  return [{ type: "list", ordered, start, items: items.map((item) => listItem(item, depth)) }, next];
}

function listItem(lines: string[], depth: number): ListItem {
  const [first = "", ...rest] = lines;
  const box = /^\[([ xX])\]\s+(.*)$/.exec(first);
  const body = box === null ? lines : [box[2] ?? "", ...rest];
  return { checked: box === null ? null : box[1] !== " ", blocks: parseLines(body, depth + 1) };
}

function tableBlock(lines: string[], at: number): [MarkdownBlock, number] {
  const head = cells(lines[at] as string);
  const align = cells(lines[at + 1] as string).map(alignment);
  const rows: Inline[][][] = [];
  let next = at + 2;
  for (; next < lines.length; next += 1) {
    const line = lines[next] as string;
    if (line.trim() === "" || !line.includes("|")) {
      break;
    }
    const row = cells(line).slice(0, head.length);
    while (row.length < head.length) {
      row.push("");
    }
    rows.push(row.map(parseInline));
  }
  return [{ type: "table", align, head: head.map(parseInline), rows }, next];
}

function cells(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function alignment(cell: string): Align {
  const left = cell.startsWith(":");
  const right = cell.endsWith(":");
  return left && right ? "center" : right ? "right" : left ? "left" : null;
}

function paragraph(lines: string[], at: number): [MarkdownBlock, number] {
  const body = [(lines[at] as string).trim()];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] as string;
    if (line.trim() === "" || startsBlock(line)) {
      break;
    }
    body.push(line.trim());
  }
  return [{ type: "paragraph", children: parseInline(body.join("\n")) }, next];
}

function startsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || BULLET.test(line);
}
