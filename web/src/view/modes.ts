// Permission modes in words.

const MODES: Record<string, { name: string; means: string }> = {
  default: { name: "Ask first", means: "Everything that is not plainly harmless is asked about." },
  acceptEdits: { name: "Accept edits", means: "Edits of files in the working directory need no question." },
  plan: { name: "Plan", means: "The agent looks but does not touch, and shows a plan." },
  bypassPermissions: {
    name: "Allow everything",
    means: "Nothing is asked. Only deny rules and guarded files still hold.",
  },
  dontAsk: { name: "Never ask", means: "What would be asked is denied." },
  auto: { name: "Auto", means: "A classifier decides what would otherwise be asked." },
};

export const DEFAULT_MODES = ["default", "acceptEdits", "plan"];

export function modeName(mode: string): string {
  return MODES[mode]?.name ?? mode;
}

export function modeMeaning(mode: string): string {
  return MODES[mode]?.means ?? "";
}

export function isDangerous(mode: string): boolean {
  return mode === "bypassPermissions";
}
