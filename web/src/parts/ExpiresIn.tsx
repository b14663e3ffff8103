// How long a question still waits.

import { useNow } from "../clock";
import type { Approval } from "../host/contract";
import { duration } from "../text/format";

export function ExpiresIn({ approval, word }: { approval: Approval; word: string }) {
  const now = useNow(approval.expires_at !== null);
  if (approval.expires_at === null) {
    return null;
  }
  const left = Date.parse(approval.expires_at) - now;
  return <> · {left > 0 ? `${word} in ${duration(left)}` : "expiring"}</>;
}
