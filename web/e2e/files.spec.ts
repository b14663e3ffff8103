// Documents that are files, and files of messages.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, picture, test } from "./fixtures";

test("shows projects of files, and broken files with their lines", async ({ person, host }) => {
  const page = person.page;
  await page.goto(`${host.url}/#/settings/projects`);
  if (host.shelve !== undefined) {
    host.shelve();
  } else {
    const directory = join(host.data as string, "projects");
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "harbour.md"), "---\nname: Harbour\ncwd: /\npermission_mode: plan\n---\nMind the rocks.\n");
    await writeFile(join(directory, "quay.md"), "---\nname: Quay\ncwd: /\nmodell: small\n---\n");
  }
  const card = page.locator(".card", { has: page.getByRole("heading", { name: "Harbour" }) });
  await expect(card.getByTestId("from-file")).toContainText("projects/harbour.md");
  await expect(card.getByRole("button", { name: "Edit" })).toHaveCount(0);
  const problem = page.getByTestId("file-problem");
  await expect(problem).toContainText("projects/quay.md:4");
  await expect(problem).toContainText("modell");
  await picture(page, test.info(), "list");
  await card.getByRole("button", { name: "Show Harbour" }).click();
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeDisabled();
  await expect(page.getByRole("textbox", { name: /Said to the agent/ })).toHaveValue("Mind the rocks.");
  await expect(page.getByRole("button", { name: "Save" })).toHaveCount(0);
  await page.getByRole("button", { name: "Close" }).click();
  if (host.data !== undefined) {
    await rm(join(host.data, "projects"), { recursive: true });
    await expect(problem).toHaveCount(0);
    await expect(card).toHaveCount(0);
  }
});

test("manages agents", async ({ person }) => {
  const name = `scout-${Math.random().toString(36).slice(2, 8)}`;
  const page = person.page;
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByRole("textbox", { name: /^Name/ }).fill(name);
  await page.getByRole("textbox", { name: "When it is to be called" }).fill("To look around.");
  await page.getByRole("textbox", { name: "What it is told" }).fill("Look around.");
  await page.getByRole("textbox", { name: /^Its tools/ }).fill("Read\nGrep");
  await page.getByRole("button", { name: "Save" }).click();
  const card = page.locator(".card", { has: page.getByRole("heading", { name }) });
  await expect(card).toContainText("Read, Grep");
  await page.getByRole("link", { name: "Projects", exact: true }).click();
  await page.getByRole("button", { name: "New project" }).click();
  await expect(page.getByRole("group", { name: "Agents it can call" }).getByRole("checkbox", { name })).toBeVisible();
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await card.getByRole("button", { name: `Delete ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(card).toHaveCount(0);
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("shows pictures of prompts after a reload, and offers other files for saving", async ({ person }) => {
  const page = person.page;
  await page.locator("input[type=file]").setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") },
    { name: "words.txt", mimeType: "text/plain", buffer: Buffer.from("some words") },
  ]);
  await person.begin("say thanks for the files");
  await person.isReady();
  await page.reload();
  const prompt = page.getByTestId("prompt").first();
  const picture1 = prompt.getByRole("img", { name: "dot.png" });
  await expect(picture1).toBeVisible();
  await expect.poll(() => picture1.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
  await picture(page, test.info(), "thumbnail");
  await prompt.getByRole("button", { name: "Enlarge dot.png" }).click();
  await expect(page.getByRole("dialog", { name: "dot.png" }).getByRole("img")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  const [download] = await Promise.all([page.waitForEvent("download"), prompt.getByRole("link", { name: /words.txt/ }).click()]);
  expect(download.suggestedFilename()).toBe("words.txt");
  const stream = await download.createReadStream();
  let text = "";
  for await (const chunk of stream) {
    text += String(chunk);
  }
  expect(text).toBe("some words");
});
