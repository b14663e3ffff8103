// What the scripted agent does with a prompt. Requests read like those of the rehearsal model.

import { randomUUID } from "node:crypto";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAYAAAAf8/9hAAAAIElEQVR42mNkYPj/n4ECwDhqwKgBowaMGjBqwKgBQ8cAABW8D/Fz7yGgAAAAAElFTkSuQmCC";

/** Plays the part of the agent for one prompt. */
export async function play(talk, text) {
  for (const [pattern, act] of ACTS) {
    const found = pattern.exec(text);
    if (found !== null) {
      await act(talk, ...found.slice(1));
      return;
    }
  }
  await speak(talk, `You said: ${text}`);
}

const ACTS = [
  [/^run `(.+)` in the background$/i, background],
  [/^run `(.+)`$/i, run],
  [/^write (\S+) with `([\s\S]+)`$/i, write],
  [/^ask me (.+?): (.+)$/i, ask],
  [/^have the shop ask me$/i, shop],
  [/^have the shop send me to (\S+)$/i, visit],
  [/^plan (.+)$/i, plan],
  [/^count to (\d+)$/i, count],
  [/^think about (.+)$/i, think],
  [/^show a picture$/i, picture],
  [/^delegate: run `(.+)`$/i, delegateRun],
  [/^delegate: (.+)$/i, delegate],
  [/^todo: (.+)$/i, todo],
  [/^say\s+([\s\S]+)$/i, speak],
  [/^fail$/i, fail],
];

async function speak(talk, text, parent = null, step = 12) {
  const id = `msg_${randomUUID()}`;
  const stream = (event) => talk.frame({ type: "stream_event", event, parent_tool_use_id: parent });
  stream({ type: "message_start", message: { id, model: "rehearsal" } });
  stream({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  for (const piece of text.match(/[\s\S]{1,12}/g) ?? []) {
    stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } });
    await talk.pause(step);
  }
  block(talk, id, { type: "text", text }, parent);
  stream({ type: "content_block_stop", index: 0 });
  stream({ type: "message_stop" });
  if (parent === null) {
    talk.last_text = text.slice(0, 80);
  }
}

function block(talk, id, content, parent = null) {
  talk.frame({
    type: "assistant",
    parent_tool_use_id: parent,
    message: { id, type: "message", role: "assistant", model: "rehearsal", content: [content], usage: { input_tokens: 7000, output_tokens: 40 } },
  });
}

function use(talk, name, input, parent = null) {
  const id = `toolu_${randomUUID()}`;
  block(talk, `msg_${randomUUID()}`, { type: "tool_use", id, name, input }, parent);
  return id;
}

function result(talk, id, content, { failed = false, structured, parent = null } = {}) {
  talk.frame({
    type: "user",
    parent_tool_use_id: parent,
    tool_use_result: structured,
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error: failed }] },
  });
}

async function permitted(talk, call, name, input, display, suggestions = []) {
  if (talk.permission_mode === "bypassPermissions") {
    return { decision: "allow" };
  }
  const answer = await talk.ask({ tool_use_id: call, tool_name: name, input, display, suggestions });
  if (answer.decision === "deny") {
    result(talk, call, answer.message ?? "The user denied this.", { failed: true });
    await speak(talk, "Then I leave it.");
    return null;
  }
  return answer;
}

async function run(talk, command) {
  const call = use(talk, "Bash", { command, description: "Runs a command" });
  const rule = { type: "addRules", rules: [{ toolName: "Bash", ruleContent: command }], behavior: "allow", destination: "localSettings" };
  const answer = await permitted(talk, call, "Bash", { command }, { title: "Run a command", lines: [command] }, [{ label: `Always allow Bash(${command})`, update: rule }]);
  if (answer === null) {
    return;
  }
  const ran = answer.updated_input?.command ?? command;
  const seconds = Number(/^sleep (\d+)$/.exec(ran)?.[1] ?? 0);
  for (let passed = 1; passed <= seconds; passed += 1) {
    await talk.pause(1000);
    talk.frame({ type: "tool_progress", tool_use_id: call, tool_name: "Bash", parent_tool_use_id: null, elapsed_time_seconds: passed });
  }
  result(talk, call, `ran: ${ran}`, { structured: { stdout: `ran: ${ran}`, stderr: "" } });
  await speak(talk, `The command \`${ran}\` is done.`);
}

async function write(talk, path, content) {
  const input = { file_path: `${talk.cwd}/${path}`, content };
  const call = use(talk, "Write", input);
  const lines = [`write ${input.file_path}`, ...content.split("\n")];
  const answer = await permitted(talk, call, "Write", input, { title: `Write ${path}`, lines });
  if (answer === null) {
    return;
  }
  const patch = content.split("\n").map((line) => `+${line}`);
  const structured = { type: "create", filePath: input.file_path, structuredPatch: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: patch.length, lines: patch }] };
  result(talk, call, "The file was written.", { structured });
  await speak(talk, `Wrote ${path}.`);
}

async function ask(talk, question, list) {
  const options = list.split(/,\s*| or /);
  const input = {
    questions: [{ question: `${question}?`, header: "Choice", multiSelect: false, options: options.map((label) => ({ label, description: `Take ${label}` })) }],
  };
  const call = use(talk, "AskUserQuestion", input);
  const answer = await talk.ask({ kind: "question", tool_use_id: call, tool_name: "AskUserQuestion", input, display: { title: question, lines: options } });
  if (answer.decision === "deny") {
    result(talk, call, answer.message ?? "no answer", { failed: true });
    await speak(talk, "Then I decide myself.");
    return;
  }
  const given = Object.values(answer.answers ?? {}).join("; ");
  result(talk, call, `The user answered: ${given}`);
  await speak(talk, `You chose **${given}**.`);
}

const FIELDS = [
  { name: "size", label: "Size", description: "As on the label", required: true, kind: { type: "choice", choices: [{ value: "s", label: "Small" }, { value: "l", label: "Large" }] } },
  { name: "mail", label: "Mail", required: true, kind: { type: "text", format: "email" } },
  { name: "count", label: "How many", required: false, default: 1, kind: { type: "number", whole: true, minimum: 1, maximum: 9 } },
  { name: "extras", label: "Extras", required: false, default: ["bag"], kind: { type: "choices", choices: [{ value: "bag", label: "A bag" }, { value: "bow", label: "A bow" }] } },
  { name: "gift", label: "It is a gift", required: false, kind: { type: "flag" } },
  { name: "on", label: "Wanted on", required: false, kind: { type: "text", format: "date" } },
];

async function elicit(talk, elicitation, title) {
  const call = use(talk, "mcp__shop__order", { what: "boots" });
  const answer = await talk.ask({
    kind: "elicitation",
    tool_use_id: "",
    tool_name: "mcp__shop",
    input: {},
    elicitation: { server: "shop", ...elicitation },
    display: { title, lines: [elicitation.message] },
  });
  result(talk, call, `The server heard: ${answer.decision}`);
  await speak(talk, `The shop heard: ${answer.decision} ${JSON.stringify(answer.answers ?? {})}`);
}

async function shop(talk) {
  await elicit(talk, { message: "Which boots shall it be?\nThey are sent today.", fields: FIELDS }, "shop asks for an answer");
}

async function visit(talk, url) {
  await elicit(talk, { message: "Pay there, then come back.", fields: [], url }, "shop asks for a visit to a page");
}

async function plan(talk, subject) {
  const input = { plan: `# Plan for ${subject}\n\n1. Look\n2. Change\n3. Test` };
  const call = use(talk, "ExitPlanMode", input);
  const suggestions = [{ label: "Accept edits from now on", update: { type: "setMode", mode: "acceptEdits", destination: "session" } }];
  const answer = await talk.ask({ kind: "plan", tool_use_id: call, tool_name: "ExitPlanMode", input, suggestions, display: { title: "Carry out this plan", lines: input.plan.split("\n") } });
  result(talk, call, answer.decision === "allow" ? "Approved" : (answer.message ?? "no"), { failed: answer.decision !== "allow" });
  await speak(talk, answer.decision === "allow" ? "I carry it out." : `I plan anew: ${answer.message}`);
}

async function count(talk, to) {
  const numbers = Array.from({ length: Number(to) }, (_, index) => `number ${index + 1}`);
  await speak(talk, numbers.join(", "), null, 40);
}

async function think(talk, subject) {
  const id = `msg_${randomUUID()}`;
  const stream = (event) => talk.frame({ type: "stream_event", event, parent_tool_use_id: null });
  stream({ type: "message_start", message: { id, model: "rehearsal" } });
  stream({ type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } });
  stream({ type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: `What is ${subject}?` } });
  await talk.pause(30);
  block(talk, id, { type: "thinking", thinking: `What is ${subject}? It depends.`, signature: "s" });
  stream({ type: "message_stop" });
  await speak(
    talk,
    `## About ${subject}\n\nIt has *two* sides:\n\n- one\n- two\n\n\`\`\`rust\nfn main() {\n    println!("hi");\n}\n\`\`\`\n\n| side | weight |\n|---|--:|\n| one | 1 |\n\n<script>alert(1)</script> and [a link](https://example.com).`,
  );
}

async function picture(talk) {
  const call = use(talk, "Read", { file_path: "dot.png" });
  result(talk, call, [{ type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } }]);
  await speak(talk, "A dot.");
}

async function delegate(talk, task) {
  const call = use(talk, "Agent", { description: task, prompt: `Please ${task}.`, subagent_type: "scout" });
  const id = `agent-${randomUUID().slice(0, 8)}`;
  talk.frame({ type: "system", subtype: "task_started", task_id: id, description: task, tool_use_id: call, task_type: "local_agent", subagent_type: "scout", is_backgrounded: false });
  const inner = use(talk, "Glob", { pattern: "**/*.rs" }, call);
  await talk.pause(50);
  result(talk, inner, "src/main.rs", { parent: call });
  talk.frame({ type: "system", subtype: "task_progress", task_id: id, description: task, usage: { total_tokens: 900, tool_uses: 1, duration_ms: 50 }, last_tool_name: "Glob" });
  await speak(talk, "The agent found one file.", call);
  talk.frame({ type: "system", subtype: "task_notification", task_id: id, status: "completed", output_file: "f", summary: "Found one file", tool_use_id: call, usage: { total_tokens: 1200, tool_uses: 1, duration_ms: 120 } });
  result(talk, call, "The agent found one file.");
  await speak(talk, "The agent is done.");
}

async function delegateRun(talk, command) {
  const call = use(talk, "Agent", { description: command, prompt: `Run ${command}.`, subagent_type: "scout" });
  const inner = use(talk, "Bash", { command }, call);
  const answer = await talk.ask({ tool_use_id: inner, tool_name: "Bash", input: { command }, agent_id: "scout-1", display: { title: "Run a command", lines: [command] } });
  result(talk, inner, answer.decision === "allow" ? `ran: ${command}` : "denied", { failed: answer.decision !== "allow", parent: call });
  result(talk, call, "Done.");
  await speak(talk, "The agent is done.");
}

async function todo(talk, list) {
  const steps = list.split(/,\s*/).map((content, index) => ({ content, activeForm: `Doing: ${content}`, status: ["completed", "in_progress"][index] ?? "pending" }));
  const call = use(talk, "TodoWrite", { todos: steps });
  result(talk, call, "Noted.");
  await speak(talk, "The list is written.");
}

async function background(talk, command) {
  const call = use(talk, "Bash", { command, run_in_background: true });
  const id = `bash-${randomUUID().slice(0, 8)}`;
  const task = { output: "", running: true };
  let line = 0;
  task.timer = setInterval(() => {
    task.output += `line ${(line += 1)}\n`;
  }, 200);
  task.timer.unref();
  talk.tasks.set(id, task);
  talk.frame({ type: "system", subtype: "task_started", task_id: id, description: command, tool_use_id: call, task_type: "local_bash", is_backgrounded: true });
  result(talk, call, `Started in the background as ${id}.`, { structured: { backgroundTaskId: id } });
  await speak(talk, "It runs in the background.");
}

async function fail(talk) {
  talk.frame({ type: "system", subtype: "api_retry", attempt: 1, max_retries: 3, retry_delay_ms: 100, error_status: 529, error: "overloaded" });
  await talk.pause(100);
  talk.frame({
    type: "assistant",
    error: "server_error",
    is_api_error_message: true,
    message: { id: "x", model: "<synthetic>", content: [{ type: "text", text: "The provider is overloaded. Nothing was changed; send the message again in a minute." }] },
  });
}
