// The record store by hand: reading, writing under a version, lists; on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';

const put = (rig, id, data, headers) => rig.api('PUT', `/records/invoice/${id}`, data, headers);

claim('a record is made, read, replaced, patched and deleted', async (rig) => {
    const made = await put(rig, 'I-1', { amount: 10, who: { name: 'Ann', age: 7 } });
    equal([made.status, made.body], [201, { id: 'I-1', version: 1, amount: 10, who: { name: 'Ann', age: 7 } }]);
    equal([made.headers.etag, made.headers.location], ['"1"', '/api/v1/records/invoice/I-1']);
    const read = await rig.api('GET', '/records/invoice/I-1');
    equal([read.status, read.body, read.headers.etag], [200, made.body, '"1"']);
    const patched = await rig.api('PATCH', '/records/invoice/I-1', { who: { age: null, city: 'Ulm' }, paid: true });
    equal([patched.status, patched.body], [200, { id: 'I-1', version: 2, amount: 10, who: { name: 'Ann', city: 'Ulm' }, paid: true }]);
    const replaced = await put(rig, 'I-1', { amount: 11 });
    equal([replaced.status, replaced.body, replaced.headers.etag], [200, { id: 'I-1', version: 3, amount: 11 }, '"3"']);
    equal((await rig.api('DELETE', '/records/invoice/I-1')).status, 204);
    for (const method of ['GET', 'DELETE', 'PATCH'])
        refused(await rig.api(method, '/records/invoice/I-1', method === 'PATCH' ? {} : undefined), 404, 'not_found');
});

claim('a change names the version that it rests on', async (rig) => {
    await put(rig, 'V-1', { n: 1 });
    refused(await put(rig, 'V-1', { n: 2 }, { 'If-Match': '"2"' }), 412, 'precondition_failed');
    refused(await put(rig, 'V-1', { n: 2 }, { 'If-None-Match': '*' }), 412, 'precondition_failed');
    refused(await put(rig, 'V-2', { n: 2 }, { 'If-Match': '*' }), 412, 'precondition_failed');
    refused(await put(rig, 'V-1', { n: 2 }, { 'If-Match': 'nonsense' }), 412, 'precondition_failed');
    refused(await put(rig, 'V-1', { n: 2 }, { 'If-None-Match': '"1"' }), 400, 'bad_request');
    refused(await put(rig, 'V-1', { n: 2, version: 5 }), 412, 'precondition_failed');
    equal((await put(rig, 'V-1', { n: 2 }, { 'If-Match': '"1"' })).body.version, 2);
    equal((await put(rig, 'V-1', { id: 'V-1', version: 2, n: 3 })).body, { id: 'V-1', version: 3, n: 3 });
    equal((await put(rig, 'V-2', { n: 1 }, { 'If-None-Match': '*' })).status, 201);
    refused(await rig.api('DELETE', '/records/invoice/V-1', undefined, { 'If-Match': '"1"' }), 412, 'precondition_failed');
    refused(await rig.api('PATCH', '/records/invoice/V-1', { n: 9 }, { 'If-Match': '"1"' }), 412, 'precondition_failed');
    equal((await rig.api('GET', '/records/invoice/V-1')).body, { id: 'V-1', version: 3, n: 3 });
    equal((await rig.api('DELETE', '/records/invoice/V-1', undefined, { 'If-Match': '"3"' })).status, 204);
});

claim('of two who change the same version one is refused', async (rig) => {
    await put(rig, 'R-1', { n: 0 });
    const clients = Array.from({ length: 8 }, () => rig.server.client());
    const answers = await Promise.all(clients.map((c, i) =>
        c.ask('PUT', '/api/v1/records/invoice/R-1', { n: i }, { 'If-Match': '"1"' })));
    clients.forEach((c) => c.close());
    equal(answers.map((a) => a.status).sort(), [200, ...Array(7).fill(412)]);
});

claim('names, ids and bodies are checked', async (rig) => {
    refused(await rig.api('PUT', '/records/in%20voice/1', {}), 422, 'invalid');
    refused(await rig.api('GET', `/records/${'x'.repeat(101)}`), 422, 'invalid');
    refused(await rig.api('PUT', `/records/invoice/${'x'.repeat(201)}`, {}), 422, 'invalid');
    refused(await rig.api('PUT', '/records/invoice/a%0Ab', {}), 422, 'invalid');
    refused(await rig.api('PUT', '/records/invoice/1', [1]), 422, 'invalid');
    equal(refused(await put(rig, 'X', { id: 'Y' }), 422, 'invalid').errors[0].pointer, '/id');
    equal(refused(await put(rig, 'X', { version: 'one' }), 422, 'invalid').errors[0].pointer, '/version');
    refused(await rig.api('POST', '/records/invoice/1', {}), 405, 'method_not_allowed');
    equal((await rig.api('PUT', '/records/invoice/%C3%BC%20%26', { a: 1 })).headers.location, '/api/v1/records/invoice/%C3%BC%20%26');
    equal((await rig.api('GET', '/records/invoice/%C3%BC%20%26')).body.id, 'ü &');
});

claim('a change under an Idempotency-Key is made once', async (rig) => {
    const key = { 'Idempotency-Key': `record-${rig.name}` };
    const first = await put(rig, 'K-1', { n: 1 }, key);
    const second = await put(rig, 'K-1', { n: 1 }, key);
    equal([second.status, second.body, second.headers.etag], [201, first.body, '"1"']);
    refused(await put(rig, 'K-1', { n: 2 }, key), 409, 'idempotency_conflict');
});

claim('a list is filtered and ordered, page by page', async (rig) => {
    for (let i = 0; i < 25; i++)
        await rig.api('PUT', `/records/item/i${i}`, { n: i, even: i % 2 === 0, ...(i % 5 ? { group: `g${i % 3}` } : {}) });
    const numbers = async (query, limit) => (await rig.all(`/records/item?${query}`, limit)).map((r) => r.n);
    const range = (test) => Array.from({ length: 25 }, (_, i) => i).filter(test);
    equal(await numbers('', 4), range(() => true));
    equal(await numbers(`where=${encodeURIComponent('record.even && record.n > 10')}`, 3), range((i) => i % 2 === 0 && i > 10));
    equal(await numbers('orderBy=n%20desc', 4), range(() => true).reverse());
    equal(await numbers(`where=${encodeURIComponent("has(record.group) && record.group == 'g1'")}&orderBy=n%20desc`, 2),
        range((i) => i % 5 && i % 3 === 1).reverse());
    const byGroup = await rig.all('/records/item?orderBy=group,n%20desc', 4);
    const wanted = [...byGroup].sort((a, b) => (a.group ?? '').localeCompare(b.group ?? '') || b.n - a.n);
    equal(byGroup.map((r) => r.id), wanted.map((r) => r.id));
    equal(byGroup.length, 25);
    equal(await rig.all('/records/nothing'), []);
});

claim('what is wrong with a list is told', async (rig) => {
    const where = (text) => rig.api('GET', `/records/item?where=${encodeURIComponent(text)}`);
    const syntax = refused(await where('record.n >'), 422, 'expression_syntax');
    equal(syntax.errors[0].pointer, '/where');
    check(syntax.errors[0].column > 0, 'the column');
    refused(await where('input.n > 1'), 422, 'expression_type');
    refused(await where('record.n'), 422, 'expression_type');
    check(refused(await where('record.group == "g1"'), 422, 'expression_error').detail.includes('record i0'), 'which record');
    refused(await rig.api('GET', '/records/item?orderBy=a,,b'), 400, 'bad_request');
    refused(await rig.api('GET', '/records/item?cursor=zz'), 400, 'bad_request');
    const { nextCursor } = (await rig.api('GET', '/records/item?limit=2')).body;
    refused(await rig.api('GET', `/records/item?limit=2&orderBy=n&cursor=${nextCursor}`), 400, 'bad_request');
});

claim('records are those of the commands, and a process sees what was edited', async (rig) => {
    await rig.publish({
        code: 'counter',
        steps: [
            { code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } },
            { code: 'read', procedure: { type: 'record.get', object: 'count', id: 'c' } },
            { code: 'write', procedure: { type: 'record.update', object: 'count', id: 'c', data: { n: '=$.steps.read.n + 1' } } },
        ],
    });
    await rig.api('PUT', '/records/count/c', { n: 5 });
    const x = await rig.begin('counter');
    await rig.api('PATCH', '/records/count/c', { n: 41 });
    await rig.api('POST', `/executions/${x.id}/signal?wait=60s`, { type: 'go' });
    equal((await rig.api('GET', '/records/count/c')).body, { id: 'c', version: 3, n: 42 });
});

claim('executions that count and people who edit lose no write', async (rig) => {
    await rig.publish({
        code: 'increment',
        steps: [
            // One step: what is tried again is tried with what it reads then.
            {
                code: 'add',
                procedure: [
                    { type: 'record.get', object: 'count', id: 'busy', as: 'read' },
                    { type: 'record.update', object: 'count', id: 'busy', data: { n: '=$.read.n + 1' } },
                ],
            },
        ],
    });
    await rig.api('PUT', '/records/count/busy', { n: 0 });
    const clients = Array.from({ length: 4 }, () => rig.server.client());
    let counted = 0;
    let edits = 0;
    await Promise.all(clients.map(async (client, i) => {
        for (let k = 0; k < 10; k++) {
            if (i === 0) {
                const { status } = await client.ask('PATCH', '/api/v1/records/count/busy', { note: k });
                equal(status, 200);
                edits++;
                continue;
            }
            const answer = await client.ask('POST', '/api/v1/executions?wait=60s', { code: 'increment' });
            if (answer.body.status === 'completed') counted++;
        }
    }));
    clients.forEach((c) => c.close());
    const record = (await rig.api('GET', '/records/count/busy')).body;
    equal([record.n, record.version], [counted, 1 + counted + edits]);
});

claim('what was acknowledged is there after kill -9', async (rig) => {
    await put(rig, 'D-1', { n: 1 });
    await rig.api('PATCH', '/records/invoice/D-1', { n: 2 });
    await rig.restart();
    equal((await rig.api('GET', '/records/invoice/D-1')).body, { id: 'D-1', version: 2, n: 2 });
});

run(async () => {});
