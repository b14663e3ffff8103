import { describe, expect, test } from "vitest";

import type { HostEvent } from "../src/host/contract";
import { applyApproval, applyEvents, noteGap } from "../src/view/reduce";
import { queue } from "../src/view/queue";
import { agentsThatAsk, stateIn, taskTree } from "../src/view/select";
import type { Item, View } from "../src/view/view";
import { MAIN, emptyView } from "../src/view/view";
import { approval, assistant, frame, numbered, permutations, progress, result, run, stream, system, toolResult, toolUse, user } from "./events";

function see(events: HostEvent[]): View {
  return applyEvents(emptyView(), numbered(events));
}

function items(view: View, thread = MAIN): Item[] {
  return (view.threads.get(thread) ?? []).map((key) => view.items.get(key) as Item);
}

/** The thread in short, as a person would read it. */
function outline(view: View, thread = MAIN): string[] {
  return items(view, thread).map((item) => {
    switch (item.type) {
      case "prompt":
        return `prompt ${item.text}`;
      case "text":
        return `text ${item.text}${item.streaming ? "…" : ""}${item.cut ? " (cut)" : ""}`;
      case "thinking":
        return `thinking ${item.text}`;
      case "call":
        return `call ${item.call} ${stateIn(view, view.calls.get(item.call) as never)}`;
      case "elicitation":
        return `elicitation ${item.approval}`;
      case "notice":
        return `${item.level} ${item.text}`;
      case "divider":
        return `divider ${item.text}`;
      case "result":
        return `result ${item.outcome.headline}`;
    }
  });
}

function streamed(message: string, text: string[]): HostEvent[] {
  return [
    stream({ type: "message_start", message: { id: message, model: "m" } } as never),
    stream({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ...text.map((part) => stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: part } })),
  ];
}

test("a server's page that is done with is told of", () => {
  const view = see([user("1", "buy"), system({ subtype: "elicitation_complete", mcp_server_name: "shop", elicitation_id: "e1" })]);
  expect(outline(view)).toEqual(["prompt buy", "info shop says that its page is done with."]);
});

describe("text", () => {
  test("grows with each delta and is replaced by the whole block", () => {
    const live = see([user("1", "hi"), run("running"), ...streamed("m1", ["Hel", "lo"])]);
    expect(outline(live)).toEqual(["prompt hi", "text Hello…"]);
    const whole = applyEvents(live, numbered([assistant("m1", { type: "text", text: "Hello there" })], 10));
    expect(outline(whole)).toEqual(["prompt hi", "text Hello there"]);
  });

  test("takes deltas that come after the whole block for nothing", () => {
    const view = see([
      ...streamed("m1", ["Hel"]),
      assistant("m1", { type: "text", text: "Hello" }),
      stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } }),
      stream({ type: "content_block_stop", index: 0 }),
      stream({ type: "message_stop" }),
    ]);
    expect(outline(view)).toEqual(["text Hello"]);
  });

  test("keeps blocks of one response apart and in order", () => {
    const view = see([
      assistant("m1", { type: "thinking", thinking: "hm", signature: "" }),
      assistant("m1", { type: "text", text: "one" }),
      assistant("m1", { type: "text", text: "two" }),
      assistant("m2", { type: "text", text: "three" }),
    ]);
    expect(outline(view)).toEqual(["thinking hm", "text one", "text two", "text three"]);
  });

  test("that is cut off stays readable and says so", () => {
    const view = see([run("running"), ...streamed("m1", ["half a"]), run("interrupted")]);
    expect(outline(view)).toEqual(["text half a (cut)", "divider Stopped"]);
  });

  test("of two threads streams side by side", () => {
    const other = "agent-call";
    const view = see([
      ...streamed("m1", ["main"]),
      stream({ type: "message_start", message: { id: "m2", model: "m" } } as never, other),
      stream({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, other),
      stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "agent" } }, other),
      stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " goes on" } }),
    ]);
    expect(outline(view)).toEqual(["text main goes on…"]);
    expect(outline(view, other)).toEqual(["text agent…"]);
  });
});

describe("resumption", () => {
  const story: HostEvent[] = [
    user("1", "list"),
    run("running"),
    ...streamed("m1", ["I ", "look"]),
    assistant("m1", { type: "text", text: "I look" }),
    toolUse("m1", "t1", "Bash", { command: "ls" }),
    { kind: "approval", approval: approval("a1", "t1", "pending") },
    { kind: "approval", approval: approval("a1", "t1", "allowed") },
    toolResult("t1", "a.txt"),
    assistant("m2", { type: "text", text: "One file" }),
    result(),
    run("idle"),
  ];
  const whole = outline(see(story));

  test("gives the same from any cut, with everything before the cut sent again", () => {
    const events = numbered(story);
    for (let cut = 0; cut <= events.length; cut += 1) {
      let view = applyEvents(emptyView(), events.slice(0, cut));
      view = noteGap(view);
      const after = view.last_seq;
      const stored = events.filter((event) => event.seq !== null);
      // The host repeats from the cursor, and once too much to prove that repetition does no harm.
      view = applyEvents(view, stored.filter((event) => (event.seq ?? 0) > after - 2));
      expect(outline(view), `cut after ${cut}`).toEqual(whole);
    }
  });

  test("of a page that was loaded anew sees what another page saw live", () => {
    const stored = numbered(story).filter((event) => event.seq !== null);
    expect(outline(applyEvents(emptyView(), stored))).toEqual(whole);
  });

  test("does not depend on how events are put together", () => {
    const events = numbered(story);
    const single = events.reduce((view, event) => applyEvents(view, [event]), emptyView());
    expect(outline(single)).toEqual(whole);
  });

  test("marks what was missed in the middle until the whole comes", () => {
    let view = see(streamed("m1", ["The first "]));
    view = noteGap(view);
    view = applyEvents(view, numbered([stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "third" } })]));
    expect(outline(view)).toEqual(["text The first  … third…"]);
    view = applyEvents(view, numbered([assistant("m1", { type: "text", text: "The first second third" })], 5));
    expect(outline(view)).toEqual(["text The first second third"]);
  });

  test("of a response whose start was missed shows the rest, then all of it", () => {
    const tail = ["the ", "tail"].map((text) => stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }));
    let view = see([user("1", "hi"), ...tail]);
    expect(outline(view)).toEqual(["prompt hi", "text … the tail…"]);
    view = applyEvents(view, numbered([assistant("m1", { type: "text", text: "all of the tail" })], 2));
    expect(outline(view)).toEqual(["prompt hi", "text all of the tail"]);
  });

  test("keeps the identity of what did not change", () => {
    const view = see(story);
    expect(applyEvents(view, numbered(story).filter((event) => event.seq !== null))).toBe(view);
    expect(outline(applyEvents(view, numbered(story)))).toEqual(whole);
    const more = applyEvents(view, numbered([user("2", "again")], 100));
    expect(more.items.get("call:t1")).toBe(view.items.get("call:t1"));
    expect(more.calls).toBe(view.calls);
  });
});

describe("calls", () => {
  const parts: HostEvent[] = [
    toolUse("m1", "t1", "Bash", { command: "ls" }),
    progress("t1", "Bash", 3),
    { kind: "approval", approval: approval("a1", "t1", "pending") },
    { kind: "approval", approval: approval("a1", "t1", "allowed") },
    toolResult("t1", "a.txt"),
  ];

  test("come to the same whatever order their events have", () => {
    for (const order of permutations(parts)) {
      const view = see([run("running"), ...order]);
      expect(items(view).length).toBe(1);
      const call = view.calls.get("t1");
      expect(call).toMatchObject({ name: "Bash", input: { command: "ls" }, elapsed_seconds: 3 });
      expect(call?.result?.content).toBe("a.txt");
      expect(view.approvals.get("a1")?.state).toBe("allowed");
      expect(outline(view)).toEqual(["call t1 done"]);
    }
  });

  test("have an input that grows while it is written", () => {
    const view = see([
      run("running"),
      stream({ type: "message_start", message: { id: "m1", model: "m" } } as never),
      stream({ type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t1", name: "Bash", input: {} } }),
      stream({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"comm' } }),
      stream({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: 'and":"l' } }),
    ]);
    expect(view.calls.get("t1")).toMatchObject({ name: "Bash", partial: '{"command":"l', input: undefined });
    expect(outline(view)).toEqual(["call t1 writing"]);
  });

  test("of agents move to their thread when it becomes known", () => {
    const view = see([
      run("running"),
      { kind: "approval", approval: approval("a1", "t2", "pending") },
      toolUse("m1", "t1", "Agent", { description: "look" }),
      toolUse("m2", "t2", "Bash", { command: "ls" }, "t1"),
    ]);
    expect(outline(view)).toEqual(["call t1 running"]);
    expect(outline(view, "t1")).toEqual(["call t2 asking"]);
  });

  test("of agents that ask are known at every depth", () => {
    const view = see([
      run("running"),
      toolUse("m1", "t1", "Agent", {}),
      toolUse("m2", "t2", "Agent", {}, "t1"),
      toolUse("m3", "t3", "Bash", {}, "t2"),
      { kind: "approval", approval: approval("a1", "t3", "pending") },
    ]);
    expect([...agentsThatAsk(view)].sort()).toEqual(["t1", "t2"]);
    const answered = applyApproval(view, approval("a1", "t3", "allowed"));
    expect(agentsThatAsk(answered).size).toBe(0);
  });

  test("say what became of them", () => {
    const view = see([
      run("running"),
      toolUse("m", "failed", "Bash", {}),
      toolResult("failed", "no", { failed: true }),
      toolUse("m", "refused", "Bash", {}),
      system({ subtype: "permission_denied", tool_name: "Bash", tool_use_id: "refused", message: "not here" }),
      toolUse("m", "denied", "Bash", {}),
      { kind: "approval", approval: approval("a", "denied", "denied") },
      toolUse("m", "open", "Bash", {}),
      run("idle"),
    ]);
    expect(outline(view)).toEqual(["call failed failed", "call refused refused", "call denied refused", "call open stopped"]);
  });

  test("are summarised by the newest open one when a summary does not say which", () => {
    const view = see([
      toolUse("m", "t1", "Bash", {}),
      toolResult("t1", "x"),
      toolUse("m", "t2", "Bash", {}),
      frame({ type: "tool_use_summary", summary: "Looked around", uuid: "u", session_id: "s" } as never),
    ]);
    expect(view.calls.get("t2")?.summary).toBe("Looked around");
    expect(view.calls.get("t1")?.summary).toBeNull();
  });
});

describe("approvals", () => {
  test("once answered stay answered, whatever is heard late", () => {
    const view = see([{ kind: "approval", approval: approval("a1", "t1", "denied") }]);
    expect(applyApproval(view, approval("a1", "t1", "pending")).approvals.get("a1")?.state).toBe("denied");
  });
});

describe("places", () => {
  test("of calls are after the prompt, even if their approval was heard of first", () => {
    const view = see([{ kind: "approval", approval: approval("a1", "t1", "pending") }, user("1", "go"), run("running"), toolUse("m1", "t1", "Bash", {})]);
    expect(outline(view)).toEqual(["prompt go", "call t1 asking"]);
    expect(applyApproval(emptyView(), approval("a1", "t1", "pending"))).toEqual(emptyView());
  });
});

describe("the queue", () => {
  test("shows positions, and a message goes to its place when its turn comes", () => {
    let view = see([
      user("1", "first"),
      run("running"),
      user("2", "second"),
      { kind: "queued", message_id: "2", position: 1 },
      user("3", "third"),
      { kind: "queued", message_id: "3", position: 2 },
      assistant("m1", { type: "text", text: "working" }),
    ]);
    expect(queue(view).map((item) => [item.text, item.position])).toEqual([
      ["second", 1],
      ["third", 2],
    ]);
    view = applyEvents(
      view,
      numbered(
        [
          { kind: "queued", message_id: "2", position: 0 },
          { kind: "unqueued", message_id: "3" },
        ],
        20,
      ),
    );
    expect(queue(view)).toEqual([]);
    expect(outline(view)).toEqual(["prompt first", "text working", "prompt second"]);
  });
});

describe("the queue", () => {
  const waiting = [user("1", "first"), run("running"), user("2", "second"), { kind: "queued", message_id: "2", position: 1 }] as HostEvent[];
  const begins: [string, HostEvent][] = [
    ["its lifecycle", frame({ type: "command_lifecycle", command_uuid: "2", state: "started", uuid: "u", session_id: "s" })],
    ["its repetition", frame({ type: "user", message: { role: "user", content: "second" }, isReplay: true, uuid: "2", session_id: "s" } as never)],
  ];
  test.each(begins)("ends for a message with %s", (_, event) => {
    const view = see([...waiting, assistant("m1", { type: "text", text: "one" }), event]);
    expect(queue(view)).toEqual([]);
    expect(outline(view)).toEqual(["prompt first", "text one", "prompt second"]);
  });
});

describe("tasks", () => {
  test("stand below the agent that started them, in any order", () => {
    const started = (id: string, call: string, fields = {}): HostEvent =>
      system({ subtype: "task_started", task_id: id, description: id, tool_use_id: call, task_type: "local_agent", ...fields });
    const parts = [
      toolUse("m1", "t1", "Agent", { description: "outer" }),
      started("outer", "t1"),
      toolUse("m2", "t2", "Agent", { description: "inner" }, "t1"),
      started("inner", "t2"),
    ];
    for (const order of permutations(parts)) {
      const tree = taskTree(see([run("running"), ...order]));
      expect(tree.map((node) => [node.task.id, node.children.map((child) => child.task.id)])).toEqual([["outer", ["inner"]]]);
    }
  });

  test("that ended do not run again", () => {
    const view = see([
      system({ subtype: "task_started", task_id: "b1", description: "make", task_type: "local_bash", is_backgrounded: true }),
      system({ subtype: "task_notification", task_id: "b1", status: "completed", output_file: "f", summary: "made" }),
      system({ subtype: "task_progress", task_id: "b1", description: "make", usage: { total_tokens: 1, tool_uses: 1, duration_ms: 5 } }),
      system({ subtype: "background_tasks_changed", tasks: [{ task_id: "b1" }] }),
    ]);
    expect(view.tasks.get("b1")).toMatchObject({ state: "completed", summary: "made", background: true });
  });

  test("are shown for agents that nobody announced", () => {
    const tree = taskTree(see([run("running"), toolUse("m", "t1", "Task", { description: "look", subagent_type: "scout" })]));
    expect(tree[0]?.task).toMatchObject({ description: "look", agent: "scout", state: "running" });
  });
});

describe("rounds", () => {
  test("end with their duration and cost, and failures say what to do", () => {
    const view = see([
      result({ total_cost_usd: 0.25, modelUsage: { m: { contextWindow: 200000, inputTokens: 10, outputTokens: 5 } } }),
      result({ total_cost_usd: 0.75, subtype: "error_max_turns", is_error: true }),
      result({ total_cost_usd: 0.75, subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" }),
    ]);
    expect(outline(view)).toEqual([
      "result 1.2 s · $0.25",
      "result The round ended because it reached its limit of turns. Send a message to go on.",
      "result Stopped · 1.2 s",
    ]);
    expect(view.meters).toMatchObject({ cost_usd: 0.75, context_window: 200000 });
  });

  test("keep the list of steps of the last TodoWrite", () => {
    const todos = [{ content: "Build", activeForm: "Building", status: "in_progress" }];
    const view = see([toolUse("m", "t1", "TodoWrite", { todos }), toolUse("m", "t2", "TodoWrite", { nonsense: 1 })]);
    expect(view.todos).toEqual([{ content: "Build", active: "Building", status: "in_progress" }]);
  });

  test("that were rewound disappear from the message on", () => {
    const view = see([
      user("1", "one"),
      assistant("m1", { type: "text", text: "first" }),
      user("2", "two"),
      assistant("m2", { type: "text", text: "second" }),
      { kind: "rewound", message_id: "2", conversation: true, files: 1 },
    ]);
    expect(outline(view)).toEqual(["prompt one", "text first", "divider Conversation rewound, 1 file put back"]);
  });

  test("repeat no prompt that the host already showed", () => {
    const replay = frame({ type: "user", message: { role: "user", content: "hi" }, isReplay: true, uuid: "u", session_id: "s" } as never);
    expect(outline(see([user("1", "hi"), replay]))).toEqual(["prompt hi"]);
  });

  test("go on when a newer host tells of things this page does not know", () => {
    const view = see([
      { kind: "fireworks" } as never,
      frame({ type: "fireworks" } as never),
      system({ subtype: "fireworks" }),
      assistant("m", { type: "fireworks" } as never),
      user("1", "hi"),
    ]);
    expect(outline(view)).toEqual(["prompt hi"]);
  });
});
