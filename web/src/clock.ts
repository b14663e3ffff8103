// The time, for everything that counts seconds. It stands still while nothing on the page needs it.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const now = signal(Date.now());
let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** The present time; the component is drawn again every second while `ticking`. */
export function useNow(ticking: boolean): number {
  useEffect(() => {
    if (!ticking) {
      return undefined;
    }
    users += 1;
    now.value = Date.now();
    timer ??= setInterval(() => {
      now.value = Date.now();
    }, 1000);
    return () => {
      users -= 1;
      if (users === 0) {
        clearInterval(timer);
        timer = undefined;
      }
    };
  }, [ticking]);
  return ticking ? Math.max(now.value, Date.now() - 1000) : now.peek();
}
