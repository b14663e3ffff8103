// What a tool printed, shortened until somebody wants all of it.

import { useState } from "preact/hooks";

import { plainOutput } from "../text/terminal";
import { visible } from "../text/visible";
import { CopyButton } from "./CopyButton";

const SHOWN_LINES = 24;
const SHOWN_CHARACTERS = 6000;

interface OutputProps {
  text: string;
  label: string;
  failed?: boolean;
  /** Shows the end instead of the beginning, as for output that still grows. */
  tail?: boolean;
}

export function Output({ text, label, failed = false, tail = false }: OutputProps) {
  const [whole, setWhole] = useState(false);
  const clean = visible(plainOutput(text));
  const lines = clean.split("\n");
  const isLong = lines.length > SHOWN_LINES || clean.length > SHOWN_CHARACTERS;
  const shown = whole || !isLong ? clean : shorten(lines, tail);
  return (
    <div class={`output ${failed ? "failed" : ""}`}>
      <pre tabIndex={0} aria-label={label}>
        {shown}
      </pre>
      <div class="output-tools">
        {isLong && (
          <button type="button" class="quiet small" onClick={() => setWhole(!whole)} aria-expanded={whole}>
            {whole ? "Show less" : `Show all ${lines.length} lines`}
          </button>
        )}
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
    </div>
  );
}

function shorten(lines: string[], tail: boolean): string {
  const some = tail ? lines.slice(-SHOWN_LINES) : lines.slice(0, SHOWN_LINES);
  const text = some.join("\n");
  if (text.length <= SHOWN_CHARACTERS) {
    return text;
  }
  return tail ? `…${text.slice(-SHOWN_CHARACTERS)}` : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
