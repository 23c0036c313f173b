#!/usr/bin/env node
// The guide to machines: every example is saved and run, and every field of a machine, a state, a
// transition and a question is mentioned.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { end, holds } from "../lib/claims.mjs";
import { pawl } from "../lib/program.mjs";
import { runPage } from "./session.mjs";

const page = "docs/machines.md";

await runPage(page);

const text = readFileSync(page, "utf8");
const catalog = JSON.parse(execFileSync(pawl, ["catalog"], { encoding: "utf8", maxBuffer: 1 << 24 }));
const tables = ["machine", "state", "transition", "stateWait"];
let fields = 0;
for (const table of tables)
  for (const { name } of catalog.fields[table].filter((f) => f.state === "now")) {
    fields++;
    holds(new RegExp(`\\b${name}\\b`).test(text), `${page} does not mention '${name}' of a ${table}`);
  }
holds(fields > 20, "the tables of src/define are read");

end();
