#!/usr/bin/env node
// Runs the examples of docs/access.md: in a "```sh server" block a line that begins with "$ " is
// run against a server of the test's own, and the lines behind it are what it prints, "..."
// standing for anything to the next space or the end of the line.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Claims, Server, dropFolder, equal, makeFolder, pawl, run } from '../api/rig.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '../..'));
const claims = new Claims();
const folder = makeFolder();
const server = new Server(join(folder, 'data'));
const env = { PATH: process.env.PATH };

function examples(path) {
    const found = [];
    let inside = false;
    for (const line of readFileSync(path, 'utf8').split('\n')) {
        if (line.startsWith('```')) inside = line === '```sh server';
        else if (inside && line.startsWith('$ ')) found.push({ command: line.slice(2), want: [] });
        else if (inside) found.at(-1).want.push(line);
    }
    return found;
}

/** Whether a line is what the page shows; columns may be wider than there. */
function matches(line, want) {
    const pattern = want.trim().split(/\s+/).map((word) => word === '...' ? '.*'
        : word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\\.\\.\\.', '\\S+')).join('\\s+');
    return new RegExp(`^${pattern}$`).test(line.trim());
}

equal(await server.start(), true, server.log);
const all = examples('docs/access.md');
await claims.claim('there are examples', () => equal(all.length >= 5, true));
for (const { command, want } of all)
    await claims.claim(command, async () => {
        const { out } = await run('bash', ['-c', command.replace(/^pawl/, `"${pawl}"`)],
            { env: { ...env, PAWL_URL: server.base, PAWL_DATA: server.data } });
        const lines = out.trimEnd().split('\n');
        equal(lines.length === want.length && lines.every((line, i) => matches(line, want[i])), true, `printed\n${out}`);
    });
await claims.claim('the file of the page is a config file', async () => {
    const page = readFileSync('docs/access.md', 'utf8');
    const [, json] = page.match(/```json\n(\{"listen".*)\n```/);
    const { status, out } = await run('bash', ['-c', `"${pawl}" serve --print-config --config <(echo '${json}')`], { env });
    equal([status, out.includes('5000')], [0, true], out);
});
equal(await server.stop(), 0, server.log);
dropFolder(folder);
claims.end();
