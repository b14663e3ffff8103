// Copies a text and says that it did.

import { useEffect, useState } from "preact/hooks";

import { toast } from "../state";

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) {
      return undefined;
    }
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => toast("error", "The browser does not let this page copy. Select the text and copy it by hand."),
    );
  };
  return (
    <button type="button" class="quiet small" onClick={copy} aria-label={label}>
      {copied ? "Copied" : "Copy"}
    </button>
  );
}
