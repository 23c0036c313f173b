// Answers are kept under the Idempotency-Key of their request, those that changed nothing too; on both stores.
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { sleep, until } from '../lib/wait.mjs';

const joining = {
    code: 'joining',
    settings: { key: '$.input.order', onKeyConflict: 'join' },
    triggers: [
        { type: 'webhook', path: 'joining', input: { order: '$.webhook.payload.order' }, id: '$.webhook.payload.delivery' },
        { type: 'action', object: 'order', label: 'Join', input: { order: '=$.record.id' } },
    ],
    input: [{ name: 'order', type: 'string', required: true }],
    steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } }],
};
const working = { code: 'kept_work', input: [{ name: 'n', type: 'integer' }], steps: [{ code: 'do', procedure: 'kept.work', input: { n: '$.input.n' }, retry: { maxAttempts: 5, delay: '1ms' } }] };

const waiting = (code, procedure) => ({ ...working, code, steps: [{ ...working.steps[0], procedure }] });

const keyed = (text) => ({ 'Idempotency-Key': text });
const conflict = (answer) => refused(answer, 409, 'idempotency_conflict');
const isOver = async (rig, id) => {
    await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
    await until('it has ended', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed');
};

claim('a start that joined by key keeps its answer: repeated after the end it starts nothing', async (rig) => {
    const body = { code: 'joining', input: { order: 'A' } };
    const first = await rig.begin('joining', { input: { order: 'A' } });
    const joined = await rig.api('POST', '/executions', body, keyed('join-1'));
    equal([joined.status, joined.body.id], [200, first.id], joined.raw);
    conflict(await rig.api('POST', '/executions', { ...body, input: { order: 'B' } }, keyed('join-1')));
    await isOver(rig, first.id);
    const again = await rig.api('POST', '/executions', body, keyed('join-1'));
    equal([again.status, again.body.id, again.body.status], [200, first.id, 'waiting'], again.raw);
    await rig.restart();
    equal((await rig.api('POST', '/executions', body, keyed('join-1'))).body.id, first.id);
    equal((await rig.api('GET', '/executions?key=A')).body.items.length, 1);
    const waited = await rig.api('POST', '/executions?wait=10s', body, keyed('join-1'));
    equal([waited.status, waited.body.id, waited.body.status], [200, first.id, 'completed']);
});

claim('who joins and waits, and does not stay for the end, is answered the same afterwards', async (rig) => {
    const body = { code: 'joining', input: { order: 'C' } };
    const first = await rig.begin('joining', { input: { order: 'C' } });
    const early = await rig.api('POST', '/executions?wait=1ms', body, keyed('join-2'));
    equal([early.status, early.body.id], [202, first.id]);
    await isOver(rig, first.id);
    equal((await rig.api('POST', '/executions?wait=10s', body, keyed('join-2'))).body.id, first.id);
});

claim('a webhook with an id that joined starts nothing when it is delivered again', async (rig) => {
    const first = await rig.begin('joining', { input: { order: 'H' } });
    const call = () => rig.client.ask('POST', '/hooks/joining', { order: 'H', delivery: 'd-1' });
    equal((await call()).body.id, first.id);
    await isOver(rig, first.id);
    equal((await call()).body.id, first.id);
    equal((await rig.api('GET', '/executions?key=H')).body.items.length, 1);
});

claim('an action that joined keeps its answer', async (rig) => {
    await rig.api('PUT', '/records/order/R', { id: 'R' });
    const path = '/records/order/R/actions/joining';
    const first = await rig.api('POST', path, {});
    equal(first.status, 201, first.raw);
    const joined = await rig.api('POST', path, {}, keyed('action-1'));
    equal([joined.status, joined.body.id], [200, first.body.id]);
    conflict(await rig.api('POST', path, { input: {} }, keyed('action-1')));
    await isOver(rig, first.body.id);
    equal((await rig.api('POST', path, {}, keyed('action-1'))).body.id, first.body.id);
});

claim('a signal that was sent before keeps its answer under a new key', async (rig) => {
    const { id } = await rig.begin('joining', { input: { order: 'S' } });
    for (const [n, path, to] of [[1, `/executions/${id}/signal`, {}], [2, '/signals', { key: 'S' }], [3, '/signals', { correlation: 'kept-corr' }]]) {
        const body = { type: 'other', id: `sig-${n}`, payload: n, ...to };
        const first = await rig.api('POST', path, body);
        equal(first.status, 202, first.raw);
        const again = await rig.api('POST', path, body, keyed(`sig-${n}`));
        equal([again.status, again.body], [202, first.body]);
        conflict(await rig.api('POST', path, { ...body, payload: 'x' }, keyed(`sig-${n}`)));
        equal((await rig.api('POST', path, body, keyed(`sig-${n}`))).body, first.body);
    }
    await isOver(rig, id);
});

claim('the answer to a job that was answered before is kept', async (rig) => {
    await rig.begin('kept_work', { input: { n: 1 } });
    const { body: { items: [job] } } = await rig.api('POST', '/jobs/claim', { types: ['kept.work'], wait: '10s' });
    const done = { leaseToken: job.leaseToken, output: 1 };
    const first = await rig.api('POST', `/jobs/${job.id}/complete`, done);
    equal(first.status, 200, first.raw);
    const again = await rig.api('POST', `/jobs/${job.id}/complete`, done, keyed('job-1'));
    equal([again.status, again.body], [200, first.body]);
    conflict(await rig.api('POST', `/jobs/${job.id}/complete`, { ...done, output: 2 }, keyed('job-1')));
});

claim('what changes nothing takes no key: the same key is free for another request', async (rig) => {
    for (const [path, one, two] of [
        ['/eval', { expression: '1' }, { expression: '2' }],
        ['/scenarios/joining/dry-run', { input: { order: 'x' } }, { input: { order: 'y' } }],
        ['/scenarios/nosuch/dry-run', { input: { order: 'x' } }, { input: { order: 'y' } }],
        ['/executions/bulk', { action: 'cancel', filter: { q: 'nothing' }, dryRun: true }, { action: 'cancel', filter: { q: 'none' }, dryRun: true }],
    ]) {
        const first = await rig.api('POST', path, one, keyed('trial')), second = await rig.api('POST', path, two, keyed('trial'));
        equal(second.status, first.status, `${path}: ${second.raw}`);
    }
});

claim('a claim under a key is answered again while its leases stand', async (rig) => {
    const ask = { types: ['kept.work'], max: 2, wait: '10s', lease: '60s' };
    for (const n of [2, 3, 4]) await rig.begin('kept_work', { input: { n } });
    const first = await rig.api('POST', '/jobs/claim', ask, keyed('claim-1'));
    equal(first.body.items.length, 2, first.raw);
    const again = await rig.api('POST', '/jobs/claim', ask, keyed('claim-1'));
    equal(again.body.items, first.body.items);
    conflict(await rig.api('POST', '/jobs/claim', { ...ask, max: 1 }, keyed('claim-1')));
    await rig.restart();
    const [one, two] = (await rig.api('POST', '/jobs/claim', ask, keyed('claim-1'))).body.items;
    equal([one.id, two.id, one.leaseToken], [first.body.items[0].id, first.body.items[1].id, first.body.items[0].leaseToken]);
    await rig.api('POST', `/jobs/${one.id}/complete`, { leaseToken: one.leaseToken, output: 1 });
    const kept = await rig.api('POST', `/jobs/${two.id}/heartbeat`, { leaseToken: two.leaseToken });
    const left = (await rig.api('POST', '/jobs/claim', ask, keyed('claim-1'))).body.items;
    equal(left.map((job) => [job.id, job.leaseUntil]), [[two.id, kept.body.leaseUntil]], 'what is left, with its present end');
    await rig.api('POST', `/jobs/${two.id}/complete`, { leaseToken: two.leaseToken, output: 1 });
    const fresh = (await rig.api('POST', '/jobs/claim', ask, keyed('claim-1'))).body.items;
    equal(fresh.map((job) => job.input.n), [4], 'none stands: it claims anew');
    equal((await rig.api('POST', '/jobs/claim', ask, keyed('claim-1'))).body.items, fresh, 'and that is kept');
    await rig.api('POST', `/jobs/${fresh[0].id}/complete`, { leaseToken: fresh[0].leaseToken, output: 1 });
    check(!rig.sql("SELECT answer FROM http_idempotency WHERE path LIKE '%/jobs/claim'").join().includes('"n"'), 'only ids and tokens are stored');
});

claim('a claim that is repeated while the first is in flight has the same leases', async (rig) => {
    const ask = { types: ['kept.together'], wait: '20s', lease: '60s', max: 1 };
    // A second server, where there can be one, knows of the first claim by the store alone.
    const beside = rig.store ? new Server(join(makeFolder(), 'data'), { store: rig.store, beside: rig.server }) : null;
    if (beside) check(await beside.start(), beside.log);
    const clients = [rig.server, rig.server, beside ?? rig.server].map((server) => server.client());
    const answers = clients.map((c) => c.ask('POST', '/api/v1/jobs/claim', ask, keyed('claim-together')));
    await sleep(1000);
    conflict(await rig.api('POST', '/jobs/claim', { ...ask, max: 2 }, keyed('claim-together')));
    for (let n = 1; n <= 3; n++) await rig.begin('kept_together', { input: { n } });
    const found = (await Promise.all(answers)).map((a) => [a.status, a.body.items]);
    clients.forEach((c) => c.close());
    await beside?.stop();
    for (const one of found) equal(one, found[0]);
    equal([found[0][0], found[0][1].length], [200, 1]);
    equal(rig.sql("SELECT count(*) FROM jobs WHERE type = 'kept.together' AND status = 'leased'"), ['1']);
});

claim('who follows a claim that ends with nothing goes on by itself', async (rig) => {
    const ask = { types: ['kept.later'], wait: '2s', lease: '60s', max: 1 };
    const [first, second] = [rig.server.client(), rig.server.client()];
    const none = first.ask('POST', '/api/v1/jobs/claim', ask, keyed('claim-later'));
    await sleep(1000);
    const some = second.ask('POST', '/api/v1/jobs/claim', ask, keyed('claim-later'));
    equal((await none).body.items, []);
    await rig.begin('kept_later', { input: { n: 1 } });
    equal((await some).body.items.map((job) => job.input.n), [1]);
    first.close();
    second.close();
});

claim('a claim that found nothing is not kept', async (rig) => {
    const ask = { types: ['kept.work'], max: 1, wait: '0s' };
    equal((await rig.api('POST', '/jobs/claim', ask, keyed('claim-2'))).body.items, []);
    await rig.begin('kept_work', { input: { n: 5 } });
    const [job] = (await rig.api('POST', '/jobs/claim', { ...ask, wait: '10s' }, keyed('claim-3'))).body.items;
    equal(job.input.n, 5);
    equal((await rig.api('POST', '/jobs/claim', ask, keyed('claim-2'))).body.items, []);
    await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: 1 });
});

await run(async (rig) => {
    await rig.publish(joining);
    await rig.publish(waiting('kept_together', 'kept.together'));
    await rig.publish(waiting('kept_later', 'kept.later'));
    await rig.publish(working);
});
