// A question to the person: may this call run? Shows everything that would run.

import { useRef, useState } from "preact/hooks";

import { answer, outcomeText } from "../answers";
import type { Approval } from "../host/contract";
import { isOwner, mayAnswer } from "../state";
import { visible } from "../text/visible";
import { rulesOf, scopeOf } from "../view/suggestion";
import { CallDiff } from "./CallDiff";
import { ElicitationCard } from "./ElicitationCard";
import { ExpiresIn } from "./ExpiresIn";
import { InputEditor } from "./InputEditor";
import { PlanCard } from "./PlanCard";
import { QuestionCard } from "./QuestionCard";
import { byPerson, useArmed } from "./useArmed";

export function ApprovalCard({ approval }: { approval: Approval }) {
  if (approval.state !== "pending") {
    return <Answered approval={approval} />;
  }
  switch (approval.kind) {
    case "question":
      return <QuestionCard approval={approval} />;
    case "plan":
      return <PlanCard approval={approval} />;
    case "elicitation":
      return <ElicitationCard approval={approval} />;
    default:
      return <PermissionCard approval={approval} />;
  }
}

function Answered({ approval }: { approval: Approval }) {
  return (
    <p class={`answered ${approval.state}`} data-testid="answered">
      {outcomeText(approval)}
    </p>
  );
}

type Step = "ask" | "deny" | "edit";

function PermissionCard({ approval }: { approval: Approval }) {
  const [step, setStep] = useState<Step>("ask");
  const [busy, setBusy] = useState(false);
  const [always, setAlways] = useState<number[]>([]);
  const [message, setMessage] = useState("");
  const card = useRef<HTMLElement>(null);
  const armed = useArmed();

  const send = async (given: Parameters<typeof answer>[1]): Promise<void> => {
    setBusy(true);
    await answer(approval, given);
    setBusy(false);
  };
  const allow = (): void => void send({ decision: "allow", ...(always.length > 0 ? { always } : {}) });
  const deny = (interrupt: boolean): void =>
    void send({
      decision: "deny",
      ...(message.trim() === "" ? {} : { message: message.trim() }),
      ...(interrupt ? { interrupt } : {}),
    });
  const onKeyDown = (event: KeyboardEvent): void => {
    // Letters count only on the card itself, so that nothing typed elsewhere approves anything.
    if (event.target !== card.current || event.ctrlKey || event.metaKey || event.altKey || !mayAnswer.value) {
      return;
    }
    if (!event.isTrusted || !armed) {
      return;
    }
    const edit = isOwner.value ? () => setStep("edit") : undefined;
    const action = { y: allow, n: () => setStep("deny"), e: edit }[event.key.toLowerCase()];
    if (action !== undefined && !busy) {
      event.preventDefault();
      action();
    }
  };
  return (
    <section
      ref={card}
      class="approval"
      tabIndex={-1}
      data-approval={approval.id}
      data-testid="approval"
      aria-label={`Permission: ${approval.display.title}`}
      onKeyDown={onKeyDown}
    >
      <Facts approval={approval} />
      <Lines lines={approval.display.lines} />
      {(approval.display.warnings ?? []).map((warning) => (
        <p key={warning} class="warning">
          {visible(warning)}
        </p>
      ))}
      <CallDiff name={approval.tool_name} input={approval.input} result={null} />
      {step === "ask" && <Remember approval={approval} chosen={always} onChange={setAlways} />}
      {!mayAnswer.value && <p class="muted">You can watch here; somebody with the role of an approver answers.</p>}
      {mayAnswer.value && step === "ask" && (
        <div class="buttons">
          <button type="button" class="primary" disabled={busy || !armed} onClick={byPerson(allow)}>
            {always.length > 0 ? "Approve and remember" : "Approve"} <kbd>Y</kbd>
          </button>
          <button type="button" disabled={busy} onClick={() => setStep("deny")}>
            Deny <kbd>N</kbd>
          </button>
          {isOwner.value && (
            <button type="button" class="quiet" disabled={busy} onClick={() => setStep("edit")}>
              Edit input <kbd>E</kbd>
            </button>
          )}
        </div>
      )}
      {step === "deny" && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            deny(false);
          }}
        >
          <label>
            Tell the agent why, or what to do instead (optional)
            <input
              type="text"
              value={message}
              maxLength={4000}
              autoFocus
              onInput={(event) => setMessage(event.currentTarget.value)}
            />
          </label>
          <div class="buttons">
            <button type="submit" class="danger" disabled={busy}>
              Deny
            </button>
            <button type="button" disabled={busy} onClick={() => deny(true)}>
              Deny and stop the run
            </button>
            <button type="button" class="quiet" onClick={() => setStep("ask")}>
              Back
            </button>
          </div>
        </form>
      )}
      {step === "edit" && (
        <InputEditor
          input={approval.input}
          busy={busy}
          onCancel={() => setStep("ask")}
          onSubmit={(updated_input) => void send({ decision: "allow", updated_input })}
        />
      )}
    </section>
  );
}

function Facts({ approval }: { approval: Approval }) {
  return (
    <div class="facts">
      <p class="question">{visible(approval.display.title)}</p>
      {approval.reason !== null && <p class="small">Why it is asked: {visible(approval.reason)}</p>}
      <p class="muted small">
        in <code>{visible(approval.cwd)}</code>
        {approval.agent_id !== null && <> · asked by agent {visible(approval.agent_id)}</>}
        <ExpiresIn approval={approval} word="denied by itself" />
      </p>
    </div>
  );
}

/** Everything that will run; never cut, since what is not seen cannot be approved. */
function Lines({ lines }: { lines: string[] }) {
  const label = `What will run, ${lines.length === 1 ? "one line" : `${lines.length} lines`}`;
  return (
    <div class="lines">
      <pre tabIndex={0} aria-label={label} data-testid="approval-lines">
        {lines.map(visible).join("\n")}
      </pre>
      {lines.length > 20 && <p class="muted small">All {lines.length} lines are in this box; scroll to read them.</p>}
    </div>
  );
}

interface RememberProps {
  approval: Approval;
  chosen: number[];
  onChange: (chosen: number[]) => void;
}

function Remember({ approval, chosen, onChange }: RememberProps) {
  if (approval.suggestions.length === 0 || !isOwner.value) {
    return null;
  }
  const toggle = (index: number): void =>
    onChange(chosen.includes(index) ? chosen.filter((one) => one !== index) : [...chosen, index]);
  return (
    <fieldset class="remember">
      <legend>From now on</legend>
      {approval.suggestions.map((suggestion, index) => (
        <label key={index} class="choice">
          <input type="checkbox" checked={chosen.includes(index)} onChange={() => toggle(index)} />
          <span>
            {visible(suggestion.label)}
            <span class="muted small">
              {" "}
              {scopeOf(suggestion)}
              {rulesOf(suggestion).filter((rule) => rule !== suggestion.label).map((rule) => (
                <code key={rule}>{visible(rule)}</code>
              ))}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
