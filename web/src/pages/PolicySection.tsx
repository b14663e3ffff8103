// What happens with questions that nobody answers.

import { useEffect, useState } from "preact/hooks";

import type { ApprovalPolicy } from "../host/contract";
import { host, sentence } from "../host/http";
import { attempt, isOwner, toast } from "../state";

const MODES: [ApprovalPolicy["mode"], string, string][] = [
  ["normal", "Normal", "A question waits until its time is over and is denied then."],
  ["queued", "Queued", "A question waits until somebody answers it, however long that takes."],
  ["paused", "Paused", "Every question is denied at once, without a card."],
];

export function PolicySection() {
  const [policy, setPolicy] = useState<ApprovalPolicy | null>(null);
  const [minutes, setMinutes] = useState("");
  const [error, setError] = useState<string | null>(null);
  const show = (found: ApprovalPolicy): void => {
    setPolicy(found);
    setMinutes(found.expires_after_seconds === null ? "" : String(found.expires_after_seconds / 60));
  };
  useEffect(() => {
    host.approvalPolicy().then(show, (problem: unknown) => setError(sentence(problem)));
  }, []);
  const save = (event: Event): void => {
    event.preventDefault();
    const seconds = minutes.trim() === "" ? null : Math.round(Number(minutes) * 60);
    if (policy === null || (seconds !== null && !(seconds > 0))) {
      setError("The time is a number of minutes above zero, or empty for no end.");
      return;
    }
    setError(null);
    void attempt(async () => {
      show(await host.setApprovalPolicy({ mode: policy.mode, expires_after_seconds: seconds }));
      toast("info", "Saved. It holds for questions from now on.");
    });
  };
  return (
    <section>
      <h2>Questions</h2>
      {policy !== null && (
        <form class="stack" onSubmit={save}>
          <fieldset disabled={!isOwner.value}>
            <legend>When an agent asks</legend>
            {MODES.map(([mode, name, means]) => (
              <label key={mode} class="choice">
                <input type="radio" name="approval-mode" checked={policy.mode === mode} onChange={() => setPolicy({ ...policy, mode })} />
                <span>
                  {name} <span class="muted small">{means}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <label>
            Minutes until a question is denied by itself (empty: never)
            <input type="text" inputMode="decimal" disabled={!isOwner.value} value={minutes} onInput={(event) => setMinutes(event.currentTarget.value)} />
          </label>
          {isOwner.value && (
            <div class="buttons">
              <button type="submit" class="primary">
                Save
              </button>
            </div>
          )}
        </form>
      )}
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}
