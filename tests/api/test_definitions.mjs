// Definitions of every kind, over HTTP and on both stores: how they are saved, published, taken
// back, exported and imported, and what a crash, a race or another node does to that.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Postgres } from '../kill/postgres.mjs';
import { Server, checkProgram, until } from '../kill/server.mjs';

const pawl = resolve(process.env.PAWL ?? 'build/pawl');
const folder = mkdtempSync(join(tmpdir(), 'pawl-definitions-'));
let passed = 0;
let failed = 0;

// --- claims ---

class Wrong extends Error {}

function equal(actual, wanted, what = 'value') {
    const a = JSON.stringify(actual), w = JSON.stringify(wanted);
    if (a !== w) throw new Wrong(`${what}: ${a}, wanted ${w}`);
}

function isProblem(answer, status, code, detail = '') {
    equal([answer.status, answer.json?.code], [status, code], answer.raw);
    if (!answer.json.detail.includes(detail)) throw new Wrong(`${answer.raw} lacks: ${detail}`);
}

const claims = [];
const claim = (name, run) => claims.push({ name, run });

async function runClaims(where, server, all = claims) {
    for (const { name, run } of all) {
        try {
            await run(server);
            passed++;
        } catch (error) {
            failed++;
            console.log(`failed: ${where}: ${name}\n  ${error instanceof Wrong ? error.message : error.stack}`);
        }
    }
}

// --- a server ---

let count = 0;

async function startServer(store = null, program = pawl, environment = {}) {
    const server = new Server(join(folder, `data${++count}`), store, program);
    if (!(await server.start(environment))) throw new Error(server.log);
    server.call = async (method, path, body, headers = {}) => {
        const answer = await fetch(`${server.url}/api/v1${path}`, {
            method,
            body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
            headers: { Authorization: `Bearer ${server.token}`, ...headers },
        });
        const raw = await answer.text();
        let json = null;
        try {
            json = JSON.parse(raw);
        } catch { /* no JSON */ }
        return { status: answer.status, etag: answer.headers.get('etag'), raw, json };
    };
    return server;
}

const transform = (code, data) => ({
    code,
    steps: [{ code: 'a', procedure: { type: 'compute.transform', data } }],
});

async function publish(s, definition) {
    const { code } = definition;
    equal((await s.call('PUT', `/scenarios/${code}/draft`, definition)).status, 200);
    const answer = await s.call('POST', `/scenarios/${code}/publish`);
    equal(answer.status, 200, answer.raw);
    return answer.json.version;
}

async function result(s, code, input = {}) {
    const answer = await s.call('POST', '/executions?wait=60s', { code, input });
    equal([answer.status, answer.json.status], [201, 'completed'], answer.raw);
    return answer.json.result;
}

// --- config ---

claim('config is saved, listed, replaced and removed', async (s) => {
    const made = await s.call('PUT', '/config/rate', { value: 0.5 });
    equal([made.status, made.json, made.etag], [201, { name: 'rate', version: 1 }, '"1"']);
    const same = await s.call('PUT', '/config/rate', { value: 0.5 });
    equal([same.status, same.json.version], [200, 1], 'the same value');
    equal((await s.call('PUT', '/config/rate', { value: { a: [1, null] } })).json.version, 2);
    const one = await s.call('GET', '/config/rate');
    equal([one.json.name, one.json.value, one.etag], ['rate', { a: [1, null] }, '"2"']);
    for (const name of ['B', 'a_', 'ab', '_x']) await s.call('PUT', `/config/${name}`, { value: name });
    const names = [];
    let cursor = '';
    do {
        const page = (await s.call('GET', `/config?limit=2&cursor=${cursor}`)).json;
        names.push(...page.items.map((i) => i.name));
        cursor = page.nextCursor;
    } while (cursor);
    equal(names, ['B', '_x', 'a_', 'ab', 'rate'], 'by the bytes of their names, page by page');
    for (const name of names) equal((await s.call('DELETE', `/config/${name}`)).status, 204);
    isProblem(await s.call('GET', '/config/rate'), 404, 'not_found');
    isProblem(await s.call('DELETE', '/config/rate'), 404, 'not_found');
    const again = await s.call('PUT', '/config/rate', { value: 1 });
    equal([again.status, again.json.version], [201, 3], 'numbers are not given twice');
});

claim('bad config is refused', async (s) => {
    isProblem(await s.call('PUT', '/config/rate', { valeu: 1 }), 422, 'invalid');
    isProblem(await s.call('PUT', '/config/rate', {}), 422, 'invalid', "'value' is missing");
    isProblem(await s.call('PUT', '/config/rate', '[1]'), 422, 'invalid');
    isProblem(await s.call('PUT', '/config/rate', '{"value": }'), 400, 'bad_json');
    isProblem(await s.call('PUT', '/config/a-b', { value: 1 }), 422, 'invalid', 'a name is');
    isProblem(await s.call('PUT', '/config/big', { value: 'x'.repeat(70000) }), 413, 'too_large');
    equal((await s.call('GET', '/config/rate')).json.value, 1, 'nothing has changed');
});

claim('config is live for what runs already', async (s) => {
    await s.call('PUT', '/config/limit', { value: 10 });
    await publish(s, {
        code: 'live',
        steps: [
            { code: 'before', procedure: { type: 'compute.transform', data: { limit: '$.config.limit' } } },
            { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
            { code: 'after', procedure: { type: 'compute.transform', data: {
                before: '$.steps.before.limit', after: '$.config.limit' } } },
        ],
    });
    const { id } = (await s.call('POST', '/executions', { code: 'live' })).json;
    await s.call('PUT', '/config/limit', { value: 'twenty' });
    await s.call('POST', `/executions/${id}/signal`, { type: 'go' });
    const end = await until('it ends', async () => {
        const x = (await s.call('GET', `/executions/${id}`)).json;
        return x.status === 'completed' && x;
    });
    equal(end.result, { before: 10, after: 'twenty' });
});

claim('config that a definition uses must exist, and stays', async (s) => {
    const bad = await s.call('PUT', '/scenarios/uses/draft', transform('uses', { x: '$.config.limt' }));
    equal([bad.json.valid, bad.json.errors[0].pointer, bad.json.errors[0].column, bad.json.errors[0].hint],
        [false, '/steps/0/procedure/data/x', 10, "did you mean 'config.limit'?"]);
    isProblem(await s.call('POST', '/scenarios/uses/publish'), 422, 'invalid', 'config.limt');
    isProblem(await s.call('DELETE', '/config/limit'), 409, 'conflict', "scenario 'live'");
    await publish(s, transform('uses', { x: '=$.config.?nothing.orValue(7)' }));
    equal(await result(s, 'uses'), { x: 7 }, 'what is asked for may be missing');
});

claim('of several who save over the same version one wins', async (s) => {
    const { etag } = await s.call('PUT', '/config/raced', { value: 0 });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) =>
        s.call('PUT', '/config/raced', { value: i + 1 }, { 'If-Match': etag })));
    equal(answers.map((a) => a.status).sort().filter((x) => x !== 412), [200]);
    const won = answers.findIndex((a) => a.status === 200);
    equal((await s.call('GET', '/config/raced')).json.value, won + 1);
    isProblem(await s.call('PUT', '/config/raced', { value: 1 }, { 'If-None-Match': '*' }),
        412, 'precondition_failed');
    const drafts = await Promise.all(Array.from({ length: 20 }, (_, i) =>
        s.call('PUT', '/scenarios/raced/draft', { code: 'raced', n: i }, { 'If-None-Match': '*' })));
    equal(drafts.filter((a) => a.status === 200).length, 1);
});

claim('who publishes a draft that somebody else has saved since is refused, and nothing is published', async (s) => {
    const mine = await s.call('PUT', '/scenarios/pushed/draft', transform('pushed', { x: 1 }));
    const theirs = await s.call('PUT', '/scenarios/pushed/draft', transform('pushed', { x: 2 }));
    isProblem(await s.call('POST', '/scenarios/pushed/publish', {}, { 'If-Match': mine.etag }), 412, 'precondition_failed');
    equal((await s.call('GET', '/scenarios/pushed')).json.published, null);
    equal((await s.call('POST', '/scenarios/pushed/publish', {}, { 'If-Match': theirs.etag })).json.version, 1);
});

// --- functions ---

const number = (name) => ({ name, type: 'number' });

claim('functions are called by definitions and by each other', async (s) => {
    equal((await s.call('PUT', '/functions/quarter', { params: [number('x')], body: 'fn.half(fn.half(x))' })).status,
        422, 'what it calls does not exist');
    equal((await s.call('PUT', '/functions/half', { params: [number('x')], body: 'x * 0.5' })).json,
        { name: 'half', version: 1 });
    equal((await s.call('PUT', '/functions/quarter', { params: [number('x')], body: 'fn.half(fn.half(x))' })).status, 201);
    await publish(s, transform('fourth', { v: '=fn.quarter($.input.n)' }));
    equal(await result(s, 'fourth', { n: 8 }), { v: 2 });
    const one = (await s.call('GET', '/functions/half')).json;
    equal([one.name, one.version, one.params, one.body], ['half', 1, [number('x')], 'x * 0.5']);
    equal((await s.call('GET', '/functions')).json.items.map((i) => i.name), ['half', 'quarter']);
});

claim('a function that is saved is used by what starts then', async (s) => {
    equal((await s.call('PUT', '/functions/half', { params: [number('x')], body: 'x * 0.25' })).json.version, 2);
    equal(await result(s, 'fourth', { n: 8 }), { v: 0.5 });
    await s.call('PUT', '/functions/half', { params: [number('x')], body: 'x * 0.5' });
    equal(await result(s, 'fourth', { n: 8 }), { v: 2 });
});

claim('a change that would break what is published is refused', async (s) => {
    isProblem(await s.call('PUT', '/functions/half', { params: [], body: '1' }), 409, 'conflict', "function 'quarter'");
    isProblem(await s.call('PUT', '/functions/quarter', { params: [number('x'), number('y')], body: 'x + y' }),
        409, 'conflict', "scenario 'fourth'");
    isProblem(await s.call('DELETE', '/functions/half'), 409, 'conflict', "function 'quarter'");
    isProblem(await s.call('DELETE', '/functions/quarter'), 409, 'conflict', "scenario 'fourth'");
    equal(await result(s, 'fourth', { n: 8 }), { v: 2 }, 'nothing has changed');
});

claim('mistakes in a function have a pointer and a column', async (s) => {
    const bad = await s.call('PUT', '/functions/bad', { params: [{ name: 'x', typ: 'number' }], body: 'x + + 1' });
    isProblem(bad, 422, 'invalid');
    equal(bad.json.errors.map((e) => [e.pointer, e.hint]), [['/params/0/typ', "did you mean 'type'?"]]);
    const worse = await s.call('PUT', '/functions/bad', { params: [], body: '1 +* 2' });
    equal(worse.json.errors.map((e) => [e.pointer, e.code, e.column, e.severity]),
        [['/body', 'expression_syntax', 4, 'error']]);
    const self = await s.call('PUT', '/functions/bad', { params: [], body: 'fn.bad()' });
    equal(self.json.errors.map((e) => [e.pointer, e.code]), [['/body', 'recursion']]);
    isProblem(await s.call('GET', '/functions/bad'), 404, 'not_found');
});

claim('what was published with a function goes on when that is deleted later', async (s) => {
    await s.call('PUT', '/functions/gone', { params: [], body: '1' });
    const waits = (value) => ({ code: 'outlives', steps: [
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
        { code: 'b', procedure: { type: 'compute.transform', data: { v: value } } }] });
    await publish(s, waits('=fn.gone()'));
    const { id } = (await s.call('POST', '/executions', { code: 'outlives' })).json;
    await publish(s, waits(2));
    equal((await s.call('DELETE', '/functions/gone')).status, 204);
    isProblem(await s.call('GET', '/functions/gone'), 404, 'not_found');
    await s.kill();
    await s.start();
    await s.call('POST', `/executions/${id}/signal`, { type: 'go' });
    const end = await until('it ends', async () => {
        const x = (await s.call('GET', `/executions/${id}`)).json;
        return x.status === 'completed' && x;
    });
    equal(end.result, { v: 1 });
    equal((await s.call('PUT', '/functions/gone', { params: [], body: '3' })).json.version, 2);
});

// --- templates ---

claim('templates are saved, checked and shown', async (s) => {
    const bad = await s.call('PUT', '/templates/hello', { subject: 'Hi {{ data.name', body: '' });
    isProblem(bad, 422, 'invalid');
    equal(bad.json.errors.map((e) => [e.pointer, e.column]), [['/subject', 16]]);
    const text = { subject: 'Hi {{ data.name }}', body: '{{ config.limit }} for {{ user.name }}',
        html: '<p>{{ data.name }}</p>' };
    equal((await s.call('PUT', '/templates/hello', text)).status, 201);
    equal((await s.call('PUT', '/templates/hello', text)).status, 200);
    const one = (await s.call('GET', '/templates/hello')).json;
    equal([one.code, one.subject, one.body, one.html], ['hello', text.subject, text.body, text.html]);
    const shown = await s.call('POST', '/templates/hello/preview', { data: { name: '<Ada> & "co"' } });
    equal([shown.status, shown.json], [200, { subject: 'Hi <Ada> & "co"', body: 'twenty for admin',
        html: '<p>&lt;Ada&gt; &amp; &quot;co&quot;</p>' }]);
    const lacking = await s.call('POST', '/templates/hello/preview', { data: {} });
    isProblem(lacking, 422, 'invalid', "no such key: 'name'; has(a.b) and a.?b ask whether there is one");
    equal(lacking.json.errors.map((e) => [e.pointer, e.column]), [['/subject', 12], ['/html', 12]]);
    isProblem(await s.call('POST', '/templates/nothing/preview', {}), 404, 'not_found');
    isProblem(await s.call('DELETE', '/config/limit'), 409, 'conflict');
    const unsaved = { subject: 'To {{ data.name }}', body: '{{ config.limit }}' };
    equal((await s.call('POST', '/templates/not_yet/preview', { data: { name: 'Ada' }, template: unsaved })).json,
        { subject: 'To Ada', body: 'twenty', html: null }, 'a text is shown before it is saved');
    const wrong = await s.call('POST', '/templates/hello/preview', { data: {}, template: { ...unsaved, body: '{{ data.' } });
    isProblem(wrong, 422, 'invalid');
    equal(wrong.json.errors.map((e) => e.pointer), ['/template/body']);
    isProblem(await s.call('POST', '/templates/hello/preview', { data: {}, template: 7 }), 422, 'invalid');
    isProblem(await s.call('POST', '/templates/hello/preview', { data: {}, template: { ...unsaved, colour: 'red' } }), 422, 'invalid');
    equal((await s.call('GET', '/templates/hello')).json.subject, text.subject, 'and nothing was saved');
    equal((await s.call('PUT', '/templates/plain', { subject: 's', body: 'b' })).status, 201);
    equal((await s.call('POST', '/templates/plain/preview')).json, { subject: 's', body: 'b', html: null });
    equal((await s.call('DELETE', '/templates/plain')).status, 204);
});

claim('a template that a published process sends is not deleted', async (s) => {
    equal((await s.call('PUT', '/templates/sent', { subject: 's', body: 'b' })).status, 201);
    await publish(s, { code: 'sender', steps: [{ code: 'mail', procedure: { type: 'notification.email', to: 'ada@example.org', template: 'sent' } }] });
    isProblem(await s.call('DELETE', '/templates/sent'), 409, 'conflict', "scenario 'sender' uses it");
    await s.call('POST', '/scenarios/sender/retire');
    equal((await s.call('DELETE', '/scenarios/sender')).status, 200);
    equal((await s.call('DELETE', '/templates/sent')).status, 204);
});

claim('a template may have the code of a process', async (s) => {
    await publish(s, transform('namesake', { n: 1 }));
    for (const subject of ['a', 'b', 'c']) await s.call('PUT', '/templates/namesake', { subject, body: '' });
    equal(await result(s, 'namesake'), { n: 1 });
    equal((await s.call('DELETE', '/templates/namesake')).status, 204);
    equal(await result(s, 'namesake'), { n: 1 });
});

// --- versions ---

claim('a revert publishes what was published before, under its own number', async (s) => {
    const version = (n) => transform('turns', { n });
    isProblem(await s.call('POST', '/scenarios/turns/revert'), 404, 'not_found');
    for (const n of [1, 2, 3]) equal(await publish(s, version(n)), n);
    await s.call('PUT', '/scenarios/turns/draft', version(99));
    const waiting = { code: 'kept', steps: [
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
        { code: 'b', procedure: { type: 'compute.transform', data: { n: 1 } } }] };
    await publish(s, waiting);
    waiting.steps[1].procedure.data.n = 2;
    await publish(s, waiting);
    const { id } = (await s.call('POST', '/executions', { code: 'kept' })).json;
    await s.call('POST', '/scenarios/kept/revert');
    await s.call('POST', `/executions/${id}/signal`, { type: 'go' });
    await until('it ends', async () => (await s.call('GET', `/executions/${id}`)).json.result?.n === 2);

    const back = await s.call('POST', '/scenarios/turns/revert', { changeSummary: 'bad idea' });
    equal([back.status, back.json], [200, { code: 'turns', version: 2 }]);
    equal(await result(s, 'turns'), { n: 2 }, 'at once');
    equal((await s.call('GET', '/scenarios/turns')).json.draft.definition.steps[0].procedure.data, { n: 99 },
        'the draft stays');
    equal((await s.call('POST', '/scenarios/turns/revert')).json.version, 1);
    isProblem(await s.call('POST', '/scenarios/turns/revert'), 409, 'conflict', 'before version 1');
    equal(await result(s, 'turns'), { n: 1 });
    equal((await s.call('POST', '/scenarios/turns/publish')).json.version, 4, 'numbers are not given twice');
    equal((await s.call('POST', '/scenarios/turns/revert')).json.version, 1, 'what was published before, not what was taken back');
    equal((await s.call('GET', '/scenarios/turns/versions')).json.items.map((v) => [v.version, v.status]),
        [[4, 'superseded'], [3, 'superseded'], [2, 'superseded'], [1, 'published']]);
});

claim('a revert that is repeated under its key happens once', async (s) => {
    for (const n of [1, 2, 3]) await publish(s, transform('once', { n }));
    const key = { 'Idempotency-Key': 'revert-1' };
    const first = await s.call('POST', '/scenarios/once/revert', undefined, key);
    const second = await s.call('POST', '/scenarios/once/revert', undefined, key);
    equal([first.raw, second.raw], ['{"code":"once","version":2}', '{"code":"once","version":2}']);
});

claim('what was published before and is not valid any more does not come back', async (s) => {
    await s.call('PUT', '/config/passing', { value: 1 });
    await publish(s, transform('passes', { x: '$.config.passing' }));
    await publish(s, transform('passes', { x: 2 }));
    equal((await s.call('DELETE', '/config/passing')).status, 204);
    isProblem(await s.call('POST', '/scenarios/passes/revert'), 422, 'invalid', 'config.passing');
    equal(await result(s, 'passes'), { x: 2 });
});

claim('processes are listed with their kind, and definitions kept to the byte', async (s) => {
    const text = '{ "code":"bytes",\n\t"name" : "B\\u00e4r 🐻", "meta": {"n": 1.50, "e": 1e2},  "steps":[ ] }';
    equal((await s.call('PUT', '/scenarios/bytes/draft', text)).json.errors.map((e) => e.code), ['no_steps']);
    const list = (await s.call('GET', '/processes?limit=500')).json.items;
    const one = list.find((p) => p.code === 'bytes');
    equal([one.kind, one.name, one.published, one.draft.version], ['scenario', 'Bär 🐻', null, 1]);
    const codes = list.map((p) => p.code);
    equal(codes, [...codes].sort(), 'in order');
    equal((await s.call('GET', '/scenarios/bytes/versions/draft')).raw.includes(`"definition":${text}}`), true);
});

claim('config.calendar is what business days are counted by: it is checked when it is saved', async (s) => {
    const refused = async (value) => {
        const r = await s.call('PUT', '/config/calendar', { value });
        return [r.status, r.json.errors?.map((e) => [e.pointer, e.message])];
    };

    equal(await refused({ weekend: [6, 8], holidays: ['2026-13-01'], timezone: 'Berlin' }), [422, [
        ['/value/weekend/1', 'a day is a number from 1 for Monday to 7 for Sunday'],
        ['/value/holidays/0', 'a holiday is a date such as "2026-12-25"'],
        ['/value/timezone', "there is no time zone 'Berlin'; one is \"Europe/Berlin\", or \"+02:00\""]]]);
    equal(await refused({ holiday: [] }), [422, [['/value/holiday', "there is no field 'holiday' here"]]]);
    equal((await refused({ weekend: [6, 7], holidays: ['2026-12-25'], timezone: 'Europe/Berlin' }))[0], 201);
    await publish(s, { code: 'worked', steps: [{ code: 'w', procedure: { type: 'wait.timer', duration: '1bd' } }] });
    const started = Date.now();
    const { id } = (await s.call('POST', '/executions?wait=1s', { code: 'worked' })).json;
    const one = (await s.call('GET', `/executions/${id}`)).json;
    const hours = (new Date(one.waitingFor.until) - started) / 3600000;
    equal([one.status, hours > 22 && hours < 24 * 6], ['waiting', true], one.waitingFor.until);
    await s.call('DELETE', '/config/calendar');
});

// --- what flow.start names ---

claim('flow.start of a process that is not published is a warning, until one is', async (s) => {
    const starter = (code) => ({ code: 'starter', steps: [{ code: 'go', procedure: { type: 'flow.start', code } }] });
    const found = async (code) =>
        (await s.call('POST', '/validate', { definition: starter(code) })).json.errors.map((e) => [e.pointer, e.code, e.severity]);
    const warning = [['/steps/0/procedure/code', 'unknown_process', 'warning']];

    equal(await found('not_there_yet'), warning);
    equal(await found('starter'), []);
    const saved = await s.call('PUT', '/scenarios/starter/draft', starter('not_there_yet'));
    equal(saved.json.errors.map((e) => [e.pointer, e.code, e.severity]), warning);
    equal((await s.call('POST', '/scenarios/starter/publish')).status, 200);
    await s.call('PUT', '/scenarios/not_there_yet/draft', { code: 'not_there_yet', steps: [] });
    equal(await found('not_there_yet'), warning, 'a draft is not enough');
    await s.call('POST', '/scenarios/not_there_yet/publish');
    equal(await found('not_there_yet'), []);
});

claim('requiredWhen: a start and an answer without the field are refused, which names it and why', async (s) => {
    await publish(s, { code: 'conditional', input: [{ name: 'kind', type: 'string', required: true },
        { name: 'vat', type: 'string', requiredWhen: 'input.kind == "company"' }],
    steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'answer', form: [
        { name: 'ok', type: 'boolean', required: true }, { name: 'why', requiredWhen: '!payload.ok' }] } }] });
    const refused = async (path, body) => {
        const r = await s.call('POST', path, body);
        return [r.status, r.json.errors?.map((e) => `${e.pointer} ${e.code}: ${e.message}`)];
    };

    equal(await refused('/executions', { code: 'conditional', input: { kind: 'company' } }),
        [422, ["/input/vat missing_input: 'vat' is required when input.kind == \"company\""]]);
    const { id } = (await s.call('POST', '/executions', { code: 'conditional', input: { kind: 'person' } })).json;
    await s.call('GET', `/executions/${id}?wait=5s`);
    equal(await refused(`/executions/${id}/signal`, { type: 'answer', payload: { ok: false } }),
        [422, ["/payload/why missing_input: 'why' is required when !payload.ok"]]);
    equal((await refused(`/executions/${id}/signal`, { type: 'answer', payload: { ok: true } }))[0], 202);
});

// --- procedures ---

const doubled = (factor, params = [{ ...number('x'), required: true }]) => ({ code: 'times', input: params,
    commands: [{ type: 'compute.transform', data: { y: `=$.input.x * ${factor}` } }] });

async function publishProcedure(s, definition) {
    const saved = await s.call('PUT', `/procedures/${definition.code}/draft`, definition);
    equal([saved.status, saved.json.errors], [200, []]);
    return s.call('POST', `/procedures/${definition.code}/publish`);
}

claim('procedures have drafts and versions, and what calls them stays valid', async (s) => {
    const calls = { code: 'calls', steps: [{ code: 'a', procedure: 'times', input: { x: '$.input.n' } }] };
    equal((await s.call('PUT', '/scenarios/calls/draft', calls)).json.errors.map((e) => e.code), ['unknown_procedure']);
    equal((await publishProcedure(s, doubled(2))).json, { code: 'times', version: 1 });
    await publish(s, calls);
    equal(await result(s, 'calls', { n: 4 }), { y: 8 });
    equal((await publishProcedure(s, doubled(3))).json.version, 2);
    equal(await result(s, 'calls', { n: 4 }), { y: 12 }, 'what starts then');
    isProblem(await publishProcedure(s, doubled(3, [{ ...number('x'), required: true }, { ...number('other'), required: true }])), 409, 'conflict', "scenario 'calls'");
    equal((await s.call('POST', '/procedures/times/revert')).json.version, 1);
    equal(await result(s, 'calls', { n: 4 }), { y: 8 });
    const self = await s.call('PUT', '/procedures/again/draft', { code: 'again', commands: [{ type: 'flow.call', procedure: 'again' }] });
    equal(self.json.errors.map((e) => e.code), ['procedure_cycle']);
    equal((await s.call('GET', '/procedures')).json.items.map((p) => p.code), ['again', 'times']);
    equal((await s.call('GET', '/processes?limit=500')).json.items.some((p) => p.code === 'times'), false);
});

claim('procedures come with what calls them', async (s) => {
    const items = [
        { code: 'outer', steps: [{ code: 'a', procedure: 'inner' }] },
        { code: 'inner', commands: [{ type: 'compute.transform', data: { v: 1 } }] }];
    const done = await s.call('POST', '/import', { items });
    equal(done.json.items?.map((i) => [i.kind, i.action]), [['scenario', 'create'], ['procedure', 'create']], done.raw);
    equal(await result(s, 'outer'), { v: 1 });
    const some = (await s.call('GET', '/export?codes=outer,inner')).json.items;
    equal(some.map((i) => [i.kind, i.code]), [['procedure', 'inner'], ['scenario', 'outer']]);
});

// --- import and export ---

const bundle = () => ({ items: [
    { ...transform('shop', { total: '=fn.taxed($.input.net)', mail: '$.config.shop_mail' }), name: 'Shop' },
    { kind: 'function', name: 'taxed', params: [number('net')], body: 'fn.rounded(net * 1.19)' },
    { kind: 'template', code: 'receipt', subject: 'Thanks', body: '{{ config.shop_mail }}' },
    { kind: 'config', name: 'shop_mail', value: 'shop@example.com' },
    { kind: 'function', name: 'rounded', params: [number('x')], body: 'math.round(x)' },
] });

claim('an import with one mistake changes nothing', async (s) => {
    const broken = bundle();
    broken.items[1].body = 'net *';
    broken.items[3] = { kind: 'confg', name: 'shop_mail', value: 1 };
    broken.items.push({ code: 'Shop', steps: [] }, 7, { name: 'what' }, { ...bundle().items[4] });
    const answer = await s.call('POST', '/import', broken);
    isProblem(answer, 422, 'invalid', 'nothing was changed');
    const at = (pointer) => answer.json.errors.find((e) => e.pointer === pointer);
    equal(at('/items/1/body').code, 'expression_syntax');
    equal(at('/items/3/kind').hint, "did you mean 'config'?");
    equal(at('/items/5/code').code, 'bad_code');
    equal(at('/items/6').code, 'wrong_type');
    equal(at('/items/7/kind').code, 'missing_field');
    equal(at('/items/8/name').code, 'duplicate_code');
    equal(at('/items/0/steps/0/procedure/data/mail').column, 10, 'config that is nowhere');
    for (const path of ['/scenarios/shop', '/functions/taxed', '/functions/rounded', '/templates/receipt'])
        isProblem(await s.call('GET', path), 404, 'not_found');
    isProblem(await s.call('POST', '/import', {}), 422, 'invalid', 'items');
    equal((await s.call('POST', '/import', { items: [] }, { 'Idempotency-Key': 'nothing' })).json.items, []);
    isProblem(await s.call('POST', '/import', { items: {} }), 422, 'invalid');
    isProblem(await s.call('POST', '/import', { items: [], dryrun: true }), 422, 'invalid');
});

claim('an import publishes all, in any order, and says what changes', async (s) => {
    const plan = await s.call('POST', '/import', { ...bundle(), dryRun: true });
    equal(plan.json.items.map((i) => [i.kind, i.code, i.action]), [
        ['scenario', 'shop', 'create'], ['function', 'taxed', 'create'], ['template', 'receipt', 'create'],
        ['config', 'shop_mail', 'create'], ['function', 'rounded', 'create']]);
    isProblem(await s.call('GET', '/functions/taxed'), 404, 'not_found');
    const key = { 'Idempotency-Key': 'import-1' };
    const done = await s.call('POST', '/import', bundle(), key);
    equal([done.status, done.json.items.every((i) => i.version === 1)], [200, true], done.raw);
    equal((await s.call('POST', '/import', bundle(), key)).raw, done.raw, 'the kept answer');
    equal(await result(s, 'shop', { net: 100 }), { total: 119, mail: 'shop@example.com' });

    const again = await s.call('POST', '/import', bundle());
    equal(again.json.items.map((i) => [i.action, i.version, i.changes.length]), Array(5).fill(['unchanged', 1, 0]));
    const changed = bundle();
    changed.items[0].name = 'The shop';
    changed.items[3].value = ['a@example.com', 'b@example.com'];
    const diff = await s.call('POST', '/import', { ...changed, dryRun: true });
    equal(diff.json.items.map((i) => [i.action, i.changes]), [
        ['update', [{ pointer: '/name', from: 'Shop', to: 'The shop' }]],
        ['unchanged', []], ['unchanged', []],
        ['update', [{ pointer: '', from: 'shop@example.com', to: ['a@example.com', 'b@example.com'] }]],
        ['unchanged', []]]);
    equal((await s.call('POST', '/import', changed)).json.items.map((i) => i.version), [2, 1, 1, 2, 1]);
    equal((await s.call('POST', '/scenarios/shop/revert')).json.version, 1, 'an import can be taken back');
    await s.call('POST', '/import', changed);
});

claim('an import may save drafts, also incomplete ones', async (s) => {
    const items = [{ code: 'half_done', stps: [], steps: [] }, transform('whole', {})];
    const answer = await s.call('POST', '/import', { items, draft: true });
    equal(answer.json.items.map((i) => [i.code, i.action, i.version, i.errors.length > 0]),
        [['half_done', 'create', 1, true], ['whole', 'create', 1, false]]);
    const one = (await s.call('GET', '/scenarios/half_done')).json;
    equal([one.published, one.draft.definition], [null, items[0]]);
    equal((await s.call('POST', '/import', { items, draft: true })).json.items.map((i) => i.action),
        ['unchanged', 'unchanged']);
    isProblem(await s.call('POST', '/import', { items: bundle().items.slice(1, 2), draft: true }), 422, 'invalid', 'drafts');
});

claim('what others change meanwhile is looked at again', async (s) => {
    const wave = (n) => ({ items: [0, 1, 2].map((k) => transform(`wave${k}`, { n })) });
    await s.call('POST', '/import', wave(0));
    const answers = await Promise.all([1, 2, 3, 4].map((n) => s.call('POST', '/import', wave(n))));
    equal(answers.every((a) => a.status === 200), true, answers.map((a) => a.raw).join());
    const last = await Promise.all([0, 1, 2].map(async (k) => (await result(s, `wave${k}`)).n));
    equal(new Set(last).size, 1, 'each import is all or nothing');
    equal((await s.call('GET', '/scenarios/wave0')).json.published.version, 5);
});

claim('large bundles are taken, large definitions are not', async (s) => {
    const long = { ...transform('long', {}), meta: { text: 'x'.repeat(1 << 20) } };
    const items = [1, 2, 3].map((n) => ({ ...long, code: `long${n}` }));
    equal((await s.call('POST', '/import', { items })).status, 200);
    isProblem(await s.call('PUT', '/scenarios/long1/draft', { ...long, code: 'long1', meta: { text: 'x'.repeat(3 << 20) } }),
        413, 'too_large');
});

claim('an export is no larger than an import takes', async (s) => {
    const long = { ...transform('long', {}), meta: { text: 'x'.repeat(1 << 20) } };
    const codes = Array.from({ length: 14 }, (_, n) => `long${n + 4}`);
    equal((await s.call('POST', '/import', { items: codes.map((code) => ({ ...long, code })) })).status, 200);
    isProblem(await s.call('GET', '/export'), 413, 'too_large', 'codes=a,b');
    equal((await s.call('GET', `/export?codes=${codes.join()}`)).json.items.length, 14);
    for (const code of codes) equal((await s.call('DELETE', `/scenarios/${code}`)).json, { code, deleted: true });
});

claim('a repeated name in export is one, an unknown one is told', async (s) => {
    const some = (await s.call('GET', '/export?codes=shop,taxed,shop')).json.items;
    equal(some.map((i) => [i.kind, i.code ?? i.name]), [['function', 'taxed'], ['scenario', 'shop']]);
    isProblem(await s.call('GET', '/export?codes=shop,nothing'), 404, 'not_found', "'nothing'");
});

claim('everything that was changed stands in the audit log', async (s) => {
    const wanted = ['config.put', 'config.delete', 'function.put', 'template.put', 'template.delete',
        'scenario.draft', 'scenario.publish', 'scenario.revert', 'import'];
    const log = s.ask('SELECT DISTINCT action FROM audit_log');
    for (const action of wanted) if (!log.includes(action)) throw new Wrong(`${action} is not in ${log}`);
    if (!s.ask("SELECT details FROM audit_log WHERE action = 'scenario.revert' AND details IS NOT NULL").includes('bad idea'))
        throw new Wrong('the summary of a revert is not there');
    if (!s.ask("SELECT name FROM functions").includes('taxed')) throw new Wrong('the view functions lacks a function');
    if (!s.ask("SELECT value FROM config WHERE name = 'limit'").includes('"twenty"')) throw new Wrong('the view config lacks a value');
});

// --- messages ---

claim('a newcomer is told the same by the server as by the command line', async (s) => {
    for (const file of readdirSync('tests/newcomer').filter((name) => name.endsWith('.json'))) {
        const text = readFileSync(join('tests/newcomer', file), 'utf8');
        const wanted = readFileSync(join('tests/newcomer', file.replace('.json', '.txt')), 'utf8');
        // The file stands in the body from its second line on.
        const answer = await s.call('POST', '/validate', `{"kind": "scenario", "definition":\n${text}}`);
        const told = (e) => `${e.place.line - 1}:${e.place.column}:${e.pointer}: ${e.step ? `step ${e.step}: ` : ''}${e.message}\n${e.hint ?? ''}`;
        const said = answer.status === 400 ? `${answer.json.line - 1}:${answer.json.column}: ${answer.json.detail}` : answer.json.errors.map(told).join('\n');
        for (const part of wanted.trim().split('\n').map((line) => line.replace(/^[a-z_]+\.json:/, '').trim()))
            if (!said.includes(part)) throw new Wrong(`${file}: "${said}" lacks "${part}"`);
    }
});

claim('the catalog is what the command line says it is', async (s) => {
    const answer = await s.call('GET', '/catalog');
    equal(answer.raw, execFileSync(pawl, ['catalog'], { encoding: 'utf8', maxBuffer: 1 << 24 }).trim());
    const create = answer.json.commands.find((c) => c.name === 'record.create');
    equal(create.fields.map((f) => [f.name, f.kind, f.required]), [['object', 'template', true],
        ['data', 'map of value or computed', true], ['id', 'template', false], ['ifExists', 'one of', false]]);
    equal([create.fields[3].options, create.fields[3].default], [['fail', 'keep', 'merge', 'replace'], 'fail']);
    equal(create.result.fields.map((f) => [f.name, f.kind]), [['id', 'string'], ['version', 'integer']]);
});

claim('meta is shown of steps wherever they stand', async (s) => {
    const log = (code) => ({ code, meta: { of: code }, procedure: { type: 'log', message: 'x' } });
    await publish(s, {
        code: 'meta_everywhere', steps: [log('top'), {
            code: 'at_once', meta: { of: 'at_once' }, parallel: {
                branches: [[log('left')], [
                    { code: 'rounds', loop: { for: [1], steps: [{ code: 'way', branch: [{ steps: [log('deep')] }] }] } },
                    { code: 'again', parallel: { branches: [[log('inner')]] } },
                ]],
            },
        }],
    });
    const x = (await s.call('POST', '/executions?wait=10s', { code: 'meta_everywhere' })).json;
    equal(x.status, 'completed');
    const shown = (await s.call('GET', `/executions/${x.id}`)).json.context.steps;
    for (const code of ['top', 'at_once', 'left', 'deep', 'inner']) equal([code, shown[code].meta], [code, { of: code }]);
});

claim('what is checked against is what is published now', async (s) => {
    const check = async (definition) => (await s.call('POST', '/validate', { definition })).json.valid;
    const scenario = (expression) => ({ code: 'a', steps: [{ code: 's', procedure: { type: 'compute.transform', data: `=${expression}` } }] });
    const evaluate = (expression) => s.call('POST', '/eval', { expression });
    equal([await check(scenario('fn.kept(1)')), (await evaluate('fn.kept(1)')).status], [false, 422]);
    await s.call('PUT', '/functions/kept', { params: [{ name: 'n', type: 'integer' }], body: 'n + 1' });
    equal([await check(scenario('fn.kept(1)')), (await evaluate('fn.kept(1)')).json.value], [true, 2]);
    await s.call('PUT', '/functions/kept', { params: [{ name: 'n', type: 'integer' }], body: 'n + 2' });
    equal((await evaluate('fn.kept(1)')).json.value, 3);
    await s.call('PUT', '/functions/deeper', { params: [{ name: 'n', type: 'integer' }], body: 'fn.kept(n)' });
    await s.call('PUT', '/functions/deepest', { params: [{ name: 'n', type: 'integer' }], body: 'fn.deeper(n)' });
    const fn = async (body) => (await s.call('POST', '/validate', { kind: 'function', definition: { params: [], body } })).json.errors.map((e) => e.code);
    equal([await fn('fn.deeper(1)'), await fn('fn.deepest(1)'), await fn('fn.nothing(1)')], [[], ['limit_depth'], ['expression_type']]);
    for (const name of ['deepest', 'deeper', 'kept']) await s.call('DELETE', `/functions/${name}`);
    equal([await check(scenario('fn.kept(1)')), (await evaluate('fn.kept(1)')).status], [false, 422]);
});

claim('a business key has the same limit everywhere', async (s) => {
    await publish(s, { code: 'keyed', settings: { key: '=input.k' }, steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }] });
    const start = async (body) => (await s.call('POST', '/executions', { code: 'keyed', ...body })).status;
    const [fits, long] = ['k'.repeat(255), 'k'.repeat(256)];
    equal([await start({ key: long, input: { k: 'x' } }), await start({ input: { k: long } })], [422, 422]);
    equal(await start({ input: { k: fits } }), 201);
    const signal = async (key) => (await s.call('POST', '/signals', { type: 'go', key })).status;
    equal([await signal(long), await signal(fits)], [422, 202]);
});

claim('the catalog speaks English and Russian', async (s) => {
    const [en, ru] = await Promise.all(['en', 'ru'].map((lang) => s.call('GET', `/catalog?lang=${lang}`)));
    equal(en.raw, (await s.call('GET', '/catalog')).raw);
    const label = (answer) => answer.json.fields.step.find((f) => f.name === 'when').label;
    equal([label(en), label(ru)], ['When', 'Условие']);
    equal(ru.json.functions.map((f) => f.name), en.json.functions.map((f) => f.name));
    equal((await s.call('GET', '/catalog?lang=de')).status, 422);
});

// --- from one installation to another ---

async function moveAll(from, to) {
    const exported = await from.call('GET', '/export');
    equal((await to.call('POST', '/import', exported.raw)).status, 200);
    const plan = await to.call('POST', '/import', exported.raw.replace(/^\{/, '{"dryRun":true,'));
    equal(plan.json.items.filter((i) => i.action !== 'unchanged'), [], 'nothing is left to do');
    equal((await to.call('GET', '/export')).raw, exported.raw, 'the same, to the byte');
    for (const { code, kind } of JSON.parse(exported.raw).items.filter((i) => i.kind === 'scenario')) {
        const text = async (s) => /"definition":(.*)\}\}?/s.exec((await s.call('GET', `/${kind}s/${code}`)).raw)[1]
            .replace(/\},"draft":.*/s, '');
        equal(await text(to), await text(from), `the text of ${code}`);
    }
}

// --- crashes ---

async function crash() {
    for (const point of ['writer.publishing:2', 'writer.publishing:5', 'writer.before_commit', 'writer.committed']) {
        const s = await startServer(null, checkProgram);
        const old = transform('k0', { n: 0 });
        equal((await s.call('POST', '/import', { items: [old, transform('k1', { n: 0 })] })).status, 200);
        await s.stop();
        const items = [1, 0, 2, 3].map((k) => transform(`k${k}`, { n: 1 }));
        items.push({ kind: 'config', name: 'killed', value: point });
        equal(await s.start({ PAWL_CRASH_AT: point }), true);
        const answer = await s.call('POST', '/import', { items }).catch(() => null);
        await s.ended;
        equal([answer, s.signal], [null, 'SIGKILL'], point);
        equal(await s.start(), true, s.log);
        const seen = [];
        for (const code of ['k0', 'k1', 'k2', 'k3'])
            seen.push((await s.call('GET', `/scenarios/${code}`)).json.published?.definition.steps[0].procedure.data.n ?? null);
        const isNew = (await s.call('GET', '/config/killed')).status === 200;
        equal([seen, isNew], isNew ? [[1, 1, 1, 1], true] : [[0, 0, null, null], false], `all or nothing at ${point}`);
        equal((await s.call('POST', '/import', { items })).status, 200, 'and again');
        equal((await s.call('GET', '/config/killed')).json.value, point);
        await s.stop();
    }
}

// --- several nodes on one database ---

const shared = [];
shared.push({ name: 'what one node changes the others see', run: async ([a, b]) => {
    await a.call('PUT', '/config/both', { value: 1 });
    await publish(a, transform('both', { v: '$.config.both' }));
    equal(await result(b, 'both'), { v: 1 }, 'a version that b has never seen');
    await a.call('PUT', '/config/both', { value: 2 });
    await until('b sees the config', async () => (await result(b, 'both')).v === 2);
    await a.call('PUT', '/functions/both', { params: [], body: '3' });
    await publish(a, transform('both', { v: '=fn.both()' }));
    await until('b sees the version', async () => (await result(b, 'both')).v === 3);
    await a.call('PUT', '/functions/both', { params: [], body: '4' });
    await until('b sees the function', async () => (await result(b, 'both')).v === 4);
    await a.call('POST', '/scenarios/both/revert');
    await until('b sees the revert', async () => (await result(b, 'both')).v === 2);
} });
shared.push({ name: 'of two nodes that save over the same version one wins', run: async ([a, b]) => {
    for (let i = 0; i < 5; i++) {
        const { etag } = await a.call('PUT', '/config/contended', { value: `start ${i}` });
        const both = await Promise.all([a, b].map((s, k) =>
            s.call('PUT', '/config/contended', { value: `${i} of ${k}` }, { 'If-Match': etag })));
        equal(both.map((x) => x.status).sort(), [200, 412]);
    }
} });

// ---

try {
    const sqlite = await startServer();
    sqlite.ask = (sql) => execFileSync('sqlite3', ['-cmd', '.timeout 60000', `file:${join(sqlite.data, 'pawl.db')}?mode=ro`, sql], { encoding: 'utf8' });
    await runClaims('sqlite', sqlite);
    const postgres = await Postgres.open();
    const all = [{ name: 'a crash around an import leaves all of it or nothing', run: crash }];
    await runClaims('sqlite', null, all);
    if (postgres) {
        try {
            const url = postgres.fresh();
            const s = await startServer(url);
            s.ask = (sql) => postgres.ask(sql).toString();
            await runClaims('postgres', s);
            const next = await startServer(postgres.fresh());
            await runClaims('from SQLite to PostgreSQL and on', null, [{
                name: 'an export is taken whole', run: async () => {
                    await moveAll(sqlite, next);
                    const third = await startServer();
                    await moveAll(next, third);
                    await third.stop();
                },
            }]);
            const second = await startServer(url);
            await runClaims('two nodes', [s, second], shared);
            for (const server of [s, next, second]) await server.stop();
        } finally {
            postgres.close();
        }
    }
    equal(await sqlite.stop(), 0);
} catch (error) {
    failed++;
    console.log(`failed: ${error.stack}`);
}
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
