// Calls over HTTP: how many a second, what a slow service does to others, what a kill costs. See run-calls.
import { readFileSync } from 'node:fs';

import { OUT, Server, makeFolder, removeFolder, run, sleep } from './kernel/server.mjs';
import { Service } from './service.mjs';

const SECONDS = Number(process.env.SECONDS ?? 5);
const STEPS = 4, CONNECTIONS = 64;

const calls = (code, url, steps = STEPS) => ({
    code,
    input: [{ name: 'amount', type: 'integer', default: 250 }],
    steps: [...Array(steps).keys()].map((i) => ({
        code: `s${i}`,
        procedure: { type: 'integration.http', method: 'POST', url, body: { amount: '$.input.amount', order: 'o-1' }, timeout: '120s' },
        retry: { maxAttempts: 5, delay: '10ms' },
    })),
    result: { done: true },
});
const start = (code, wait = true) => ({ path: `/api/v1/executions${wait ? '?wait=60s' : ''}`, body: JSON.stringify({ code }) });
const line = (what, value, goal = '') => console.log(`${what.padEnd(66)} ${String(value).padStart(22)}  ${goal}`);
const goal = (ok, text) => `goal ${text}: ${ok ? 'met' : 'missed'}`;
const residentMb = (server) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))[1]) / 1024;

/** Beside what libcurl does by itself with as many in flight, before and after. */
async function speed() {
    const service = await Service.start();
    const folder = makeFolder();
    const server = await Server.start(folder);
    await server.publish(calls('bench_calls', service.url('/fast')));
    await server.load({ ...start('bench_calls'), connections: CONNECTIONS, seconds: 1 });
    const alone = JSON.parse(await run(`${OUT}/bench_curl`, [service.port, String(CONNECTIONS), '2']));
    const before = (await service.count()).requests;
    const r = await server.loadWithCpu({ ...start('bench_calls'), connections: CONNECTIONS, seconds: SECONDS });
    const made = (await service.count()).requests - before;
    const after = JSON.parse(await run(`${OUT}/bench_curl`, [service.port, String(CONNECTIONS), '2']));
    const curl = (alone.perSecond + after.perSecond) / 2;
    const rate = r.perSecond * STEPS;
    line(`executions of ${STEPS} HTTP steps, ${CONNECTIONS} connections, ?wait`, `${r.perSecond.toFixed(0)}/s`, goal(r.perSecond >= 2000, '2,000'));
    line('answer, p50 / p99', `${r.p50Ms.toFixed(1)} / ${r.p99Ms.toFixed(1)} ms`);
    line('CPU of the server for a call', `${(r.cpuUs / STEPS).toFixed(0)} us`);
    line('calls (those that the service counted)', `${rate.toFixed(0)}/s (${made})`);
    line('curl multi alone, before and after', `${alone.perSecond.toFixed(0)} / ${after.perSecond.toFixed(0)}/s`);
    line('of curl multi alone', (rate / curl).toFixed(2), goal(rate / curl >= 0.4, '0.4'));
    await server.stop();
    service.stop();
    removeFolder(folder);
}

/** p99 of executions of one local step, beside whatever else the server does. */
const LOCAL = { code: 'bench_local', steps: [{ code: 'a', procedure: { type: 'compute.transform', data: { x: 1 } } }] };
const beside = async (server) => (await server.load({ ...start(LOCAL.code), connections: 8, seconds: 3 })).p99Ms;

async function slowWith(perHost, slowMs, wanted) {
    const service = await Service.start(slowMs);
    const folder = makeFolder();
    process.env.PAWL_CALLS_PER_HOST = String(perHost);
    const server = await Server.start(folder);
    delete process.env.PAWL_CALLS_PER_HOST;
    await server.publish(LOCAL);
    await server.publish(calls('bench_slow', service.url('/slow'), 1));
    await beside(server);
    const without = await beside(server);
    const before = residentMb(server);
    await server.load({ ...start('bench_slow', false), connections: 64, count: 10000 });
    while ((await service.count()).underWay < wanted) await sleep(50);
    const p99 = await beside(server);
    const { underWay, mostUnderWay } = await service.count();
    line(`${underWay} calls in flight, ${10000 - underWay} others queued: p99 of others, with / without`, `${p99.toFixed(1)} / ${without.toFixed(1)} ms`);
    line('  memory above that before; most calls at once', `${(residentMb(server) - before).toFixed(0)} MB; ${mostUnderWay}`);
    await server.stop('SIGKILL');
    service.stop();
    removeFolder(folder);
}

/** A service that answers after a minute, or twice a second. */
async function slow() {
    await slowWith(10000, 60000, 9990);
    await slowWith(64, 500, 64);
}

const EXECUTIONS = 5000, MIDDLE = EXECUTIONS * STEPS / 2;

/** Time from the middle of the work to its end; `killed` = from the restart after a kill in the middle. */
async function fromMiddle(killed) {
    const service = await Service.start();
    const folder = makeFolder();
    let server = await Server.start(folder);
    await server.publish(calls('bench_calls', service.url('/fast')));
    const load = server.load({ ...start('bench_calls', false), connections: 64, count: EXECUTIONS });
    await load;
    while ((await service.count()).requests < MIDDLE) await sleep(2);
    const at = await service.count();
    if (killed) await server.stop('SIGKILL');
    const began = process.hrtime.bigint();
    if (killed) server = await Server.start(folder);
    for (;;) {
        const { items } = await server.call('GET', '/executions/summary?by=status');
        if (items.some((i) => i.value === 'completed' && i.count >= EXECUTIONS)) break;
        await sleep(10);
    }
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    const end = await service.count();
    await server.stop();
    service.stop();
    removeFolder(folder);
    return { seconds, left: EXECUTIONS * STEPS - at.keys, repeated: end.requests - end.keys, missing: EXECUTIONS * STEPS - end.keys };
}

async function kill() {
    const whole = await fromMiddle(false);
    const killed = await fromMiddle(true);
    const more = killed.seconds - whole.seconds * killed.left / whole.left;
    line(`${EXECUTIONS * STEPS} steps: from the middle to the end, ${whole.left} left`, `${whole.seconds.toFixed(2)} s`);
    line(`killed: from the restart to the end, ${killed.left} left`, `${killed.seconds.toFixed(2)} s`);
    line('more than the work itself', `${more.toFixed(2)} s`, goal(more <= 1, 'at most 1 s'));
    line('calls that were made twice; not made', `${killed.repeated}; ${killed.missing}`, goal(killed.repeated <= 64 && killed.missing === 0, 'those under way: at most 64'));
}

const parts = { speed, slow, kill };

console.log(`load before: ${readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' ')}`);
for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)) await parts[name]();
console.log(`load after: ${readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' ')}`);
process.exit(0);
