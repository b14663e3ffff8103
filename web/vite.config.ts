/// <reference types="vitest/config" />
import { defineConfig } from "vite";

// Where `npm run dev` finds a host; the page itself always talks to its own origin.
const host = process.env["TILLERMAN_URL"] ?? "http://127.0.0.1:7717";

export default defineConfig({
  build: {
    target: "es2022",
    // The crate's build script names a directory of its own, so that a build never dirties the tree.
    outDir: process.env["TILLERMAN_WEB_OUT"] ?? "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": { target: host, ws: true } } },
  test: { include: ["test/**/*.test.ts"], environment: "node" },
});
