// test_row_locks.mjs - rows that somebody else has locked in PostgreSQL: what needs them comes later and
// once, and nothing else waits.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { amount } from '../lib/budget.mjs';
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { Person } from '../planner/people.mjs';

const ON = 'PostgreSQL';
const HELD_MS = amount('locks.held_ms');

const counts = {
    code: 'counts',
    steps: [{ code: 'count', procedure: [
        { type: 'record.get', object: 'counter', id: '$.input.id', as: 'r' },
        { type: 'record.update', object: 'counter', id: '$.input.id', data: { n: '=r.n + 1' } },
    ] }],
};
const works = { code: 'works', steps: [{ code: 'do', procedure: 'locks.work' }] };
const asks = { code: 'asks', steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go', correlation: '$.input.c' } }] };
const holds = { code: 'holds', onError: 'hold', steps: [{ code: 'pay', procedure: { type: 'compute.fail', code: 'declined', message: 'm' } }] };
const quick = { code: 'quick', steps: [{ code: 's', procedure: { type: 'compute.transform', data: 1 } }] };

let lead;

/** All that is locked, or the same that nobody has locked: the ids, and what changes each of them. */
async function things(rig, name) {
    const made = await rig.api('PUT', `/records/counter/${name}`, { n: 0 });
    equal(made.status, 201, made.raw);
    equal((await rig.api('PUT', `/records/counter/${name}-hand`, { n: 0 })).status, 201);
    const owner = await Person.make(rig, 'executor', { skill_level: 5 });
    const somebody = await Person.make(rig, 'executor', { skill_level: 5 });
    const task = await lead.task();
    const [waiting, held, working] = await Promise.all([rig.begin('asks', { input: { c: name } }), rig.begin('holds'), rig.begin('works')]);
    await until('it waits', async () => (await rig.api('GET', `/executions/${waiting.id}`)).body.waitingFor?.kind === 'signal');
    const letter = await until('a letter', async () => (await rig.all('/dlq')).find((l) => l.executionId === held.id));
    const job = (await rig.api('POST', '/jobs/claim', { types: ['locks.work'], wait: '10s', worker: 'w', lease: '300s' })).body.items[0];
    return {
        name, task, owner, somebody, waiting, working, letter, job,
        rows: `SELECT 1 FROM records WHERE id IN ('${name}', '${name}-hand') FOR UPDATE; SELECT 1 FROM tasks WHERE id = '${task.id}' FOR UPDATE; ` +
            `SELECT 1 FROM jobs WHERE id = '${job.id}' FOR UPDATE; SELECT 1 FROM dead_letters WHERE id = '${letter.id}' FOR UPDATE; ` +
            `SELECT 1 FROM waits w JOIN execution e ON e.row = w.execution WHERE e.id = '${waiting.id}' FOR UPDATE OF w; ` +
            `SELECT 1 FROM users WHERE id = '${somebody.id}' FOR UPDATE`,
    };
}

const timed = async (what, asked) => {
    const began = Date.now();
    const answer = await asked;
    return { what, answer, ms: Date.now() - began };
};

const starts = (rig, count) => Array.from({ length: count }, () => timed('a start', rig.api('POST', '/executions?wait=60s', { code: 'quick' })));

/** Longer than this nothing takes that waits for nobody: by how long the same takes here and now. */
const quickMs = async (rig) => 2500 + 5 * Math.max(...(await Promise.all(starts(rig, 20))).map(({ ms }) => ms));

/** Everything that changes a row of these things, at once. Who is refused because a row stays locked asks again. */
function changeAll(rig, t) {
    const ask = async (method, path, body, person) => {
        const c = rig.server.client(); // connections of their own: none waits behind another
        for (let answer; ;) {
            answer = await c.ask(method, `/api/v1${path}`, body, person ? { Authorization: `Bearer ${person.token}` } : undefined);
            if (answer.status === 503 && answer.body?.code === 'overloaded') continue;
            c.close();
            return answer;
        }
    };
    return [
        timed('an execution that writes a record', ask('POST', '/executions?wait=60s', { code: 'counts', input: { id: t.name } })),
        timed('a record by hand', ask('PATCH', `/records/counter/${t.name}-hand`, { n: 1 })),
        timed('a task', ask('POST', `/tasks/${t.task.id}/transitions`, { action: 'assign', payload: { assign_to: t.owner.id }, client_event_id: t.name, expected_row_version: 1 }, lead)),
        timed('a job', ask('POST', `/jobs/${t.job.id}/complete`, { leaseToken: t.job.leaseToken, output: { ok: true } })),
        timed('a dead letter', ask('POST', `/dlq/${t.letter.id}/resolve`, { note: 'seen' })),
        timed('a wait', ask('POST', '/signals', { type: 'go', correlation: t.name, payload: {} })),
        timed('a user', ask('PATCH', `/users/${t.somebody.id}`, { name: `renamed ${t.name}` })),
    ];
}

/** What became of them: once each. */
async function checkAll(rig, t, answers) {
    for (const { what, answer } of answers) {
        check(answer.status < 300, `${what}: ${answer.status} ${answer.raw}`);
        if (what === 'a start') equal(answer.body.status, 'completed', what);
    }
    equal((await rig.api('GET', `/records/counter/${t.name}`)).body, { id: t.name, version: 2, n: 1 }, t.name);
    equal((await rig.api('GET', `/records/counter/${t.name}-hand`)).body, { id: `${t.name}-hand`, version: 2, n: 1 });
    equal(rig.sql(`SELECT action FROM task_transitions WHERE task_id = '${t.task.id}'`), ['assign']);
    for (const { id } of [t.working, t.waiting])
        await until('it has ended', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed');
    equal((await rig.api('GET', `/executions/${t.waiting.id}`)).body.context.signals.length, 1);
    equal((await rig.api('GET', `/dlq/${t.letter.id}`)).body.status, 'resolved');
    equal((await rig.api('GET', `/users/${t.somebody.id}`)).body.name, `renamed ${t.name}`);
}

claim('rows that somebody has locked delay what needs them, and nothing else', async (rig) => {
    const locked = await things(rig, 'locked'), free = await things(rig, 'free');
    const most = await quickMs(rig);
    const release = await rig.postgres.holdWhat(locked.rows);
    const began = Date.now();
    const late = changeAll(rig, locked);
    let ended = null;
    Promise.race(late).then((first) => (ended ??= first));
    await sleep(200);
    const others = await Promise.all([
        ...changeAll(rig, free),
        ...starts(rig, 20),
    ]);
    const slow = others.filter((o) => o.ms > most).map((o) => `${o.what}: ${o.ms} ms`);
    await sleep(Math.max(0, HELD_MS - (Date.now() - began)));
    for (let i = 0; i < 20; i++) {
        const [{ what, ms }] = await Promise.all(starts(rig, 1));
        if (ms > most) slow.push(`${what}, later: ${ms} ms`);
    }
    const first = ended;
    await release();
    const answers = await Promise.all(late);
    equal(slow, []);
    check(first === null, `${first?.what} did not wait: ${first?.answer.raw}`);
    await checkAll(rig, free, others);
    await checkAll(rig, locked, answers);
}, ON);

claim('who asks for a change of a row that stays locked is refused after a while, and may ask again', async (rig) => {
    equal((await rig.api('PUT', '/records/counter/stuck', { n: 0 })).status, 201);
    const { id } = await rig.begin('works');
    const job = (await rig.api('POST', '/jobs/claim', { types: ['locks.work'], wait: '10s', worker: 'w', lease: '300s' })).body.items[0];
    const release = await rig.postgres.holdWhat(`SELECT 1 FROM records WHERE id = 'stuck' FOR UPDATE; SELECT 1 FROM jobs WHERE id = '${job.id}' FOR UPDATE`);
    const c = rig.server.client();
    const complete = () => c.ask('POST', `/api/v1/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: 1 });
    const [{ answer, ms }, ofJob] = await Promise.all([timed('it', rig.api('PATCH', '/records/counter/stuck', { n: 1 })), complete()]);
    await release();
    refused(ofJob, 503, 'overloaded');
    equal((await complete()).status, 200, 'the job');
    await until('it has ended', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed');
    c.close();
    refused(answer, 503, 'overloaded');
    check(answer.headers['retry-after'], 'it says when');
    check(ms > 5000, `after ${ms} ms`);
    equal((await rig.api('PATCH', '/records/counter/stuck', { n: 2 })).body, { id: 'stuck', version: 2, n: 2 });
}, ON);

claim('a key that somebody inserts and does not commit delays who inserts the same, and nothing else', async (rig) => {
    const most = await quickMs(rig);
    const release = await rig.postgres.holdWhat("INSERT INTO records (org_id, object, id, version, data, created_at, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', 'counter', 'inserted', 1, '{}', 0, 0)");
    const c = rig.server.client();
    const late = c.ask('PUT', '/api/v1/records/counter/inserted', { n: 1 });
    await sleep(3000); // it has come to its own batch
    const others = await Promise.all(starts(rig, 20));
    equal(others.filter((o) => o.ms > most).map((o) => o.ms), []);
    await release();
    equal([(await late).status, (await late).body], [201, { id: 'inserted', version: 1, n: 1 }]);
    c.close();
}, ON);

claim('what nobody but a lock by name stops waits for it in line, and is next', async (rig) => {
    const org = '00000000-0000-7000-8000-000000000001';
    const waits = () => rig.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")[0] !== '0';
    const locks = [
        [`hashtextextended('${org} by-name', 0)`, ['POST', '/signals', { type: 'go', correlation: 'by-name', payload: {} }]],
        [`hashtextextended('${org}', 7218462)`, ['POST', `/tasks/${(await lead.task()).id}/dependencies`, { depends_on: (await lead.task()).id }]],
    ];
    for (const [lock, [method, path, body]] of locks) {
        const release = await rig.postgres.holdWhat(`SELECT pg_advisory_xact_lock(${lock})`);
        const c = rig.server.client();
        const late = c.ask(method, `/api/v1${path}`, body, { Authorization: `Bearer ${path.startsWith('/tasks') ? lead.token : rig.server.token}` });
        await until('a batch waits for the lock', waits);
        await release();
        check((await late).status < 300, (await late).raw);
        c.close();
    }
}, ON);

claim('the count of a crash waits for its own execution, and the node begins with all others', async (rig) => {
    const [poisoned, other] = await Promise.all(['a', 'b'].map((c) => rig.begin('asks', { input: { c: `crash-${c}` } })));
    for (const { id } of [poisoned, other])
        await until('it waits', async () => (await rig.api('GET', `/executions/${id}`)).body.waitingFor?.kind === 'signal');
    const most = await quickMs(rig);
    await rig.server.kill();
    // As a process leaves the file that ends while it works on this execution.
    const file = openSync(join(rig.server.data, 'poison'), 'r+');
    writeSync(file, Buffer.from(poisoned.id.replaceAll('-', ''), 'hex'), 0, 16, 0);
    closeSync(file);
    const release = await rig.postgres.holdWhat(`SELECT 1 FROM execution WHERE id = '${poisoned.id}' FOR UPDATE`);
    await rig.start();
    const started = await timed('a start', rig.api('POST', '/executions?wait=60s', { code: 'quick' }));
    const signalled = await timed('a signal', rig.api('POST', `/executions/${other.id}/signal?wait=60s`, { type: 'go', payload: {} }));
    const c = rig.server.client();
    let ended = false;
    const late = c.ask('POST', `/api/v1/executions/${poisoned.id}/signal`, { type: 'go', payload: {} }).finally(() => (ended = true));
    await sleep(2000); // longer than a batch that waits
    equal([started.answer.body.status, started.ms < most], ['completed', true], `${started.ms} ms: ${started.answer.raw}`);
    equal([signalled.answer.status < 300, signalled.ms < most], [true, true], `${signalled.ms} ms: ${signalled.answer.raw}`);
    check(!ended, 'nothing happens to it before its crash is counted');
    equal(rig.sql(`SELECT crash_count FROM execution WHERE id = '${poisoned.id}'`), ['0']);
    await release();
    check((await late).status < 300, (await late).raw);
    c.close();
    await until('it has ended', async () => (await rig.api('GET', `/executions/${poisoned.id}`)).body.status === 'completed');
    await until('the crash is counted and forgotten', () => readFileSync(join(rig.server.data, 'poison')).every((b) => b === 0));
}, ON);

claim('two servers that change the same things in any order go on', async (rig) => {
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) equal((await rig.api('PUT', `/records/counter/${id}`, { n: 0 })).status, 201);
    const twice = { code: 'twice', steps: [{ code: 'both', procedure: ids.map((_, i) => ({ type: 'record.update', object: 'counter', id: `$.input.ids[${i}]`, data: { n: '=$.input.n' } })) }] };
    await rig.publish(twice);
    const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => rig.api('POST', '/executions?wait=60s', { code: 'twice', input: { n, ids: n % 2 ? ids : [...ids].reverse() } })));
    for (const answer of answers) equal([answer.status, answer.body.status], [201, 'completed'], answer.raw);
    for (const id of ids) equal((await rig.api('GET', `/records/counter/${id}`)).body.version, 25);
}, ON);

await run(async (rig) => {
    for (const definition of [counts, works, asks, holds, quick]) await rig.publish(definition);
    lead = await Person.make(rig, 'lead');
});
