// What every user does first, against the real host or the scripted one.

import { Person, expect, picture, test } from "./fixtures";

test("sends a prompt and reads the answer", async ({ person }) => {
  await person.begin("say hello there");
  await expect(person.said("hello there")).toBeVisible();
  await person.isReady();
  await expect(person.page.getByTestId("conversations")).toContainText("say hello there");
});

test("approves a card, which shows all that will run", async ({ person }) => {
  await person.begin("run `touch made.txt && echo made-it`");
  await expect(person.card.getByTestId("approval-lines")).toContainText("touch made.txt && echo made-it");
  await picture(person.page, test.info(), "card");
  await person.allowed();
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "done");
  await expect(person.page.getByTestId("waiting")).toHaveCount(0);
  await person.isReady();
});

test("approves nothing by a click that a script made up", async ({ person }) => {
  await person.begin("run `touch never.txt`");
  const approve = person.card.getByRole("button", { name: /^Approve/ });
  await expect(approve).toBeEnabled();
  await approve.evaluate((button: HTMLButtonElement) => button.click());
  await person.card.evaluate((card) => card.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true })));
  await expect(approve).toBeEnabled();
  await expect(person.page.getByTestId("answered")).toHaveCount(0);
  await person.allowed();
  await person.isReady();
});

test("denies a card with a message", async ({ person }) => {
  await person.begin("run `rm -rf build`");
  await person.card.getByRole("button", { name: /^Deny/ }).click();
  await person.card.getByRole("textbox").fill("keep the build");
  await person.card.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "refused");
  await person.isReady();
  await person.page.locator(".call-head").first().click();
});

test("edits the input before it runs", async ({ person }) => {
  await person.begin("run `touch wrong.txt`");
  await person.card.getByRole("button", { name: /^Edit input/ }).click();
  const field = person.card.getByRole("textbox", { name: "command" });
  await field.fill("touch right.txt");
  await person.card.getByRole("button", { name: /Approve with/ }).click();
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "done");
  await person.isReady();
});

test("allows for good, with the scope said", async ({ person }) => {
  await person.begin("run `touch again.txt`");
  const remember = person.card.locator(".remember");
  await expect(remember).toBeVisible();
  await expect(remember).toContainText(/session ends|for you|for everybody/);
  await remember.getByRole("checkbox").first().check();
  await person.card.getByRole("button", { name: /Approve and remember/ }).click();
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "done");
  await person.isReady();
});

test("answers a question", async ({ person }) => {
  await person.begin("ask me which color I like: red, blue or green");
  const form = person.page.getByTestId("question");
  await form.getByRole("button", { name: "Answer", exact: true }).click();
  await expect(form.getByRole("alert")).toBeVisible();
  await form.getByRole("radio", { name: /blue/ }).check();
  await picture(person.page, test.info(), "form");
  await form.getByRole("button", { name: "Answer", exact: true }).click();
  await expect(person.said("blue")).toBeVisible();
  await person.isReady();
});

test("sees a difference before and after it is made", async ({ person }) => {
  await person.begin("write notes.txt with `hello from a test`");
  await expect(person.card.getByTestId("diff")).toContainText("hello from a test");
  await picture(person.page, test.info(), "before");
  await person.allowed();
  const call = person.page.getByTestId("call").first();
  await expect(call).toHaveAttribute("data-state", "done");
  await expect(call.getByTestId("diff").locator("tr.added")).toContainText("hello from a test");
  await person.isReady();
});

test("stops a run", async ({ person }) => {
  await person.begin("run `sleep 30`");
  await person.allowed();
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "running");
  await person.page.getByTestId("stop").click();
  await person.isReady();
  await expect(person.page.getByTestId("call").first()).not.toHaveAttribute("data-state", "running");
  const rounds = person.page.getByTestId("round-end");
  await expect(rounds).toHaveCount(1);
  await person.say("say still here");
  await expect(rounds).toHaveCount(2);
  await expect(person.page.getByTestId("said").last()).toBeVisible();
});

test("reloads in the middle and misses nothing", async ({ person }) => {
  await person.begin("run `sleep 2`");
  await person.page.reload();
  await expect(person.card).toBeVisible();
  await person.allowed();
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "running");
  await person.page.reload();
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "done");
  await person.isReady();
  await expect(person.page.getByTestId("prompt")).toHaveCount(1);
  await expect(person.page.getByTestId("call")).toHaveCount(1);
  // The thread and the list hear of the end in two messages.
  await expect(person.page.getByTestId("activity")).toHaveCount(0);
  const before = await person.page.locator(".thread").innerText();
  await person.page.reload();
  await person.isReady();
  await expect(person.page.locator(".thread")).toHaveText(before, { useInnerText: true });
});

test("two browsers see the same conversation and one answer counts", async ({ person, browser, host }) => {
  await person.begin("run `touch shared.txt`");
  const other = await Person.arrive(browser, host);
  await other.page.goto(`${host.url}/${new URL(person.page.url()).hash}`);
  await expect(other.card).toBeVisible();
  await other.allowed();
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "done");
  await expect(person.card).toHaveCount(0);
  await person.isReady();
  await person.say("say from the first");
  await expect(other.said("from the first")).toBeVisible();
  await other.say("say from the second");
  await expect(person.said("from the second")).toBeVisible();
  await expect(person.page.getByTestId("prompt")).toHaveCount(3);
  await expect(other.page.getByTestId("prompt")).toHaveCount(3);
  await other.page.close();
});

test("comes back after a lost connection without gap or repetition", async ({ browser, host }) => {
  const page = await browser.newPage();
  let refuse = false;
  let cut: () => void = () => undefined;
  await page.routeWebSocket(/\/api\/v1\/socket/, (ws) => {
    if (refuse) {
      void ws.close();
      return;
    }
    const server = ws.connectToServer();
    cut = () => {
      void server.close();
      void ws.close();
    };
  });
  const person = new Person(page);
  await page.goto(host.address);
  await person.begin("say one");
  await expect(person.said("one")).toBeVisible();
  await person.isReady();

  refuse = true;
  cut();
  await expect(page.getByTestId("connection")).toBeVisible();
  await picture(page, test.info(), "lost");
  const other = await Person.arrive(browser, host);
  await other.page.goto(`${host.url}/${new URL(page.url()).hash}`);
  await expect(other.said("one")).toBeVisible();
  await other.say("say two");
  await expect(other.said("two")).toBeVisible();
  await other.isReady();
  await expect(person.said("two")).toHaveCount(0);

  refuse = false;
  await person.hurry();
  await expect(person.said("two")).toBeVisible();
  await expect(page.getByTestId("prompt")).toHaveCount(2);
  await other.page.close();
  await page.close();
});

test("queues what is written during a run and takes it back", async ({ person }) => {
  await person.begin("run `sleep 20`");
  await expect(person.card).toBeVisible();
  await person.say("say later");
  const queue = person.page.getByTestId("queue");
  await expect(queue).toContainText("say later");
  await expect(queue).toContainText("1");
  await queue.getByRole("button", { name: /Take back/ }).click();
  await expect(queue).toHaveCount(0);
  await person.page.getByTestId("stop").click();
  await person.isReady();
  await expect(person.page.getByTestId("prompt")).toHaveCount(1);
});

test("works by keyboard alone", async ({ person }) => {
  await person.page.locator("#composer").focus();
  await person.page.keyboard.type("run `touch keys.txt`");
  await person.page.keyboard.press("Enter");
  await expect(person.card).toBeVisible();
  await person.page.keyboard.press("Alt+a");
  await expect(person.card).toBeFocused();
  await expect(person.card.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await person.page.keyboard.press("y");
  await expect(person.page.getByTestId("call").first()).toHaveAttribute("data-state", "done");
  await person.isReady();
  await person.page.keyboard.press("?");
  await expect(person.page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await person.page.keyboard.press("Escape");
  await person.page.keyboard.press("Alt+n");
  await expect(person.page.getByRole("heading", { name: "What shall be done?" })).toBeVisible();
});

test("finds, renames, archives and deletes conversations", async ({ person }) => {
  const word = `needle${Math.random().toString(36).slice(2, 8)}`;
  await person.begin(`say ${word}`);
  await person.isReady();
  await person.page.getByRole("button", { name: new RegExp(word) }).first().click();
  await person.page.getByRole("textbox", { name: "Title" }).fill(`Renamed ${word}`);
  await person.page.keyboard.press("Enter");
  await expect(person.page.getByTestId("conversations")).toContainText(`Renamed ${word}`);
  await person.page.keyboard.press("Control+k");
  await person.page.keyboard.type(word);
  await expect(person.page.getByTestId("conversations").locator("li")).toHaveCount(1);
  await person.page.getByRole("searchbox").fill("");
  await person.page.locator(".menu summary").click();
  await person.page.getByRole("button", { name: "Archive", exact: true }).first().click();
  await expect(person.page.getByTestId("conversations")).not.toContainText(word);
  await person.page.getByRole("button", { name: "Delete…" }).click();
  await person.page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(person.page.getByRole("heading", { name: "What shall be done?" })).toBeVisible();
});

test("manages personas and projects", async ({ person }) => {
  const name = `p${Math.random().toString(36).slice(2, 8)}`;
  await person.page.getByRole("link", { name: "Settings" }).click();
  await person.page.getByRole("link", { name: "Personas" }).click();
  await person.page.getByRole("button", { name: "New persona" }).click();
  await person.page.getByRole("textbox", { name: "Name" }).fill(name);
  await person.page.getByRole("textbox", { name: "Text" }).fill("Speaks calmly.");
  await person.page.getByRole("button", { name: "Save" }).click();
  await expect(person.page.getByRole("heading", { name })).toBeVisible();
  await person.page.getByRole("link", { name: "Projects" }).click();
  await person.page.getByRole("button", { name: "New project" }).click();
  await person.page.getByRole("textbox", { name: "Name", exact: true }).fill(`Project ${name}`);
  await person.page.getByRole("textbox", { name: "Working directory" }).fill("/tmp");
  await person.page.getByRole("checkbox", { name }).check();
  await person.page.getByRole("button", { name: "Save" }).click();
  await expect(person.page.getByRole("heading", { name: `Project ${name}` })).toBeVisible();
  await person.page.getByRole("link", { name: "New", exact: true }).click();
  await person.page.getByLabel("Project").last().selectOption({ label: `Project ${name}` });
});

test("sets how long questions wait", async ({ person }) => {
  await person.page.getByRole("link", { name: "Settings" }).click();
  await person.page.getByRole("link", { name: "Questions" }).click();
  const field = person.page.getByRole("textbox", { name: /Minutes/ });
  await field.fill("none");
  await person.page.getByRole("button", { name: "Save" }).click();
  await expect(person.page.getByRole("alert")).toContainText("number of minutes");
  await field.fill("600");
  await person.page.getByRole("button", { name: "Save" }).click();
  await expect(person.page.getByTestId("toast")).toContainText("Saved");
  await person.page.reload();
  await expect(field).toHaveValue("600");
});

test("switches model and mode, and asks before everything is allowed", async ({ person }) => {
  await person.begin("say ready");
  await person.isReady();
  await person.page.getByLabel("Permission mode").selectOption("plan");
  await expect(person.page.getByLabel("Permission mode")).toHaveValue("plan");
  const modes = await person.page.getByLabel("Permission mode").locator("option").evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
  if (modes.includes("bypassPermissions")) {
    await person.page.getByLabel("Permission mode").selectOption("bypassPermissions");
    await expect(person.page.getByRole("dialog", { name: "Allow everything?" })).toBeVisible();
    await person.page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await expect(person.page.getByLabel("Permission mode")).toHaveValue("plan");
  }
});

test("attaches a pasted picture", async ({ person }) => {
  await person.page.locator("#composer").focus();
  await person.page.evaluate(() => {
    const bytes = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), (one) => one.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], "dot.png", { type: "image/png" }));
    document.activeElement?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await expect(person.page.getByRole("list", { name: "Attached files" }).locator("img")).toBeVisible();
  await person.begin("say thanks for the picture");
  await expect(person.page.getByTestId("prompt").getByRole("list", { name: "Attachments" })).toBeVisible();
  await expect(person.said("thanks")).toBeVisible();
});

test("wants the token", async ({ browser, host }) => {
  const page = await browser.newPage();
  await page.goto(host.url);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await picture(page, test.info());
  await page.getByLabel("Token").fill(new URL(host.address).searchParams.get("token") ?? "");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.locator("#composer")).toBeVisible();
  await page.close();
});

test("fits a phone", async ({ browser, host }) => {
  const person = await Person.arrive(browser, host, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  const page = person.page;
  const fits = async (): Promise<void> => expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await fits();
  await picture(page, test.info(), "home");
  await page.locator("#composer").fill("run `touch phone.txt`");
  await page.getByTestId("send").tap();
  await expect(person.card).toBeVisible();
  await fits();
  await picture(page, test.info(), "card");
  await person.card.getByRole("button", { name: /^Approve/ }).tap();
  await expect(page.getByTestId("call").first()).toHaveAttribute("data-state", "done");
  await page.getByRole("button", { name: "Conversations" }).tap();
  await expect(page.getByTestId("conversations")).toBeInViewport();
  await picture(page, test.info(), "list");
  await page.close();
});
