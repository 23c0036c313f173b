// POST /eval: one expression, several at once, and the context of an execution that stays on the server; on both stores.
import { check, equal } from '../lib/claims.mjs';
import { Client, refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';

const NOBODY = '00000000-0000-7000-8000-000000000000';
const evaluate = (rig, body) => rig.api('POST', '/eval', body);

async function values(rig, body) {
    const answer = await evaluate(rig, body);
    equal(answer.status, 200, answer.raw);
    return answer.body.items;
}

const priced = {
    code: 'priced',
    input: [{ name: 'amount', type: 'integer' }, { name: 'card', type: 'string', sensitive: true }],
    steps: [
        { code: 'first', procedure: { type: 'compute.set', values: { total: '=$.input.amount * 2' } } },
        { code: 'second', procedure: { type: 'compute.set', values: { total: '=$.input.amount * 3' } } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
    ],
};

claim('several are evaluated at once: each has its value and type, or its error with the column', async (rig) => {
    const items = [{ expression: '$.a + 1' }, { expression: '1 +' }, { expression: '$.b' }, { expression: '1 / 0' }, { value: 'sum {{ $.a + 1 }}' }, { value: '=$.a' }, { value: { x: ['$.a', 7, null] } }, { value: 5 }];
    const got = await values(rig, { items, context: { a: 2 } });
    equal(got[0], { value: 3, type: 'int' });
    equal([got[1].error.code, typeof got[1].error.column], ['expression_syntax', 'number']);
    equal(got[2].error?.code, 'expression_error');
    equal(got[3].error.code, 'expression_error');
    equal(got.slice(4).map((i) => i.value), ['sum 3', 2, { x: [2, 7, null] }, 5]);
    equal(got[4].type, 'string');
    equal(await values(rig, { items: [] }), []);
});

claim('a member of the context whose name has a dot is no field of another: `$` finds it', async (rig) => {
    const context = { 'a.b': 1, a: { b: 2 } };
    equal((await values(rig, { items: [{ expression: 'a.b' }, { expression: "$['a.b']" }], context })).map((i) => i.value), [2, 1]);
});

claim('one alone is refused with its error and the column', async (rig) => {
    equal((await evaluate(rig, { expression: '$.a', context: { a: 1 } })).body, { value: 1, type: 'int' });
    for (const [expression, code] of [['1 +', 'expression_syntax'], ['1 + "a"', 'expression_type'], ['1 / 0', 'expression_error'], ['[1].map(i, i)[7]', 'expression_error']]) {
        const { errors, detail } = refused(await evaluate(rig, { expression }), 422, code);
        check(errors[0].column > 0 && errors[0].message.length > 5 && detail.length > 5, JSON.stringify(errors));
    }
});

claim('the context of an execution is read on the server, now and right after a step, without what is sensitive', async (rig) => {
    await rig.publish(priced);
    const { id } = await rig.begin('priced', { input: { amount: 5, card: '4242-4242' } });
    const steps = await rig.all(`/executions/${id}/steps`);
    const items = [{ expression: '$.vars.total' }, { value: '{{ $.input.card }}' }, { expression: '$.steps.second.status' }];
    const context = (await rig.api('GET', `/executions/${id}/context`)).body;
    const now = await values(rig, { items: [{ expression: '$' }], executionId: id });
    equal(now[0].value, context);
    const total = Object.keys(context).find((name) => context[name]?.total === 15);
    check(total !== undefined, JSON.stringify(context));
    items[0].expression = `$.${total}.total`;
    const later = await values(rig, { items, executionId: id });
    equal(later[0].value, 15);
    check(later[1].value !== '4242-4242' && !JSON.stringify(later).includes('4242'), JSON.stringify(later));
    const first = await values(rig, { items, executionId: id, at: steps.find((s) => s.step === 'first').id });
    equal(first[0].value, 10);
    equal(first[2].error !== undefined || first[2].value === null, true, 'the second step has not been');
});

claim('an execution that is not there, or of others, is not found, and so is a step that it has not', async (rig) => {
    await rig.publish(priced);
    const { id } = await rig.begin('priced', { input: { amount: 5, card: 'x' } });
    const items = [{ expression: '1' }];
    for (const body of [{ executionId: NOBODY }, { executionId: 'x' }, { executionId: id, at: NOBODY }, { executionId: id, at: 'x' }])
        refused(await evaluate(rig, { items, ...body }), 404, 'not_found');
    const made = await rig.api('POST', '/users', { name: 'O', role: 'admin', org_id: '00000000-0000-7000-8000-0000000000ac' });
    const other = new Client(rig.server.url, made.body.token);
    refused(await other.ask('POST', '/api/v1/eval', { items, executionId: id }), 404, 'not_found');
    other.close();
});

claim('what makes no sense is refused, and says where', async (rig) => {
    const item = { expression: '1' };
    for (const [body, pointer] of [
        [{}, '/expression'], [{ expression: '1', items: [item] }, '/expression'], [{ items: item }, '/items'], [{ items: [1] }, '/items'], [{ items: [{}] }, '/items'],
        [{ items: [{ expression: '1', value: 1 }] }, '/items'], [{ items: [{ expression: 1 }] }, '/items'], [{ items: Array(201).fill(item) }, '/items'],
        [{ items: [item], context: {}, executionId: NOBODY }, '/context'], [{ expression: '1', executionId: NOBODY }, '/executionId'], [{ items: [item], at: NOBODY }, '/at'],
        [{ items: [item], context: [] }, '/context'], [{ items: [item], executionid: NOBODY }, '/executionid'],
    ]) equal(refused(await evaluate(rig, body), 422, 'invalid').errors[0].pointer, pointer, JSON.stringify(body));
});

claim('all of them together have one budget', async (rig) => {
    const heavy = { expression: '[1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, [1,2,3,4,5,6,7,8,9,10].map(c, [1,2,3,4,5,6,7,8,9,10].map(d, a*b*c*d)))).size()' };
    const got = await values(rig, { items: Array(200).fill(heavy) });
    equal([got[0].value, got.at(-1).error?.code.startsWith('limit_')], [10, true]);
});

await run(async () => {});
