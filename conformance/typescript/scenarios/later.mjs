// Capabilities that are still to come; each of these is listed in expected-failures.txt until then.

import { contains, equal, say, scenario, use } from "../stage.mjs";

scenario("structured_output", async (stage) => {
  const schema = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
  await stage.model(use("StructuredOutput", { colour: "teal" }));
  const run = (await stage.ask("pick a colour", { outputFormat: { type: "json_schema", schema } })).succeeded();
  equal(run.result.structured_output, { colour: "teal" }, "structured output");
});

scenario("subagent", async (stage) => {
  const scout = { description: "looks around", prompt: "You are a scout.", tools: ["Read"] };
  const model = await stage.model(
    { ...use("Agent", { description: "look around", prompt: "look for tracks", subagent_type: "scout" }), when: "send the scout" },
    say("no tracks", { when: "look for tracks" }),
    say("the scout found nothing", { when: "no tracks" }),
  );
  const run = (await stage.ask("send the scout", { agents: { scout } })).succeeded();
  equal(run.result.result, "the scout found nothing");
  contains((await model.finish()).requests[1].system, "You are a scout.", "system prompt of the subagent");
});

scenario("rewind_files", async (stage) => {
  stage.write("draft.txt", "before");
  const file_path = stage.path("draft.txt");
  await stage.model(use("Read", { file_path }), use("Write", { file_path, content: "after" }), say("changed"));
  const talk = stage.converse({ enableFileCheckpointing: true, permissionMode: "acceptEdits", extraArgs: { "replay-user-messages": null } });
  const run = (await talk.turn("change it")).succeeded();
  const prompt = run.ofType("user").find((message) => typeof message.message.content === "string");
  await talk.query.rewindFiles(prompt.uuid);
  await talk.end();
  equal(stage.read("draft.txt"), "before", "file");
});
