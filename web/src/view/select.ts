// Questions that several parts of the page ask of a view.

import type { Approval } from "../host/contract";
import type { Call, Task, View } from "./view";
import { MAIN } from "./view";

export type CallState = "writing" | "asking" | "running" | "background" | "done" | "failed" | "refused" | "stopped";

/** How far a call is, from all that is known about it. */
export function callState(
  call: Call,
  approval: Approval | undefined,
  task: Task | undefined,
  over: boolean,
): CallState {
  if (call.refusal !== null || approval?.state === "denied" || approval?.state === "expired") {
    return "refused";
  }
  if (call.result !== null) {
    if (task?.state === "running" && task.background) {
      return "background";
    }
    return call.result.failed ? "failed" : "done";
  }
  if (approval?.state === "pending") {
    return "asking";
  }
  if (over) {
    return "stopped";
  }
  return call.input === undefined ? "writing" : "running";
}

/** The same for a call of a view. */
export function stateIn(view: View, call: Call): CallState {
  return callState(call, approvalOf(view, call), taskOf(view, call), isOver(view));
}

export function approvalOf(view: View, call: Call): Approval | undefined {
  return call.approval === null ? undefined : view.approvals.get(call.approval);
}

export function taskOf(view: View, call: Call): Task | undefined {
  return call.task === null ? undefined : view.tasks.get(call.task);
}

/** Whether no run is under way, so that nothing which is open will go on by itself. */
export function isOver(view: View): boolean {
  return view.run.state === "idle" || view.run.state === "interrupted" || view.run.state === "failed";
}

/** The approvals that wait for an answer, oldest first. */
export function pendingApprovals(view: View): Approval[] {
  return [...view.approvals.values()].filter((approval) => approval.state === "pending");
}

/** The calls of agents inside of which a question waits, at any depth. */
export function agentsThatAsk(view: View): Set<string> {
  const asking = new Set<string>();
  for (const approval of pendingApprovals(view)) {
    let thread = view.calls.get(approval.tool_use_id)?.thread ?? MAIN;
    while (thread !== MAIN && !asking.has(thread)) {
      asking.add(thread);
      thread = view.calls.get(thread)?.thread ?? MAIN;
    }
  }
  return asking;
}

export interface TaskNode {
  task: Task;
  children: TaskNode[];
}

/** Agents and background tasks as a tree: what an agent started stands below it. */
export function taskTree(view: View): TaskNode[] {
  const tasks = new Map(view.tasks);
  const byCall = new Map<string, string>();
  for (const task of tasks.values()) {
    if (task.call !== null) {
      byCall.set(task.call, task.id);
    }
  }
  for (const call of view.calls.values()) {
    if (isAgentCall(call) && !byCall.has(call.id)) {
      const task = taskOfCall(call, view);
      tasks.set(task.id, task);
      byCall.set(call.id, task.id);
    }
  }
  const nodes = new Map([...tasks.values()].map((task) => [task.id, { task, children: [] as TaskNode[] }]));
  const roots: TaskNode[] = [];
  for (const node of nodes.values()) {
    const parent = parentOf(node.task, view, byCall);
    const above = parent === undefined || parent === node.task.id ? undefined : nodes.get(parent);
    (above?.children ?? roots).push(node);
  }
  return roots;
}

export function isAgentCall(call: Call): boolean {
  return call.name === "Agent" || call.name === "Task";
}

function parentOf(task: Task, view: View, byCall: Map<string, string>): string | undefined {
  if (task.parent !== null) {
    return task.parent;
  }
  const call = task.call === null ? undefined : view.calls.get(task.call);
  return call === undefined || call.thread === MAIN ? undefined : byCall.get(call.thread);
}

/** Stands for an agent of which no task was announced. */
function taskOfCall(call: Call, view: View): Task {
  const input = call.input as { description?: unknown; subagent_type?: unknown } | undefined;
  const state = stateIn(view, call);
  return {
    id: `call:${call.id}`,
    description: typeof input?.description === "string" ? input.description : "Agent",
    kind: "local_agent",
    agent: typeof input?.subagent_type === "string" ? input.subagent_type : null,
    call: call.id,
    parent: null,
    background: false,
    state:
      state === "done" ? "completed" : state === "failed" || state === "refused" ? "failed" : state === "stopped" ? "stopped" : "running",
    last_tool: null,
    usage: null,
    summary: null,
    begun_at: call.begun_at,
  };
}
