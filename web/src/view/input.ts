// The input of a call as fields that a person can change.

/** A field of the input as text; those that are no strings are edited as JSON. */
export interface Field {
  name: string;
  isText: boolean;
  value: string;
}

function isPlainObject(input: unknown): input is Record<string, unknown> {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

/** The fields of an input, ready to be changed. */
export function fieldsOf(input: unknown): Field[] {
  if (!isPlainObject(input) || Object.keys(input).length === 0) {
    return [{ name: "", isText: false, value: JSON.stringify(input, null, 2) }];
  }
  return Object.entries(input).map(([name, value]) => ({
    name,
    isText: typeof value === "string",
    value: typeof value === "string" ? value : JSON.stringify(value, null, 2),
  }));
}

/** The input that was written, or a sentence about what is wrong with it. */
export function readFields(fields: Field[], before: unknown): { input: unknown } | string {
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
