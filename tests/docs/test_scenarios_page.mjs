#!/usr/bin/env node
// The guide to scenarios: every example is saved and run, and every field of a step and of a
// scenario that the checker knows is mentioned.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runPage } from "./session.mjs";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), "../.."));
const page = "docs/scenarios.md";
let passed = 0;
let failed = 0;

function claim(ok, text) {
  if (ok) passed++;
  else {
    failed++;
    console.log(`FAILED ${text}`);
  }
}

await runPage(page, process.env.PAWL ?? "build/pawl", claim);

// {"code", STATE_NOW} of the tables of fields.
const text = readFileSync(page, "utf8");
let fields = 0;
for (const file of ["scenario.c", "step.c", "settings.c", "retry.c", "wait.c"])
  for (const [, name] of readFileSync(join("src/define", file), "utf8").matchAll(/\{"(\w+)", STATE_NOW\}/g)) {
    fields++;
    claim(new RegExp(`\\b${name}\\b`).test(text), `${page} does not mention '${name}' of ${file}`);
  }
claim(fields > 50, "the tables of src/define are read");

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
