// The HTTP contract, call by call, against a real server in a folder of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const pawl = resolve(process.env.PAWL ?? 'build/pawl');
const folder = mkdtempSync(join(tmpdir(), 'pawl-api-'));
let passed = 0;
let failed = 0;
let base, token, server;

// --- a client ---

async function startServer() {
    server = spawn(pawl, ['serve', '--data', join(folder, 'data'), '--listen', '127.0.0.1:0'], {
        stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    for await (const chunk of server.stdout) {
        text += chunk;
        if (text.includes('data  ')) break;
    }
    base = text.match(/listens on (\S+)/)[1];
    token = readFileSync(join(folder, 'data', 'admin.token'), 'utf8').trim();
}

const agent = new http.Agent({ keepAlive: true });

// Not fetch: it hides methods, headers and how a connection ends.
function call(method, path, body, headers = {}) {
    const text = body === undefined || typeof body === 'string' || body instanceof Buffer
        ? body : JSON.stringify(body);
    return new Promise((done, fail) => {
        const request = http.request(base + path, {
            method,
            agent,
            headers: {
                Authorization: `Bearer ${token}`,
                ...(text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) }),
                ...headers,
            },
        }, answer => {
            const parts = [];
            answer.on('data', part => parts.push(part));
            answer.on('end', () => {
                const raw = Buffer.concat(parts).toString();
                let json = null;
                try {
                    json = JSON.parse(raw);
                } catch { /* not JSON */ }
                done({ status: answer.statusCode, headers: answer.headers, raw, json });
            });
        });
        request.on('error', fail);
        request.end(text);
    });
}

const api = (method, path, body, headers) => call(method, '/api/v1' + path, body, headers);

// --- claims ---

class Wrong extends Error {}

function equal(actual, wanted, what = 'value') {
    const a = JSON.stringify(actual), w = JSON.stringify(wanted);
    if (a !== w) throw new Wrong(`${what}: ${a}, wanted ${w}`);
}

function isProblem(answer, status, code) {
    equal(answer.status, status, `status of ${answer.raw}`);
    equal(answer.headers['content-type'], 'application/problem+json', 'content type');
    equal(answer.json.status, status);
    equal(answer.json.code, code, 'code');
    for (const name of ['type', 'title', 'detail', 'requestId'])
        equal(typeof answer.json[name], 'string', name);
    equal(Array.isArray(answer.json.errors), true, 'errors');
}

const claims = [];
const claim = (name, run) => claims.push({ name, run });

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
    return answer.json.version;
}

// --- the door ---

claim('health needs no token', async () => {
    const answer = await call('GET', '/healthz', undefined, { Authorization: '' });
    equal([answer.status, answer.json], [200, { status: 'ok' }]);
    equal((await call('GET', '/readyz', undefined, { Authorization: '' })).status, 200);
});

claim('everything else does', async () => {
    for (const path of ['/api/v1/executions', '/api/v1/scenarios/x', '/api/v1/nothing', '/x']) {
        const answer = await call('GET', path, undefined, { Authorization: '' });
        isProblem(answer, 401, 'unauthorized');
        equal(answer.headers['www-authenticate'], 'Bearer');
    }
    const wrong = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    for (const header of [`Bearer ${wrong}`, `Bearer ${token}0`, 'Bearer ', `Basic ${token}`, token])
        isProblem(await call('GET', '/api/v1/executions', undefined, { Authorization: header }),
            401, 'unauthorized');
    const lower = await call('GET', '/api/v1/executions', undefined,
        { Authorization: `bearer ${token}` });
    equal(lower.status, 200);
});

claim('a body without a token is not even read', async () => {
    const answer = await call('POST', '/api/v1/executions', 'x'.repeat(1000),
        { Authorization: '' });
    isProblem(answer, 401, 'unauthorized');
});

claim('an unknown path is not found', async () => {
    isProblem(await api('GET', '/nothing'), 404, 'not_found');
    isProblem(await api('GET', '/executions/'), 404, 'not_found');
    isProblem(await api('GET', '/executions/x/y/z'), 404, 'not_found');
});

claim('a wrong method says which are right', async () => {
    const answer = await api('DELETE', '/executions');
    isProblem(answer, 405, 'method_not_allowed');
    equal(answer.headers.allow.split(', ').sort(), ['GET', 'HEAD', 'POST']);
});

claim('HEAD is GET without the body', async () => {
    const answer = await call('HEAD', '/healthz');
    equal([answer.status, answer.raw, answer.headers['content-length']], [200, '', '15']);
});

claim('bad JSON is refused with its place', async () => {
    const answer = await api('POST', '/executions', '{"code": "x",\n  "input": }');
    isProblem(answer, 400, 'bad_json');
    equal([answer.json.line, answer.json.column], [2, 12]);
    isProblem(await api('POST', '/executions', '{"code": "a", "code": "b"}'), 400, 'bad_json');
    isProblem(await api('POST', '/executions', '{"code": "a\\u0000"}'), 422, 'invalid');
    isProblem(await api('POST', '/executions', '[]'), 422, 'invalid');
});

claim('unknown fields are refused with a hint', async () => {
    const answer = await api('POST', '/executions', { code: 'x', inptu: {} });
    isProblem(answer, 422, 'invalid');
    equal(answer.json.errors, [{
        pointer: '/inptu', code: 'unknown_field', message: "there is no field 'inptu'",
        severity: 'error', hint: "did you mean 'input'?",
    }]);
});

claim('fields of the wrong type and missing ones are told together', async () => {
    const answer = await api('POST', '/executions', { code: 7, version: 'one' });
    isProblem(answer, 422, 'invalid');
    equal(answer.json.errors.map(e => [e.pointer, e.code]),
        [['/code', 'wrong_type'], ['/version', 'wrong_type']]);
    const none = await api('POST', '/executions');
    equal(none.json.errors.map(e => [e.pointer, e.code]), [['/code', 'missing_field']]);
});

claim('bodies have limits', async () => {
    const large = n => `{"code": "x", "input": {"a": "${'x'.repeat(n)}"}}`;
    isProblem(await api('POST', '/executions', large(1 << 20)), 413, 'too_large');
    isProblem(await api('PUT', '/scenarios/x/draft', large(2 << 20)), 413, 'too_large');
    equal((await api('PUT', '/scenarios/large/draft', large(3 << 19))).status, 200);
    equal((await api('DELETE', '/scenarios/large/draft')).status, 204);
});

// --- definitions ---

claim('a draft is saved, also when it is wrong', async () => {
    const answer = await api('PUT', '/scenarios/drafty/draft', '{"code": "drafty", "stps": []}');
    equal(answer.status, 200);
    equal([answer.json.code, answer.json.version, answer.json.valid], ['drafty', 1, false]);
    equal(answer.headers.etag, '"1"');
    equal(answer.json.errors.some(e => e.pointer === '/stps' && e.hint), true);
    isProblem(await api('PUT', '/scenarios/drafty/draft', '{"code": '), 400, 'bad_json');
    isProblem(await api('PUT', '/scenarios/drafty/draft', '[1]'), 422, 'invalid');
    isProblem(await api('PUT', '/scenarios/Bad-Code/draft', '{}'), 422, 'invalid');
});

claim('If-Match protects a draft from being overwritten', async () => {
    const save = (text, headers) => api('PUT', '/scenarios/guarded/draft', text, headers);
    equal((await save('{"a": 1}', { 'If-None-Match': '*' })).headers.etag, '"1"');
    isProblem(await save('{"a": 2}', { 'If-None-Match': '*' }), 412, 'precondition_failed');
    equal((await save('{"a": 3}', { 'If-Match': '"1"' })).headers.etag, '"2"');
    isProblem(await save('{"a": 4}', { 'If-Match': '"1"' }), 412, 'precondition_failed');
    isProblem(await save('{"a": 4}', { 'If-Match': 'x' }), 412, 'precondition_failed');
    const one = await api('GET', '/scenarios/guarded');
    equal([one.headers.etag, one.json.draft.definition], ['"2"', { a: 3 }]);
});

claim('a draft with errors cannot be published', async () => {
    const answer = await api('POST', '/scenarios/drafty/publish');
    isProblem(answer, 422, 'invalid');
    equal(answer.json.errors.length > 0, true);
    isProblem(await api('POST', '/scenarios/nothing/publish'), 404, 'not_found');
});

claim('the code in the path is the code in the definition', async () => {
    const answer = await api('PUT', '/scenarios/other/draft', greeting('Hello'));
    equal([answer.json.valid, answer.json.errors[0].pointer], [false, '/code']);
});

claim('versions keep the text as it was sent', async () => {
    equal(await publish('greeting', greeting('Hello')), 1);
    equal(await publish('greeting', greeting('Hi')), 2);
    const list = await api('GET', '/scenarios/greeting/versions');
    equal(list.json.items.map(v => [v.version, v.status]),
        [[2, 'published'], [1, 'superseded']]);
    const first = await api('GET', '/scenarios/greeting/versions/1');
    equal(first.raw.includes(greeting('Hello')), true, 'the bytes');
    isProblem(await api('GET', '/scenarios/greeting/versions/3'), 404, 'not_found');
    isProblem(await api('GET', '/scenarios/greeting/versions/x'), 404, 'not_found');
    isProblem(await api('GET', '/scenarios/nothing/versions'), 404, 'not_found');
});

claim('a published draft is no draft any more', async () => {
    const one = (await api('GET', '/scenarios/greeting')).json;
    equal([one.code, one.name, one.published.version, one.draft],
        ['greeting', 'Greeting', 2, null]);
    isProblem(await api('DELETE', '/scenarios/greeting/draft'), 404, 'not_found');
    isProblem(await api('GET', '/scenarios/nothing'), 404, 'not_found');
});

claim('definitions are listed by code, page by page', async () => {
    const codes = [];
    let cursor = '';
    do {
        const page = (await api('GET', `/scenarios?limit=2&cursor=${cursor}`)).json;
        codes.push(...page.items.map(i => i.code));
        cursor = page.nextCursor;
    } while (cursor);
    equal(codes, ['drafty', 'greeting', 'guarded', 'other']);
});

claim('validate keeps nothing', async () => {
    const good = await api('POST', '/validate',
        { kind: 'scenario', definition: JSON.parse(greeting('Hey')) });
    equal([good.status, good.json], [200, { valid: true, errors: [] }]);
    const bad = await api('POST', '/validate', { definition: { code: 'x', steps: 7 } });
    equal([bad.status, bad.json.valid], [200, false]);
    isProblem(await api('POST', '/validate', { definition: { nodes: [] } }), 422, 'invalid');
    isProblem(await api('POST', '/validate', {}), 422, 'invalid');
});

claim('eval answers value and type, or the column', async () => {
    const good = await api('POST', '/eval',
        { expression: '$.input.a + input.b', context: { input: { a: 1, b: 2 } } });
    equal([good.status, good.json], [200, { value: 3, type: 'int' }]);
    const bad = await api('POST', '/eval', { expression: '1 + ' });
    isProblem(bad, 422, 'expression_syntax');
    equal([bad.json.errors[0].pointer, bad.json.errors[0].column], ['/expression', 5]);
    isProblem(await api('POST', '/eval', { expression: '[1][5]' }), 422, 'expression_error');
    equal((await api('PUT', '/functions/thrice', { params: [{ name: 'x', type: 'integer' }], body: 'x * 3' })).status, 201);
    equal((await api('POST', '/eval', { expression: 'fn.thrice(a)', context: { a: 5 } })).json, { value: 15, type: 'int' });
    const unknown = await api('POST', '/eval', { expression: 'fn.thirce(1)' });
    equal(unknown.json.detail, "undeclared function 'fn.thirce'; did you mean 'fn.thrice'?");
    equal((await api('POST', '/eval', { expression: '$["a-b"]', context: { 'a-b': 1 } })).json.value, 1);
});

// --- executions ---

claim('a start with ?wait answers with the end', async () => {
    const answer = await api('POST', '/executions?wait=60s',
        { code: 'greeting', input: { who: 'Ada' } });
    equal(answer.status, 201);
    equal([answer.json.status, answer.json.result], ['completed', { text: 'Hi, Ada' }]);
    equal(answer.headers.location, `/api/v1/executions/${answer.json.id}`);
    const again = await call('GET', answer.headers.location);
    equal(again.json, answer.json, 'GET and the answer');
});

claim('a start that cannot be says why', async () => {
    isProblem(await api('POST', '/executions', { code: 'nothing' }), 404, 'not_found');
    isProblem(await api('POST', '/executions', { code: 'greeting', version: 9 }), 404, 'not_found');
    const bad = await api('POST', '/executions', { code: 'greeting', input: { who: 7 } });
    isProblem(bad, 422, 'invalid');
    equal(bad.json.errors[0].pointer, '/input/who');
    isProblem(await api('POST', '/executions?wait=soon', { code: 'greeting' }), 400, 'bad_request');
});

claim('a wait that outlasts ?wait is 202', async () => {
    await publish('waiting', waiting);
    const answer = await api('POST', '/executions?wait=50ms', { code: 'waiting', key: 'w1' });
    equal([answer.status, answer.json.status, answer.json.waitingFor.kind],
        [202, 'waiting', 'signal']);
    const busy = await api('POST', '/executions', { code: 'waiting', key: 'w1' });
    isProblem(busy, 409, 'key_busy');
    equal(busy.json.executionId, answer.json.id);
    const taken = await api('POST', `/executions/${answer.json.id}/signal?wait=60s`,
        { type: 'go', payload: { n: 1 }, id: 's-1' });
    equal([taken.status, taken.json.id, taken.json.executionId, taken.json.status],
        [200, 's-1', answer.json.id, 'completed']);
    equal(taken.json.step, (await api('GET', `/executions/${answer.json.id}/steps`)).json.items[0]);
    equal((await api('POST', `/executions/${answer.json.id}/signal`,
        { type: 'go', payload: { n: 1 }, id: 's-1' })).status, 202);
    isProblem(await api('POST', `/executions/${answer.json.id}/signal`,
        { type: 'go', payload: { n: 2 }, id: 's-1' }), 409, 'conflict');
});

claim('many clients wait at once and each gets its own answer', async () => {
    const started = await Promise.all(Array.from({ length: 200 }, () =>
        api('POST', '/executions', { code: 'waiting' })));
    const waits = started.map((s, i) => api('POST', `/executions/${s.json.id}/signal?wait=60s`,
        { type: 'go', payload: i }));
    const ends = await Promise.all(waits);
    equal(ends.every((e, i) => e.json.step.output.payload === i), true);
});

claim('a signal with ?wait answers with the step that took it', async () => {
    const wait = (code, type) => ({ code, procedure: { type: 'wait.signal', signalType: type } });
    await publish('two_waits', JSON.stringify({ code: 'two_waits',
        steps: [wait('first', 'one'), wait('second', 'two'), wait('third', 'three')] }));
    const { id } = (await api('POST', '/executions', { code: 'two_waits' })).json;
    const signal = (body, query = '?wait=60s', headers = {}) =>
        api('POST', `/executions/${id}/signal${query}`, body, headers);
    const none = await signal({ type: 'three' }, '?wait=50ms');
    equal([none.status, Object.keys(none.json)], [202, ['id']]);
    // It comes too early: the answer comes when the second wait takes it.
    const early = signal({ type: 'two', payload: 'early', id: 'e-1' }, '?wait=60s',
        { 'Idempotency-Key': 'early' });
    let kept = [];
    while (kept.length < 2)
        kept = (await api('GET', `/executions/${id}`)).json.context.signals;
    const first = await signal({ type: 'one' });
    equal([first.status, first.json.step.step, first.json.step.status, first.json.status],
        [200, 'first', 'completed', 'completed']);
    const second = await early;
    equal([second.status, second.json.id, second.json.executionId, second.json.step.step,
        second.json.step.output.payload], [200, 'e-1', id, 'second', 'early']);
    // Whoever asks again hears the same, by the id of the signal and by the key of the request.
    const again = await signal({ type: 'two', payload: 'early', id: 'e-1' });
    equal([again.status, again.json], [200, second.json]);
    const repeated = await signal({ type: 'two', payload: 'early', id: 'e-1' }, '?wait=60s',
        { 'Idempotency-Key': 'early' });
    equal([repeated.status, repeated.json], [200, second.json]);
    const plain = await signal({ type: 'two', payload: 'early', id: 'e-1' }, '',
        { 'Idempotency-Key': 'early' });
    equal([plain.status, plain.json], [202, { id: 'e-1' }]);
});

claim('a signal that is asked for again while it waits is answered when it is taken', async () => {
    const { id } = (await api('POST', '/executions', { code: 'two_waits' })).json;
    const late = { type: 'two', id: 'l-1' };
    equal((await api('POST', `/executions/${id}/signal`, late)).status, 202);
    const waits = [1, 2, 3].map(() => api('POST', `/executions/${id}/signal?wait=60s`, late));
    await api('POST', `/executions/${id}/signal?wait=60s`, { type: 'one' });
    for (const answer of await Promise.all(waits))
        equal([answer.status, answer.json.step.step], [200, 'second']);
    await api('POST', `/executions/${id}/cancel`);
    const gone = await api('POST', `/executions/${id}/signal?wait=60s`, late);
    equal([gone.status, gone.json.step.step, gone.json.status], [200, 'second', 'cancelled']);
});

claim('cancel ends a wait', async () => {
    const waiter = api('POST', '/executions?wait=60s', { code: 'waiting', key: 'c1' });
    let found = [];
    while (found.length === 0)
        found = (await api('GET', '/executions?key=c1')).json.items;
    const { id } = found[0];
    equal((await api('POST', `/executions/${id}/cancel`, { reason: 'test' })).status, 202);
    const end = await waiter;
    equal([end.status, end.json.id, end.json.status], [201, id, 'cancelled']);
    isProblem(await api('POST', `/executions/${id}/cancel`), 409, 'conflict');
    isProblem(await api('POST', `/executions/${id}/signal`, { type: 'go' }), 409, 'conflict');
});

claim('what does not exist is not found', async () => {
    const none = '01900000-0000-7000-8000-000000000000';
    for (const id of [none, 'nonsense']) {
        isProblem(await api('GET', `/executions/${id}`), 404, 'not_found');
        isProblem(await api('GET', `/executions/${id}/steps`), 404, 'not_found');
        isProblem(await api('POST', `/executions/${id}/signal`, { type: 'x' }), 404, 'not_found');
        isProblem(await api('POST', `/executions/${id}/cancel`), 404, 'not_found');
    }
});

claim('executions are listed newest first, page by page', async () => {
    const made = [];
    for (let i = 0; i < 5; i++)
        made.unshift((await api('POST', '/executions', { code: 'greeting', key: 'page' })).json.id);
    const seen = [];
    let cursor = '';
    do {
        const page = (await api('GET', `/executions?key=page&limit=2&cursor=${cursor}`)).json;
        seen.push(...page.items.map(i => i.id));
        cursor = page.nextCursor;
    } while (cursor);
    equal(seen, made);
    isProblem(await api('GET', '/executions?limit=501'), 400, 'bad_request');
    isProblem(await api('GET', '/executions?limit=0'), 400, 'bad_request');
    isProblem(await api('GET', '/executions?cursor=x'), 400, 'bad_request');
    isProblem(await api('GET', '/executions?status=x'), 400, 'bad_request');
    isProblem(await api('GET', '/executions?from=x'), 400, 'bad_request');
});

claim('filters and search find executions', async () => {
    const { id } = (await api('POST', '/executions', { code: 'waiting', key: 'a b/c' })).json;
    const ids = async query => (await api('GET', '/executions?' + query)).json.items.map(i => i.id);
    equal(await ids('key=a%20b%2Fc'), [id]);
    equal(await ids(`q=${id}`), [id]);
    equal(await ids(`q=${id.slice(-10)}`), [id], 'by the end of the id');
    equal(await ids('q=a+b/c'), [id], 'by key');
    equal((await ids('status=waiting&code=waiting&step=ask'))[0], id);
    equal(await ids('code=greeting&status=waiting'), []);
    equal(await ids('to=2020-01-01'), []);
    equal((await ids('from=2020-01-01T00:00:00Z&limit=1')).length, 1);
});

claim('steps are history in order, page by page', async () => {
    const { id } = (await api('POST', '/executions', { code: 'waiting' })).json;
    equal((await api('GET', `/executions/${id}/steps`)).json, { items: [], nextCursor: null });
    await api('POST', `/executions/${id}/signal?wait=60s`, { type: 'go', payload: 1 });
    const all = (await api('GET', `/executions/${id}/steps`)).json;
    equal(all.items.map(s => [s.step, s.kind, s.status, s.visit, s.attempt]),
        [['ask', 'forward', 'completed', 1, 1], ['done', 'forward', 'completed', 1, 1]]);
    equal(all.items[0].idempotencyKey, `${id}-ask`);
    equal(all.items[0].seq < all.items[1].seq, true);
    const first = (await api('GET', `/executions/${id}/steps?limit=1`)).json;
    equal(first.items.map(s => s.step), ['ask']);
    const second = (await api('GET', `/executions/${id}/steps?cursor=${first.nextCursor}`)).json;
    equal([second.items.map(s => s.step), second.nextCursor], [['done'], null]);
});

claim('a record that is made again goes on counting', async () => {
    const run = async (code, procedure) => {
        await publish(code, JSON.stringify({ code, steps: [{ code: 'a', procedure }] }));
        return (await api('POST', '/executions?wait=60s', { code })).json.result;
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

claim('a repeated start is the same execution', async () => {
    const key = { 'Idempotency-Key': 'start-1' };
    const body = { code: 'waiting', input: {} };
    const first = await api('POST', '/executions', body, key);
    const second = await api('POST', '/executions', body, key);
    equal([first.status, second.status], [201, 200]);
    equal(second.json.id, first.json.id);
    isProblem(await api('POST', '/executions', { code: 'greeting' }, key),
        409, 'idempotency_conflict');
    const waited = api('POST', '/executions?wait=60s', body, key);
    await api('POST', `/executions/${first.json.id}/signal`, { type: 'go', payload: 5 });
    const end = await waited;
    equal([end.status, end.json.id, end.json.result], [200, first.json.id, { got: 5 }]);
});

claim('starts that come together under one key are one', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () =>
        api('POST', '/executions', { code: 'greeting' }, { 'Idempotency-Key': 'together' })));
    equal(new Set(answers.map(a => a.json.id)).size, 1);
    equal(answers.filter(a => a.status === 201).length, 1);
});

claim('repeated changes of definitions have the same answer', async () => {
    const save = { 'Idempotency-Key': 'save-1' };
    const text = greeting('Moin');
    const first = await api('PUT', '/scenarios/greeting/draft', text, save);
    equal((await api('PUT', '/scenarios/greeting/draft', text, save)).raw, first.raw);
    const key = { 'Idempotency-Key': 'publish-1' };
    const one = await api('POST', '/scenarios/greeting/publish', undefined, key);
    const two = await api('POST', '/scenarios/greeting/publish', undefined, key);
    equal([one.status, two.status, two.raw], [200, 200, one.raw]);
    isProblem(await api('POST', '/scenarios/greeting/publish', undefined,
        { 'Idempotency-Key': 'publish-2' }), 404, 'not_found');
    isProblem(await api('POST', '/scenarios/greeting/publish', { changeSummary: 'x' }, key),
        409, 'idempotency_conflict');
});

claim('a repeated signal is received once', async () => {
    const { id } = (await api('POST', '/executions', { code: 'waiting' })).json;
    const key = { 'Idempotency-Key': 'signal-1' };
    const first = await api('POST', `/executions/${id}/signal`, { type: 'go' }, key);
    const second = await api('POST', `/executions/${id}/signal`, { type: 'go' }, key);
    equal([first.status, second.status], [202, 202]);
    equal(second.json, first.json);
});

claim('a refusal that rests on the state is repeated byte for byte', async () => {
    const same = async (method, path, body, key, code, headers = {}) => {
        const ask = () => api(method, path, body, { 'Idempotency-Key': key, ...headers });
        const first = await ask();
        isProblem(first, code === 'precondition_failed' ? 412 : code === 'not_found' ? 404 : 409, code);
        return async () => {
            const again = await ask();
            equal([again.status, again.raw, again.headers['content-type']],
                [first.status, first.raw, 'application/problem+json'], key);
            return again;
        };
    };
    // 409: someone has the business key, and then has it no longer.
    const holder = (await api('POST', '/executions', { code: 'waiting', key: 'r-1' })).json.id;
    const busy = await same('POST', '/executions', { code: 'waiting', key: 'r-1' }, 'r-busy', 'key_busy');
    equal((await busy()).json.executionId, holder);
    await api('POST', `/executions/${holder}/cancel`);
    await busy();
    isProblem(await api('POST', '/executions', { code: 'greeting' }, { 'Idempotency-Key': 'r-busy' }),
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

claim('a refusal that does not rest on the state is not kept', async () => {
    const key = { 'Idempotency-Key': 'not-kept' };
    const strict = JSON.stringify({ code: 'strict', input: [{ name: 'n', type: 'integer', required: true }],
        steps: [{ code: 'a', procedure: { type: 'compute.transform', data: {} } }] });
    await publish('strict', strict);
    isProblem(await api('POST', '/executions', { code: 'strict' }, key), 422, 'invalid');
    await publish('strict', strict.replace('"required":true', '"required":false'));
    equal((await api('POST', '/executions', { code: 'strict' }, key)).status, 201);
});

claim('requests under one key that come together have one answer', async () => {
    const { id } = (await api('POST', '/executions', { code: 'waiting' })).json;
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

claim('a key that is too long is refused', async () => {
    isProblem(await api('POST', '/executions', { code: 'greeting' },
        { 'Idempotency-Key': 'k'.repeat(256) }), 400, 'bad_request');
});

// ---

await startServer();
for (const { name, run } of claims) {
    try {
        await run();
        passed++;
    } catch (error) {
        failed++;
        console.log(`failed: ${name}\n  ${error instanceof Wrong ? error.message : error.stack}`);
    }
}
agent.destroy();
server.kill('SIGTERM');
const code = await new Promise(done => server.on('exit', done));
if (code !== 0) {
    failed++;
    console.log(`failed: the server ended with status ${code}`);
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
