// schedules.mjs - what schedules cost while nothing is due, and how fast a full hour of them starts.
//
//   node bench/schedules.mjs [PAWL]      PAWL must be a check build for the second part: its clock is moved
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Server } from '../tests/lib/server.mjs';
import { sleep, until } from '../tests/lib/wait.mjs';

const [DEFINITIONS, EACH, IDLE_S] = [200, 50, Number(process.env.IDLE_S ?? 60)];
const program = process.argv[2] ?? process.env.PAWL ?? 'build/tests/pawl-check';
const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
const clock = join(folder, 'clock');
const setClock = (iso) => writeFileSync(clock, `@${Date.parse(iso) * 1000}`);

/** CPU time of the process in milliseconds, threads included. */
function cpuMs(pid) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function idle(server, what) {
    await sleep(3000);
    const before = cpuMs(server.child.pid);
    await sleep(IDLE_S * 1000);
    const used = cpuMs(server.child.pid) - before;
    console.log(`${what}: ${used} ms of CPU in ${IDLE_S} s (${((used / IDLE_S) / 10).toFixed(3)} %)`);
}

const server = new Server(join(folder, 'data'), { program });
setClock('2031-01-01T00:00:00Z');
await server.start({ PAWL_CLOCK_FILE: clock });
const client = server.client();
await idle(server, 'no schedules');
const items = Array.from({ length: DEFINITIONS }, (_, d) => ({
    kind: 'scenario',
    code: `bench_${d}`,
    definition: {
        code: `bench_${d}`,
        triggers: Array.from({ length: EACH }, (_, t) => ({ type: 'schedule', cron: `${t % 60} 12 ${1 + (d % 28)} 6 *`, timezone: 'Europe/Berlin' })),
        steps: [{ code: 'one', procedure: { type: 'compute.transform', data: 1 } }],
    },
}));
for (const { code, definition } of items) {
    await client.ask('PUT', `/api/v1/scenarios/${code}/draft`, definition);
    const answer = await client.ask('POST', `/api/v1/scenarios/${code}/publish`);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}
await idle(server, `${DEFINITIONS * EACH} schedules`);
const began = Date.now();
setClock('2031-07-01T00:00:00Z');
let made = 0;
await until('all have started', async () => {
    await client.ask('GET', '/api/v1/schedules?limit=1');
    const { body } = await client.ask('GET', '/api/v1/executions/summary?by=status');
    made = body.items.reduce((sum, x) => sum + x.count, 0);
    return made >= DEFINITIONS * EACH;
}, 600);
const seconds = (Date.now() - began) / 1000;
console.log(`${made} ticks that were due at once have started and ended in ${seconds.toFixed(1)} s (${(made / seconds).toFixed(0)}/s)`);
client.close();
await server.stop();
rmSync(folder, { recursive: true, force: true });
