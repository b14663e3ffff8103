// A plan that waits for approval.

import { useState } from "preact/hooks";

import { answer } from "../answers";
import type { Approval } from "../host/contract";
import { isOwner, mayAnswer } from "../state";
import { visible } from "../text/visible";
import { scopeOf } from "../view/suggestion";
import { Markdown } from "./Markdown";
import { byPerson, useArmed } from "./useArmed";

export function PlanCard({ approval }: { approval: Approval }) {
  const [message, setMessage] = useState("");
  const [always, setAlways] = useState<number[]>([]);
  const [busy, setBusy] = useState(false);
  const armed = useArmed();
  const plan = (approval.input as { plan?: unknown } | null)?.plan;
  const text = typeof plan === "string" ? visible(plan) : approval.display.lines.map(visible).join("\n");
  const send = async (given: Parameters<typeof answer>[1]): Promise<void> => {
    setBusy(true);
    await answer(approval, given);
    setBusy(false);
  };
  return (
    <section class="approval plan-card" tabIndex={-1} data-approval={approval.id} data-testid="plan" aria-label="A plan to approve">
      <p class="question">Shall this plan be carried out?</p>
      <div class="plan-text">
        <Markdown text={text} />
      </div>
      {mayAnswer.value && (
        <div class="stack">
          {(isOwner.value ? approval.suggestions : []).map((suggestion, index) => (
            <label key={index} class="choice">
              <input
                type="checkbox"
                checked={always.includes(index)}
                onChange={() =>
                  setAlways(always.includes(index) ? always.filter((one) => one !== index) : [...always, index])
                }
              />
              <span>
                {visible(suggestion.label)} <span class="muted small">{scopeOf(suggestion)}</span>
              </span>
            </label>
          ))}
          <label>
            What should be different? (if you want it planned anew)
            <textarea rows={2} maxLength={8000} value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
          </label>
          <div class="buttons">
            <button
              type="button"
              class="primary"
              disabled={busy || !armed}
              onClick={byPerson(() => void send({ decision: "allow", ...(always.length > 0 ? { always } : {}) }))}
            >
              Approve the plan
            </button>
            <button
              type="button"
              disabled={busy}
              onClick={() =>
                void send({
                  decision: "deny",
                  message: message.trim() || "The user wants to keep planning. Ask what should be different.",
                })
              }
            >
              Keep planning
            </button>
          </div>
        </div>
      )}
    </section>
  );
}
