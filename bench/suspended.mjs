// 10,000 requests with ?wait that are suspended while 32 KiB of headers are allowed: what they take.
// A report, not a test.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';

import { equal } from '../tests/lib/claims.mjs';
import { startServer } from '../tests/lib/server.mjs';
import { until } from '../tests/lib/wait.mjs';

const COUNT = 10000;
const residentKb = (s) => Number(readFileSync(`/proc/${s.child.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]);
const waiting = { code: 'ask', steps: [{ code: 'a', procedure: { type: 'wait.signal', signalType: 'go' } }] };
const descriptors = Number(execFileSync('bash', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()) || Infinity;

const body = '{"code":"ask"}';
const request = (s, method, path, text = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${s.token}\r\nUser-Agent: suspended/1\r\nAccept: */*\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

/** A connection; `before` says whether it has another request first, and begins anew when that ends it. */
function open(s, before) {
    const socket = net.connect({ port: new URL(s.url).port, host: '127.0.0.1' });
    const wait = () => socket.write(request(s, 'POST', '/api/v1/executions?wait=3000s', body));
    const state = { socket };
    let text = '';
    socket.on('error', () => {});
    socket.on('connect', () => (before ? socket.write(request(s, 'GET', '/healthz')) : wait()));
    socket.on('data', (part) => {
        text += part;
        if (!before || !text.includes('{"status":"ok"}')) return;
        before = false;
        if (text.includes('Connection: close')) Object.assign(state, open(s, false));
        else wait();
    });
    return state;
}

async function measure(before) {
    const s = await startServer();
    await s.publish(waiting);
    const idle = residentKb(s);
    const all = [];
    for (let i = 0; i < COUNT; i++) {
        all.push(open(s, before));
        if (i % 200 === 199) await new Promise((done) => setTimeout(done, 20));
    }
    const count = async () => Number((await s.call(null, 'GET', '/metrics')).raw.match(/^pawl_requests_waiting (\d+)$/m)[1]);
    await until('all wait', async () => (await count()) === COUNT);
    const grown = residentKb(s) - idle;
    for (const { socket } of all) socket.destroy();
    equal(await s.stop(), 0, s.log);
    return grown;
}

for (const [what, before] of [['on connections of their own', false], ['on connections that were used before', true]]) {
    if (descriptors < COUNT + 500) console.log(`10,000 that wait: only ${descriptors} descriptors`);
    else console.log(`10,000 that wait, ${what}: ${Math.round((await measure(before)) / 1024)} MB above idle (at most 150 are wanted)`);
}
