// A scripted host: the contract of the API without an engine behind it, for tests of the page.

import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

import { play } from "./agent.mjs";
import { Talk } from "./talk.mjs";

const DIST = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Starts a host on a free port unless one is given. */
export async function startHost({ port = 0, token = randomUUID() } = {}) {
  const host = new Host(token);
  const server = createServer((request, response) => {
    host.serve(request, response).catch((error) => answer(response, 500, failure("internal", String(error))));
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (connection) => host.connect(connection, request));
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    token,
    /** Cuts all live connections, as a network does. */
    drop: () => sockets.clients.forEach((client) => client.terminate()),
    /** Refuses live connections until told otherwise. */
    refuse: (yes) => {
      host.refusing = yes;
    },
    /** Has a project come from a file, and another file be broken. */
    shelve: () => host.shelve(),
    close: async () => {
      sockets.clients.forEach((client) => client.terminate());
      host.talks.forEach((talk) => talk.stop());
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const failure = (code, message) => ({ error: { code, message } });

function answer(response, status, body) {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}

class Host {
  constructor(token) {
    this.token = token;
    this.talks = new Map();
    this.approvals = new Map();
    this.watchers = new Set();
    this.collections = { projects: new Map(), personas: new Map(), skills: new Map(), agents: new Map() };
    this.files = { directory: "/home/ada/.local/share/tillerman", problems: [] };
    this.refusing = false;
    this.policy = { mode: "normal", expires_after_seconds: null };
  }

  /** Tokens of others than the owner end with their role. */
  roleOf(token) {
    const roles = { [this.token]: "owner", [`${this.token}-approver`]: "approver", [`${this.token}-viewer`]: "viewer" };
    return roles[token] ?? null;
  }

  signedIn(request) {
    return this.roleOf(/tillerman=([^;]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "");
  }

  /** Tells everybody who watches. */
  tell(message) {
    for (const socket of this.watchers) {
      socket.send(JSON.stringify(message));
    }
  }

  async serve(request, response) {
    const url = new URL(request.url, "http://host");
    if (url.pathname === "/" && url.searchParams.has("token")) {
      const token = url.searchParams.get("token");
      const cookie = this.roleOf(token) === null ? {} : { "set-cookie": `tillerman=${token}; HttpOnly; SameSite=Strict; Path=/` };
      response.writeHead(303, { location: "/", ...cookie });
      response.end();
      return;
    }
    if (!url.pathname.startsWith("/api/v1/")) {
      await serveFile(url.pathname, response);
      return;
    }
    const role = this.signedIn(request);
    if (role === null) {
      answer(response, 401, failure("unauthorized", "Sign in with the token that was printed when the host started."));
      return;
    }
    const mayAnswer = role === "approver" && /\/(answer|interrupt)$/.test(url.pathname);
    if (request.method !== "GET" && role !== "owner" && !mayAnswer) {
      answer(response, 403, failure("forbidden", `As ${role} you may not do this.`));
      return;
    }
    const chunks = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const file = /^\/api\/v1\/conversations\/([^/]+)\/attachments\/([^/]+)\/(\d+)$/.exec(url.pathname);
    const found = file === null ? undefined : this.talks.get(file[1])?.attachments.get(file[2])?.[Number(file[3])];
    if (found !== undefined) {
      const handling = found.media_type.startsWith("image/") ? "inline" : "attachment";
      response.writeHead(200, { "content-type": found.media_type, "content-disposition": `${handling}; filename="${found.name}"`, "x-content-type-options": "nosniff" });
      response.end(Buffer.from(found.data_base64, "base64"));
      return;
    }
    const text = Buffer.concat(chunks).toString();
    const [status, body] = this.route(request.method, url, text === "" ? {} : JSON.parse(text), role);
    answer(response, status, body);
  }

  route(method, url, body, role) {
    const [area, id, part, item, verb] = url.pathname.slice("/api/v1/".length).split("/");
    switch (area) {
      case "info":
        return [200, this.info(role)];
      case "conversations":
        return id === undefined ? this.list(method, url, body) : this.one(method, url, body, { id, part, item, verb });
      case "approvals":
        if (id === "policy") {
          Object.assign(this.policy, body);
          return [200, this.policy];
        }
        return id === undefined ? [200, { approvals: this.pending() }] : this.decide(id, body);
      case "projects":
      case "personas":
      case "skills":
      case "agents":
        return this.keep(method, this.collections[area], area, id, body);
      case "files":
        return [200, this.files];
      case "usage":
        return [200, usage(Number(url.searchParams.get("days") ?? 30))];
      case "audit":
        return [200, { entries: [...this.approvals.values()].map((one) => ({ at: one.created_at, user: "owner", action: `approval ${one.state}`, subject: one.tool_name, detail: one.display.lines.join(" ") })) }];
      default:
        return [404, failure("not_found", "There is nothing at this address.")];
    }
  }

  info(role) {
    return {
      version: "0.0.0-mock",
      protocol_level: "mock",
      rehearsal: true,
      model: "rehearsal",
      models: [
        { id: "rehearsal", name: "Rehearsal" },
        { id: "other", name: "Other model" },
      ],
      modes: ["default", "acceptEdits", "plan", "bypassPermissions"],
      user: { name: role, role },
      limits: { max_upload_bytes: 1024 * 1024 },
    };
  }

  pending() {
    return [...this.approvals.values()].filter((one) => one.state === "pending");
  }

  list(method, url, body) {
    if (method === "POST") {
      const talk = new Talk(this, body);
      this.talks.set(talk.id, talk);
      this.tell({ type: "conversation", conversation: talk.summary() });
      return [201, talk.summary()];
    }
    const search = (url.searchParams.get("search") ?? "").toLowerCase();
    const archived = url.searchParams.get("archived") === "true";
    const found = [...this.talks.values()].filter((talk) => talk.archived === archived && talk.matches(search));
    const conversations = found.map((talk) => (search === "" ? talk.summary() : { ...talk.summary(), snippet: talk.snippet(search) }));
    return [200, { conversations: conversations.reverse(), next: null }];
  }

  one(method, url, body, { id, part, item, verb }) {
    const talk = this.talks.get(id);
    if (talk === undefined) {
      return [404, failure("not_found", "This conversation does not exist, or was deleted.")];
    }
    switch (part) {
      case undefined:
        return this.whole(method, talk, body);
      case "messages":
        return [202, talk.receive(body, play)];
      case "queue":
        return talk.takeBack(item) ? [200, {}] : [404, failure("not_queued", "This message is no longer in the queue.")];
      case "interrupt":
        talk.interrupt();
        return [200, {}];
      case "rewind":
        return [200, talk.rewind(body)];
      case "context":
        return [200, CONTEXT];
      case "completions":
        return [200, { items: completions(url.searchParams.get("kind"), url.searchParams.get("query") ?? "") }];
      case "tasks":
        return verb === "stop" ? [200, talk.stopTask(item)] : [200, talk.taskOutput(item)];
      default:
        return [404, failure("not_found", "There is nothing at this address.")];
    }
  }

  whole(method, talk, body) {
    if (method === "DELETE") {
      talk.stop();
      this.talks.delete(talk.id);
      this.tell({ type: "conversation_deleted", id: talk.id });
      return [200, {}];
    }
    if (method === "PATCH") {
      Object.assign(talk, body);
      talk.changed();
    }
    return [200, talk.summary()];
  }

  decide(id, body) {
    const approval = this.approvals.get(id);
    if (approval === undefined) {
      return [404, failure("not_found", "This question does not exist.")];
    }
    if (approval.state !== "pending") {
      return [409, approval];
    }
    const fields = body.decision === "allow" ? wrongFields(approval, body.answers ?? {}) : {};
    if (Object.keys(fields).length > 0) {
      return [400, { error: { ...failure("bad_request", "Some fields are not as the form wants them.").error, fields } }];
    }
    Object.assign(approval, {
      state: { allow: "allowed", deny: "denied", cancel: "cancelled" }[body.decision],
      answered_by: "owner",
      answered_at: new Date().toISOString(),
      message: body.message ?? null,
    });
    this.talks.get(approval.conversation_id)?.answered(approval, body);
    return [200, approval];
  }

  keep(method, collection, area, id, body) {
    if (method === "POST") {
      const value = { ...body, id: randomUUID() };
      collection.set(value.id, value);
      return [201, value];
    }
    if (id === undefined) {
      return [200, { [area]: [...collection.values()] }];
    }
    if (method === "PATCH") {
      Object.assign(collection.get(id) ?? {}, body);
    } else if (method === "DELETE") {
      collection.delete(id);
    }
    return [200, collection.get(id) ?? {}];
  }

  connect(socket, request) {
    if (this.signedIn(request) === null) {
      socket.close(4401, "sign in");
      return;
    }
    if (this.refusing) {
      socket.terminate();
      return;
    }
    const followed = new Set();
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      if (message.type === "watch") {
        this.watchers.add(socket);
      } else if (message.type === "ping") {
        socket.send(JSON.stringify({ type: "pong" }));
      } else if (message.type === "subscribe") {
        const talk = this.talks.get(message.conversation_id);
        talk?.follow(socket, message.after);
        followed.add(message.conversation_id);
      } else if (message.type === "unsubscribe") {
        this.talks.get(message.conversation_id)?.leave(socket);
      }
    });
    socket.on("close", () => {
      this.watchers.delete(socket);
      followed.forEach((id) => this.talks.get(id)?.leave(socket));
    });
  }

  /** A project of a file, and a file that is broken. */
  shelve() {
    const directory = `${this.files.directory}/projects`;
    const project = { id: "harbour", source: `${directory}/harbour.md`, name: "Harbour", cwd: "/srv/harbour", environment: {}, guarded_paths: [], allowed_tools: ["Read"], disallowed_tools: [], permission_mode: "plan", model: null, max_budget_usd: 2, daily_budget_usd: null, persona_ids: [], skill_ids: [], agent_ids: [], mcp_servers: {}, additional_prompt: "Mind the rocks." };
    this.collections.projects.set(project.id, project);
    this.files.problems = [{ kind: "project", path: `${directory}/quay.md`, line: 4, message: "The head is wrong: unknown field `modell`. Its former state stays until the file is right." }];
    this.tell({ type: "documents" });
  }

  /** Makes a question durable and shows it. */
  ask(approval) {
    this.approvals.set(approval.id, approval);
    this.tell({ type: "approval", approval });
  }
}

/** What only the host judges of a form: here, that mail has an @. */
function wrongFields(approval, answers) {
  const fields = approval.elicitation?.fields ?? [];
  const wrong = fields.filter((field) => field.kind.format === "email" && answers[field.name] !== undefined && !answers[field.name].includes("@"));
  return Object.fromEntries(wrong.map((field) => [field.name, "This is to be an address such as ada@example.com."]));
}

async function serveFile(path, response) {
  const name = normalize(path === "/" ? "/index.html" : path);
  try {
    const bytes = await readFile(join(DIST, name));
    const etag = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
    response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream", "content-security-policy": POLICY, etag });
    response.end(bytes);
  } catch {
    response.writeHead(404);
    response.end("not found");
  }
}

function completions(kind, query) {
  const known = {
    command: [
      { value: "help", description: "what there is" },
      { value: "compact", description: "make room" },
    ],
    agent: [{ value: "reviewer", description: "reads changes" }],
    file: [
      { value: "src/main.rs", description: null },
      { value: "README.md", description: null },
    ],
  };
  return (known[kind] ?? []).filter((one) => one.value.toLowerCase().includes(query.toLowerCase()));
}

function usage(count) {
  const day = (back) => new Date(Date.UTC(2026, 0, 31) - back * 86_400_000).toISOString().slice(0, 10);
  const days = Array.from({ length: count }, (_, index) => ({
    date: day(count - 1 - index),
    cost_usd: (index % 7) * 0.4,
    input_tokens: index * 1000,
    output_tokens: index * 100,
    runs: index % 5,
  }));
  const share = { cost_usd: 3.2, input_tokens: 90_000, output_tokens: 8000, runs: 12 };
  return { days, by_model: [{ model: "rehearsal", ...share }], by_project: [{ project_id: null, name: null, ...share }], today_cost_usd: 1.2, daily_limit_usd: 5 };
}

const CONTEXT = {
  categories: [
    { id: "system_prompt", name: "System prompt", tokens: 2400, kind: "used" },
    { id: "messages", name: "Messages", tokens: 5200, kind: "used" },
    { id: "free_space", name: "Free space", tokens: 192_400, kind: "free" },
  ],
  totalTokens: 7600,
  maxTokens: 200_000,
  percentage: 3,
};
