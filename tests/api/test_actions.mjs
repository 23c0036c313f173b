// Actions: what is started from the card of a record, and who may, on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';

const wait = [{ code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }];
const definitions = [
    {
        code: 'discount', name: 'Discount',
        input: [
            { name: 'deal', type: 'string', required: true }, { name: 'amount', type: 'number', required: true },
            { name: 'percent', type: 'integer', required: true, label: 'Percent' },
        ],
        triggers: [{
            type: 'action', object: 'deal', label: 'Ask for a discount', when: 'record.status == "open"',
            input: { deal: '$.record.id', amount: '$.record.amount' },
        }],
        steps: wait,
    },
    { code: 'closing', triggers: [{ type: 'action', object: 'deal' }], steps: wait },
    { code: 'bosses', access: { start: ['group:boss'], view: ['group:boss'], operate: ['group:boss'] }, triggers: [{ type: 'action', object: 'deal' }], steps: wait },
    { code: 'orders', triggers: [{ type: 'action', object: 'order' }], steps: wait },
];

const path = '/records/deal/7%20a/actions';
const codes = (answer) => answer.body.items.map((i) => i.code);

async function person(rig, name, role, groups = []) {
    const answer = await rig.api('POST', '/users', { name: `${name} ${rig.name}`, role, groups });
    equal(answer.status, 201, JSON.stringify(answer.body));
    return { authorization: `Bearer ${answer.body.token}` };
}

claim('a card offers what its record and the caller may', async (rig) => {
    const oda = await person(rig, 'oda', 'operator');
    const all = await rig.api('GET', path, undefined, oda);
    equal(all.status, 200, JSON.stringify(all.body));
    equal(codes(all), ['closing', 'discount']);
    const { label, name, input, given } = all.body.items[1];
    equal([label, name, input.length, given], ['Ask for a discount', 'Discount', 3, { deal: '7 a', amount: 120 }]);
    equal([all.body.items[0].label, all.body.items[0].input], ['closing', []]);
    equal(codes(await rig.api('GET', path, undefined, await person(rig, 'bea', 'operator', ['boss']))), ['bosses', 'closing', 'discount']);
    equal(codes(await rig.api('GET', path, undefined, await person(rig, 'vic', 'viewer'))), ['closing', 'discount']);
    equal((await rig.api('GET', path, undefined, await person(rig, 'mem', 'member'))).status, 403);
    refused(await rig.api('GET', '/records/deal/none/actions'), 404, 'not_found');
});

claim('pressing a button starts the process with the record and what the person gives', async (rig) => {
    const oda = await person(rig, 'oda2', 'operator');
    const answer = await rig.api('POST', `${path}/discount`, { input: { percent: 5 } }, oda);
    equal(answer.status, 201, JSON.stringify(answer.body));
    equal([answer.body.input, answer.body.record], [{ deal: '7 a', amount: 120, percent: 5 }, 'deal/7 a']);
    check(answer.body.user.name.startsWith('oda2'), 'who pressed it has started it');
    check(answer.headers.location.endsWith(answer.body.id), answer.headers.location);
    const listed = await rig.all('/executions?record=deal%2F7%20a', 50);
    check(listed.some((x) => x.id === answer.body.id), 'the card lists what was started from it');
    equal((await rig.all('/executions?record=deal%2F8', 50)).length, 0);
    const twice = await rig.api('POST', `${path}/discount`, { input: { percent: 5 } }, { ...oda, 'idempotency-key': `k${rig.name}` });
    const again = await rig.api('POST', `${path}/discount`, { input: { percent: 5 } }, { ...oda, 'idempotency-key': `k${rig.name}` });
    equal([twice.status, again.status, again.body.id], [201, 200, twice.body.id]);
});

claim('what is missing, not offered or not allowed is refused', async (rig) => {
    const oda = await person(rig, 'oda3', 'operator');
    equal(refused(await rig.api('POST', `${path}/discount`, {}, oda), 422, 'invalid').errors[0].pointer, '/input/percent');
    refused(await rig.api('POST', `${path}/discount`, { inputs: {} }, oda), 422, 'invalid');
    refused(await rig.api('POST', `${path}/orders`, {}, oda), 404, 'not_found');
    refused(await rig.api('POST', `${path}/nothing`, {}, oda), 404, 'not_found');
    refused(await rig.api('POST', '/records/deal/none/actions/closing', {}, oda), 404, 'not_found');
    refused(await rig.api('POST', `${path}/bosses`, {}, oda), 403, 'forbidden');
    refused(await rig.api('POST', `${path}/closing`, {}, await person(rig, 'vic3', 'viewer')), 403, 'forbidden');
    equal((await rig.api('PATCH', '/records/deal/7%20a', { status: 'closed' })).status, 200);
    equal(codes(await rig.api('GET', path, undefined, oda)), ['closing']);
    refused(await rig.api('POST', `${path}/discount`, { input: { percent: 5 } }, oda), 409, 'conflict');
    equal((await rig.api('PATCH', '/records/deal/7%20a', { status: 'open' })).status, 200);
    equal((await rig.api('POST', '/scenarios/closing/retire')).status, 200);
    equal(codes(await rig.api('GET', path, undefined, oda)), ['discount']);
    refused(await rig.api('POST', `${path}/closing`, {}, oda), 409, 'retired');
    equal((await rig.api('POST', '/scenarios/closing/unretire')).status, 200);
});

// --- access on everything ---

claim('access of a process holds on every call', async (rig) => {
    const bea = await person(rig, 'bea4', 'operator', ['boss']);
    const oda = await person(rig, 'oda4', 'operator');
    const started = await rig.api('POST', `${path}/bosses`, {}, bea);
    equal(started.status, 201, JSON.stringify(started.body));
    const id = started.body.id;
    refused(await rig.api('POST', '/executions', { code: 'bosses' }, oda), 403, 'forbidden');
    for (const [method, rest, body] of [
        ['GET', ''], ['GET', '/steps'], ['GET', '/context'], ['GET', '/logs'], ['GET', '/events'],
        ['POST', '/signal', { type: 'go' }], ['POST', '/cancel', {}], ['POST', '/retry', {}], ['POST', '/skip', {}],
        ['POST', '/pause', {}], ['POST', '/resume', {}], ['POST', '/migrate', { version: 1 }], ['POST', '/again', {}],
        ['POST', '/assign', { assignee: 'group:boss' }], ['DELETE', ''],
    ])
        refused(await rig.api(method, `/executions/${id}${rest}`, body, oda), 404, 'not_found');
    const listed = (await rig.api('GET', '/executions?limit=200', undefined, oda)).body.items;
    check(!listed.some((x) => x.code === 'bosses'), 'a list leaves it out');
    const mine = (await rig.api('GET', '/executions?limit=200', undefined, bea)).body.items;
    check(mine.some((x) => x.id === id), 'who may sees it');
    const bulk = await rig.api('POST', '/executions/bulk', { action: 'cancel', filter: { code: 'bosses' } }, oda);
    equal(bulk.status, 200, JSON.stringify(bulk.body));
    equal((await rig.api('GET', `/executions/${id}`, undefined, bea)).body.status, 'waiting');
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'go' }, bea)).status, 202);
});

await run(async (rig) => {
    for (const definition of definitions) await rig.publish(definition);
    equal((await rig.api('PUT', '/records/deal/7%20a', { status: 'open', amount: 120 })).status, 201);
});
