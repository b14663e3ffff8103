// Plays one scenario of the official MCP conformance runner: its server, our client.

import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [modules, wanted] = process.argv.slice(2);
const PREFIX = "mcp_";
const runner = [
  "--import",
  join(import.meta.dirname, "older-node.mjs"),
  join(modules, "@modelcontextprotocol/conformance/dist/index.js"),
];
const SECONDS = 45;

/** The scenarios that the runner has for clients. */
function scenarios() {
  const { stdout, stderr, status } = spawnSync(process.execPath, [...runner, "list", "--client"], { encoding: "utf8" });
  const names = [...stdout.matchAll(/^ +- (\S+)/gm)].map(([, name]) => name);
  if (status !== 0 || names.length === 0) throw new Error(`the official runner lists no scenarios: ${stderr}`);
  return names;
}

/** What the runner found wrong, in one line. */
function findings(directory) {
  const [results] = readdirSync(directory, { recursive: true }).filter((path) => path.endsWith("checks.json"));
  if (!results) return "the runner left no results";
  const checks = JSON.parse(readFileSync(join(directory, results), "utf8"));
  const wrong = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const said = wrong.map(({ id, description, errorMessage }) => `${id}: ${errorMessage ?? description}`);
  return said.join("; ") || "the runner found nothing wrong, but the client did not end well";
}

function play(name) {
  const output = join(process.env.TILLERMAN_CONFORMANCE, "results");
  const client = `${process.execPath} ${join(import.meta.dirname, "drive.mjs")}`;
  const options = ["--command", client, "--scenario", name, "--timeout", String(SECONDS * 1000), "--output-dir", output];
  const { status } = spawnSync(process.execPath, [...runner, "client", ...options], { stdio: "inherit" });
  if (status === 0) return 0;
  console.log(findings(output));
  return 1;
}

if (wanted === "--list") {
  for (const name of scenarios()) console.log(`${PREFIX}${name} ${SECONDS + 10}`);
} else {
  process.exitCode = play(wanted.slice(PREFIX.length));
}
