// A button that approves something counts only after a person could have read what it approves, and only
// for a person: a card that slips under a click, or a click that a script made up, approves nothing.

import { useEffect, useState } from "preact/hooks";

/** How long a card must have been seen, in milliseconds. */
const READING = 400;

/** Whether a card that has just appeared may be approved. */
export function useArmed(): boolean {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), READING);
    return () => clearTimeout(timer);
  }, []);
  return armed;
}

/** Does something only when a person did, and not a script. */
export function byPerson(action: () => void): (event: Event) => void {
  return (event) => {
    if (event.isTrusted) {
      action();
    }
  };
}
