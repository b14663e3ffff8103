// Questions of MCP servers, as the scripted host asks them.

import { Person, expect, picture, test } from "./fixtures";

test.skip(process.env["TILLERMAN_BIN"] !== undefined, "these need the scripted host");

test("fills in a form of a server", async ({ person }) => {
  await person.begin("have the shop ask me");
  const card = person.page.getByTestId("elicitation");
  await expect(card).toContainText("shop asks you");
  await expect(card).toContainText("They are sent today.");
  await picture(person.page, test.info(), "form");
  await card.getByRole("button", { name: "Send the answer" }).click();
  await expect(card.locator("[data-field=size]").getByRole("alert")).toHaveText("This is needed.");
  await expect(card.getByRole("radio", { name: "Small" })).toBeFocused();
  await card.getByRole("radio", { name: "Large" }).check();
  await card.getByRole("textbox", { name: /Mail/ }).fill("nowhere");
  await card.getByRole("textbox", { name: /How many/ }).fill("2");
  await card.getByRole("checkbox", { name: "A bow" }).check();
  await card.getByLabel("Wanted on").fill("2026-12-24");
  await card.getByRole("button", { name: "Send the answer" }).click();
  await expect(card.locator("[data-field=mail]").getByRole("alert")).toContainText("ada@example.com");
  await picture(person.page, test.info(), "errors");
  await card.getByRole("textbox", { name: /Mail/ }).fill("ada@example.com");
  await card.getByRole("button", { name: "Send the answer" }).click();
  await expect(person.said('{"size":"l","mail":"ada@example.com","count":2,"extras":["bag","bow"],"gift":false,"on":"2026-12-24"}')).toBeVisible();
  await expect(person.page.getByTestId("server-question")).toContainText("answered by owner");
  await person.isReady();
});

test("declines a server, or puts its question aside", async ({ person }) => {
  await person.begin("have the shop ask me");
  const card = person.page.getByTestId("elicitation");
  await card.getByRole("button", { name: "Decline" }).click();
  await expect(person.said("The shop heard: deny")).toBeVisible();
  await expect(person.page.getByTestId("answered")).toContainText("declined by owner");
  await person.isReady();
  await person.say("have the shop ask me");
  await card.getByRole("button", { name: "Put aside" }).click();
  await expect(person.said("The shop heard: cancel")).toBeVisible();
  await person.isReady();
});

test("shows where a page leads and opens it only when told", async ({ person, host }) => {
  const url = `${host.url}/tiller.svg?from=shop`;
  await person.begin(`have the shop send me to ${url}`);
  const card = person.page.getByTestId("elicitation");
  await expect(card.getByTestId("address")).toHaveText(url);
  await expect(card.getByTestId("address").locator("strong")).toHaveText(new URL(host.url).host);
  await picture(person.page, test.info(), "page");
  expect(person.page.context().pages()).toHaveLength(1);
  const link = card.getByRole("link", { name: /Open/ });
  await expect(link).toHaveAttribute("rel", "noopener noreferrer");
  const [opened] = await Promise.all([person.page.context().waitForEvent("page"), link.click()]);
  expect(opened.url()).toBe(url);
  expect(await opened.evaluate(() => window.opener)).toBeNull();
  await opened.close();
  await expect(person.said("The shop heard: allow")).toBeVisible();
  await person.isReady();
});

test("warns of addresses that pretend, and offers none that is not of the web", async ({ person }) => {
  await person.begin("have the shop send me to http://bank.example@evil.example/pay");
  const card = person.page.getByTestId("elicitation");
  await expect(card.getByTestId("address").locator("strong")).toHaveText("evil.example");
  await expect(card).toContainText("What stands before the @");
  await expect(card).toContainText("not encrypted");
  await card.getByRole("button", { name: "Decline" }).click();
  await person.isReady();
  await person.say("have the shop send me to javascript:alert(1)");
  await expect(card).toContainText("You can only decline it.");
  await expect(card.getByRole("link")).toHaveCount(0);
  await card.getByRole("button", { name: "Decline" }).click();
  await person.isReady();
});

test("lets viewers see a form and not touch it", async ({ person, browser, host }) => {
  await person.begin("have the shop ask me");
  await expect(person.page.getByTestId("elicitation")).toBeVisible();
  const viewer = new Person(await browser.newPage());
  await viewer.page.goto(`${host.address}-viewer`);
  await viewer.page.goto(`${host.url}/${new URL(person.page.url()).hash}`);
  const card = viewer.page.getByTestId("elicitation");
  await expect(card.getByRole("radio", { name: "Small" })).toBeDisabled();
  await expect(card.getByRole("button")).toHaveCount(0);
  await viewer.page.close();
  await person.page.getByTestId("elicitation").getByRole("button", { name: "Decline" }).click();
  await person.isReady();
});
