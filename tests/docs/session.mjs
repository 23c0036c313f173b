// Runs the pages of a guide as a reader would: files are saved, servers started, commands typed.
//
//   ```json file=NAME     is saved (or yaml) as NAME in the reader's folder
//   ```sh server          what begins with "$ " starts a server in a terminal of its own
//   ```sh session         what begins with "$ " is typed in one bash that lasts for the whole page;
//                         the lines behind it are what it prints, "..." standing for any text in a
//                         line, and a line of its own for any lines
import { spawn } from "node:child_process";
import { readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { holds } from "../lib/claims.mjs";
import { makeFolder, pawl } from "../lib/program.mjs";
import { until } from "../lib/wait.mjs";

const marker = "-- typed --";

// The fenced blocks of a page: what stands behind the fence, lines, and where the first line is.
export function blocks(path) {
  const found = [];
  let open = null;
  readFileSync(path, "utf8").split("\n").forEach((line, i) => {
    if (!line.startsWith("```")) open?.lines.push(line);
    else if (open) open = null;
    else found.push((open = { info: line.slice(3), lines: [], first: i + 2 }));
  });
  return found;
}

// The commands of a block, each with the lines that it should print.
function typed(block) {
  const commands = [];
  block.lines.forEach((line, i) => {
    if (line.startsWith("$ ")) commands.push({ text: line.slice(2), line: block.first + i, wanted: [] });
    else commands.at(-1)?.wanted.push(line);
  });
  return commands;
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// Whether a text is what a page says: see above.
export function matches(wanted, got) {
  const lines = wanted.join("\n").trimEnd().split("\n");
  const pattern = lines
    .map((line) => (line === "..." ? "(?:[^\\n]*\\n)*?" : `${line.split("...").map(escape).join("[^\\n]*?")}\\n`))
    .join("");
  return new RegExp(`^${pattern}$`).test(`${got.trimEnd()}\n`);
}

// A reader: a folder with the checkout's build/ and examples/ in it, a shell, and servers.
export class Session {
  constructor() {
    this.pawl = realpathSync(pawl);
    this.folder = makeFolder();
    symlinkSync(join(this.pawl, ".."), join(this.folder, "build"));
    symlinkSync(realpathSync("examples"), join(this.folder, "examples"));
    this.env = {
      ...process.env,
      PAWL_LISTEN: "127.0.0.1:0", // the reader's 7070 may be taken here
      PAWL_DATA: join(this.folder, "pawl-data"),
      XDG_STATE_HOME: join(this.folder, "state"),
      TZ: "UTC",
    };
    for (const name of ["PAWL_URL", "PAWL_TOKEN", "PAWL_STORE", "PAWL_RUN_ONCE", "COLUMNS"]) delete this.env[name];
    this.shell = spawn("bash", ["--norc"], { cwd: this.folder, env: this.env, stdio: ["pipe", "pipe", "inherit"] });
    this.output = "";
    this.shell.stdout.on("data", (bytes) => (this.output += bytes));
    this.shell.stdin.write("exec 2>&1\n");
    this.servers = [];
  }

  // Type one command and answer what it printed.
  async type(command) {
    this.output = "";
    this.shell.stdin.write(`${command}\necho "${marker}"\n`);
    await until(command, () => this.output.includes(`${marker}\n`));
    return this.output.slice(0, this.output.indexOf(`${marker}\n`));
  }

  // Start what `make run` or `pawl serve` starts, and tell the shell where it is.
  async serve(command) {
    const run = command === "make run";
    const child = run
      ? spawn("scripts/run", [this.pawl], { env: this.env, detached: true })
      : spawn(this.pawl, command.split(" ").slice(1), { cwd: this.folder, env: this.env, detached: true });
    let log = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (log += bytes));
    this.servers.push(child);
    const [, url] = await until(command, () =>
      child.exitCode !== null ? [log, null] : (run ? log.includes("Ctrl-C") : true) && log.match(/listens on (\S+)/));
    if (url) await this.type(`export PAWL_URL=${url}`);
    return log;
  }

  close() {
    for (const child of this.servers)
      try {
        process.kill(-child.pid, "SIGTERM");
      } catch {
        // It is gone already: the page has killed it.
      }
    this.shell.kill("SIGKILL");
    const lock = join(this.folder, "pawl-data/pawl.lock");
    try {
      process.kill(Number(readFileSync(lock, "utf8")), "SIGKILL");
    } catch {
      // As above.
    }
  }
}

// Run a page: each command of it is a claim.
export async function runPage(path, { server = false } = {}) {
  const session = new Session();
  try {
    if (server) {
      await session.serve("pawl serve");
      await session.type("PATH=$PWD/build:$PATH");
    }
    for (const block of blocks(path)) {
      const [language, what] = block.info.split(" ");
      if (/^(json|jsonc|yaml)$/.test(language) && what?.startsWith("file="))
        writeFileSync(join(session.folder, what.slice(5)), block.lines.join("\n"));
      if (language !== "sh" || !["server", "session"].includes(what)) continue;
      for (const { text, line, wanted } of typed(block)) {
        if (what === "server") {
          const log = await session.serve(text);
          holds(/listens on/.test(log), `${path}:${line}: ${text}\n${log}`);
          continue;
        }
        const got = await session.type(text);
        holds(matches(wanted, got), `${path}:${line}: ${text}\n--- wanted\n${wanted.join("\n")}\n--- got\n${got}`);
      }
    }
  } finally {
    session.close();
  }
}
