// The HTTP contract, call by call, against a real server in a folder of its own.
import http from 'node:http';

import { claim, end, equal, holds } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { startServer } from '../lib/server.mjs';

const server = await startServer();
const { token } = server;
const call = (method, path, body, headers) => server.call(token, method, path, body, headers);
const api = (method, path, body, headers) => server.asAdmin(method, path, body, headers);

const greeting = text => `{"code": "greeting",  "name": "Greeting",
  "input": [{"name": "who", "type": "string", "default": "world"}],
  "steps": [{"code": "greet", "procedure": {"type": "compute.transform",
    "data": {"text": "${text}, {{ $.input.who }}"}}}]}`;
const waiting = `{"code": "waiting", "steps": [
  {"code": "ask", "procedure": {"type": "wait.signal", "signalType": "go"}},
  {"code": "done", "procedure": {"type": "compute.transform", "data": {"got": "$.steps.ask.payload"}}}]}`;

async function publish(code, text) {
    equal((await api('PUT', `/scenarios/${code}/draft`, text)).status, 200);
    const answer = await api('POST', `/scenarios/${code}/publish`);
    equal(answer.status, 200, answer.raw);
    return answer.body.version;
}

// --- the door ---

await claim('health needs no token', async () => {
    const answer = await call('GET', '/healthz', undefined, { Authorization: '' });
    equal([answer.status, answer.body], [200, { status: 'ok' }]);
    equal((await call('GET', '/readyz', undefined, { Authorization: '' })).status, 200);
});

await claim('everything else does', async () => {
    for (const path of ['/api/v1/executions', '/api/v1/scenarios/x', '/api/v1/nothing', '/x']) {
        const answer = await call('GET', path, undefined, { Authorization: '' });
        refused(answer, 401, 'unauthorized');
        equal(answer.headers['www-authenticate'], 'Bearer');
    }
    const wrong = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    for (const header of [`Bearer ${wrong}`, `Bearer ${token}0`, 'Bearer ', `Basic ${token}`, token])
        refused(await call('GET', '/api/v1/executions', undefined, { Authorization: header }),
            401, 'unauthorized');
    const lower = await call('GET', '/api/v1/executions', undefined,
        { Authorization: `bearer ${token}` });
    equal(lower.status, 200);
});

await claim('a body without a token is not even read', async () => {
    const answer = await call('POST', '/api/v1/executions', 'x'.repeat(1000),
        { Authorization: '' });
    refused(answer, 401, 'unauthorized');
});

await claim('an unknown path is not found', async () => {
    refused(await api('GET', '/nothing'), 404, 'not_found');
    refused(await api('GET', '/executions/'), 404, 'not_found');
    refused(await api('GET', '/executions/x/y/z'), 404, 'not_found');
});

await claim('a wrong method says which are right', async () => {
    const answer = await api('DELETE', '/executions');
    refused(answer, 405, 'method_not_allowed');
    equal(answer.headers.allow.split(', ').sort(), ['GET', 'HEAD', 'POST']);
});

await claim('HEAD is GET without the body', async () => {
    const answer = await call('HEAD', '/healthz');
    equal([answer.status, answer.raw, answer.headers['content-length']], [200, '', '15']);
});

await claim('bad JSON is refused with its place', async () => {
    const answer = await api('POST', '/executions', '{"code": "x",\n  "input": }');
    refused(answer, 400, 'bad_json');
    equal([answer.body.line, answer.body.column], [2, 12]);
    refused(await api('POST', '/executions', '{"code": "a", "code": "b"}'), 400, 'bad_json');
    refused(await api('POST', '/executions', '{"code": "a\\u0000"}'), 422, 'invalid');
    refused(await api('POST', '/executions', '[]'), 422, 'invalid');
});

await claim('unknown fields are refused with a hint', async () => {
    const answer = await api('POST', '/executions', { code: 'x', inptu: {} });
    refused(answer, 422, 'invalid');
    equal(answer.body.errors, [{
        pointer: '/inptu', code: 'unknown_field', message: "there is no field 'inptu'",
        severity: 'error', hint: "did you mean 'input'?",
    }]);
});

await claim('fields of the wrong type and missing ones are told together', async () => {
    const answer = await api('POST', '/executions', { code: 7, version: 'one' });
    refused(answer, 422, 'invalid');
    equal(answer.body.errors.map(e => [e.pointer, e.code]),
        [['/code', 'wrong_type'], ['/version', 'wrong_type']]);
    const none = await api('POST', '/executions');
    equal(none.body.errors.map(e => [e.pointer, e.code]), [['/code', 'missing_field']]);
});

await claim('bodies have limits', async () => {
    const large = n => `{"code": "x", "input": {"a": "${'x'.repeat(n)}"}}`;
    refused(await api('POST', '/executions', large(1 << 20)), 413, 'too_large');
    refused(await api('PUT', '/scenarios/x/draft', large(2 << 20)), 413, 'too_large');
    equal((await api('PUT', '/scenarios/large/draft', large(3 << 19))).status, 200);
    equal((await api('DELETE', '/scenarios/large/draft')).status, 204);
});

// --- definitions ---

await claim('a draft is saved, also when it is wrong', async () => {
    const answer = await api('PUT', '/scenarios/drafty/draft', '{"code": "drafty", "stps": []}');
    equal(answer.status, 200);
    equal([answer.body.code, answer.body.version, answer.body.valid], ['drafty', 1, false]);
    equal(answer.headers.etag, '"1"');
    equal(answer.body.errors.some(e => e.pointer === '/stps' && e.hint), true);
    refused(await api('PUT', '/scenarios/drafty/draft', '{"code": '), 400, 'bad_json');
    refused(await api('PUT', '/scenarios/drafty/draft', '[1]'), 422, 'invalid');
    refused(await api('PUT', '/scenarios/Bad-Code/draft', '{}'), 422, 'invalid');
});

await claim('If-Match protects a draft from being overwritten', async () => {
    const save = (text, headers) => api('PUT', '/scenarios/guarded/draft', text, headers);
    equal((await save('{"a": 1}', { 'If-None-Match': '*' })).headers.etag, '"1"');
    refused(await save('{"a": 2}', { 'If-None-Match': '*' }), 412, 'precondition_failed');
    equal((await save('{"a": 3}', { 'If-Match': '"1"' })).headers.etag, '"2"');
    refused(await save('{"a": 4}', { 'If-Match': '"1"' }), 412, 'precondition_failed');
    refused(await save('{"a": 4}', { 'If-Match': 'x' }), 412, 'precondition_failed');
    const one = await api('GET', '/scenarios/guarded');
    equal([one.headers.etag, one.body.draft.definition], ['"2"', { a: 3 }]);
});

await claim('a draft with errors cannot be published', async () => {
    const answer = await api('POST', '/scenarios/drafty/publish');
    refused(answer, 422, 'invalid');
    equal(answer.body.errors.length > 0, true);
    refused(await api('POST', '/scenarios/nothing/publish'), 404, 'not_found');
});

await claim('the code in the path is the code in the definition', async () => {
    const answer = await api('PUT', '/scenarios/other/draft', greeting('Hello'));
    equal([answer.body.valid, answer.body.errors[0].pointer], [false, '/code']);
});

await claim('versions keep the text as it was sent', async () => {
    equal(await publish('greeting', greeting('Hello')), 1);
    equal(await publish('greeting', greeting('Hi')), 2);
    const list = await api('GET', '/scenarios/greeting/versions');
    equal(list.body.items.map(v => [v.version, v.status]),
        [[2, 'published'], [1, 'superseded']]);
    const first = await api('GET', '/scenarios/greeting/versions/1');
    equal(first.raw.includes(greeting('Hello')), true, 'the bytes');
    refused(await api('GET', '/scenarios/greeting/versions/3'), 404, 'not_found');
    refused(await api('GET', '/scenarios/greeting/versions/x'), 404, 'not_found');
    refused(await api('GET', '/scenarios/nothing/versions'), 404, 'not_found');
});

await claim('a published draft is no draft any more', async () => {
    const one = (await api('GET', '/scenarios/greeting')).body;
    equal([one.code, one.name, one.published.version, one.draft],
        ['greeting', 'Greeting', 2, null]);
    refused(await api('DELETE', '/scenarios/greeting/draft'), 404, 'not_found');
    refused(await api('GET', '/scenarios/nothing'), 404, 'not_found');
});

await claim('definitions are listed by code, page by page', async () => {
    const codes = [];
    let cursor = '';
    do {
        const page = (await api('GET', `/scenarios?limit=2&cursor=${cursor}`)).body;
        codes.push(...page.items.map(i => i.code));
        cursor = page.nextCursor;
    } while (cursor);
    equal(codes, ['drafty', 'greeting', 'guarded', 'other']);
});

await claim('validate keeps nothing', async () => {
    const good = await api('POST', '/validate',
        { kind: 'scenario', definition: JSON.parse(greeting('Hey')) });
    equal([good.status, good.body], [200, { valid: true, errors: [] }]);
    const bad = await api('POST', '/validate', { definition: { code: 'x', steps: 7 } });
    equal([bad.status, bad.body.valid], [200, false]);
    refused(await api('POST', '/validate', { definition: { colours: {} } }), 422, 'invalid');
    refused(await api('POST', '/validate', {}), 422, 'invalid');
});

await claim('eval answers value and type, or the column', async () => {
    const good = await api('POST', '/eval',
        { expression: '$.input.a + input.b', context: { input: { a: 1, b: 2 } } });
    equal([good.status, good.body], [200, { value: 3, type: 'int' }]);
    const bad = await api('POST', '/eval', { expression: '1 + ' });
    refused(bad, 422, 'expression_syntax');
    equal([bad.body.errors[0].pointer, bad.body.errors[0].column], ['/expression', 5]);
    refused(await api('POST', '/eval', { expression: '[1][5]' }), 422, 'expression_error');
    equal((await api('PUT', '/functions/thrice', { params: [{ name: 'x', type: 'integer' }], body: 'x * 3' })).status, 201);
    equal((await api('POST', '/eval', { expression: 'fn.thrice(a)', context: { a: 5 } })).body, { value: 15, type: 'int' });
    const unknown = await api('POST', '/eval', { expression: 'fn.thirce(1)' });
    equal(unknown.body.detail, "undeclared function 'fn.thirce'; did you mean 'fn.thrice'?");
    equal((await api('POST', '/eval', { expression: '$["a-b"]', context: { 'a-b': 1 } })).body.value, 1);
});

// --- executions ---

await claim('a start with ?wait answers with the end', async () => {
    const answer = await api('POST', '/executions?wait=60s',
        { code: 'greeting', input: { who: 'Ada' } });
    equal(answer.status, 201);
    equal([answer.body.status, answer.body.result], ['completed', { text: 'Hi, Ada' }]);
    equal(answer.headers.location, `/api/v1/executions/${answer.body.id}`);
    const again = await call('GET', answer.headers.location);
    equal(again.body, answer.body, 'GET and the answer');
});

await claim('a start that cannot be says why', async () => {
    refused(await api('POST', '/executions', { code: 'nothing' }), 404, 'not_found');
    refused(await api('POST', '/executions', { code: 'greeting', version: 9 }), 404, 'not_found');
    const bad = await api('POST', '/executions', { code: 'greeting', input: { who: 7 } });
    refused(bad, 422, 'invalid');
    equal(bad.body.errors[0].pointer, '/input/who');
    refused(await api('POST', '/executions?wait=soon', { code: 'greeting' }), 400, 'bad_request');
});

await claim('a wait that outlasts ?wait is 202', async () => {
    await publish('waiting', waiting);
    const answer = await api('POST', '/executions?wait=50ms', { code: 'waiting', key: 'w1' });
    equal([answer.status, answer.body.status, answer.body.waitingFor.kind],
        [202, 'waiting', 'signal']);
    const busy = await api('POST', '/executions', { code: 'waiting', key: 'w1' });
    refused(busy, 409, 'key_busy');
    equal(busy.body.executionId, answer.body.id);
    const taken = await api('POST', `/executions/${answer.body.id}/signal?wait=60s`,
        { type: 'go', payload: { n: 1 }, id: 's-1' });
    equal([taken.status, taken.body.id, taken.body.executionId, taken.body.status],
        [200, 's-1', answer.body.id, 'completed']);
    equal(taken.body.step, (await api('GET', `/executions/${answer.body.id}/steps`)).body.items[0]);
    equal((await api('POST', `/executions/${answer.body.id}/signal`,
        { type: 'go', payload: { n: 1 }, id: 's-1' })).status, 202);
    refused(await api('POST', `/executions/${answer.body.id}/signal`,
        { type: 'go', payload: { n: 2 }, id: 's-1' }), 409, 'conflict');
});

await claim('many clients wait at once and each gets its own answer', async () => {
    const started = await Promise.all(Array.from({ length: 200 }, () =>
        api('POST', '/executions', { code: 'waiting' })));
    const waits = started.map((s, i) => api('POST', `/executions/${s.body.id}/signal?wait=60s`,
        { type: 'go', payload: i }));
    const ends = await Promise.all(waits);
    equal(ends.every((e, i) => e.body.step.output.payload === i), true);
});

await claim('a signal with ?wait answers with the step that took it', async () => {
    const wait = (code, type) => ({ code, procedure: { type: 'wait.signal', signalType: type } });
    await publish('two_waits', JSON.stringify({ code: 'two_waits',
        steps: [wait('first', 'one'), wait('second', 'two'), wait('third', 'three')] }));
    const { id } = (await api('POST', '/executions', { code: 'two_waits' })).body;
    const signal = (body, query = '?wait=60s', headers = {}) =>
        api('POST', `/executions/${id}/signal${query}`, body, headers);
    const none = await signal({ type: 'three' }, '?wait=50ms');
    equal([none.status, Object.keys(none.body)], [202, ['id']]);
    // It comes too early: the answer comes when the second wait takes it.
    const early = signal({ type: 'two', payload: 'early', id: 'e-1' }, '?wait=60s',
        { 'Idempotency-Key': 'early' });
    let kept = [];
    while (kept.length < 2)
        kept = (await api('GET', `/executions/${id}`)).body.context.signals;
    const first = await signal({ type: 'one' });
    equal([first.status, first.body.step.step, first.body.step.status, first.body.status],
        [200, 'first', 'completed', 'completed']);
    const second = await early;
    equal([second.status, second.body.id, second.body.executionId, second.body.step.step,
        second.body.step.output.payload], [200, 'e-1', id, 'second', 'early']);
    // Whoever asks again hears the same, by the id of the signal and by the key of the request.
    const again = await signal({ type: 'two', payload: 'early', id: 'e-1' });
    equal([again.status, again.body], [200, second.body]);
    const repeated = await signal({ type: 'two', payload: 'early', id: 'e-1' }, '?wait=60s',
        { 'Idempotency-Key': 'early' });
    equal([repeated.status, repeated.body], [200, second.body]);
    const plain = await signal({ type: 'two', payload: 'early', id: 'e-1' }, '',
        { 'Idempotency-Key': 'early' });
    equal([plain.status, plain.body], [202, { id: 'e-1' }]);
});

await claim('a signal that is asked for again while it waits is answered when it is taken', async () => {
    const { id } = (await api('POST', '/executions', { code: 'two_waits' })).body;
    const late = { type: 'two', id: 'l-1' };
    equal((await api('POST', `/executions/${id}/signal`, late)).status, 202);
    const waits = [1, 2, 3].map(() => api('POST', `/executions/${id}/signal?wait=60s`, late));
    await api('POST', `/executions/${id}/signal?wait=60s`, { type: 'one' });
    for (const answer of await Promise.all(waits))
        equal([answer.status, answer.body.step.step], [200, 'second']);
    await api('POST', `/executions/${id}/cancel`);
    const gone = await api('POST', `/executions/${id}/signal?wait=60s`, late);
    equal([gone.status, gone.body.step.step, gone.body.status], [200, 'second', 'cancelled']);
});

await claim('cancel ends a wait', async () => {
    const waiter = api('POST', '/executions?wait=60s', { code: 'waiting', key: 'c1' });
    let found = [];
    while (found.length === 0)
        found = (await api('GET', '/executions?key=c1')).body.items;
    const { id } = found[0];
    equal((await api('POST', `/executions/${id}/cancel`, { reason: 'test' })).status, 202);
    const end = await waiter;
    equal([end.status, end.body.id, end.body.status], [201, id, 'cancelled']);
    refused(await api('POST', `/executions/${id}/cancel`), 409, 'conflict');
    refused(await api('POST', `/executions/${id}/signal`, { type: 'go' }), 409, 'conflict');
});

await claim('what does not exist is not found', async () => {
    const none = '01900000-0000-7000-8000-000000000000';
    for (const id of [none, 'nonsense']) {
        refused(await api('GET', `/executions/${id}`), 404, 'not_found');
        refused(await api('GET', `/executions/${id}/steps`), 404, 'not_found');
        refused(await api('POST', `/executions/${id}/signal`, { type: 'x' }), 404, 'not_found');
        refused(await api('POST', `/executions/${id}/cancel`), 404, 'not_found');
    }
});

await claim('executions are listed newest first, page by page', async () => {
    const made = [];
    for (let i = 0; i < 5; i++)
        made.unshift((await api('POST', '/executions', { code: 'greeting', key: 'page' })).body.id);
    const seen = [];
    let cursor = '';
    do {
        const page = (await api('GET', `/executions?key=page&limit=2&cursor=${cursor}`)).body;
        seen.push(...page.items.map(i => i.id));
        cursor = page.nextCursor;
    } while (cursor);
    equal(seen, made);
    refused(await api('GET', '/executions?limit=501'), 400, 'bad_request');
    refused(await api('GET', '/executions?limit=0'), 400, 'bad_request');
    refused(await api('GET', '/executions?cursor=x'), 400, 'bad_request');
    refused(await api('GET', '/executions?status=x'), 400, 'bad_request');
    refused(await api('GET', '/executions?from=x'), 400, 'bad_request');
});

await claim('filters and search find executions', async () => {
    const { id } = (await api('POST', '/executions', { code: 'waiting', key: 'a b/c' })).body;
    const ids = async query => (await api('GET', '/executions?' + query)).body.items.map(i => i.id);
    equal(await ids('key=a%20b%2Fc'), [id]);
    equal(await ids(`q=${id}`), [id]);
    equal(await ids(`q=${id.slice(-10)}`), [id], 'by the end of the id');
    equal(await ids('q=a+b/c'), [id], 'by key');
    equal((await ids('status=waiting&code=waiting&step=ask'))[0], id);
    equal(await ids('code=greeting&status=waiting'), []);
    equal(await ids('to=2020-01-01'), []);
    equal((await ids('from=2020-01-01T00:00:00Z&limit=1')).length, 1);
});

await claim('steps are history in order, page by page', async () => {
    const { id } = (await api('POST', '/executions', { code: 'waiting' })).body;
    equal((await api('GET', `/executions/${id}/steps`)).body, { items: [], nextCursor: null });
    await api('POST', `/executions/${id}/signal?wait=60s`, { type: 'go', payload: 1 });
    const all = (await api('GET', `/executions/${id}/steps`)).body;
    equal(all.items.map(s => [s.step, s.kind, s.status, s.visit, s.attempt]),
        [['ask', 'forward', 'completed', 1, 1], ['done', 'forward', 'completed', 1, 1]]);
    equal(all.items[0].idempotencyKey, `${id}-ask`);
    equal(all.items[0].seq < all.items[1].seq, true);
    const first = (await api('GET', `/executions/${id}/steps?limit=1`)).body;
    equal(first.items.map(s => s.step), ['ask']);
    const second = (await api('GET', `/executions/${id}/steps?cursor=${first.nextCursor}`)).body;
    equal([second.items.map(s => s.step), second.nextCursor], [['done'], null]);
});

await claim('a record that is made again goes on counting', async () => {
    const run = async (code, procedure) => {
        await publish(code, JSON.stringify({ code, steps: [{ code: 'a', procedure }] }));
        return (await api('POST', '/executions?wait=60s', { code })).body.result;
    };
    const thing = { object: 'thing', id: 'x' };
    const make = { type: 'record.create', ...thing, data: { n: 1 } };
    equal((await run('make', make)).version, 1);
    await run('drop', { type: 'record.delete', ...thing });
    equal((await run('make', make)).version, 3);
    await run('drop', { type: 'record.delete', ...thing });
    equal((await run('make', make)).version, 5);
});

// --- Idempotency-Key ---

await claim('a repeated start is the same execution', async () => {
    const key = { 'Idempotency-Key': 'start-1' };
    const body = { code: 'waiting', input: {} };
    const first = await api('POST', '/executions', body, key);
    const second = await api('POST', '/executions', body, key);
    equal([first.status, second.status], [201, 200]);
    equal(second.body.id, first.body.id);
    refused(await api('POST', '/executions', { code: 'greeting' }, key),
        409, 'idempotency_conflict');
    const waited = api('POST', '/executions?wait=60s', body, key);
    await api('POST', `/executions/${first.body.id}/signal`, { type: 'go', payload: 5 });
    const end = await waited;
    equal([end.status, end.body.id, end.body.result], [200, first.body.id, { got: 5 }]);
});

await claim('starts that come together under one key are one', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () =>
        api('POST', '/executions', { code: 'greeting' }, { 'Idempotency-Key': 'together' })));
    equal(new Set(answers.map(a => a.body.id)).size, 1);
    equal(answers.filter(a => a.status === 201).length, 1);
});

await claim('repeated changes of definitions have the same answer', async () => {
    const save = { 'Idempotency-Key': 'save-1' };
    const text = greeting('Moin');
    const first = await api('PUT', '/scenarios/greeting/draft', text, save);
    equal((await api('PUT', '/scenarios/greeting/draft', text, save)).raw, first.raw);
    const key = { 'Idempotency-Key': 'publish-1' };
    const one = await api('POST', '/scenarios/greeting/publish', undefined, key);
    const two = await api('POST', '/scenarios/greeting/publish', undefined, key);
    equal([one.status, two.status, two.raw], [200, 200, one.raw]);
    // Without a draft the version that is published is the answer, whoever asks.
    equal((await api('POST', '/scenarios/greeting/publish', undefined,
        { 'Idempotency-Key': 'publish-2' })).body, one.body);
    refused(await api('POST', '/scenarios/nowhere/publish', undefined,
        { 'Idempotency-Key': 'publish-3' }), 404, 'not_found');
    refused(await api('POST', '/scenarios/greeting/publish', { changeSummary: 'x' }, key),
        409, 'idempotency_conflict');
});

await claim('a repeated signal is received once', async () => {
    const { id } = (await api('POST', '/executions', { code: 'waiting' })).body;
    const key = { 'Idempotency-Key': 'signal-1' };
    const first = await api('POST', `/executions/${id}/signal`, { type: 'go' }, key);
    const second = await api('POST', `/executions/${id}/signal`, { type: 'go' }, key);
    equal([first.status, second.status], [202, 202]);
    equal(second.body, first.body);
});

await claim('a refusal that rests on the state is repeated byte for byte', async () => {
    const same = async (method, path, body, key, code, headers = {}) => {
        const ask = () => api(method, path, body, { 'Idempotency-Key': key, ...headers });
        const first = await ask();
        refused(first, code === 'precondition_failed' ? 412 : code === 'not_found' ? 404 : 409, code);
        return async () => {
            const again = await ask();
            equal([again.status, again.raw, again.headers['content-type']],
                [first.status, first.raw, 'application/problem+json'], key);
            return again;
        };
    };
    // 409: someone has the business key, and then has it no longer.
    const holder = (await api('POST', '/executions', { code: 'waiting', key: 'r-1' })).body.id;
    const busy = await same('POST', '/executions', { code: 'waiting', key: 'r-1' }, 'r-busy', 'key_busy');
    equal((await busy()).body.executionId, holder);
    await api('POST', `/executions/${holder}/cancel`);
    await busy();
    refused(await api('POST', '/executions', { code: 'greeting' }, { 'Idempotency-Key': 'r-busy' }),
        409, 'idempotency_conflict');
    equal((await api('POST', '/executions', { code: 'waiting', key: 'r-1' })).status, 201);
    // 409: it has ended. 404: it is not there, and then it is. 412: someone else saved.
    const ended = await same('POST', `/executions/${holder}/signal`, { type: 'go' }, 'r-ended', 'conflict');
    await ended();
    const unknown = await same('POST', '/executions', { code: 'r_later' }, 'r-unknown', 'not_found');
    const none = await same('POST', '/scenarios/r_later/publish', undefined, 'r-none', 'not_found');
    const gone = await same('DELETE', '/scenarios/r_later/draft', undefined, 'r-gone', 'not_found');
    await publish('r_later', greeting('Later').replace('"greeting"', '"r_later"'));
    await api('PUT', '/scenarios/r_later/draft', '{"a": 1}');
    await unknown();
    await none();
    await gone();
    const stale = await same('PUT', '/scenarios/r_later/draft', '{"a": 2}', 'r-stale',
        'precondition_failed', { 'If-Match': '"1"' });
    await stale();
    equal((await api('POST', '/executions', { code: 'r_later' })).status, 201);
});

await claim('a refusal that does not rest on the state is not kept', async () => {
    const key = { 'Idempotency-Key': 'not-kept' };
    const strict = JSON.stringify({ code: 'strict', input: [{ name: 'n', type: 'integer', required: true }],
        steps: [{ code: 'a', procedure: { type: 'compute.transform', data: {} } }] });
    await publish('strict', strict);
    refused(await api('POST', '/executions', { code: 'strict' }, key), 422, 'invalid');
    await publish('strict', strict.replace('"required":true', '"required":false'));
    equal((await api('POST', '/executions', { code: 'strict' }, key)).status, 201);
});

await claim('requests under one key that come together have one answer', async () => {
    const { id } = (await api('POST', '/executions', { code: 'waiting' })).body;
    const together = (path, body, key) => Promise.all(Array.from({ length: 20 }, () =>
        api('POST', path, body, { 'Idempotency-Key': key })));
    for (const [path, body, key, status] of [
        [`/executions/${id}/cancel`, {}, 'c-1', 202],
        [`/executions/${id}/cancel`, {}, 'c-2', 409],
        ['/executions', { code: 'nobody_knows' }, 'c-3', 404]]) {
        const answers = await together(path, body, key);
        equal(new Set(answers.map(a => `${a.status} ${a.raw}`)).size, 1, key);
        equal(answers[0].status, status, key);
    }
});

await claim('a key that is too long is refused', async () => {
    refused(await api('POST', '/executions', { code: 'greeting' },
        { 'Idempotency-Key': 'k'.repeat(256) }), 400, 'bad_request');
});

// ---

if ((await server.stop()) !== 0) holds(false, `the server ended with status ${server.code}`);
end();
