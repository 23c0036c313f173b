// The outbox on both stores: events reach who has subscribed, signed, in order, at least once and known by their ids;
// what cannot be delivered waits where it can be seen, and is given up into the dead letters.
import { createHmac } from 'node:crypto';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep, until as eventually } from '../lib/wait.mjs';
import { Receiver } from './receiver.mjs';

let count = 0;
const publish = (event, payload, more = {}) => ({ type: 'event.publish', event, payload, ...more });

/** A scenario whose steps are commands, run to its end. */
async function execute(rig, commands, options = {}) {
    const code = `outbox_${++count}`;
    await rig.publish({ code, steps: commands.map((procedure, i) => ({ code: `s${i}`, procedure })) });
    const answer = await rig.api('POST', '/executions?wait=60s', { code, ...options });
    equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
}

async function subscribe(rig, code, definition) {
    const answer = await rig.api('PUT', `/subscriptions/${code}`, definition);
    check(answer.status === 201 || answer.status === 200, JSON.stringify(answer.body));
}

const outbox = async (rig, query = '') => (await rig.api('GET', `/outbox${query}`)).body.items;

async function withReceiver(work) {
    const receiver = new Receiver();
    await receiver.open();
    try {
        return await work(receiver);
    } finally {
        receiver.close();
    }
}

claim('a subscriber gets the event it wants, once, with what it says and a signature over the raw body', (rig) => withReceiver(async (receiver) => {
    await subscribe(rig, 'signed', { url: `${receiver.url}/hook`, events: ['OrderPaid'], secret: 's3cret' });
    const x = await execute(rig, [publish('OrderPaid', { order: '=1 + 1', 'имя': 'Ä' }), publish('OrderLost', {})], { key: `k${count}` });
    equal(x.status, 'completed', JSON.stringify(x.error));
    const [delivery] = await eventually('it comes', () => receiver.deliveries.length > 0 && receiver.deliveries);
    await eventually('nothing is left', async () => (await outbox(rig)).length === 0);
    equal(receiver.deliveries.length, 1);
    equal(delivery.path, '/hook');
    equal(delivery.headers['pawl-event'], 'OrderPaid');
    equal(delivery.headers['content-type'], 'application/json');
    equal(delivery.headers['pawl-signature'], `sha256=${createHmac('sha256', 's3cret').update(delivery.body).digest('hex')}`);
    equal(delivery.json.name, 'OrderPaid');
    equal(delivery.json.payload, { order: 2, 'имя': 'Ä' });
    equal([delivery.json.executionId, delivery.json.key], [x.id, x.key]);
    equal(delivery.json.id, x.context.steps.s0.messageId);
    check(/^[0-9a-f-]{36}$/.test(delivery.headers['pawl-delivery']), 'a delivery has an id');
    await rig.api('DELETE', '/subscriptions/signed');
}));

claim('names with a star stand for all that begin like them, and events of the engine can be had', (rig) => withReceiver(async (receiver) => {
    await subscribe(rig, 'many', { url: receiver.url, events: ['execution.*', 'record.created', 'Order*'] });
    const x = await execute(rig, [
        publish('OrderPaid', null),
        { type: 'record.create', object: 'order', id: `o${count}-${rig.name}`, data: { a: 1 } },
    ]);
    await eventually('three events come', () => receiver.deliveries.length === 3);
    equal(receiver.deliveries.map((d) => d.json.name), ['OrderPaid', 'record.created', 'execution.completed']);
    equal(receiver.deliveries[1].json.payload.data, { a: 1 });
    equal(receiver.deliveries[2].json.payload.result.version, 1, JSON.stringify(x.result));
    await rig.api('DELETE', '/subscriptions/many');
}));

claim('what one execution sends to one destination comes in order, also when it fails in between', (rig) => withReceiver(async (receiver) => {
    let failures = 2;
    receiver.answer = (d) => (d.json.payload === 3 && failures-- > 0 ? 503 : 200);
    await subscribe(rig, 'ordered', { url: receiver.url, events: ['N'] });
    await execute(rig, [publish('N', 1), publish('N', 2), publish('N', 3), publish('N', 4), publish('N', 5)]);
    await eventually('all come', () => receiver.deliveries.length === 7);
    equal(receiver.deliveries.map((d) => d.json.payload), [1, 2, 3, 3, 3, 4, 5]);
    equal(new Set(receiver.deliveries.slice(2, 5).map((d) => d.headers['pawl-delivery'])).size, 1, 'ids of the attempts');
    await rig.api('DELETE', '/subscriptions/ordered');
}));

claim('a receiver that is away holds up nobody else, and gets everything once it is back', (rig) => withReceiver(async (receiver) => {
    const away = new Receiver();
    await away.open();
    away.close();
    await subscribe(rig, 'away', { url: away.url, events: ['E'] });
    await subscribe(rig, 'here', { url: receiver.url, events: ['E'] });
    for (let i = 0; i < 5; i++) await execute(rig, [publish('E', i), publish('E', i + 100)]);
    await eventually('the one that is there has all', () => receiver.deliveries.length === 10);
    const waiting = await eventually('the others wait', async () => {
        const items = await outbox(rig, '?destination=subscription:away');
        return items.length === 10 && items.some((m) => m.error) && items;
    });
    equal(waiting.map((m) => [m.kind, m.status, m.name]), Array(10).fill(['event', 'pending', 'E']));
    const tried = waiting.find((m) => m.attempts > 0);
    equal(tried.error.code, 'external_unreachable');
    check(Date.parse(tried.nextAttemptAt) > 0, 'the next attempt has a time');
    await away.open(away.port);
    await eventually('all come', () => away.deliveries.length === 10);
    for (let i = 0; i < 5; i++) check(away.deliveries.findIndex((d) => d.json.payload === i) < away.deliveries.findIndex((d) => d.json.payload === i + 100), 'in order');
    await eventually('nothing is left', async () => (await outbox(rig)).length === 0);
    away.close();
    for (const code of ['away', 'here']) await rig.api('DELETE', `/subscriptions/${code}`);
}));

claim('a server that stops records what was delivered: it takes no longer, and nothing is delivered again', (rig) => withReceiver(async (receiver) => {
    receiver.answer = async () => {
        await sleep(1200);
        return 204;
    };
    await subscribe(rig, 'stopped', { url: receiver.url, events: ['S'] });
    for (let i = 0; i < 8; i++) await execute(rig, [publish('S', i)]);
    await eventually('all are in flight', () => receiver.deliveries.length === 8);
    const began = Date.now();
    equal(await rig.server.stop(), 0, 'exit status');
    const took = Date.now() - began;
    await rig.start();
    await eventually('nothing is left', async () => (await outbox(rig)).length === 0);
    equal(receiver.deliveries.length, 8, 'each once');
    check(took < 3000, `it stopped after ${took} ms`);
    await rig.api('DELETE', '/subscriptions/stopped');
}));

claim('a step that fails publishes nothing', (rig) => withReceiver(async (receiver) => {
    await subscribe(rig, 'none', { url: receiver.url, events: ['*'] });
    const code = `outbox_${++count}`;
    await rig.publish({ code, onError: 'fail_fast', steps: [
        { code: 'one', procedure: publish('Kept', 1) },
        { code: 'two', procedure: [publish('Lost', 2), { type: 'compute.fail', code: 'x', message: 'no' }] },
    ] });
    await rig.api('POST', '/executions?wait=60s', { code, input: {} });
    await eventually('it is told', () => receiver.deliveries.length === 2);
    equal(receiver.deliveries.map((d) => d.json.name), ['Kept', 'execution.failed']);
    await rig.api('DELETE', '/subscriptions/none');
}));

claim('the secret is never shown, is kept by a change without one, and goes with null', async (rig) => {
    await subscribe(rig, 'quiet', { url: 'http://127.0.0.1:9/', events: ['x'], secret: 'do-not-show' });
    const shown = async () => {
        const one = await rig.api('GET', '/subscriptions/quiet'), all = await rig.api('GET', '/subscriptions');
        const bundle = await rig.api('GET', '/export?codes=quiet');
        const plan = await rig.api('POST', '/import', { dryRun: true, overwrite: ['subscription'], items: [{ kind: 'subscription', code: 'quiet', url: 'http://127.0.0.1:9/', events: ['x'], secret: 'another' }] });
        for (const answer of [one, all, bundle, plan])
            check(!JSON.stringify(answer.body).includes('do-not-show') && !JSON.stringify(answer.body).includes('another'), JSON.stringify(answer.body));
        equal(bundle.body.items.length, 1);
        return one.body.hasSecret;
    };
    equal(await shown(), true);
    await subscribe(rig, 'quiet', { url: 'http://127.0.0.1:9/b', events: ['x'] });
    equal(await shown(), true);
    await subscribe(rig, 'quiet', { url: 'http://127.0.0.1:9/', events: ['x'], secret: null });
    equal(await shown(), false);
    equal((await rig.api('DELETE', '/subscriptions/quiet')).status, 204);
    refused(await rig.api('GET', '/subscriptions/quiet'), 404, 'not_found');
});

claim('a subscription that makes no sense is refused, and says where', async (rig) => {
    for (const [definition, pointer] of [
        [{ url: 'ftp://x', events: ['a'] }, '/url'], [{ url: 'http://x/', events: [] }, '/events'], [{ events: ['a'] }, '/url'],
        [{ url: 'http://x/', events: ['a'], color: 1 }, '/color'], [{ url: 'http://x/', events: 'a' }, '/events'],
    ]) {
        const problem = refused(await rig.api('PUT', '/subscriptions/bad', definition), 422, 'invalid');
        equal(problem.errors[0].pointer, pointer, JSON.stringify(problem.errors));
    }
});

claim('what a deleted subscription was owed becomes a dead letter, which can be tried again or closed', (rig) => withReceiver(async (receiver) => {
    receiver.answer = () => 503;
    const definition = { url: receiver.url, events: ['Owed'] };
    await subscribe(rig, 'owing', definition);
    const x = await execute(rig, [publish('Owed', 1), publish('Owed', 2)]);
    await eventually('it was tried', () => receiver.deliveries.length > 0);
    refused(await rig.api('DELETE', `/executions/${x.id}`), 409, 'conflict');
    await rig.api('DELETE', '/subscriptions/owing');
    const letters = await eventually('both are given up', async () => {
        const items = (await rig.api('GET', `/dlq?kind=outbox&execution=${x.id}`)).body.items;
        return items.length === 2 && items;
    });
    const [two, one] = letters;
    equal([one.cause.class, one.cause.retryable], ['business', false], 'every cause says whether trying again may help');
    equal([one.cause.code, one.payload.name, one.payload.body.payload], ['not_found_subscription', 'Owed', 1]);
    equal((await outbox(rig, `?execution=${x.id}`)).map((m) => [m.status, m.deadLetterId]), [['parked', two.id], ['parked', one.id]]);
    receiver.answer = () => 200;
    await subscribe(rig, 'owing', definition);
    const before = receiver.deliveries.length;
    equal((await rig.api('POST', `/dlq/${two.id}/retry`)).status, 202);
    await eventually('it comes', () => receiver.deliveries.length > before);
    equal(receiver.deliveries.at(-1).json.payload, 2);
    equal((await rig.api('POST', `/dlq/${one.id}/resolve`, { note: 'nobody wants it' })).status, 200);
    await eventually('nothing is left', async () => (await outbox(rig, `?execution=${x.id}`)).length === 0);
    refused(await rig.api('POST', `/dlq/${one.id}/retry`), 409, 'conflict');
    equal((await rig.api('DELETE', `/executions/${x.id}`)).status, 204);
    await rig.api('DELETE', '/subscriptions/owing');
}));

claim('a message that waits for its next attempt can be tried now', (rig) => withReceiver(async (receiver) => {
    let status = 503;
    receiver.answer = () => status;
    await subscribe(rig, 'slow', { url: receiver.url, events: ['Slow'] });
    const x = await execute(rig, [publish('Slow', 1)]);
    const message = await eventually('it waits for its fourth attempt', async () => (await outbox(rig, `?execution=${x.id}`)).find((m) => m.attempts === 3));
    status = 200;
    equal((await rig.api('POST', `/outbox/${message.id}/retry`)).status, 202);
    await eventually('it is delivered', async () => (await outbox(rig, `?execution=${x.id}`)).length === 0, 3);
    refused(await rig.api('POST', `/outbox/${message.id}/retry`), 404, 'not_found');
    await rig.api('DELETE', '/subscriptions/slow');
}));

claim('mail waits where it can be seen while there is no server for it', async (rig) => {
    const x = await execute(rig, [{ type: 'notification.email', to: 'a@example.com', subject: 's', body: 'b' }, { type: 'notification.sms', to: '+49', body: 'b' }]);
    equal(x.status, 'completed', JSON.stringify(x.error));
    const items = await outbox(rig, `?execution=${x.id}`);
    equal(items.map((m) => [m.kind, m.status, m.attempts, m.error.code]), [['sms', 'pending', 0, 'not_configured'], ['email', 'pending', 0, 'not_configured']]);
    check(items[1].error.message.includes('--smtp'), items[1].error.message);
});

claim('killed at any moment, nothing is lost, order holds, and what comes twice has the same id', (rig) => withReceiver(async (receiver) => {
    receiver.answer = (d, n) => (n % 17 === 0 ? 'reset' : n % 11 === 0 ? 503 : 200);
    await subscribe(rig, 'kept', { url: receiver.url, events: ['Kept'] });
    const code = `outbox_${++count}`;
    await rig.publish({ code, steps: [1, 2, 3, 4].map((n) => ({ code: `s${n}`, procedure: publish('Kept', n) })) });
    const begun = [];
    for (let round = 0; round < 6 || (begun.length <= 20 && round < 40); round++) { // a slow machine needs more of them
        const some = Array.from({ length: 40 }, async () => {
            const answer = await rig.api('POST', '/executions', { code }).catch(() => null);
            if (answer?.status === 201) begun.push(answer.body.id);
        });
        await sleep(5 + 37 * round);
        await rig.server.kill();
        await Promise.all(some);
        await rig.start();
    }
    check(begun.length > 20, `${begun.length} were acknowledged`);
    await eventually('all are delivered', async () => {
        if (process.env.VERBOSE) console.log((await outbox(rig)).length, receiver.deliveries.length);
        return receiver.once().filter((d) => begun.includes(d.json.executionId)).length >= 4 * begun.length && (await outbox(rig)).every((m) => m.kind !== 'event');
    });
    const firsts = new Map();
    for (const d of receiver.once()) {
        const list = firsts.get(d.json.executionId) ?? [];
        list.push(d.json.payload);
        firsts.set(d.json.executionId, list);
    }
    for (const id of begun) equal(firsts.get(id), [1, 2, 3, 4], `what ${id} has sent`);
    for (const d of receiver.deliveries) {
        const same = receiver.deliveries.find((o) => o.headers['pawl-delivery'] === d.headers['pawl-delivery']);
        equal(d.body, same.body, 'the body of a delivery that came twice');
    }
    await rig.api('DELETE', '/subscriptions/kept');
}));

await run(async () => {});
