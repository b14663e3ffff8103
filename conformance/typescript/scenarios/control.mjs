// What hosts ask a running session: another model, another mode, how it is doing.

import { assert, contains, equal, lacks, say, scenario, shell, use } from "../stage.mjs";

scenario("set_model", async (stage) => {
  const model = await stage.model(say("one"), say("two"), say("three"));
  const talk = stage.converse({ model: "claude-sonnet-4-5" });
  (await talk.turn("first")).succeeded();
  await talk.query.setModel("claude-opus-4-5");
  const run = (await talk.turn("second")).succeeded();
  contains(run.init.model, "opus", "model in init");
  await talk.query.setModel();
  (await talk.turn("third")).succeeded();
  await talk.end();
  const models = (await model.finish()).requests.map((request) => request.model);
  contains(models[0], "sonnet-4-5", "first model");
  contains(models[1], "opus-4-5", "second model");
  lacks(models[2], "opus-4-5", "third model");
});

scenario("set_permission_mode", async (stage) => {
  const file_path = stage.path("made.txt");
  await stage.model(use("Write", { file_path, content: "x" }), say("refused"), use("Write", { file_path, content: "y" }), say("written"));
  const talk = stage.converse();
  const refused = (await talk.turn("write")).succeeded();
  assert(!stage.exists("made.txt"), "nobody allowed the first call");
  equal(refused.result.permission_denials.map((denial) => denial.tool_name), ["Write"], "denials");
  await talk.query.setPermissionMode("acceptEdits");
  const run = (await talk.turn("write again")).succeeded();
  await talk.end();
  equal(run.init.permissionMode, "acceptEdits", "mode");
  equal(stage.read("made.txt"), "y", "file");
});

scenario("bypass_must_be_launched", async (stage) => {
  await stage.model(shell("touch made"), say("refused"));
  const talk = stage.converse();
  const refusal = await talk.query.setPermissionMode("bypassPermissions").then(() => undefined, (error) => error);
  contains(String(refusal), "dangerously-skip-permissions", "the refusal");
  (await talk.turn("try")).succeeded();
  await talk.end();
  assert(!stage.exists("made"), "the call ran all the same");
});

scenario("bypass_launched_later", async (stage) => {
  // A session that was started with leave to do so may switch to it.
  await stage.model(shell("touch early"), say("refused"), shell("touch late"), say("done"));
  const talk = stage.converse({ allowDangerouslySkipPermissions: true });
  (await talk.turn("try")).succeeded();
  await talk.query.setPermissionMode("bypassPermissions");
  (await talk.turn("try again")).succeeded();
  await talk.end();
  assert(!stage.exists("early") && stage.exists("late"), "only the second call runs");
});

scenario("set_max_thinking_tokens", async (stage) => {
  const model = await stage.model(say("one"), say("two"), say("three"));
  const talk = stage.converse({ model: "claude-sonnet-4-5" });
  await talk.query.setMaxThinkingTokens(3000);
  (await talk.turn("first")).succeeded();
  await talk.query.setMaxThinkingTokens(0);
  (await talk.turn("second")).succeeded();
  await talk.query.setMaxThinkingTokens(null);
  (await talk.turn("third")).succeeded();
  await talk.end();
  const [first, second] = (await model.finish()).requests.map((request) => request.body.thinking);
  equal(first.budget_tokens, 3000, "budget");
  assert(!second || second.type === "disabled", `thinking is ${JSON.stringify(second)}`);
});

scenario("supported_commands_models_account", async (stage) => {
  const talk = stage.converse();
  const commands = await talk.query.supportedCommands();
  contains(commands.map((command) => command.name), "cost", "commands");
  assert(commands.every(({ description, argumentHint }) => description && argumentHint !== undefined), "fields of commands");
  const models = await talk.query.supportedModels();
  assert(models.length > 0 && models.every(({ value, displayName, description }) => value && displayName && description), "models");
  assert((await talk.query.accountInfo()).apiKeySource, "account");
  contains((await talk.query.supportedAgents()).map((agent) => agent.name), "general-purpose", "agents");
  const greeting = await talk.query.initializationResult();
  assert(greeting.claude_code_version && greeting.tillerman_version, "versions");
  await talk.end();
});

scenario("mcp_server_status", async (stage) => {
  const talk = stage.converse();
  equal(await talk.query.mcpServerStatus(), [], "servers");
  await talk.end();
});

scenario("context_usage", async (stage) => {
  await stage.model(say("an answer", { usage: { input_tokens: 5000, cache_read_input_tokens: 20000, output_tokens: 100 } }));
  const talk = stage.converse();
  (await talk.turn("fill it")).succeeded();
  const usage = await talk.query.getContextUsage();
  await talk.end();
  const sum = usage.categories.reduce((sum, { tokens }) => sum + tokens, 0);
  equal(sum, usage.maxTokens, "all categories together");
  assert(usage.categories.every(({ kind }) => ["used", "free", "buffer", "deferred"].includes(kind)), JSON.stringify(usage.categories));
  for (const id of ["system_prompt", "system_tools", "messages", "free_space"]) contains(usage.categories.map((category) => category.id), id, "categories");
  assert(usage.totalTokens >= 25000 && usage.totalTokens < 26000, `${usage.totalTokens} tokens`);
});

scenario("usage_and_files", async (stage) => {
  // What a host shows beside a conversation: what was used, and files that the model may read.
  await stage.model(say("an answer"));
  stage.write("a.txt", "alpha\n");
  stage.write("secret/b.txt", "beta\n");
  const talk = stage.converse({ title: "Harbour", settings: { permissions: { deny: ["Read(./secret/**)"] } } });
  (await talk.turn("hello")).succeeded();
  const usage = await talk.query.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET({ skipBehaviors: true });
  assert(usage.session.total_cost_usd > 0 && usage.rate_limits === null, JSON.stringify(usage));
  const file = await talk.query.readFile("a.txt", { maxBytes: 3 });
  equal([file.contents, file.truncated, file.absPath], ["alp", true, stage.path("a.txt")], "file");
  equal((await talk.query.readFile("a.txt", { encoding: "base64" })).contents, "YWxwaGEK", "base64");
  equal(await talk.query.readFile("secret/b.txt"), null, "a file that may not be read");
  await talk.query.seedReadState("a.txt", Date.now());
  equal(await talk.query.backgroundTasks("toolu_nobody"), false, "a call that is not there");
  equal((await talk.query.rewindFiles("00000000-0000-4000-8000-000000000000", { dryRun: true })).canRewind, false, "dry run");
  await talk.end();
});

scenario("options_of_hosts", async (stage) => {
  // Options that only this SDK has: nobody is asked, and a host's policy restricts.
  await stage.model(shell("touch made"), say("refused"));
  const talk = stage.converse({
    permissionPrompts: "none",
    managedSettings: { permissions: { deny: ["WebFetch"] } },
    debugFile: stage.path("debug.txt"),
    pluginDelivery: "initialize",
    plugins: [],
  });
  const run = (await talk.turn("touch")).succeeded();
  equal(run.result.permission_denials.map((denial) => denial.tool_name), ["Bash"], "denials");
  lacks(run.init.tools, "WebFetch", "tools");
  await talk.end();
  assert(stage.exists("debug.txt"), "the debug file");
});

scenario("unsupported_request", async (stage) => {
  // What this version cannot do is refused in words, and the session goes on.
  await stage.model(say("still here"));
  const talk = stage.converse();
  const refusal = await talk.query.setMcpPermissionModeOverride("files", "auto").then(() => undefined, (error) => error);
  contains(String(refusal), "set_mcp_permission_mode_override", "the refusal");
  (await talk.turn("hello")).succeeded();
  await talk.end();
});

scenario("reload_plugins", async (stage) => {
  // What was written while the session runs is there after a reload, and works.
  const model = await stage.model(say("waved"));
  const talk = stage.converse({ settingSources: ["project"] });
  stage.write(".claude/commands/wave.md", "Wave at $ARGUMENTS");
  const { commands, plugins, error_count } = await talk.query.reloadPlugins();
  contains(commands.map(({ name }) => name), "wave", "commands");
  equal([plugins, error_count], [[], 0], "plugins and errors");
  (await talk.turn("/wave everybody")).succeeded();
  await talk.end();
  contains(JSON.stringify((await model.finish()).requests), "Wave at everybody", "what the model was asked");
});

scenario("stderr_callback", async (stage) => {
  // Mistakes in settings are told, not swallowed.
  stage.write(".claude/settings.json", "{ broken");
  await stage.model(say("fine"));
  (await stage.ask("hello", { settingSources: ["project"] })).succeeded();
  contains(stage.stderr.join(""), "settings.json", "stderr");
});

scenario("environment", async (stage) => {
  // Variables that the host sets reach commands; its keys do not.
  const model = await stage.model(shell("echo colour=$CHOSEN_COLOUR key=$ANTHROPIC_API_KEY."), say("fine"));
  (await stage.ask("show", { env: { ...process.env, CHOSEN_COLOUR: "teal" }, allowedTools: ["Bash"] })).succeeded();
  const [output] = (await model.finish()).last.results;
  contains(output, "colour=teal", "output");
  lacks(output, "conformance-key", "output");
});
