#!/usr/bin/env node
// Runs every example of docs/expressions.md and the commands of the pages below, and checks that the
// tables of functions name every function and macro that exists and nothing else.
//
// In a ```cel block each line is `expression → result`; the result is JSON or `error: message`.
// "```cel value" reads the left side as a value of a definition. In a ```sh block a line that
// begins with "$ " is run, and the lines behind it, if any, are what it prints.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { end, holds } from "../lib/claims.mjs";
import { pawl } from "../lib/program.mjs";
import { blocks } from "./session.mjs";

const context = "examples/contexts/order.json";

// JSON without the spaces between its parts; 3.0 stays 3.0.
const compact = (json) => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, text) => text ?? "");

function evaluate(expression, asValue) {
  const options = ["--json", "--context", context, ...(asValue ? ["--value"] : [])];
  const { stdout } = spawnSync(pawl, ["eval", expression, ...options], { encoding: "utf8" });
  if (stdout.startsWith('{"value":')) return stdout.slice(9, stdout.lastIndexOf(',"type":'));
  return `error: ${JSON.parse(stdout).error.message}`;
}

function runExamples(path, block) {
  block.lines.forEach((line, i) => {
    const at = line.lastIndexOf(" → ");
    const where = `${path}:${block.first + i}`;
    if (at < 0) return holds(false, `${where}: no arrow in: ${line}`);
    const want = line.slice(at + 3);
    const got = evaluate(line.slice(0, at), block.info === "cel value");
    holds(got === (want.startsWith("error: ") ? want : compact(want)), `${where}: ${line}\n  got ${got}`);
  });
}

function runCommands(path, block) {
  block.lines.forEach((line, i) => {
    if (!/^\$ (build\/)?pawl /.test(line)) return;
    const command = line.slice(2).replace(/^(build\/)?pawl/, `"${pawl}"`);
    const { stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
    const rest = block.lines.slice(i + 1);
    const end = rest.findIndex((l) => l.startsWith("$ "));
    const want = (end < 0 ? rest : rest.slice(0, end)).join("\n").trim();
    const got = (stdout + stderr).trim();
    holds(got !== "" && (want === "" ? stderr === "" : want === got), `${path}:${block.first + i}: ${line}\n  got ${got}`);
  });
}

for (const path of ["docs/expressions.md", "docs/testing.md", "docs/examples.md", "README.md"])
  for (const block of blocks(path)) {
    if (block.info.startsWith("cel")) runExamples(path, block);
    else if (block.info === "sh") runCommands(path, block);
  }

// --- the tables of functions ---

const cel = (file) => readFileSync(join("src/cel", file), "utf8");
const libraries = [...cel("functions.def").matchAll(/#include "cel\/([\w/]+\.def)"/g)].map((m) => m[1]);
const functions = new Set();
for (const library of libraries)
  for (const [, name] of cel(library).matchAll(/^FN\(\w+, "([^"@]+)"/gm)) functions.add(name);
const macros = new Set();
for (const [, name, space] of cel("syntax/macro.c").matchAll(/^    \{"(\w+)", (NULL|"cel"), /gm))
  macros.add(space === "NULL" ? name : `cel.${name}`);
holds(libraries.length >= 7 && functions.size > 70 && macros.size > 15, "the tables of src/cel are read");

const page = readFileSync("docs/expressions.md", "utf8");
const spans = page.split("\n").filter((l) => l.startsWith("| `") || l.includes("cel.block"))
  .flatMap((l) => [...l.split(" | ")[0].matchAll(/`([^`]+)`/g)].map((m) => m[1]));
const named = new Set();
for (const span of spans) {
  const call = span.match(/^([A-Za-z_.0-9]+)\(.*\)$/);
  if (!call || call[1] === "f") continue;
  const name = functions.has(call[1]) || macros.has(call[1]) ? call[1] : call[1].slice(call[1].indexOf(".") + 1);
  named.add(name);
  holds(functions.has(name) || macros.has(name), `docs/expressions.md: there is no function ${name}, as in ${span}`);
}
for (const name of [...functions, ...macros]) holds(named.has(name), `docs/expressions.md does not mention ${name}()`);

// Each decision has a number, a date, a state and the same headings, and the index lists it once.
const decisions = readdirSync("docs/decisions").filter((name) => name !== "README.md").sort();
const index = readFileSync("docs/decisions/README.md", "utf8");
const listed = [...index.matchAll(/^\| \[(\d{4})\]\(([^)]+)\) \| (.+) \|$/gm)].map(([, number, file, title]) => ({ number, file, title }));
for (const name of decisions) {
  const text = readFileSync(join("docs/decisions", name), "utf8");
  const number = name.slice(0, 4);
  const head = text.match(/^# (\d{4}): (.+)\n\nDate: \d{4}-\d\d-\d\d · State: (accepted|replaced by (\d{4}))\n\n## Context\n/);
  const rows = listed.filter((row) => row.file === name);
  holds(head && head[1] === number, `docs/decisions/${name} begins with "# ${number}: title", its date and its state`);
  holds(!head?.[4] || decisions.some((other) => other.startsWith(head[4])), `docs/decisions/${name} is replaced by a record that exists`);
  holds([...text.matchAll(/^## (.*)$/gm)].map((m) => m[1]).join() === "Context,Decision,Consequences,Rejected", `docs/decisions/${name} has the four headings`);
  holds(rows.length === 1 && rows[0].number === number && rows[0].title === head?.[2], `docs/decisions/README.md lists ${name} once, with its title`);
}
holds(listed.length === decisions.length, "docs/decisions/README.md lists nothing else");
// The header or the file that obeys a decision says so: "why: decision 0181", or by a link.
const obeying = spawnSync("grep", ["-rhoE", "--exclude-dir=node_modules", "(why: decisions? [0-9, ]+|decisions/[0-9]{4})", "src", "web", "tests", "packaging", "scripts"], { encoding: "utf8" }).stdout;
const obeyed = new Set(obeying.match(/\d{4}/g));
for (const name of decisions) {
  const isReplaced = /State: replaced by/.test(readFileSync(join("docs/decisions", name), "utf8"));
  holds(isReplaced || obeyed.has(name.slice(0, 4)), `docs/decisions/${name} is named by the code that obeys it`);
}
for (const [, folder] of index.matchAll(/^## `([^`]+)`/gm)) holds(existsSync(folder), `docs/decisions/README.md groups by folders that exist: ${folder}`);

end();
