#!/usr/bin/env node
// Runs every example of docs/expressions.md and the commands of the pages below, and checks that the
// tables of functions name every function and macro that exists and nothing else.
//
// In a ```cel block each line is `expression → result`; the result is JSON or `error: message`.
// "```cel value" reads the left side as a value of a definition. In a ```sh block a line that
// begins with "$ " is run, and the lines behind it, if any, are what it prints.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { claim, finish, pawl } from "./claims.mjs";
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
    if (at < 0) return claim(false, `${where}: no arrow in: ${line}`);
    const want = line.slice(at + 3);
    const got = evaluate(line.slice(0, at), block.info === "cel value");
    claim(got === (want.startsWith("error: ") ? want : compact(want)), `${where}: ${line}\n  got ${got}`);
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
    claim(got !== "" && (want === "" ? stderr === "" : want === got), `${path}:${block.first + i}: ${line}\n  got ${got}`);
  });
}

for (const path of ["docs/expressions.md", "docs/testing.md", "docs/examples.md", "README.md"])
  for (const block of blocks(path)) {
    if (block.info.startsWith("cel")) runExamples(path, block);
    else if (block.info === "sh") runCommands(path, block);
  }

// --- the tables of functions ---

const cel = (file) => readFileSync(join("src/cel", file), "utf8");
const libraries = [...cel("functions.def").matchAll(/#include "cel\/(\w+\.def)"/g)].map((m) => m[1]);
const functions = new Set();
for (const library of libraries)
  for (const [, name] of cel(library).matchAll(/^FN\(\w+, "([^"@]+)"/gm)) functions.add(name);
const macros = new Set();
for (const [, name, space] of cel("macro.c").matchAll(/^    \{"(\w+)", (NULL|"cel"), /gm))
  macros.add(space === "NULL" ? name : `cel.${name}`);
claim(libraries.length >= 7 && functions.size > 70 && macros.size > 15, "the tables of src/cel are read");

const page = readFileSync("docs/expressions.md", "utf8");
const spans = page.split("\n").filter((l) => l.startsWith("| `") || l.includes("cel.block"))
  .flatMap((l) => [...l.split(" | ")[0].matchAll(/`([^`]+)`/g)].map((m) => m[1]));
const named = new Set();
for (const span of spans) {
  const call = span.match(/^([A-Za-z_.0-9]+)\(.*\)$/);
  if (!call || call[1] === "f") continue;
  const name = functions.has(call[1]) || macros.has(call[1]) ? call[1] : call[1].slice(call[1].indexOf(".") + 1);
  named.add(name);
  claim(functions.has(name) || macros.has(name), `docs/expressions.md: there is no function ${name}, as in ${span}`);
}
for (const name of [...functions, ...macros]) claim(named.has(name), `docs/expressions.md does not mention ${name}()`);

// The index of the decisions lists each of them, once.
const decisions = readdirSync("docs/decisions").filter((name) => name !== "README.md").sort();
const listed = [...readFileSync("docs/decisions/README.md", "utf8").matchAll(/^\| \[\d{4}\]\(([^)]+)\)/gm)].map((m) => m[1]);
claim(JSON.stringify(listed) === JSON.stringify(decisions), `docs/decisions/README.md lists ${listed.length} of ${decisions.length}: ${decisions.filter((name) => !listed.includes(name))}`);

finish();
