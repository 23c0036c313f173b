// Thousands of requests that are wrong, made from docs/openapi.yaml: every one is answered as the
// document says, none with 500, none ends the server, and nothing has changed behind them.
//
// PAWL_SEED=N repeats or changes what is sent; PAWL_CASES=N says how many.
import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import { amount, Random, seed } from '../lib/budget.mjs';
import { counts, end, holds } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { Caller } from './caller.mjs';
import { Doc } from './document.mjs';
import { brokenMistakes, judge, printable } from './judge.mjs';
import { Malformer, brokenRequests } from './malform.mjs';
import { snapshot, prepare, stillWorks } from './world.mjs';
import { Wire, requestBytes } from './wire.mjs';

const count = Number(process.env.PAWL_CASES ?? amount('negative.requests'));
const WIDTH = 6;
const SHOWN = Number(process.env.PAWL_SHOWN ?? 15);

const written = parse(readFileSync('docs/openapi.yaml', 'utf8'));
const doc = new Doc(written);

/** Of requests that fail in the same way a thousand times the first say enough. */
function told(ok, text) {
    if (!ok && counts.failed >= SHOWN) counts.failed++;
    else holds(ok, text);
}

// --- requests that are HTTP ---

async function sendOne(wire, token, made) {
    const headers = [['Host', 'localhost']];
    if (!made.headers.some(([name]) => name === 'Authorization')) headers.push(['Authorization', `Bearer ${token}`]);
    if (made.body) headers.push(['Content-Length', made.body.length]);
    headers.push(...made.headers);
    const bytes = requestBytes(made.method, made.target, headers, made.body);
    const answer = await wire.send(bytes, { isHead: made.method === 'HEAD' });
    const wrong = judge(doc, made, bytes, answer);
    told(!wrong, `${made.kind}, ${made.operation.id}: ${wrong}\n  sent ${printable(bytes)}\n  got ${answer.status} ${answer.raw.slice(0, 300)}`);
}

async function sendAll(server, known) {
    const malformer = new Malformer(doc, new Random(), known);
    const kinds = new Map();
    let left = count;
    await Promise.all(Array.from({ length: WIDTH }, async () => {
        const wire = new Wire(server.url);
        while (left > 0 && server.isRunning()) {
            const made = malformer.next();
            if (!made) continue;
            left--;
            kinds.set(made.kind, (kinds.get(made.kind) ?? 0) + 1);
            await sendOne(wire, server.token, made);
        }
        wire.close();
    }));
    told(kinds.size >= 10 && Math.min(...kinds.values()) >= count / 1000, `every kind was sent: ${JSON.stringify([...kinds])}`);
}

// What the dice of sendAll meet once in many runs: all of it, every time.
async function sendAlways(server, known) {
    const wire = new Wire(server.url);
    const all = new Malformer(doc, new Random(), known);
    for (const made of [...all.emptyQueries(), ...all.nullFields()]) await sendOne(wire, server.token, made);
    wire.close();
}

// --- bytes that are hardly HTTP ---

async function sendBroken(server, id) {
    await Promise.all(brokenRequests.map(async (text) => {
        const wire = new Wire(server.url);
        const bytes = Buffer.from(text.replaceAll('{id}', id).replaceAll('{token}', server.token), 'latin1');
        const answer = await wire.send(bytes, { ends: true });
        const isFine = text.startsWith('GET /healthz') && answer.status === 200;
        const wrong = isFine ? '' : brokenMistakes(answer);
        told(!wrong, `broken: ${wrong}\n  sent ${printable(bytes)}\n  got ${answer.status} ${answer.raw.slice(0, 300)}`);
        wire.close();
    }));
}

// ---

async function check(name, store) {
    const server = await startServer({ store });
    const api = new Caller(server.url, server.token, doc);
    const known = await prepare(api);
    const before = await snapshot(api);
    await sendAlways(server, known);
    await sendAll(server, known);
    await sendBroken(server, known.id);
    told(server.isRunning(), `${name}: the server lives: ${server.log}`);
    if (server.isRunning()) {
        const after = await snapshot(api);
        for (const part of Object.keys(before))
            told(before[part] === after[part], `${name}: ${part} has changed\n  from ${before[part].slice(0, 500)}\n  to   ${after[part].slice(0, 500)}`);
        told(await stillWorks(api, known), `${name}: the engine works`);
        told(!/"level":"error"|a request failed/.test(server.log), `${name}: the log has no errors: ${server.log.slice(-500)}`);
        api.close();
        told((await server.stop()) === 0, `${name}: the server ends well`);
    }
}

await onStores(check);
console.log(`seed ${seed}, ${count} requests; PAWL_SEED=${seed} repeats them`);
end();
