// Executions that others have started and wait for: cancelled with them, and steps that hold writes
// meanwhile; on both stores and across kills.
import { equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const kid = { code: 'kid', steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } }] };
const napper = { code: 'napper', steps: [{ code: 'nap', procedure: { type: 'wait.timer', duration: '1s' } }] };
const start = (code, child) => ({ code, procedure: { type: 'flow.start', code: child, wait: true } });
const parent = { code: 'parent', steps: [start('s', 'kid')] };
const careless = { code: 'careless', steps: [{ code: 's', procedure: { type: 'flow.start', code: 'kid' } }] };
const careful = { code: 'careful', steps: [careless.steps[0], { code: 'w', procedure: { type: 'wait.signal', signalType: 'end' } }] };
const racing = { code: 'racing', steps: [
    { code: 'p', parallel: { join: 'any', branches: [[start('s', 'kid')], [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'win' } }]] } },
] };
// What is undone, in which order, is told by numbers that a record gives out.
const mark = (name) => [
    { type: 'record.get', object: 'order', id: '=input.run', as: 'o' },
    { type: 'record.update', object: 'order', id: '=input.run', data: { n: '=o.n + 1', [name]: '=o.n + 1' } },
];
const done = { type: 'compute.transform', data: 1 };
const run1 = { run: '=input.run' };
const hotel = { code: 'hotel', input: [{ name: 'run', type: 'string' }], steps: [
    { code: 'room', procedure: done, rollback: { procedure: 'late_mark', input: run1 } },
    { code: 'view', procedure: done, rollback: { type: 'compute.fail', code: 'no', message: 'cannot be undone' } },
    { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
], procedures: { late_mark: { commands: [{ type: 'compute.fail', code: 'busy', message: 'm', class: 'transient', when: 'execution.attempt < 3' }, ...mark('child')] } } };
hotel.steps[0].rollback.retry = { maxAttempts: 5, delay: '1s', jitter: 'none' };
const book = { code: 'book', procedure: { type: 'flow.start', code: 'hotel', input: run1, wait: true } };
const truck = { code: 'truck', procedure: { type: 'record.create', object: 'order', id: '=input.run', data: { n: 0 } }, rollback: mark('parent') };
const trip = { code: 'trip', steps: [truck, book] };
const tripBeside = { code: 'trip_beside', steps: [truck, { code: 'p', parallel: { branches: [[book], [
    { code: 'w', procedure: { type: 'wait.signal', signalType: 'fail' } }, { code: 'f', procedure: { type: 'compute.fail', code: 'no', message: 'm' } },
]] } }] };
const tripLate = { code: 'trip_late', settings: { timeout: '3s' }, steps: [truck, book] };
const update = (data) => ({ type: 'record.update', object: 'thing', id: 'x', data });
const writing = { code: 'writing', steps: [
    { code: 'make', procedure: { type: 'record.create', object: 'thing', id: 'x', data: { n: 1 }, ifExists: 'replace' } },
    { code: 'p', parallel: { branches: [
        [start('s1', 'napper'), { code: 'u1', procedure: update({ a: 1 }) }],
        [{ code: 'u2', procedure: [update({ b: 1 }), { type: 'flow.start', code: 'napper', wait: true }] }],
    ] } },
] };

const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const ended = (rig, id, status) => until(`it is ${status}`, async () => (await get(rig, id)).status === status);
const kidOf = (rig, id) => until('its child waits', async () => {
    const { waitingFor } = await get(rig, id);
    const branch = [waitingFor, ...(waitingFor?.branches ?? [])].find((w) => w?.kind === 'child');
    return branch && (await get(rig, branch.executionId)).status === 'waiting' && branch.executionId;
});

claim('cancelling a parent cancels the child that it waits for', async (rig) => {
    const { id } = await rig.begin('parent');
    const child = await kidOf(rig, id);
    equal((await rig.api('POST', `/executions/${id}/cancel`, { reason: 'not wanted' })).status, 202);
    await ended(rig, id, 'cancelled');
    await ended(rig, child, 'cancelled');
});

claim('a child is cancelled also when the server was killed right after its parent was', async (rig) => {
    const { id } = await rig.begin('parent');
    const child = await kidOf(rig, id);
    equal((await rig.api('POST', `/executions/${id}/cancel`, {})).status, 202);
    await rig.restart();
    await ended(rig, id, 'cancelled');
    await ended(rig, child, 'cancelled');
});

claim('a paused child is cancelled with its parent', async (rig) => {
    const { id } = await rig.begin('parent');
    const child = await kidOf(rig, id);
    equal((await rig.api('POST', `/executions/${child}/pause`, {})).status, 202);
    equal((await rig.api('POST', `/executions/${id}/cancel`, {})).status, 202);
    await ended(rig, child, 'cancelled');
});

claim('a branch that loses cancels the child that it waits for', async (rig) => {
    const { id } = await rig.begin('racing');
    const child = await kidOf(rig, id);
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'win' })).status, 202);
    await ended(rig, id, 'completed');
    await ended(rig, child, 'cancelled');
});

// The child has been undone before anything that came before it is, and what it could not undo is known.
async function undoneInOrder(rig, id, child, status) {
    const parent = await until('it is rolled back', async () => {
        const is = await get(rig, id);
        equal(is.status !== 'compensating' || is.waitingFor?.kind === 'child' || (await get(rig, child)).status === 'cancelled', true, JSON.stringify(is.waitingFor));
        return is.status === status && is;
    });
    equal((await get(rig, child)).status, 'cancelled');
    equal(parent.error.compensation, { compensated: ['truck'], failed: ['book/view'] });
    const { body } = await rig.api('GET', `/records/order/${parent.input.run}`);
    equal([body.child, body.parent], [1, 2], JSON.stringify(body));
}

claim('a parent that is cancelled undoes nothing before its child has been undone', async (rig) => {
    const { id } = await rig.begin('trip', { input: { run: 'cancelled' } });
    const child = await kidOf(rig, id);
    equal((await rig.api('POST', `/executions/${id}/cancel`, {})).status, 202);
    await undoneInOrder(rig, id, child, 'cancelled');
});

claim('so does one that is killed while it waits for that', async (rig) => {
    const { id } = await rig.begin('trip', { input: { run: 'killed' } });
    const child = await kidOf(rig, id);
    equal((await rig.api('POST', `/executions/${id}/cancel`, {})).status, 202);
    await rig.restart();
    await undoneInOrder(rig, id, child, 'cancelled');
});

claim('so does one of which another branch fails', async (rig) => {
    const { id } = await rig.begin('trip_beside', { input: { run: 'beside' } });
    const child = await kidOf(rig, id);
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'fail' })).status, 202);
    await undoneInOrder(rig, id, child, 'failed');
});

claim('so does one that runs out of time', async (rig) => {
    const { id } = await rig.begin('trip_late', { input: { run: 'late' } });
    await undoneInOrder(rig, id, await kidOf(rig, id), 'failed');
});

claim('a parent is not deleted while its child runs, nor while that is undone', async (rig) => {
    const { id } = await rig.begin('trip', { input: { run: 'deleted' } });
    const child = await kidOf(rig, id);
    const forget = (of) => rig.api('DELETE', `/executions/${of}?letters=close&note=looked+at`);
    const refused = async (of) => {
        const { status, body } = await forget(of);
        equal([status, body.code], [409, 'conflict'], JSON.stringify(body));
    };
    await refused(id);
    await refused(child);
    equal((await get(rig, child)).status, 'waiting');
    equal((await rig.api('POST', `/executions/${id}/cancel`, {})).status, 202);
    await until('the child is being undone', async () => (await get(rig, child)).status === 'compensating');
    equal((await get(rig, id)).status, 'compensating');
    await refused(id);
    await refused(child);
    await undoneInOrder(rig, id, child, 'cancelled');
    equal((await forget(id)).status, 204);
    const left = await get(rig, child);
    equal([left.status, left.parentId], ['cancelled', id], JSON.stringify(left));
    equal((await forget(child)).status, 204);
    equal((await rig.api('GET', `/executions/${child}`)).status, 404);
});

claim('a child is not deleted, by hand or in bulk, while its parent lives', async (rig) => {
    const { id } = await rig.begin('careful');
    const child = await until('the child', async () => (await rig.all(`/executions?parent=${id}`))[0]?.id);
    equal((await rig.api('POST', `/executions/${child}/signal`, { type: 'go' })).status, 202);
    await ended(rig, child, 'completed');
    const { status, body } = await rig.api('DELETE', `/executions/${child}`);
    equal([status, body.code], [409, 'parent_live'], JSON.stringify(body));
    const bulk = await rig.api('POST', '/executions/bulk', { action: 'delete', ids: [child] });
    equal(bulk.body.errors.map((e) => [e.executionId, e.code]), [[child, 'parent_live']], bulk.raw);
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'end' })).status, 202);
    await ended(rig, id, 'completed');
    equal((await rig.api('DELETE', `/executions/${child}`)).status, 204);
});

claim('a parent that has ended is deleted without the child that it did not wait for', async (rig) => {
    const { id } = await rig.begin('careless');
    await ended(rig, id, 'completed');
    const { executionId: child } = (await get(rig, id)).result;
    equal((await rig.api('DELETE', `/executions/${id}`)).status, 204);
    equal((await rig.api('GET', `/executions/${id}`)).status, 404);
    equal((await rig.api('POST', `/executions/${child}/signal`, { type: 'go' })).status, 202);
    await ended(rig, child, 'completed');
});

claim('writes of one record by a branch that waited and by one that did not are both there', async (rig) => {
    const { id } = await rig.begin('writing');
    await ended(rig, id, 'completed');
    const { body } = await rig.api('GET', '/records/thing/x');
    equal([body.n, body.a, body.b], [1, 1, 1], JSON.stringify(body));
});

claim('a process that starts itself comes to an end', async (rig) => {
    await rig.publish({ code: 'matryoshka', steps: [start('s', 'matryoshka')] });
    await rig.begin('matryoshka');
    const all = async (query) => (await rig.api('GET', `/executions?code=matryoshka${query}`)).body.items;
    const held = await until('the innermost is held', async () => (await all('')).find((x) => x.waitingFor?.kind === 'incident'));
    equal(held.waitingFor.error.code, 'limit_depth');
    equal((await all('&limit=100')).length, 21, 'the first, and twenty by others');
});

await run(async (rig) => {
    for (const definition of [kid, napper, parent, careless, careful, racing, writing, hotel, trip, tripBeside, tripLate]) await rig.publish(definition);
});
