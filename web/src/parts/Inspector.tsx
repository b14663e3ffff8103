// What stands beside a conversation: steps, agents and tasks, context and cost.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { useNow } from "../clock";
import type { ContextUsage, Conversation } from "../host/contract";
import { host, sentence } from "../host/http";
import { attempt, isOwner } from "../state";
import { duration, money, plural, tokens } from "../text/format";
import type { TaskNode } from "../view/select";
import { taskTree } from "../view/select";
import type { Task, View } from "../view/view";
import { TaskOutputView } from "./TaskOutputView";
import { Thread } from "./Thread";
import { TodoList } from "./TodoList";

const hasRoom = (): boolean => matchMedia("(min-width: 1100px)").matches;

export const inspectorOpen = signal(hasRoom());

/** Where the details lie over the conversation, another conversation begins without them. */
export function makeRoom(): void {
  inspectorOpen.value &&= hasRoom();
}

export function Inspector({ conversation, view }: { conversation: Conversation; view: View }) {
  const tree = taskTree(view);
  return (
    <aside class="inspector" aria-label="Details of the conversation">
      <button type="button" class="quiet inspector-close" aria-label="Close the details" onClick={() => (inspectorOpen.value = false)}>
        ✕
      </button>
      <section>
        <h2>Steps</h2>
        {view.todos.length === 0 ? (
          <p class="muted small">The agent keeps its list of steps here when the work has several.</p>
        ) : (
          <TodoList todos={view.todos} />
        )}
      </section>
      <section>
        <h2>Agents and tasks</h2>
        {tree.length === 0 ? (
          <p class="muted small">Agents and background commands appear here; you can open, follow and stop them.</p>
        ) : (
          <ul class="tree" aria-label="Agents and tasks" data-testid="tasks">
            {tree.map((node) => (
              <Node key={node.task.id} conversation={conversation.id} view={view} node={node} />
            ))}
          </ul>
        )}
      </section>
      <Context conversation={conversation} view={view} />
      <section>
        <h2>Cost</h2>
        <dl class="facts-list">
          <dt>This conversation</dt>
          <dd data-testid="cost">{money(Math.max(conversation.cost_usd, view.meters.cost_usd))}</dd>
          <dt>Tokens in</dt>
          <dd>{tokens(view.meters.input_tokens)}</dd>
          <dt>Tokens out</dt>
          <dd>{tokens(view.meters.output_tokens)}</dd>
        </dl>
      </section>
    </aside>
  );
}

const SIGNS: Record<Task["state"], string> = { running: "▸", completed: "✓", failed: "✕", stopped: "■" };

function Node({ conversation, view, node }: { conversation: string; view: View; node: TaskNode }) {
  const [open, setOpen] = useState(false);
  const { task, children } = node;
  const now = useNow(task.state === "running");
  const passed = task.usage?.duration_ms ?? (task.state === "running" ? now - Date.parse(task.begun_at) : 0);
  const facts = [
    task.agent ?? (task.kind === "local_bash" ? "command" : "agent"),
    task.background ? "background" : "",
    task.usage === null ? "" : `${plural(task.usage.tool_uses, "call")}, ${tokens(task.usage.total_tokens)} tokens`,
    passed > 1000 ? duration(Math.floor(passed / 1000) * 1000) : "",
    task.state === "running" && task.last_tool !== null ? task.last_tool : "",
  ].filter((fact) => fact !== "");
  return (
    <li class={task.state}>
      <div class="tree-row">
        <button type="button" class="tree-head" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span aria-hidden="true">{SIGNS[task.state]}</span>
          <span>
            {task.description || "Task"}
            <span class="hidden">, {task.state}</span>
            <span class="muted small"> {facts.join(" · ")}</span>
          </span>
        </button>
        {task.state === "running" && isOwner.value && !task.id.startsWith("call:") && (
          <button
            type="button"
            class="quiet small"
            aria-label={`Stop ${task.description}`}
            onClick={() => void attempt(() => host.stopTask(conversation, task.id))}
          >
            Stop
          </button>
        )}
      </div>
      {open && (
        <div class="tree-body">
          {task.summary !== null && <p class="small">{task.summary}</p>}
          {task.kind === "local_bash" ? (
            <TaskOutputView conversation={conversation} task={task} />
          ) : (
            task.call !== null && <Thread conversation={conversation} view={view} thread={task.call} />
          )}
        </div>
      )}
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Node key={child.task.id} conversation={conversation} view={view} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Context({ conversation, view }: { conversation: Conversation; view: View }) {
  const [usage, setUsage] = useState<ContextUsage | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const look = async (): Promise<void> => {
    setBusy(true);
    try {
      setUsage(await host.context(conversation.id));
      setError(null);
    } catch (problem) {
      setError(sentence(problem));
    }
    setBusy(false);
  };
  useEffect(() => {
    setUsage(null);
    setError(null);
  }, [conversation.id]);
  const used = Math.max(view.meters.context_tokens, usage?.totalTokens ?? 0);
  const most = usage?.maxTokens ?? view.meters.context_window;
  return (
    <section>
      <h2>Context</h2>
      {most > 0 ? (
        <>
          <meter
            aria-label="Context used"
            min={0}
            max={most}
            value={Math.min(used, most)}
            high={most * 0.8}
            data-testid="context-meter"
          />
          <p class="small">
            {tokens(used)} of {tokens(most)} tokens ({Math.round((used / most) * 100)} %)
          </p>
        </>
      ) : (
        <p class="muted small">Known after the first answer.</p>
      )}
      {usage !== null && (
        <dl class="facts-list">
          {usage.categories
            .filter((category) => category.kind !== "free" && category.tokens > 0)
            .map((category) => (
              <Category key={category.id} name={category.name} tokens={category.tokens} />
            ))}
        </dl>
      )}
      {error !== null && <p class="muted small">{error}</p>}
      <button type="button" class="quiet small" disabled={busy} onClick={() => void look()}>
        {usage === null ? "What fills it?" : "Look again"}
      </button>
    </section>
  );
}

function Category({ name, tokens: count }: { name: string; tokens: number }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{tokens(count)}</dd>
    </>
  );
}
