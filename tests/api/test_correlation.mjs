// Signals that find their wait by a correlation, on both stores.
import { check, equal } from '../lib/claims.mjs';
import { forAll, refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const wait = (code, fields = {}) => ({
    code, procedure: { type: 'wait.signal', signalType: 'paid', correlation: '$.input.order', ...fields },
});
const transform = (code, data) => ({ code, procedure: { type: 'compute.transform', data } });
const timer = { code: 'pause', procedure: { type: 'wait.signal', signalType: 'go' } };

const definitions = [
    { code: 'order', steps: [wait('pay'), transform('done', { sum: '$.steps.pay.payload.sum' })] },
    { code: 'slow_order', steps: [timer, wait('pay')] },
    { code: 'two', steps: [wait('first'), wait('second')] },
    { code: 'picky', steps: [wait('pay', { match: '$.signal.payload.sum >= 10' })] },
    { code: 'formed', steps: [wait('pay', {
        form: [{ name: 'sum', type: 'integer', required: true }, { name: 'note', type: 'string', default: 'none' }],
    })] },
    { code: 'new_only', steps: [wait('pay', { accept: 'new' })] },
    { code: 'late', steps: [wait('pay', { timeout: '50ms', onTimeout: 'continue' }), timer] },
    { code: 'others', access: { operate: ['group:bank'] }, steps: [wait('pay')] },
    { code: 'typed', steps: [wait('pay', { signalType: ['paid', 'cancelled'] })] },
];

let made = 0;
/** A correlation that nobody else has. */
const fresh = (rig) => `${rig.name} "order" ${++made}`;
const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const begin = (rig, code, order) => rig.begin(code, { input: { order } });
const steps = async (rig, id) => (await rig.all(`/executions/${id}/steps`, 100)).map((s) => `${s.step} ${s.status}`);

/** Answers the execution that has received it, or null. */
async function send(rig, correlation, more = {}, headers = {}) {
    const answer = await rig.api('POST', '/signals', { type: 'paid', correlation, payload: { sum: 5 }, ...more }, headers);
    equal(answer.status, 202, JSON.stringify(answer.body));
    check(typeof answer.body.id === 'string' && 'executionId' in answer.body, JSON.stringify(answer.body));
    equal(Object.keys(answer.body), ['id', 'executionId']);
    return answer.body.executionId;
}

async function metric(rig, name) {
    const answer = await rig.client.ask('GET', '/metrics');
    return Number(new RegExp(`^pawl_${name} (\\d+)$`, 'm').exec(answer.raw)[1]);
}

const ended = (rig, id) => until(`${id} has ended`, async () => {
    const x = await get(rig, id);
    return x.status === 'completed' ? x : null;
});

// --- a wait is there ---

claim('a signal finds the wait that has its correlation', async (rig) => {
    const order = fresh(rig);
    const x = await begin(rig, 'order', order);
    equal([x.status, x.waitingFor.correlation], ['waiting', order]);
    equal(await send(rig, order, { payload: { sum: 7 } }), x.id);
    const after = await get(rig, x.id);
    equal([after.status, after.result], ['completed', { sum: 7 }]);
    equal(after.context.signals.length, 1);
    equal(after.context.signals[0].by.name, 'admin');
});

claim('of two executions with one correlation the oldest wait gets it', async (rig) => {
    const order = fresh(rig);
    const first = await begin(rig, 'order', order);
    const second = await begin(rig, 'order', order);
    equal(await send(rig, order), first.id);
    equal(await send(rig, order), second.id);
    equal(await send(rig, order), null);
});

claim('the age is that of the wait, not of its execution', async (rig) => {
    const order = fresh(rig);
    const slow = await begin(rig, 'slow_order', order);
    const quick = await begin(rig, 'order', order);
    equal((await rig.api('POST', `/executions/${slow.id}/signal`, { type: 'go' })).status, 202);
    equal(await send(rig, order), quick.id);
    equal(await send(rig, order), slow.id);
});

claim('an integer and its digits are one correlation', async (rig) => {
    const number = 9e8 + made++ * 2 + (rig.name === 'SQLite' ? 0 : 1);
    const x = await begin(rig, 'order', number);
    equal(await send(rig, `${number}`), x.id);
    const y = await begin(rig, 'order', `${number}`);
    equal(await send(rig, number), y.id);
});

claim('another type, another correlation and another wait are not meant', async (rig) => {
    const order = fresh(rig);
    const x = await begin(rig, 'order', order);
    equal(await send(rig, order, { type: 'pai' }), null);
    equal(await send(rig, order, { type: 'paid"' }), null);
    equal(await send(rig, `${order}x`), null);
    equal((await get(rig, x.id)).status, 'waiting');
    const y = await begin(rig, 'typed', fresh(rig));
    equal(await send(rig, y.input.order, { type: 'cancelled' }), y.id);
});

claim('one that the oldest wait does not match goes to the next that does', async (rig) => {
    const order = fresh(rig);
    const picky = await begin(rig, 'picky', order);
    const order1 = await begin(rig, 'order', order);
    equal(await send(rig, order, { payload: { sum: 1 } }), order1.id);
    equal(await send(rig, order, { payload: { sum: 1 } }), null);
    equal(await send(rig, order, { payload: { sum: 10 } }), picky.id);
    // The one that did not match is still there for whoever waits next.
    const next = await begin(rig, 'order', order);
    equal([next.status, next.result], ['completed', { sum: 1 }]);
});

claim('a payload that does not fit the form of the wait is refused', async (rig) => {
    const order = fresh(rig);
    const x = await begin(rig, 'formed', order);
    const problem = refused(
        await rig.api('POST', '/signals', { type: 'paid', correlation: order, payload: { sum: 'x' } }), 422, 'invalid');
    equal(problem.errors[0].pointer, '/payload/sum');
    equal(await send(rig, order, { payload: { sum: 3 } }), x.id);
    equal((await get(rig, x.id)).context.steps.pay.payload, { sum: 3, note: 'none' });
});

claim('a wait with a correlation takes signals by id and key as well', async (rig) => {
    const order = fresh(rig);
    const x = await rig.begin('two', { key: order, input: { order } });
    equal((await rig.api('POST', `/executions/${x.id}/signal`, { type: 'paid' })).status, 202);
    equal((await rig.api('POST', '/signals', { type: 'paid', key: order })).body.executionId, x.id);
    equal((await get(rig, x.id)).status, 'completed');
});

claim('every way out of a wait closes it', async (rig) => {
    const order = fresh(rig);
    const cancelled = await begin(rig, 'order', order);
    equal((await rig.api('POST', `/executions/${cancelled.id}/cancel`)).status, 202);
    equal(await send(rig, order, { id: `out-${order}` }), null);
    const other = fresh(rig);
    const late = await begin(rig, 'late', other);
    await until('the wait is over', async () => (await get(rig, late.id)).currentStep === 'pause');
    equal(await send(rig, other), null);
});

// --- it comes first ---

claim('a signal that comes first is kept for its wait', async (rig) => {
    const order = fresh(rig);
    equal(await send(rig, order, { payload: { sum: 1 } }), null);
    equal(await send(rig, order, { payload: { sum: 2 } }), null);
    const kept = await metric(rig, 'kept_signals');
    const first = await begin(rig, 'order', order);
    equal([first.status, first.result], ['completed', { sum: 1 }]);
    equal((await begin(rig, 'order', order)).result, { sum: 2 });
    equal((await begin(rig, 'order', order)).status, 'waiting');
    equal(await steps(rig, first.id), ['pay completed', 'done completed']);
    equal(kept - (await metric(rig, 'kept_signals')), 2);
});

claim('several waits of one execution take what is kept, oldest first', async (rig) => {
    const order = fresh(rig);
    for (const sum of [1, 2, 3]) await send(rig, order, { payload: { sum } });
    const x = await begin(rig, 'two', order);
    equal(x.status, 'completed');
    equal([x.context.steps.first.payload.sum, x.context.steps.second.payload.sum], [1, 2]);
    equal((await begin(rig, 'order', order)).result, { sum: 3 });
});

claim('what is kept and does not fit is no match', async (rig) => {
    const order = fresh(rig);
    await send(rig, order, { payload: { sum: 'x' } });
    await send(rig, order, { type: 'other' });
    const x = await begin(rig, 'formed', order);
    equal([x.status, x.waitingFor.unmatched], ['waiting', 1]);
    equal((await begin(rig, 'order', order)).result, { sum: 'x' });
    equal(await send(rig, order, { payload: { sum: 4 } }), x.id);
});

claim('a wait for new signals leaves what is kept', async (rig) => {
    const order = fresh(rig);
    await send(rig, order);
    const x = await begin(rig, 'new_only', order);
    equal(x.status, 'waiting');
    equal(await send(rig, order, { payload: { sum: 6 } }), x.id);
    equal((await begin(rig, 'order', order)).result, { sum: 5 });
});

claim('a kept signal survives a kill', async (rig) => {
    const order = fresh(rig);
    await send(rig, order);
    await rig.restart();
    equal((await begin(rig, 'order', order)).status, 'completed');
    const other = fresh(rig);
    const x = await begin(rig, 'order', other);
    await rig.restart();
    equal(await send(rig, other), x.id);
});

claim('a signal that nobody waits for in time is gone', async (rig) => {
    const order = fresh(rig);
    equal(await send(rig, order, { id: order, ttl: '1ms' }), null);
    const sent = Date.now();
    await until('its time is up', () => Date.now() > sent + 1);
    equal((await begin(rig, 'order', order)).status, 'waiting');
    // It never was delivered, so it may be sent again.
    equal(await send(rig, order, { id: order }) === null, false);
});

// --- at the same time ---

claim('signals and waits that come together find each other, each once', async (rig) => {
    const count = 40;
    const orders = Array.from({ length: count }, () => fresh(rig));
    const received = [];
    const begun = [];
    const work = [...orders.map((order) => ['start', order]), ...orders.map((order) => ['send', order])];
    work.sort((a, b) => orders.indexOf(a[1]) - orders.indexOf(b[1]));
    await forAll(rig.server, work, async (c, [what, order]) => {
        const answer = what === 'start'
            ? await c.ask('POST', '/api/v1/executions', { code: 'order', input: { order } })
            : await c.ask('POST', '/api/v1/signals', { type: 'paid', correlation: order, payload: { sum: 5 } });
        equal(answer.status, what === 'start' ? 201 : 202, JSON.stringify(answer.body));
        if (what === 'start') begun.push(answer.body.id);
        else if (answer.body.executionId) received.push(answer.body.executionId);
    });
    for (const id of begun) equal((await ended(rig, id)).context.signals.length, 1);
    equal(new Set(received).size, received.length);
});

claim('many that wait for one correlation share what is kept for it', async (rig) => {
    const order = fresh(rig);
    for (let sum = 0; sum < 12; sum++) await send(rig, order, { payload: { sum } });
    const sums = [];
    await forAll(rig.server, Array.from({ length: 12 }, (_, i) => i), async (c) => {
        const answer = await c.ask('POST', '/api/v1/executions', { code: 'order', input: { order } });
        equal([answer.status, answer.body.status], [201, 'completed'], JSON.stringify(answer.body));
        sums.push(answer.body.result.sum);
    });
    equal(sums.sort((a, b) => a - b), Array.from({ length: 12 }, (_, i) => i));
});

// --- sent again ---

claim('an id that is sent again answers the same and is delivered once', async (rig) => {
    const order = fresh(rig);
    const first = await begin(rig, 'order', order);
    const second = await begin(rig, 'order', order);
    equal(await send(rig, order, { id: order }), first.id);
    equal(await send(rig, order, { id: order }), first.id);
    equal((await get(rig, second.id)).status, 'waiting');
    equal((await rig.api('DELETE', `/executions/${first.id}`)).status, 204);
    equal(await send(rig, order, { id: order }), first.id);
    await rig.restart();
    equal(await send(rig, order, { id: order }), first.id);
});

claim('one that is kept and sent again is kept once', async (rig) => {
    const order = fresh(rig);
    equal(await send(rig, order, { id: order }), null);
    equal(await send(rig, order, { id: order }), null);
    const x = await begin(rig, 'two', order);
    equal([x.status, x.currentStep], ['waiting', 'second']);
    equal(await send(rig, order, { id: order }), x.id);
    equal((await get(rig, x.id)).currentStep, 'second');
});

claim('an id with other content is refused', async (rig) => {
    const order = fresh(rig);
    await send(rig, order, { id: order });
    const again = (more) => rig.api('POST', '/signals', { type: 'paid', correlation: order, id: order, payload: { sum: 5 }, ...more });
    refused(await again({ payload: { sum: 6 } }), 409, 'conflict');
    refused(await again({ type: 'other' }), 409, 'conflict');
    refused(await again({ correlation: `${order}x` }), 409, 'conflict');
    equal((await again({})).status, 202);
    await begin(rig, 'order', order);
    refused(await again({ payload: { sum: 6 } }), 409, 'conflict');
});

claim('an Idempotency-Key repeats the answer', async (rig) => {
    const order = fresh(rig);
    const key = { 'Idempotency-Key': order.replaceAll('"', '') };
    const body = { type: 'paid', correlation: order, payload: { sum: 5 } };
    const first = await rig.api('POST', '/signals', body, key);
    equal((await begin(rig, 'order', order)).status, 'completed');
    const again = await rig.api('POST', '/signals', body, key);
    equal([again.status, again.body], [202, first.body]);
    equal((await begin(rig, 'order', order)).status, 'waiting');
    const x = await rig.api('POST', '/signals', { ...body, payload: 1 }, key);
    refused(x, 409, 'idempotency_conflict');
});

// --- who may ---

claim('another organisation has waits and signals of its own', async (rig) => {
    const org = `00000000-0000-7000-8000-0000000000${rig.name === 'SQLite' ? 'a1' : 'a2'}`;
    const made = await rig.api('POST', '/users', { name: 'Eve', role: 'operator', org_id: org });
    equal(made.status, 201, JSON.stringify(made.body));
    const theirs = { authorization: `Bearer ${made.body.token}` };
    const order = fresh(rig);
    const x = await begin(rig, 'order', order);
    equal(await send(rig, order, { id: order }, theirs), null);
    equal((await get(rig, x.id)).status, 'waiting');
    equal(await send(rig, order, { id: order }), x.id);
    equal((await begin(rig, 'order', order)).status, 'waiting');
});

claim('a definition that lets others operate it takes no signal of mine', async (rig) => {
    const made = await rig.api('POST', '/users', { name: 'Max', role: 'operator' });
    const max = { authorization: `Bearer ${made.body.token}` };
    const viewer = await rig.api('POST', '/users', { name: 'Vic', role: 'viewer' });
    const order = fresh(rig);
    const x = await begin(rig, 'others', order);
    equal(await send(rig, order, {}, max), null);
    equal((await get(rig, x.id)).status, 'waiting');
    // Nor what he sent before it began.
    equal((await begin(rig, 'others', order)).status, 'waiting');
    const body = { type: 'paid', correlation: order };
    const vic = { authorization: `Bearer ${viewer.body.token}` };
    refused(await rig.api('POST', '/signals', body, vic), 403, 'forbidden');
    equal(await send(rig, order), x.id);
});

// --- what is wrong ---

claim('bad words are pointed at', async (rig) => {
    const pointer = async (body) => refused(await rig.api('POST', '/signals', { type: 'paid', ...body }), 422, 'invalid').errors[0].pointer;
    for (const correlation of ['', null, true, 1.5, { order: 1 }, ['a'], 'x'.repeat(501)])
        equal(await pointer({ correlation }), '/correlation');
    for (const ttl of ['', 'soon', '0s', '-1h', '31d', 60]) equal(await pointer({ correlation: 'a', ttl }), '/ttl');
    equal(await pointer({ correlation: 'a', key: 'b' }), '/key');
    equal(await pointer({ correlation: 'a', code: 'order' }), '/code');
    equal(await pointer({ key: 'a', ttl: '1h' }), '/ttl');
    equal(await pointer({ correlation: 'a', corelation: 'b' }), '/corelation');
});

claim('only so many are kept for one correlation', async (rig) => {
    const order = fresh(rig);
    const payload = 'x'.repeat(900 * 1024);
    for (let i = 0; i < 4; i++) equal(await send(rig, order, { payload }), null);
    const problem = refused(
        await rig.api('POST', '/signals', { type: 'paid', correlation: order, payload }), 409, 'conflict');
    check(problem.detail.includes('too many signals'), problem.detail);
});

await run(async (rig) => {
    for (const definition of definitions) await rig.publish(definition);
});
