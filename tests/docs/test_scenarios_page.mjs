#!/usr/bin/env node
// The guide to scenarios: every example is saved and run, and every field of a step and of a
// scenario that the checker knows is mentioned.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { claim, finish, pawl } from "./claims.mjs";
import { runPage } from "./session.mjs";

const page = "docs/scenarios.md";

await runPage(page, pawl, claim);

// {"code", STATE_NOW} of the tables of fields.
const text = readFileSync(page, "utf8");
let fields = 0;
for (const file of ["scenario.c", "step.c", "settings.c", "retry.c", "wait.c"])
  for (const [, name] of readFileSync(join("src/define", file), "utf8").matchAll(/\{"(\w+)", STATE_NOW\}/g)) {
    fields++;
    claim(new RegExp(`\\b${name}\\b`).test(text), `${page} does not mention '${name}' of ${file}`);
  }
claim(fields > 50, "the tables of src/define are read");

finish();
