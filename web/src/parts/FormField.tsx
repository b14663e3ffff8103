// One field of a form, with its label, its hint and what is wrong with it.

import type { ComponentChildren } from "preact";

import type { FormField } from "../host/contract";
import { visible } from "../text/visible";
import type { Typed } from "../view/form";
import { limitsOf } from "../view/form";

interface FieldProps {
  id: string;
  field: FormField;
  typed: Typed;
  error: string | undefined;
  onChange: (typed: Typed) => void;
}

const MANY = 6;
const INPUT_TYPES = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" } as const;

export function Field(props: FieldProps) {
  const { id, field, error } = props;
  const hint = [field.description ?? "", limitsOf(field)].filter((part) => part !== "").join(" · ");
  const about = [hint === "" ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`].filter((part) => part !== "").join(" ");
  const shared: Shared = {
    id,
    "aria-describedby": about === "" ? undefined : about,
    "aria-invalid": error === undefined ? undefined : true,
    "aria-required": field.required || undefined,
  };
  const label = (
    <>
      {visible(field.label)}
      {field.required ? <span class="muted"> (needed)</span> : null}
    </>
  );
  const hintText =
    hint === "" ? null : (
      <span class="hint muted small" id={`${id}-hint`}>
        {visible(hint)}
      </span>
    );
  return (
    <div class={`field ${error === undefined ? "" : "wrong"}`} data-field={field.name}>
      <Entry {...props} shared={shared} label={label} hint={hintText} />
      {error !== undefined && (
        <p class="error small" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

interface Shared {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
  "aria-required": true | undefined;
}

interface EntryProps extends FieldProps {
  shared: Shared;
  label: ComponentChildren;
  hint: ComponentChildren;
}

function Entry({ id, field, typed, onChange, shared, label, hint }: EntryProps) {
  const kind = field.kind;
  const text = typeof typed === "string" ? typed : "";
  switch (kind.type) {
    case "flag":
      return (
        <label class="choice">
          <input type="checkbox" {...shared} checked={typed === true} onChange={(event) => onChange(event.currentTarget.checked)} />
          <span>
            {label} {hint}
          </span>
        </label>
      );
    case "choice":
      return kind.choices.length > MANY ? (
        <label for={id}>
          {label} {hint}
          <select {...shared} value={text} onChange={(event) => onChange(event.currentTarget.value)}>
            <option value="">{field.required ? "Choose one" : "None"}</option>
            {kind.choices.map((choice) => (
              <option key={choice.value} value={choice.value}>
                {visible(choice.label)}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <fieldset aria-describedby={shared["aria-describedby"]}>
          <legend>{label}</legend>
          {hint}
          {kind.choices.map((choice, index) => (
            <label key={choice.value} class="choice">
              <input type="radio" id={index === 0 ? id : undefined} name={id} checked={text === choice.value} onChange={() => onChange(choice.value)} />
              <span>{visible(choice.label)}</span>
            </label>
          ))}
          {!field.required && text !== "" && (
            <button type="button" class="quiet small" onClick={() => onChange("")}>
              None of them
            </button>
          )}
        </fieldset>
      );
    case "choices": {
      const chosen = Array.isArray(typed) ? typed : [];
      const toggle = (value: string): void => onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);
      return (
        <fieldset aria-describedby={shared["aria-describedby"]}>
          <legend>{label}</legend>
          {hint}
          {kind.choices.map((choice, index) => (
            <label key={choice.value} class="choice">
              <input type="checkbox" id={index === 0 ? id : undefined} checked={chosen.includes(choice.value)} onChange={() => toggle(choice.value)} />
              <span>{visible(choice.label)}</span>
            </label>
          ))}
        </fieldset>
      );
    }
    case "number":
      return (
        <label for={id}>
          {label} {hint}
          <input type="text" inputMode={kind.whole ? "numeric" : "decimal"} {...shared} value={text} onInput={(event) => onChange(event.currentTarget.value)} />
        </label>
      );
    case "text":
      return (
        <label for={id}>
          {label} {hint}
          {/* All of these are fields for text to the compiler, which keeps the kinds of fields apart. */}
          <input type={(kind.format === undefined ? "text" : INPUT_TYPES[kind.format]) as "text"} {...shared} value={text} onInput={(event) => onChange(event.currentTarget.value)} />
        </label>
      );
  }
}
