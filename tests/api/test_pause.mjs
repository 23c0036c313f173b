// Pausing executions and letting them go on, on both stores and across kills.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const NOBODY = '00000000-0000-7000-8000-000000000000';
const transform = (code, data) => ({ code, procedure: { type: 'compute.transform', data } });
const ask = (code, more = {}) => ({ code, procedure: { type: 'wait.signal', signalType: 'go', ...more } });
const timer = (code, duration) => ({ code, procedure: { type: 'wait.timer', duration } });

const asking = { code: 'asking', steps: [ask('ask'), transform('done', '$.steps.ask.payload')] };
const formed = { code: 'formed', steps: [ask('ask', { accept: 'new', form: [{ name: 'n', type: 'integer', required: true }] }), transform('done', '$.steps.ask.payload')] };
const timed = { code: 'timed', steps: [timer('nap', '1ms'), transform('done', 'awake')] };
const beside = { code: 'beside', input: [{ name: 'nap', type: 'string' }], steps: [
    { code: 'both', parallel: { branches: [[ask('ask')], [timer('nap', '$.input.nap'), transform('after', 1)]] } },
    transform('done', '$.steps.both.count'),
] };
const late = (timeout) => ({ code: 'late', settings: { timeout }, onError: 'fail_fast', steps: [ask('ask')] });
const held = { code: 'held', onError: 'hold', steps: [transform('half', '=1 / 0')] };
const paying = { code: 'paying', input: [{ name: 'order', type: 'string' }], steps: [
    ask('paid', { correlation: '$.input.order' }), transform('done', '$.steps.paid.payload'),
] };
const child = { code: 'child', steps: [ask('ask'), transform('done', '$.steps.ask.payload')] };
const parent = { code: 'parent', steps: [
    { code: 'run', procedure: { type: 'flow.start', code: 'child', wait: true } },
    transform('done', { got: '$.steps.run.output' }),
] };
// It is never done by itself, and always at work.
const endless = (code, steps) => ({ code, loop: { while: 'true', max: 100000, steps } });
const busy = { code: 'busy', steps: [endless('outer', [endless('inner', [transform('s', 1)])])] };

const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const act = (rig, id, action, body, headers) => rig.api('POST', `/executions/${id}/${action}`, body, headers);
async function done(rig, id, action, body, headers) {
    const answer = await act(rig, id, action, body, headers);
    equal(answer.status, 202, JSON.stringify(answer.body));
    return answer.body;
}
const send = (rig, id, payload, more = {}) => done(rig, id, 'signal', { type: 'go', payload, ...more });
// Some are paused too late on a busy machine: then the next one has more time.
const TIMES = ['300ms', '3s', '30s', '300s'];
const kidOf = (rig, id) => until('its child waits', async () => {
    const { waitingFor } = await get(rig, id);
    return (await get(rig, waitingFor.executionId)).status === 'waiting' && waitingFor.executionId;
});
const ended = (rig, id, status = 'completed') => until(`it is ${status}`, async () => (await get(rig, id)).status === status);

claim('a paused execution says who, why and what waits under it', async (rig) => {
    const me = (await rig.api('GET', '/me')).body;
    const { id, waitingFor } = await rig.begin('asking');
    equal(await done(rig, id, 'pause', { reason: 'not now' }), {});
    const x = await get(rig, id);
    const { since, ...wait } = x.waitingFor;
    equal([x.status, x.currentStep], ['waiting', 'ask']);
    equal(wait, { kind: 'paused', step: 'ask', reason: 'not now', by: { id: me.id, name: me.name }, branches: [waitingFor] });
    check(since >= x.createdAt, since);
    equal(x.actions, ['cancel', 'signal', 'migrate', 'resume']);
    await done(rig, id, 'resume');
    const after = await get(rig, id);
    equal([after.waitingFor, after.actions], [waitingFor, ['cancel', 'signal', 'assign', 'migrate', 'pause']]);
    await send(rig, id, 7);
    equal((await get(rig, id)).result, 7);
    const lines = (await rig.api('GET', `/audit?target=${id}`)).body.items.map((l) => [l.action, l.details]);
    equal(lines, [['execution.signal', { type: 'go' }], ['execution.resume', null], ['execution.pause', { reason: 'not now' }],
        ['execution.start', { code: 'asking', version: 1 }]]);
});

claim('what cannot be paused or is not paused is refused, and nothing has changed', async (rig) => {
    const { id } = await rig.begin('asking');
    refused(await act(rig, id, 'resume'), 409, 'conflict');
    equal(refused(await act(rig, id, 'pause', { raeson: 'x' }), 422, 'invalid').errors[0].pointer, '/raeson');
    equal(refused(await act(rig, id, 'pause', { reason: 1 }), 422, 'invalid').errors[0].pointer, '/reason');
    equal(refused(await act(rig, id, 'pause', { reason: 'x'.repeat(1001) }), 422, 'invalid').errors[0].pointer, '/reason');
    equal((await get(rig, id)).waitingFor.kind, 'signal');
    await done(rig, id, 'pause');
    refused(await act(rig, id, 'pause', { reason: 'again' }), 409, 'conflict');
    equal(refused(await act(rig, id, 'resume', { reason: 'x' }), 422, 'invalid').errors[0].pointer, '/reason');
    for (const action of ['retry', 'skip']) refused(await act(rig, id, action), 409, 'conflict');
    equal((await rig.api('DELETE', `/executions/${id}`)).status, 409);
    await done(rig, id, 'cancel');
    for (const action of ['pause', 'resume']) refused(await act(rig, id, action), 409, 'conflict');
    const incident = await rig.begin('held');
    refused(await act(rig, incident.id, 'pause'), 409, 'conflict');
    for (const action of ['pause', 'resume']) refused(await act(rig, NOBODY, action), 404, 'not_found');
});

claim('under an Idempotency-Key it is paused once', async (rig) => {
    const { id } = await rig.begin('asking');
    const key = { 'Idempotency-Key': `pause-${id}` };
    await done(rig, id, 'pause', { reason: 'a' }, key);
    await done(rig, id, 'resume');
    await done(rig, id, 'pause', { reason: 'a' }, key);
    equal((await get(rig, id)).waitingFor.kind, 'signal', 'the answer of before');
    refused(await act(rig, id, 'pause', { reason: 'b' }, key), 409, 'idempotency_conflict');
});

claim('signals are checked and kept across kills, and taken when it goes on', async (rig) => {
    const { id } = await rig.begin('formed');
    await done(rig, id, 'pause');
    equal(refused(await act(rig, id, 'signal', { type: 'go', payload: {} }), 422, 'invalid').errors[0].pointer, '/payload/n');
    const first = await send(rig, id, { n: 1 }, { id: 'one' });
    equal(first, { id: 'one' });
    equal(await send(rig, id, { n: 1 }, { id: 'one' }), first, 'sent again');
    await rig.restart();
    await send(rig, id, { n: 2 });
    const x = await get(rig, id);
    equal([x.waitingFor.kind, x.context.signals.length], ['paused', 2]);
    await rig.restart();
    await done(rig, id, 'resume');
    equal((await get(rig, id)).result, { n: 1 });
});

claim('no timer fires while it is paused, whatever happens to the server', async (rig) => {
    let id, waitingFor;
    for (const nap of TIMES) {
        ({ id } = await rig.begin('beside', { input: { nap } }));
        await done(rig, id, 'pause');
        ({ waitingFor } = await get(rig, id));
        if (waitingFor.branches.length === 2) break;
    }
    equal(waitingFor.branches.map((b) => [b.kind, b.step]), [['signal', 'ask'], ['timer', 'nap']]);
    await until('its time has passed', async () => new Date(waitingFor.branches[1].until) < new Date());
    await rig.restart();
    // Timers of others fire meanwhile.
    await ended(rig, (await rig.begin('timed')).id);
    await send(rig, id, 1);
    equal([(await get(rig, id)).waitingFor.kind, (await rig.all(`/executions/${id}/steps`)).length], ['paused', 0]);
    await done(rig, id, 'resume');
    equal((await get(rig, id)).result, 2);
});

claim('one that is at work is stopped in the middle of it', async (rig) => {
    const { id, status } = (await rig.api('POST', '/executions', { code: 'busy' })).body;
    equal(status, 'running');
    await done(rig, id, 'pause');
    const seen = (await get(rig, id)).rowVersion;
    await rig.restart();
    await ended(rig, (await rig.begin('timed')).id);
    const x = await get(rig, id);
    equal([x.rowVersion, x.waitingFor.kind, x.currentStep], [seen, 'paused', 's']);
    await done(rig, id, 'resume');
    await until('it is at work', async () => (await get(rig, id)).rowVersion > seen + 1);
    await done(rig, id, 'cancel');
});

claim('a child that ends meanwhile is looked at when it goes on', async (rig) => {
    const { id } = await rig.begin('parent');
    const kid = await kidOf(rig, id);
    await done(rig, id, 'pause');
    await send(rig, kid, 5);
    await ended(rig, kid);
    await rig.restart();
    equal((await get(rig, id)).waitingFor.kind, 'paused');
    await done(rig, id, 'resume');
    await ended(rig, id);
    equal((await get(rig, id)).result, { got: 5 });
});

claim('a child may be paused, and its parent waits', async (rig) => {
    const { id } = await rig.begin('parent');
    const kid = await kidOf(rig, id);
    await done(rig, kid, 'pause');
    await send(rig, kid, 6);
    equal((await get(rig, id)).waitingFor.kind, 'child');
    await done(rig, kid, 'resume');
    await ended(rig, id);
    equal((await get(rig, id)).result, { got: 6 });
});

claim('a wait keeps one signal of its correlation, and the next is for who comes next', async (rig) => {
    const order = `o-${rig.name}`;
    const pay = async (payload) => (await rig.api('POST', '/signals', { type: 'go', correlation: order, payload })).body.executionId;
    const { id } = await rig.begin('paying', { input: { order } });
    await done(rig, id, 'pause');
    equal(await pay(1), id);
    equal(await pay(2), null);
    await rig.restart();
    const next = await rig.begin('paying', { input: { order } });
    equal([next.status, next.result], ['completed', 2]);
    await done(rig, id, 'resume');
    equal((await get(rig, id)).result, 1);
});

claim('the deadline still counts', async (rig) => {
    let id, answer;
    for (const time of TIMES) {
        await rig.publish(late(time));
        ({ id } = await rig.begin('late'));
        answer = await act(rig, id, 'pause');
        if (answer.status === 202) break;
    }
    equal(answer.status, 202);
    await ended(rig, id, 'failed');
    equal((await get(rig, id)).error.code, 'timeout_execution');
});

claim('many are paused and go on', async (rig) => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await rig.begin('asking')).id);
    const [first] = ids;
    await done(rig, first, 'pause', { reason: 'before' });
    const many = async (action, more) => {
        const answer = await rig.api('POST', '/executions/bulk', { action, filter: { code: 'asking', status: 'waiting' }, ...more });
        equal(answer.status, 200, JSON.stringify(answer.body));
        return [answer.body.matched, answer.body.done, answer.body.skipped, answer.body.failed];
    };
    equal(await many('pause', { dryRun: true }), [4, 0, 1, 0]);
    equal(await many('pause', { reason: 'all of them' }), [4, 3, 1, 0]);
    equal((await get(rig, first)).waitingFor.reason, 'before');
    equal((await get(rig, ids[2])).waitingFor.reason, 'all of them');
    equal(await many('resume'), [4, 4, 0, 0]);
    refused(await rig.api('POST', '/executions/bulk', { action: 'resume', filter: {}, reason: 'x' }), 422, 'invalid');
    equal(await many('cancel'), [4, 4, 0, 0]);
});

claim('it moves to another version while it is paused', async (rig) => {
    await rig.publish({ code: 'moving', steps: [ask('ask'), transform('done', 'old')] });
    const { id, version } = await rig.begin('moving');
    await done(rig, id, 'pause');
    await send(rig, id, 1);
    await rig.publish({ code: 'moving', steps: [transform('new', 0), ask('ask'), transform('done', 'new')] });
    await done(rig, id, 'migrate', { version: version + 1 });
    await rig.restart();
    equal((await get(rig, id)).waitingFor.kind, 'paused');
    await done(rig, id, 'resume');
    equal((await get(rig, id)).result, 'new');
});

await run(async (rig) => {
    for (const definition of [asking, formed, timed, beside, held, paying, child, parent, busy]) await rig.publish(definition);
});
