// A view under change: collections are copied once per batch of events, values are replaced, so that
// whatever did not change keeps its identity and need not be drawn again.

import type { Call, Item, View } from "./view";
import { MAIN } from "./view";

export class Draft {
  readonly view: View;
  private readonly owned = new Set<string>();
  private readonly shared: View;

  constructor(from: View) {
    this.shared = from;
    this.view = { ...from };
  }

  /** A collection of the view that may be written to. */
  own<K extends "items" | "threads" | "calls" | "tasks" | "approvals" | "live" | "blocks">(name: K): View[K] {
    if (this.view[name] === this.shared[name]) {
      // Every collection is a map; the compiler does not see that the copy has the kind of the original.
      this.view[name] = new Map(this.shared[name] as Map<string, never>) as unknown as View[K];
    }
    return this.view[name];
  }

  /** The keys of a thread, free to change. */
  thread(name: string): string[] {
    const threads = this.own("threads");
    if (!this.owned.has(name)) {
      this.owned.add(name);
      threads.set(name, [...(threads.get(name) ?? [])]);
    }
    return threads.get(name) as string[];
  }

  /** Adds an item at the end of a thread, or replaces the one with the same key where it stands. */
  put(thread: string, item: Item): void {
    const items = this.own("items");
    if (!items.has(item.key)) {
      this.thread(thread).push(item.key);
    }
    items.set(item.key, item);
  }

  /** Changes an item that exists. */
  patch<T extends Item["type"]>(key: string, type: T, change: (item: Extract<Item, { type: T }>) => Item): void {
    const item = this.view.items.get(key);
    if (item !== undefined && item.type === type) {
      this.own("items").set(key, change(item as Extract<Item, { type: T }>));
    }
  }

  remove(thread: string, key: string): void {
    const keys = this.thread(thread);
    const at = keys.lastIndexOf(key);
    if (at >= 0) {
      keys.splice(at, 1);
      this.own("items").delete(key);
    }
  }

  /**
   * Changes a call, which begins to exist with the first event that names it, whichever that is.
   *
   * `thread` is undefined for events that do not say where the call belongs; the call then stands in the
   * main thread until one does.
   */
  call(id: string, thread: string | undefined, at: string, change: Partial<Call>): void {
    const calls = this.own("calls");
    const old = calls.get(id);
    const key = `call:${id}`;
    if (old === undefined) {
      const place = thread ?? MAIN;
      calls.set(id, { ...newCall(id, place, at), provisional: thread === undefined, ...change });
      this.put(place, { type: "call", key, at, call: id });
      return;
    }
    let next: Call = { ...old, ...change };
    if (thread !== undefined && old.provisional) {
      // The event that knows where the call belongs also knows when: after everything said so far.
      next = { ...next, thread, provisional: false };
      this.remove(old.thread, key);
      this.put(thread, { type: "call", key, at, call: id });
    }
    calls.set(id, next);
  }
}

function newCall(id: string, thread: string, at: string): Call {
  return {
    id,
    name: "",
    input: undefined,
    partial: "",
    thread,
    provisional: false,
    begun_at: at,
    elapsed_seconds: null,
    progress: null,
    output: null,
    result: null,
    refusal: null,
    approval: null,
    summary: null,
    task: null,
  };
}
