// Which executions have made, changed, undone or deleted a record, on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';

const put = (object, data) => ({ type: 'record.create', object, id: '$.input.id', data, ifExists: 'merge' });
const definitions = [
    { code: 'make', input: [{ name: 'id', type: 'string' }], steps: [{ code: 'keep', procedure: { type: 'record.create', object: 'order', id: '$.input.id', data: { n: 1 } } }] },
    { code: 'look', input: [{ name: 'id', type: 'string' }], steps: [{ code: 'see', procedure: { type: 'record.get', object: 'order', id: '$.input.id' } }] },
    {
        code: 'undo', input: [{ name: 'id', type: 'string' }],
        steps: [
            { code: 'reserve', procedure: { type: 'record.update', object: 'order', id: '$.input.id', data: { held: true } }, rollback: { type: 'record.update', object: 'order', id: '$.input.id', data: { held: null } } },
            { code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } },
            { code: 'fail', procedure: { type: 'compute.fail', code: 'no_stock', message: 'none left' } },
        ],
    },
    { code: 'drop', input: [{ name: 'id', type: 'string' }], steps: [{ code: 'remove', procedure: { type: 'record.delete', object: 'order', id: '$.input.id' } }] },
    { code: 'both', input: [{ name: 'id', type: 'string' }], steps: [{ code: 'left', procedure: put('order', { a: 1 }) }, { code: 'right', procedure: put('order', { b: 2 }) }, { code: 'other', procedure: put('stock', { c: 3 }) }] },
    { code: 'secret', access: { start: ['group:boss'], view: ['group:boss'], operate: ['group:boss'] }, input: [{ name: 'id', type: 'string' }], steps: [{ code: 'keep', procedure: put('order', { s: 1 }) }] },
];

async function ended(rig, code, id, headers) {
    const answer = await rig.api('POST', '/executions?wait=20s', { code, input: { id }, key: `${code}-${id}` }, headers);
    equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
}
const of = (rig, id, object = 'order', headers) => rig.api('GET', `/records/${object}/${id}/executions`, undefined, headers);
const short = (answer) => answer.body.items.map((i) => [i.code, i.action, i.step, i.stepKind, i.recordVersion]);

claim('each version of a record names the execution and the step that made it, newest first', async (rig) => {
    const made = await ended(rig, 'make', 'A-1');
    await ended(rig, 'look', 'A-1');
    const held = await rig.begin('undo', { input: { id: 'A-1' } });
    equal((await rig.api('POST', `/executions/${held.id}/signal?wait=20s`, { type: 'go' })).status < 300, true);
    await ended(rig, 'drop', 'A-1');
    const answer = await of(rig, 'A-1');
    equal(answer.status, 200, JSON.stringify(answer.body));
    equal(short(answer), [
        ['drop', 'deleted', 'remove', 'forward', 4], ['undo', 'updated', 'reserve', 'rollback', 3],
        ['undo', 'updated', 'reserve', 'forward', 2], ['make', 'created', 'keep', 'forward', 1],
    ]);
    const [, undone, , first] = answer.body.items;
    equal([undone.executionId, undone.status, undone.kind, undone.visit, undone.attempt], [held.id, 'failed', 'scenario', 1, 1]);
    equal([first.executionId, first.key, first.version, first.waiting], [made.id, 'make-A-1', 1, null]);
    check(!Number.isNaN(Date.parse(first.at)), first.at);
    equal(answer.body.nextCursor, null);
});

claim('steps of one commit are one change, by the last of them; other records have their own', async (rig) => {
    await ended(rig, 'both', 'B-1');
    equal(short(await of(rig, 'B-1')), [['both', 'created', 'right', 'forward', 2]]);
    equal(short(await of(rig, 'B-1', 'stock')), [['both', 'created', 'other', 'forward', 1]]);
    equal(short(await of(rig, 'nothing')), []);
    refused(await of(rig, 'x', 'no%20object'), 422, 'invalid');
    refused(await rig.api('GET', '/records/order/B-1/executions?limit=0'), 400, 'bad_request');
    refused(await rig.api('GET', '/records/order/B-1/executions?cursor=zz'), 400, 'bad_request');
});

claim('what people change is not theirs, and pages go on where they ended', async (rig) => {
    await ended(rig, 'make', 'C-1');
    equal((await rig.api('PATCH', '/records/order/C-1', { by: 'hand' })).status, 200);
    for (const code of ['undo', 'undo', 'undo']) await rig.begin(code, { input: { id: 'C-1' } });
    const all = await rig.all('/records/order/C-1/executions', 2);
    equal(all.map((i) => [i.code, i.recordVersion, i.waiting]), [['undo', 5, 'signal'], ['undo', 4, 'signal'], ['undo', 3, 'signal'], ['make', 1, null]]);
});

claim('who may not see an execution does not see what it changed', async (rig) => {
    const person = async (name, role, extra) => ({ authorization: `Bearer ${(await rig.api('POST', '/users', { name: `${name} ${rig.name}`, role, ...extra })).body.token}` });
    const boss = await person('boss', 'operator', { groups: ['boss'] });
    await ended(rig, 'make', 'D-1');
    await ended(rig, 'secret', 'D-1', boss);
    equal(short(await of(rig, 'D-1', 'order', boss)).map((c) => c[0]), ['secret', 'make']);
    equal(short(await of(rig, 'D-1', 'order', await person('vic', 'viewer'))).map((c) => c[0]), ['make']);
    equal((await of(rig, 'D-1', 'order', await person('mem', 'member'))).status, 403);
    equal(short(await of(rig, 'D-1', 'order', await person('far', 'operator', { org_id: '0190d1e8-0000-7000-8000-00000000abcd' }))), []);
});

claim('it is durable with the change itself, and goes with the execution', async (rig) => {
    const made = await ended(rig, 'make', 'E-1');
    const held = await rig.begin('undo', { input: { id: 'E-1' } });
    await rig.restart();
    equal(short(await of(rig, 'E-1')).map((c) => c[0]), ['undo', 'make']);
    equal((await rig.api('DELETE', `/executions/${made.id}`)).status, 204);
    equal((await of(rig, 'E-1')).body.items.map((i) => i.executionId), [held.id]);
});

await run(async (rig) => { for (const definition of definitions) await rig.publish(definition); });
