// A real MCP server asks, a person answers in the page, and the server hears it.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { BINARY, expect, picture, test } from "./fixtures";

test.skip(BINARY === undefined, "this needs a real host: name its binary in TILLERMAN_BIN");

test("a server's form reaches the person, and the answer the server", async ({ person, host }) => {
  const directory = join(host.data as string, "projects");
  const cwd = join(host.data as string, "..", "boots");
  const server = fileURLToPath(new URL("shop.mjs", import.meta.url));
  const head = { cwd, allowed_tools: ["mcp__shop__order"], mcp_servers: { shop: { command: process.execPath, args: [server] } } };
  await mkdir(directory, { recursive: true });
  await mkdir(cwd, { recursive: true });
  // JSON is YAML.
  await writeFile(join(directory, "boots.md"), `---\n${JSON.stringify(head)}\n---\n`);
  const page = person.page;
  await page.getByLabel("Project").last().selectOption({ label: "boots" });
  await person.begin("use mcp__shop__order");
  const card = page.getByTestId("elicitation");
  await expect(card).toContainText("Which boots shall it be?", { timeout: 40_000 });
  await page.reload();
  await expect(card.getByRole("textbox", { name: /How many/ })).toHaveValue("1");
  await card.getByRole("radio", { name: "Large" }).check();
  await card.getByRole("textbox", { name: /Mail/ }).fill("nowhere");
  await card.getByRole("textbox", { name: /How many/ }).fill("12");
  await card.getByRole("button", { name: "Send the answer" }).click();
  await expect(card.locator("[data-field=mail]").getByRole("alert")).toBeVisible();
  await expect(card.locator("[data-field=count]").getByRole("alert")).toContainText("at most 9");
  await picture(page, test.info(), "errors");
  await card.getByRole("textbox", { name: /Mail/ }).fill("ada@example.com");
  await card.getByRole("textbox", { name: /How many/ }).fill("2");
  await card.getByRole("button", { name: "Send the answer" }).click();
  await expect(person.said('"action":"accept"')).toBeVisible();
  await expect(person.said('"mail":"ada@example.com"')).toBeVisible();
  await person.isReady();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Audit" }).click();
  await expect(page.getByText(/mcp__shop/).first()).toBeVisible();
});
