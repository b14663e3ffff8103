// A question of an MCP server: a form to fill in, or a page to open.

import { useId, useState } from "preact/hooks";

import { answer } from "../answers";
import type { Approval, Elicitation } from "../host/contract";
import { mayAnswer } from "../state";
import { visible } from "../text/visible";
import type { FieldErrors, Typed } from "../view/form";
import { readAddress, readForm, startOf } from "../view/form";
import { ExpiresIn } from "./ExpiresIn";
import { Field } from "./FormField";

export function ElicitationCard({ approval }: { approval: Approval }) {
  const asked = approval.elicitation;
  return asked === undefined ? null : <Card approval={approval} asked={asked} />;
}

function Card({ approval, asked }: { approval: Approval; asked: Elicitation }) {
  const id = useId();
  const [typed, setTyped] = useState<Record<string, Typed>>(() => Object.fromEntries(asked.fields.map((field) => [field.name, startOf(field)])));
  const [errors, setErrors] = useState<FieldErrors>({});
  const [busy, setBusy] = useState(false);
  const address = asked.url === undefined ? null : readAddress(asked.url);
  const isPage = asked.url !== undefined;
  const problem = asked.problem ?? (isPage && address === null ? "The address is not one of the web." : null);

  const send = async (given: Parameters<typeof answer>[1]): Promise<void> => {
    setBusy(true);
    setErrors(await answer(approval, given));
    setBusy(false);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = readForm(asked.fields, typed);
    if ("errors" in read) {
      setErrors(read.errors);
      const first = asked.fields.find((field) => field.name in read.errors);
      document.getElementById(`${id}-${first?.name}`)?.focus();
    } else {
      void send({ decision: "allow", answers: read.answers });
    }
  };
  return (
    <form class="approval elicitation" tabIndex={-1} noValidate data-approval={approval.id} data-testid="elicitation" aria-label={`Question of ${asked.server}`} onSubmit={submit}>
      <div class="facts">
        <p class="question">
          <span class="tag">MCP server</span> {visible(asked.server)} {isPage ? "wants you to open a page" : "asks you"}
        </p>
        <p class="message">{visible(asked.message)}</p>
        <p class="muted small">
          {isPage ? "It opens in a new tab, and only if you open it." : "What you answer goes to this server, not to the model."}
          <ExpiresIn approval={approval} word="declined by itself" />
        </p>
      </div>
      {asked.fields.length > 0 && (
        <fieldset class="fields" disabled={!mayAnswer.value || busy}>
          {asked.fields.map((field) => (
            <Field
              key={field.name}
              id={`${id}-${field.name}`}
              field={field}
              typed={typed[field.name] ?? startOf(field)}
              error={errors[field.name]}
              onChange={(value) => {
                setTyped({ ...typed, [field.name]: value });
                const { [field.name]: _, ...others } = errors;
                setErrors(others);
              }}
            />
          ))}
        </fieldset>
      )}
      {address !== null && (
        <>
          <p class="address" data-testid="address">
            {address.before}
            <strong>{address.host}</strong>
            {visible(address.after)}
          </p>
          {address.warnings.map((warning) => (
            <p key={warning} class="warning">
              {warning}
            </p>
          ))}
        </>
      )}
      {isPage && address === null && <p class="address">{visible(asked.url ?? "")}</p>}
      {problem !== null && (
        <p class="warning" role="note">
          {problem} You can only decline it.
        </p>
      )}
      {!mayAnswer.value && <p class="muted">You can watch here; somebody with the role of an approver answers.</p>}
      {mayAnswer.value && (
        <div class="buttons">
          {problem === null && !isPage && (
            <button type="submit" class="primary" disabled={busy}>
              {asked.fields.length === 0 ? "Confirm" : "Send the answer"}
            </button>
          )}
          {problem === null && address !== null && (
            <a class="button primary" href={address.whole} target="_blank" rel="noopener noreferrer" onClick={() => void send({ decision: "allow" })}>
              Open {address.host} in a new tab
            </a>
          )}
          <button type="button" disabled={busy} onClick={() => void send({ decision: "deny" })}>
            Decline
          </button>
          <button type="button" class="quiet" disabled={busy} title="The server learns that you did not decide" onClick={() => void send({ decision: "cancel" })}>
            Put aside
          </button>
        </div>
      )}
    </form>
  );
}
