// Who may do what: the callback, rules, tools and directories.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, contains, equal, lacks, say, scenario, shell, use } from "../stage.mjs";

/** A callback that answers always the same, and the list of what it was asked. */
function asked(answer) {
  const log = [];
  const canUseTool = async (name, input, options) => {
    log.push({ name, input, options });
    return typeof answer === "function" ? answer(input) : answer;
  };
  return { canUseTool, log };
}

scenario("can_use_tool_allow", async (stage) => {
  const model = await stage.model(shell("echo granted > made.txt; cat made.txt"), say("done"));
  const { canUseTool, log } = asked((input) => ({ behavior: "allow", updatedInput: input }));
  (await stage.ask("make it", { canUseTool })).succeeded();
  equal(log.map(({ name, input }) => [name, input.command]), [["Bash", "echo granted > made.txt; cat made.txt"]], "questions");
  assert(log[0].options.toolUseID && log[0].options.signal, "options of the question");
  contains((await model.finish()).last.results[0], "granted", "tool result");
});

scenario("can_use_tool_allow_unchanged", async (stage) => {
  // An answer without updatedInput means the input as it was.
  await stage.model(shell("touch made"), say("done"));
  const { canUseTool } = asked({ behavior: "allow" });
  (await stage.ask("make it", { canUseTool })).succeeded();
  assert(stage.exists("made"), "the call did not run");
});

scenario("can_use_tool_updated_input", async (stage) => {
  await stage.model(shell("touch original"), say("done"));
  const { canUseTool } = asked((input) => ({ behavior: "allow", updatedInput: { ...input, command: "touch replaced" } }));
  (await stage.ask("make it", { canUseTool })).succeeded();
  assert(stage.exists("replaced") && !stage.exists("original"), "the updated input runs");
});

scenario("can_use_tool_suggestions", async (stage) => {
  // Answering with the suggestions of the question spares the next one.
  const file_path = stage.path("made.txt");
  await stage.model(use("Write", { file_path, content: "one" }), use("Write", { file_path, content: "two" }), say("done"));
  const log = [];
  const canUseTool = async (name, input, { suggestions }) => {
    log.push(suggestions);
    return { behavior: "allow", updatedInput: input, updatedPermissions: suggestions };
  };
  (await stage.ask("write", { canUseTool })).succeeded();
  equal(stage.read("made.txt"), "two", "file");
  assert(log[0]?.length > 0, "the question came without suggestions");
  equal(log.length, 1, "questions");
});

scenario("can_use_tool_deny", async (stage) => {
  const model = await stage.model(shell("touch made"), say("understood"));
  const { canUseTool } = asked({ behavior: "deny", message: "not on a Sunday" });
  const run = (await stage.ask("make it", { canUseTool })).succeeded();
  assert(!stage.exists("made"), "a denied command ran");
  contains((await model.finish()).last.results[0], "not on a Sunday", "tool result");
  equal(run.result.permission_denials.map((denial) => denial.tool_input.command), ["touch made"], "denials");
});

scenario("can_use_tool_deny_and_interrupt", async (stage) => {
  const model = await stage.model(shell("touch made"), say("and now?"));
  const { canUseTool } = asked({ behavior: "deny", message: "stop everything", interrupt: true });
  const talk = stage.converse({ canUseTool });
  const run = await talk.turn("make it");
  equal([run.result.subtype, run.result.is_error], ["error_during_execution", true], "result");
  (await talk.turn("next")).succeeded();
  await talk.end();
  assert(!stage.exists("made"), "a denied command ran");
  equal((await model.finish()).requests.length, 2, "requests");
});

scenario("question_is_withdrawn", async (stage) => {
  // An interrupt while the host thinks about a question withdraws the question.
  await stage.model(shell("touch made"), say("fine"));
  let withdrawn = false;
  let waiting;
  const isAsked = new Promise((resolve) => (waiting = resolve));
  const talk = stage.converse({
    canUseTool: (name, input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          withdrawn = true;
          resolve({ behavior: "allow", updatedInput: input });
        });
        waiting();
      }),
  });
  talk.say("make it");
  const result = talk.until((message) => message.type === "result");
  await isAsked;
  await talk.query.interrupt();
  equal((await result).result.subtype, "error_during_execution", "result");
  (await talk.turn("go on")).succeeded();
  await talk.end();
  assert(withdrawn, "the host was not told");
  assert(!stage.exists("made"), "a late answer has no effect");
});

scenario("ask_user_question", async (stage) => {
  const options = [{ label: "Teal", description: "calm" }, { label: "Red", description: "loud" }];
  const question = { question: "Which colour?", header: "Colour", multiSelect: false, options };
  const model = await stage.model(use("AskUserQuestion", { questions: [question] }), say("teal it is"));
  const { canUseTool, log } = asked((input) => ({ behavior: "allow", updatedInput: { ...input, answers: { "Which colour?": "Teal" } } }));
  (await stage.ask("paint", { canUseTool })).succeeded();
  equal(log.map(({ name }) => name), ["AskUserQuestion"], "questions");
  contains((await model.finish()).last.results[0], "Teal", "answer");
});

scenario("allow_and_deny_rules", async (stage) => {
  const settings = { permissions: { allow: ["Bash(echo:*)"], deny: ["Bash(echo secret)"] } };
  const model = await stage.model(shell("echo plain"), shell("echo secret"), say("done"));
  (await stage.ask("run", { settings, allowedTools: ["Bash(echo secret)"] })).succeeded();
  const [plain, secret] = (await model.finish()).last.results;
  contains(plain, "plain", "allowed output");
  assert(secret.trim() !== "secret", "a denied command ran");
});

scenario("tools_option", async (stage) => {
  stage.write("note.txt", "from the note");
  const model = await stage.model(use("Read", { file_path: stage.path("note.txt") }), say("read"), say("no tools at all"), say("all of them"));
  const run = (await stage.ask("read", { tools: ["Read"] })).succeeded();
  equal(run.init.tools, ["Read"], "tools in init");
  (await stage.ask("talk only", { tools: [] })).succeeded();
  (await stage.ask("everything", { tools: { type: "preset", preset: "claude_code" } })).succeeded();
  const { requests } = await model.finish();
  contains(requests[1].results[0], "from the note", "tool result");
  equal(requests[2].tools, [], "tools the model sees");
  for (const name of ["Bash", "Read", "Write", "Edit"]) contains(requests[3].tools, name, "tools the model sees");
});

scenario("disallowed_tools", async (stage) => {
  const model = await stage.model(use("Write", { file_path: stage.path("made"), content: "x" }), say("cannot"));
  const chosen = { disallowedTools: ["Write"], permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const run = (await stage.ask("write", chosen)).succeeded();
  assert(!stage.exists("made"), "a removed tool ran");
  lacks(run.init.tools, "Write", "tools in init");
  lacks((await model.finish()).requests[0].tools, "Write", "tools the model sees");
});

scenario("additional_directories", async (stage) => {
  const outside = mkdtempSync(join(tmpdir(), "outside-"));
  writeFileSync(join(outside, "far.txt"), "far away");
  const read = use("Read", { file_path: join(outside, "far.txt") });
  const model = await stage.model(read, say("not allowed"), read, use("Write", { file_path: join(outside, "near.txt"), content: "near" }), say("allowed"));
  (await stage.ask("look there")).succeeded();
  (await stage.ask("look there now", { additionalDirectories: [outside], permissionMode: "acceptEdits" })).succeeded();
  const { requests } = await model.finish();
  lacks(requests[1].results[0], "far away", "reading outside without permission");
  contains(requests[3].results[0], "far away", "reading in an added directory");
  equal(readFileSync(join(outside, "near.txt"), "utf8"), "near", "file in an added directory");
});
