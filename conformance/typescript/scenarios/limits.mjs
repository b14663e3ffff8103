// Limits, failures of the API, and how the SDK reports the end of the process.

import { assert, contains, equal, say, scenario, shell } from "../stage.mjs";

scenario("max_turns", async (stage) => {
  const model = await stage.model(shell("echo 1"), shell("echo 2"));
  const { run } = await stage.attempt("loop", { maxTurns: 2, allowedTools: ["Bash"] });
  equal([run.result.subtype, run.result.is_error, run.result.terminal_reason], ["error_max_turns", true, "max_turns"], "result");
  equal((await model.finish()).requests.length, 2, "requests");
});

scenario("budget", async (stage) => {
  const model = await stage.model({ ...shell("echo 1"), usage: { input_tokens: 3_000_000, output_tokens: 10 } });
  const { run } = await stage.attempt("spend", { maxBudgetUsd: 0.5, allowedTools: ["Bash"] });
  equal(run.result.subtype, "error_max_budget_usd", "result");
  equal((await model.finish()).requests.length, 1, "requests");
});

scenario("api_error", async (stage) => {
  await stage.model({ status: 400, message: "the prompt is too odd" });
  const { run } = await stage.attempt("something odd");
  equal([run.result.is_error, run.result.api_error_status], [true, 400], "result");
  contains(run.result.result, "the prompt is too odd", "result");
  equal(run.ofType("assistant").at(-1).error, "invalid_request", "kind of error");
});

scenario("api_error_then_recovery", async (stage) => {
  await stage.model({ status: 400, message: "not now" }, say("now it works"));
  const talk = stage.converse();
  assert((await talk.turn("first")).result.is_error, "the first turn fails");
  (await talk.turn("second")).succeeded();
  await talk.end();
});

scenario("retries", async (stage) => {
  const model = await stage.model({ status: 529 }, { status: 500, retry_after: 1 }, say("third time lucky"));
  const run = (await stage.ask("try")).succeeded();
  equal(run.system("api_retry").map((frame) => [frame.attempt, frame.error_status]), [[1, 529], [2, 500]], "retries");
  equal((await model.finish()).requests.length, 3, "requests");
});

scenario("fallback_model", async (stage) => {
  const model = await stage.model({ status: 529 }, say("from the fallback"));
  const chosen = { model: "claude-opus-4-5", fallbackModel: "claude-haiku-4-5" };
  const run = (await stage.ask("try", { ...chosen, env: { ...process.env, CLAUDE_CODE_MAX_RETRIES: "0" } })).succeeded();
  equal(run.result.result, "from the fallback");
  const models = (await model.finish()).requests.map((request) => request.model);
  contains(models[0], "opus-4-5", "first model");
  contains(models[1], "haiku-4-5", "second model");
});

scenario("exit_code_after_an_error", async (stage) => {
  // A failed one-shot query ends with an exception that names what failed.
  await stage.model({ status: 400, message: "the prompt is too odd" });
  const { run, error } = await stage.attempt("something odd");
  assert(run.result.is_error, "the result is an error");
  contains(String(error), "the prompt is too odd", "the exception");
});

scenario("exit_code_of_a_bad_flag", async (stage) => {
  const { error } = await stage.attempt("hello", { extraArgs: { "no-such-flag": null } });
  contains(String(error), "1", "the exception");
  contains(String(error) + stage.stderr.join(""), "no-such-flag", "what is told");
});

scenario("no_credentials", async (stage) => {
  const { run } = await stage.attempt("try", { env: { ...process.env, ANTHROPIC_API_KEY: "" } });
  assert(run.result.is_error, "a run without a key fails");
  equal(run.ofType("assistant").at(-1).error, "authentication_failed", "kind of error");
});
