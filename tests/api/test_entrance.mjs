// test_entrance.mjs - requests that are not clear: refused with a word that helps, on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';

const short = (code) => ({
    code,
    steps: [{ code: 'a', procedure: { type: 'compute.transform', data: { x: 1 } } }],
});

const finding = (answer) => answer.body.errors.map((e) => [e.pointer, e.code, e.hint ?? null]);

// The executions that are there, to show that nothing has changed.
const count = async (rig) => (await rig.all('/executions', 500)).length;

claim('text that no store could keep is refused as invalid, with its place', async (rig) => {
    const before = await count(rig);
    for (const text of ['\\u0000', '\\ud800', '\\udc00\\ud800', '\\ud83d\\u0041']) {
        const answer = await rig.api('POST', '/executions', Buffer.from(`{"code": "short", "input": {"a": "x${text}"}}`));
        refused(answer, 422, 'invalid');
        equal([answer.body.line, answer.body.column], [1, 36], text);
    }
    refused(await rig.api('PUT', '/records/note/n1', Buffer.from('{"\\u0000": 1}')), 422, 'invalid');
    refused(await rig.api('PUT', '/scenarios/nul/draft', Buffer.from('{"code": "nul", "name": "\\u0000"}')), 422, 'invalid');
    refused(await rig.api('GET', '/scenarios/nul'), 404, 'not_found');
    refused(await rig.api('GET', '/records/note/n1'), 404, 'not_found');
    equal(await count(rig), before, 'executions');
});

claim('text that is no JSON at all is told from that', async (rig) => {
    refused(await rig.api('POST', '/executions', Buffer.from('{"code": "\\u00"}')), 400, 'bad_json');
    refused(await rig.api('POST', '/executions', Buffer.from('{"code": "a\0b"}')), 400, 'bad_json');
});

claim('a start says once what is started', async (rig) => {
    const before = await count(rig);
    const both = await rig.api('POST', '/executions', { code: 'short', scenario: 'other' });
    refused(both, 422, 'invalid');
    equal(finding(both), [['/scenario', 'bad_value', null]]);
    const kinds = await rig.api('POST', '/executions', { scenario: 'short', machine: 'short' });
    refused(kinds, 422, 'invalid');
    const schema = await rig.api('POST', '/executions', { schema: 'short' });
    check(schema.status === 404 || schema.status === 422, `a scenario is no schema: ${schema.status}`);
    equal(await count(rig), before, 'executions');
    equal((await rig.api('POST', '/executions', { scenario: 'short' })).status, 201);
});

claim('an empty key is no key, and nobody is let through with one', async (rig) => {
    const answer = await rig.api('POST', '/executions', { code: 'short', key: '' });
    refused(answer, 422, 'invalid');
    equal(finding(answer), [['/key', 'bad_value', null]]);
});

claim('a request has one Idempotency-Key, with something in it', async (rig) => {
    const before = await count(rig);
    const ask = (headers) => rig.api('POST', '/executions', { code: 'short' }, headers);
    refused(await ask({ 'idempotency-key': '' }), 400, 'bad_request');
    refused(await ask({ 'idempotency-key': ['a', 'b'] }), 400, 'bad_request');
    refused(await ask({ 'idempotency-key': 'x'.repeat(256) }), 400, 'bad_request');
    equal(await count(rig), before, 'executions');
    // Refused before anyone has looked at the keys, and there is nowhere to keep that.
    refused(await rig.api('POST', '/executions/none/cancel', {}, { 'idempotency-key': ['a', 'b'] }), 404, 'not_found');
    refused(await rig.api('POST', '/executions/none/cancel', {}, { 'idempotency-key': '' }), 404, 'not_found');
    equal((await ask({ 'idempotency-key': 'x'.repeat(255) })).status, 201);
});

claim('a condition that does not exist is named, with its pointer', async (rig) => {
    const answer = await rig.api('POST', '/executions/bulk', { action: 'delete', filter: { 'co/de': 'short' } });
    refused(answer, 422, 'invalid');
    equal(answer.body.errors[0].pointer, '/filter/co~1de');
});

claim('an empty condition chooses nothing, and not everything', async (rig) => {
    const before = await count(rig);
    for (const filter of [{ key: '' }, { code: 'short', step: '' }, { status: '' }, { status: [''] }])
        refused(await rig.api('POST', '/executions/bulk', { action: 'delete', filter }), 422, 'invalid');
    equal(await count(rig), before, 'executions');
});

claim('a list is not filtered by what nobody reads', async (rig) => {
    const wrong = refused(await rig.api('GET', '/executions?stauts=failed'), 400, 'bad_request');
    equal(wrong.detail, "there is no parameter 'stauts' here; did you mean 'status'?");
    refused(await rig.api('GET', '/executions?key=a&key=b'), 400, 'bad_request');
    refused(await rig.api('GET', `/executions?${'x'.repeat(3000)}=1`), 400, 'bad_request');
    for (const query of ['?', '?&', '?limit=1&', '?&limit=1'])
        equal((await rig.api('GET', `/executions${query}`)).status, 200, query);
    equal((await rig.api('GET', '/executions?status=failed&status=waiting,completed&limit=1&key=')).status, 200);
});

claim('a field of config that does not exist has its neighbour as a hint', async (rig) => {
    const answer = await rig.api('PUT', '/config/rate', { valeu: 1 });
    refused(answer, 422, 'invalid');
    equal(finding(answer), [
        ['/valeu', 'unknown_field', "did you mean 'value'?"],
        ['/value', 'missing_field', null],
    ]);
});

claim('a value that is no JSON is told with the column of its expression', async (rig) => {
    const answer = await rig.api('POST', '/eval', { expression: '[1.0 / 0.0]' });
    refused(answer, 422, 'expression_error');
    equal([answer.body.errors[0].pointer, answer.body.errors[0].column], ['/expression', 1]);
});

claim('If-Match: * is for what is there, whatever its version', async (rig) => {
    const any = { 'if-match': '*' };
    refused(await rig.api('PUT', '/scenarios/fresh/draft', short('fresh'), any), 412, 'precondition_failed');
    refused(await rig.api('DELETE', '/scenarios/fresh/draft', undefined, any), 412, 'precondition_failed');
    equal((await rig.api('PUT', '/scenarios/fresh/draft', short('fresh'))).status, 200);
    equal((await rig.api('PUT', '/scenarios/fresh/draft', { ...short('fresh'), name: 'B' }, any)).status, 200);
    equal((await rig.api('DELETE', '/scenarios/fresh/draft', undefined, any)).status, 204);
    refused(await rig.api('PUT', '/config/star', { value: 1 }, any), 412, 'precondition_failed');
    equal((await rig.api('PUT', '/config/star', { value: 1 })).status, 201);
    equal((await rig.api('PUT', '/config/star', { value: 2 }, any)).status, 200);
    refused(await rig.api('PUT', '/config/star', { value: 3 }, { 'if-match': 'x' }), 412, 'precondition_failed');
});

claim('an answer holds at most 50 findings, errors before warnings', async (rig) => {
    const many = (n) => Object.fromEntries([...Array(n).keys()].map((i) => [`field${i}`, 1]));
    const step = (code) => ({ code, procedure: { type: 'compute.transform', data: { x: 1 }, odd: 1 } });
    const wrong = (code) => ({ code, steps: [...Array(120).keys()].map((i) => step(`s${i}`)) });
    const russian = { 'accept-language': 'ru' };
    const requests = [
        ['POST', '/session', many(300)],
        ['POST', '/executions', { code: 'short', ...many(60000) }],
        ['POST', '/executions/bulk', { action: 'cancel', filter: many(1000) }],
        ['POST', '/executions/bulk', { action: 'cancel', filter: { status: [...Array(1000).keys()].map((i) => `status${i}`) } }],
        ['POST', '/dlq/bulk', { action: 'retry', filter: many(1000) }],
        ['POST', '/tasks', { title: 'x', ...many(1000) }],
        ['PUT', '/config/many', many(1000)],
        ['POST', '/import', { items: [wrong('a'), wrong('b')] }],
    ];
    for (const [method, path, body] of requests)
        for (const headers of [{}, russian]) {
            const answer = await rig.api(method, path, body, headers);
            equal([answer.status, answer.body.errors.length], [422, 50], `${method} ${path}`);
        }
    const checked = (await rig.api('POST', '/validate', { kind: 'scenario', definition: wrong('c') })).body;
    equal([checked.valid, checked.errors.length, checked.errors[0].severity], [false, 50, 'error']);
    const draft = (await rig.api('POST', '/import', { items: [wrong('a'), wrong('b')], draft: true, dryRun: true })).body;
    equal(draft.items.map((item) => item.errors.length), [50, 0]);
});

claim('no parameter stands behind those that are looked at', async (rig) => {
    const many = (n) => Array.from({ length: n }, () => 'status=waiting').join('&');
    equal((await rig.api('GET', `/executions?${many(49)}`)).status, 200);
    refused(await rig.api('GET', `/executions?${many(50)}&cod=short`), 400, 'bad_request');
});

await run((rig) => rig.publish(short('short')));
