// Differences between two texts, line by line, and the patches that file tools report.

export interface DiffLine {
  sign: "+" | "-" | " ";
  text: string;
  old: number | null;
  new: number | null;
}

export interface Hunk {
  lines: DiffLine[];
}

/** A patch as file tools report it. */
interface StructuredHunk {
  oldStart: number;
  newStart: number;
  lines: string[];
}

const CONTEXT = 3;
/** More work than this is not worth the wait; the texts are then shown as removed and added whole. */
const MOST_CELLS = 4_000_000;

/** Reads the patch out of the structured result of a file tool. */
export function readPatch(structured: unknown): Hunk[] | null {
  const patch = (structured as { structuredPatch?: unknown } | null | undefined)?.structuredPatch;
  if (!Array.isArray(patch) || patch.length === 0) {
    return null;
  }
  const hunks = patch as StructuredHunk[];
  const sound = hunks.every((hunk) => Array.isArray(hunk.lines) && hunk.lines.every((line) => typeof line === "string"));
  return sound ? hunks.map(numbered) : null;
}

/** The difference between two texts, as hunks with a little of what stands around. */
export function diffTexts(before: string, after: string): Hunk[] {
  return intoHunks(diffLines(split(before), split(after)));
}

export function countChanges(hunks: Hunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.sign === "+").length,
    removed: lines.filter((line) => line.sign === "-").length,
  };
}

function numbered(hunk: StructuredHunk): Hunk {
  let old = hunk.oldStart;
  let fresh = hunk.newStart;
  const lines = hunk.lines
    .filter((line) => !line.startsWith("\\"))
    .map((line): DiffLine => {
      const text = line.slice(1);
      if (line.startsWith("+")) {
        return { sign: "+", text, old: null, new: fresh++ };
      }
      if (line.startsWith("-")) {
        return { sign: "-", text, old: old++, new: null };
      }
      return { sign: " ", text, old: old++, new: fresh++ };
    });
  return { lines };
}

function split(text: string): string[] {
  if (text === "") {
    return [];
  }
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

function diffLines(before: string[], after: string[]): DiffLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) {
    tail += 1;
  }
  const middle = compare(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  const signs: ["+" | "-" | " ", string][] = [
    ...before.slice(0, head).map((line): [" ", string] => [" ", line]),
    ...middle,
    ...before.slice(before.length - tail).map((line): [" ", string] => [" ", line]),
  ];
  let old = 1;
  let fresh = 1;
  return signs.map(([sign, text]) => ({
    sign,
    text,
    old: sign === "+" ? null : old++,
    new: sign === "-" ? null : fresh++,
  }));
}

/** The longest common subsequence decides what stays. */
function compare(before: string[], after: string[]): ["+" | "-" | " ", string][] {
  const width = after.length + 1;
  if (before.length * after.length > MOST_CELLS) {
    return [...before.map((line): ["-", string] => ["-", line]), ...after.map((line): ["+", string] => ["+", line])];
  }
  const table = new Uint32Array((before.length + 1) * width);
  const cell = (row: number, column: number): number => table[row * width + column] as number;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      table[row * width + column] =
        before[row] === after[column]
          ? cell(row + 1, column + 1) + 1
          : Math.max(cell(row + 1, column), cell(row, column + 1));
    }
  }
  const out: ["+" | "-" | " ", string][] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      out.push([" ", before[row++] as string]);
      column += 1;
    } else if (row < before.length && (column === after.length || cell(row + 1, column) >= cell(row, column + 1))) {
      out.push(["-", before[row++] as string]);
    } else {
      out.push(["+", after[column++] as string]);
    }
  }
  return out;
}

function intoHunks(lines: DiffLine[]): Hunk[] {
  const hunks: Hunk[] = [];
  let last = -Infinity;
  lines.forEach((line, index) => {
    if (line.sign === " ") {
      return;
    }
    if (index - last > 2 * CONTEXT + 1) {
      hunks.push({ lines: lines.slice(Math.max(0, index - CONTEXT), index) });
    } else {
      hunks.at(-1)?.lines.push(...lines.slice(last + 1, index));
    }
    hunks.at(-1)?.lines.push(line);
    last = index;
  });
  return hunks.map((hunk) => withTail(hunk, lines));
}

function withTail(hunk: Hunk, lines: DiffLine[]): Hunk {
  const end = lines.indexOf(hunk.lines.at(-1) as DiffLine) + 1;
  return { lines: [...hunk.lines, ...lines.slice(end, end + CONTEXT)] };
}
