// Plays one scenario of the TypeScript SDK; `--list` prints the names with their time limits.

import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { SCENARIOS, Stage } from "./stage.mjs";

const [modules, name] = process.argv.slice(2);

async function load() {
  const directory = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "scenarios");
  for (const file of (await readdir(directory)).sort()) {
    await import(pathToFileURL(join(directory, file)));
  }
}

/** Where in the scenarios an error came from. */
function place(error) {
  const line = String(error?.stack).split("\n").find((line) => line.includes("/scenarios/"));
  const found = /scenarios\/([^/]+:\d+)/.exec(line ?? "");
  return found ? found[1] : basename(import.meta.url);
}

async function play() {
  const { run, seconds } = SCENARIOS.get(name);
  const sdk = await import(pathToFileURL(join(modules, "@anthropic-ai/claude-agent-sdk/sdk.mjs")));
  const stage = new Stage(sdk, modules);
  // A little less than the runner allows, so that what is known so far is told.
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`hangs after ${stage.describe()}`)), (seconds - 2) * 1000));
  try {
    await Promise.race([run(stage), late]);
    await stage.close();
  } finally {
    stage.abandon();
  }
}

await load();
if (name === "--list") {
  for (const [name, { seconds }] of SCENARIOS) console.log(name, seconds);
  process.exit(0);
}
try {
  await play();
  process.exit(0);
} catch (error) {
  console.log(error);
  console.log(`${place(error)}: ${String(error?.message ?? error).replace(/\s+/g, " ").slice(0, 600)}`);
  process.exit(1);
}
