// The one live connection to the host: it comes back by itself and asks for what it missed.

import type { NumberedEvent, ServerMessage } from "./contract";

export type Connection = "connecting" | "open" | "waiting" | "unauthorized";

export interface SocketHooks {
  /** The connection changed; `retryAt` is when the next attempt is made. */
  changed: (connection: Connection, retryAt: number | null) => void;
  /** Events of a conversation, in order. */
  events: (conversation: string, events: NumberedEvent[]) => void;
  caughtUp: (conversation: string) => void;
  /** Live events of a conversation may have been missed. */
  gap: (conversation: string) => void;
  /** Everything that is not an event of a conversation. */
  news: (message: ServerMessage) => void;
  /** The number of the last event of a conversation that is known here. */
  cursor: (conversation: string) => number;
}

const FIRST_DELAY_MS = 400;
const LONGEST_DELAY_MS = 15_000;
const PING_EVERY_MS = 20_000;
const PONG_WITHIN_MS = 10_000;
const UNAUTHORIZED = 4401;

export class LiveSocket {
  private readonly hooks: SocketHooks;
  private readonly address: string;
  private socket: WebSocket | null = null;
  private readonly subscribed = new Set<string>();
  private failures = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private ping: ReturnType<typeof setInterval> | undefined;
  private deadline: ReturnType<typeof setTimeout> | undefined;
  private pending = new Map<string, NumberedEvent[]>();
  private frame: number | undefined;

  constructor(address: string, hooks: SocketHooks) {
    this.address = address;
    this.hooks = hooks;
  }

  open(): void {
    clearTimeout(this.retry);
    if (this.socket !== null) {
      return;
    }
    this.hooks.changed("connecting", null);
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.addEventListener("open", () => this.opened());
    socket.addEventListener("message", (message) => this.heard(message.data));
    socket.addEventListener("close", (close) => this.closed(socket, close.code));
  }

  /** Begins to follow a conversation from what is known of it. */
  subscribe(conversation: string): void {
    this.subscribed.add(conversation);
    this.send({ type: "subscribe", conversation_id: conversation, after: this.hooks.cursor(conversation) });
  }

  unsubscribe(conversation: string): void {
    this.subscribed.delete(conversation);
    this.send({ type: "unsubscribe", conversation_id: conversation });
  }

  /** Tries at once, as when a person asks or the machine wakes up. */
  hurry(): void {
    if (this.socket === null) {
      this.failures = 0;
      this.open();
    } else {
      this.check();
    }
  }

  private opened(): void {
    this.failures = 0;
    this.hooks.changed("open", null);
    this.send({ type: "watch" });
    for (const conversation of this.subscribed) {
      this.send({ type: "subscribe", conversation_id: conversation, after: this.hooks.cursor(conversation) });
    }
    clearInterval(this.ping);
    this.ping = setInterval(() => this.check(), PING_EVERY_MS);
  }

  /** A connection that does not answer is given up, since a sleeping network says nothing. */
  private check(): void {
    if (this.socket?.readyState !== WebSocket.OPEN || this.deadline !== undefined) {
      return;
    }
    const socket = this.socket;
    this.send({ type: "ping" });
    this.deadline = setTimeout(() => {
      this.deadline = undefined;
      socket.close();
      this.closed(socket, 1006);
    }, PONG_WITHIN_MS);
  }

  private heard(data: unknown): void {
    // Any word of the host shows that it is there.
    clearTimeout(this.deadline);
    this.deadline = undefined;
    let message: ServerMessage;
    try {
      message = JSON.parse(String(data)) as ServerMessage;
    } catch {
      return;
    }
    if (message.type === "event") {
      const waiting = this.pending.get(message.conversation_id) ?? [];
      waiting.push({ seq: message.seq, at: message.at, event: message.event });
      this.pending.set(message.conversation_id, waiting);
      this.flushSoon();
      return;
    }
    this.flush();
    if (message.type === "caught_up") {
      this.hooks.caughtUp(message.conversation_id);
    } else if (message.type !== "pong") {
      this.hooks.news(message);
    }
  }

  /** Events are handed on once a frame, however many come; a hidden page has no frames. */
  private flushSoon(): void {
    if (this.frame === undefined) {
      const run = (): void => this.flush();
      this.frame =
        document.visibilityState === "visible" ? requestAnimationFrame(run) : window.setTimeout(run, 100);
    }
  }

  private flush(): void {
    this.frame = undefined;
    const pending = this.pending;
    this.pending = new Map();
    for (const [conversation, events] of pending) {
      if (this.subscribed.has(conversation)) {
        this.hooks.events(conversation, events);
      }
    }
  }

  private closed(socket: WebSocket, code: number): void {
    if (this.socket !== socket) {
      return;
    }
    this.flush();
    this.socket = null;
    clearInterval(this.ping);
    clearTimeout(this.deadline);
    this.deadline = undefined;
    for (const conversation of this.subscribed) {
      this.hooks.gap(conversation);
    }
    if (code === UNAUTHORIZED) {
      this.hooks.changed("unauthorized", null);
      return;
    }
    const delay = retryDelay(this.failures, Math.random());
    this.failures += 1;
    this.hooks.changed("waiting", Date.now() + delay);
    this.retry = setTimeout(() => this.open(), delay);
  }

  private send(message: unknown): void {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
    }
  }
}

/** Doubles with each failure, never beyond the longest, and is spread so that pages do not come back all at once. */
export function retryDelay(failures: number, chance: number): number {
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10));
  return Math.round(full * (0.5 + chance / 2));
}
