// A host for each worker, a signed-in page for each test, and a picture of how it ended.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Browser, Page, TestInfo } from "@playwright/test";
import { test as base, expect } from "@playwright/test";

/** The binary to test against; without one the scripted host plays its part. */
export const BINARY = process.env["TILLERMAN_BIN"];

export interface RunningHost {
  /** Where to begin: signs in and leads to the page. */
  address: string;
  url: string;
  isReal: boolean;
  /** Where a real host keeps its data. */
  data?: string;
  /** Has a scripted host find documents that are files. */
  shelve?: () => void;
  stop: () => Promise<void>;
}

async function startMock(): Promise<RunningHost> {
  // @ts-expect-error The scripted host is plain JavaScript, so that node can run it as it is.
  const { startHost } = await import("../mock/host.mjs");
  const host = await startHost();
  return { url: host.url, address: `${host.url}/?token=${host.token}`, isReal: false, shelve: host.shelve, stop: host.close };
}

const START_MS = 60_000;
const STOP_MS = 12_000;

/** Starts the binary as a host, in a place of its own. */
export async function startReal(binary: string, home: string, port: number): Promise<RunningHost & { kill: () => Promise<void> }> {
  const child = spawn(binary, ["serve", "--port", String(port)], {
    cwd: home,
    // Nothing of the machine's own keys and settings may reach a test. Continuous integration is root on a
    // machine that nobody keeps, which is what the last variable says.
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      TILLERMAN_HOME: join(home, "data"),
      CLAUDE_CONFIG_DIR: join(home, "config"),
      IS_SANDBOX: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  const address = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the host did not print its address in time; it said: ${said}`)), START_MS);
    const hear = (data: Buffer): void => {
      said += String(data);
      const found = /(http:\/\/127\.0\.0\.1:\d+\/\S*)\s/.exec(said)?.[1];
      if (found !== undefined) {
        clearTimeout(timer);
        resolve(found);
      }
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => reject(new Error(`the host ended with ${code}: ${said}`)));
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await ended;
    clearTimeout(timer);
  };
  return { url: new URL(address).origin, address, isReal: true, data: join(home, "data"), stop, kill };
}

/** A directory for one host. */
export function makeHome(): Promise<string> {
  return mkdtemp(join(tmpdir(), "tillerman-e2e-"));
}

async function startSomewhere(binary: string): Promise<RunningHost> {
  const home = await makeHome();
  const host = await startReal(binary, home, 0);
  const stop = async (): Promise<void> => {
    await host.stop();
    await rm(home, { recursive: true, force: true });
  };
  return { ...host, stop };
}

/** A person with a browser. */
export class Person {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  static async arrive(browser: Browser, host: RunningHost, options: Parameters<Browser["newPage"]>[0] = {}): Promise<Person> {
    const page = await browser.newPage(options);
    const person = new Person(page);
    await page.goto(host.address);
    await expect(page.locator("#composer")).toBeVisible();
    return person;
  }

  /** Writes a message where it can be written. */
  async say(text: string): Promise<void> {
    const composer = this.page.locator("#composer");
    await composer.fill(text);
    await composer.press("Enter");
  }

  /** Begins a conversation and waits until it is there. */
  async begin(text: string): Promise<void> {
    await this.say(text);
    await expect(this.page.getByTestId("prompt").first()).toContainText(text);
  }

  get card() {
    return this.page.getByTestId("approval");
  }

  async allowed(): Promise<void> {
    await this.card.getByRole("button", { name: /^Approve/ }).click();
  }

  async isReady(): Promise<void> {
    await expect(this.page.getByTestId("run-state")).toHaveText(/Ready|Stopped/);
  }

  /** Asks for the connection, unless the page has it back by itself. */
  async hurry(): Promise<void> {
    await this.page.getByRole("button", { name: "Try now" }).click({ timeout: 3000 }).catch(() => undefined);
    await expect(this.page.getByTestId("connection")).toHaveCount(0);
  }

  said(text: string | RegExp) {
    return this.page.getByTestId("said").filter({ hasText: text });
  }
}

interface Fixtures {
  person: Person;
}

export const test = base.extend<Fixtures, { host: RunningHost }>({
  host: [
    async ({}, use) => {
      const host = BINARY === undefined ? await startMock() : await startSomewhere(BINARY);
      await use(host);
      await host.stop();
    },
    { scope: "worker" },
  ],
  person: async ({ browser, host }, use, info) => {
    const person = await Person.arrive(browser, host);
    const problems = watch(person.page);
    await use(person);
    await picture(person.page, info);
    await person.page.close();
    expect(problems, "the page's own errors and violations of its content policy").toEqual([]);
  },
});

export { expect };

/** Collects errors of the page and everything its content policy refused. */
export function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security Policy|Refused to/i.test(message.text())) {
      problems.push(message.text());
    }
  });
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (/^https?:$/.test(protocol) && hostname !== "127.0.0.1") {
      problems.push(`the page asked ${request.url()}`);
    }
  });
  return problems;
}

export async function picture(page: Page, info: TestInfo, part = ""): Promise<void> {
  const name = [...info.titlePath.slice(1), part].join(" ").replace(/[^a-z0-9]+/gi, "-").toLowerCase().replace(/-$/, "");
  await page.screenshot({ path: `e2e-results/screenshots/${name}.png` });
}
