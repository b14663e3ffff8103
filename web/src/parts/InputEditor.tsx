// Changes the input of a call before it runs, field by field.

import { useState } from "preact/hooks";

import { hasHidden } from "../text/visible";

interface InputEditorProps {
  input: unknown;
  busy: boolean;
  onSubmit: (input: unknown) => void;
  onCancel: () => void;
}

/** A field of the input as text; those that are no strings are edited as JSON. */
interface Field {
  name: string;
  isText: boolean;
  value: string;
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

function isPlainObject(input: unknown): input is Record<string, unknown> {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

function fieldsOf(input: unknown): Field[] {
  if (!isPlainObject(input) || Object.keys(input).length === 0) {
    return [{ name: "", isText: false, value: JSON.stringify(input, null, 2) }];
  }
  return Object.entries(input).map(([name, value]) => ({
    name,
    isText: typeof value === "string",
    value: typeof value === "string" ? value : JSON.stringify(value, null, 2),
  }));
}

function readFields(fields: Field[], before: unknown): { input: unknown } | string {
  const input: Record<string, unknown> = {};
  for (const field of fields) {
    let value: unknown = field.value;
    if (!field.isText) {
      try {
        value = JSON.parse(field.value);
      } catch (error) {
        const name = field.name === "" ? "The input" : `The field "${field.name}"`;
        return `${name} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
      }
    }
    if (field.name === "" && !(isPlainObject(before) && "" in before)) {
      return { input: value };
    }
    input[field.name] = value;
  }
  return { input };
}
