// test_away.mjs - PostgreSQL stops answering, or is gone, while the server runs: it says so, tells
// those who wait, and ends when it is asked to. What was acknowledged stays.
import assert from 'node:assert/strict';

import { claim, end } from '../lib/claims.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { needPostgres } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { publish } from './scenarios.mjs';

// What is promised is 10 s and 25 s; machines that are busy take longer, and for ever is the failure.
const TOLD_MS = 40000;
const ENDED_MS = 60000;

const postgres = await Postgres.own();
const cases = [];
const test = (name, run) => cases.push({ name, run });

/** A server with an execution that waits for a signal. */
async function open(t) {
    const server = new Server(makeFolder(), { store: needPostgres(postgres).fresh(), program: checkProgram });
    t.after(() => server.kill());
    assert.ok(await server.start(), server.log);
    const client = server.client();
    assert.equal((await publish(client, 'kill_signal')).status, 200);
    const started = await client.ask('POST', '/api/v1/executions', { code: 'kill_signal', input: { n: 1, pad: '' } });
    assert.equal(started.status, 201);
    return { server, client, id: started.body.id };
}

function freeze(t) {
    let isFrozen = true;
    const thaw = () => isFrozen && postgres.signalAll('SIGCONT');
    postgres.signalAll('SIGSTOP');
    t.after(thaw);
    return () => {
        thaw();
        isFrozen = false;
    };
}

const signal = (server, id) =>
    server.client().ask('POST', `/api/v1/executions/${id}/signal`, { id: 'once', type: 'go', payload: { n: 1 } });

const within = (ms, promise, what) => {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not within ${ms / 1000} s: ${what}`)), ms);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

async function received(client, id) {
    const answer = await client.ask('GET', `/api/v1/executions/${id}/steps`);
    return answer.status === 200 && answer.body.items.some((row) => row.status === 'completed');
}


test('a store that does not answer is said by readyz, and by what waits for it', async (t) => {
    const { server, client, id } = await open(t);
    const thaw = freeze(t);
    const began = Date.now();
    const [told, read] = await Promise.all([
        within(TOLD_MS, signal(server, id), 'a waiting signal is told'),
        within(TOLD_MS, server.client().ask('GET', `/api/v1/executions/${id}`), 'a waiting read is told'),
    ]);
    console.log(`        told after ${Date.now() - began} ms`);
    assert.equal(told.status, 503);
    assert.equal(told.body.code, 'outcome_unknown');
    assert.match(told.headers['content-type'], /problem\+json/);
    assert.ok(Number(told.headers['retry-after']) > 0);
    assert.equal(read.status, 503);
    assert.equal(read.body.code, 'store_away');

    const ready = await client.ask('GET', '/readyz');
    assert.equal(ready.status, 503);
    assert.equal(ready.body.status, 'store_away');
    assert.match(ready.body.detail, /database has not answered for \d+ s/);
    assert.equal((await client.ask('GET', '/healthz')).status, 200);
    const metrics = await client.ask('GET', '/metrics');
    assert.equal(metrics.status, 200);
    assert.match(metrics.raw, /^pawl_store_silent_seconds [1-9]/m);
    assert.match(metrics.raw, /^pawl_ready 0$/m);

    // One that comes now has not happened, and is told at once.
    const later = await within(TOLD_MS, client.ask('POST', '/api/v1/executions', { code: 'kill_signal', input: { n: 2, pad: '' } }), 'refused');
    assert.equal(later.status, 503);
    assert.equal(later.body.code, 'store_away');
    assert.ok(Number(later.headers['retry-after']) > 0);

    thaw();
    await until('it is ready again', async () => (await client.ask('GET', '/readyz')).status === 200);
    const again = await signal(server, id);
    assert.ok([200, 202].includes(again.status), JSON.stringify(again.body));
    await until('the signal is taken once', () => received(client, id));
    const list = await client.ask('GET', '/api/v1/executions');
    assert.equal(list.body.items.length, 1, 'what was refused has not happened');
    assert.equal(await server.stop(), 0);
});

test('a server that is asked to stop while its store hangs ends in time', async (t) => {
    const { server, id } = await open(t);
    const thaw = freeze(t);
    const waiting = signal(server, id);
    const began = Date.now();
    await sleep(300);
    const status = await within(ENDED_MS, server.stop(), 'the server ends');
    console.log(`        ended after ${Date.now() - began} ms`);
    assert.equal(status, 3, server.log);
    assert.match(server.log, /changes were undecided/);
    const told = await waiting;
    assert.equal(told.status, 503);
    assert.equal(told.body.code, 'outcome_unknown');

    thaw();
    assert.ok(await server.start(), server.log);
    const client = server.client();
    assert.equal((await client.ask('GET', `/api/v1/executions/${id}`)).status, 200, 'acknowledged');
    assert.ok([200, 202].includes((await signal(server, id)).status));
    await until('the signal is taken', () => received(client, id));
    assert.equal(await server.stop(), 0);
});

test('a server that has nothing to decide stops well while its store hangs', async (t) => {
    const { server } = await open(t);
    freeze(t);
    assert.equal(await within(ENDED_MS, server.stop(), 'the server ends'), 0, server.log);
});

test('a server whose store is gone says so without any request, and stops', async (t) => {
    const { server, client, id } = await open(t);
    postgres.stop();
    t.after(() => postgres.isRunning() || postgres.resume());
    await until('it is not ready', async () => (await client.ask('GET', '/readyz')).status === 503, 60);
    const told = await within(TOLD_MS, signal(server, id), 'a signal is told');
    assert.equal(told.status, 503);
    const status = await within(ENDED_MS, server.stop(), 'the server ends');
    assert.ok([0, 3].includes(status), `${status}: ${server.log}`);
    postgres.resume();
    assert.ok(await server.start(), server.log);
    assert.equal((await server.client().ask('GET', `/api/v1/executions/${id}`)).status, 200);
});

for (const { name, run } of cases) {
    const clean = [];
    await claim(name, () => run({ after: (action) => clean.push(action) }));
    for (const action of clean.reverse()) await action();
}
end();
