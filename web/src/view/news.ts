// News about the session: its state, its tasks, what it could not do.

import type { SystemFrame, TaskStarted } from "../protocol";
import type { Draft } from "./draft";
import { notice } from "./notice";
import type { Level, Task, TaskState } from "./view";
import { MAIN } from "./view";

export function applySystem(draft: Draft, at: string, frame: SystemFrame): void {
  switch (frame.subtype) {
    case "init":
      draft.view.model = frame.model;
      draft.view.mode = frame.permissionMode ?? draft.view.mode;
      draft.view.commands = frame.slash_commands ?? [];
      draft.view.agents = frame.agents ?? [];
      return;
    case "status":
      draft.view.activity = ACTIVITIES[frame.status ?? ""] ?? null;
      draft.view.mode = frame.permissionMode ?? draft.view.mode;
      if (frame.compact_error !== undefined) {
        notice(draft, at, frame.uuid, "warning", `The conversation could not be shortened: ${frame.compact_error}`);
      }
      return;
    case "permission_denied":
      draft.call(frame.tool_use_id, undefined, at, {
        name: draft.view.calls.get(frame.tool_use_id)?.name || frame.tool_name,
        refusal: frame.message,
      });
      return;
    case "api_retry": {
      const seconds = Math.ceil(frame.retry_delay_ms / 1000);
      const status = frame.error_status === null ? "" : ` (${frame.error_status})`;
      draft.view.activity = `The model did not answer${status}; trying again in ${seconds} s, attempt ${frame.attempt} of ${frame.max_retries}`;
      return;
    }
    case "compact_boundary":
      draft.put(MAIN, {
        type: "divider",
        key: `compact:${frame.uuid}`,
        at,
        text: "Earlier messages were summarised to make room",
      });
      return;
    case "notification":
      notice(draft, at, frame.uuid, levelOf(frame.priority), frame.text);
      return;
    case "informational":
      notice(draft, at, frame.uuid, levelOf(frame.level), frame.content);
      return;
    case "elicitation_complete":
      notice(draft, at, frame.uuid, "info", `${frame.mcp_server_name} says that its page is done with.`);
      return;
    case "local_command_output":
      draft.put(MAIN, {
        type: "text",
        key: `local:${frame.uuid}`,
        at,
        text: frame.content,
        streaming: false,
        cut: false,
      });
      return;
    default:
      applyTask(draft, at, frame);
      return;
  }
}

function applyTask(draft: Draft, at: string, frame: SystemFrame): void {
  switch (frame.subtype) {
    case "task_started":
      startTask(draft, at, frame);
      return;
    case "task_progress":
      patchTask(draft, at, frame.task_id, {
        description: frame.description,
        usage: frame.usage,
        last_tool: frame.last_tool_name ?? null,
      });
      return;
    case "task_updated": {
      const state = stateOf(frame.patch?.status);
      const background = frame.patch?.["is_backgrounded"];
      patchTask(draft, at, frame.task_id, {
        ...(state === undefined ? {} : { state }),
        ...(typeof background === "boolean" ? { background } : {}),
      });
      return;
    }
    case "task_notification":
      patchTask(draft, at, frame.task_id, {
        state: stateOf(frame.status) ?? "completed",
        summary: frame.summary,
        ...(frame.usage === undefined ? {} : { usage: frame.usage }),
        ...(frame.tool_use_id === undefined ? {} : { call: frame.tool_use_id }),
      });
      return;
    case "background_tasks_changed":
      for (const task of frame.tasks ?? []) {
        patchTask(draft, at, task.task_id, {
          background: true,
          ...(task.description ? { description: task.description } : {}),
          ...(task.task_type ? { kind: task.task_type } : {}),
          ...(typeof task["parent_task_id"] === "string" ? { parent: task["parent_task_id"] } : {}),
        });
      }
      return;
    default:
      return;
  }
}

function startTask(draft: Draft, at: string, frame: TaskStarted): void {
  const parent = frame["parent_task_id"];
  patchTask(draft, at, frame.task_id, {
    description: frame.description,
    kind: frame.task_type ?? "local_agent",
    agent: frame.subagent_type ?? null,
    call: frame.tool_use_id ?? null,
    parent: typeof parent === "string" ? parent : null,
    background: frame.is_backgrounded ?? false,
  });
  if (frame.tool_use_id !== undefined) {
    draft.call(frame.tool_use_id, undefined, at, { task: frame.task_id });
  }
}

function patchTask(draft: Draft, at: string, id: string, change: Partial<Task>): void {
  const old = draft.view.tasks.get(id) ?? newTask(id, at);
  const next = { ...old, ...change };
  // A task that ended does not run again, whatever comes late.
  const state = old.state === "running" ? next.state : old.state;
  draft.own("tasks").set(id, { ...next, state });
}

function newTask(id: string, at: string): Task {
  return {
    id,
    description: "",
    kind: "",
    agent: null,
    call: null,
    parent: null,
    background: false,
    state: "running",
    last_tool: null,
    usage: null,
    summary: null,
    begun_at: at,
  };
}

function stateOf(status: string | undefined): TaskState | undefined {
  switch (status) {
    case "running":
    case "completed":
    case "failed":
    case "stopped":
      return status;
    case "killed":
      return "stopped";
    default:
      return undefined;
  }
}

function levelOf(name: string): Level {
  switch (name) {
    case "error":
    case "immediate":
      return "error";
    case "warning":
    case "high":
      return "warning";
    default:
      return "info";
  }
}

const ACTIVITIES: Record<string, string> = {
  requesting: "Waiting for the model",
  compacting: "Making room: earlier messages are being summarised",
};
