// One call of a tool, from the first word of its input to its result.

import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";

import { useNow } from "../clock";
import type { Approval } from "../host/contract";
import { duration } from "../text/format";
import { picturesOf, textOf } from "../view/frames";
import { headline, toolName } from "../view/headline";
import type { CallState } from "../view/select";
import { callState } from "../view/select";
import { readTodos } from "../view/todos";
import type { Call, Task } from "../view/view";
import { ApprovalCard } from "./ApprovalCard";
import { CallDiff, hasDiff } from "./CallDiff";
import { Markdown } from "./Markdown";
import { Output } from "./Output";
import { Pictures } from "./Pictures";
import { TaskOutputView } from "./TaskOutputView";
import { TodoList } from "./TodoList";

const STATES: Record<CallState, { sign: string; text: string }> = {
  writing: { sign: "…", text: "being written" },
  asking: { sign: "?", text: "waiting for your answer" },
  running: { sign: "▸", text: "running" },
  background: { sign: "▸", text: "running in the background" },
  done: { sign: "✓", text: "done" },
  failed: { sign: "✕", text: "failed" },
  refused: { sign: "⊘", text: "not allowed" },
  stopped: { sign: "■", text: "stopped" },
};

export interface ToolCardProps {
  conversation: string;
  call: Call;
  approval: Approval | undefined;
  task: Task | undefined;
  over: boolean;
  /** Whether a question waits in the thread of the agent that this call started. */
  asksInside: boolean;
  /** The thread of the agent that this call started. */
  children?: ComponentChildren;
}

export const ToolCard = memo(function ToolCard(props: ToolCardProps) {
  const { call, approval, task, over, asksInside } = props;
  const state = callState(call, approval, task, over);
  const wanted = asksInside || opensByItself(call, state);
  const [open, setOpen] = useState(wanted);
  // A card that has something to show or to ask opens; what a person closed afterwards stays closed.
  useEffect(() => {
    if (wanted) {
      setOpen(true);
    }
  }, [wanted]);
  const { sign } = STATES[state];
  const text = stateText(state, approval);
  const label = `${toolName(call.name)} ${headline(call)}`;
  return (
    <article class={`call ${state}`} data-testid="call" data-state={state} data-call={call.id} aria-label={`${label}, ${text}`}>
      <button type="button" class="call-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
        <span class="tool">{toolName(call.name) || "Tool"}</span>
        <span class="headline">{headline(call)}</span>
        <Elapsed call={call} state={state} />
        <span class="state-text">{text}</span>
      </button>
      {call.progress !== null && call.result === null && <Progress progress={call.progress} />}
      {open && <Body {...props} state={state} />}
      {!open && state === "asking" && approval !== undefined && <ApprovalCard approval={approval} />}
    </article>
  );
});

/** How far a call is; of questions and plans nothing was allowed or forbidden. */
function stateText(state: CallState, approval: Approval | undefined): string {
  if (state === "refused" && approval?.kind === "question") {
    return "not answered";
  }
  if (state === "refused" && approval?.kind === "plan") {
    return "to be planned anew";
  }
  return STATES[state].text;
}

function opensByItself(call: Call, state: CallState): boolean {
  return state === "asking" || state === "failed" || state === "background" || (hasDiff(call.name) && state === "done");
}

function Elapsed({ call, state }: { call: Call; state: CallState }) {
  const running = state === "running" || state === "background";
  const now = useNow(running);
  if (!running) {
    return null;
  }
  const measured = call.elapsed_seconds === null ? 0 : call.elapsed_seconds * 1000;
  const passed = Math.max(measured, now - Date.parse(call.begun_at));
  return passed < 2000 ? null : <span class="elapsed">{duration(Math.floor(passed / 1000) * 1000)}</span>;
}

function Progress({ progress }: { progress: NonNullable<Call["progress"]> }) {
  const { done, total, message } = progress;
  return (
    <div class="progress">
      {total === null ? <progress aria-label="Progress" /> : <progress aria-label="Progress" max={total} value={done} />}
      <span class="small muted">{message ?? (total === null ? String(done) : `${done} of ${total}`)}</span>
    </div>
  );
}

function Body({ conversation, call, approval, task, state, children }: ToolCardProps & { state: CallState }) {
  const asked = approval !== undefined && (approval.state === "pending" || approval.state !== "allowed" || approval.answered_by !== null);
  return (
    <div class="call-body">
      {approval?.state !== "pending" && <Input call={call} state={state} />}
      {asked && <ApprovalCard approval={approval} />}
      {call.refusal !== null && <p class="warning">{call.refusal}</p>}
      {call.summary !== null && <p class="muted">{call.summary}</p>}
      {call.output !== null && call.result === null && <Output text={call.output} label="Output so far" tail />}
      {children}
      {task !== undefined && task.kind === "local_bash" && <TaskOutputView conversation={conversation} task={task} />}
      <Result call={call} />
    </div>
  );
}

function Input({ call, state }: { call: Call; state: CallState }) {
  const fields = (call.input ?? {}) as Record<string, unknown>;
  if (call.input === undefined) {
    return call.partial === "" ? null : <Output text={call.partial} label="Input so far" tail />;
  }
  if (hasDiff(call.name)) {
    return state === "failed" ? null : <CallDiff name={call.name} input={call.input} result={call.result?.structured} />;
  }
  switch (call.name) {
    case "Bash":
      return <pre class="command">{String(fields["command"] ?? "")}</pre>;
    case "Monitor":
      return typeof fields["command"] === "string" ? <pre class="command">{fields["command"]}</pre> : null;
    case "TodoWrite":
      return <TodoList todos={readTodos(call.input) ?? []} />;
    case "ExitPlanMode":
      return <Markdown text={String(fields["plan"] ?? "")} />;
    case "Agent":
    case "Task":
      return typeof fields["prompt"] === "string" ? <p class="agent-prompt">{fields["prompt"]}</p> : null;
    case "Read":
    case "AskUserQuestion":
      return null;
    default:
      return Object.keys(fields).length === 0 ? null : <Output text={JSON.stringify(fields, null, 2)} label="Input" />;
  }
}

function Result({ call }: { call: Call }) {
  if (call.result === null) {
    return null;
  }
  const pictures = picturesOf(call.result.content);
  const text = textOf(call.result.content);
  const isQuiet = (hasDiff(call.name) || call.name === "TodoWrite") && !call.result.failed;
  return (
    <>
      <Pictures pictures={pictures} />
      {text !== "" && !isQuiet && <Output text={text} label="Result" failed={call.result.failed} />}
    </>
  );
}
