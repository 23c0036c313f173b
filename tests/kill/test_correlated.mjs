// Signals by correlation while the server is killed at every step of it, on both stores: each is
// delivered once, to one execution, whoever of signal and wait comes first.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Postgres } from './postgres.mjs';
import { Server } from './server.mjs';
import { World } from './world.mjs';

let passed = 0;
let failed = 0;

function check(what, found, wanted) {
    if (JSON.stringify(found) === JSON.stringify(wanted)) passed++;
    else {
        failed++;
        console.log(`FAILED: ${what}: ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
    }
}

const order = {
    code: 'order',
    steps: [{
        code: 'pay',
        procedure: { type: 'wait.signal', signalType: 'paid', correlation: '$.input.order' },
    }],
    result: { sum: '$.steps.pay.payload.sum' },
};

class Orders extends World {
    begin(correlation, key) {
        return this.insist('POST', '/executions', { code: 'order', input: { order: correlation } }, { 'Idempotency-Key': key });
    }

    send(correlation, id) {
        return this.insist('POST', '/signals', { type: 'paid', correlation, id, payload: { sum: 5 } });
    }
}

// --- the signal comes first, and the server dies while the wait begins ---
async function signalFirst(world, name, environment) {
    check(`${name}: it is kept`, (await world.send(name, name)).body?.executionId, null);
    await world.server.kill();
    await world.start(environment);
    const first = (await world.begin(name, `${name}-1`)).body.id;
    const second = (await world.begin(name, `${name}-2`)).body.id;
    const x = await world.get(first);
    check(`${name}: the wait has taken it`, [x.status, x.result], ['completed', { sum: 5 }]);
    check(`${name}: nobody else has`, (await world.get(second)).status, 'waiting');
    check(`${name}: it says so`, (await world.send(name, name)).body.executionId, first);
    check(`${name}: still nobody else has`, (await world.get(second)).status, 'waiting');
}

// --- the wait is there, and the server dies while the signal comes ---
async function waitFirst(world, name, environment) {
    const first = (await world.begin(name, `${name}-1`)).body.id;
    const second = (await world.begin(name, `${name}-2`)).body.id;
    await world.server.kill();
    await world.start(environment);
    check(`${name}: the oldest wait gets it`, (await world.send(name, name)).body.executionId, first);
    check(`${name}: so it does again`, (await world.send(name, name)).body.executionId, first);
    const x = await world.get(first);
    check(`${name}: once`, [x.status, x.context.signals.length], ['completed', 1]);
    check(`${name}: nobody else has it`, (await world.get(second)).status, 'waiting');
}

// --- nothing waits, and the server dies while it is kept ---
async function nobodyWaits(world, name, environment) {
    await world.server.kill();
    await world.start(environment);
    check(`${name}: it is kept`, (await world.send(name, name)).body.executionId, null);
    const first = (await world.begin(name, `${name}-1`)).body.id;
    check(`${name}: for the next wait`, (await world.get(first)).status, 'completed');
    const second = (await world.begin(name, `${name}-2`)).body.id;
    check(`${name}: once`, (await world.get(second)).status, 'waiting');
}

const everywhere = [
    'node.need_reads', 'node.after_advance', 'node.before_submit', 'writer.member', 'writer.before_commit',
    'writer.committed', 'node.batch_done',
];
const postgres = await Postgres.open();
const stores = [['SQLite', null, everywhere]];
if (postgres) stores.push(['PostgreSQL', postgres.fresh(), ['writer.before_commit', 'writer.committed']]);
for (const [store, url, points] of stores) {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-correlated-'));
    const world = new Orders(new Server(join(folder, 'data'), url));
    await world.start();
    const saved = await world.ask('PUT', '/scenarios/order/draft', order);
    check('the scenario is valid', saved.body?.valid, true);
    check('it is published', (await world.ask('POST', '/scenarios/order/publish')).status, 200);
    for (const point of points) {
        const before = world.deaths;
        for (const play of [signalFirst, waitFirst, nobodyWaits]) {
            const name = `${store} ${point} ${play.name}`;
            await play(world, name, { PAWL_CRASH_AT: point });
        }
        check(`${store} ${point}: the server died there`, world.deaths > before, true);
    }
    check(`${store}: it ends as it should`, await world.server.stop(), 0);
    world.client.close();
    rmSync(folder, { recursive: true, force: true });
}
postgres?.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
