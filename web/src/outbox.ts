// Messages on their way to the host. Each keeps its id until it is accepted, so trying again never sends twice.

import { signal } from "@preact/signals";

import type { Upload } from "./host/http";
import { HostError, host, sentence } from "./host/http";
import { connection, say, views } from "./state";
import type { View } from "./view/view";
import { MAIN } from "./view/view";

export interface Outgoing {
  client_id: string;
  conversation: string;
  text: string;
  attachments: Upload[];
  message_id: string | null;
  error: string | null;
  /** How many prompts with this text were there before; one more is this one. */
  same_before: number;
}

export const outbox = signal<Outgoing[]>([]);

/** Sends a message; it stays in the outbox until it is seen in the conversation. */
export async function send(conversation: string, text: string, attachments: Upload[]): Promise<void> {
  const view = views.value.get(conversation);
  const message: Outgoing = {
    client_id: newId(),
    conversation,
    text,
    attachments,
    message_id: null,
    error: null,
    same_before: view === undefined ? 0 : countSame(view, text),
  };
  outbox.value = [...outbox.value, message];
  await dispatch(message);
}

export async function sendAgain(message: Outgoing): Promise<void> {
  patch(message.client_id, { error: null });
  await dispatch(message);
}

export function discard(client: string): void {
  outbox.value = outbox.value.filter((one) => one.client_id !== client);
}

async function dispatch(message: Outgoing): Promise<void> {
  const { conversation, text, attachments, client_id } = message;
  try {
    const order = attachments.length > 0 ? { text, attachments, client_id } : { text, client_id };
    const { message_id, position } = await host.send(conversation, order);
    patch(client_id, { message_id });
    say(position === 0 ? "Message sent" : `Message queued, position ${position}`);
  } catch (error) {
    if (error instanceof HostError && error.status === 401) {
      connection.value = "unauthorized";
    }
    patch(client_id, { error: sentence(error) });
  }
}

function patch(client: string, change: Partial<Outgoing>): void {
  outbox.value = outbox.value.map((one) => (one.client_id === client ? { ...one, ...change } : one));
}

/** What is on its way to a conversation and not yet seen in it. */
export function onItsWay(all: Outgoing[], conversation: string, view: View): Outgoing[] {
  return all.filter((one) => one.conversation === conversation && !isSeen(one, view));
}

/** Forgets messages that have arrived. */
export function clearArrived(conversation: string, view: View): void {
  const left = outbox.value.filter((one) => one.conversation !== conversation || !isSeen(one, view));
  if (left.length !== outbox.value.length) {
    outbox.value = left;
  }
}

function isSeen(message: Outgoing, view: View): boolean {
  if (message.message_id !== null) {
    return view.items.has(`prompt:${message.message_id}`);
  }
  // The event may be quicker than the answer that names the message.
  return countSame(view, message.text) > message.same_before;
}

function countSame(view: View, text: string): number {
  const keys = view.threads.get(MAIN) ?? [];
  return keys.filter((key) => {
    const item = view.items.get(key);
    return item?.type === "prompt" && item.text === text;
  }).length;
}

function newId(): string {
  // Pages that are not served from this machine or over TLS have no randomUUID.
  if (typeof crypto.randomUUID === "function") {
    return crypto.randomUUID();
  }
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
