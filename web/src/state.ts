// The state of the page: what the host said, and what the person is looking at.

import { batch, computed, effect, signal } from "@preact/signals";

import type { Approval, Conversation, Info, Project } from "./host/contract";
import { HostError, host, sentence } from "./host/http";
import type { Connection } from "./host/socket";
import { LiveSocket } from "./host/socket";
import { notify } from "./notify";
import { addressOf, go } from "./route";
import { applyApproval, applyEvents, noteGap } from "./view/reduce";
import type { View } from "./view/view";
import { emptyView } from "./view/view";

export const info = signal<Info | null>(null);
export const startError = signal<string | null>(null);
export const connection = signal<Connection>("connecting");
export const retryAt = signal<number | null>(null);

export const conversations = signal<ReadonlyMap<string, Conversation>>(new Map());
export const listLoaded = signal(false);
/** Where the list of conversations goes on; null when all of it is here. */
export const moreConversations = signal<string | null>(null);
export const approvals = signal<ReadonlyMap<string, Approval>>(new Map());
export const projects = signal<Project[]>([]);
/** Counts how often projects, personas, skills or agents have changed, here, elsewhere or in their files. */
export const documents = signal(0);

/** The conversations that are open, with what is seen of them. */
export const views = signal<ReadonlyMap<string, View>>(new Map());
/** Conversations whose events are known up to now. */
export const caughtUp = signal<ReadonlySet<string>>(new Set());

export interface Toast {
  id: number;
  level: "info" | "error";
  text: string;
}
export const toasts = signal<Toast[]>([]);
/** What a screen reader is told, as it happens. */
export const spoken = signal("");

export const pending = computed(() =>
  [...approvals.value.values()]
    .filter((approval) => approval.state === "pending")
    .sort((one, other) => one.created_at.localeCompare(other.created_at)),
);

/** Approvers may allow, deny and stop; everything else that changes something is the owner's. */
export const mayAnswer = computed(() => info.value === null || info.value.user.role !== "viewer");
export const isOwner = computed(() => info.value === null || info.value.user.role === "owner");

/** Whose a conversation is, where it is somebody else's. */
export function otherOwner(conversation: Conversation): string | null {
  const me = info.value?.user.name;
  return me === undefined || conversation.owner === me ? null : conversation.owner;
}

const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/v1/socket`;

export const socket = new LiveSocket(address, {
  changed: (next, at) =>
    batch(() => {
      const before = connection.value;
      connection.value = next;
      retryAt.value = at;
      if (next === "open" && before !== "open" && listLoaded.value) {
        void attempt(loadLists);
      }
    }),
  events: (id, events) => update(id, (view) => applyEvents(view, events)),
  caughtUp: (id) => {
    caughtUp.value = new Set(caughtUp.value).add(id);
  },
  gap: (id) => update(id, noteGap),
  news: (message) => {
    switch (message.type) {
      case "conversation":
        putConversation(message.conversation);
        return;
      case "conversation_deleted":
        dropConversation(message.id);
        return;
      case "approval":
        putApproval(message.approval);
        return;
      case "documents":
        documents.value += 1;
        void attempt(async () => {
          projects.value = await host.projects.list();
        });
        return;
      case "error":
        if (message.error.code === "unauthorized") {
          connection.value = "unauthorized";
        } else {
          toast("error", message.error.message);
        }
        return;
      default:
        return;
    }
  },
  cursor: (id) => views.value.get(id)?.last_seq ?? 0,
});

/** Loads what every page needs and connects. */
export async function start(): Promise<void> {
  startError.value = null;
  try {
    info.value = await host.info();
    await loadLists();
    socket.open();
  } catch (error) {
    if (error instanceof HostError && error.status === 401) {
      connection.value = "unauthorized";
    } else {
      startError.value = sentence(error);
    }
  }
}

/** Reads the lists anew; also after a lost connection, since news were missed. */
export async function loadLists(): Promise<void> {
  const [list, open, known] = await Promise.all([
    host.conversations({ limit: 100 }),
    host.approvals("pending"),
    host.projects.list().catch(() => []),
  ]);
  batch(() => {
    const kept = [...conversations.value.values()].filter((old) => views.value.has(old.id) || old.archived);
    conversations.value = new Map([...kept, ...list.conversations].map((one) => [one.id, one]));
    const answered = [...approvals.value.values()].filter((old) => old.state !== "pending");
    approvals.value = new Map([...answered, ...open.approvals].map((one) => [one.id, one]));
    projects.value = known;
    moreConversations.value = list.next;
    listLoaded.value = true;
  });
}

/** Reads the next page of the list. */
export async function loadMore(): Promise<void> {
  const before = moreConversations.value;
  if (before === null) {
    return;
  }
  const list = await host.conversations({ limit: 100, before });
  batch(() => {
    conversations.value = new Map([...conversations.value, ...list.conversations.map((one): [string, Conversation] => [one.id, one])]);
    moreConversations.value = list.next;
  });
}

export function putConversation(conversation: Conversation): void {
  const before = conversations.value.get(conversation.id);
  if (before !== undefined && Date.parse(before.updated_at) > Date.parse(conversation.updated_at)) {
    // An answer that was on its way while the conversation went on knows less than we do.
    return;
  }
  conversations.value = new Map(conversations.value).set(conversation.id, { ...before, ...conversation });
}

export function dropConversation(id: string): void {
  const next = new Map(conversations.value);
  next.delete(id);
  conversations.value = next;
}

export function putApproval(approval: Approval): void {
  const known = approvals.value.get(approval.id);
  if (known !== undefined && known.state !== "pending" && approval.state === "pending") {
    return;
  }
  batch(() => {
    approvals.value = new Map(approvals.value).set(approval.id, approval);
    if (views.value.has(approval.conversation_id)) {
      update(approval.conversation_id, (view) => applyApproval(view, approval));
    }
  });
  if (known === undefined && approval.state === "pending") {
    say(`Your answer is needed: ${approval.display.title}`);
    const title = conversations.value.get(approval.conversation_id)?.title ?? "";
    notify(approval, title, () => go(addressOf.conversation(approval.conversation_id)));
  }
}

/** Follows a conversation while somebody looks at it; the returned function ends that. */
export function follow(id: string): () => void {
  if (!views.value.has(id)) {
    views.value = new Map(views.value).set(id, emptyView());
  }
  socket.subscribe(id);
  return () => {
    socket.unsubscribe(id);
    update(id, noteGap);
    keepFew(id);
  };
}

/** Views of conversations nobody looks at are kept for quick returns, but only a few. */
const MOST_VIEWS = 6;

function keepFew(newest: string): void {
  const next = new Map(views.value);
  const view = next.get(newest);
  if (view !== undefined) {
    next.delete(newest);
    next.set(newest, view);
  }
  for (const id of [...next.keys()].slice(0, Math.max(0, next.size - MOST_VIEWS))) {
    next.delete(id);
  }
  views.value = next;
}

function update(id: string, change: (view: View) => View): void {
  const view = views.value.get(id);
  if (view === undefined) {
    return;
  }
  const next = change(view);
  if (next !== view) {
    views.value = new Map(views.value).set(id, next);
  }
}

let toastCount = 0;
const TOAST_MS = 8000;

export function toast(level: Toast["level"], text: string): void {
  const id = (toastCount += 1);
  toasts.value = [...toasts.value.slice(-3), { id, level, text }];
  setTimeout(() => dismiss(id), TOAST_MS);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function say(text: string): void {
  spoken.value = text;
}

/** Does something that may fail and tells the person if it does. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HostError && error.status === 401) {
      connection.value = "unauthorized";
    } else {
      toast("error", sentence(error));
    }
    return undefined;
  }
}

export type Theme = "system" | "light" | "dark";
const THEME_KEY = "tillerman.theme";
const storedTheme = localStorage.getItem(THEME_KEY);
export const theme = signal<Theme>(storedTheme === "light" || storedTheme === "dark" ? storedTheme : "system");

effect(() => {
  const root = document.documentElement;
  if (theme.value === "system") {
    delete root.dataset["theme"];
    localStorage.removeItem(THEME_KEY);
  } else {
    root.dataset["theme"] = theme.value;
    localStorage.setItem(THEME_KEY, theme.value);
  }
});
