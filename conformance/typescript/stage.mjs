// What scenarios of the TypeScript SDK stand on: the binary, a scripted model, and questions about both.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

export const SCENARIOS = new Map();

/** Registers a scenario. */
export function scenario(name, run, { seconds = 40 } = {}) {
  SCENARIOS.set(`ts_${name}`, { run, seconds });
}

/** A reply of the model that is text. */
export const say = (text, more = {}) => ({ text, ...more });
/** A reply of the model that calls one tool. */
export const use = (name, input) => ({ tools: [{ name, input }] });
/** A reply of the model that runs a command. */
export const shell = (command) => use("Bash", { command, description: "a command of the scenario" });
/** A user message as hosts stream them. */
export const userMessage = (content, more = {}) => ({
  type: "user",
  session_id: "",
  parent_tool_use_id: null,
  message: { role: "user", content },
  ...more,
});

export function assert(condition, text) {
  if (!condition) throw new Error(text);
}

export function equal(actual, expected, what = "value") {
  assert(isDeepStrictEqual(actual, expected), `${what} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
}

export function contains(whole, part, what = "value") {
  assert(whole?.includes(part), `${what} lacks ${JSON.stringify(part)}: ${JSON.stringify(whole)?.slice(0, 500)}`);
}

export function lacks(whole, part, what = "value") {
  assert(!whole.includes(part), `${what} should not have ${JSON.stringify(part)}: ${JSON.stringify(whole).slice(0, 500)}`);
}

export async function eventually(condition, what, seconds = 10) {
  for (let left = seconds * 50; left > 0; left--) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${what} did not happen within ${seconds} s`);
}

/** All text in the content of a message, that of tool results included. */
export function plain(content) {
  if (typeof content === "string") return content;
  const texts = (content ?? []).map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "tool_result" ? plain(block.content) : undefined;
  });
  return texts.filter((text) => text !== undefined).join("\n");
}

/** One request that reached the model. */
class Request {
  constructor({ body, headers }) {
    this.body = body;
    this.headers = headers;
    this.messages = body.messages;
    this.model = body.model;
    this.system = plain(body.system);
    this.tools = (body.tools ?? []).map((tool) => tool.name);
  }

  saidBy(role) {
    return this.messages.filter((message) => message.role === role).map((message) => plain(message.content));
  }

  get userText() {
    return this.saidBy("user").join("\n");
  }

  blocks(kind) {
    return this.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter((block) => block.type === kind);
  }

  /** What tools answered, as text. */
  get results() {
    return this.blocks("tool_result").map((block) => plain(block.content));
  }
}

/** The scripted model server, as a process of its own. */
class Model {
  static async start(replies, name) {
    const script = join(process.env.TILLERMAN_CONFORMANCE, `${name}.json`);
    const model = new Model();
    model.captureFile = script.replace(/json$/, "capture.json");
    writeFileSync(script, JSON.stringify({ replies }));
    model.process = spawn(process.env.CONFORMANCE_SERVER, [script, "--capture", model.captureFile], { stdio: ["pipe", "pipe", "inherit"] });
    model.exited = once(model.process, "exit");
    [model.url] = await once(createInterface(model.process.stdout), "line");
    return model;
  }

  /** Stops the server and returns what it was asked. */
  async finish() {
    if (!this.capture) {
      this.process.stdin.end();
      await this.exited;
      const captured = JSON.parse(readFileSync(this.captureFile, "utf8"));
      this.capture = { ...captured, requests: captured.requests.map((request) => new Request(request)) };
      this.capture.last = this.capture.requests.at(-1);
    }
    return this.capture;
  }

  async verify() {
    const { problems, prefix_violation: violation, left_over: left } = await this.finish();
    assert(problems.length === 0, `the API would refuse: ${problems[0]}`);
    assert(violation === null, `the prompt cache is lost: ${violation}`);
    assert(left === 0, `${left} replies of the script were never asked for`);
  }
}

/** The messages of a run, with the questions scenarios ask about them. */
export class Run extends Array {
  ofType(type) {
    return Array.from(this).filter((message) => message.type === type);
  }

  system(subtype) {
    return this.ofType("system").filter((message) => message.subtype === subtype);
  }

  get init() {
    return this.system("init")[0];
  }

  get results() {
    return this.ofType("result");
  }

  get result() {
    const result = this.results.at(-1);
    assert(result, `there is no result among ${Array.from(this).map((message) => message.type)}`);
    return result;
  }

  blocks(kind) {
    const contents = Array.from(this).map((message) => message.message?.content);
    return contents.filter(Array.isArray).flat().filter((block) => block.type === kind);
  }

  get events() {
    return this.ofType("stream_event").map((message) => message.event);
  }

  succeeded() {
    const { subtype, is_error: failed, result, errors } = this.result;
    assert(subtype === "success" && !failed, `failed: ${subtype} ${result} ${errors}`);
    return this;
  }
}

/** Prompts that are pushed one by one, for queries that stay open. */
class Prompts {
  waiting = [];
  wake = () => {};
  ended = false;

  push(content, more) {
    this.waiting.push(userMessage(content, more));
    this.wake();
  }

  end() {
    this.ended = true;
    this.wake();
  }

  async *[Symbol.asyncIterator]() {
    while (true) {
      while (this.waiting.length > 0) yield this.waiting.shift();
      if (this.ended) return;
      await new Promise((resolve) => (this.wake = resolve));
    }
  }
}

/** A query that stays open for several prompts. */
class Conversation {
  constructor(stage, options) {
    this.prompts = new Prompts();
    this.query = stage.sdk.query({ prompt: this.prompts, options: stage.options(options) });
    this.stage = stage;
  }

  say(content, more) {
    this.prompts.push(content, more);
  }

  /** Reads messages until the last one satisfies the condition. */
  async until(condition) {
    const run = new Run();
    while (true) {
      const { value, done } = await this.query.next();
      assert(!done, `the stream ended after ${run.map((message) => message.type)}`);
      this.stage.note(value);
      run.push(value);
      if (await condition(value, run)) return run;
    }
  }

  /** Says something and reads up to the result. */
  turn(content) {
    this.say(content);
    return this.until((message) => message.type === "result");
  }

  /** Ends the input and reads what is left; an error result makes the SDK throw here, which is its way to say so. */
  async end() {
    this.prompts.end();
    const run = new Run();
    for await (const message of this.query) run.push(message);
    return run;
  }
}

/** A directory, the binary, and the model it talks to. */
export class Stage {
  constructor(sdk, modules) {
    this.sdk = sdk;
    this.modules = modules;
    this.binary = process.env.CONFORMANCE_BINARY;
    this.config = process.env.CLAUDE_CONFIG_DIR;
    this.cwd = realpathSync(process.cwd());
    this.stderr = [];
    this.models = [];
    this.seen = [];
  }

  /** Starts a model that says this and makes the binary talk to it. */
  async model(...replies) {
    const model = await Model.start(replies, `model-${this.models.length}`);
    this.models.push(model);
    process.env.ANTHROPIC_BASE_URL = model.url;
    return model;
  }

  /** A package that the SDK brings along. */
  package(path) {
    return import(pathToFileURL(join(this.modules, path)));
  }

  path(name) {
    return join(this.cwd, name);
  }

  write(name, text) {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  read(name) {
    return readFileSync(this.path(name), "utf8");
  }

  exists(name) {
    return existsSync(this.path(name));
  }

  transcript(sessionId) {
    const projects = join(this.config, "projects");
    const found = readdirSync(projects).map((project) => join(projects, project, `${sessionId}.jsonl`)).filter(existsSync);
    equal(found.length, 1, `files of session ${sessionId}`);
    return found[0];
  }

  options(chosen = {}) {
    return {
      cwd: this.cwd,
      pathToClaudeCodeExecutable: this.binary,
      stderr: (text) => this.stderr.push(text),
      settingSources: [],
      ...chosen,
    };
  }

  note(message) {
    this.seen.push(message.subtype ? `${message.type}/${message.subtype}` : message.type);
  }

  describe() {
    return this.seen.slice(-12).join(", ") || "nothing";
  }

  /** Runs a query to its end. */
  async ask(prompt, chosen) {
    const { run, error } = await this.attempt(prompt, chosen);
    if (error) throw error;
    return run;
  }

  /** Runs a query that the SDK may end with an exception: the messages before it, and the exception. */
  async attempt(prompt, chosen) {
    const run = new Run();
    try {
      for await (const message of this.sdk.query({ prompt, options: this.options(chosen) })) {
        this.note(message);
        run.push(message);
      }
    } catch (error) {
      return { run, error };
    }
    return { run };
  }

  converse(chosen) {
    return new Conversation(this, chosen);
  }

  /** What every scenario ends with: the model was used as scripted and as the API allows. */
  async close() {
    for (const model of this.models) await model.verify();
    if (this.stderr.length > 0) console.log(`stderr of the binary:\n${this.stderr.slice(-50).join("")}`);
  }

  abandon() {
    for (const model of this.models) {
      if (model.process.exitCode === null) model.process.kill("SIGKILL");
    }
  }
}
