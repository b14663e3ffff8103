import { describe, expect, test } from "vitest";

import { diffTexts, readPatch } from "../src/text/diff";
import { parseInline, safeHref } from "../src/text/inline";
import { parseMarkdown } from "../src/text/markdown";
import { complete, mentionAt } from "../src/text/mention";
import { plainOutput } from "../src/text/terminal";
import { hasHidden, visible } from "../src/text/visible";
import { headline, partialFields } from "../src/view/headline";
import type { Call } from "../src/view/view";
import { plainLine } from "../src/text/plain";
import { retryDelay } from "../src/host/socket";

describe("Markdown", () => {
  test("never makes markup out of HTML", () => {
    expect(parseMarkdown("<img src=x onerror=alert(1)>")).toEqual([
      { type: "paragraph", children: [{ type: "text", text: "<img src=x onerror=alert(1)>" }] },
    ]);
  });

  test("opens only addresses of the web and of mail", () => {
    expect(safeHref("https://example.com/a")).toBe("https://example.com/a");
    for (const address of ["javascript:alert(1)", " JaVaScRiPt:alert(1)", "data:text/html,x", "file:///etc/passwd", "//example.com", "https://a b"]) {
      expect(safeHref(address), address).toBeNull();
    }
    expect(parseInline("[click](javascript:alert)")).toEqual([{ type: "text", text: "click (javascript:alert)" }]);
  });

  test("loads no pictures from elsewhere", () => {
    expect(parseInline("![secret](https://example.com/x.png)")).toEqual([
      { type: "link", href: "https://example.com/x.png", children: [{ type: "text", text: "picture: secret" }] },
    ]);
  });

  test("knows code, lists, tables, quotes and headings", () => {
    const kinds = parseMarkdown(
      "# Title\n\nText with `code` and **bold**.\n\n```rust\nfn main() {}\n```\n\n- one\n  - nested\n- [x] done\n\n> quoted\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n---\n3. three",
    );
    expect(kinds.map((block) => block.type)).toEqual(["heading", "paragraph", "code", "list", "quote", "table", "rule", "list"]);
    expect(kinds[2]).toEqual({ type: "code", language: "rust", text: "fn main() {}" });
    const list = kinds[3];
    expect(list?.type === "list" && list.items.map((item) => [item.checked, item.blocks.map((block) => block.type)])).toEqual([
      [null, ["paragraph", "list"]],
      [true, ["paragraph"]],
    ]);
    expect(kinds[7]).toMatchObject({ ordered: true, start: 3 });
  });

  test("shows code that is still being written", () => {
    expect(parseMarkdown("```\nhalf")).toEqual([{ type: "code", language: "", text: "half" }]);
  });

  test("leaves names with underscores alone", () => {
    expect(parseInline("snake_case_name and 2*3*4")).toEqual([
      { type: "text", text: "snake_case_name and 2" },
      { type: "emphasis", children: [{ type: "text", text: "3" }] },
      { type: "text", text: "4" },
    ]);
  });

  test("is quick on hostile text", () => {
    const began = performance.now();
    parseMarkdown("*_[`".repeat(4000));
    parseMarkdown("> ".repeat(3000));
    parseMarkdown("- ".repeat(3000));
    parseMarkdown("|".repeat(3000) + "\n" + "|-".repeat(3000));
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

describe("differences", () => {
  test("show what changed with what stands around", () => {
    const before = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
    const [hunk, ...rest] = diffTexts(before, before.replace("line 10", "line ten"));
    expect(rest).toEqual([]);
    expect(hunk?.lines.map((line) => line.sign + line.text)).toEqual([
      " line 7",
      " line 8",
      " line 9",
      "-line 10",
      "+line ten",
      " line 11",
      " line 12",
      " line 13",
    ]);
    expect(hunk?.lines[3]).toMatchObject({ old: 11, new: null });
    expect(hunk?.lines[4]).toMatchObject({ old: null, new: 11 });
  });

  test("keep far changes apart and near ones together", () => {
    const before = Array.from({ length: 40 }, (_, line) => `${line}`).join("\n");
    const after = before.replace("\n5\n", "\nfive\n").replace("\n8\n", "\neight\n").replace("\n30\n", "\nthirty\n");
    expect(diffTexts(before, after).map((hunk) => hunk.lines.filter((line) => line.sign === "+").map((line) => line.text))).toEqual([
      ["five", "eight"],
      ["thirty"],
    ]);
  });

  test("of a new file are all additions, of equal texts none", () => {
    expect(diffTexts("", "a\nb\n")[0]?.lines.map((line) => line.sign + line.text)).toEqual(["+a", "+b"]);
    expect(diffTexts("same\n", "same\n")).toEqual([]);
  });

  test("are read from the patch of a tool", () => {
    const patch = [{ oldStart: 4, oldLines: 2, newStart: 4, newLines: 2, lines: [" a", "-b", "+c", "\\ No newline at end of file"] }];
    expect(readPatch({ structuredPatch: patch })?.[0]?.lines).toEqual([
      { sign: " ", text: "a", old: 4, new: 4 },
      { sign: "-", text: "b", old: 5, new: null },
      { sign: "+", text: "c", old: null, new: 5 },
    ]);
    expect(readPatch("Error: no such file")).toBeNull();
    expect(readPatch({ structuredPatch: [{ lines: 3 }] })).toBeNull();
  });
});

describe("hidden characters", () => {
  test("become visible", () => {
    expect(visible("rm \u202Egpj.x\u200B\u0007\t\n")).toBe("rm \\u{202e}gpj.x\\u{200b}\\u{7}\t\n");
    expect(visible("a\u{E0041}b\r")).toBe("a\\u{e0041}b\\u{d}");
    expect(hasHidden("plain ünïcödé 漢字")).toBe(false);
    expect(hasHidden("a\u2066b")).toBe(true);
  });

  test("of terminals are taken out", () => {
    expect(plainOutput("\u001B[31mred\u001B[0m\r\n50%\r100%\n\u001B]0;title\u0007x")).toBe("red\n100%\nx");
  });
});

describe("completion", () => {
  test("knows what is being written at the caret", () => {
    expect(mentionAt("/he", 3)).toEqual({ kind: "command", query: "he", start: 0, end: 3 });
    expect(mentionAt("see @src/ma now", 11)).toEqual({ kind: "mention", query: "src/ma", start: 4, end: 11 });
    expect(mentionAt("a/b", 3)).toBeNull();
    expect(mentionAt("mail a@b", 8)).toBeNull();
    expect(mentionAt("/help me", 8)).toBeNull();
  });

  test("puts the whole word in its place", () => {
    const text = "see @src/ma now";
    const mention = mentionAt(text, 11);
    expect(mention && complete(text, mention, "src/main.rs")).toEqual({ text: "see @src/main.rs now", caret: 17 });
    const command = mentionAt("/he", 3);
    expect(command && complete("/he", command, "help")).toEqual({ text: "/help ", caret: 6 });
  });
});

test("fields of a call are readable while it is written", () => {
  expect(partialFields('{"file_path": "/a/b.txt", "content": "line\\nnext')).toEqual({ file_path: "/a/b.txt", content: "line\nnext" });
});

test("a watch is headed by what it is for and what runs", () => {
  const watch = (input: unknown): string => headline({ name: "Monitor", input, partial: "" } as Call);
  expect(watch({ command: "tail -f app.log", description: "new errors" })).toBe("new errors: tail -f app.log");
  expect(watch({ description: "the build", task_id: "b1", timeout_ms: 5 })).toBe("the build: b1");
});

test("tries to connect again soon at first, never too seldom", () => {
  expect(retryDelay(0, 1)).toBe(400);
  expect(retryDelay(3, 1)).toBe(3200);
  expect(retryDelay(50, 1)).toBe(15000);
  expect(retryDelay(2, 0)).toBe(800);
});

test("a line of Markdown is read without its marks", () => {
  expect(plainLine("## About boats It has *two* sides: - one `x`")).toBe("About boats It has two sides: one x");
  expect(plainLine("snake_case #1 and a > b")).toBe("snake_case #1 and a b");
  expect(plainLine("")).toBe("");
});
