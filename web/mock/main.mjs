// Starts the scripted host by hand: `npm run mock`, then open the address it prints.

import { startHost } from "./host.mjs";

const host = await startHost({ port: Number(process.env.PORT ?? 7717) });
process.stdout.write(`${host.url}/?token=${host.token}\n`);
