// Output of commands: colours and cursor movements are taken out, what was overwritten is gone.

const SEQUENCES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;

export function plainOutput(text: string): string {
  const stripped = text.replace(SEQUENCES, "").replaceAll("\r\n", "\n");
  return stripped.includes("\r") ? stripped.split("\n").map(lastState).join("\n") : stripped;
}

/** What a line shows after its carriage returns. */
function lastState(line: string): string {
  return line.split("\r").reduce((shown, part) => part + shown.slice(part.length), "");
}
