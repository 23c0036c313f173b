// The command line and servers that are not ours: the administrator's token stays on this machine,
// and what a server says does not move the cursor.
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';

import { Claims, dropFolder, equal, makeFolder, pawl, run } from '../api/rig.mjs';

const claims = new Claims();
const folder = makeFolder();
const token = `pawl_${'5'.repeat(64)}`;
const problem = { type: 'about:blank', title: 'Unauthorized', status: 401, code: 'unauth\u001b[2Jorized', requestId: '1',
    detail: 'go\u001b]0;owned\u0007 away\r\nroot: \u009b31m', errors: [{ pointer: '/\u001b[1A', code: 'x', message: 'ab\u007f', severity: 'error', hint: '\u001b[0m' }] };
let seen = [];

mkdirSync(join(folder, 'pawl-data'), { mode: 0o700 });
writeFileSync(join(folder, 'pawl-data/admin.token'), `${token}\n`, { mode: 0o600 });
const server = http.createServer((request, answer) => {
    seen.push(request.headers.authorization ?? null);
    answer.writeHead(401, { 'Content-Type': 'application/problem+json' });
    answer.end(JSON.stringify(problem));
});
await new Promise((done) => server.listen(0, '0.0.0.0', done));
const { port } = server.address();

/** `pawl ls` against an address: what it said, and which tokens the server was sent. */
async function ask(url, more = {}) {
    seen = [];
    const { status, out } = await run(pawl, ['ls'], { cwd: folder, env: { PATH: process.env.PATH, PAWL_URL: url, ...more } });
    return { status, out, sent: [...new Set(seen)] };
}

await claims.claim('a server on this machine is sent the token of the data folder', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
        const { status, sent } = await ask(`http://${host}:${port}`);
        equal([status, sent], [1, [`Bearer ${token}`]], host);
    }
});

await claims.claim('a server elsewhere is not, and that is said', async () => {
    // All of these lead here, but their names do not say so.
    for (const host of ['0.0.0.0', 'user@0.0.0.0', '127.0.0.1@0.0.0.0', '127.1.evil.invalid']) {
        const { status, out, sent } = await ask(`http://${host}:${port}`);
        equal([status, sent.some((header) => header?.includes(token))], [1, false], `${host}: ${out}`);
        if (sent.length > 0) equal(out.includes('set PAWL_TOKEN for this one'), true, out);
    }
    const { sent } = await ask(`http://0.0.0.0:${port}`, { PAWL_TOKEN: 'mine' });
    equal(sent, ['Bearer mine'], 'a token that was given for it');
});

await claims.claim('what a server says is shown without control characters', async () => {
    const { out } = await ask(`http://127.0.0.1:${port}`);
    equal(out.includes('away'), true, out);
    equal(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(out), false, JSON.stringify(out));
    equal(out.split('\n').some((line) => line.startsWith('root:')), false, out);
});

server.close();
dropFolder(folder);
claims.end();
