// From frames of the protocol to what is seen.

import type { AssistantFrame, Block, Content, Frame, ResultFrame, ToolProgress, UserFrame } from "../protocol";
import { money, duration } from "../text/format";
import type { Draft } from "./draft";
import { applySystem } from "./news";
import { notice } from "./notice";
import { takePosition } from "./queue";
import { applyStream, cutLive, keyOfComplete } from "./stream";
import { readTodos } from "./todos";
import type { Outcome, Picture } from "./view";
import { MAIN } from "./view";

export function applyFrame(draft: Draft, at: string, seq: number | null, frame: Frame): void {
  switch (frame.type) {
    case "assistant":
      applyAssistant(draft, frame.timestamp ?? at, frame);
      return;
    case "user":
      applyUser(draft, frame.timestamp ?? at, seq, frame);
      return;
    case "system":
      applySystem(draft, at, frame);
      return;
    case "result":
      applyResult(draft, at, seq, frame);
      return;
    case "stream_event":
      applyStream(draft, at, frame);
      return;
    case "tool_progress":
      applyProgress(draft, at, frame);
      return;
    case "tool_use_summary":
      for (const id of summarised(draft, frame.preceding_tool_use_ids)) {
        draft.call(id, undefined, at, { summary: frame.summary });
      }
      return;
    case "command_lifecycle":
      if (frame.state === "started" || frame.state === "completed") {
        takePosition(draft, at, frame.command_uuid, 0);
      }
      return;
    case "prompt_suggestion":
      draft.view.suggestion = frame.suggestion;
      return;
    case "rate_limit_event": {
      const status = frame.rate_limit_info.status;
      if (status !== "allowed") {
        notice(draft, at, frame.uuid, status === "rejected" ? "error" : "warning", limitText(status));
      }
      return;
    }
    case "conversation_reset":
      draft.put(MAIN, { type: "divider", key: `reset:${frame.uuid}`, at, text: "The conversation starts over" });
      draft.view.todos = [];
      return;
    default:
      return;
  }
}

/** Pictures among content blocks. */
export function picturesOf(content: Content): Picture[] {
  if (typeof content === "string") {
    return [];
  }
  return content.flatMap((block) => {
    const source = block.type === "image" ? (block.source as Partial<Picture> | null) : null;
    const media = source?.media_type;
    const isPicture = typeof media === "string" && /^image\/(png|jpeg|gif|webp)$/.test(media);
    return isPicture && typeof source?.data === "string" ? [{ media_type: media, data: source.data }] : [];
  });
}

export function textOf(content: Content): string {
  if (typeof content === "string") {
    return content;
  }
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function applyAssistant(draft: Draft, at: string, frame: AssistantFrame): void {
  const thread = frame.parent_tool_use_id ?? MAIN;
  const message = frame.message.id || frame.uuid;
  for (const block of frame.message.content) {
    const key = keyOfComplete(draft, thread, message);
    applyBlock(draft, at, thread, key, block, frame);
  }
  const usage = frame.message.usage;
  if (thread === MAIN && usage !== undefined && frame.message.model !== "<synthetic>") {
    const read =
      (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
    if (read > 0) {
      draft.view.meters = { ...draft.view.meters, context_tokens: read + (usage.output_tokens ?? 0) };
    }
  }
}

function applyBlock(
  draft: Draft,
  at: string,
  thread: string,
  key: string,
  block: Block,
  frame: AssistantFrame,
): void {
  switch (block.type) {
    case "text":
      if (frame.is_api_error_message === true || frame.error !== undefined) {
        draft.put(thread, { type: "notice", key, at, level: "error", text: block.text, detail: null });
      } else if (block.text.trim() !== "") {
        draft.put(thread, { type: "text", key, at, text: block.text, streaming: false, cut: false });
      }
      return;
    case "thinking":
      draft.put(thread, { type: "thinking", key, at, text: block.thinking, streaming: false });
      return;
    case "redacted_thinking":
      draft.put(thread, { type: "thinking", key, at, text: "", streaming: false });
      return;
    case "tool_use":
      draft.call(block.id, thread, at, { name: block.name, input: block.input ?? {} });
      if (block.name === "TodoWrite" && thread === MAIN) {
        draft.view.todos = readTodos(block.input) ?? draft.view.todos;
      }
      return;
    default:
      return;
  }
}

function applyUser(draft: Draft, at: string, seq: number | null, frame: UserFrame): void {
  const thread = frame.parent_tool_use_id ?? MAIN;
  const content = frame.message.content;
  const id = frame.uuid ?? `${seq ?? at}`;
  if (typeof content !== "string") {
    for (const block of content) {
      if (block.type === "tool_result") {
        const result = {
          content: block.content ?? "",
          failed: block.is_error ?? false,
          structured: frame.tool_use_result,
          at,
        };
        draft.call(block.tool_use_id, frame.parent_tool_use_id === undefined ? undefined : thread, at, { result });
      }
    }
  }
  if (frame.isReplay === true) {
    // The run repeats a prompt when it begins with it.
    takePosition(draft, at, id, 0);
    return;
  }
  const text = textOf(content).trim();
  // The host says in its own words that a run was stopped.
  if (text === "" || text.startsWith("[Request interrupted by user")) {
    return;
  }
  if (thread !== MAIN) {
    draft.put(thread, {
      type: "prompt",
      key: `said:${id}`,
      at,
      message_id: null,
      client_id: null,
      text,
      attachments: [],
      by: null,
      position: 0,
    });
  } else {
    const [first = "", ...rest] = text.split("\n");
    const short = first.length > 160 ? `${first.slice(0, 160)}…` : first;
    notice(draft, at, id, "info", short, rest.length > 0 || short !== first ? text : null);
  }
}

function applyProgress(draft: Draft, at: string, frame: ToolProgress): void {
  const known = draft.view.calls.get(frame.tool_use_id);
  const done = frame["progress"];
  const total = frame["total"];
  const message = frame["message"];
  const output = frame["output"];
  draft.call(frame.tool_use_id, frame.parent_tool_use_id ?? undefined, at, {
    name: known?.name || frame.tool_name,
    elapsed_seconds: frame.elapsed_time_seconds,
    progress:
      typeof done === "number"
        ? {
            done,
            total: typeof total === "number" ? total : null,
            message: typeof message === "string" ? message : null,
          }
        : (known?.progress ?? null),
    output: typeof output === "string" ? output : (known?.output ?? null),
    task: frame.task_id ?? known?.task ?? null,
  });
}

/** The calls a summary is about; writers that do not say mean the newest one without a result. */
function summarised(draft: Draft, ids: string[] | undefined): string[] {
  if (ids !== undefined && ids.length > 0) {
    return ids;
  }
  const open = [...draft.view.calls.values()].filter((call) => call.result === null);
  const newest = open.at(-1);
  return newest === undefined ? [] : [newest.id];
}

function applyResult(draft: Draft, at: string, seq: number | null, frame: ResultFrame): void {
  cutLive(draft);
  draft.view.activity = null;
  const usage = Object.values(frame.modelUsage ?? {});
  const sum = (pick: (model: (typeof usage)[number]) => number | undefined): number =>
    usage.reduce((total, model) => total + (pick(model) ?? 0), 0);
  const window = Math.max(0, ...usage.map((model) => model.contextWindow ?? 0));
  const before = draft.view.meters;
  const cost = frame.total_cost_usd ?? before.cost_usd;
  draft.view.meters = {
    ...before,
    cost_usd: cost,
    context_window: window || before.context_window,
    input_tokens: sum((model) => model.inputTokens) || before.input_tokens,
    output_tokens: sum((model) => model.outputTokens) || before.output_tokens,
  };
  const outcome = outcomeOf(frame, Math.max(0, cost - before.cost_usd));
  draft.put(MAIN, { type: "result", key: `result:${frame.uuid || (seq ?? at)}`, at, outcome });
}

function outcomeOf(frame: ResultFrame, cost: number): Outcome {
  const facts = [duration(frame.duration_ms), cost > 0 ? money(cost) : ""].filter((fact) => fact !== "");
  const base = { duration_ms: frame.duration_ms, cost_usd: cost };
  const reason = frame.terminal_reason ?? "";
  if (reason.startsWith("aborted")) {
    return { ...base, failed: false, headline: ["Stopped", ...facts].join(" · "), detail: null };
  }
  if (!frame.is_error) {
    return { ...base, failed: false, headline: facts.join(" · "), detail: null };
  }
  const detail = frame.errors?.join("\n") || frame.result || null;
  return { ...base, failed: true, headline: FAILURES[frame.subtype] ?? "The round failed.", detail };
}

const FAILURES: Record<string, string> = {
  error_max_turns: "The round ended because it reached its limit of turns. Send a message to go on.",
  error_max_budget_usd: "The round ended because its budget is used up. Raise the budget to go on.",
  error_max_structured_output_retries: "No answer in the wanted form was reached.",
  error_during_execution: "The round ended with an error.",
};

function limitText(status: string): string {
  return status === "rejected"
    ? "The account's limit is reached; the provider refuses requests until it resets."
    : "The account is close to its limit.";
}
