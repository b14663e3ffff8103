// No page has serious findings of axe, in light and in dark.

import { createRequire } from "node:module";

import type { Page } from "@playwright/test";

import { Person, expect, picture, test } from "./fixtures";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Finding {
  id: string;
  impact: string | null;
  nodes: { target: string[]; failureSummary?: string }[];
}

async function findings(page: Page): Promise<string[]> {
  // The policy of the page forbids added scripts, so axe comes in by the debugger's door.
  const found = await page.evaluate<Finding[]>(`window.axe.run(document).then((result) => result.violations)`);
  return found
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}: ${node.failureSummary ?? ""}`));
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`is accessible in ${colorScheme}`, async ({ browser, host }) => {
    const context = await browser.newContext({ colorScheme });
    await context.addInitScript({ path: AXE });
    const page = await context.newPage();
    const person = new Person(page);
    const check = async (name: string): Promise<void> => {
      expect(await findings(page), name).toEqual([]);
      await picture(page, test.info(), name);
    };
    await page.goto(host.address);
    await expect(page.locator("#composer")).toBeVisible();
    await check("home");
    await person.begin(`run \`touch ${colorScheme}.txt\``);
    await expect(person.card).toBeVisible();
    await check("card");
    await page.getByRole("link", { name: /^Approvals/ }).click();
    await expect(person.card.first()).toBeVisible();
    await check("approvals");
    await page.goBack();
    await person.allowed();
    await person.isReady();
    await person.say("ask me which color I like: red, blue or green");
    await expect(page.getByTestId("question")).toBeVisible();
    await check("question");
    await page.getByTestId("question").getByRole("radio").first().check();
    await page.getByTestId("question").getByRole("button", { name: "Answer", exact: true }).click();
    await person.isReady();
    await person.say(`write note-${colorScheme}.txt with \`one\``);
    await person.allowed();
    await expect(page.getByTestId("diff")).toBeVisible();
    await person.isReady();
    await check("diff");
    if (!host.isReal) {
      await person.say("have the shop ask me");
      const form = page.getByTestId("elicitation");
      await form.getByRole("button", { name: "Send the answer" }).click();
      await expect(form.getByRole("alert").first()).toBeVisible();
      await check("form of a server");
      await form.getByRole("button", { name: "Decline" }).click();
      await person.isReady();
    }
    for (const section of ["usage", "settings/projects", "settings/personas", "settings/agents", "settings/questions", "settings/appearance", "settings/audit"]) {
      await page.goto(`${host.url}/#/${section}`);
      await expect(page.locator("h1")).toBeVisible();
      await check(section);
    }
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog")).toBeVisible();
    await check("keys");
    await context.close();
  });
}

test("is accessible on a phone", async ({ browser, host }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 780 }, hasTouch: true });
  await context.addInitScript({ path: AXE });
  const page = await context.newPage();
  await page.goto(host.address);
  await expect(page.locator("#composer")).toBeVisible();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "Conversations" }).click();
  await expect(page.getByTestId("conversations")).toBeInViewport();
  expect(await findings(page)).toEqual([]);
  await context.close();
});
