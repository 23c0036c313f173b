#!/usr/bin/env node
// The guides to executions, dead letters, records, SQL, tests and examples, typed as a reader types them, against real servers.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runPage } from "./session.mjs";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), "../.."));
const pawl = process.env.PAWL ?? "build/pawl";
let passed = 0;
let failed = 0;

function claim(ok, text) {
  if (ok) passed++;
  else {
    failed++;
    console.log(`FAILED ${text}`);
  }
}

for (const page of ["docs/executions.md", "docs/dead-letters.md", "docs/records.md", "docs/sql.md", "docs/testing.md", "docs/examples.md"]) {
  const before = passed;
  await runPage(page, pawl, claim, { server: true });
  claim(passed - before > 6, `${page} has examples`);
}

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
