// The list of conversations, search, and the ways to everything else.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { useNow } from "../clock";
import type { Conversation } from "../host/contract";
import { host } from "../host/http";
import { addressOf, route } from "../route";
import { attempt, conversations, listLoaded, loadMore, moreConversations, otherOwner, pending, projects } from "../state";
import { ago } from "../text/format";
import { plainLine } from "../text/plain";

export const sidebarOpen = signal(false);
export const searchText = signal("");

const STATE_TEXT: Record<Conversation["state"], string> = {
  idle: "",
  running: "running",
  waiting: "waiting for you",
  paused: "paused",
  failed: "failed",
};

/** Conversations in the order in which the sidebar shows them. */
export function listed(all: ReadonlyMap<string, Conversation>, archived: boolean): Conversation[] {
  return [...all.values()]
    .filter((one) => one.archived === archived)
    .sort((one, other) => other.updated_at.localeCompare(one.updated_at));
}

export function Sidebar() {
  const [archived, setArchived] = useState(false);
  const [project, setProject] = useState("");
  const found = useSearch(searchText.value, archived, project);
  const all = listed(conversations.value, archived).filter((one) => project === "" || one.project_id === project);
  const shown = found ?? all;
  return (
    <nav id="sidebar" class={`sidebar ${sidebarOpen.value ? "open" : ""}`} aria-label="Conversations">
      <div class="sidebar-top">
        <a class="brand" href={addressOf.home} onClick={close}>
          <img src="/tiller.svg" alt="" width={22} height={22} /> Tillerman
        </a>
        <a class="button primary" href={addressOf.home} onClick={close} title="New conversation (Alt+N)">
          New
        </a>
      </div>
      <label class="search">
        <span class="hidden">Search conversations</span>
        <input
          id="search"
          type="search"
          placeholder="Search  (Ctrl+K)"
          value={searchText.value}
          onInput={(event) => {
            searchText.value = event.currentTarget.value;
          }}
        />
      </label>
      {projects.value.length > 0 && (
        <label class="picker wide">
          <span class="hidden">Project</span>
          <select value={project} onChange={(event) => setProject(event.currentTarget.value)}>
            <option value="">All projects</option>
            {projects.value.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <ul class="conversations" data-testid="conversations">
        {shown.map((one) => (
          <Row key={one.id} conversation={one} />
        ))}
      </ul>
      {found === null && moreConversations.value !== null && (
        <button type="button" class="quiet" onClick={() => void attempt(loadMore)}>
          Show older ones
        </button>
      )}
      {shown.length === 0 && <p class="muted pad">{emptyText(searchText.value, archived)}</p>}
      <div class="sidebar-bottom">
        <a href={addressOf.approvals} onClick={close} class={route.value.page === "approvals" ? "current" : ""}>
          Approvals
          {pending.value.length > 0 && <span class="badge">{pending.value.length}</span>}
        </a>
        <a href={addressOf.usage} onClick={close} class={route.value.page === "usage" ? "current" : ""}>
          Usage
        </a>
        <a href={addressOf.settings("projects")} onClick={close} class={route.value.page === "settings" ? "current" : ""}>
          Settings
        </a>
        <button type="button" class="quiet" aria-pressed={archived} onClick={() => setArchived(!archived)}>
          {archived ? "Back to open ones" : "Archive"}
        </button>
      </div>
    </nav>
  );
}

function close(): void {
  sidebarOpen.value = false;
}

function emptyText(search: string, archived: boolean): string {
  if (search !== "") {
    return "Nothing found. Search looks at titles and at everything that was said.";
  }
  if (archived) {
    return "The archive is empty.";
  }
  return listLoaded.value ? "No conversations yet. Write something to begin one." : "Loading…";
}

function Row({ conversation }: { conversation: Conversation }) {
  const now = useNow(false);
  const here = route.value.page === "conversation" && route.value.id === conversation.id;
  const state = STATE_TEXT[conversation.state];
  const owner = otherOwner(conversation);
  return (
    <li>
      <a
        href={addressOf.conversation(conversation.id)}
        class={`row ${here ? "current" : ""} ${conversation.state}`}
        aria-current={here ? "page" : undefined}
        onClick={close}
      >
        <span class="row-title">{conversation.title || "Untitled"}</span>
        <span class="row-side">
          {conversation.pending_approvals > 0 && (
            <span class="badge" title="Waiting for your answer">
              {conversation.pending_approvals}
            </span>
          )}
          {conversation.state === "running" && <span class="pulse" role="img" aria-label="running" />}
          {owner !== null && (
            <span class="tag" title="Whose conversation it is" data-testid="owner">
              {owner}
            </span>
          )}
          <span class="muted small">{ago(conversation.updated_at, now)}</span>
        </span>
        <span class="row-text muted small">
          {conversation.snippet ? <Snippet text={conversation.snippet} /> : plainLine(conversation.last_text ?? "")}
        </span>
        {state !== "" && <span class="hidden">, {state}</span>}
      </a>
    </li>
  );
}

/** A hit with the found words marked; they stand between two control characters. */
function Snippet({ text }: { text: string }) {
  return (
    <>
      {text.split("\u0002").map((part, index) => {
        const [hit = "", rest] = part.split("\u0003");
        return rest === undefined ? (
          part
        ) : (
          <span key={index}>
            <mark>{hit}</mark>
            {rest}
          </span>
        );
      })}
    </>
  );
}

const SEARCH_WAIT_MS = 180;

/** What the host finds; null while nothing is looked for. */
function useSearch(text: string, archived: boolean, project: string): Conversation[] | null {
  const [found, setFound] = useState<Conversation[] | null>(null);
  const wanted = text.trim();
  useEffect(() => {
    if (wanted === "" && !archived) {
      setFound(null);
      return undefined;
    }
    let ended = false;
    const timer = setTimeout(() => {
      const query = { search: wanted, archived, project_id: project, limit: 100 };
      void attempt(() => host.conversations(query)).then((answer) => {
        if (!ended && answer !== undefined) {
          setFound(answer.conversations);
        }
      });
    }, SEARCH_WAIT_MS);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [wanted, archived, project]);
  return found;
}
