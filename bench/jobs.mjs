// Jobs a second beside plain requests a second of the same server and client; what idle workers cost.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Server, sleep } from '../tests/kill/server.mjs';

const JOBS = Number(process.env.JOBS ?? 2000);
const WORKERS = Number(process.env.WORKERS ?? 32);
const IDLE = Number(process.env.IDLE ?? 5000);
const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
const server = new Server(join(folder, 'data'), process.env.STORE ?? null, resolve(process.env.PAWL ?? 'build/pawl'));
if (!(await server.start())) throw new Error(server.log);

/** CPU in seconds and memory in MiB of the server. */
function cost() {
    const stat = readFileSync(`/proc/${server.child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))[1];
    return { cpu: (Number(stat[11]) + Number(stat[12])) / 100, rss: Number(rss) / 1024 };
}

/** How many of `count` a second, by so many clients. */
async function rate(count, clients, one) {
    const began = process.hrtime.bigint();
    let left = count;
    await Promise.all(clients.map(async (client) => {
        while (left > 0) left -= await one(client, left);
    }));
    return count / (Number(process.hrtime.bigint() - began) / 1e9);
}

const clients = Array.from({ length: WORKERS }, () => server.client());
const post = (client, path, body) => client.ask('POST', `/api/v1${path}`, body);
const definition = { code: 'bench_jobs', steps: [{ code: 'do', procedure: 'bench.work' }] };
await clients[0].ask('PUT', '/api/v1/scenarios/bench_jobs/draft', definition);
await post(clients[0], '/scenarios/bench_jobs/publish', {});

const plain = await rate(JOBS * 2, clients, async (client) => (await client.ask('GET', '/api/v1/me'), 1));
const starts = await rate(JOBS, clients, async (client) => (await post(client, '/executions', { code: 'bench_jobs' }), 1));
const jobs = await rate(JOBS, clients, async (client) => {
    const { body } = await post(client, '/jobs/claim', { types: ['bench.work'], max: 10, wait: '1s', worker: 'bench' });
    for (const job of body.items) await post(client, `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: 1 });
    return body.items.length;
});
console.log(`plain requests ${plain.toFixed(0)}/s, starts ${starts.toFixed(0)}/s, jobs ${jobs.toFixed(0)}/s ` +
    `(claimed by ten, each answer its own request): ${(jobs / plain).toFixed(2)} jobs for a plain request`);

const before = cost();
const idle = Array.from({ length: IDLE }, () => server.client());
const polls = idle.map((client, i) => post(client, '/jobs/claim', { types: [`bench.idle${i % 50}`], wait: '25s', worker: 'idle' }));
await sleep(8000);
const settled = cost();
await sleep(10000);
const after = cost();
console.log(`${IDLE} idle workers: ${((after.cpu - settled.cpu) * 10).toFixed(1)} % of a core, ` +
    `${(((after.rss - before.rss) * 1024) / IDLE).toFixed(1)} KiB each`);
await Promise.all(polls);
for (const client of [...clients, ...idle]) client.close();
await server.stop();
rmSync(folder, { recursive: true, force: true });
