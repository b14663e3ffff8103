// What goes through unharmed: thoughts, pictures, other scripts, large outputs, system prompts.

import { assert, contains, equal, say, scenario, shell, use, userMessage } from "../stage.mjs";

// A PNG of one red pixel.
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP8z8AARAAHAQEAWH5uOgAAAABJRU5ErkJggg==";

scenario("thinking_round_trip", async (stage) => {
  const model = await stage.model({ thinking: "first I look", ...shell("echo seen") }, say("done"));
  const chosen = { allowedTools: ["Bash"], thinking: { type: "enabled", budgetTokens: 4000 }, model: "claude-sonnet-4-5" };
  const run = (await stage.ask("look", chosen)).succeeded();
  const [thought] = run.blocks("thinking");
  equal(thought.thinking, "first I look", "thought");
  const { requests } = await model.finish();
  equal(requests[0].body.thinking.budget_tokens, 4000, "budget");
  equal(requests[1].blocks("thinking").map(({ thinking, signature }) => [thinking, signature]), [[thought.thinking, thought.signature]], "thoughts sent back");
});

scenario("image_input", async (stage) => {
  const model = await stage.model(say("red"));
  const source = { type: "base64", media_type: "image/png", data: PICTURE };
  async function* prompts() {
    yield userMessage([{ type: "image", source }, { type: "text", text: "which colour?" }]);
  }
  (await stage.ask(prompts())).succeeded();
  equal((await model.finish()).last.blocks("image").map((block) => block.source), [source], "pictures");
});

scenario("unicode_text", async (stage) => {
  const text = 'Grüße, 世界! 👩‍👩‍👧 שלום \u2028line\u2029 e\u0301 \u{1d11e} \\ " tab\tend';
  const name = "naïve 文件 🎼.txt";
  const model = await stage.model(use("Write", { file_path: stage.path(name), content: text }), shell("cat *.txt"), say(text, { delta_chars: 1 }));
  const run = (await stage.ask(text, { allowedTools: ["Bash"], permissionMode: "acceptEdits" })).succeeded();
  equal(run.result.result, text, "answer");
  equal(stage.read(name), text, "file");
  const { last } = await model.finish();
  equal(last.saidBy("user")[0], text, "prompt");
  contains(last.results[1], text, "output of the shell");
});

scenario("large_tool_output", async (stage) => {
  const model = await stage.model(shell("yes 0123456789abcdef | head -c 2000000"), say("that was long"));
  const run = (await stage.ask("print a lot", { allowedTools: ["Bash"] })).succeeded();
  equal(run.result.result, "that was long");
  const [shown] = (await model.finish()).last.results;
  assert(shown.length > 100 && shown.length < 100_000, `the model saw ${shown.length} characters`);
});

scenario("large_prompt", async (stage) => {
  const text = "a line of a very long prompt\n".repeat(20_000);
  const model = await stage.model(say("read"));
  (await stage.ask(text)).succeeded();
  equal((await model.finish()).last.saidBy("user")[0].trim().length, text.trim().length, "length of the prompt");
});

scenario("system_prompt_string", async (stage) => {
  // This SDK sends the prompt in the handshake, not on the command line.
  const model = await stage.model(say("arr"), say("aye"), say("yo"));
  (await stage.ask("hello", { systemPrompt: "You are a pirate." })).succeeded();
  (await stage.ask("hello again", { systemPrompt: ["You are a pirate.", "You have a parrot."] })).succeeded();
  (await stage.ask("hello once more", { systemPrompt: { type: "custom", prompt: "You are a sailor." } })).succeeded();
  const [one, list, custom] = (await model.finish()).requests.map((request) => request.system);
  contains(one, "You are a pirate.", "system prompt");
  contains(list, "You are a pirate.", "system prompt of parts");
  contains(list, "You have a parrot.", "system prompt of parts");
  contains(custom, "You are a sailor.", "custom system prompt");
});

scenario("system_prompt_preset", async (stage) => {
  const model = await stage.model(say("one"), say("two"), say("three"));
  const preset = { type: "preset", preset: "claude_code" };
  (await stage.ask("first", { systemPrompt: preset })).succeeded();
  (await stage.ask("second", { systemPrompt: { ...preset, append: "Answer in verse." } })).succeeded();
  (await stage.ask("third")).succeeded();
  const [plain, appended, empty] = (await model.finish()).requests.map((request) => request.system);
  assert(plain.length > 500, `the preset is a prompt of its own, and has ${plain.length} characters`);
  contains(appended, "Answer in verse.", "system prompt");
  assert(appended.length > plain.length, "the addition comes on top");
  assert(empty.length < plain.length / 2, `without a choice the prompt is empty but for the environment: ${empty}`);
});

scenario("system_prompt_file", async (stage) => {
  const model = await stage.model(say("aye"));
  const file = stage.write("addition.md", "Speak like a lighthouse keeper.");
  const chosen = { systemPrompt: { type: "preset", preset: "claude_code" }, extraArgs: { "append-system-prompt-file": file } };
  (await stage.ask("hello", chosen)).succeeded();
  contains((await model.finish()).last.system, "Speak like a lighthouse keeper.", "system prompt");
});

scenario("system_prompt_on_resume", async (stage) => {
  const model = await stage.model(say("one"), say("two"));
  const systemPrompt = "You are a pirate.";
  const before = (await stage.ask("first", { systemPrompt })).succeeded();
  (await stage.ask("second", { systemPrompt, resume: before.result.session_id })).succeeded();
  const [first, second] = (await model.finish()).requests.map((request) => request.system);
  equal(second, first, "system prompt after resuming");
});
