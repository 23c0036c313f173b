// Workers in every language that this machine has do jobs together, on both stores, while one after
// another is killed; in `make test-full` the server too. Each job has one result that was accepted.
import { spawn } from 'node:child_process';

import { amount, Random } from '../lib/budget.mjs';
import { claim, end, equal, skip } from '../lib/claims.mjs';
import { forAll } from '../lib/client.mjs';
import { makeFolder } from '../lib/program.mjs';
import { Server, started } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { buildWorker, names, starters } from '../../clients/demo/languages.mjs';

const JOBS = amount('clients.jobs');
const KILLS = amount('clients.kills');
const SERVER_KILLS = process.env.PAWL_TEST_FULL ? 5 : 0;
const LEASE_S = '2';
const random = new Random();

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

class Worker {
    constructor({ name, command }, env) {
        Object.assign(this, { name, command, env });
        this.start();
    }

    start() {
        const [program, ...args] = [...this.command, LEASE_S];
        this.child = spawn(program, args, { env: { ...process.env, ...this.env }, stdio: 'ignore' });
        running.add(this.child);
    }

    kill() {
        running.delete(this.child);
        this.child.kill('SIGKILL');
    }
}

const definition = {
    code: 'many_jobs',
    steps: [{ code: 'do', procedure: 'workshop.cut', input: { length: '$.input.n' }, retry: { maxAttempts: 100, delay: '20ms', backoff: 1, jitter: 'none' } }],
    result: { pieces: '$.steps.do.pieces', by: '$.steps.do.by' },
};

/** Start all of them; answers their ids by number. */
async function startAll(server) {
    const ids = new Map();
    await forAll(server, Array.from({ length: JOBS }, (_, n) => n), async (client, n) => {
        const answer = await client.ask('POST', '/api/v1/executions', { code: definition.code, input: { n: 10 + n } }, { 'idempotency-key': `n${n}` });
        if (answer.status === 201) ids.set(n, answer.body.id);
    }, 8);
    return ids;
}

/** How many have not ended, or null when the server does not say. */
async function liveCount(server) {
    const answer = await server.asAdmin('GET', '/executions/summary?by=status').catch(() => null);
    if (answer?.status !== 200) return null;
    const live = answer.body.items.filter((x) => !['completed', 'failed', 'cancelled'].includes(x.value));
    return live.reduce((sum, x) => sum + x.count, 0);
}

async function campaign(name, store, workersOf) {
    const server = await started(new Server(makeFolder(), { store }));
    const { url } = server;
    await server.publish(definition);
    const user = await server.asAdmin('POST', '/users', { name: 'workshop', role: 'worker', namespaces: ['workshop'] });
    const workers = workersOf.map((built) => new Worker(built, { PAWL_URL: url, PAWL_TOKEN: user.body.token }));
    const seen = new Set();
    await claim(`${name}: every language does some`, async () => until('all of them have done some', async () => {
        const x = await server.asAdmin('POST', '/executions?wait=30s', { code: definition.code, input: { n: 10 } });
        seen.add(x.body?.result?.by);
        return workersOf.every((built) => seen.has(built.name)) || null;
    }));
    const ids = await startAll(server);
    await claim(`${name}: all are started`, async () => equal(ids.size, JOBS));
    for (let kill = 0; kill < KILLS; kill++) {
        await sleep(100 + random.below(500));
        const worker = random.pick(workers);
        worker.kill();
        worker.start();
        if (kill % Math.ceil(KILLS / (SERVER_KILLS + 1)) === 1 && SERVER_KILLS > 0) {
            await server.kill();
            server.args = ['--listen', new URL(url).host];
            await started(server);
        }
    }
    await until('every execution has ended', async () => (await liveCount(server)) === 0, 1800);
    await claim(`${name}: each job has one result that was accepted`, async () => {
        const by = new Map();
        await forAll(server, [...ids], async (client, [n, id]) => {
            const x = (await client.ask('GET', `/api/v1/executions/${id}`)).body;
            equal([x.status, x.result?.pieces], ['completed', 1 + Math.floor(n / 10)], id);
            by.set(x.result.by, (by.get(x.result.by) ?? 0) + 1);
            const steps = (await client.ask('GET', `/api/v1/executions/${id}/steps`)).body.items;
            const done = steps.filter((s) => s.status === 'completed' && s.step === 'do');
            equal([done.length, done[0]?.output?.by], [1, x.result.by], id);
        }, 8);
        console.log(`${name}: ${JOBS} jobs, ${KILLS} kills: ${[...by].map(([who, count]) => `${who} ${count}`).join(', ')}`);
    });
    await claim(`${name}: no job is left`, async () => equal((await server.asAdmin('GET', '/jobs?limit=1')).body.items, []));
    workers.forEach((worker) => worker.kill());
    await server.stop();
}

const built = await Promise.all(names.map(async (name) => ({ name, ...(await buildWorker(name, starters[name])) })));
for (const { name, missing } of built) if (missing) skip(`workers in ${name}: there is no ${missing}`);
await onStores((name, store) => campaign(name, store, built.filter((b) => b.command)));
end();
