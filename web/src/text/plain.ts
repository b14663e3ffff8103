// Markdown where there is no room for it.

/** A line of Markdown without its marks, for places that show one line of it. */
export function plainLine(text: string): string {
  return text.replace(/(^|\s)(#{1,6}|[-*]|>)\s+/g, "$1").replace(/\*+|`+/g, "");
}
