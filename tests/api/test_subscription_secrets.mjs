// The secret of a subscription on both stores: it is stored sealed with the master key, is rotated with the credentials,
// and what an earlier version stored as it is gets sealed when a server starts with it.
import { createHmac } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until as eventually } from '../lib/wait.mjs';
import { Receiver } from './receiver.mjs';

const receiver = new Receiver();
await receiver.open();

const stored = (rig, code) => rig.sql(`SELECT definition FROM definition WHERE kind = 'subscription' AND code = '${code}'`).join('\n');

async function subscribe(rig, code, definition) {
    const answer = await rig.api('PUT', `/subscriptions/${code}`, definition);
    check(answer.status === 201 || answer.status === 200, JSON.stringify(answer.body));
}

/** Publish `event` and answer whether its delivery is signed with this secret. */
async function isSigned(rig, event, secret) {
    receiver.deliveries.length = 0;
    const answer = await rig.api('POST', '/executions?wait=60s', { code: 'tell', input: { event } });
    equal([answer.status, answer.body.status], [201, 'completed'], JSON.stringify(answer.body));
    const delivery = await eventually('it is delivered', () => receiver.deliveries.find((d) => d.json.name === event));
    return delivery.headers['pawl-signature'] === `sha256=${createHmac('sha256', secret).update(delivery.body).digest('hex')}`;
}

claim('a secret is not stored as it is, by PUT and by an import', async (rig) => {
    await subscribe(rig, 'put', { url: receiver.url, events: ['Put'], secret: 'never-in-the-store' });
    const item = { kind: 'subscription', code: 'imported', url: receiver.url, events: ['Imported'], secret: 'never-in-the-store' };
    equal((await rig.api('POST', '/import', { items: [item] })).status, 200);
    for (const code of ['put', 'imported']) {
        const text = stored(rig, code);
        check(text.includes('"sealed"') && !text.includes('never-in-the-store') && !text.includes('"secret"'), text);
    }
    check(await isSigned(rig, 'Put', 'never-in-the-store'), 'a signature of PUT');
    check(await isSigned(rig, 'Imported', 'never-in-the-store'), 'a signature of the import');
    equal((await rig.api('POST', '/import', { items: [item] })).body.items[0].action, 'unchanged');
    const other = await rig.api('POST', '/import', { dryRun: true, overwrite: ['subscription'], items: [{ ...item, secret: 'another' }] });
    equal([other.body.items[0].action, other.body.items[0].changes], ['update', [{ pointer: '/secret' }]]);
});

claim('a change without the secret keeps it, also with another address', async (rig) => {
    await subscribe(rig, 'moved', { url: 'http://127.0.0.1:9/', events: ['Moved'], secret: 'kept secret' });
    await subscribe(rig, 'moved', { url: receiver.url, events: ['Moved'] });
    check(await isSigned(rig, 'Moved', 'kept secret'), 'a signature');
    await rig.restart();
    check(await isSigned(rig, 'Moved', 'kept secret'), 'a signature after a restart');
});

claim('rotation seals the secrets of subscriptions, too', async (rig) => {
    await subscribe(rig, 'rotated', { url: receiver.url, events: ['Rotated'], secret: 'rotate me' });
    const before = stored(rig, 'rotated');
    const done = await rig.api('POST', '/credentials/rekey');
    equal([done.status, done.body.subscriptions], [200, (await rig.all('/subscriptions')).length], JSON.stringify(done.body));
    const after = stored(rig, 'rotated');
    check(after !== before && after.includes(done.body.keyId), after);
    check(await isSigned(rig, 'Rotated', 'rotate me'), 'a signature');
    await rig.restart();
    check(await isSigned(rig, 'Rotated', 'rotate me'), 'a signature after a restart');
});

claim('what an earlier version stored unsealed is sealed at the next start', async (rig) => {
    await subscribe(rig, 'old', { url: receiver.url, events: ['Old'] });
    const text = JSON.stringify({ url: receiver.url, events: ['Old'], secret: 'from long ago' });
    await rig.server.stop();
    rig.sql(`UPDATE definition SET definition = '${text}' WHERE kind = 'subscription' AND code = 'old'`);
    await rig.start();
    await eventually('it is sealed', () => stored(rig, 'old').includes('"sealed"'));
    check(!stored(rig, 'old').includes('from long ago'), stored(rig, 'old'));
    equal((await rig.api('GET', '/subscriptions/old')).body.hasSecret, true);
    check(await isSigned(rig, 'Old', 'from long ago'), 'a signature');
});

claim('whoever changes the address in the store does not get what is signed', async (rig) => {
    await subscribe(rig, 'bound', { url: 'http://127.0.0.1:9/', events: ['Bound'], secret: 'bound to its address' });
    const text = stored(rig, 'bound').trim().replace('http://127.0.0.1:9/', `${receiver.url}/thief`);
    await rig.server.stop();
    rig.sql(`UPDATE definition SET definition = '${text}' WHERE kind = 'subscription' AND code = 'bound'`);
    await rig.start();
    const { id } = (await rig.api('POST', '/executions?wait=60s', { code: 'tell', input: { event: 'Bound' } })).body;
    const message = await eventually('it is refused', async () => (await rig.api('GET', `/outbox?execution=${id}`)).body.items.find((m) => m.error));
    equal(message.error.code, 'internal_secret');
    check(receiver.deliveries.every((d) => d.path !== '/thief'), 'something came');
    await subscribe(rig, 'bound', { url: `${receiver.url}/right`, events: ['Bound'], secret: 'bound to its address' });
    await rig.api('POST', `/outbox/${message.id}/retry`);
    await eventually('it is delivered', () => receiver.deliveries.some((d) => d.path === '/right'));
});

claim('a server with another master key does not start, also when only subscriptions need it', async (rig) => {
    const path = join(rig.server.data, 'master.key');
    await rig.server.stop();
    renameSync(path, `${path}.away`);
    check(!(await rig.server.start()), 'it started');
    check(rig.server.log.includes('there is no file'), rig.server.log);
    renameSync(`${path}.away`, path);
    await rig.start();
    check(await isSigned(rig, 'Moved', 'kept secret'), 'a signature');
    check(readFileSync(path, 'utf8').length > 0, 'the key is there');
});

await run((rig) => rig.publish({ code: 'tell', steps: [{ code: 'tell', procedure: { type: 'event.publish', event: '=$.input.event', payload: {} } }] }));
