// Events of Pawl's own that arise outside of executions, on both stores: records that are edited by hand, messages and
// executions that are parked. They become durable with what they tell of, and reach who has subscribed.

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { checkProgram } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { Receiver } from './receiver.mjs';

const eventually = (what, question) => until(what, question, 120);

let count = 0;

/** Somebody who wants these events while `work` runs. */
async function listening(rig, events, work) {
    const receiver = new Receiver();
    const code = `listener_${++count}`;
    await receiver.open();
    const answer = await rig.api('PUT', `/subscriptions/${code}`, { url: receiver.url, events });
    equal(answer.status, 201, JSON.stringify(answer.body));
    receiver.named = (name) => receiver.once((d) => d.json.name === name);
    try {
        return await work(receiver, code);
    } finally {
        await rig.api('DELETE', `/subscriptions/${code}`);
        receiver.close();
    }
}

claim('a record that is edited by hand tells of it, in order', (rig) => listening(rig, ['record.*', 'record.created'], async (receiver) => {
    const path = `/records/deal/d${++count}`;
    equal((await rig.api('PUT', path, { sum: 1 })).status, 201);
    equal((await rig.api('PUT', path, { sum: 2 })).status, 200);
    equal((await rig.api('PATCH', path, { note: 'x' })).status, 200);
    equal((await rig.api('DELETE', path)).status, 204);
    await eventually('four events come', () => receiver.deliveries.length >= 4);
    const id = `d${count}`;
    equal(receiver.once().map(({ json: { name, payload } }) => [name, payload.object, payload.id, payload.version, payload.data?.sum, payload.data?.note]), [
        ['record.created', 'deal', id, 1, 1, undefined],
        ['record.updated', 'deal', id, 2, 2, undefined],
        ['record.updated', 'deal', id, 3, 2, 'x'],
        ['record.deleted', 'deal', id, 3, undefined, undefined],
    ]);
    const [first] = receiver.deliveries;
    equal([first.json.executionId, first.json.code, first.json.key], [null, null, null]);
    check(Math.abs(Date.parse(first.json.at) - Date.now()) < 60000 && first.headers['pawl-event'] === 'record.created', JSON.stringify(first.headers));
    equal(new Set(receiver.deliveries.map((d) => d.json.id)).size, 4, 'ids of the events');
}));

claim('an edit that is refused, and one that nobody asked for, tell nothing', (rig) => listening(rig, ['record.updated'], async (receiver) => {
    const path = `/records/deal/d${++count}`;
    await rig.api('PUT', path, { sum: 1 });
    refused(await rig.api('PUT', path, { sum: 2 }, { 'if-match': '"7"' }), 412, 'precondition_failed');
    refused(await rig.api('PATCH', '/records/deal/none', {}), 404, 'not_found');
    await rig.api('PUT', path, { sum: 3 });
    await eventually('one comes', () => receiver.deliveries.length > 0);
    equal(receiver.once().map((d) => [d.json.name, d.json.payload.data]), [['record.updated', { sum: 3 }]]);
}));

claim('a repeated edit under one Idempotency-Key tells once', (rig) => listening(rig, ['record.*'], async (receiver) => {
    const path = `/records/deal/d${++count}`, headers = { 'idempotency-key': `edit-${rig.name}-${count}` };
    for (let i = 0; i < 3; i++) equal((await rig.api('PUT', path, { sum: 1 }, headers)).status, 201);
    await rig.api('DELETE', path);
    await eventually('the last comes', () => receiver.named('record.deleted').length === 1);
    equal(receiver.named('record.created').length, 1);
}));

claim('a message that is given up tells of its letter, and one that tells of a letter does not', (rig) => listening(rig, ['dead_letter.created'], async (receiver) => {
    const gone = { url: 'http://127.0.0.1:9/', events: ['Lost', 'dead_letter.*', 'record.created'] };
    const object = `deal${++count}`, code = `tell_${count}`, held = `held_${count}`;
    equal((await rig.api('PUT', '/subscriptions/gone', gone)).status, 201);
    await rig.publish({ code, steps: [{ code: 's', procedure: { type: 'event.publish', event: 'Lost', payload: { a: 1 } } }] });
    await rig.publish({ code: held, onError: 'hold', steps: [{ code: 's', procedure: { type: 'compute.fail', code: 'no', message: 'no' } }] });
    const x = (await rig.api('POST', '/executions?wait=60s', { code })).body, h = await rig.begin(held);
    equal((await rig.api('PUT', `/records/${object}/a`, {})).status, 201);
    await eventually('the hold is told', () => receiver.named('dead_letter.created').length === 1);
    const waiting = await eventually('three messages wait', async () => {
        const { items } = (await rig.api('GET', '/outbox?destination=subscription:gone')).body;
        return items.length === 3 && items.every((m) => m.attempts > 0) && items;
    });
    equal(waiting.map((m) => [m.name, m.executionId]).sort(), [['Lost', x.id], ['dead_letter.created', h.id], ['record.created', null]]);
    await rig.api('DELETE', '/subscriptions/gone');
    for (const m of waiting) await rig.api('POST', `/outbox/${m.id}/retry`);
    const letters = await eventually('all are given up', async () => {
        const items = (await rig.api('GET', '/dlq?kind=outbox&status=open')).body.items.filter((l) => l.payload.destination === 'subscription:gone');
        return items.length === 3 && items;
    });
    await eventually('two of them are told', () => receiver.named('dead_letter.created').length === 3);
    const told = (letter) => receiver.once().find((d) => d.json.payload.id === letter.id)?.json;
    const of = (name) => letters.find((l) => l.payload.name === name);
    equal(told(of('Lost')).payload, { id: of('Lost').id, kind: 'outbox', code, key: null, step: null, attempts: of('Lost').attempts, cause: of('Lost').cause });
    equal([told(of('Lost')).executionId, told(of('Lost')).code], [x.id, code]);
    equal([told(of('record.created')).executionId, of('record.created').executionId, of('record.created').code], [null, null, null]);
    equal(told(of('dead_letter.created')), undefined);
    /* One that no execution has sent can be tried again or dropped all the same. */
    equal((await rig.api('PUT', '/subscriptions/gone', { url: `${receiver.url}/late`, events: ['nothing'] })).status, 201);
    equal((await rig.api('POST', `/dlq/${of('record.created').id}/retry`)).status, 202);
    await eventually('it comes after all', () => receiver.deliveries.some((d) => d.path === '/late' && d.json.name === 'record.created'));
    for (const name of ['Lost', 'dead_letter.created']) equal((await rig.api('POST', `/dlq/${of(name).id}/resolve`, { note: 'seen' })).status, 200);
    await rig.api('POST', `/executions/${h.id}/cancel`, {});
    await rig.api('DELETE', '/subscriptions/gone');
}));

claim('an execution that is parked tells of its letter', (rig) => listening(rig, ['dead_letter.created'], async (receiver) => {
    const code = `broken_${++count}`;
    await rig.publish({ code, steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }] });
    const { id } = await rig.begin(code);
    await rig.server.stop();
    rig.sql(`UPDATE definition SET definition = '{"code":"${code}"}' WHERE code = '${code}'`);
    await rig.start();
    await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
    const [told] = await eventually('it is told', () => receiver.deliveries.length > 0 && receiver.deliveries);
    const [letter] = (await rig.api('GET', `/dlq?execution=${id}`)).body.items;
    equal([told.json.payload.id, told.json.payload.kind, told.json.executionId], [letter.id, 'execution', id]);
    await rig.api('POST', `/executions/${id}/cancel`, {});
}));

for (const [point, isThere] of [['writer.before_commit', false], ['writer.committed', true], ['node.batch_done', true]])
    claim(`killed at ${point}, the edit and its event are both there or both not`, (rig) => listening(rig, ['record.*'], async (receiver) => {
        const path = `/records/deal/k${++count}`;
        await rig.server.stop();
        const { program } = rig.server;
        rig.server.program = checkProgram;
        await rig.start({ PAWL_CRASH_AT: `${point}:1` });
        await rig.api('PUT', path, { sum: 1 }).catch(() => null);
        await rig.server.ended;
        rig.server.program = program;
        await rig.start();
        equal((await rig.api('GET', path)).status, isThere ? 200 : 404);
        await rig.api('PUT', path, { sum: 2 });
        const last = isThere ? 'record.updated' : 'record.created';
        await eventually('the last comes', () => receiver.once().some((d) => d.json.payload.data.sum === 2));
        equal(receiver.once().map((d) => d.json.name), isThere ? ['record.created', last] : [last]);
    }));

await run(async () => {});
