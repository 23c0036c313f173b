// The same done to many: one key acts once, each member has its line in the audit log; on both stores.
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { forAll, refused } from '../lib/client.mjs';
import { Server } from '../lib/server.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const ask = { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } };
const waiting = (code) => ({ code, steps: [ask] });
const failing = (code) => ({ code, onError: 'fail_fast', steps: [
    { code: 'stop', procedure: { type: 'compute.fail', code: 'no_luck', message: 'bad luck' } }] });
const holding = (code) => ({ code, onError: 'hold', steps: [
    { code: 'stop', procedure: { type: 'compute.fail', code: 'no_luck', message: 'bad luck' } }] });
const paid = (code) => ({ code, steps: [
    { code: 'pay', procedure: { type: 'compute.set', values: { paid: true } }, rollback: { type: 'compute.set', values: { paid: false } } },
    ask,
] });

async function many(rig, count, code) {
    const begun = [];
    await forAll(rig.server, Array(count).fill(code), async () => begun.push(await rig.begin(code)));
    return begun;
}
const bulk = (rig, body, headers) => rig.api('POST', '/executions/bulk', body, headers);
const counts = ({ matched, done, failed, skipped, more }) => [matched, done, failed, skipped, more];
const audits = (rig, action, details = () => true) =>
    rig.all(`/audit?action=${action}`, 500).then((items) => items.filter((a) => details(a)));
/** How often the one step of each was visited, as {visits: executions}. */
async function visits(rig, code) {
    const found = {};
    await forAll(rig.server, await rig.all(`/executions?code=${code}`, 500), async (_, { id }) => {
        const n = (await rig.all(`/executions/${id}/steps`, 100)).length;
        found[n] = (found[n] ?? 0) + 1;
    });
    return found;
}

claim('two requests with one key at once retry each of 300 executions once, and have one answer', async (rig) => {
    await many(rig, 300, 'twice');
    const body = { action: 'retry', filter: { code: 'twice', status: 'failed' } };
    const key = { 'Idempotency-Key': `twice-${rig.name}` };
    const other = rig.server.client();
    const [a, b] = await Promise.all([bulk(rig, body, key), other.ask('POST', '/api/v1/executions/bulk', body, key)]);
    other.close();
    equal([a.status, b.status], [200, 200], JSON.stringify([a.body, b.body]));
    equal(counts(a.body), [300, 300, 0, 0, false]);
    equal(b.body, a.body);
    await until('they have failed again', async () => (await rig.all('/executions?code=twice&status=failed', 500)).length === 300);
    equal(await visits(rig, 'twice'), { 2: 300 });
    equal((await bulk(rig, body, key)).body, a.body, 'the answer of then');
    refused(await bulk(rig, { ...body, limit: 5 }, key), 409, 'idempotency_conflict');
    equal((await audits(rig, 'execution.bulk_retry', (x) => x.details.filter.code === 'twice')).length, 1);
});

claim('two requests with one key at once try each dead letter once', async (rig) => {
    await many(rig, 60, 'letters');
    const body = { action: 'retry', filter: { code: 'letters' } };
    const key = { 'Idempotency-Key': `letters-${rig.name}` };
    const [a, b] = await Promise.all([1, 2].map(() => rig.api('POST', '/dlq/bulk', body, key)));
    equal([a.status, b.status, counts(a.body)], [200, 200, [60, 60, 0, 0, false]]);
    equal(b.body, a.body);
    await until('they are held again', async () => (await rig.all('/dlq?code=letters&status=open', 500)).length === 60);
    equal(await visits(rig, 'letters'), { 2: 60 });
});

claim('two servers on one store act once for one key', async (rig) => {
    await many(rig, 200, 'nodes');
    const second = new Server(join(rig.folder, 'second'), { beside: rig.server, store: rig.store });
    check(await second.start(), second.log);
    const client = second.client();
    const body = { action: 'retry', filter: { code: 'nodes', status: 'failed' } };
    const key = { 'Idempotency-Key': 'nodes' };
    const [a, b] = await Promise.all([bulk(rig, body, key), client.ask('POST', '/api/v1/executions/bulk', body, key)]);
    client.close();
    equal(await second.stop(), 0);
    equal([a.status, b.status], [200, 200], JSON.stringify([a.body, b.body]));
    equal(b.body, a.body);
    equal(await visits(rig, 'nodes'), { 2: 200 });
}, 'PostgreSQL');

claim('kill -9 in the middle: the repeated request goes on and does nothing twice', async (rig) => {
    await many(rig, 400, 'killed');
    const body = { action: 'retry', filter: { code: 'killed', status: 'failed' } };
    const key = { 'Idempotency-Key': `killed-${rig.name}` };
    const from = new Date().toISOString();
    const asked = rig.server.client().ask('POST', '/api/v1/executions/bulk', body, key).catch(() => null);
    await until('some were retried', async () => (await rig.api('GET', `/audit?action=execution.retry&from=${from}&limit=1`)).body.items.length);
    await rig.restart();
    await asked;
    const again = await bulk(rig, body, key);
    equal([again.status, counts(again.body)], [200, [400, 400, 0, 0, false]], JSON.stringify(again.body));
    await until('they have failed again', async () => (await rig.all('/executions?code=killed&status=failed', 500)).length === 400);
    equal(await visits(rig, 'killed'), { 2: 400 });
});

claim('each member has its line in the audit log, also of signals', async (rig) => {
    const started = (await many(rig, 5, 'signalled')).map((x) => x.id).sort();
    const answer = await bulk(rig, { action: 'signal', type: 'go', filter: { code: 'signalled' } });
    equal(counts(answer.body), [5, 5, 0, 0, false]);
    const lines = await audits(rig, 'execution.signal', (a) => started.includes(a.target));
    equal(lines.map((a) => a.target).sort(), started);
    equal(lines[0].details.type, 'go');
    const held = (await many(rig, 3, 'letters_b')).map((x) => x.id).sort();
    equal(counts((await rig.api('POST', '/dlq/bulk', { action: 'retry', filter: { code: 'letters_b' } })).body), [3, 3, 0, 0, false]);
    equal((await audits(rig, 'execution.retry', (a) => held.includes(a.target))).length, 3);
});

claim('the reason of a cancellation is in the audit log, of one and of many', async (rig) => {
    const [one, two] = (await many(rig, 2, 'reasons')).map((x) => x.id);
    await rig.api('POST', `/executions/${one}/cancel`, { reason: 'the customer left' });
    await bulk(rig, { action: 'cancel', filter: { code: 'reasons', status: 'waiting' }, reason: 'a duplicate' });
    for (const [id, reason] of [[one, 'the customer left'], [two, 'a duplicate']])
        equal((await audits(rig, 'execution.cancel', (a) => a.target === id))[0].details, { reason });
});

claim('what operators did is in the history for who asks: reasons, versions, replaced input', async (rig) => {
    const acts = async (id, query = '?events=true') => (await rig.all(`/executions/${id}/steps${query}`, 100))
        .filter((s) => s.kind === 'event').map((s) => [s.status, s.output]);
    const { id } = await rig.begin('reasons');
    equal((await rig.api('POST', `/executions/${id}/pause`, { reason: 'lunch' })).status, 202);
    equal((await rig.api('POST', `/executions/${id}/resume`)).status, 202);
    equal((await rig.api('POST', `/executions/${id}/cancel`, { reason: 'the customer left' })).status, 202);
    equal(await acts(id), [['paused', { reason: 'lunch' }], ['resumed', null], ['cancelled', { reason: 'the customer left' }]]);
    equal(await acts(id, ''), [], 'not unless it is asked for');
    const held = await rig.begin('letters_b');
    await rig.publish({ ...holding('letters_b'), name: 'another' });
    const { version } = (await rig.api('GET', '/scenarios/letters_b')).body.published;
    equal((await rig.api('POST', `/executions/${held.id}/retry`, { version, input: {} })).status, 202);
    equal((await rig.api('POST', `/executions/${held.id}/skip`)).status, 202);
    equal(await acts(held.id), [['retry', { version, input: true }], ['skip', null]]);
});

claim('a bulk cancellation says whether to compensate', async (rig) => {
    const paidOf = async (id) => (await rig.api('GET', `/executions/${id}`)).body.context.variables.paid;
    for (const [compensate, wanted] of [[true, false], [false, true]]) {
        const { id } = await rig.begin('paid');
        equal(counts((await bulk(rig, { action: 'cancel', compensate, filter: { code: 'paid', status: 'waiting' } })).body), [1, 1, 0, 0, false]);
        await until('it has ended', async () => (await rig.api('GET', `/executions/${id}`)).body.completedAt);
        equal(await paidOf(id), wanted);
        equal((await audits(rig, 'execution.cancel', (a) => a.target === id))[0].details, { compensate });
    }
    equal(refused(await bulk(rig, { action: 'delete', compensate: true, filter: {} }), 422, 'invalid').errors[0].pointer, '/compensate');
});

claim('what could not be noted is not answered as done; the repeated request is', async (rig) => {
    await many(rig, 3, 'unnoted');
    rig.sql("CREATE TRIGGER no_note BEFORE INSERT ON audit_log WHEN NEW.action = 'execution.bulk_retry' BEGIN SELECT RAISE(ABORT, 'no'); END");
    const body = { action: 'retry', filter: { code: 'unnoted', status: 'failed' } };
    const key = { 'Idempotency-Key': 'unnoted' };
    const answer = await bulk(rig, body, key);
    rig.sql('DROP TRIGGER no_note');
    check(answer.status >= 500, `it was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    check(answer.body.detail.includes('3'), answer.body.detail);
    const again = await bulk(rig, body, key);
    equal([again.status, counts(again.body)], [200, [3, 3, 0, 0, false]]);
    equal(await visits(rig, 'unnoted'), { 2: 3 });
}, 'SQLite');

run(async (rig) => {
    for (const code of ['signalled', 'reasons']) await rig.publish(waiting(code));
    for (const code of ['twice', 'killed', 'unnoted', 'nodes']) await rig.publish(failing(code));
    for (const code of ['letters', 'letters_b']) await rig.publish(holding(code));
    await rig.publish(paid('paid'));
});
