#!/usr/bin/env node
// docs/definitions.md, typed as a reader types it, against a real server.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runPage } from "./session.mjs";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), "../.."));
let passed = 0;
let failed = 0;

await runPage("docs/definitions.md", process.env.PAWL ?? "build/pawl", (ok, text) => {
  if (ok) passed++;
  else {
    failed++;
    console.log(`FAILED ${text}`);
  }
}, { server: true });
if (passed < 15) failed++;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
