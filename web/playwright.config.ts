import { existsSync } from "node:fs";

import { defineConfig } from "@playwright/test";

// A Chromium of the system is used when there is one, since the test runner's own cannot be had everywhere.
const system = [process.env["CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => path !== "" && existsSync(path),
);

export default defineConfig({
  testDir: "e2e",
  outputDir: "e2e-results/traces",
  timeout: 90_000,
  expect: { timeout: 20_000 },
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    trace: "retain-on-failure",
    launchOptions: {
      ...(system === undefined ? {} : { executablePath: system }),
      // Continuous integration runs as root, where the browser's own sandbox cannot start.
      ...(process.getuid?.() === 0 ? { args: ["--no-sandbox"] } : {}),
    },
  },
});
