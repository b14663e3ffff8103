// Keys that work everywhere on the page.

import { signal } from "@preact/signals";

import { host } from "./host/http";
import { inspectorOpen } from "./parts/Inspector";
import { listed, sidebarOpen } from "./parts/Sidebar";
import { addressOf, go, route } from "./route";
import { attempt, conversations, pending } from "./state";

export const helpOpen = signal(false);

/** Every key, as the help and the documentation list them. */
export const KEYS: [keys: string, does: string][] = [
  ["Enter", "send the message (Shift+Enter: new line)"],
  ["Esc", "stop the run; closes lists and dialogs first"],
  ["/", "go to the message field, begin a command"],
  ["Ctrl+K", "search conversations"],
  ["Alt+N", "new conversation"],
  ["Alt+↑ Alt+↓", "previous, next conversation"],
  ["Alt+A", "go to the next question that waits for you"],
  ["Y N E", "on a focused question: approve, deny, edit the input"],
  ["Alt+I", "show or hide the details"],
  ["?", "this list"],
];

export function listen(): void {
  addEventListener("keydown", onKeyDown);
}

/** Moves to the next question that waits, in this conversation or another. */
export function focusNextApproval(): void {
  const cards = [...document.querySelectorAll<HTMLElement>("[data-approval]")];
  const here = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[(here + 1) % Math.max(1, cards.length)];
  if (next !== undefined) {
    next.scrollIntoView({ block: "center" });
    next.focus();
    return;
  }
  const elsewhere = pending.value[0];
  if (elsewhere !== undefined) {
    go(addressOf.conversation(elsewhere.conversation_id));
  }
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) {
    return;
  }
  const action = globalAction(event) ?? plainAction(event);
  if (action !== undefined) {
    event.preventDefault();
    action();
  }
}

function globalAction(event: KeyboardEvent): (() => void) | undefined {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    return () => {
      sidebarOpen.value = true;
      focusSearch();
      // On a phone the list is hidden until it is drawn open.
      requestAnimationFrame(focusSearch);
    };
  }
  if (event.key === "Escape" && document.querySelector("dialog[open]") === null) {
    return escape(event);
  }
  if (!event.altKey || event.ctrlKey || event.metaKey) {
    return undefined;
  }
  switch (event.code) {
    case "KeyN":
      return () => go(addressOf.home);
    case "KeyA":
      return focusNextApproval;
    case "KeyI":
      return () => {
        inspectorOpen.value = !inspectorOpen.value;
      };
    case "ArrowUp":
      return () => step(-1);
    case "ArrowDown":
      return () => step(1);
    default:
      return undefined;
  }
}

function focusSearch(): void {
  document.getElementById("search")?.focus();
}

function escape(event: KeyboardEvent): (() => void) | undefined {
  const here = route.value;
  if (sidebarOpen.value) {
    return () => {
      sidebarOpen.value = false;
    };
  }
  // In a field of a card Escape belongs to the field.
  const inComposer = event.target instanceof HTMLElement && event.target.id === "composer";
  if (here.page !== "conversation" || (isWriting(event.target) && !inComposer)) {
    return undefined;
  }
  const state = conversations.value.get(here.id)?.state;
  return state === "running" || state === "waiting" ? () => void attempt(() => host.interrupt(here.id)) : undefined;
}

function plainAction(event: KeyboardEvent): (() => void) | undefined {
  if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) {
    return undefined;
  }
  if (event.key === "?") {
    return () => {
      helpOpen.value = true;
    };
  }
  if (event.key === "/") {
    return () => document.getElementById("composer")?.focus();
  }
  return undefined;
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function step(by: number): void {
  const list = listed(conversations.value, false);
  const here = route.value;
  const at = here.page === "conversation" ? list.findIndex((one) => one.id === here.id) : -1;
  const next = list[Math.min(list.length - 1, Math.max(0, at + by))];
  if (next !== undefined) {
    go(addressOf.conversation(next.id));
  }
}
