// From events to what is seen. Pure: the same events always give the same view.

import type { Approval, HostEvent, NumberedEvent } from "../host/contract";
import { plural } from "../text/format";
import { Draft } from "./draft";
import { applyFrame } from "./frames";
import { takePosition } from "./queue";
import { cutLive } from "./stream";
import type { View } from "./view";
import { MAIN } from "./view";

/** Applies events in the order in which they came; numbered ones that are already known change nothing. */
export function applyEvents(view: View, events: readonly NumberedEvent[]): View {
  const draft = new Draft(view);
  let changed = false;
  for (const { seq, at, event } of events) {
    if (seq !== null) {
      if (seq <= draft.view.last_seq) {
        continue;
      }
      draft.view.last_seq = seq;
    }
    changed = true;
    apply(draft, at, seq, event);
  }
  return changed ? draft.view : view;
}

/** Notes that live events may have been missed, as after a lost connection. */
export function noteGap(view: View): View {
  if (view.live.size === 0) {
    return view;
  }
  const draft = new Draft(view);
  const live = draft.own("live");
  for (const [thread, response] of live) {
    live.set(thread, { ...response, broken: true });
  }
  return draft.view;
}

/**
 * Takes over news about an approval that came by another way than the conversation's events.
 *
 * One that the events have not shown yet is left to them, since only they know its place.
 */
export function applyApproval(view: View, approval: Approval): View {
  if (!view.approvals.has(approval.id)) {
    return view;
  }
  const draft = new Draft(view);
  takeApproval(draft, approval.created_at, approval);
  return draft.view;
}

function apply(draft: Draft, at: string, seq: number | null, event: HostEvent): void {
  switch (event.kind) {
    case "user":
      draft.put(MAIN, {
        type: "prompt",
        key: `prompt:${event.message_id}`,
        at,
        message_id: event.message_id,
        client_id: event.client_id ?? null,
        text: event.text,
        attachments: event.attachments ?? [],
        by: event.by ?? null,
        position: 0,
      });
      draft.view.suggestion = null;
      return;
    case "queued":
      takePosition(draft, at, event.message_id, event.position);
      return;
    case "unqueued":
      draft.remove(MAIN, `prompt:${event.message_id}`);
      return;
    case "frame":
      applyFrame(draft, at, seq, event.frame);
      return;
    case "approval":
      takeApproval(draft, at, event.approval);
      return;
    case "run":
      takeRun(draft, at, seq, event);
      return;
    case "rewound":
      takeRewind(draft, at, event);
      return;
    default:
      // A newer host may tell of things this page does not know.
      return;
  }
}

function takeApproval(draft: Draft, at: string, approval: Approval): void {
  const known = draft.view.approvals.get(approval.id);
  // An answer is final: news that are older than it change nothing.
  if (known !== undefined && known.state !== "pending" && approval.state === "pending") {
    return;
  }
  draft.own("approvals").set(approval.id, approval);
  if (approval.kind === "elicitation") {
    draft.put(MAIN, { type: "elicitation", key: `elicitation:${approval.id}`, at: approval.created_at, approval: approval.id });
    return;
  }
  const call = draft.view.calls.get(approval.tool_use_id);
  draft.call(approval.tool_use_id, undefined, at, {
    approval: approval.id,
    name: call?.name || approval.tool_name,
    input: call?.input ?? approval.input,
  });
}

function takeRun(draft: Draft, at: string, seq: number | null, event: Extract<HostEvent, { kind: "run" }>): void {
  const message = event.message || null;
  draft.view.run = { state: event.state, message };
  if (event.state !== "running" && event.state !== "starting") {
    draft.view.activity = null;
    cutLive(draft);
  }
  if (message !== null) {
    const quiet = event.state === "idle" || event.state === "interrupted";
    const level = event.state === "failed" ? "error" : quiet ? "info" : "warning";
    draft.put(MAIN, { type: "notice", key: `run:${seq ?? at}`, at, level, text: message, detail: null });
  } else if (event.state === "interrupted") {
    draft.put(MAIN, { type: "divider", key: `run:${seq ?? at}`, at, text: "Stopped" });
  }
}

function takeRewind(draft: Draft, at: string, event: Extract<HostEvent, { kind: "rewound" }>): void {
  const files = event.files === undefined ? "" : `, ${plural(event.files, "file")} put back`;
  const forgets = event.conversation !== false;
  if (forgets) {
    const keys = draft.thread(MAIN);
    const from = keys.indexOf(`prompt:${event.message_id}`);
    if (from >= 0) {
      keys.splice(from);
    }
  }
  const text = `${forgets ? "Conversation" : "Files"} rewound${files}`;
  draft.put(MAIN, { type: "divider", key: `rewound:${event.message_id}:${at}`, at, text });
}
