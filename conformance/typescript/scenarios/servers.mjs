// MCP servers: inside the SDK, and the reference server of the protocol over every transport.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import { contains, equal, lacks, say, scenario, use } from "../stage.mjs";

scenario("mcp_sdk_server", async (stage) => {
  const { z } = await stage.package("zod/index.js");
  const double = stage.sdk.tool("double", "Doubles a number", { number: z.number() }, async ({ number }) => ({
    content: [{ type: "text", text: `twice is ${number * 2}` }],
  }));
  const sums = stage.sdk.createSdkMcpServer({ name: "sums", version: "1.0.0", tools: [double] });
  const model = await stage.model(use("mcp__sums__double", { number: 21 }), say("forty-two"));
  const run = (await stage.ask("double 21", { mcpServers: { sums }, allowedTools: ["mcp__sums__double"] })).succeeded();
  equal(run.init.mcp_servers.map(({ name, status }) => [name, status]), [["sums", "connected"]], "servers");
  contains((await model.finish()).last.results[0], "twice is 42", "tool result");
});

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

async function useEverything(stage, server) {
  const call = (name, input = {}) => use(`mcp__every__${name}`, input);
  const model = await stage.model(
    call("echo", { message: "ping" }),
    call("get-sum", { a: 40, b: 2 }),
    call("get-tiny-image"),
    call("get-annotated-message", { messageType: "success", includeImage: false }),
    call("get-structured-content", { location: "New York" }),
    call("get-resource-links", { count: 2 }),
    call("get-resource-reference", { resourceType: "Text", resourceId: 1 }),
    call("trigger-long-running-operation", { duration: 1, steps: 2 }),
    call("get-env"),
    call("gzip-file-as-resource", { name: "note.gz", data: "data:text/plain,hello", outputType: "resourceLink" }),
    call("toggle-simulated-logging"),
    call("toggle-subscriber-updates"),
    call("get-roots-list"),
    call("trigger-elicitation-request"),
    call("trigger-url-elicitation", { url: "https://example.com/" }),
    call("simulate-research-query", { topic: "tides" }),
    use("ListMcpResourcesTool", { server: "every" }),
    use("ReadMcpResourceTool", { server: "every", uri: "demo://resource/dynamic/text/1" }),
    say("all used"),
  );
  const allowedTools = ["mcp__every", "ListMcpResourcesTool", "ReadMcpResourceTool"];
  const run = (await stage.ask("use everything", { mcpServers: { every: server }, allowedTools })).succeeded();
  equal(run.init.mcp_servers.map(({ name, status }) => [name, status]), [["every", "connected"]], "servers");
  contains(run.init.slash_commands, "mcp__every__simple-prompt", "commands");
  const { results } = (await model.finish()).last;
  // Nobody answers questions here, and long-running tasks are not offered by this client: both are told, neither breaks anything.
  const expected = ["ping", "42", "", "", "temperature", "resource", "demo://resource", "completed", "PATH", "note.gz", "ogging", "pdates"];
  expected.push(pathToFileURL(stage.cwd).href, "declined", "declin", "task", "demo://", "demo://resource/dynamic/text/1");
  lacks(run.init.tools.join(" "), "sampling", "tools that need the model");
  expected.forEach((part, index) => contains(results[index], part, `result ${index}`));
  equal(results.length, expected.length, "results");
}

scenario("mcp_everything_prompts", async (stage) => {
  const every = { command: process.execPath, args: [program(stage), "stdio"] };
  for (const [typed, part] of [
    ["simple-prompt", "simple prompt"],
    ["args-prompt Paris", "Paris"],
    ["completable-prompt Engineering Alice", "Alice"],
    ["resource-prompt Text 1", "demo://resource/dynamic/text/1"],
  ]) {
    const model = await stage.model(say("read"));
    (await stage.ask(`/mcp__every__${typed}`, { mcpServers: { every } })).succeeded();
    contains(JSON.stringify((await model.finish()).last.messages), part, typed);
  }
});

const program = (stage) => join(stage.modules, "@modelcontextprotocol/server-everything/dist/index.js");

scenario("mcp_everything_stdio", async (stage) => {
  await useEverything(stage, { command: process.execPath, args: [program(stage), "stdio"] });
});

for (const [name, kind, type, path] of [
  ["mcp_everything_http", "streamableHttp", "http", "mcp"],
  ["mcp_everything_sse", "sse", "sse", "sse"],
]) {
  scenario(name, async (stage) => {
    const port = await freePort();
    const child = spawn(process.execPath, [program(stage), kind], { env: { ...process.env, PORT: String(port) }, stdio: "ignore" });
    try {
      const url = `http://127.0.0.1:${port}/${path}`;
      for (let attempt = 0; attempt < 200; attempt += 1) {
        const reached = await fetch(`http://127.0.0.1:${port}/nothing`).then(() => true, () => false);
        if (reached) break;
        await pause(50);
      }
      await useEverything(stage, { type, url });
    } finally {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
  });
}
