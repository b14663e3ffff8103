// What only the real host can show: it dies, and nothing is lost.

import { rm } from "node:fs/promises";
import { createServer } from "node:net";

import { BINARY, Person, expect, makeHome, picture, startReal, test } from "./fixtures";

test.skip(BINARY === undefined, "this needs a real host: name its binary in TILLERMAN_BIN");

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

test("a card outlives the host, and its answer continues the run", async ({ browser }) => {
  const binary = BINARY as string;
  const home = await makeHome();
  const port = await freePort();
  const first = await startReal(binary, home, port);
  const person = await Person.arrive(browser, first);
  await person.begin("run `touch survived.txt && echo it-survived`");
  await expect(person.card).toBeVisible();

  await first.kill();
  await expect(person.page.getByTestId("connection")).toBeVisible();
  await picture(person.page, test.info(), "gone");

  const second = await startReal(binary, home, port);
  await person.hurry();
  await expect(person.card).toBeVisible();
  await person.allowed();
  await expect(person.said("it-survived")).toBeVisible({ timeout: 40_000 });
  await person.isReady();
  await expect(person.page.getByTestId("prompt")).toHaveCount(1);
  await picture(person.page, test.info(), "back");

  await person.page.close();
  await second.stop();
  await rm(home, { recursive: true, force: true });
});
