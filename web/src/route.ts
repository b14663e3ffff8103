// Where the page is, kept in the address so that a reload comes back to it.

import { signal } from "@preact/signals";

export type Route =
  | { page: "home" }
  | { page: "conversation"; id: string }
  | { page: "approvals" }
  | { page: "usage" }
  | { page: "settings"; section: string };

export const route = signal<Route>(read(location.hash));

addEventListener("hashchange", () => {
  route.value = read(location.hash);
});

export function read(hash: string): Route {
  const [first = "", second = ""] = hash.replace(/^#\/?/, "").split("/").map(decode);
  switch (first) {
    case "c":
      return second === "" ? { page: "home" } : { page: "conversation", id: second };
    case "approvals":
      return { page: "approvals" };
    case "usage":
      return { page: "usage" };
    case "settings":
      return { page: "settings", section: second || "projects" };
    default:
      return { page: "home" };
  }
}

export const addressOf = {
  home: "#/",
  conversation: (id: string): string => `#/c/${encodeURIComponent(id)}`,
  approvals: "#/approvals",
  usage: "#/usage",
  settings: (section: string): string => `#/settings/${section}`,
};

/** Goes to another page, at once. */
export function go(hash: string): void {
  location.hash = hash;
  route.value = read(hash);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
