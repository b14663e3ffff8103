// The head of a conversation: its title, its state, and what can be done with it as a whole.

import { useState } from "preact/hooks";

import type { Conversation } from "../host/contract";
import { host } from "../host/http";
import { addressOf, go } from "../route";
import { attempt, dropConversation, isOwner, otherOwner, putConversation } from "../state";
import type { View } from "../view/view";
import { Confirm } from "./Dialog";
import { inspectorOpen } from "./Inspector";

export function Header({ conversation, view }: { conversation: Conversation; view: View }) {
  const [renaming, setRenaming] = useState(false);
  const [asked, setAsked] = useState(false);
  const owner = otherOwner(conversation);
  const change = (patch: Parameters<typeof host.change>[1]): void =>
    void attempt(async () => putConversation(await host.change(conversation.id, patch)));
  return (
    <header class="head">
      {renaming ? (
        <Rename
          title={conversation.title}
          onDone={(title) => {
            setRenaming(false);
            if (title !== null && title !== conversation.title) {
              change({ title });
            }
          }}
        />
      ) : (
        <h1>
          <button type="button" class="title" disabled={!isOwner.value} title="Rename" onClick={() => setRenaming(true)}>
            {conversation.title || "Untitled"}
          </button>
        </h1>
      )}
      <StateTag view={view} />
      {owner !== null && (
        <span class="tag" title="Whose conversation it is">
          {owner}
        </span>
      )}
      <span class="grow" />
      <code class="cwd muted small" title="Working directory">
        {conversation.cwd}
      </code>
      <button
        type="button"
        class="quiet"
        aria-pressed={inspectorOpen.value}
        title="Tasks, steps, context and cost (Alt+I)"
        onClick={() => {
          inspectorOpen.value = !inspectorOpen.value;
        }}
      >
        Details
      </button>
      <details class="menu">
        <summary aria-label="More about this conversation">⋯</summary>
        <div class="menu-list">
          <a href={host.exportAddress(conversation.id, "markdown")} download>
            Export as Markdown
          </a>
          <a href={host.exportAddress(conversation.id, "json")} download>
            Export as JSON
          </a>
          <button type="button" disabled={!isOwner.value} onClick={() => change({ archived: !conversation.archived })}>
            {conversation.archived ? "Take out of the archive" : "Archive"}
          </button>
          <button type="button" class="danger" disabled={!isOwner.value} onClick={() => setAsked(true)}>
            Delete…
          </button>
        </div>
      </details>
      {asked && (
        <Confirm
          title="Delete this conversation?"
          text="It disappears here and from the database, with its approvals and costs. Files that the agent changed stay as they are."
          action="Delete"
          onClose={() => setAsked(false)}
          onConfirm={() =>
            void attempt(async () => {
              await host.remove(conversation.id);
              dropConversation(conversation.id);
              go(addressOf.home);
            })
          }
        />
      )}
    </header>
  );
}

function Rename({ title, onDone }: { title: string; onDone: (title: string | null) => void }) {
  const [text, setText] = useState(title);
  return (
    <form
      class="rename"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(text.trim() === "" ? null : text.trim());
      }}
    >
      <input
        type="text"
        aria-label="Title"
        value={text}
        maxLength={200}
        autoFocus
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={() => onDone(text.trim() === "" ? null : text.trim())}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            onDone(null);
          }
        }}
      />
    </form>
  );
}

const RUN_TEXT: Record<View["run"]["state"], string> = {
  starting: "Starting",
  running: "Running",
  idle: "Ready",
  interrupted: "Stopped",
  failed: "Failed",
  paused: "Paused",
  restarting: "Restarting",
};

function StateTag({ view }: { view: View }) {
  const waiting = [...view.approvals.values()].some((approval) => approval.state === "pending");
  const text = waiting ? "Waiting for you" : RUN_TEXT[view.run.state];
  return (
    <span class={`state ${waiting ? "waiting" : view.run.state}`} data-testid="run-state">
      {text}
    </span>
  );
}
