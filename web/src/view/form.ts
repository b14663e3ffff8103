// A form of an MCP server: what its fields hold at first, and what was typed as an answer.

import type { FormField } from "../host/contract";

/** What a field holds while it is filled in. */
export type Typed = string | boolean | string[];

export type Answers = Record<string, string | number | boolean | string[]>;
export type FieldErrors = Record<string, string>;

/** What a field holds before anybody touched it. */
export function startOf(field: FormField): Typed {
  const value = field.default;
  switch (field.kind.type) {
    case "flag":
      return value === true;
    case "choices":
      return Array.isArray(value) ? value.map(String) : [];
    case "text":
      return field.kind.format === "date-time" && typeof value === "string" ? localTime(value) : asText(value);
    default:
      return asText(value);
  }
}

function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** A moment as the field for one wants it: in the time of this place, without its zone. */
export function localTime(moment: string): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) {
    return "";
  }
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The answer, or what is wrong with it by field. What only the host can judge, it judges. */
export function readForm(fields: FormField[], typed: Record<string, Typed>): { answers: Answers } | { errors: FieldErrors } {
  const answers: Answers = {};
  const errors: FieldErrors = {};
  for (const field of fields) {
    const read = readField(field, typed[field.name] ?? startOf(field));
    if (read === null) {
      if (field.required) {
        errors[field.name] = "This is needed.";
      }
    } else if ("error" in read) {
      errors[field.name] = read.error;
    } else {
      answers[field.name] = read.value;
    }
  }
  return Object.keys(errors).length > 0 ? { errors } : { answers };
}

type Read = { value: Answers[string] } | { error: string } | null;

function readField(field: FormField, typed: Typed): Read {
  const kind = field.kind;
  if (typeof typed === "boolean") {
    return { value: typed };
  }
  if (Array.isArray(typed)) {
    return typed.length === 0 && !field.required && field.default === undefined ? null : { value: typed };
  }
  if (typed === "") {
    return null;
  }
  if (kind.type === "number") {
    const number = Number(typed.replace(",", "."));
    if (!Number.isFinite(number)) {
      return { error: "This is to be a number." };
    }
    return kind.whole && !Number.isInteger(number) ? { error: "This is to be a whole number." } : { value: number };
  }
  if (kind.type === "text" && kind.format === "date-time") {
    const at = new Date(typed);
    return Number.isNaN(at.getTime()) ? { error: "This is to be a day and a time." } : { value: at.toISOString() };
  }
  return { value: typed };
}

/** Hints about what fits, for people. */
export function limitsOf(field: FormField): string {
  const kind = field.kind;
  const between = (least: number | undefined, most: number | undefined, what: string): string => {
    if (least !== undefined && most !== undefined) {
      return `${least} to ${most}${what}`;
    }
    return least !== undefined ? `at least ${least}${what}` : most !== undefined ? `at most ${most}${what}` : "";
  };
  switch (kind.type) {
    case "text":
      return between(kind.min_length, kind.max_length, " characters");
    case "number":
      return between(kind.minimum, kind.maximum, "");
    case "choices":
      return between(kind.min_items, kind.max_items, " of them");
    default:
      return "";
  }
}

export interface Address {
  whole: string;
  before: string;
  host: string;
  after: string;
  warnings: string[];
}

/** An address with its host set apart, as the browser understands it; null when it is none of the web. */
export function readAddress(text: string): Address | null {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return null;
  }
  const warnings: string[] = [];
  const local = url.hostname === "localhost" || url.hostname === "127.0.0.1" || url.hostname === "[::1]";
  if (url.username !== "" || url.password !== "") {
    warnings.push(`What stands before the @ is not the place this leads to; that is ${url.host}.`);
  }
  if (url.protocol === "http:" && !local) {
    warnings.push("The connection is not encrypted: others can read what you enter there.");
  }
  if (/(^|\.)xn--/.test(url.hostname)) {
    warnings.push("The name of the host has letters that may look like others.");
  }
  const secret = url.password === "" ? "" : `:${url.password}`;
  const person = url.username === "" && secret === "" ? "" : `${url.username}${secret}@`;
  const at = url.protocol.length + 2 + person.length;
  return { whole: url.href, before: url.href.slice(0, at), host: url.host, after: url.href.slice(at + url.host.length), warnings };
}
