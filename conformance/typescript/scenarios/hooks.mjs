// Hooks that live in the host.

import { assert, contains, equal, lacks, say, scenario, shell } from "../stage.mjs";

const BYPASS = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };

/** Hooks of one event that answer always the same, and the list of what they were told. */
function hook(event, answer, more = {}) {
  const log = [];
  const callback = async (input, toolUseId) => {
    log.push({ input, toolUseId });
    return typeof answer === "function" ? answer(input) : answer;
  };
  return { hooks: { [event]: [{ hooks: [callback], ...more }] }, log };
}

scenario("pre_tool_use_deny", async (stage) => {
  const model = await stage.model(shell("touch made"), say("understood"));
  const hookSpecificOutput = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "the moon is full" };
  const { hooks, log } = hook("PreToolUse", { hookSpecificOutput }, { matcher: "Bash" });
  (await stage.ask("make it", { hooks, ...BYPASS })).succeeded();
  assert(!stage.exists("made"), "a hook's denial holds in every mode");
  contains((await model.finish()).last.results[0], "the moon is full", "tool result");
  equal(log.map(({ input }) => [input.tool_name, input.tool_input.command, input.cwd]), [["Bash", "touch made", stage.cwd]], "what the hook saw");
  equal(log[0].toolUseId, log[0].input.tool_use_id, "id of the call");
});

scenario("pre_tool_use_updated_input", async (stage) => {
  await stage.model(shell("touch original"), say("done"));
  const hookSpecificOutput = { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: { command: "touch replaced" } };
  const { hooks } = hook("PreToolUse", { hookSpecificOutput });
  (await stage.ask("make it", { hooks })).succeeded();
  assert(stage.exists("replaced") && !stage.exists("original"), "the updated input runs");
});

scenario("post_tool_use_context", async (stage) => {
  const model = await stage.model(shell("echo plain-output"), say("done"));
  const { hooks, log } = hook("PostToolUse", { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "the build is red" } });
  (await stage.ask("go", { hooks, ...BYPASS })).succeeded();
  const { last } = await model.finish();
  contains(last.results[0], "plain-output", "tool result");
  contains(last.userText, "the build is red", "what the model saw");
  contains(JSON.stringify(log[0].input.tool_response), "plain-output", "what the hook saw");
});

scenario("user_prompt_submit_context", async (stage) => {
  const model = await stage.model(say("noted"));
  const output = { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "today is a holiday" } };
  const { hooks, log } = hook("UserPromptSubmit", output);
  (await stage.ask("plan my day", { hooks })).succeeded();
  equal(log[0].input.prompt, "plan my day", "what the hook saw");
  const { last } = await model.finish();
  contains(last.userText, "today is a holiday", "what the model saw");
  contains(last.userText, "plan my day", "what the model saw");
});

scenario("user_prompt_submit_block", async (stage) => {
  const model = await stage.model(say("hello"));
  const { hooks } = hook("UserPromptSubmit", ({ prompt }) => (prompt.includes("password") ? { decision: "block", reason: "no passwords here" } : {}));
  const talk = stage.converse({ hooks });
  const run = await talk.turn("my password is tulip");
  contains(JSON.stringify(Array.from(run)), "no passwords here", "what the host hears");
  (await talk.turn("hello")).succeeded();
  await talk.end();
  lacks((await model.finish()).last.userText, "tulip", "what the model saw");
});

scenario("stop_block", async (stage) => {
  const model = await stage.model(say("I am done"), say("now I am done"));
  const { hooks, log } = hook("Stop", ({ stop_hook_active: active }) => (active ? {} : { decision: "block", reason: "run the tests first" }));
  const run = (await stage.ask("work", { hooks })).succeeded();
  equal(run.result.result, "now I am done");
  contains((await model.finish()).last.userText, "run the tests first", "what the model saw");
  equal(log.map(({ input }) => input.stop_hook_active), [false, true], "stop_hook_active");
});

scenario("failing_hook", async (stage) => {
  // A hook that throws has no opinion, unless it was registered to block.
  await stage.model(shell("touch one"), say("done"), shell("touch two"), say("blocked"));
  const broken = async () => {
    throw new Error("hook out of order");
  };
  (await stage.ask("make one", { hooks: { PreToolUse: [{ hooks: [broken] }] }, ...BYPASS })).succeeded();
  (await stage.ask("make two", { hooks: { PreToolUse: [{ hooks: [broken], onFailure: "block" }] }, ...BYPASS })).succeeded();
  assert(stage.exists("one") && !stage.exists("two"), "only onFailure block stops the call");
});

scenario("permission_request_hook", async (stage) => {
  // A hook may answer in place of the approver.
  await stage.model(shell("touch made"), say("done"));
  const output = { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } } };
  const { hooks, log } = hook("PermissionRequest", output);
  (await stage.ask("make it", { hooks })).succeeded();
  assert(stage.exists("made"), "the call did not run");
  equal(log[0].input.tool_name, "Bash", "what the hook saw");
});
