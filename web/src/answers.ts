// Answers to what the agent asks.

import type { Approval, ApprovalAnswer } from "./host/contract";
import { HostError, host } from "./host/http";
import { attempt, putApproval, say, toast } from "./state";

/** Sends an answer; somebody else may have been quicker, which is then shown instead. */
export async function answer(approval: Approval, given: ApprovalAnswer): Promise<void> {
  await attempt(async () => {
    try {
      putApproval(await host.answer(approval.id, given));
      say(given.decision === "allow" ? "Approved" : "Denied");
    } catch (error) {
      const earlier = error instanceof HostError && error.status === 409 ? approvalIn(error.body) : undefined;
      if (earlier === undefined) {
        throw error;
      }
      putApproval(earlier);
      toast("info", `This was already answered: ${outcomeText(earlier)}.`);
    }
  });
}

/** Who answered what, in words. */
export function outcomeText(approval: Approval): string {
  const by = approval.answered_by === null ? "" : ` by ${approval.answered_by}`;
  const why = approval.message ? `: ${approval.message}` : "";
  switch (approval.state) {
    case "pending":
      return "waiting for an answer";
    case "allowed":
      return `${approval.kind === "question" ? "answered" : "approved"}${by}`;
    case "denied":
      return `denied${by}${why}`;
    case "expired":
      return "denied, because nobody answered in time";
    case "withdrawn":
      return "no longer needed";
  }
}

function approvalIn(body: unknown): Approval | undefined {
  const candidates = [body, (body as { approval?: unknown } | null)?.approval];
  return candidates.find((one): one is Approval => typeof (one as Approval | null)?.id === "string");
}
