// Characters that do not show, or that make others show elsewhere, as visible escapes.

// Control characters but tab and newline, marks of direction, zero widths, separators, tags and other fillers.
const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E0FFF}]/gu;

/** The text with everything hidden made visible, as `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, escape);
}

/** Whether something in the text would not show as it is. */
export function hasHidden(text: string): boolean {
  HIDDEN.lastIndex = 0;
  return HIDDEN.test(text);
}

function escape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
