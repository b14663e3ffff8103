import { expect, test } from "vitest";

import type { HostEvent } from "../src/host/contract";
import { applyEvents } from "../src/view/reduce";
import { MAIN, emptyView } from "../src/view/view";
import { assistant, numbered, stream, toolResult, toolUse, user } from "./events";

const ROUNDS = 2000;

test("a long conversation opens at once, and a word more costs little", () => {
  const story: HostEvent[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    story.push(
      user(`u${round}`, "go on"),
      toolUse(`m${round}`, `t${round}`, "Bash", { command: "ls" }),
      toolResult(`t${round}`, "a\nb"),
      assistant(`n${round}`, { type: "text", text: "done" }),
    );
  }
  let began = performance.now();
  let view = applyEvents(emptyView(), numbered(story));
  expect(view.threads.get(MAIN)?.length).toBe(3 * ROUNDS);
  expect(performance.now() - began).toBeLessThan(2000);

  view = applyEvents(view, numbered([stream({ type: "message_start", message: { id: "live", model: "m" } } as never), stream({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })]));
  began = performance.now();
  for (let word = 0; word < 200; word += 1) {
    view = applyEvents(view, numbered([stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word " } })]));
  }
  expect((performance.now() - began) / 200).toBeLessThan(25);
});
