// Signals by correlation while the server is killed at every step of it, on both stores: each is
// delivered once, to one execution, whoever of signal and wait comes first.

import { end, same } from '../lib/claims.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { World } from './world.mjs';

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
    same(`${name}: it is kept`, (await world.send(name, name)).body?.executionId, null);
    await world.server.kill();
    await world.start(environment);
    const first = (await world.begin(name, `${name}-1`)).body.id;
    const second = (await world.begin(name, `${name}-2`)).body.id;
    const x = await world.get(first);
    same(`${name}: the wait has taken it`, [x.status, x.result], ['completed', { sum: 5 }]);
    same(`${name}: nobody else has`, (await world.get(second)).status, 'waiting');
    same(`${name}: it says so`, (await world.send(name, name)).body.executionId, first);
    same(`${name}: still nobody else has`, (await world.get(second)).status, 'waiting');
}

// --- the wait is there, and the server dies while the signal comes ---
async function waitFirst(world, name, environment) {
    const first = (await world.begin(name, `${name}-1`)).body.id;
    const second = (await world.begin(name, `${name}-2`)).body.id;
    await world.server.kill();
    await world.start(environment);
    same(`${name}: the oldest wait gets it`, (await world.send(name, name)).body.executionId, first);
    same(`${name}: so it does again`, (await world.send(name, name)).body.executionId, first);
    const x = await world.get(first);
    same(`${name}: once`, [x.status, x.context.signals.length], ['completed', 1]);
    same(`${name}: nobody else has it`, (await world.get(second)).status, 'waiting');
}

// --- nothing waits, and the server dies while it is kept ---
async function nobodyWaits(world, name, environment) {
    await world.server.kill();
    await world.start(environment);
    same(`${name}: it is kept`, (await world.send(name, name)).body.executionId, null);
    const first = (await world.begin(name, `${name}-1`)).body.id;
    same(`${name}: for the next wait`, (await world.get(first)).status, 'completed');
    const second = (await world.begin(name, `${name}-2`)).body.id;
    same(`${name}: once`, (await world.get(second)).status, 'waiting');
}

const everywhere = [
    'node.need_reads', 'node.after_advance', 'node.before_submit', 'writer.member', 'writer.before_commit',
    'writer.committed', 'node.batch_done',
];
await onStores(async (store, url) => {
    const points = url ? ['writer.before_commit', 'writer.committed'] : everywhere;
    const world = new Orders(new Server(makeFolder(), { store: url, program: checkProgram }));
    await world.start();
    const saved = await world.ask('PUT', '/scenarios/order/draft', order);
    same('the scenario is valid', saved.body?.valid, true);
    same('it is published', (await world.ask('POST', '/scenarios/order/publish')).status, 200);
    for (const point of points) {
        const before = world.deaths;
        for (const play of [signalFirst, waitFirst, nobodyWaits]) {
            const name = `${store} ${point} ${play.name}`;
            await play(world, name, { PAWL_CRASH_AT: point });
        }
        same(`${store} ${point}: the server died there`, world.deaths > before, true);
    }
    same(`${store}: it ends as it should`, await world.server.stop(), 0);
    world.client.close();
});
end();
