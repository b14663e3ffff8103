// Requests to the host. Every failure becomes a sentence that a person can act on.

import type {
  Agent,
  Approval,
  ApprovalAnswer,
  ApprovalPolicy,
  AuditEntry,
  Completion,
  ContextUsage,
  Conversation,
  DocumentFiles,
  Info,
  Note,
  Project,
  RewindAnswer,
  TaskOutput,
  UsageReport,
} from "./contract";

const BASE = "/api/v1";
const DEADLINE_MS = 30_000;

export class HostError extends Error {
  readonly code: string;
  readonly status: number;
  /** What the host said beside the sentence. */
  readonly body: unknown;

  constructor(code: string, status: number, message: string, body: unknown = null) {
    super(message);
    this.code = code;
    this.status = status;
    this.body = body;
  }
}

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

async function request<T>(method: Method, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = {
    method,
    credentials: "same-origin",
    headers: method === "GET" ? { accept: "application/json" } : { "content-type": "application/json" },
    signal: AbortSignal.timeout(DEADLINE_MS),
  };
  if (method !== "GET") {
    init.body = JSON.stringify(body ?? {});
  }
  let response: Response;
  try {
    response = await fetch(BASE + path, init);
  } catch (error) {
    const late = error instanceof DOMException && error.name === "TimeoutError";
    throw new HostError(
      late ? "timeout" : "unreachable",
      0,
      late
        ? "The host did not answer in time. Nothing is lost; try again."
        : "The host cannot be reached. Is `tillerman serve` still running? Try again when it is.",
    );
  }
  const text = await response.text();
  const answer = parse(text);
  if (!response.ok) {
    throw failure(response.status, answer);
  }
  return answer as T;
}

function parse(text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function failure(status: number, answer: unknown): HostError {
  const error = (answer as { error?: { code?: unknown; message?: unknown } } | null)?.error;
  const code = typeof error?.code === "string" ? error.code : `http_${status}`;
  const message =
    typeof error?.message === "string" ? error.message : `The host answered with status ${status} and no explanation.`;
  return new HostError(code, status, message, answer);
}

function query(values: Record<string, string | number | boolean | null | undefined>): string {
  const parts = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(parts.map(([key, value]) => [key, String(value)]));
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

const of = (id: string): string => `/conversations/${encodeURIComponent(id)}`;

export interface ConversationQuery {
  search?: string;
  archived?: boolean;
  project_id?: string | null;
  before?: string | null;
  limit?: number;
}

export interface Upload {
  name: string;
  media_type: string;
  data_base64: string;
}

export const host = {
  info: () => request<Info>("GET", "/info"),

  conversations: (wanted: ConversationQuery) =>
    request<{ conversations: Conversation[]; next: string | null }>("GET", `/conversations${query({ ...wanted })}`),
  conversation: (id: string) => request<Conversation>("GET", of(id)),
  create: (order: {
    project_id?: string | null;
    title?: string;
    cwd?: string;
    model?: string | null;
    permission_mode?: string;
  }) => request<Conversation>("POST", "/conversations", order),
  change: (id: string, patch: { title?: string; archived?: boolean; model?: string; permission_mode?: string }) =>
    request<Conversation>("PATCH", of(id), patch),
  remove: (id: string) => request<unknown>("DELETE", of(id)),
  exportAddress: (id: string, format: "json" | "markdown") => `${BASE}${of(id)}/export?format=${format}`,

  send: (id: string, message: { text: string; attachments?: Upload[]; client_id: string }) =>
    request<{ message_id: string; position: number }>("POST", `${of(id)}/messages`, message),
  takeBack: (id: string, message: string) =>
    request<unknown>("DELETE", `${of(id)}/queue/${encodeURIComponent(message)}`),
  interrupt: (id: string) => request<unknown>("POST", `${of(id)}/interrupt`),
  rewind: (id: string, order: { message_id: string; dry_run: boolean; conversation?: boolean }) =>
    request<RewindAnswer>("POST", `${of(id)}/rewind`, order),
  taskOutput: (id: string, task: string) =>
    request<TaskOutput>("GET", `${of(id)}/tasks/${encodeURIComponent(task)}/output`),
  stopTask: (id: string, task: string) => request<unknown>("POST", `${of(id)}/tasks/${encodeURIComponent(task)}/stop`),
  context: (id: string) => request<ContextUsage>("GET", `${of(id)}/context`),
  complete: (id: string, kind: "command" | "agent" | "file", text: string) =>
    request<{ items: Completion[] }>("GET", `${of(id)}/completions?${new URLSearchParams({ kind, query: text })}`),

  approvals: (state: "pending" | "all") => request<{ approvals: Approval[] }>("GET", `/approvals${query({ state })}`),
  answer: (id: string, answer: ApprovalAnswer) =>
    request<Approval>("POST", `/approvals/${encodeURIComponent(id)}/answer`, answer),

  approvalPolicy: () => request<ApprovalPolicy>("GET", "/approvals/policy"),
  setApprovalPolicy: (policy: ApprovalPolicy) => request<ApprovalPolicy>("PATCH", "/approvals/policy", policy),

  usage: (days: number, project: string | null) =>
    request<UsageReport>("GET", `/usage${query({ days, project_id: project })}`),
  audit: (limit: number) => request<{ entries: AuditEntry[] }>("GET", `/audit${query({ limit })}`),

  projects: collection<Project>("projects"),
  personas: collection<Note>("personas"),
  skills: collection<Note>("skills"),
  agents: collection<Agent>("agents"),
  files: () => request<DocumentFiles>("GET", "/files"),
};

/** The four verbs of a collection that people manage. */
export interface Collection<T extends { id: string }> {
  list: () => Promise<T[]>;
  add: (value: Omit<T, "id">) => Promise<T>;
  change: (id: string, value: Partial<Omit<T, "id">>) => Promise<T>;
  remove: (id: string) => Promise<unknown>;
}

function collection<T extends { id: string }>(name: string): Collection<T> {
  const path = `/${name}`;
  const one = (id: string): string => `${path}/${encodeURIComponent(id)}`;
  return {
    list: async () => {
      const answer = await request<Record<string, T[]> | T[]>("GET", path);
      return Array.isArray(answer) ? answer : (answer[name] ?? []);
    },
    add: (value) => request<T>("POST", path, value),
    change: (id, value) => request<T>("PATCH", one(id), value),
    remove: (id) => request<unknown>("DELETE", one(id)),
  };
}

/** A sentence about whatever was thrown. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
