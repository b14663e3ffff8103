// Lets the official runner start on Node 20: it imports a function of Node 22, which only a command uses that is never run here.

import { register } from "node:module";

const inline = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

const fs = inline(`
  export * from "node:fs";
  export { default } from "node:fs";
  export function globSync() {
    throw new Error("globSync needs Node 22");
  }
`);

const hooks = inline(`
  export const resolve = (specifier, context, next) =>
    specifier === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/")
      ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
      : next(specifier, context);
`);

register(hooks);
