// Lanes of readers: what clients and searches read holds up nobody else; on both stores.
import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';

// A record is dear to look at: every pair of its numbers is compared.
const NUMBERS = Array.from({ length: 120 }, (_, i) => i);
const DEAR = 'record.numbers.all(a, record.numbers.all(b, a + b >= 0))';
const RECORDS = 600;

async function prepare(rig) {
    const clients = Array.from({ length: 16 }, () => rig.server.client());
    await Promise.all(clients.map(async (client, lane) => {
        for (let i = lane; i < RECORDS; i += clients.length)
            equal((await client.ask('PUT', `/api/v1/records/dear/D-${i}`, { numbers: NUMBERS })).status, 201);
    }));
    clients.forEach((client) => client.close());
    await rig.publish({ code: 'simple', steps: [{ code: 'one', procedure: { type: 'compute.transform', data: { a: 1 } } }] });
    await rig.publish({
        code: 'searching', onError: 'fail_fast',
        steps: [{ code: 'find', procedure: { type: 'record.query', object: 'dear', where: DEAR, limit: 1000, result: { n: '$.response.count' } } }],
    });
}

/** The median time of starts that are waited for, in ms, while `busy` goes on. */
async function medianStart(rig, busy) {
    let isBusy = true;
    const others = Promise.all(busy).then(() => (isBusy = false));
    const client = rig.server.client();
    const times = [];
    while (isBusy) {
        const began = performance.now();
        const answer = await client.ask('POST', '/api/v1/executions?wait=10s', { code: 'simple' });
        times.push(performance.now() - began);
        equal([answer.status, answer.body.status], [201, 'completed']);
    }
    client.close();
    await others;
    check(times.length >= 10, `only ${times.length} starts in the time of what is slow`);
    times.sort((a, b) => a - b);
    return { median: times[times.length >> 1], worst: times.at(-1) };
}

claim('eight clients with a dear condition do not hold up starts', async (rig) => {
    const clients = Array.from({ length: 8 }, () => rig.server.client());
    const path = `/api/v1/records/dear?where=${encodeURIComponent(DEAR)}&orderBy=id&limit=1`;
    const times = await medianStart(rig, clients.map((client) => client.ask('GET', path)));
    clients.forEach((client) => client.close());
    check(times.median < 100, `a start takes ${times.median} ms`);
});

claim('four executions that search do not hold up a simple start', async (rig) => {
    const clients = Array.from({ length: 4 }, () => rig.server.client());
    const times = await medianStart(rig, clients.map((client) =>
        client.ask('POST', '/api/v1/executions?wait=60s', { code: 'searching' })));
    clients.forEach((client) => client.close());
    check(times.median < 100, `a start takes ${times.median} ms`);
    check(times.worst < 1000, `a start took ${times.worst} ms`);
});

claim('lists of clients are answered while conditions are dear', async (rig) => {
    const clients = Array.from({ length: 4 }, () => rig.server.client());
    const path = `/api/v1/records/dear?where=${encodeURIComponent(DEAR)}&orderBy=id&limit=1`;
    let isBusy = true;
    const others = Promise.all(clients.map(async (client) => {
        while (isBusy) await client.ask('GET', path);
    }));
    const times = [];
    while (times.length < 20) {
        const began = performance.now();
        equal((await rig.api('GET', '/executions?limit=1')).status, 200);
        times.push(performance.now() - began);
    }
    isBusy = false;
    await others;
    clients.forEach((client) => client.close());
    times.sort((a, b) => a - b);
    check(times[times.length >> 1] < 100, `a list takes ${times[times.length >> 1]} ms`);
});

await run(prepare);
