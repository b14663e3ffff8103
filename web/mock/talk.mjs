// One scripted conversation: its numbered events, its queue, and who follows it.

import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";

const now = () => new Date().toISOString();

export class Stopped extends Error {}

export class Talk {
  constructor(host, order) {
    this.host = host;
    this.id = randomUUID();
    this.title = order.title ?? "";
    this.cwd = order.cwd ?? "/home/ada/project";
    this.model = order.model ?? "rehearsal";
    this.permission_mode = order.permission_mode ?? "default";
    this.project_id = order.project_id ?? null;
    this.archived = false;
    this.created_at = now();
    this.updated_at = this.created_at;
    this.events = [];
    this.followers = new Set();
    this.queue = [];
    this.sent = new Map();
    this.waiting = new Map();
    this.tasks = new Map();
    this.attachments = new Map();
    this.running = false;
    this.abort = new AbortController();
    this.last_text = null;
    this.cost = 0;
  }

  summary() {
    const pending = [...this.host.approvals.values()].filter((one) => one.conversation_id === this.id && one.state === "pending");
    return {
      id: this.id,
      title: this.title,
      owner: "owner",
      project_id: this.project_id,
      cwd: this.cwd,
      model: this.model,
      permission_mode: this.permission_mode,
      created_at: this.created_at,
      updated_at: this.updated_at,
      archived: this.archived,
      session_id: this.id,
      state: pending.length > 0 ? "waiting" : this.running ? "running" : "idle",
      pending_approvals: pending.length,
      queued: this.queue.length,
      cost_usd: this.cost,
      last_text: this.last_text,
    };
  }

  changed() {
    this.updated_at = now();
    this.host.tell({ type: "conversation", conversation: this.summary() });
  }

  texts() {
    return this.events.flatMap(({ event }) => (event.kind === "user" ? [event.text] : []));
  }

  matches(search) {
    return search === "" || [this.title, ...this.texts()].some((text) => text.toLowerCase().includes(search));
  }

  snippet(search) {
    const text = this.texts().find((one) => one.toLowerCase().includes(search)) ?? this.title;
    const at = text.toLowerCase().indexOf(search);
    return `${text.slice(0, at)}\u0002${text.slice(at, at + search.length)}\u0003${text.slice(at + search.length)}`;
  }

  emit(event) {
    const live = event.kind === "frame" && event.frame.type === "stream_event";
    const entry = { seq: live ? null : this.events.length + 1, at: now(), event };
    if (!live) {
      this.events.push(entry);
    }
    for (const socket of this.followers) {
      socket.send(JSON.stringify({ type: "event", conversation_id: this.id, ...entry }));
    }
  }

  frame(frame) {
    this.emit({ kind: "frame", frame: { session_id: this.id, uuid: randomUUID(), ...frame } });
  }

  follow(socket, after) {
    for (const entry of this.events.filter((one) => one.seq > after)) {
      socket.send(JSON.stringify({ type: "event", conversation_id: this.id, ...entry }));
    }
    socket.send(JSON.stringify({ type: "caught_up", conversation_id: this.id, seq: this.events.length }));
    this.followers.add(socket);
  }

  leave(socket) {
    this.followers.delete(socket);
  }

  receive({ text, attachments = [], client_id }, play) {
    const earlier = this.sent.get(client_id);
    if (earlier !== undefined) {
      return earlier;
    }
    const message = { message_id: randomUUID(), text };
    const position = this.running ? this.queue.length + 1 : 0;
    const answer = { message_id: message.message_id, position };
    this.sent.set(client_id, answer);
    this.title ||= text.slice(0, 60);
    this.attachments.set(message.message_id, attachments);
    const address = (place) => `/api/v1/conversations/${this.id}/attachments/${message.message_id}/${place}`;
    const notes = attachments.map(({ name, media_type, data_base64 }, place) => ({ name, media_type, size: Math.floor(data_base64.length * 0.75), url: address(place) }));
    this.emit({ kind: "user", message_id: message.message_id, text, attachments: notes, by: "owner", client_id });
    if (position > 0) {
      this.queue.push(message);
      this.emit({ kind: "queued", ...answer });
    } else {
      void this.run(text, play);
    }
    this.changed();
    return answer;
  }

  async run(text, play) {
    this.running = true;
    this.abort = new AbortController();
    setMaxListeners(0, this.abort.signal);
    this.emit({ kind: "run", state: "running", message: null });
    this.changed();
    const began = Date.now();
    let stopped = false;
    try {
      await play(this, text);
    } catch (error) {
      if (!(error instanceof Stopped)) {
        throw error;
      }
      stopped = true;
    }
    this.cost += 0.02;
    this.frame({
      type: "result",
      subtype: stopped ? "error_during_execution" : "success",
      is_error: stopped,
      terminal_reason: stopped ? "aborted_tools" : "completed",
      duration_ms: Date.now() - began,
      duration_api_ms: 1,
      num_turns: 1,
      total_cost_usd: this.cost,
      modelUsage: { rehearsal: { inputTokens: 1200, outputTokens: 90, contextWindow: 200_000, costUSD: this.cost } },
    });
    this.running = false;
    this.emit({ kind: "run", state: stopped ? "interrupted" : "idle", message: null });
    this.changed();
    const next = this.queue.shift();
    if (next !== undefined) {
      this.emit({ kind: "queued", message_id: next.message_id, position: 0 });
      this.queue.forEach((one, index) => this.emit({ kind: "queued", message_id: one.message_id, position: index + 1 }));
      void this.run(next.text, play);
    }
  }

  takeBack(id) {
    const at = this.queue.findIndex((one) => one.message_id === id);
    if (at < 0) {
      return false;
    }
    this.queue.splice(at, 1);
    this.emit({ kind: "unqueued", message_id: id });
    this.changed();
    return true;
  }

  interrupt() {
    this.abort.abort();
  }

  /** Ends everything, as when the host stops. */
  stop() {
    this.queue = [];
    this.abort.abort();
  }

  /** Waits, unless somebody stops the run. */
  pause(ms) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      const stop = () => {
        clearTimeout(timer);
        reject(new Stopped());
      };
      if (this.abort.signal.aborted) {
        stop();
      }
      this.abort.signal.addEventListener("abort", stop, { once: true });
    });
  }

  /** Shows a card and waits for its answer. */
  ask(fields) {
    const approval = {
      id: randomUUID(),
      conversation_id: this.id,
      input_hash: "mock",
      kind: "permission",
      suggestions: [],
      cwd: this.cwd,
      agent_id: null,
      reason: null,
      created_at: now(),
      expires_at: null,
      state: "pending",
      answered_by: null,
      answered_at: null,
      message: null,
      ...fields,
    };
    this.host.ask(approval);
    this.emit({ kind: "approval", approval });
    this.changed();
    return new Promise((resolve, reject) => {
      this.waiting.set(approval.id, resolve);
      this.abort.signal.addEventListener(
        "abort",
        () => {
          if (approval.state === "pending") {
            approval.state = "withdrawn";
            this.shown(approval);
            reject(new Stopped());
          }
        },
        { once: true },
      );
    });
  }

  shown(approval) {
    this.emit({ kind: "approval", approval: { ...approval } });
    this.host.tell({ type: "approval", approval });
    this.changed();
  }

  answered(approval, body) {
    this.shown(approval);
    this.waiting.get(approval.id)?.(body);
    if (body.interrupt === true) {
      this.interrupt();
    }
  }

  rewind({ message_id, dry_run, conversation = false }) {
    if (!dry_run) {
      this.emit({ kind: "rewound", message_id, conversation, files: 1 });
    }
    return { can_rewind: true, files: ["notes.txt"], insertions: 1, deletions: 2 };
  }

  taskOutput(id) {
    const task = this.tasks.get(id);
    return { output: task?.output ?? "", truncated: false, running: task?.running ?? false };
  }

  stopTask(id) {
    const task = this.tasks.get(id);
    if (task?.running === true) {
      task.running = false;
      clearInterval(task.timer);
      this.frame({ type: "system", subtype: "task_notification", task_id: id, status: "stopped", output_file: "f", summary: "Stopped by you" });
    }
    return {};
  }
}
