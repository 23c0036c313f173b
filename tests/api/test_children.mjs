// Executions that others have started and wait for: cancelled with them, and steps that hold writes
// meanwhile; on both stores and across kills.
import { equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const kid = { code: 'kid', steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } }] };
const napper = { code: 'napper', steps: [{ code: 'nap', procedure: { type: 'wait.timer', duration: '1s' } }] };
const start = (code, child) => ({ code, procedure: { type: 'flow.start', code: child, wait: true } });
const parent = { code: 'parent', steps: [start('s', 'kid')] };
const racing = { code: 'racing', steps: [
    { code: 'p', parallel: { join: 'any', branches: [[start('s', 'kid')], [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'win' } }]] } },
] };
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

claim('writes of one record by a branch that waited and by one that did not are both there', async (rig) => {
    const { id } = await rig.begin('writing');
    await ended(rig, id, 'completed');
    const { body } = await rig.api('GET', '/records/thing/x');
    equal([body.n, body.a, body.b], [1, 1, 1], JSON.stringify(body));
});

await run(async (rig) => {
    for (const definition of [kid, napper, parent, racing, writing]) await rig.publish(definition);
});
