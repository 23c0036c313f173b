// test_strands.mjs - claims about executions that do very much at once, through a real server: how
// many strands there may be, and what they cost in memory.

import { check, claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const MIB = 1024 * 1024;
const wait = { code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } };
const over = (code, count, steps) => ({ code, loop: { for: `=lists.range(${count})`, concurrency: count, steps } });
const nested = (code, count, more = {}) => ({ code, ...more, steps: [over('outer', count, [over('inner', count, [wait])])] });


/** Peak memory in bytes, as the kernel has seen it. */
const peak = (server) => server.memoryMb('VmHWM') * MIB;

/** How much memory above that of an idle server `work` takes. */
async function measure(work) {
    const server = await startServer();
    try {
        await server.asAdmin('GET', '/me');
        const idle = peak(server);
        await work(server);
        return peak(server) - idle;
    } finally {
        await server.stop();
    }
}

async function begin(server, definition) {
    await server.publish(definition);
    const answer = await server.asAdmin('POST', '/executions', { code: definition.code });
    equal(answer.status, 201, answer.raw);
    return answer.body.id;
}

const get = async (server, id) => (await server.asAdmin('GET', `/executions/${id}`)).body;
const settled = (server, id) => until('it waits', async () => {
    const x = await get(server, id);
    return x.status === 'waiting' && x;
});

function below(bytes, limit, what) {
    console.log(`${what}: ${(bytes / MIB).toFixed(1)} MiB above idle`);
    check(bytes <= limit, `${what}: ${bytes} bytes above idle, at most ${limit}`);
}

await claim('a loop of 100 at once in a loop of 100 at once: the 1,001st strand fails its step', async () => {
    const bytes = await measure(async (server) => {
        const began = Date.now();
        const id = await begin(server, nested('many', 100));
        const letter = await until('an incident', async () => (await server.asAdmin('GET', '/dlq?status=open')).body.items[0]);
        const ms = Date.now() - began;
        equal(letter.cause.code, 'limit_strands');
        equal(letter.step, 'inner');
        console.log(`told after ${ms} ms`);
        check(ms <= 1000 || process.env.SANITIZED, `the limit was told after ${ms} ms`);
        equal((await settled(server, id)).waitingFor.kind, 'incident');
    });
    below(bytes, 200 * MIB, '100 x 100');
});

await claim('900 strands wait in little memory', async () => {
    const bytes = await measure(async (server) => {
        const id = await begin(server, nested('some', 30));
        equal((await settled(server, id)).waitingFor.kind, 'signal');
    });
    below(bytes, 60 * MIB, '30 x 30');
});

end();
