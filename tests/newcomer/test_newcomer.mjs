#!/usr/bin/env node
// The newcomer's first quarter of an hour: a clone, `make run`, its commands pasted, a server that is
// killed, and mistakes in definitions that are understood from their messages alone.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from "node:path";
import { end, holds } from '../lib/claims.mjs';
import { makeFolder, pawl } from '../lib/program.mjs';

const clone = makeFolder();

const bash = (command, options = {}) => {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8", maxBuffer: 64 << 20, ...options });
  return { status, text: stdout + stderr };
};

// --- what a clone holds: everything that is not ignored ---

const isCheckout = bash("git rev-parse --is-inside-work-tree").status === 0;
const list = isCheckout ? "git ls-files -z --cached --others --exclude-standard" : "find . -type f -not -path './build/*' -print0";
bash(`${list} | tar --null --ignore-failed-read -T - -cf - | tar -C "${clone}" -xf -`);
holds(existsSync(join(clone, "Makefile")) && existsSync(join(clone, "README.md")), "the clone has a README and a Makefile");
symlinkSync(dirname(pawl), join(clone, "build"));

// --- the first commands of the README are targets ---

const first = readFileSync(join(clone, "README.md"), "utf8").match(/```sh\n([^`]*)```/)[1];
const targets = [...first.matchAll(/^make (\S+)/gm)].map(([, target]) => target);
holds(targets.join(" ") === "run test crash demo-orders", `the README begins with ${targets.join(", ")}`);
for (const target of targets) {
  const { status, text } = bash(`make -n ${target}`, { cwd: clone });
  holds(status === 0, `make ${target} is there\n${text}`);
}

// --- make run, and what it prints pasted ---

const env = { ...process.env, PAWL_LISTEN: "127.0.0.1:0", XDG_STATE_HOME: join(clone, "state"), TZ: "UTC" };
for (const name of ["PAWL_DATA", "PAWL_URL", "PAWL_TOKEN", "PAWL_STORE", "PAWL_RUN_ONCE"]) delete env[name];

function makeRun() {
  const child = spawn("scripts/run", ["build/pawl"], { cwd: clone, env, detached: true });
  return new Promise((done, fail) => {
    let log = "";
    const look = (bytes) => {
      log += bytes;
      if (log.includes("Ctrl-C")) done({ child, log });
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.on("exit", () => fail(new Error(`scripts/run ended:\n${log}`)));
  });
}

const stop = ({ child }) =>
  new Promise((done) => {
    child.removeAllListeners("exit");
    child.on("exit", done);
    try {
      process.kill(-child.pid, "SIGTERM");
    } catch {
      done();
    }
  });

let run = await makeRun();
try {
  const printed = run.log.slice(run.log.indexOf("Try, in another terminal"));
  const settings = printed.split("\n").filter((line) => line.startsWith("export "));
  const commands = printed.split("\n").filter((line) => line.startsWith("build/pawl "));
  holds(commands.length >= 6, `make run prints commands to try\n${run.log}`);
  const paste = (command) => bash([...settings, command].join("\n"), { cwd: clone, env: { ...env, PAWL_LISTEN: "" } });
  for (const command of commands) {
    const { status, text } = paste(command);
    holds(status === 0 && text !== "", `pasted: ${command}\n${text}`);
  }
  const suggested = paste("build/pawl start approval --input '{\"title\": \"Desk\", \"amount\": 90}' --key desk-1");
  const next = suggested.text.match(/^Send it with: (.*)$/m)?.[1];
  holds(next && paste(next).status === 0, `what a wait suggests works as pasted: ${next}`);
  holds(paste("build/pawl watch key:desk-1").text.includes("It completed"), "and ends it");
  holds(paste("build/pawl doctor").status === 0, "the doctor finds nothing wrong");

  // Killed by someone impatient, and run again.
  paste("build/pawl start approval --input '{\"title\": \"Chair\", \"amount\": 50}' --key chair-1");
  process.kill(Number(readFileSync(join(clone, "pawl-data/pawl.lock"), "utf8")), "SIGKILL");
  await stop(run);
  const gone = paste("build/pawl ls");
  holds(gone.status === 1 && gone.text.includes("start one with: pawl serve"), `without a server it says how to start one\n${gone.text}`);
  run = await makeRun();
  settings.splice(0, settings.length, ...run.log.split("\n").filter((line) => line.startsWith("export ")));
  holds(paste("build/pawl show key:chair-1").text.includes('for the signal "approved"'), "what waited still waits");
} finally {
  await stop(run);
}

// --- the kill -9 of the README ---

const crash = bash("scripts/crash build/pawl", { cwd: clone, env: { ...env, ORDERS: "3" } });
holds(crash.status === 0 && /3 orders, each shipped exactly once/.test(crash.text), `make crash\n${crash.text}`);

// --- mistakes ---

const folder = "tests/newcomer";
const mistakes = readdirSync(folder).filter((name) => name.endsWith(".json"));
holds(mistakes.length >= 2, "there are mistakes to make");
for (const name of mistakes) {
  const expected = join(folder, `${basename(name, ".json")}.txt`);
  if (!existsSync(expected)) {
    holds(false, `${expected} says what ${name} must be told`);
    continue;
  }
  const { status, text } = bash(`"${pawl}" validate "${name}"`, { cwd: folder });
  for (const part of readFileSync(expected, "utf8").split("\n").filter(Boolean))
    holds(status === 1 && text.includes(part), `${name}: wanted: ${part}\n  got: ${text}`);
}

end();
