// Runs the commands of docs/api.md in one shell against a new server, compares what they print, and
// holds the page's table of codes against src/base/err.def.
//
// In a ```sh block a line that begins with "$ " is run, with the lines behind it as long as it ends
// with a backslash; the lines after that, if any, are what it prints. "…" stands for anything.
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { end, holds } from '../lib/claims.mjs';
import { makeFolder } from '../lib/program.mjs';
import { Server, started } from '../lib/server.mjs';

const PAGE = 'docs/api.md';
const MARK = '--- the next one ---';

// The commands of a page with the number of their line and what they print.
function commands(text) {
    const found = [];
    let block = null;
    let open = false; // the command goes on
    text.split('\n').forEach((line, i) => {
        if (line.startsWith('```')) block = block === null ? line.slice(3) : null;
        else if (block !== 'sh') return;
        else if (line.startsWith('$ ')) found.push({ line: i + 1, command: line.slice(2), prints: [] });
        else if (open) found.at(-1).command += `\n${line}`;
        else found.at(-1).prints.push(line);
        open = block === 'sh' && line.endsWith('\\');
    });
    return found;
}

function fits(pattern, text) {
    const quoted = pattern.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${quoted.join('.*')}$`, 's').test(text);
}

const text = readFileSync(PAGE, 'utf8');
const folder = makeFolder();
const server = await started(new Server(join(folder, 'data')));

const all = commands(text);
holds(all.length > 10, `${PAGE} has commands`);
symlinkSync(resolve('examples'), join(folder, 'examples'));
writeFileSync(join(folder, 'script'), all.map(({ command }) => `${command}\nprintf '\\n%s\\n' '${MARK}'\n`).join(''));
const { stdout, stderr } = spawnSync('bash', ['script'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 300000,
    env: { ...process.env, PAWL_URL: server.url, PAWL_TOKEN: server.token },
});
const outputs = stdout.split(`${MARK}\n`);
holds(stderr === '', `${PAGE}: the shell says ${stderr}`);
all.forEach(({ line, command, prints }, i) => {
    const got = (outputs[i] ?? 'nothing').trim();
    holds(fits(prints.join('\n').trim(), got), `${PAGE}:${line}: ${command}\n  got ${got}`);
});
await server.stop();

// --- the table of codes ---

const rows = [...text.matchAll(/^\| `(\w+)` \| (\d+) \| (yes|no) \| (\S.*) \|$/gm)].map(([, ...row]) => row.slice(0, 3).join(' '));
const codes = [...readFileSync('src/base/err.def', 'utf8').matchAll(/^ERR\(\w+, "(\w+)", (\d+), \w+, (true|false)\)/gm)]
    .filter(([, code]) => code !== 'none')
    .map(([, code, status, again]) => `${code} ${status} ${again === 'true' ? 'yes' : 'no'}`);
holds(codes.length > 10, 'err.def is read');
for (const row of codes) holds(rows.includes(row), `${PAGE}: the table of codes has no row ${row}`);
for (const row of rows) holds(codes.includes(row), `${PAGE}: err.def has no ${row}`);

end();
