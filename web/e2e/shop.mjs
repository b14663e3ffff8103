// A small MCP server over standard streams: its one tool asks the person before it answers.

import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map();

const SCHEMA = {
  type: "object",
  required: ["size", "mail"],
  properties: {
    size: { type: "string", title: "Size", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }] },
    mail: { type: "string", title: "Mail", format: "email" },
    count: { type: "integer", title: "How many", minimum: 1, maximum: 9, default: 1 },
  },
};

function ask(params) {
  const id = `ask-${waiting.size + 1}`;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    send({ id, method: "elicitation/create", params });
  });
}

async function answer({ id, method, params, result }) {
  if (method === undefined) {
    waiting.get(id)?.(result);
    return;
  }
  switch (method) {
    case "initialize":
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "shop", version: "1" } } });
      return;
    case "tools/list":
      send({ id, result: { tools: [{ name: "order", description: "Orders boots.", inputSchema: { type: "object", properties: {} } }] } });
      return;
    case "tools/call": {
      const heard = await ask({ mode: "form", message: "Which boots shall it be?", requestedSchema: SCHEMA });
      send({ id, result: { content: [{ type: "text", text: `The shop heard ${JSON.stringify(heard)}` }] } });
      return;
    }
    default:
      if (id !== undefined) {
        send({ id, result: {} });
      }
  }
}

createInterface({ input: process.stdin }).on("line", (line) => void answer(JSON.parse(line)));
