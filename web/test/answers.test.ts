import { describe, expect, test } from "vitest";

import { readAudit } from "../src/view/audit";
import { fieldsOf, readFields } from "../src/view/input";
import { labelled } from "../src/view/models";
import { answersOf, readQuestions } from "../src/view/questions";
import { rulesOf, scopeOf } from "../src/view/suggestion";

describe("an input", () => {
  test("that is not changed comes back as it was", () => {
    const inputs = [
      { command: "ls\n-la", timeout: 5, flag: false, nested: { a: [1, "x"] }, nothing: null },
      { "": "an empty name" },
      {},
      [1, 2],
      "text",
      null,
    ];
    for (const input of inputs) {
      expect(readFields(fieldsOf(input), input)).toEqual({ input });
    }
  });

  test("keeps texts as texts, whatever they look like", () => {
    const input = { command: "ls", count: 3 };
    const fields = fieldsOf(input).map((field) => ({ ...field, value: field.name === "command" ? '{"a": 1}' : "4" }));
    expect(readFields(fields, input)).toEqual({ input: { command: '{"a": 1}', count: 4 } });
  });

  test("that is no JSON is refused with the name of the field", () => {
    const input = { count: 3 };
    const fields = fieldsOf(input).map((field) => ({ ...field, value: "three" }));
    expect(readFields(fields, input)).toMatch(/field "count" is not valid JSON/);
  });
});

describe("answers", () => {
  const questions = readQuestions({
    questions: [
      { question: "Which?", header: "H", options: [{ label: "a" }, { label: "b", description: "B" }] },
      { question: "Some?", multiSelect: true, options: [] },
    ],
  });

  test("are all needed", () => {
    expect(answersOf(questions, [{ labels: ["a"], other: "" }, { labels: [], other: " " }])).toBeNull();
  });

  test("join what was chosen and what was written", () => {
    const answers = answersOf(questions, [
      { labels: [], other: "mine " },
      { labels: ["x", "y"], other: "z" },
    ]);
    expect(answers).toEqual({ "Which?": "mine", "Some?": "x, y, z" });
  });

  test("to nonsense are none", () => {
    expect(readQuestions(null)).toEqual([]);
    expect(readQuestions({ questions: "?" })).toEqual([]);
  });
});

test("suggestions say how far they reach and what they add", () => {
  const rule = { type: "addRules", rules: [{ toolName: "Bash", ruleContent: "ls:*" }, { toolName: "Read" }], behavior: "allow" };
  expect(scopeOf({ label: "", update: { ...rule, destination: "userSettings" } })).toMatch(/everywhere/);
  expect(scopeOf({ label: "", update: rule })).toMatch(/session ends/);
  expect(rulesOf({ label: "", update: rule })).toEqual(["Bash(ls:*)", "Read"]);
  expect(rulesOf({ label: "", update: { type: "setMode", mode: "acceptEdits" } })).toEqual(["mode: acceptEdits"]);
});

test("models that share a name are told apart", () => {
  const models = [
    { id: "sonnet", name: "Sonnet" },
    { id: "sonnet[1m]", name: "Sonnet" },
    { id: "opus", name: "Opus" },
  ];
  expect(labelled(models).map((model) => model.name)).toEqual(["Sonnet (sonnet)", "Sonnet (sonnet[1m])", "Opus"]);
});

test("the audit is told in words", () => {
  const entry = { at: "", user: "ada", subject: "c1" };
  const hash = "0123456789abcdef".repeat(4);
  expect(readAudit({ ...entry, action: "approval.allow", detail: `a1 Bash sha256:${hash} edited always` })).toEqual({
    what: "approved",
    conversation: "c1",
    about: "Bash with another input from now on (0123456789ab…)",
  });
  expect(readAudit({ ...entry, action: "persona.put", subject: "calm", detail: "from the file /x/calm.md" })).toEqual({
    what: "saved a persona",
    conversation: null,
    about: "calm: from the file /x/calm.md",
  });
  expect(readAudit({ ...entry, action: "something.new", subject: null, detail: { a: 1 } })).toEqual({
    what: "something.new",
    conversation: null,
    about: '{"a":1}',
  });
});
