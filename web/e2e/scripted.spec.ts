// What only a scripted agent shows on demand: streams, thoughts, pictures, agents, tasks, failures.

import { Person, expect, picture, test } from "./fixtures";

test.skip(process.env["TILLERMAN_BIN"] !== undefined, "these need the scripted host");

test("renders Markdown and thoughts, and no markup of the model", async ({ person }) => {
  await person.begin("think about boats");
  await expect(person.said("It has two sides")).toBeVisible();
  await person.isReady();
  await expect(person.page.getByTestId("thinking")).toContainText("Thoughts");
  const said = person.page.getByTestId("said").last();
  await expect(said.locator("pre code")).toContainText("println!");
  await expect(said.locator("table td")).toHaveText(["one", "1"]);
  await expect(said.locator("script")).toHaveCount(0);
  await expect(said).toContainText("<script>alert(1)</script>");
  await expect(said.getByRole("link", { name: "a link" })).toHaveAttribute("rel", "noopener noreferrer");
});

test("a reload in the middle of a sentence misses nothing", async ({ person }) => {
  await person.begin("count to 120");
  await expect(person.page.getByTestId("said").first()).toContainText("number 10");
  await person.page.reload();
  await expect(person.said("number 119, number 120")).toBeVisible({ timeout: 20_000 });
  await expect(person.page.getByTestId("said")).toHaveCount(1);
  await expect(person.said("number 1, number 2, number 3")).toBeVisible();
});

test("shows pictures, steps and cost", async ({ person }) => {
  await person.begin("show a picture");
  await person.isReady();
  await person.page.locator(".call-head").click();
  await expect(person.page.locator(".pictures img")).toBeVisible();
  await person.say("todo: buy milk, read a book, rest");
  await person.isReady();
  const steps = person.page.getByRole("complementary").getByTestId("todos");
  await expect(steps.locator("li")).toHaveText([/buy milk/, /Doing: read a book/, /rest/]);
  await expect(person.page.getByTestId("cost")).toHaveText("$0.04");
  await person.page.getByRole("button", { name: "What fills it?" }).click();
  await expect(person.page.getByRole("complementary")).toContainText("System prompt");
  await expect(person.page.getByTestId("context-meter")).toBeVisible();
});

test("shows agents as a tree that opens", async ({ person }) => {
  await person.begin("delegate: look around");
  await person.isReady();
  const tree = person.page.getByTestId("tasks");
  await expect(tree).toContainText("look around");
  await tree.getByRole("button", { name: /look around/ }).click();
  await expect(tree).toContainText("The agent found one file.");
  await expect(person.page.getByTestId("said").filter({ hasText: "The agent is done." })).toBeVisible();
});

test("opens an agent that asks", async ({ person }) => {
  await person.begin("delegate: run `touch inner.txt`");
  await expect(person.card).toBeVisible();
  await expect(person.card).toContainText("scout-1");
  await person.page.keyboard.press("Alt+a");
  await expect(person.card).toBeFocused();
  await expect(person.card.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await person.page.keyboard.press("y");
  await expect(person.said("The agent is done.")).toBeVisible();
});

test("follows and stops a task in the background", async ({ person }) => {
  await person.begin("run `make all` in the background");
  await person.isReady();
  const call = person.page.getByTestId("call").first();
  await expect(call).toHaveAttribute("data-state", "background");
  await expect(call.locator(".task-output")).toContainText("line 3");
  await person.page.getByTestId("tasks").getByRole("button", { name: "Stop make all" }).click();
  await expect(call).toHaveAttribute("data-state", "done");
});

test("approves a plan, or asks for another", async ({ person }) => {
  await person.begin("plan the harbour");
  const plan = person.page.getByTestId("plan");
  await expect(plan.getByRole("heading", { name: "Plan for the harbour" })).toBeVisible();
  await plan.getByRole("textbox").fill("more boats");
  await plan.getByRole("button", { name: "Keep planning" }).click();
  await expect(person.said("more boats")).toBeVisible();
  await person.isReady();
  await person.say("plan the quay");
  await picture(person.page, test.info(), "plan");
  await plan.getByRole("checkbox").check();
  await plan.getByRole("button", { name: "Approve the plan" }).click();
  await expect(person.said("I carry it out.")).toBeVisible();
});

test("previews a rewind", async ({ person }) => {
  await person.begin("say first");
  await person.isReady();
  await person.say("say second");
  await expect(person.said("second")).toBeVisible();
  await person.isReady();
  const last = person.page.getByTestId("prompt").last();
  await last.hover();
  await last.getByRole("button", { name: "Rewind to here" }).click();
  const dialog = person.page.getByRole("dialog");
  await expect(dialog.getByTestId("rewind-files")).toContainText("notes.txt");
  await picture(person.page, test.info(), "preview");
  await dialog.getByRole("checkbox").check();
  await dialog.getByRole("button", { name: "Rewind" }).click();
  await expect(person.page.getByTestId("prompt")).toHaveCount(1);
});

test("completes commands, agents and files", async ({ person }) => {
  await person.begin("say hi");
  await person.isReady();
  const composer = person.page.locator("#composer");
  await composer.pressSequentially("/he");
  await expect(person.page.getByRole("option", { name: /help/ })).toBeVisible();
  await composer.press("Tab");
  await expect(composer).toHaveValue("/help ");
  await composer.fill("");
  await composer.pressSequentially("look at @ma");
  await expect(person.page.getByRole("option", { name: /src\/main.rs/ })).toBeVisible();
  await composer.press("Enter");
  await expect(composer).toHaveValue("look at @src/main.rs ");
});

test("says what went wrong, for people", async ({ person }) => {
  await person.begin("fail");
  await expect(person.page.getByTestId("notice")).toContainText("overloaded");
});

test("charts the usage", async ({ person }) => {
  await person.page.getByRole("link", { name: "Usage" }).click();
  await expect(person.page.getByTestId("usage-chart").locator("rect")).toHaveCount(30);
  await person.page.getByLabel("Days").selectOption("7");
  await expect(person.page.getByTestId("usage-chart").locator("rect")).toHaveCount(7);
});

test("makes hidden characters visible on a card", async ({ person }) => {
  await person.begin("run `echo \u202Egnp.exe\u200B`");
  await expect(person.card.getByTestId("approval-lines")).toHaveText("echo \\u{202e}gnp.exe\\u{200b}");
});

test("lets viewers look and approvers answer", async ({ person, browser, host }) => {
  await person.begin("run `touch roles.txt`");
  await expect(person.card).toBeVisible();
  const here = new URL(person.page.url()).hash;
  const viewer = new Person(await browser.newPage());
  await viewer.page.goto(`${host.address}-viewer`);
  await viewer.page.goto(`${host.url}/${here}`);
  await expect(viewer.card).toContainText("You can watch here");
  await expect(viewer.card.getByRole("button")).toHaveCount(0);
  await expect(viewer.page.locator("#composer")).toBeDisabled();
  const approver = new Person(await browser.newPage());
  await approver.page.goto(`${host.address}-approver`);
  await approver.page.goto(`${host.url}/${here}`);
  await expect(approver.card.getByRole("button", { name: /Edit/ })).toHaveCount(0);
  await approver.allowed();
  await expect(viewer.page.getByTestId("call").first()).toHaveAttribute("data-state", "done");
  await viewer.page.close();
  await approver.page.close();
});

test("notifies who looks elsewhere", async ({ browser, host }) => {
  const context = await browser.newContext({ permissions: ["notifications"] });
  await context.addInitScript(() => {
    const shown: string[] = [];
    Object.assign(window, { shown });
    class Fake extends EventTarget {
      static permission = "granted";
      static requestPermission = (): Promise<string> => Promise.resolve("granted");
      constructor(title: string, options: { body: string }) {
        super();
        shown.push(`${title}: ${options.body}`);
      }
    }
    Object.defineProperty(window, "Notification", { value: Fake });
  });
  const page = await context.newPage();
  await page.goto(host.address);
  await page.goto(`${host.url}/#/settings/appearance`);
  await page.getByRole("checkbox", { name: /Tell me/ }).check();
  await page.evaluate(() => Object.defineProperty(document, "visibilityState", { value: "hidden" }));
  const other = await Person.arrive(browser, host);
  await other.begin("run `touch secret.txt`");
  await expect.poll(() => page.evaluate(() => (window as unknown as { shown: string[] }).shown.length)).toBeGreaterThan(0);
  const shown = await page.evaluate(() => (window as unknown as { shown: string[] }).shown.join());
  expect(shown).toContain("An agent waits for your answer");
  await other.page.close();
  await context.close();
});
