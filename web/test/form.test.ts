import { describe, expect, test } from "vitest";

import type { FieldKind, FormField } from "../src/host/contract";
import { limitsOf, localTime, readAddress, readForm, startOf } from "../src/view/form";
import { applyApproval, applyEvents } from "../src/view/reduce";
import { pendingApprovals } from "../src/view/select";
import { MAIN, emptyView } from "../src/view/view";
import { approval, numbered, run, user } from "./events";

function field(kind: FieldKind, more: Partial<FormField> = {}): FormField {
  return { name: "it", label: "It", required: false, kind, ...more };
}

const choices = [
  { value: "a", label: "A" },
  { value: "b", label: "B" },
];

describe("a form", () => {
  test("begins with the values of the server", () => {
    expect(startOf(field({ type: "flag" }, { default: true }))).toBe(true);
    expect(startOf(field({ type: "number", whole: true }, { default: 3 }))).toBe("3");
    expect(startOf(field({ type: "choices", choices }, { default: ["b"] }))).toEqual(["b"]);
    expect(startOf(field({ type: "choice", choices }))).toBe("");
    const moment = field({ type: "text", format: "date-time" }, { default: "2026-11-15T12:00:00Z" });
    expect(startOf(moment)).toBe(localTime("2026-11-15T12:00:00Z"));
    expect(startOf(moment)).toMatch(/^2026-11-1\dT\d\d:00$/);
  });

  test("turns what was typed into values of the right kind", () => {
    const read = (kind: FieldKind, typed: never): unknown => readForm([field(kind)], { it: typed });
    expect(read({ type: "number", whole: false }, "1,5" as never)).toEqual({ answers: { it: 1.5 } });
    expect(read({ type: "number", whole: true }, "1.5" as never)).toEqual({ errors: { it: "This is to be a whole number." } });
    expect(read({ type: "number", whole: true }, "one" as never)).toEqual({ errors: { it: "This is to be a number." } });
    expect(read({ type: "flag" }, false as never)).toEqual({ answers: { it: false } });
    expect(read({ type: "choices", choices }, ["a", "b"] as never)).toEqual({ answers: { it: ["a", "b"] } });
    expect(read({ type: "text", format: "date-time" }, localTime("2026-11-15T12:00:00Z") as never)).toEqual({
      answers: { it: "2026-11-15T12:00:00.000Z" },
    });
    expect(read({ type: "text" }, " kept " as never)).toEqual({ answers: { it: " kept " } });
  });

  test("leaves out what is empty, unless it is needed", () => {
    expect(readForm([field({ type: "text" })], { it: "" })).toEqual({ answers: {} });
    expect(readForm([field({ type: "choices", choices })], { it: [] })).toEqual({ answers: {} });
    expect(readForm([field({ type: "choices", choices }, { default: ["a"] })], { it: [] })).toEqual({ answers: { it: [] } });
    expect(readForm([field({ type: "choice", choices }, { required: true })], {})).toEqual({ errors: { it: "This is needed." } });
  });

  test("says its limits", () => {
    expect(limitsOf(field({ type: "number", whole: true, minimum: 1, maximum: 9 }))).toBe("1 to 9");
    expect(limitsOf(field({ type: "text", min_length: 2 }))).toBe("at least 2 characters");
    expect(limitsOf(field({ type: "choices", choices, max_items: 1 }))).toBe("at most 1 of them");
    expect(limitsOf(field({ type: "flag" }))).toBe("");
  });
});

describe("an address", () => {
  test("shows the host that the browser would ask", () => {
    expect(readAddress("https://pay.example/x?a=1#b")).toEqual({
      whole: "https://pay.example/x?a=1#b",
      before: "https://",
      host: "pay.example",
      after: "/x?a=1#b",
      warnings: [],
    });
    const trap = readAddress("https://bank.example@evil.example:8443/pay.example");
    expect(trap).toMatchObject({ before: "https://bank.example@", host: "evil.example:8443", after: "/pay.example" });
    expect(trap?.warnings.join()).toContain("evil.example:8443");
    const both = readAddress("https://evil.example:x@evil.example/");
    expect(both).toMatchObject({ before: "https://evil.example:x@", host: "evil.example", after: "/" });
  });

  test("warns of what is easily overlooked", () => {
    expect(readAddress("http://pay.example/")?.warnings.join()).toContain("not encrypted");
    expect(readAddress("http://127.0.0.1:9/")?.warnings).toEqual([]);
    expect(readAddress("https://pаypal.example/")?.warnings.join()).toContain("look like others");
  });

  test("that is none of the web is none", () => {
    for (const text of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "pay.example", ""]) {
      expect(readAddress(text)).toBeNull();
    }
  });
});

test("a question of a server stands in the thread and stays where it is when it is answered", () => {
  const asked = approval("e1", "", "pending", { kind: "elicitation", elicitation: { server: "shop", message: "?", fields: [] } });
  const view = applyEvents(emptyView(), numbered([user("1", "hi"), run("running"), { kind: "approval", approval: asked }, user("2", "more")]));
  expect(view.threads.get(MAIN)).toEqual(["prompt:1", "elicitation:e1", "prompt:2"]);
  expect(view.calls.size).toBe(0);
  expect(pendingApprovals(view)).toHaveLength(1);
  const done = applyApproval(view, { ...asked, state: "cancelled" });
  expect(done.threads.get(MAIN)).toEqual(["prompt:1", "elicitation:e1", "prompt:2"]);
  expect(done.approvals.get("e1")?.state).toBe("cancelled");
  expect(pendingApprovals(done)).toHaveLength(0);
});
