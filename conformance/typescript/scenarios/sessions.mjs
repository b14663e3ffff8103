// Sessions on disk and in stores, read and changed by the SDK's own helpers.

import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, contains, equal, lacks, say, scenario, shell } from "../stage.mjs";

scenario("resume", async (stage) => {
  const model = await stage.model(shell("echo remembered"), say("first answer"), say("second answer"));
  const before = (await stage.ask("the first prompt", { allowedTools: ["Bash"] })).succeeded();
  const after = (await stage.ask("go on", { resume: before.result.session_id })).succeeded();
  equal(after.result.session_id, before.result.session_id, "session");
  const { last } = await model.finish();
  equal(last.saidBy("user")[0], "the first prompt", "what the model saw");
  contains(last.results[0], "remembered", "tool result");
});

scenario("resume_unknown", async (stage) => {
  const nobody = randomUUID();
  const { error } = await stage.attempt("hello?", { resume: nobody });
  contains(String(error) + stage.stderr.join(""), nobody, "the error");
});

scenario("fork", async (stage) => {
  const model = await stage.model(say("first answer"), say("in the copy"), say("in the original", { moves_prefix: "the copy went another way" }));
  const before = (await stage.ask("the first prompt")).succeeded();
  const copy = (await stage.ask("take the other road", { resume: before.result.session_id, forkSession: true })).succeeded();
  assert(copy.result.session_id !== before.result.session_id, "a fork has an id of its own");
  (await stage.ask("stay on this one", { resume: before.result.session_id })).succeeded();
  const { requests } = await model.finish();
  contains(requests[1].userText, "the first prompt", "the copy");
  lacks(requests[2].userText, "the other road", "the original");
});

scenario("continue_newest", async (stage) => {
  const model = await stage.model(say("one"), say("two"), say("three"));
  await stage.ask("an older matter");
  const newer = (await stage.ask("a newer matter")).succeeded();
  const run = (await stage.ask("where were we?", { continue: true })).succeeded();
  equal(run.result.session_id, newer.result.session_id, "session");
  lacks((await model.finish()).last.userText, "an older matter", "what the model saw");
});

scenario("chosen_session_id", async (stage) => {
  await stage.model(say("hello"));
  const sessionId = randomUUID();
  const run = (await stage.ask("hello", { sessionId })).succeeded();
  equal(run.result.session_id, sessionId, "session");
  const { error } = await stage.attempt("again", { sessionId });
  contains(String(error) + stage.stderr.join(""), sessionId, "the refusal");
});

scenario("resume_at_a_message", async (stage) => {
  const model = await stage.model(say("answer one"), say("answer two"), say("answer three", { moves_prefix: "the second answer is forgotten" }));
  const talk = stage.converse();
  const one = (await talk.turn("question one")).succeeded();
  (await talk.turn("question two")).succeeded();
  await talk.end();
  const resumeSessionAt = one.ofType("assistant").at(-1).uuid;
  (await stage.ask("question three", { resume: one.result.session_id, resumeSessionAt })).succeeded();
  equal((await model.finish()).last.saidBy("user"), ["question one", "question three"], "what the model saw");
});

scenario("no_persistence", async (stage) => {
  await stage.model(say("forgotten at once"));
  (await stage.ask("hello", { persistSession: false })).succeeded();
  equal(await stage.sdk.listSessions({ dir: stage.cwd, includeProgrammatic: true }), [], "sessions");
});

scenario("session_helpers", async (stage) => {
  const { sdk, cwd: dir } = stage;
  const tools = [0, 1, 2].map((n) => ({ name: "Bash", input: { command: `echo ${n}` } }));
  const model = await stage.model({ thinking: "hm", tools }, say("all three ran"), say("after the rename"), say("in the copy"));
  const run = (await stage.ask("please run three commands", { allowedTools: ["Bash"] })).succeeded();
  const { session_id: session } = run.result;
  const list = () => sdk.listSessions({ dir, includeProgrammatic: true });
  const [info, ...others] = await list();
  equal([info.sessionId, info.firstPrompt, info.cwd, others.length], [session, "please run three commands", dir, 0], "info");
  const messages = await sdk.getSessionMessages(session, { dir });
  const blocks = messages.flatMap(({ message }) => (Array.isArray(message.content) ? message.content : [])).map((block) => block.type);
  equal(["tool_use", "tool_result"].map((kind) => blocks.filter((type) => type === kind).length), [3, 3], "calls and results on disk");
  const streamed = run.ofType("assistant").map((message) => message.uuid);
  equal(messages.filter((message) => message.type === "assistant").map((message) => message.uuid), streamed, "uuids in the stream and on disk");
  await sdk.renameSession(session, "Three commands", { dir });
  await sdk.tagSession(session, "demo", { dir });
  (await stage.ask("and now", { resume: session })).succeeded();
  const renamed = await sdk.getSessionInfo(session, { dir });
  equal([renamed.customTitle, renamed.summary, renamed.tag], ["Three commands", "Three commands", "demo"], "title and tag");
  const fork = await sdk.forkSession(session, { dir, title: "A copy" });
  (await stage.ask("in the copy", { resume: fork.sessionId })).succeeded();
  contains((await model.finish()).last.userText, "please run three commands", "what the model saw in the copy");
  await sdk.deleteSession(session, { dir });
  equal((await list()).map((info) => info.sessionId), [fork.sessionId], "sessions after deletion");
});

/** A store that keeps entries in memory. */
class MemoryStore {
  kept = new Map();

  async append(key, entries) {
    const name = JSON.stringify([key.projectKey, key.sessionId, key.subpath ?? null]);
    this.kept.set(name, [...(this.kept.get(name) ?? []), ...entries]);
  }

  async load(key) {
    return this.kept.get(JSON.stringify([key.projectKey, key.sessionId, key.subpath ?? null])) ?? null;
  }
}

scenario("session_store", async (stage) => {
  const model = await stage.model(shell("echo stored"), say("kept"), say("found again"));
  const sessionStore = new MemoryStore();
  const before = (await stage.ask("keep this", { sessionStore, allowedTools: ["Bash"] })).succeeded();
  const { session_id: session } = before.result;
  equal(before.system("mirror_error"), [], "mirror errors");
  const file = stage.transcript(session);
  const onDisk = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const chain = (entries) => entries.map((entry) => entry.uuid).filter(Boolean);
  equal(chain([...sessionStore.kept.values()].flat()), chain(onDisk), "entries in the store and on disk");
  unlinkSync(file);
  const after = (await stage.ask("and this", { sessionStore, resume: session })).succeeded();
  equal(after.result.session_id, session, "session");
  contains((await model.finish()).last.results[0], "stored", "tool result from the store");
  const messages = await stage.sdk.getSessionMessages(session, { dir: stage.cwd, sessionStore });
  equal(messages.map((message) => message.type), ["user", "assistant", "user", "assistant", "user", "assistant"], "messages in the store");
});

scenario("resume_a_foreign_transcript", async (stage) => {
  // A session that another program of the same format wrote is resumed from its last summary on.
  const session = "5f0c2a64-9d1b-4c58-8a34-2f1f6b7c9e10";
  const project = join(stage.config, "projects", stage.cwd.replace(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(project, { recursive: true });
  const source = readFileSync(join(process.env.CONFORMANCE_TRANSCRIPTS, "foreign.jsonl"), "utf8").replaceAll("@CWD@", stage.cwd);
  writeFileSync(join(project, `${session}.jsonl`), source);
  const model = await stage.model(say("I remember the port"));
  const run = (await stage.ask("which port was it?", { resume: session })).succeeded();
  equal(run.result.session_id, session, "session");
  const { last } = await model.finish();
  const everything = JSON.stringify(last.messages);
  contains(last.userText, "Summary of the work so far", "the summary");
  for (const gone of ["before the boundary", "sidechain", "abandoned"]) lacks(everything, gone, "what the model saw");
  const calls = last.blocks("tool_use").map((block) => block.id).sort();
  equal(calls, ["toolu_read_a", "toolu_read_b", "toolu_read_c"], "parallel calls");
  equal(last.blocks("tool_result").map((block) => block.tool_use_id).sort(), calls, "their results");
  contains(last.saidBy("assistant").at(-1), "The port is 8460", "last answer");
  const messages = await stage.sdk.getSessionMessages(session, { dir: stage.cwd });
  contains(JSON.stringify(messages), "I remember the port", "messages");
  equal((await stage.sdk.getSessionInfo(session, { dir: stage.cwd })).customTitle, "Harbour configuration", "title");
});
