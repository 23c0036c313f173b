// Definitions of every kind, over HTTP and on both stores: how they are saved, published, taken
// back, exported and imported, and what a crash, a race or another node does to that.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { checkProgram, pawl } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const transform = (code, data) => ({
    code,
    steps: [{ code: 'a', procedure: { type: 'compute.transform', data } }],
});

async function result(s, code, input = {}) {
    const answer = await s.asAdmin('POST', '/executions?wait=60s', { code, input });
    equal([answer.status, answer.body.status], [201, 'completed'], answer.raw);
    return answer.body.result;
}

// --- config ---

claim('config is saved, listed, replaced and removed', async ({ server: s }) => {
    const made = await s.asAdmin('PUT', '/config/rate', { value: 0.5 });
    equal([made.status, made.body, made.headers.etag], [201, { name: 'rate', version: 1 }, '"1"']);
    const same = await s.asAdmin('PUT', '/config/rate', { value: 0.5 });
    equal([same.status, same.body.version], [200, 1], 'the same value');
    equal((await s.asAdmin('PUT', '/config/rate', { value: { a: [1, null] } })).body.version, 2);
    const one = await s.asAdmin('GET', '/config/rate');
    equal([one.body.name, one.body.value, one.headers.etag], ['rate', { a: [1, null] }, '"2"']);
    for (const name of ['B', 'a_', 'ab', '_x']) await s.asAdmin('PUT', `/config/${name}`, { value: name });
    const names = [];
    let cursor = '';
    do {
        const page = (await s.asAdmin('GET', `/config?limit=2&cursor=${cursor}`)).body;
        names.push(...page.items.map((i) => i.name));
        cursor = page.nextCursor;
    } while (cursor);
    equal(names, ['B', '_x', 'a_', 'ab', 'rate'], 'by the bytes of their names, page by page');
    for (const name of names) equal((await s.asAdmin('DELETE', `/config/${name}`)).status, 204);
    refused(await s.asAdmin('GET', '/config/rate'), 404, 'not_found');
    refused(await s.asAdmin('DELETE', '/config/rate'), 404, 'not_found');
    const again = await s.asAdmin('PUT', '/config/rate', { value: 1 });
    equal([again.status, again.body.version], [201, 3], 'numbers are not given twice');
});

claim('bad config is refused', async ({ server: s }) => {
    refused(await s.asAdmin('PUT', '/config/rate', { valeu: 1 }), 422, 'invalid');
    refused(await s.asAdmin('PUT', '/config/rate', {}), 422, 'invalid', "'value' is missing");
    refused(await s.asAdmin('PUT', '/config/rate', '[1]'), 422, 'invalid');
    refused(await s.asAdmin('PUT', '/config/rate', '{"value": }'), 400, 'bad_json');
    refused(await s.asAdmin('PUT', '/config/a-b', { value: 1 }), 422, 'invalid', 'a name is');
    refused(await s.asAdmin('PUT', '/config/big', { value: 'x'.repeat(70000) }), 413, 'too_large');
    equal((await s.asAdmin('GET', '/config/rate')).body.value, 1, 'nothing has changed');
});

claim('config is live for what runs already', async ({ server: s }) => {
    await s.asAdmin('PUT', '/config/limit', { value: 10 });
    await s.publish({
        code: 'live',
        steps: [
            { code: 'before', procedure: { type: 'compute.transform', data: { limit: '$.config.limit' } } },
            { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
            { code: 'after', procedure: { type: 'compute.transform', data: {
                before: '$.steps.before.limit', after: '$.config.limit' } } },
        ],
    });
    const { id } = (await s.asAdmin('POST', '/executions', { code: 'live' })).body;
    await s.asAdmin('PUT', '/config/limit', { value: 'twenty' });
    await s.asAdmin('POST', `/executions/${id}/signal`, { type: 'go' });
    const end = await until('it ends', async () => {
        const x = (await s.asAdmin('GET', `/executions/${id}`)).body;
        return x.status === 'completed' && x;
    });
    equal(end.result, { before: 10, after: 'twenty' });
});

claim('config that a definition uses must exist, and stays', async ({ server: s }) => {
    const bad = await s.asAdmin('PUT', '/scenarios/uses/draft', transform('uses', { x: '$.config.limt' }));
    equal([bad.body.valid, bad.body.errors[0].pointer, bad.body.errors[0].column, bad.body.errors[0].hint],
        [false, '/steps/0/procedure/data/x', 10, "did you mean 'config.limit'?"]);
    refused(await s.asAdmin('POST', '/scenarios/uses/publish'), 422, 'invalid', 'config.limt');
    refused(await s.asAdmin('DELETE', '/config/limit'), 409, 'conflict', "scenario 'live'");
    await s.publish(transform('uses', { x: '=$.config.?nothing.orValue(7)' }));
    equal(await result(s, 'uses'), { x: 7 }, 'what is asked for may be missing');
});

claim('of several who save over the same version one wins', async ({ server: s }) => {
    const { headers: { etag } } = await s.asAdmin('PUT', '/config/raced', { value: 0 });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) =>
        s.asAdmin('PUT', '/config/raced', { value: i + 1 }, { 'If-Match': etag })));
    equal(answers.map((a) => a.status).sort().filter((x) => x !== 412), [200]);
    const won = answers.findIndex((a) => a.status === 200);
    equal((await s.asAdmin('GET', '/config/raced')).body.value, won + 1);
    refused(await s.asAdmin('PUT', '/config/raced', { value: 1 }, { 'If-None-Match': '*' }),
        412, 'precondition_failed');
    const drafts = await Promise.all(Array.from({ length: 20 }, (_, i) =>
        s.asAdmin('PUT', '/scenarios/raced/draft', { code: 'raced', n: i }, { 'If-None-Match': '*' })));
    equal(drafts.filter((a) => a.status === 200).length, 1);
});

claim('who publishes a draft that somebody else has saved since is refused, and nothing is published', async ({ server: s }) => {
    const mine = await s.asAdmin('PUT', '/scenarios/pushed/draft', transform('pushed', { x: 1 }));
    const theirs = await s.asAdmin('PUT', '/scenarios/pushed/draft', transform('pushed', { x: 2 }));
    refused(await s.asAdmin('POST', '/scenarios/pushed/publish', {}, { 'If-Match': mine.headers.etag }), 412, 'precondition_failed');
    equal((await s.asAdmin('GET', '/scenarios/pushed')).body.published, null);
    equal((await s.asAdmin('POST', '/scenarios/pushed/publish', {}, { 'If-Match': theirs.headers.etag })).body.version, 1);
});

// --- functions ---

const number = (name) => ({ name, type: 'number' });

claim('a draft that says what is published goes, and publishing it answers the version that there is', async ({ server: s }) => {
    const one = transform('same', { x: 1 }), two = transform('same', { x: 2 }), path = '/scenarios/same';
    const save = (definition, headers = {}) => s.asAdmin('PUT', `${path}/draft`, definition, headers);
    const draft = async () => (await s.asAdmin('GET', path)).body.draft;
    const version = await s.publish(one);
    const same = await save(one);
    equal([same.status, same.body.version, same.headers.etag, await draft()], [200, 0, undefined, null]);
    equal((await s.asAdmin('POST', `${path}/publish`)).body, { code: 'same', version }, 'nothing is published anew');
    refused(await s.asAdmin('POST', `${path}/publish`, undefined, { 'If-Match': '"1"' }), 404, 'not_found');
    equal((await save(two, { 'If-None-Match': '*' })).status, 200);
    const back = await save(one);
    equal([back.status, back.body.version, await draft()], [200, 0, null], 'changed and changed back');
    equal(await s.publish(two), version + 1);
    equal((await save(one)).status, 200);
    check((await draft()) !== null, 'it differs from what is published');
    equal((await s.asAdmin('POST', `${path}/revert`)).body.version, version);
    equal(await draft(), null, 'it is what was published again');
    equal((await s.asAdmin('POST', `${path}/retire`)).status, 200);
    check((await save(one)).body.version > 0, 'of what is retired it stays');
    equal([(await s.asAdmin('POST', `${path}/publish`)).status, await draft()], [200, null]);
    refused(await s.asAdmin('POST', '/scenarios/never_there/publish'), 404, 'not_found');
});

claim('functions are called by definitions and by each other', async ({ server: s }) => {
    equal((await s.asAdmin('PUT', '/functions/quarter', { params: [number('x')], body: 'fn.half(fn.half(x))' })).status,
        422, 'what it calls does not exist');
    equal((await s.asAdmin('PUT', '/functions/half', { params: [number('x')], body: 'x * 0.5' })).body,
        { name: 'half', version: 1 });
    equal((await s.asAdmin('PUT', '/functions/quarter', { params: [number('x')], body: 'fn.half(fn.half(x))' })).status, 201);
    await s.publish(transform('fourth', { v: '=fn.quarter($.input.n)' }));
    equal(await result(s, 'fourth', { n: 8 }), { v: 2 });
    const one = (await s.asAdmin('GET', '/functions/half')).body;
    equal([one.name, one.version, one.params, one.body], ['half', 1, [number('x')], 'x * 0.5']);
    equal((await s.asAdmin('GET', '/functions')).body.items.map((i) => i.name), ['half', 'quarter']);
});

claim('a function that is saved is used by what starts then', async ({ server: s }) => {
    equal((await s.asAdmin('PUT', '/functions/half', { params: [number('x')], body: 'x * 0.25' })).body.version, 2);
    equal(await result(s, 'fourth', { n: 8 }), { v: 0.5 });
    await s.asAdmin('PUT', '/functions/half', { params: [number('x')], body: 'x * 0.5' });
    equal(await result(s, 'fourth', { n: 8 }), { v: 2 });
});

claim('a change that would break what is published is refused', async ({ server: s }) => {
    refused(await s.asAdmin('PUT', '/functions/half', { params: [], body: '1' }), 409, 'conflict', "function 'quarter'");
    refused(await s.asAdmin('PUT', '/functions/quarter', { params: [number('x'), number('y')], body: 'x + y' }),
        409, 'conflict', "scenario 'fourth'");
    refused(await s.asAdmin('DELETE', '/functions/half'), 409, 'conflict', "function 'quarter'");
    refused(await s.asAdmin('DELETE', '/functions/quarter'), 409, 'conflict', "scenario 'fourth'");
    equal(await result(s, 'fourth', { n: 8 }), { v: 2 }, 'nothing has changed');
});

claim('mistakes in a function have a pointer and a column', async ({ server: s }) => {
    const bad = await s.asAdmin('PUT', '/functions/bad', { params: [{ name: 'x', typ: 'number' }], body: 'x + + 1' });
    refused(bad, 422, 'invalid');
    equal(bad.body.errors.map((e) => [e.pointer, e.hint]), [['/params/0/typ', "did you mean 'type'?"]]);
    const worse = await s.asAdmin('PUT', '/functions/bad', { params: [], body: '1 +* 2' });
    equal(worse.body.errors.map((e) => [e.pointer, e.code, e.column, e.severity]),
        [['/body', 'expression_syntax', 4, 'error']]);
    const self = await s.asAdmin('PUT', '/functions/bad', { params: [], body: 'fn.bad()' });
    equal(self.body.errors.map((e) => [e.pointer, e.code]), [['/body', 'recursion']]);
    refused(await s.asAdmin('GET', '/functions/bad'), 404, 'not_found');
});

claim('what was published with a function goes on when that is deleted later', async ({ server: s }) => {
    await s.asAdmin('PUT', '/functions/gone', { params: [], body: '1' });
    const waits = (value) => ({ code: 'outlives', steps: [
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
        { code: 'b', procedure: { type: 'compute.transform', data: { v: value } } }] });
    await s.publish(waits('=fn.gone()'));
    const { id } = (await s.asAdmin('POST', '/executions', { code: 'outlives' })).body;
    await s.publish(waits(2));
    equal((await s.asAdmin('DELETE', '/functions/gone')).status, 204);
    refused(await s.asAdmin('GET', '/functions/gone'), 404, 'not_found');
    await s.kill();
    await s.start();
    await s.asAdmin('POST', `/executions/${id}/signal`, { type: 'go' });
    const end = await until('it ends', async () => {
        const x = (await s.asAdmin('GET', `/executions/${id}`)).body;
        return x.status === 'completed' && x;
    });
    equal(end.result, { v: 1 });
    equal((await s.asAdmin('PUT', '/functions/gone', { params: [], body: '3' })).body.version, 2);
});

// --- templates ---

claim('templates are saved, checked and shown', async ({ server: s }) => {
    const bad = await s.asAdmin('PUT', '/templates/hello', { subject: 'Hi {{ data.name', body: '' });
    refused(bad, 422, 'invalid');
    equal(bad.body.errors.map((e) => [e.pointer, e.column]), [['/subject', 16]]);
    const text = { subject: 'Hi {{ data.name }}', body: '{{ config.limit }} for {{ user.name }}',
        html: '<p>{{ data.name }}</p>' };
    equal((await s.asAdmin('PUT', '/templates/hello', text)).status, 201);
    equal((await s.asAdmin('PUT', '/templates/hello', text)).status, 200);
    const one = (await s.asAdmin('GET', '/templates/hello')).body;
    equal([one.code, one.subject, one.body, one.html], ['hello', text.subject, text.body, text.html]);
    const shown = await s.asAdmin('POST', '/templates/hello/preview', { data: { name: '<Ada> & "co"' } });
    equal([shown.status, shown.body], [200, { subject: 'Hi <Ada> & "co"', body: 'twenty for admin',
        html: '<p>&lt;Ada&gt; &amp; &quot;co&quot;</p>' }]);
    const lacking = await s.asAdmin('POST', '/templates/hello/preview', { data: {} });
    refused(lacking, 422, 'invalid', "no such key: 'name'; has(a.b) and a.?b ask whether there is one");
    equal(lacking.body.errors.map((e) => [e.pointer, e.column]), [['/subject', 12], ['/html', 12]]);
    refused(await s.asAdmin('POST', '/templates/nothing/preview', {}), 404, 'not_found');
    refused(await s.asAdmin('DELETE', '/config/limit'), 409, 'conflict');
    const unsaved = { subject: 'To {{ data.name }}', body: '{{ config.limit }}' };
    equal((await s.asAdmin('POST', '/templates/not_yet/preview', { data: { name: 'Ada' }, template: unsaved })).body,
        { subject: 'To Ada', body: 'twenty', html: null }, 'a text is shown before it is saved');
    const wrong = await s.asAdmin('POST', '/templates/hello/preview', { data: {}, template: { ...unsaved, body: '{{ data.' } });
    refused(wrong, 422, 'invalid');
    equal(wrong.body.errors.map((e) => e.pointer), ['/template/body']);
    refused(await s.asAdmin('POST', '/templates/hello/preview', { data: {}, template: 7 }), 422, 'invalid');
    refused(await s.asAdmin('POST', '/templates/hello/preview', { data: {}, template: { ...unsaved, colour: 'red' } }), 422, 'invalid');
    equal((await s.asAdmin('GET', '/templates/hello')).body.subject, text.subject, 'and nothing was saved');
    equal((await s.asAdmin('PUT', '/templates/plain', { subject: 's', body: 'b' })).status, 201);
    equal((await s.asAdmin('POST', '/templates/plain/preview')).body, { subject: 's', body: 'b', html: null });
    equal((await s.asAdmin('DELETE', '/templates/plain')).status, 204);
});

claim('a template that a published process sends is not deleted', async ({ server: s }) => {
    equal((await s.asAdmin('PUT', '/templates/sent', { subject: 's', body: 'b' })).status, 201);
    await s.publish({ code: 'sender', steps: [{ code: 'mail', procedure: { type: 'notification.email', to: 'ada@example.org', template: 'sent' } }] });
    refused(await s.asAdmin('DELETE', '/templates/sent'), 409, 'conflict', "scenario 'sender' uses it");
    await s.asAdmin('POST', '/scenarios/sender/retire');
    equal((await s.asAdmin('DELETE', '/scenarios/sender')).status, 200);
    equal((await s.asAdmin('DELETE', '/templates/sent')).status, 204);
});

claim('a template may have the code of a process', async ({ server: s }) => {
    await s.publish(transform('namesake', { n: 1 }));
    for (const subject of ['a', 'b', 'c']) await s.asAdmin('PUT', '/templates/namesake', { subject, body: '' });
    equal(await result(s, 'namesake'), { n: 1 });
    equal((await s.asAdmin('DELETE', '/templates/namesake')).status, 204);
    equal(await result(s, 'namesake'), { n: 1 });
});

// --- versions ---

claim('a revert publishes what was published before, under its own number', async ({ server: s }) => {
    const version = (n) => transform('turns', { n });
    refused(await s.asAdmin('POST', '/scenarios/turns/revert'), 404, 'not_found');
    for (const n of [1, 2, 3]) equal(await s.publish(version(n)), n);
    await s.asAdmin('PUT', '/scenarios/turns/draft', version(99));
    const waiting = { code: 'kept', steps: [
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
        { code: 'b', procedure: { type: 'compute.transform', data: { n: 1 } } }] };
    await s.publish(waiting);
    waiting.steps[1].procedure.data.n = 2;
    await s.publish(waiting);
    const { id } = (await s.asAdmin('POST', '/executions', { code: 'kept' })).body;
    await s.asAdmin('POST', '/scenarios/kept/revert');
    await s.asAdmin('POST', `/executions/${id}/signal`, { type: 'go' });
    await until('it ends', async () => (await s.asAdmin('GET', `/executions/${id}`)).body.result?.n === 2);

    const back = await s.asAdmin('POST', '/scenarios/turns/revert', { changeSummary: 'bad idea' });
    equal([back.status, back.body], [200, { code: 'turns', version: 2 }]);
    equal(await result(s, 'turns'), { n: 2 }, 'at once');
    equal((await s.asAdmin('GET', '/scenarios/turns')).body.draft.definition.steps[0].procedure.data, { n: 99 },
        'the draft stays');
    equal((await s.asAdmin('POST', '/scenarios/turns/revert')).body.version, 1);
    refused(await s.asAdmin('POST', '/scenarios/turns/revert'), 409, 'conflict', 'before version 1');
    equal(await result(s, 'turns'), { n: 1 });
    equal((await s.asAdmin('POST', '/scenarios/turns/publish')).body.version, 4, 'numbers are not given twice');
    equal((await s.asAdmin('POST', '/scenarios/turns/revert')).body.version, 1, 'what was published before, not what was taken back');
    equal((await s.asAdmin('GET', '/scenarios/turns/versions')).body.items.map((v) => [v.version, v.status]),
        [[4, 'superseded'], [3, 'superseded'], [2, 'superseded'], [1, 'published']]);
});

claim('a revert that is repeated under its key happens once', async ({ server: s }) => {
    for (const n of [1, 2, 3]) await s.publish(transform('once', { n }));
    const key = { 'Idempotency-Key': 'revert-1' };
    const first = await s.asAdmin('POST', '/scenarios/once/revert', undefined, key);
    const second = await s.asAdmin('POST', '/scenarios/once/revert', undefined, key);
    equal([first.raw, second.raw], ['{"code":"once","version":2}', '{"code":"once","version":2}']);
});

claim('what was published before and is not valid any more does not come back', async ({ server: s }) => {
    await s.asAdmin('PUT', '/config/passing', { value: 1 });
    await s.publish(transform('passes', { x: '$.config.passing' }));
    await s.publish(transform('passes', { x: 2 }));
    equal((await s.asAdmin('DELETE', '/config/passing')).status, 204);
    refused(await s.asAdmin('POST', '/scenarios/passes/revert'), 422, 'invalid', 'config.passing');
    equal(await result(s, 'passes'), { x: 2 });
});

claim('processes are listed with their kind, and definitions kept to the byte', async ({ server: s }) => {
    const text = '{ "code":"bytes",\n\t"name" : "B\\u00e4r 🐻", "meta": {"n": 1.50, "e": 1e2},  "steps":[ ] }';
    equal((await s.asAdmin('PUT', '/scenarios/bytes/draft', text)).body.errors.map((e) => e.code), ['no_steps']);
    const list = (await s.asAdmin('GET', '/processes?limit=500')).body.items;
    const one = list.find((p) => p.code === 'bytes');
    equal([one.kind, one.name, one.published, one.draft.version], ['scenario', 'Bär 🐻', null, 1]);
    const codes = list.map((p) => p.code);
    equal(codes, [...codes].sort(), 'in order');
    equal((await s.asAdmin('GET', '/scenarios/bytes/versions/draft')).raw.includes(`"definition":${text}}`), true);
});

claim('config.calendar is what business days are counted by: it is checked when it is saved', async ({ server: s }) => {
    const refused = async (value) => {
        const r = await s.asAdmin('PUT', '/config/calendar', { value });
        return [r.status, r.body.errors?.map((e) => [e.pointer, e.message])];
    };

    equal(await refused({ weekend: [6, 8], holidays: ['2026-13-01'], timezone: 'Berlin' }), [422, [
        ['/value/weekend/1', 'a day is a number from 1 for Monday to 7 for Sunday'],
        ['/value/holidays/0', 'a holiday is a date such as "2026-12-25"'],
        ['/value/timezone', "there is no time zone 'Berlin'; one is \"Europe/Berlin\", or \"+02:00\""]]]);
    equal(await refused({ holiday: [] }), [422, [['/value/holiday', "there is no field 'holiday' here"]]]);
    equal((await refused({ weekend: [6, 7], holidays: ['2026-12-25'], timezone: 'Europe/Berlin' }))[0], 201);
    await s.publish({ code: 'worked', steps: [{ code: 'w', procedure: { type: 'wait.timer', duration: '1bd' } }] });
    const started = Date.now();
    const { id } = (await s.asAdmin('POST', '/executions?wait=1s', { code: 'worked' })).body;
    const one = (await s.asAdmin('GET', `/executions/${id}`)).body;
    const hours = (new Date(one.waitingFor.until) - started) / 3600000;
    equal([one.status, hours > 22 && hours < 24 * 6], ['waiting', true], one.waitingFor.until);
    await s.asAdmin('DELETE', '/config/calendar');
});

// --- what flow.start names ---

claim('flow.start of a process that is not published is a warning, until one is', async ({ server: s }) => {
    const starter = (code) => ({ code: 'starter', steps: [{ code: 'go', procedure: { type: 'flow.start', code } }] });
    const found = async (code) =>
        (await s.asAdmin('POST', '/validate', { definition: starter(code) })).body.errors.map((e) => [e.pointer, e.code, e.severity]);
    const warning = [['/steps/0/procedure/code', 'unknown_process', 'warning']];

    equal(await found('not_there_yet'), warning);
    equal(await found('starter'), []);
    const saved = await s.asAdmin('PUT', '/scenarios/starter/draft', starter('not_there_yet'));
    equal(saved.body.errors.map((e) => [e.pointer, e.code, e.severity]), warning);
    equal((await s.asAdmin('POST', '/scenarios/starter/publish')).status, 200);
    await s.asAdmin('PUT', '/scenarios/not_there_yet/draft', { code: 'not_there_yet', steps: [] });
    equal(await found('not_there_yet'), warning, 'a draft is not enough');
    await s.asAdmin('POST', '/scenarios/not_there_yet/publish');
    equal(await found('not_there_yet'), []);
});

claim('requiredWhen: a start and an answer without the field are refused, which names it and why', async ({ server: s }) => {
    await s.publish({ code: 'conditional', input: [{ name: 'kind', type: 'string', required: true },
        { name: 'vat', type: 'string', requiredWhen: 'input.kind == "company"' }],
    steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'answer', form: [
        { name: 'ok', type: 'boolean', required: true }, { name: 'why', requiredWhen: '!payload.ok' }] } }] });
    const refused = async (path, body) => {
        const r = await s.asAdmin('POST', path, body);
        return [r.status, r.body.errors?.map((e) => `${e.pointer} ${e.code}: ${e.message}`)];
    };

    equal(await refused('/executions', { code: 'conditional', input: { kind: 'company' } }),
        [422, ["/input/vat missing_input: 'vat' is required when input.kind == \"company\""]]);
    const { id } = (await s.asAdmin('POST', '/executions', { code: 'conditional', input: { kind: 'person' } })).body;
    await s.asAdmin('GET', `/executions/${id}?wait=5s`);
    equal(await refused(`/executions/${id}/signal`, { type: 'answer', payload: { ok: false } }),
        [422, ["/payload/why missing_input: 'why' is required when !payload.ok"]]);
    equal((await refused(`/executions/${id}/signal`, { type: 'answer', payload: { ok: true } }))[0], 202);
});

// --- procedures ---

const doubled = (factor, params = [{ ...number('x'), required: true }]) => ({ code: 'times', input: params,
    commands: [{ type: 'compute.transform', data: { y: `=$.input.x * ${factor}` } }] });

async function publishProcedure(s, definition) {
    const saved = await s.asAdmin('PUT', `/procedures/${definition.code}/draft`, definition);
    equal([saved.status, saved.body.errors], [200, []]);
    return s.asAdmin('POST', `/procedures/${definition.code}/publish`);
}

claim('procedures have drafts and versions, and what calls them stays valid', async ({ server: s }) => {
    const calls = { code: 'calls', steps: [{ code: 'a', procedure: 'times', input: { x: '$.input.n' } }] };
    equal((await s.asAdmin('PUT', '/scenarios/calls/draft', calls)).body.errors.map((e) => e.code), ['unknown_procedure']);
    equal((await publishProcedure(s, doubled(2))).body, { code: 'times', version: 1 });
    await s.publish(calls);
    equal(await result(s, 'calls', { n: 4 }), { y: 8 });
    equal((await publishProcedure(s, doubled(3))).body.version, 2);
    equal(await result(s, 'calls', { n: 4 }), { y: 12 }, 'what starts then');
    refused(await publishProcedure(s, doubled(3, [{ ...number('x'), required: true }, { ...number('other'), required: true }])), 409, 'conflict', "scenario 'calls'");
    equal((await s.asAdmin('POST', '/procedures/times/revert')).body.version, 1);
    equal(await result(s, 'calls', { n: 4 }), { y: 8 });
    const self = await s.asAdmin('PUT', '/procedures/again/draft', { code: 'again', commands: [{ type: 'flow.call', procedure: 'again' }] });
    equal(self.body.errors.map((e) => e.code), ['procedure_cycle']);
    equal((await s.asAdmin('GET', '/procedures')).body.items.map((p) => p.code), ['again', 'times']);
    equal((await s.asAdmin('GET', '/processes?limit=500')).body.items.some((p) => p.code === 'times'), false);
});

claim('procedures come with what calls them', async ({ server: s }) => {
    const items = [
        { code: 'outer', steps: [{ code: 'a', procedure: 'inner' }] },
        { code: 'inner', commands: [{ type: 'compute.transform', data: { v: 1 } }] }];
    const done = await s.asAdmin('POST', '/import', { items });
    equal(done.body.items?.map((i) => [i.kind, i.action]), [['scenario', 'create'], ['procedure', 'create']], done.raw);
    equal(await result(s, 'outer'), { v: 1 });
    const some = (await s.asAdmin('GET', '/export?codes=outer,inner')).body.items;
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

claim('an import with one mistake changes nothing', async ({ server: s }) => {
    const broken = bundle();
    broken.items[1].body = 'net *';
    broken.items[3] = { kind: 'confg', name: 'shop_mail', value: 1 };
    broken.items.push({ code: 'Shop', steps: [] }, 7, { name: 'what' }, { ...bundle().items[4] });
    const answer = await s.asAdmin('POST', '/import', broken);
    refused(answer, 422, 'invalid', 'nothing was changed');
    const at = (pointer) => answer.body.errors.find((e) => e.pointer === pointer);
    equal(at('/items/1/body').code, 'expression_syntax');
    equal(at('/items/3/kind').hint, "did you mean 'config'?");
    equal(at('/items/5/code').code, 'bad_code');
    equal(at('/items/6').code, 'wrong_type');
    equal(at('/items/7/kind').code, 'missing_field');
    equal(at('/items/8/name').code, 'duplicate_code');
    equal(at('/items/0/steps/0/procedure/data/mail').column, 10, 'config that is nowhere');
    for (const path of ['/scenarios/shop', '/functions/taxed', '/functions/rounded', '/templates/receipt'])
        refused(await s.asAdmin('GET', path), 404, 'not_found');
    refused(await s.asAdmin('POST', '/import', {}), 422, 'invalid', 'items');
    equal((await s.asAdmin('POST', '/import', { items: [] }, { 'Idempotency-Key': 'nothing' })).body.items, []);
    refused(await s.asAdmin('POST', '/import', { items: {} }), 422, 'invalid');
    refused(await s.asAdmin('POST', '/import', { items: [], dryrun: true }), 422, 'invalid');
});

claim('an import publishes all, in any order, and says what changes', async ({ server: s }) => {
    const plan = await s.asAdmin('POST', '/import', { ...bundle(), dryRun: true });
    equal(plan.body.items.map((i) => [i.kind, i.code, i.action]), [
        ['scenario', 'shop', 'create'], ['function', 'taxed', 'create'], ['template', 'receipt', 'create'],
        ['config', 'shop_mail', 'create'], ['function', 'rounded', 'create']]);
    refused(await s.asAdmin('GET', '/functions/taxed'), 404, 'not_found');
    const key = { 'Idempotency-Key': 'import-1' };
    const done = await s.asAdmin('POST', '/import', bundle(), key);
    equal([done.status, done.body.items.every((i) => i.version === 1)], [200, true], done.raw);
    equal((await s.asAdmin('POST', '/import', bundle(), key)).raw, done.raw, 'the kept answer');
    equal(await result(s, 'shop', { net: 100 }), { total: 119, mail: 'shop@example.com' });

    const again = await s.asAdmin('POST', '/import', bundle());
    equal(again.body.items.map((i) => [i.action, i.version, i.changes.length]), Array(5).fill(['unchanged', 1, 0]));
    const changed = bundle();
    changed.items[0].name = 'The shop';
    changed.items[3].value = ['a@example.com', 'b@example.com'];
    const diff = await s.asAdmin('POST', '/import', { ...changed, dryRun: true, overwrite: ['config'] });
    equal(diff.body.items.map((i) => [i.action, i.changes]), [
        ['update', [{ pointer: '/name', from: 'Shop', to: 'The shop' }]],
        ['unchanged', []], ['unchanged', []],
        ['update', [{ pointer: '', from: 'shop@example.com', to: ['a@example.com', 'b@example.com'] }]],
        ['unchanged', []]]);
    equal((await s.asAdmin('POST', '/import', { ...changed, overwrite: ['config'] })).body.items.map((i) => i.version), [2, 1, 1, 2, 1]);
    equal((await s.asAdmin('POST', '/scenarios/shop/revert')).body.version, 1, 'an import can be taken back');
    await s.asAdmin('POST', '/import', changed);
});

claim('an import may save drafts, also incomplete ones', async ({ server: s }) => {
    const items = [{ code: 'half_done', stps: [], steps: [] }, transform('whole', {})];
    const answer = await s.asAdmin('POST', '/import', { items, draft: true });
    equal(answer.body.items.map((i) => [i.code, i.action, i.version, i.errors.length > 0]),
        [['half_done', 'create', 1, true], ['whole', 'create', 1, false]]);
    const one = (await s.asAdmin('GET', '/scenarios/half_done')).body;
    equal([one.published, one.draft.definition], [null, items[0]]);
    equal((await s.asAdmin('POST', '/import', { items, draft: true })).body.items.map((i) => i.action),
        ['unchanged', 'unchanged']);
    refused(await s.asAdmin('POST', '/import', { items: bundle().items.slice(1, 2), draft: true }), 422, 'invalid', 'drafts');
});

claim('what others change meanwhile is looked at again', async ({ server: s }) => {
    const wave = (n) => ({ items: [0, 1, 2].map((k) => transform(`wave${k}`, { n })) });
    await s.asAdmin('POST', '/import', wave(0));
    const answers = await Promise.all([1, 2, 3, 4].map((n) => s.asAdmin('POST', '/import', wave(n))));
    equal(answers.every((a) => a.status === 200), true, answers.map((a) => a.raw).join());
    const last = await Promise.all([0, 1, 2].map(async (k) => (await result(s, `wave${k}`)).n));
    equal(new Set(last).size, 1, 'each import is all or nothing');
    equal((await s.asAdmin('GET', '/scenarios/wave0')).body.published.version, 5);
});

claim('large bundles are taken, large definitions are not', async ({ server: s }) => {
    const long = { ...transform('long', {}), meta: { text: 'x'.repeat(1 << 20) } };
    const items = [1, 2, 3].map((n) => ({ ...long, code: `long${n}` }));
    equal((await s.asAdmin('POST', '/import', { items })).status, 200);
    refused(await s.asAdmin('PUT', '/scenarios/long1/draft', { ...long, code: 'long1', meta: { text: 'x'.repeat(3 << 20) } }),
        413, 'too_large');
});

claim('an export is no larger than an import takes', async ({ server: s }) => {
    const long = { ...transform('long', {}), meta: { text: 'x'.repeat(1 << 20) } };
    const codes = Array.from({ length: 14 }, (_, n) => `long${n + 4}`);
    equal((await s.asAdmin('POST', '/import', { items: codes.map((code) => ({ ...long, code })) })).status, 200);
    refused(await s.asAdmin('GET', '/export'), 413, 'too_large', 'codes=a,b');
    equal((await s.asAdmin('GET', `/export?codes=${codes.join()}`)).body.items.length, 14);
    for (const code of codes) equal((await s.asAdmin('DELETE', `/scenarios/${code}`)).body, { code, deleted: true });
});

claim('a repeated name in export is one, an unknown one is told', async ({ server: s }) => {
    const some = (await s.asAdmin('GET', '/export?codes=shop,taxed,shop')).body.items;
    equal(some.map((i) => [i.kind, i.code ?? i.name]), [['function', 'taxed'], ['scenario', 'shop']]);
    refused(await s.asAdmin('GET', '/export?codes=shop,nothing'), 404, 'not_found', "'nothing'");
});

claim('everything that was changed stands in the audit log', async (rig) => {
    const wanted = ['config.put', 'config.delete', 'function.put', 'template.put', 'template.delete',
        'scenario.draft', 'scenario.publish', 'scenario.revert', 'import'];
    const log = rig.sql('SELECT DISTINCT action FROM audit_log');
    for (const action of wanted) check(log.includes(action), `${action} is not in ${log}`);
    check(rig.sql("SELECT details FROM audit_log WHERE action = 'scenario.revert' AND details IS NOT NULL").join().includes('bad idea'), 'the summary of a revert is not there');
    check(rig.sql("SELECT name FROM functions").includes('taxed'), 'the view functions lacks a function');
    check(rig.sql("SELECT value FROM config WHERE name = 'limit'").join().includes('"twenty"'), 'the view config lacks a value');
});

// --- messages ---

claim('a newcomer is told the same by the server as by the command line', async ({ server: s }) => {
    for (const file of readdirSync('tests/newcomer').filter((name) => name.endsWith('.json'))) {
        const text = readFileSync(join('tests/newcomer', file), 'utf8');
        const wanted = readFileSync(join('tests/newcomer', file.replace('.json', '.txt')), 'utf8');
        // The file stands in the body from its second line on.
        const answer = await s.asAdmin('POST', '/validate', `{"kind": "scenario", "definition":\n${text}}`);
        const told = (e) => `${e.place.line - 1}:${e.place.column}:${e.pointer}: ${e.step ? `step ${e.step}: ` : ''}${e.message}\n${e.hint ?? ''}`;
        const said = answer.status === 400 ? `${answer.body.line - 1}:${answer.body.column}: ${answer.body.detail}` : answer.body.errors.map(told).join('\n');
        for (const part of wanted.trim().split('\n').map((line) => line.replace(/^[a-z_]+\.json:/, '').trim()))
            check(said.includes(part), `${file}: "${said}" lacks "${part}"`);
    }
});

claim('the catalog is what the command line says it is', async ({ server: s }) => {
    const answer = await s.asAdmin('GET', '/catalog');
    equal(answer.raw, execFileSync(pawl, ['catalog'], { encoding: 'utf8', maxBuffer: 1 << 24 }).trim());
    const create = answer.body.commands.find((c) => c.name === 'record.create');
    equal(create.fields.map((f) => [f.name, f.kind, f.required]), [['object', 'template', true],
        ['data', 'map of value or computed', true], ['id', 'template', false], ['ifExists', 'one of', false]]);
    equal([create.fields[3].options, create.fields[3].default], [['fail', 'keep', 'merge', 'replace'], 'fail']);
    equal(create.result.fields.map((f) => [f.name, f.kind]), [['id', 'string'], ['version', 'integer']]);
});

claim('meta is shown of steps wherever they stand', async ({ server: s }) => {
    const log = (code) => ({ code, meta: { of: code }, procedure: { type: 'log', message: 'x' } });
    await s.publish({
        code: 'meta_everywhere', steps: [log('top'), {
            code: 'at_once', meta: { of: 'at_once' }, parallel: {
                branches: [[log('left')], [
                    { code: 'rounds', loop: { for: [1], steps: [{ code: 'way', branch: [{ steps: [log('deep')] }] }] } },
                    { code: 'again', parallel: { branches: [[log('inner')]] } },
                ]],
            },
        }],
    });
    const x = (await s.asAdmin('POST', '/executions?wait=10s', { code: 'meta_everywhere' })).body;
    equal(x.status, 'completed');
    const shown = (await s.asAdmin('GET', `/executions/${x.id}`)).body.context.steps;
    for (const code of ['top', 'at_once', 'left', 'deep', 'inner']) equal([code, shown[code].meta], [code, { of: code }]);
});

claim('what is checked against is what is published now', async ({ server: s }) => {
    const check = async (definition) => (await s.asAdmin('POST', '/validate', { definition })).body.valid;
    const scenario = (expression) => ({ code: 'a', steps: [{ code: 's', procedure: { type: 'compute.transform', data: `=${expression}` } }] });
    const evaluate = (expression) => s.asAdmin('POST', '/eval', { expression });
    equal([await check(scenario('fn.kept(1)')), (await evaluate('fn.kept(1)')).status], [false, 422]);
    await s.asAdmin('PUT', '/functions/kept', { params: [{ name: 'n', type: 'integer' }], body: 'n + 1' });
    equal([await check(scenario('fn.kept(1)')), (await evaluate('fn.kept(1)')).body.value], [true, 2]);
    await s.asAdmin('PUT', '/functions/kept', { params: [{ name: 'n', type: 'integer' }], body: 'n + 2' });
    equal((await evaluate('fn.kept(1)')).body.value, 3);
    await s.asAdmin('PUT', '/functions/deeper', { params: [{ name: 'n', type: 'integer' }], body: 'fn.kept(n)' });
    await s.asAdmin('PUT', '/functions/deepest', { params: [{ name: 'n', type: 'integer' }], body: 'fn.deeper(n)' });
    const fn = async (body) => (await s.asAdmin('POST', '/validate', { kind: 'function', definition: { params: [], body } })).body.errors.map((e) => e.code);
    equal([await fn('fn.deeper(1)'), await fn('fn.deepest(1)'), await fn('fn.nothing(1)')], [[], ['limit_depth'], ['expression_type']]);
    for (const name of ['deepest', 'deeper', 'kept']) await s.asAdmin('DELETE', `/functions/${name}`);
    equal([await check(scenario('fn.kept(1)')), (await evaluate('fn.kept(1)')).status], [false, 422]);
});

claim('a business key has the same limit everywhere', async ({ server: s }) => {
    await s.publish({ code: 'keyed', settings: { key: '=input.k' }, steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }] });
    const start = async (body) => (await s.asAdmin('POST', '/executions', { code: 'keyed', ...body })).status;
    const [fits, long] = ['k'.repeat(255), 'k'.repeat(256)];
    equal([await start({ key: long, input: { k: 'x' } }), await start({ input: { k: long } })], [422, 422]);
    equal(await start({ input: { k: fits } }), 201);
    const signal = async (key) => (await s.asAdmin('POST', '/signals', { type: 'go', key })).status;
    equal([await signal(long), await signal(fits)], [422, 202]);
});

claim('the catalog speaks English and Russian', async ({ server: s }) => {
    const [en, ru] = await Promise.all(['en', 'ru'].map((lang) => s.asAdmin('GET', `/catalog?lang=${lang}`)));
    equal(en.raw, (await s.asAdmin('GET', '/catalog')).raw);
    const label = (answer) => answer.body.fields.step.find((f) => f.name === 'when').label;
    equal([label(en), label(ru)], ['When', 'Условие']);
    equal(ru.body.functions.map((f) => f.name), en.body.functions.map((f) => f.name));
    equal((await s.asAdmin('GET', '/catalog?lang=de')).status, 422);
});

// --- from one installation to another ---

/** Texts that a program would write otherwise. */
const oddTexts = {
    odd_space: '\n  { "code" : "odd_space" ,\n\t"steps":[{"code":"a","procedure":{"type":"compute.transform","data":{"v":1.50}}}]\n}\n\n',
    odd_kind: '{"kind":"scenario","code":"odd_kind","steps":[{"code":"a","procedure":{"type":"compute.transform","data":{"v":1e2}}}]}',
    odd_escapes: '{"steps":[{"procedure":{"data":{"v":"\\u0041\\/é"},"type":"compute.transform"},"code":"a"}],"c\\u006fde":"odd_escapes"}',
};

claim('an export has the text that was sent, byte for byte', async ({ server: s }) => {
    for (const [code, text] of Object.entries(oddTexts)) {
        equal((await s.asAdmin('PUT', `/scenarios/${code}/draft`, text)).status, 200, code);
        equal((await s.asAdmin('POST', `/scenarios/${code}/publish`)).status, 200, code);
    }
    const { raw, body } = await s.asAdmin('GET', `/export?codes=${Object.keys(oddTexts).join()}`);
    equal(body.items.map((i) => i.text), body.items.map((i) => oddTexts[i.code]));
    equal(body.items.map((i) => Object.keys(i)), Array(3).fill(['kind', 'code', 'text']));
    const other = await startServer();
    equal((await other.asAdmin('POST', '/import', raw)).status, 200);
    equal((await other.asAdmin('GET', '/export')).raw, raw, 'and so has that of the other side');
    const wrong = (text, code = 'a') => other.asAdmin('POST', '/import', { items: [{ kind: 'scenario', code, text }] });
    equal((await wrong('[]')).body.errors[0].pointer, '/items/0/text');
    equal((await wrong(oddTexts.odd_kind)).body.errors[0].pointer, '/items/0/code');
    await other.stop();
});

claim('a definition may come with its kind, which is no part of its text', async ({ server: s }) => {
    const put = (text) => s.asAdmin('POST', '/import', `{"items":[${text}]}`);
    const text = async () => (await s.asAdmin('GET', '/export?codes=kinded')).body.items[0].text;
    const rest = '"code":"kinded", "steps":[]';
    for (const [sent, kept] of [
        [`{"kind":"scenario",${rest}}`, `{${rest}}`],
        [`{"meta":{"n":1}, "kind" : "scenario" , ${rest}}`, `{"meta":{"n":1},  ${rest}}`],
        [`{${rest} , "kind": "scenario" }`, `{${rest}  }`],
    ]) {
        const answer = await put(sent.replace('"steps":[]', '"steps":[{"code":"a","procedure":{"type":"compute.transform","data":{}}}]'));
        equal(answer.status, 200, answer.raw);
        equal(await text(), kept.replace('"steps":[]', '"steps":[{"code":"a","procedure":{"type":"compute.transform","data":{}}}]'));
    }
});

claim('an export by code has everything that it uses', async ({ server: s }) => {
    const done = await s.asAdmin('POST', '/import', { items: [
        { code: 'cl_parent', steps: [
            { code: 'child', procedure: { type: 'flow.start', code: 'cl_child', wait: true } },
            { code: 'mail', procedure: { type: 'notification.email', to: 'a@example.com', template: 'cl_mail' } }] },
        { code: 'cl_child', steps: [{ code: 'a', procedure: 'cl_price' }] },
        { code: 'cl_price', commands: [{ type: 'compute.transform', data: { v: '=fn.cl_outer(1) * config.cl_rate' } }] },
        { kind: 'function', name: 'cl_outer', params: [number('x')], body: 'fn.cl_inner(x)' },
        { kind: 'function', name: 'cl_inner', params: [number('x')], body: 'x * 2' },
        { kind: 'config', name: 'cl_rate', value: 2 },
        { kind: 'template', code: 'cl_mail', subject: 'Hi', body: '{{ config.cl_sender }}' },
        { kind: 'config', name: 'cl_sender', value: 'x' },
        { kind: 'config', name: 'cl_unused', value: 'x' },
    ] });
    equal(done.status, 200, done.raw);
    const { body } = await s.asAdmin('GET', '/export?code=cl_parent');
    equal(body.items.map((i) => i.code).sort(), ['cl_child', 'cl_inner', 'cl_mail', 'cl_outer', 'cl_parent', 'cl_price', 'cl_rate', 'cl_sender']);
    const other = await startServer();
    equal((await other.asAdmin('POST', '/import', body)).status, 200, 'it is all that the other side needs');
    await other.stop();
    refused(await s.asAdmin('GET', '/export?code=cl_parent&codes=cl_child'), 400, 'bad_request');
    refused(await s.asAdmin('GET', '/export?code=cl_nothing'), 404, 'not_found');
});

async function moveAll(from, to) {
    const exported = await from.asAdmin('GET', '/export');
    equal((await to.asAdmin('POST', '/import', exported.raw)).status, 200);
    const plan = await to.asAdmin('POST', '/import', exported.raw.replace(/^\{/, '{"dryRun":true,'));
    equal(plan.body.items.filter((i) => i.action !== 'unchanged'), [], 'nothing is left to do');
    equal((await to.asAdmin('GET', '/export')).raw, exported.raw, 'the same, to the byte');
    for (const { code, kind } of JSON.parse(exported.raw).items.filter((i) => i.kind === 'scenario')) {
        const text = async (s) => /"definition":(.*)\}\}?/s.exec((await s.asAdmin('GET', `/${kind}s/${code}`)).raw)[1]
            .replace(/\},"draft":.*/s, '');
        equal(await text(to), await text(from), `the text of ${code}`);
    }
}

claim('an export is taken whole', async (rig) => {
    const file = await startServer();
    await moveAll(rig.server, file);
    const next = await startServer({ store: rig.postgres.fresh() });
    await moveAll(file, next);
    for (const server of [file, next]) await server.stop();
}, 'PostgreSQL');

// --- crashes ---

claim('a crash around an import leaves all of it or nothing', async () => {
    for (const point of ['writer.publishing:2', 'writer.publishing:5', 'writer.before_commit', 'writer.committed']) {
        const s = await startServer({ program: checkProgram });
        const old = transform('k0', { n: 0 });
        equal((await s.asAdmin('POST', '/import', { items: [old, transform('k1', { n: 0 })] })).status, 200);
        await s.stop();
        const items = [1, 0, 2, 3].map((k) => transform(`k${k}`, { n: 1 }));
        items.push({ kind: 'config', name: 'killed', value: point });
        equal(await s.start({ PAWL_CRASH_AT: point }), true);
        const answer = await s.asAdmin('POST', '/import', { items }).catch(() => null);
        await s.ended;
        equal([answer, s.signal], [null, 'SIGKILL'], point);
        equal(await s.start(), true, s.log);
        const seen = [];
        for (const code of ['k0', 'k1', 'k2', 'k3'])
            seen.push((await s.asAdmin('GET', `/scenarios/${code}`)).body.published?.definition.steps[0].procedure.data.n ?? null);
        const isNew = (await s.asAdmin('GET', '/config/killed')).status === 200;
        equal([seen, isNew], isNew ? [[1, 1, 1, 1], true] : [[0, 0, null, null], false], `all or nothing at ${point}`);
        equal((await s.asAdmin('POST', '/import', { items })).status, 200, 'and again');
        equal((await s.asAdmin('GET', '/config/killed')).body.value, point);
        await s.stop();
    }
}, 'SQLite');

// --- several nodes on one database ---

claim('what one node changes the others see', async ({ server: a, store }) => {
    const b = await startServer({ store, beside: a });
    await a.asAdmin('PUT', '/config/both', { value: 1 });
    await a.publish(transform('both', { v: '$.config.both' }));
    equal(await result(b, 'both'), { v: 1 }, 'a version that b has never seen');
    await a.asAdmin('PUT', '/config/both', { value: 2 });
    await until('b sees the config', async () => (await result(b, 'both')).v === 2);
    await a.asAdmin('PUT', '/functions/both', { params: [], body: '3' });
    await a.publish(transform('both', { v: '=fn.both()' }));
    await until('b sees the version', async () => (await result(b, 'both')).v === 3);
    await a.asAdmin('PUT', '/functions/both', { params: [], body: '4' });
    await until('b sees the function', async () => (await result(b, 'both')).v === 4);
    await a.asAdmin('POST', '/scenarios/both/revert');
    await until('b sees the revert', async () => (await result(b, 'both')).v === 2);
    await b.stop();
}, 'PostgreSQL');

claim('of two nodes that save over the same version one wins', async ({ server: a, store }) => {
    const b = await startServer({ store, beside: a });
    for (let i = 0; i < 5; i++) {
        const { headers: { etag } } = await a.asAdmin('PUT', '/config/contended', { value: `start ${i}` });
        const both = await Promise.all([a, b].map((s, k) =>
            s.asAdmin('PUT', '/config/contended', { value: `${i} of ${k}` }, { 'If-Match': etag })));
        equal(both.map((x) => x.status).sort(), [200, 412]);
    }
    await b.stop();
}, 'PostgreSQL');

await run(() => {});
