// Messages to RabbitMQ on both stores, with a real node: what processes publish leaves confirmed, in order and known by its
// id; what no queue takes is parked with the reason; a broker that is away, blocked or new loses nothing and uses up no attempt.
import { check, equal, skip } from '../lib/claims.mjs';
import { execute as runProgram, makeFolder, pawl } from '../lib/program.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { RabbitMq } from '../lib/rabbitmq.mjs';
import { Peer } from '../lib/rabbitmq_queue.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const rabbit = await RabbitMq.open();
if (!rabbit) {
    skip('RabbitMQ is not installed');
    console.log('0 passed, 0 failed, 1 skipped');
    process.exit(0);
}

const address = rabbit.fresh();
const proxy = await Proxy.open(rabbit.port);
const through = address.replace(`:${rabbit.port}`, `:${proxy.port}`);

let count = 0;
const unique = (text) => `${text}_${process.pid}_${++count}`;
const publish = (exchange, routing_key, body, more = {}) => ({ type: 'message.publish', exchange, routing_key, body, ...more });

/** A scenario whose steps are commands, run to its end. */
async function execute(rig, commands, code = unique('broker')) {
    await rig.publish({ code, steps: commands.map((procedure, i) => ({ code: `s${i}`, procedure })) });
    const x = await rig.api('POST', '/executions?wait=60s', { code });
    equal([x.status, x.body.status], [201, 'completed'], x.raw);
    return x.body;
}

const outbox = async (rig) => (await rig.api('GET', '/outbox')).body.items;
const drained = (rig) => until('nothing is left in the outbox', async () => (await outbox(rig)).length === 0);

async function withPeer(work) {
    const peer = await Peer.open(rabbit, address);
    try {
        return await work(peer);
    } finally {
        await peer.close();
    }
}

claim('what was published before there was a broker waits, and leaves when the server is started with one', (rig) => withPeer(async (peer) => {
    const exchange = unique('orders');
    const messages = await peer.listen(exchange, 'order.*');
    const x = await execute(rig, [publish(exchange, 'order.paid', { id: 7, price: 1.5, 'имя': 'Ä' }, { headers: { tenant: 'acme', n: 3, deep: { yes: true } } })]);
    const [waiting] = await outbox(rig);
    equal([waiting.kind, waiting.status, waiting.attempts, waiting.executionId], ['rabbitmq_publish', 'pending', 0, x.id]);
    await rig.restart({ PAWL_BROKER: through });
    const [m] = await until('it comes', () => messages.length > 0 && messages);
    await drained(rig);
    equal(messages.length, 1);
    equal([m.key, m.json], ['order.paid', { id: 7, price: 1.5, 'имя': 'Ä' }]);
    equal(m.headers, { tenant: 'acme', n: 3, deep: { yes: true } });
    const { messageId, contentType, deliveryMode, appId } = m.properties;
    equal([messageId, contentType, deliveryMode, appId], [waiting.id, 'application/json', 2, 'pawl']);
}));

claim('an event goes to pawl.events under PROCESS.EVENT, beside the subscriptions', (rig) => withPeer(async (peer) => {
    const code = unique('shop');
    const messages = await peer.listen('pawl.events', `${code}.*`);
    const x = await execute(rig, [{ type: 'event.publish', event: 'OrderPaid', payload: { order: 'A-1' } }], code);
    const [m] = await until('it comes', () => messages.length > 0 && messages);
    equal([m.key, m.properties.type], [`${code}.OrderPaid`, 'OrderPaid']);
    equal([m.json.name, m.json.payload, m.json.executionId, m.json.code], ['OrderPaid', { order: 'A-1' }, x.id, code]);
    await drained(rig);
}));

claim('what one execution publishes comes in order, each once', (rig) => withPeer(async (peer) => {
    const exchange = unique('ordered');
    const messages = await peer.listen(exchange, '#');
    const code = unique('many');
    await rig.publish({ code, steps: Array.from({ length: 10 }, (_, i) => ({ code: `s${i}`, procedure: publish(exchange, 'n', { of: '$.input.of', i }) })) });
    await Promise.all(Array.from({ length: 20 }, (_, of) => rig.begin(code, { input: { of } })));
    await until('all come', () => messages.length >= 200);
    await drained(rig);
    equal(messages.length, 200);
    for (let of = 0; of < 20; of++) equal(messages.filter((m) => m.json.of === of).map((m) => m.json.i), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}));

claim('what no queue takes is parked with the reason, and leaves when it is tried again', (rig) => withPeer(async (peer) => {
    const exchange = unique('unheard');
    await execute(rig, [publish(exchange, 'k', 1)]);
    const [absent] = await until('it is parked', async () => (await outbox(rig)).filter((m) => m.status === 'parked').length === 1 && outbox(rig));
    equal([absent.error.code, absent.error.message.includes(exchange)], ['external_unroutable', true], absent.error.message);
    await peer.channel.assertExchange(exchange, 'topic', { durable: true });
    equal((await rig.api('POST', `/outbox/${absent.id}/retry`)).status, 202);
    const [unbound] = await until('it is parked again', async () => {
        const items = await outbox(rig);
        return items[0]?.status === 'parked' && items[0].error.message.startsWith('NO_ROUTE') && items;
    });
    equal(unbound.id, absent.id);
    const messages = await peer.listen(exchange, 'k');
    equal((await rig.api('POST', `/dlq/${unbound.deadLetterId}/retry`)).status, 202);
    await until('it comes', () => messages.length === 1);
    await drained(rig);
    equal([messages[0].json, messages[0].properties.messageId], [1, absent.id]);
}));

claim('an exchange that is deleted, or forbidden, holds up nobody else', (rig) => withPeer(async (peer) => {
    const [gone, here] = [unique('gone'), unique('here')];
    const lost = await peer.listen(gone, '#');
    const messages = await peer.listen(here, '#');
    await execute(rig, [publish(gone, 'k', 1)]);
    await until('it is known', () => lost.length === 1);
    await peer.channel.deleteExchange(gone);
    const internal = unique('internal');
    await peer.channel.assertExchange(internal, 'topic', { internal: true });
    await Promise.all([gone, here, internal, here, here, gone, here].map((exchange, i) => execute(rig, [publish(exchange, 'k', i)])));
    await until('the others come', () => messages.length === 4);
    const parked = await until('the others are known', async () => {
        const items = await outbox(rig);
        return items.length === 3 && items.every((m) => m.error) && items;
    });
    equal(parked.map((m) => m.error.code).sort(), ['external_refused', 'external_unroutable', 'external_unroutable'], JSON.stringify(parked));
    for (const m of parked) equal((await rig.api('POST', `/outbox/${m.id}/resolve`, { note: 'nobody wants it' })).status, 202);
    await drained(rig);
}));

claim('a connection that is cut again and again loses nothing, and no attempt is used up', (rig) => withPeer(async (peer) => {
    const exchange = unique('cut');
    const code = unique('cutting');
    const seen = new Set();
    const messages = await peer.listen(exchange, '#');
    await rig.publish({ code, steps: [{ code: 's', procedure: publish(exchange, 'k', '$.input.i') }] });
    for (let round = 0; round < 3; round++) {
        await Promise.all(Array.from({ length: 50 }, (_, i) => rig.begin(code, { input: { i: round * 50 + i } })));
        proxy.cut();
    }
    await until('all come', () => messages.forEach((m) => seen.add(m.json)) || seen.size === 150);
    await drained(rig);
    equal((await rig.api('GET', '/dlq?kind=outbox')).body.items.filter((l) => l.status === 'open').length, 0);
}));

claim('a broker that cannot be reached keeps messages waiting without an attempt, and other work goes on', (rig) => withPeer(async (peer) => {
    const exchange = unique('later');
    const messages = await peer.listen(exchange, '#');
    await rig.restart({ PAWL_BROKER: 'amqp://pawl:wrong@127.0.0.1:1/' });
    await execute(rig, [publish(exchange, 'k', 1)]);
    const [m] = await outbox(rig);
    equal([m.status, m.attempts, m.error], ['pending', 0, null]);
    await rig.restart({ PAWL_BROKER: through });
    await until('it comes', () => messages.length === 1);
    await drained(rig);
}), 'SQLite');

claim('a broker that is short of memory blocks: messages wait without an attempt, and the server says so', (rig) => withPeer(async (peer) => {
    const exchange = unique('blocked');
    const messages = await peer.listen(exchange, '#');
    const state = async () => (await rig.client.ask('GET', '/readyz')).body.broker;
    rabbit.control('set_vm_memory_high_watermark', '0');
    try {
        // RabbitMQ says it to who publishes.
        const code = unique('blocking');
        await rig.publish({ code, steps: [{ code: 's', procedure: publish(exchange, 'k', '$.input.i') }] });
        await Promise.all(Array.from({ length: 50 }, (_, i) => rig.begin(code, { input: { i } })));
        await until('the server knows', async () => (await state()) === 'blocked');
        await rig.begin(code, { input: { i: 50 } });
        equal((await rig.client.ask('GET', '/readyz')).status, 200);
        check((await outbox(rig)).every((m) => m.attempts === 0 && m.status === 'pending'), 'no attempt is used up');
        const metrics = (await rig.client.ask('GET', '/metrics')).raw;
        check(/^pawl_broker_up 0$/m.test(metrics), metrics);
    } finally {
        rabbit.control('set_vm_memory_high_watermark', '0.6');
    }
    const seen = new Set();
    await until('all come', () => messages.forEach((m) => seen.add(m.json)) || seen.size === 51);
    await until('it is up', async () => (await state()) === 'up');
    await drained(rig);
}), 'SQLite');

claim('amqps is taken when the certificate is trusted and names the host, and not otherwise', (rig) => withPeer(async (peer) => {
    const exchange = unique('tls');
    const messages = await peer.listen(exchange, '#');
    const url = (host) => address.replace('amqp:', 'amqps:').replace(`127.0.0.1:${rabbit.port}`, `${host}:${rabbit.tlsPort}`);
    const reason = (text) => until(text, () => rig.server.log.includes('cannot be reached'));
    await rig.restart({ PAWL_BROKER: url('localhost') });
    await reason('a stranger is not trusted');
    await rig.restart({ PAWL_BROKER: url('127.0.0.1'), SSL_CERT_FILE: rabbit.certificate });
    await reason('another name is not trusted');
    await execute(rig, [publish(exchange, 'k', 'secret')]);
    equal(messages.length, 0);
    await rig.restart({ PAWL_BROKER: url('localhost'), SSL_CERT_FILE: rabbit.certificate });
    await until('it comes', () => messages.length === 1);
    await drained(rig);
    check(!rig.server.log.includes('p@ss') && !rig.server.log.includes('p%40ss'), 'no password in the log');
    await rig.restart({ PAWL_BROKER: through });
}), 'SQLite');

claim('the password is never shown, and an address that is none is refused', async () => {
    const folder = makeFolder();
    const shown = await runProgram(pawl, ['serve', '--data', folder, '--print-config', '--broker', 'amqps://app:s3cret@mq.example/v']);
    check(shown.out.includes('amqps://app:***@mq.example/v'), shown.out);
    for (const url of ['http://a', 'amqp://', 'amqp://u:s3cret@h:port/v', 'amqp://u%zz:s3cret@h']) {
        const { status, out } = await runProgram(pawl, ['serve', '--data', folder, '--broker', url]);
        equal(status, 2, `${url}: ${out}`);
        check(out.includes('--broker') && !out.includes('s3cret'), out);
    }
}, 'SQLite');

await run(() => {});
proxy.close();
