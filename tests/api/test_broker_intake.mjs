// Starts and signals through the queue pawl.signals on both stores, with a real RabbitMQ: each takes effect once however often
// it is delivered, is acknowledged when it is durable, and what is refused is in pawl.signals.dlq with the reason.
import { check, equal, skip } from '../lib/claims.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { RabbitMq } from '../lib/rabbitmq.mjs';
import { Peer } from '../lib/rabbitmq_queue.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const QUEUE = 'pawl.signals', DEAD = 'pawl.signals.dlq';
const rabbit = await RabbitMq.open();
if (!rabbit) {
    skip('RabbitMQ is not installed');
    console.log('0 passed, 0 failed, 1 skipped');
    process.exit(0);
}
const address = rabbit.fresh();
const proxy = await Proxy.open(rabbit.port);
const through = address.replace(`:${rabbit.port}`, `:${proxy.port}`);
let peer, dead;

let count = 0;
const unique = (text) => `${text}_${process.pid}_${++count}`;
const send = (body, messageId = unique('m')) => peer.send(QUEUE, body, messageId === null ? {} : { messageId });
const executions = async (rig, code) => (await rig.api('GET', `/executions?code=${code}&limit=500`)).body.items;
const steps = async (rig, id) => (await rig.api('GET', `/executions/${id}/steps`)).body.items;

/** What has come to the dead letters of the queue under this id. */
const refusal = (id) => until(`${id} is refused`, () => dead.find((m) => m.properties.messageId === id));

/** A process that is over at once, or that waits for a signal. */
async function publish(rig, wait = null) {
    const code = unique('intake');
    await rig.publish(wait
        ? { code, steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go', ...wait } }] }
        : { code, steps: [{ code: 's', procedure: { type: 'compute.transform', data: '$.input' } }] });
    return code;
}

claim('a start takes effect once, however often it is delivered, and is acknowledged', async (rig) => {
    const code = await publish(rig);
    const id = unique('once');
    for (let i = 0; i < 5; i++) await send({ code, input: { n: 1 }, key: 'K1' }, id);
    await until('it has run', async () => (await executions(rig, code)).length > 0);
    await peer.emptied(QUEUE);
    await send({ code, input: { n: 1 }, key: 'K1' }, id);
    await send({ code, input: { n: 2 } }, unique('other'));
    const all = await until('the other has run', async () => {
        const items = await executions(rig, code);
        return items.length >= 2 && items.every((x) => x.status === 'completed') && items;
    });
    equal(all.map((x) => x.key ?? null).sort(), ['K1', null].sort());
    equal(dead.length, 0, JSON.stringify(dead));
});

claim('a signal finds its execution by id, by key, by key and code, and by correlation', async (rig) => {
    const code = await publish(rig);
    const waits = await publish(rig, {}), correlated = await publish(rig, { correlation: '$.input.order' });
    const byId = await rig.begin(waits), byKey = await rig.begin(waits, { key: unique('k') }), both = await rig.begin(waits, { key: unique('k') });
    const byCorrelation = await rig.begin(correlated, { input: { order: unique('o') } });
    await send({ executionId: byId.id, type: 'go', payload: { by: 'id' } });
    await send({ key: byKey.key, type: 'go', payload: { by: 'key' } });
    await send({ key: both.key, code: waits, type: 'go', payload: { by: 'both' } });
    await send({ correlation: byCorrelation.context.input.order, type: 'go', payload: { by: 'correlation' } });
    for (const [x, by] of [[byId, 'id'], [byKey, 'key'], [both, 'both'], [byCorrelation, 'correlation']]) {
        await until(`${by} has ended`, async () => (await rig.api('GET', `/executions/${x.id}`)).body.status === 'completed');
        equal((await steps(rig, x.id)).at(-1).output.payload ?? (await steps(rig, x.id)).at(-1).output, { by }, code);
    }
});

claim('what is wrong is in the dead queue with the reason, unchanged, and holds up nothing', async (rig) => {
    const code = await publish(rig);
    const cases = [
        ['{"code": ', 'bad_json'], ['[1]', 'invalid'], ['{"code":"x","code":"y"}', 'bad_json'], [`{"code":"${code}","input":{"a":"\\u0000"}}`, 'invalid'],
        [Buffer.from([0x7b, 0xff, 0x7d]), 'bad_json'], ['', 'bad_json'],
        [{ code: unique('nothing') }, 'not_found'], [{ code, input: 3 }, 'invalid'], [{ code, other: 1 }, 'invalid'], [{ type: 'go' }, 'invalid'],
        [{ type: 'go', key: 'a', correlation: 'b' }, 'invalid'], [{ type: 'go', key: unique('nobody') }, 'not_found'],
        [{ type: 'go', executionId: 'x' }, 'invalid'], [{ type: 'go', executionId: '00000000-0000-7000-8000-000000000000' }, 'not_found'],
        [{ type: '', executionId: 'x' }, 'invalid'], [{ type: 'go', correlation: 'c', ttl: '99d' }, 'invalid'],
        [JSON.stringify({ code, input: { text: 'x'.repeat(1 << 20) } }), 'too_large'],
    ];
    for (const [body, why] of cases) {
        const id = unique('wrong');
        await send(body, id);
        const m = await refusal(id);
        equal([m.headers['pawl-code'], m.headers['pawl-queue']], [why, QUEUE], `${body}`.slice(0, 80));
        check(m.headers['pawl-reason'].length > 5, 'a reason');
        const sent = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
        equal(m.content.equals(sent), true, `${body}`.slice(0, 80));
    }
    const before = dead.length;
    await send({ code }, null);
    await until('one without an id is refused', () => dead.length > before);
    check(dead.at(-1).headers['pawl-reason'].includes('message_id'), dead.at(-1).headers['pawl-reason']);
    const huge = unique('huge');
    await send(Buffer.alloc(5 << 20, 'x'), huge);
    const m = await refusal(huge);
    equal([m.headers['pawl-code'], m.headers['pawl-size'], m.content.length < 1 << 20], ['too_large', 5 << 20, true]);
    await send({ code });
    await until('others go on', async () => (await executions(rig, code)).length === 1);
});

claim('a signal for an execution that is damaged is refused, and does not come for ever', async (rig) => {
    const code = await publish(rig, {});
    const x = await rig.begin(code), id = unique('damaged');
    await rig.server.kill();
    rig.sql("UPDATE execution SET cursor = '7' WHERE row = (SELECT max(row) FROM execution)");
    await rig.start({ PAWL_BROKER: through });
    await send({ executionId: x.id, type: 'go' }, id);
    check((await refusal(id)).headers['pawl-reason'].length > 5, 'a reason');
    await peer.emptied(QUEUE);
});

claim('another body under an id that was taken is refused, after a restart as well', async (rig) => {
    const code = await publish(rig);
    const id = unique('mine');
    await send({ code, input: { n: 1 } }, id);
    await until('it has run', async () => (await executions(rig, code)).length === 1);
    await send({ code, input: { n: 2 } }, id);
    equal((await refusal(id)).headers['pawl-code'], 'idempotency_conflict');
    await rig.restart({ PAWL_BROKER: through });
    await send({ code, input: { n: 1 } }, id);
    await send({ code, input: { n: 3 } });
    await until('the next has run', async () => (await executions(rig, code)).length === 2);
});

claim('messages survive kills and cut connections in any order: each takes effect once', async (rig) => {
    const code = await publish(rig);
    const total = 200;
    const sending = (async () => {
        for (let n = 0; n < total; n++) {
            await send({ code, input: { n }, key: `k${n}` }, `${code}-${n}`);
            if (n % 3 === 0) await send({ code, input: { n }, key: `k${n}` }, `${code}-${n}`);
            if (n % 60 === 30) proxy.cut();
        }
    })();
    await until('some have come', async () => (await executions(rig, code)).length > 5);
    await rig.restart({ PAWL_BROKER: through });
    await sending;
    const all = await until('all have come', async () => {
        const items = await rig.all(`/executions?code=${code}`, 500);
        return items.length >= total && items;
    });
    await peer.emptied(QUEUE);
    equal(new Set(all.map((x) => x.key)).size, total);
    equal(all.length, total);
    equal(dead.filter((m) => m.properties.messageId?.startsWith(code)).length, 0);
    const metrics = (await rig.client.ask('GET', '/metrics')).raw;
    check(/^pawl_broker_intake_total\{outcome="taken"\} [1-9]/m.test(metrics), 'they are counted');
});

await run(async (rig) => {
    await rig.restart({ PAWL_BROKER: through });
    peer = await Peer.open(rabbit, address);
    await until('the queues are there', async () => {
        // A channel is closed by asking for a queue that is not there.
        const look = await Peer.open(rabbit, address);
        const found = await look.channel.checkQueue(QUEUE).then(() => true, () => false);
        await look.close();
        return found;
    });
    dead = await peer.take(DEAD);
});
