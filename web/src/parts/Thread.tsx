// A thread of a conversation: the main one, or that of an agent.

import { memo } from "preact/compat";
import { useState } from "preact/hooks";

import type { Approval } from "../host/contract";
import { clock } from "../text/format";
import { visible } from "../text/visible";
import { agentsThatAsk, approvalOf, isAgentCall, isOver, taskOf } from "../view/select";
import type { Call, Item, Task, View } from "../view/view";
import { ApprovalCard } from "./ApprovalCard";
import { Attachments } from "./Attachments";
import { CopyButton } from "./CopyButton";
import { Markdown } from "./Markdown";
import { ToolCard } from "./ToolCard";

/** Older items are drawn on demand, so that a long conversation opens at once. */
const SHOWN = 200;

interface ThreadProps {
  conversation: string;
  view: View;
  thread: string;
  onRewind?: (message: string) => void;
}

export function Thread({ conversation, view, thread, onRewind }: ThreadProps) {
  const [shown, setShown] = useState(SHOWN);
  const keys = view.threads.get(thread) ?? [];
  const over = isOver(view);
  const visibleKeys = keys.slice(-shown);
  const asking = agentsThatAsk(view);
  return (
    <>
      {visibleKeys.length < keys.length && (
        <button type="button" class="quiet earlier" onClick={() => setShown(shown + SHOWN)}>
          Show {Math.min(SHOWN, keys.length - visibleKeys.length)} earlier of {keys.length}
        </button>
      )}
      {visibleKeys.map((key) => {
        const item = view.items.get(key);
        if (item === undefined || (item.type === "prompt" && item.position > 0)) {
          return null;
        }
        if (item.type === "elicitation") {
          const approval = view.approvals.get(item.approval);
          return approval === undefined ? null : <ServerQuestion key={key} approval={approval} />;
        }
        if (item.type !== "call") {
          return <ItemView key={key} item={item} {...(onRewind === undefined ? {} : { onRewind })} />;
        }
        const call = view.calls.get(item.call);
        return call === undefined ? null : (
          <CallItem
            key={key}
            conversation={conversation}
            call={call}
            approval={approvalOf(view, call)}
            task={taskOf(view, call)}
            over={over}
            asksInside={asking.has(call.id)}
            {...(isAgentCall(call) ? { view } : {})}
          />
        );
      })}
    </>
  );
}

interface CallItemProps {
  conversation: string;
  call: Call;
  approval: Approval | undefined;
  task: Task | undefined;
  over: boolean;
  asksInside: boolean;
  /** Given for calls that start agents, whose threads stand inside their cards. */
  view?: View;
}

function CallItem({ view, ...props }: CallItemProps) {
  const inner = view?.threads.get(props.call.id)?.length ?? 0;
  if (view === undefined || inner === 0) {
    return <ToolCard {...props} />;
  }
  return (
    <ToolCard {...props}>
      <details class="agent-thread" data-testid="agent-thread" open={props.asksInside}>
        <summary>
          What the agent did <span class="muted small">{inner} steps</span>
        </summary>
        <div class="nested">
          <Thread conversation={props.conversation} view={view} thread={props.call.id} />
        </div>
      </details>
    </ToolCard>
  );
}

/** A question of an MCP server, and later what became of it. */
function ServerQuestion({ approval }: { approval: Approval }) {
  const waits = approval.state === "pending";
  return (
    <section class={`call ${waits ? "asking" : "settled"}`} data-testid="server-question">
      {!waits && (
        <p class="small">
          <span class="tag">MCP server</span> {visible(approval.elicitation?.server ?? approval.tool_name)} asked: {visible(approval.elicitation?.message ?? "")}
        </p>
      )}
      <ApprovalCard approval={approval} />
    </section>
  );
}

interface ItemViewProps {
  item: Exclude<Item, { type: "call" | "elicitation" }>;
  onRewind?: (message: string) => void;
}

export const ItemView = memo(function ItemView({ item, onRewind }: ItemViewProps) {
  switch (item.type) {
    case "prompt":
      return <Prompt item={item} {...(onRewind === undefined ? {} : { onRewind })} />;
    case "text":
      return (
        <article class={`said ${item.streaming ? "streaming" : ""}`} aria-label="Agent" data-testid="said">
          <Markdown text={item.text} />
          {item.cut && <p class="muted small">Stopped here.</p>}
          {!item.streaming && (
            <div class="item-tools">
              <CopyButton text={item.text} label="Copy answer" />
            </div>
          )}
        </article>
      );
    case "thinking":
      return <Thinking item={item} />;
    case "notice":
      return (
        <div class={`notice ${item.level}`} role={item.level === "error" ? "alert" : "note"} data-testid="notice">
          <p>{item.text}</p>
          {item.detail !== null && (
            <details>
              <summary>All of it</summary>
              <pre>{item.detail}</pre>
            </details>
          )}
        </div>
      );
    case "divider":
      return (
        <p class="divider" role="note">
          <span>{item.text}</span>
        </p>
      );
    case "result":
      return item.outcome.failed ? (
        <div class="notice error" role="alert" data-testid="failure">
          <p>{item.outcome.headline}</p>
          {item.outcome.detail !== null && <pre>{item.outcome.detail}</pre>}
        </div>
      ) : (
        <p class="round-end" data-testid="round-end">
          {item.outcome.headline}
        </p>
      );
  }
});

function Prompt({ item, onRewind }: { item: Extract<Item, { type: "prompt" }>; onRewind?: (message: string) => void }) {
  const message = item.message_id;
  return (
    <article class="prompt" aria-label={item.by === null ? "Prompt" : `${item.by} said`} data-testid="prompt" title={clock(item.at)}>
      <div class="prompt-text">{item.text}</div>
      <Attachments attachments={item.attachments} />
      <div class="item-tools">
        {message !== null && onRewind !== undefined && (
          <button type="button" class="quiet small" onClick={() => onRewind(message)}>
            Rewind to here
          </button>
        )}
        <CopyButton text={item.text} label="Copy prompt" />
      </div>
    </article>
  );
}

function Thinking({ item }: { item: Extract<Item, { type: "thinking" }> }) {
  if (item.text === "" && !item.streaming) {
    return null;
  }
  return (
    <details class="thinking" open={item.streaming} data-testid="thinking">
      <summary>{item.streaming ? "Thinking…" : "Thoughts"}</summary>
      <Markdown text={item.text} />
    </details>
  );
}
