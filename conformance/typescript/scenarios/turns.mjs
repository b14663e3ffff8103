// Prompts and answers: one-shot queries, streamed prompts, raw events, interrupts.

import { randomUUID } from "node:crypto";
import { assert, contains, equal, eventually, say, scenario, shell, userMessage } from "../stage.mjs";

scenario("query_string", async (stage) => {
  const usage = { input_tokens: 1200, output_tokens: 34, cache_read_input_tokens: 500 };
  const model = await stage.model(say("Forty-two.", { usage }));
  const run = (await stage.ask("What is the answer?")).succeeded();
  const { result } = run;
  equal(result.result, "Forty-two.");
  equal(result.num_turns, 1, "turns");
  equal([result.usage.input_tokens, result.usage.output_tokens, result.usage.cache_read_input_tokens], [1200, 34, 500], "tokens");
  assert(result.total_cost_usd > 0 && result.total_cost_usd < 1, `cost ${result.total_cost_usd}`);
  const [spent] = Object.values(result.modelUsage);
  equal([spent.inputTokens, spent.outputTokens, spent.cacheReadInputTokens], [1200, 34, 500], "tokens of the model");
  assert(spent.contextWindow > 0 && spent.maxOutputTokens > 0, "limits of the model");
  const ids = Array.from(run).map((message) => message.session_id);
  equal([...new Set(ids)], [run.init.session_id], "session ids");
  const uuids = Array.from(run).map((message) => message.uuid);
  equal(new Set(uuids).size, uuids.length, "number of different uuids");
  equal((await model.finish()).last.saidBy("user"), ["What is the answer?"], "what the model saw");
});

scenario("query_iterable", async (stage) => {
  const model = await stage.model(say("first answer"), say("second answer"));
  let answered;
  const firstResult = new Promise((resolve) => (answered = resolve));
  async function* prompts() {
    yield userMessage("first prompt");
    await firstResult;
    yield userMessage([{ type: "text", text: "second prompt" }]);
  }
  const results = [];
  for await (const message of stage.sdk.query({ prompt: prompts(), options: stage.options() })) {
    if (message.type !== "result") continue;
    results.push(message);
    answered();
  }
  equal(results.map((result) => result.result), ["first answer", "second answer"], "results");
  equal(new Set(results.map((result) => result.session_id)).size, 1, "sessions");
  equal((await model.finish()).last.saidBy("assistant"), ["first answer"], "what the model had said");
});

scenario("multi_turn", async (stage) => {
  const model = await stage.model(say("red"), shell("echo from-the-shell"), say("green"), say("blue"));
  const talk = stage.converse({ permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
  const runs = [];
  for (const number of [0, 1, 2]) runs.push((await talk.turn(`prompt ${number}`)).succeeded());
  await talk.end();
  equal(runs.map((run) => run.result.result), ["red", "green", "blue"], "results");
  equal(new Set(runs.map((run) => run.result.session_id)).size, 1, "sessions");
  const { last } = await model.finish();
  equal(last.saidBy("user")[0], "prompt 0");
  contains(last.results[0], "from-the-shell", "tool result");
});

scenario("stream_input", async (stage) => {
  // Prompts may also be added to a query that was started with others.
  const model = await stage.model(say("one"), say("two"));
  const talk = stage.converse();
  (await talk.turn("first")).succeeded();
  async function* more() {
    yield userMessage("second, by streamInput");
  }
  await talk.query.streamInput(more());
  (await talk.until((message) => message.type === "result")).succeeded();
  talk.query.close();
  contains((await model.finish()).last.userText, "second, by streamInput", "what the model saw");
});

scenario("partial_messages", async (stage) => {
  const words = "Partial messages let a host show text while it is written.";
  await stage.model({ thinking: "think first", text: words, tools: [{ name: "Bash", input: { command: "true" } }], delta_chars: 7 }, say("end"));
  const run = (await stage.ask("go", { includePartialMessages: true, allowedTools: ["Bash"] })).succeeded();
  const deltas = run.events.filter((event) => event.type === "content_block_delta").map((event) => event.delta);
  equal(deltas.map((delta) => delta.text ?? "").join(""), `${words}end`, "text of the deltas");
  equal(deltas.map((delta) => delta.thinking ?? "").join(""), "think first", "thoughts of the deltas");
  equal(JSON.parse(deltas.map((delta) => delta.partial_json ?? "").join("")), { command: "true" }, "input of the call");
  const open = new Set();
  for (const message of run) {
    if (message.type === "assistant") assert(open.size > 0, "a whole block comes before its stop event");
    if (message.type !== "stream_event") continue;
    const { type, index } = message.event;
    if (type === "content_block_start") open.add(index);
    if (type === "content_block_stop") assert(open.delete(index), `block ${index} stops without a start`);
  }
  equal(open.size, 0, "blocks that never stop");
});

scenario("prompt_during_a_tool", async (stage) => {
  // A prompt that arrives while a call waits for permission is told to the model in the same turn.
  const model = await stage.model(shell("touch noted; echo tool-output"), say("heard both"));
  const uuid = randomUUID();
  let heard;
  const isQueued = new Promise((resolve) => (heard = resolve));
  const talk = stage.converse({
    canUseTool: async (name, input) => {
      talk.say("one more thing: be brief", { uuid });
      await isQueued;
      return { behavior: "allow", updatedInput: input };
    },
  });
  talk.say("run it");
  const run = await talk.until((message) => {
    if (message.type === "command_lifecycle" && message.command_uuid === uuid && message.state === "queued") heard();
    return message.type === "result";
  });
  run.push(...(await talk.end()));
  equal(run.succeeded().result.result, "heard both");
  const { requests } = await model.finish();
  equal(requests.length, 2, "requests");
  contains(requests[1].results[0], "tool-output", "tool result");
  contains(requests[1].userText, "one more thing: be brief", "what the model saw");
  const states = run.ofType("command_lifecycle").filter((message) => message.command_uuid === uuid).map((message) => message.state);
  equal(states, ["queued", "started", "completed"], "what became of the prompt");
});

scenario("interrupt_while_streaming", async (stage) => {
  const model = await stage.model(say("one two three four", { delta_chars: 4, hang_after_events: 5 }), say("still here"));
  const talk = stage.converse({ includePartialMessages: true });
  talk.say("count");
  await talk.until((message) => message.type === "stream_event" && message.event.type === "content_block_delta");
  const answer = await talk.query.interrupt();
  equal(answer?.still_queued, [], "what is still queued");
  const run = await talk.until((message) => message.type === "result");
  equal([run.result.subtype, run.result.is_error, run.result.terminal_reason], ["error_during_execution", true, "aborted_streaming"], "result");
  (await talk.turn("are you there?")).succeeded();
  await talk.end();
  const capture = await model.finish();
  equal(capture.outcomes[0], "client_gone", "the request is given up");
  contains(capture.last.userText, "count", "the next request");
});

scenario("interrupt_while_a_tool_runs", async (stage) => {
  const model = await stage.model(shell("echo $$ > pid; sleep 300"), say("fine"));
  const talk = stage.converse({ permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
  talk.say("sleep");
  await talk.until((message) => message.type === "assistant");
  await eventually(() => stage.exists("pid") && stage.read("pid").trim(), "the start of the command");
  await talk.query.interrupt();
  const run = await talk.until((message) => message.type === "result");
  equal([run.result.subtype, run.result.terminal_reason], ["error_during_execution", "aborted_tools"], "result");
  (await talk.turn("go on")).succeeded();
  await talk.end();
  equal((await model.finish()).last.results.length, 1, "answered calls");
});

scenario("abort_controller", async (stage) => {
  const model = await stage.model(say("never to be finished", { delta_chars: 4, hang_after_events: 5 }));
  const abortController = new AbortController();
  let pid;
  const query = stage.sdk.query({ prompt: "go", options: stage.options({ abortController, includePartialMessages: true }) });
  let error;
  try {
    for await (const message of query) {
      pid ??= (await query.initializationResult()).pid;
      if (message.type === "stream_event" && message.event.type === "content_block_delta") abortController.abort();
    }
  } catch (thrown) {
    error = thrown;
  }
  assert(error instanceof stage.sdk.AbortError, `the SDK threw ${error}`);
  await eventually(() => !isAlive(pid), "the end of the process");
  equal((await model.finish()).outcomes, ["client_gone"], "the request is given up");
});

scenario("close_ends_the_process", async (stage) => {
  await stage.model(shell("echo $$ > pid; sleep 300"));
  const talk = stage.converse({ permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
  const { pid } = await talk.query.initializationResult();
  talk.say("sleep");
  await eventually(() => stage.exists("pid") && stage.read("pid").trim(), "the start of the command");
  talk.query.close();
  await eventually(() => !isAlive(pid), "the end of the process");
  await eventually(() => !isAlive(Number(stage.read("pid"))), "the end of its command");
});

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

scenario("slow_stream", async (stage) => {
  const pauses = [0, 3, 5].map((after_events) => ({ after_events, ms: 1200 }));
  await stage.model(say("slow and steady", { delta_chars: 5, pauses }));
  const run = (await stage.ask("take your time")).succeeded();
  equal(run.result.result, "slow and steady");
  assert(run.result.duration_ms >= 3000, `took ${run.result.duration_ms} ms`);
});

scenario("slash_command", async (stage) => {
  const model = await stage.model(say("an answer", { usage: { input_tokens: 1_000_000, output_tokens: 0 } }));
  const talk = stage.converse();
  (await talk.turn("ask something")).succeeded();
  const run = (await talk.turn("/cost")).succeeded();
  await talk.end();
  contains(run.result.result, "$", "the cost");
  equal(run.result.num_turns, 0, "turns of a command");
  equal((await model.finish()).requests.length, 1, "requests");
});

scenario("sixty_turns", async (stage) => {
  const numbers = [...Array(60).keys()];
  const model = await stage.model(...numbers.flatMap((n) => [shell(`echo output-${n}`), say(`answer ${n}`)]));
  const talk = stage.converse({ allowedTools: ["Bash"] });
  for (const n of numbers) equal((await talk.turn(`prompt ${n}`)).succeeded().result.result, `answer ${n}`);
  await talk.end();
  const { last } = await model.finish();
  equal(last.results.map((text) => text.trim()), numbers.map((n) => `output-${n}`), "tool results");
}, { seconds: 60 });

scenario("parallel_sessions", async (stage) => {
  // Ten sessions at once do not see each other.
  const numbers = [...Array(10).keys()];
  const model = await stage.model(
    ...numbers.flatMap((n) => [{ ...shell(`echo out-${n}`), when: `colour-${n}.` }, say(`done-${n}`, { when: `colour-${n}.` })]),
  );
  const runs = await Promise.all(numbers.map((n) => stage.ask(`mix colour-${n}.`, { allowedTools: ["Bash"] })));
  equal(runs.map((run) => run.succeeded().result.result), numbers.map((n) => `done-${n}`), "results");
  equal(new Set(runs.map((run) => run.result.session_id)).size, 10, "sessions");
  for (const request of (await model.finish()).requests) {
    equal(numbers.filter((n) => request.userText.includes(`colour-${n}.`)).length, 1, "conversations in a request");
  }
}, { seconds: 60 });
