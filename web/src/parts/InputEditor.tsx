// Changes the input of a call before it runs, field by field.

import { useState } from "preact/hooks";

import { hasHidden } from "../text/visible";
import { fieldsOf, readFields } from "../view/input";

interface InputEditorProps {
  input: unknown;
  busy: boolean;
  onSubmit: (input: unknown) => void;
  onCancel: () => void;
}

export function InputEditor({ input, busy, onSubmit, onCancel }: InputEditorProps) {
  const [fields, setFields] = useState(() => fieldsOf(input));
  const [error, setError] = useState<string | null>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = readFields(fields, input);
    if (typeof read === "string") {
      setError(read);
    } else {
      onSubmit(read.input);
    }
  };
  const set = (name: string, value: string): void =>
    setFields(fields.map((field) => (field.name === name ? { ...field, value } : field)));
  return (
    <form class="stack" onSubmit={submit} aria-label="Edit the input">
      {fields.map((field) => (
        <label key={field.name}>
          {field.name === "" ? "Input (JSON)" : field.isText ? field.name : `${field.name} (JSON)`}
          <textarea
            class="mono"
            spellcheck={false}
            rows={Math.min(16, field.value.split("\n").length)}
            value={field.value}
            onInput={(event) => set(field.name, event.currentTarget.value)}
          />
          {hasHidden(field.value) && (
            <span class="warning small">This text has characters that do not show. They stay unless you write it anew.</span>
          )}
        </label>
      ))}
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          Approve with these changes
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          Back
        </button>
      </div>
    </form>
  );
}
