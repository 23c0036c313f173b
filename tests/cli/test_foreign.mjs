// The command line and servers that are not ours: the administrator's token stays on this machine,
// and what a server says does not move the cursor.
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';

import { claim, end, equal } from '../lib/claims.mjs';
import { execute, makeFolder, pawl } from '../lib/program.mjs';

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
    const { status, out } = await execute(pawl, ['ls'], { cwd: folder, env: { PATH: process.env.PATH, PAWL_URL: url, ...more } });
    return { status, out, sent: [...new Set(seen)] };
}

await claim('a server on this machine is sent the token of the data folder', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
        const { status, sent } = await ask(`http://${host}:${port}`);
        equal([status, sent], [1, [`Bearer ${token}`]], host);
    }
});

await claim('a server elsewhere is not, and that is said', async () => {
    // All of these lead here, but their names do not say so.
    for (const host of ['0.0.0.0', 'user@0.0.0.0', '127.0.0.1@0.0.0.0', '127.1.evil.invalid']) {
        const { status, out, sent } = await ask(`http://${host}:${port}`);
        equal([status, sent.some((header) => header?.includes(token))], [1, false], `${host}: ${out}`);
        if (sent.length > 0) equal(out.includes('set PAWL_TOKEN for this one'), true, out);
    }
    const { sent } = await ask(`http://0.0.0.0:${port}`, { PAWL_TOKEN: 'mine' });
    equal(sent, ['Bearer mine'], 'a token that was given for it');
});

await claim('a proxy of the environment is not asked for a server on this machine', async () => {
    const proxied = [];
    const proxy = http.createServer((request, answer) => {
        proxied.push(request.headers.authorization ?? null);
        answer.writeHead(502);
        answer.end();
    });
    await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
    const address = `http://127.0.0.1:${proxy.address().port}`;
    const proxies = { http_proxy: address, HTTP_PROXY: address, https_proxy: address, all_proxy: address, ALL_PROXY: address };
    for (const more of [{}, { PAWL_TOKEN: 'mine' }])
        for (const host of ['127.0.0.1', 'localhost', '127.0.0.2']) {
            const { sent } = await ask(`http://${host}:${port}`, { ...proxies, ...more });
            equal([sent, proxied], [[`Bearer ${more.PAWL_TOKEN ?? token}`], []], host);
        }
    await ask('http://elsewhere.invalid', proxies);
    equal(proxied, [null], 'a server elsewhere is asked through it, without the token of the folder');
    proxy.close();
});

await claim('what a server says is shown without control characters', async () => {
    const { out } = await ask(`http://127.0.0.1:${port}`);
    equal(out.includes('away'), true, out);
    equal(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(out), false, JSON.stringify(out));
    equal(out.split('\n').some((line) => line.startsWith('root:')), false, out);
});

server.close();
end();
