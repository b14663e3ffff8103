// What the official MCP runner starts as a client: sessions of the binary, with a scripted model, against the runner's server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { Stage, assert, plain, say, use } from "../typescript/stage.mjs";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const binary = process.env.CONFORMANCE_BINARY;
const stage = new Stage();
const children = [];
const SECONDS = 40;
/** A person who is told to sign in does so, and once again when that was not enough. */
const SIGN_INS = 2;

/** What the model calls in each scenario; those about authorization all have the same tool. */
const CALLS = {
  initialize: [],
  tools_call: [["add_numbers", { a: 5, b: 3 }]],
  "elicitation-sep1034-client-defaults": [["test_client_elicitation_defaults", {}]],
  "sse-retry": [["test_reconnection", {}]],
};
const calls = CALLS[scenario] ?? [["test-tool", {}]];

/** Clients that are known beforehand, because they published who they are or were registered by hand. */
const clientId = scenario === "auth/basic-cimd" ? "https://conformance-test.local/client-metadata.json" : context.client_id;

function configure() {
  const oauth = clientId && { oauth: { clientId } };
  const file = stage.path("servers.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { tested: { type: "http", url, ...oauth } } }));
  return `--mcp-config=${file}`;
}

function start(flags, environment = {}) {
  const child = spawn(binary, flags, { env: { ...process.env, ...environment }, stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const exited = once(child, "exit").then(([code]) => code);
  return { child, exited, lines: createInterface(child.stdout) };
}

/** Signs in as a person would: runs the command, and opens the address that it prints in a browser. */
async function signIn(servers) {
  const secret = context.client_secret && { MCP_CLIENT_SECRET: context.client_secret };
  const { child, exited, lines } = start([servers, "mcp", "login", "tested"], secret);
  child.stdin.end();
  for await (const line of lines) {
    console.log(line);
    if (!/^https?:/.test(line)) continue;
    const page = await fetch(line);
    assert(page.ok, `the browser ended up at ${page.url} with ${page.status}: ${await page.text()}`);
  }
  assert((await exited) === 0, "nobody could sign in");
}

/** The answer to what the binary asks its host: people accept forms as they are. */
function answer({ request_id, request }) {
  const response = request.subtype === "elicitation" ? { action: "accept", content: {} } : { behavior: "allow" };
  return { type: "control_response", response: { subtype: "success", request_id, response } };
}

/** Runs a session that makes the calls: whether they succeeded, and whether the person is told to sign in. */
async function converse(servers) {
  const model = await stage.model(...calls.map(([name, input]) => use(`mcp__tested__${name}`, input)), say("done"));
  const flags = ["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"];
  const { child, exited, lines } = start([...flags, servers, "--allowedTools", "mcp__tested"]);
  const send = (frame) => child.stdin.write(`${JSON.stringify(frame)}\n`);
  send({ type: "user", session_id: "", parent_tool_use_id: null, message: { role: "user", content: "go" } });
  let status;
  for await (const line of lines) {
    const frame = JSON.parse(line);
    if (frame.subtype === "init") [{ status }] = frame.mcp_servers;
    if (frame.type === "control_request") send(answer(frame));
    if (frame.type === "result") child.stdin.end();
  }
  assert((await exited) === 0, "the session failed");
  const results = (await model.finish()).last.blocks("tool_result");
  console.log(`the server is ${status}; calls:`, JSON.stringify(results));
  const good = status === "connected" && results.length === calls.length && results.every((result) => !result.is_error);
  const advised = status === "needs-auth" || results.some((result) => plain([result]).includes("tillerman mcp login"));
  return { good, advised };
}

async function main() {
  const servers = configure();
  for (let left = SIGN_INS; ; left -= 1) {
    const { good, advised } = await converse(servers);
    if (good) break;
    assert(advised, "a call failed");
    assert(left > 0, "signing in did not help");
    await signIn(servers);
  }
  await stage.close();
}

function fail(why) {
  console.error(why);
  stage.abandon();
  for (const child of children) child.kill("SIGKILL");
  process.exit(1);
}

setTimeout(() => fail(`the client did not end within ${SECONDS} s`), SECONDS * 1000).unref();
await main().catch((error) => fail(error.message));
