// Suggestions for what is being written, from the host and with what the session told us as a fallback.

import { useEffect, useState } from "preact/hooks";

import type { Completion } from "../host/contract";
import { host } from "../host/http";
import type { Mention } from "../text/mention";

const WAIT_MS = 90;
const MOST = 12;

export interface Offer extends Completion {
  kind: "command" | "agent" | "file";
}

/** What can be completed; empty while nothing is being mentioned. */
export function useCompletion(conversation: string | null, mention: Mention | null, known: { commands: string[]; agents: string[] }): Offer[] {
  const [offers, setOffers] = useState<Offer[]>([]);
  const kind = mention?.kind ?? null;
  const query = mention?.query ?? "";
  useEffect(() => {
    if (kind === null) {
      setOffers([]);
      return undefined;
    }
    let ended = false;
    const timer = setTimeout(() => {
      void find(conversation, kind, query, known).then((found) => {
        if (!ended) {
          setOffers(found.slice(0, MOST));
        }
      });
    }, WAIT_MS);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [conversation, kind, query]);
  return kind === null ? [] : offers;
}

async function find(
  conversation: string | null,
  kind: "command" | "mention",
  query: string,
  known: { commands: string[]; agents: string[] },
): Promise<Offer[]> {
  const ask = async (of: "command" | "agent" | "file", fallback: string[]): Promise<Offer[]> => {
    const answer = conversation === null ? null : await host.complete(conversation, of, query).catch(() => null);
    const items = answer?.items ?? local(fallback, query);
    return items.map((item) => ({ ...item, kind: of }));
  };
  if (kind === "command") {
    return ask("command", known.commands);
  }
  const [agents, files] = await Promise.all([ask("agent", known.agents), ask("file", [])]);
  return [...agents.slice(0, 4), ...files];
}

function local(names: string[], query: string): Completion[] {
  const wanted = query.toLowerCase();
  return names
    .filter((name) => name.toLowerCase().includes(wanted))
    .map((value) => ({ value, description: null }));
}
