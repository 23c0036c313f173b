#!/usr/bin/env node
// The guide to schemas: every example is saved and run, and every field of a schema, a node and an
// edge, and every type of node with its fields, is mentioned.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { end, holds } from "../lib/claims.mjs";
import { pawl } from "../lib/program.mjs";
import { runPage } from "./session.mjs";

const page = "docs/schemas.md";

await runPage(page);

const text = readFileSync(page, "utf8");
const catalog = JSON.parse(execFileSync(pawl, ["catalog"], { encoding: "utf8", maxBuffer: 1 << 24 }));
const tables = ["schema", "node", "edge", "branchCase"];
let fields = 0;
for (const table of tables)
  for (const { name } of catalog.fields[table].filter((f) => f.state === "now")) {
    fields++;
    holds(new RegExp(`\\b${name}\\b`).test(text), `${page} does not mention '${name}' of a ${table}`);
  }
for (const node of catalog.nodes) {
  fields++;
  holds(text.includes(`\`${node.name}\``), `${page} does not mention the node '${node.name}'`);
  for (const { name } of node.fields.filter(() => !node.command))
    holds(new RegExp(`\\b${name}\\b`).test(text), `${page} does not mention '${name}' of a ${node.name}`);
}
holds(fields > 30, "the tables of src/define are read");

end();
