// cel-js.mjs - time @marcbachmann/cel-js: node cel-js.mjs CASES.json [--results] [--case NAME]
//
// Writes the same JSON lines as bench_cel: {"name", "result"} with --results, otherwise
// {"name", "eval_ns", "compile_ns"}. The package is one of tests/node_modules.
//
// With --case only one case is run. A case is faster in a process of its own, since the JIT has
// specialised on nothing else yet; run-cel asks for that.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const ROUNDS = 5;
const ROUND_NS = 100e6;

const packages = createRequire(new URL("../tests/package.json", import.meta.url));
const { Environment } = await import(pathToFileURL(packages.resolve("@marcbachmann/cel-js")).href);

// A number of JSON that is an integer is a CEL int, which cel-js has as BigInt.
const celNumbers = (key, v) => (Number.isInteger(v) ? BigInt(v) : v);
const jsonNumbers = (key, v) => (typeof v === "bigint" ? Number(v) : v);

function environment() {
  return new Environment().registerVariable("input", "dyn").registerVariable("steps", "dyn");
}

let sink;

function elapsed(body, count) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i++) sink = body();
  return Number(process.hrtime.bigint() - start);
}

// Nanoseconds of one call: the best of ROUNDS rounds of at least ROUND_NS each. The rounds that
// find out how often to call also warm the compiler up.
function measure(body) {
  let count = 1;
  let ns = elapsed(body, count);
  while (ns < ROUND_NS) {
    count = Math.ceil(count * Math.min(10, Math.max(1.2, (1.1 * ROUND_NS) / ns)));
    ns = elapsed(body, count);
  }
  let best = ns / count;
  for (let i = 1; i < ROUNDS; i++) best = Math.min(best, elapsed(body, count) / count);
  return best;
}

function readArguments(args) {
  const options = { path: args[0], results: false, only: undefined };
  for (let i = 1; i < args.length; i++) {
    if (args[i] === "--results") options.results = true;
    else if (args[i] === "--case" && i + 1 < args.length) options.only = args[++i];
    else throw new Error(`unknown argument: ${args[i]}`);
  }
  return options;
}

function runCase(env, test, results) {
  const program = env.parse(test.expr);

  if (results) return { name: test.name, result: program(test.context) };
  return {
    name: test.name,
    eval_ns: measure(() => program(test.context)),
    compile_ns: measure(() => env.parse(test.expr)),
  };
}

const options = readArguments(process.argv.slice(2));
const env = environment();

for (const test of JSON.parse(readFileSync(options.path, "utf8"), celNumbers))
  if (options.only === undefined || options.only === test.name)
    console.log(JSON.stringify(runCase(env, test, options.results), jsonNumbers));
