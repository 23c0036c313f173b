#!/usr/bin/env node
// Runs the examples of docs/access.md: in a "```sh server" block a line that begins with "$ " is
// run against a server of the test's own, and the lines behind it are what it prints, "..."
// standing for anything to the next space or the end of the line.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { claim, end, equal } from '../lib/claims.mjs';
import { execute, makeFolder, pawl } from '../lib/program.mjs';
import { Server, started } from '../lib/server.mjs';

const folder = makeFolder();
const server = await started(new Server(join(folder, 'data')));
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

const all = examples('docs/access.md');
await claim('there are examples', () => equal(all.length >= 5, true));
for (const { command, want } of all)
    await claim(command, async () => {
        const { out } = await execute('bash', ['-c', command.replace(/^pawl/, `"${pawl}"`)],
            { env: { ...env, PAWL_URL: server.url, PAWL_DATA: server.data } });
        const lines = out.trimEnd().split('\n');
        equal(lines.length === want.length && lines.every((line, i) => matches(line, want[i])), true, `printed\n${out}`);
    });
await claim('the file of the page is a config file', async () => {
    const page = readFileSync('docs/access.md', 'utf8');
    const [, json] = page.match(/```json\n(\{"listen".*)\n```/);
    const { status, out } = await execute('bash', ['-c', `"${pawl}" serve --print-config --config <(echo '${json}')`], { env });
    equal([status, out.includes('5000')], [0, true], out);
});
equal(await server.stop(), 0, server.log);
end();
