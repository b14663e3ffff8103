// Tells a person who looks elsewhere that a question waits.

import { signal } from "@preact/signals";

import type { Approval } from "./host/contract";

const KEY = "tillerman.notify";

/** Whether the browser can, whether the person wants it, and whether they allowed it. */
export const notifying = signal(localStorage.getItem(KEY) === "yes" && isAllowed());

function isAllowed(): boolean {
  return "Notification" in window && Notification.permission === "granted";
}

/** Switches it on or off; the browser asks the person the first time. Returns why it cannot be. */
export async function setNotifying(on: boolean): Promise<string | null> {
  if (!on) {
    localStorage.removeItem(KEY);
    notifying.value = false;
    return null;
  }
  if (!("Notification" in window)) {
    return "This browser shows no notifications for this page.";
  }
  if ((await Notification.requestPermission()) !== "granted") {
    return "The browser does not allow it. Its settings for this page can change that.";
  }
  localStorage.setItem(KEY, "yes");
  notifying.value = true;
  return null;
}

/** Shows a notification when the page is not being looked at. */
export function notify(approval: Approval, conversation: string, onClick: () => void): void {
  if (!notifying.value || document.visibilityState === "visible") {
    return;
  }
  // The command itself stays on the page: notifications can be read over shoulders and by other programs.
  const note = new Notification("An agent waits for your answer", { body: conversation, tag: approval.id });
  note.addEventListener("click", () => {
    window.focus();
    onClick();
  });
}
