// Answers to what the agent asks.

import type { Approval, ApprovalAnswer } from "./host/contract";
import { HostError, host } from "./host/http";
import { attempt, putApproval, say, toast } from "./state";

/**
 * Sends an answer; somebody else may have been quicker, which is then shown instead.
 *
 * What comes back is what is wrong with single fields of it.
 */
export async function answer(approval: Approval, given: ApprovalAnswer): Promise<Record<string, string>> {
  let wrong: Record<string, string> = {};
  await attempt(async () => {
    try {
      putApproval(await host.answer(approval.id, given));
      say({ allow: approval.kind === "permission" || approval.kind === "plan" ? "Approved" : "Answered", deny: "Denied", cancel: "Put aside" }[given.decision]);
    } catch (error) {
      const fields = error instanceof HostError ? fieldsIn(error.body) : {};
      if (Object.keys(fields).length > 0) {
        wrong = fields;
        return;
      }
      const earlier = error instanceof HostError && error.status === 409 ? approvalIn(error.body) : undefined;
      if (earlier === undefined) {
        throw error;
      }
      putApproval(earlier);
      toast("info", `This was already answered: ${outcomeText(earlier)}.`);
    }
  });
  return wrong;
}

function fieldsIn(body: unknown): Record<string, string> {
  const fields = (body as { error?: { fields?: unknown } } | null)?.error?.fields;
  const entries = typeof fields === "object" && fields !== null ? Object.entries(fields) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Who answered what, in words. */
export function outcomeText(approval: Approval): string {
  const by = approval.answered_by === null ? "" : ` by ${approval.answered_by}`;
  const why = approval.message ? `: ${approval.message}` : "";
  const server = approval.kind === "elicitation";
  switch (approval.state) {
    case "pending":
      return "waiting for an answer";
    case "allowed":
      return `${approval.kind === "question" || server ? "answered" : "approved"}${by}`;
    case "denied":
      if (approval.kind === "question") {
        return `left without an answer${by}`;
      }
      return `${server ? "declined" : approval.kind === "plan" ? "sent back" : "denied"}${by}${why}`;
    case "cancelled":
      return `put aside${by}`;
    case "expired":
      return `${server ? "declined" : "denied"}, because nobody answered in time`;
    case "withdrawn":
      return "no longer needed";
  }
}

function approvalIn(body: unknown): Approval | undefined {
  const candidates = [body, (body as { approval?: unknown } | null)?.approval];
  return candidates.find((one): one is Approval => typeof (one as Approval | null)?.id === "string");
}
