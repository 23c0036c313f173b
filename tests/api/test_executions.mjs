// Lists, details, history, bulk actions and deletion of executions, on both stores.
import { statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { forAll, refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const waiting = (code) => ({
    code,
    steps: [
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
        { code: 'done', procedure: { type: 'compute.transform', data: { got: '$.steps.ask.payload' } } },
    ],
});
const failing = { code: 'failing', onError: 'fail_fast', steps: [{ code: 'stop', procedure: { type: 'compute.fail', code: 'no_luck', message: 'bad luck' } }] };
const adding = {
    code: 'adding',
    input: [{ name: 'n', type: 'integer' }],
    steps: [
        { code: 'first', procedure: { type: 'compute.set', values: { sum: '$.input.n' } } },
        { code: 'second', procedure: { type: 'compute.set', values: { sum: '=$.variables.sum * 10' } } },
        { code: 'third', procedure: { type: 'compute.transform', data: { total: '$.variables.sum' } } },
    ],
};
const secret = {
    code: 'secret',
    input: [
        { name: 'card', type: 'string', sensitive: true },
        { name: 'pin', type: 'integer', sensitive: true },
        { name: 'who', type: 'string' },
    ],
    steps: [
        { code: 'use', procedure: { type: 'compute.transform', data: { text: 'card {{ $.input.card }} of {{ $.input.who }}', pin: '$.input.pin' } } },
        { code: 'say', procedure: { type: 'log', level: 'warn', message: 'paid with {{ $.input.card }}' } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
    ],
};

const asksCard = {
    code: 'asks_card',
    steps: [
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'card', form: [
            { name: 'number', type: 'string', sensitive: true }, { name: 'cents', type: 'integer', sensitive: true },
            { name: 'who', type: 'string' }] } },
        { code: 'say', procedure: { type: 'log', level: 'warn', message: 'paid {{ $.steps.ask.payload.number }}' } },
        { code: 'use', onError: 'continue', procedure: { type: 'compute.fail', code: 'no', message: 'no {{ $.steps.ask.payload.number }}' } },
        { code: 'keep', procedure: { type: 'compute.set', values: { card: '$.steps.ask.payload' } } },
        { code: 'more', procedure: { type: 'wait.signal', signalType: 'go' } },
    ],
};

const ids = (items) => items.map((item) => item.id);

// Start many at once; answers them in the order of their numbers.
async function many(rig, count, code, options = () => ({})) {
    const started = [];
    await forAll(rig.server, Array.from({ length: count }, (_, i) => i), async (client, i) => {
        const answer = await client.ask('POST', '/api/v1/executions', { code, ...options(i) });
        equal(answer.status, 201, JSON.stringify(answer.body));
        started[i] = answer.body;
    }, 24);
    return started;
}

// --- lists ---

claim('a process of 200 steps runs to its end, and one of 201 is refused', async (rig) => {
    const step = (i) => ({ code: `s${i}`, procedure: { type: 'compute.transform', data: i === 0 ? 1 : `=$.steps.s${i - 1}.output + 1` } });
    const of = (count) => {
        const all = Array.from({ length: count - 1 }, (_, i) => step(i));
        return { code: 'long_one', steps: [...all.slice(0, 100), { code: 'inner', loop: { for: [1], steps: all.slice(100) } }], result: `$.steps.s${count - 2}.output` };
    };
    const body = refused(await rig.api('PUT', '/scenarios/long_one/draft', of(201)).then((a) => a.body.valid ? a : rig.api('POST', '/scenarios/long_one/publish')), 422, 'invalid');
    equal(body.errors.filter((e) => e.severity === 'error')[0].code, 'limit_steps');
    await rig.publish(of(200));
    const x = (await rig.api('POST', '/executions?wait=60s', { code: 'long_one' })).body;
    equal([x.status, x.result], ['completed', 199], JSON.stringify(x.error));
});

claim('a start under the key of a live execution is refused or joins it, also when it would end at once', async (rig) => {
    const steps = [{ code: 'ask', when: '$.input.asks', procedure: { type: 'wait.signal', signalType: 'go' } }, { code: 'writes', procedure: { type: 'record.create', object: 'taken', data: { by: '$.execution.id' } } }];
    const input = [{ name: 'asks', type: 'boolean', required: true }];
    await rig.publish({ code: 'rejects', input, steps });
    await rig.publish({ code: 'joins', input, settings: { onKeyConflict: 'join' }, steps });
    for (const code of ['rejects', 'joins']) {
        const first = await rig.begin(code, { key: 'k', input: { asks: true } });
        const second = await rig.api('POST', '/executions', { code, key: 'k', input: { asks: false } });
        if (code === 'joins') equal([second.status, second.body.id], [200, first.id], second.raw);
        else equal(refused(second, 409, 'key_busy').executionId, first.id);
    }
    equal((await rig.api('GET', '/records/taken')).body.items.length, 0, 'nothing has been done by the second');
});

claim('a key that people cannot tell from another is refused, given or computed', async (rig) => {
    await rig.publish({ code: 'keyed_by', settings: { key: '$.input.k' }, input: [{ name: 'k', type: 'string', required: true }], steps: [{ code: 'a', procedure: { type: 'log', message: 'x' } }] });
    for (const key of ['\n', 'K ', ' K', 'a\tb', 'a\u007fb', 'a\u0085b', 'K\r\n', 'x'.repeat(256)]) {
        const given = refused(await rig.api('POST', '/executions', { code: 'keyed_by', key, input: { k: 'x' } }), 422, 'invalid');
        equal(given.errors[0].pointer, '/key', JSON.stringify(key));
        refused(await rig.api('POST', '/executions', { code: 'keyed_by', input: { k: key } }), 422, 'invalid');
    }
    for (const key of ['a b', 'Заказ № 7', 'x'.repeat(255), '\u00a0x'])
        equal((await rig.api('POST', '/executions', { code: 'keyed_by', key, input: { k: 'x' } })).body.key, key);
});

claim('every filter finds what it says, page by page', async (rig) => {
    const a = (await many(rig, 9, 'list_a', (i) => ({ key: `la-${i}` }))).map((x) => x.id);
    const b = ids(await many(rig, 5, 'list_b'));
    const f = ids(await many(rig, 4, 'failing'));
    const done = await rig.begin('list_b', { key: 'lb-done' });
    await rig.api('POST', `/executions/${done.id}/cancel`);
    await until('it is cancelled', async () => (await rig.api('GET', `/executions/${done.id}`)).body.status === 'cancelled');
    const same = async (query, wanted, limit = 3) =>
        equal(ids(await rig.all(`/executions?${query}`, limit)).sort(), [...wanted].sort(), query);
    await same('code=list_a', a);
    await same('code=list_a&status=waiting', a);
    await same('code=list_a&status=completed', []);
    await same('code=list_b&status=waiting,cancelled', [...b, done.id]);
    await same('code=list_b&status=waiting&status=cancelled', [...b, done.id]);
    await same('code=failing&status=completed,failed', f);
    await same('key=la-3', [a[3]]);
    await same('key=la-3&code=list_b', []);
    await same('step=ask&code=list_b', b);
    await same('step=ask&code=list_b&status=cancelled', []);
    await same('step=done', []);
    await same('kind=scenario&code=list_a', a);
    await same('kind=machine', []);
    await same('q=la-4', [a[4]]);
    await same('q=list_b', [...b, done.id]);
    await same('q=no_luck', f);
    await same(`q=${a[2]}`, [a[2]]);
    await same(`q=${a[2].slice(-10)}`, [a[2]]);
    await same('code=list_a&from=2020-01-01&to=2999-01-01T00:00:00Z', a);
    await same('code=list_a&to=2020-01-01', []);
    await same('code=list_a&from=2999-01-01', []);
    await same('code=list_a&from=1h30m', a);
    await same('code=list_a&to=2h', []);
    await same('code=list_a&from=99999d', a);
});

claim('lists by parent, by what is waited for, by error, by the step of any branch, by deadline', async (rig) => {
    const { id: parent } = await rig.begin('list_parent');
    const { id: held } = await rig.begin('list_held');
    const { id: failed } = await rig.begin('list_failing');
    const { id: branched } = await rig.begin('list_branches');
    await until('its child waits', async () => (await rig.api('GET', `/executions?parent=${parent}`)).body.items[0]?.status === 'waiting');
    const found = async (query) => (await rig.all(`/executions?${query}`, 2)).map((x) => x.id);
    const [child] = await found(`parent=${parent}`);
    equal((await rig.api('GET', `/executions/${child}`)).body.parentId, parent);
    equal(await found(`parent=${parent}&status=completed`), []);
    equal(await found('waiting=child'), [parent]);
    equal(await found('waiting=incident'), [held]);
    equal(await found('waiting=incident&code=list_failing'), []);
    equal(await found('error=list_luck'), [failed, held]);
    equal(await found('error=list_luck&order=oldest'), [held, failed]);
    equal(await found('error=list_luck&status=failed'), [failed]);
    for (const step of ['left', 'middle', 'right']) equal(await found(`step=${step}`), [branched], step);
    equal(await found('deadlineBefore=2h'), [held]);
    equal(await found('deadlineBefore=30m'), []);
    equal(await found('deadlineBefore=2h&code=list_branches'), []);
    const [failure] = (await rig.api('GET', '/executions?error=list_luck&status=failed')).body.items;
    equal(failure.error.step, 'luck');
    const dry = await rig.api('POST', '/executions/bulk', { action: 'cancel', filter: { step: 'right' }, dryRun: true });
    equal([dry.body.matched, dry.body.skipped], [1, 0]);
    const bulk = await rig.api('POST', '/executions/bulk', { action: 'cancel', filter: { waiting: 'incident', error: 'list_luck' } });
    equal([bulk.status, bulk.body.done], [200, 1]);
    refused(await rig.api('POST', '/executions/bulk', { action: 'cancel', filter: { parents: parent } }), 422, 'invalid');
});

claim('q is the beginning of any word of the code or the name of a process, in any case and script', async (rig) => {
    const named = (code, name) => rig.publish({ ...waiting(code), name });
    await named('quince_jam', 'Mürbes Gebäck für Ärzte');
    await named('medlar', 'Оплата заказа «Ёлка»');
    const [jam, medlar] = [ids(await many(rig, 4, 'quince_jam')).sort(), ids(await many(rig, 3, 'medlar', (i) => ({ key: `quince-${i}` }))).sort()];
    const found = async (q) => ids(await rig.all(`/executions?q=${encodeURIComponent(q)}`, 3)).sort();
    for (const q of ['quince_jam', 'QUIN', 'jam', 'Jam', 'quince_j', 'gebäck', 'ÄRZTE', 'mürbes geb']) equal(await found(q), jam, q);
    for (const q of ['заказа', 'ЗАК', 'ёл', 'medl']) equal(await found(q), medlar, q);
    equal((await found('quince-1')).length, 1, 'a key is still found, and is no process');
    for (const q of ['ince', 'аказ', 'quincejam', 'jam_']) equal(await found(q), [], q);
    const dry = await rig.api('POST', '/executions/bulk', { action: 'cancel', filter: { q: 'Gebäck' }, dryRun: true });
    equal(dry.body.matched, 4, 'bulk actions go by the same');
    equal(ids(await rig.all('/executions?q=Gebäck&order=oldest&status=waiting', 3)).sort(), jam);
    for (let i = 0; i < 65; i++) await rig.publish(waiting(`zz_many_${i}`));
    refused(await rig.api('GET', '/executions?q=zz_m'), 400, 'bad_request', 'type more');
    equal((await rig.api('GET', '/executions?q=zz_many_64')).status, 200);
});

claim('executions are counted by code, status, step, version and error', async (rig) => {
    const counts = async (query) => (await rig.api('GET', `/executions/summary?${query}`)).body;
    const of = (answer, value) => answer.items.filter((x) => x.value === value).map((x) => [x.status, x.count]);
    await many(rig, 3, 'count_waiting');
    await many(rig, 2, 'count_failing');
    await rig.begin('count_held');
    equal(of(await counts('by=code'), 'count_waiting'), [['waiting', 3]]);
    equal(of(await counts('by=code'), 'count_failing'), [['failed', 2]]);
    equal((await counts('by=code&code=count_failing')).items, [{ value: 'count_failing', status: 'failed', count: 2 }]);
    equal(of(await counts('by=step'), 'count_ask'), [['waiting', 3]]);
    equal(of(await counts('by=error'), 'count_luck'), [['failed', 2], ['waiting', 1]]);
    equal(of(await counts('by=error&status=waiting'), 'count_luck'), [['waiting', 1]]);
    equal((await counts('by=version&code=count_waiting')).items, [{ value: '1', status: 'waiting', count: 3 }]);
    equal((await counts('by=version&code=count_failing')).items, [], 'what has ended needs no version');
    equal((await counts('by=step')).partial, false);
    equal((await counts('by=code')).partial, true);
    const all = await counts('by=status');
    equal([all.partial, all.since], [false, null]);
    equal(of(all, 'failed'), [[undefined, (await rig.all('/executions?status=failed', 500)).length]]);
    const viewer = await rig.api('POST', '/users', { name: `counter-${rig.name}`, role: 'viewer' });
    const asViewer = await rig.client.ask('GET', '/api/v1/executions/summary?by=status&code=count_waiting', undefined, { Authorization: `Bearer ${viewer.body.token}` });
    equal(asViewer.body.items, [{ value: 'waiting', count: 3 }]);
    for (const query of ['', 'by=size', 'by=code&status=lost', 'by=version'])
        refused(await rig.api('GET', `/executions/summary?${query}`), 400, 'bad_request');
});

claim('errors of calls are counted with the code that the service gives', async (rig) => {
    const said = { declined: { error: { code: 'card_declined' } }, odd: { error: { code: '4242 4242 4242 4242' } }, number: { error: { code: 7 } }, plain: 'no' };
    const service = createServer((asked, answer) => answer.writeHead(402, { 'content-type': 'application/json' }).end(JSON.stringify(said[asked.url.slice(1)])));
    await new Promise((done) => { service.listen(0, '127.0.0.1', done); });
    const url = `=\"http://127.0.0.1:${service.address().port}/\" + $.input.what`;
    const input = [{ name: 'what', type: 'string' }];
    for (const [code, more] of [['says', {}], ['says_held', { onError: 'hold' }]])
        await rig.publish({ code, input, steps: [{ code: 'pay', procedure: { type: 'integration.http', method: 'POST', url }, ...more }] });
    for (const what of ['declined', 'declined', 'odd', 'number', 'plain']) await rig.api('POST', '/executions?wait=20s', { code: 'says', input: { what } });
    const { id } = await rig.begin('says_held', { input: { what: 'declined' } });
    await until('it is held', async () => (await rig.api('GET', `/executions/${id}`)).body.waitingFor?.kind === 'incident');
    const counts = async (query) => (await rig.api('GET', `/executions/summary?by=error&${query}`)).body.items.map((x) => [x.value, x.serviceCode, x.status, x.count]);
    equal(await counts('code=says'), [['external_status', undefined, 'failed', 3], ['external_status', 'card_declined', 'failed', 2]]);
    equal(await counts('code=says_held&waiting=incident'), [['external_status', 'card_declined', 'waiting', 1]]);
    equal(await counts('code=says&waiting=incident'), []);
    for (const query of ['by=error&waiting=timer', 'by=code&waiting=incident']) refused(await rig.api('GET', `/executions/summary?${query}`), 400, 'bad_request');
    service.close();
});

claim('a parameter that nobody reads is refused, with the one that may be meant', async (rig) => {
    for (const [path, text] of [
        ['/executions?stauts=failed', "there is no parameter 'stauts' here; did you mean 'status'?"],
        ['/executions?kind=scenario&kind=scenario', 'kind is given twice'],
        ['/dlq?sort=code', "there is no parameter 'sort' here"],
        ['/audit?acton=user.create', "did you mean 'action'?"],
        ['/scenarios?limits=3', "did you mean 'limit'?"],
        ['/me?x=1', "there is no parameter 'x' here"],
    ])
        check(refused(await rig.api('GET', path), 400, 'bad_request').detail.includes(text), path);
    equal((await rig.client.ask('GET', '/healthz?probe=7')).status, 200);
});

claim('a list is newest first, and what starts meanwhile does not disturb it', async (rig) => {
    const before = [];
    for (let i = 0; i < 12; i++) before.push((await rig.begin('list_c')).id);
    const seen = [];
    let cursor = '';
    do {
        const page = (await rig.api('GET', `/executions?code=list_c&limit=5${cursor}`)).body;
        seen.push(...ids(page.items));
        cursor = page.nextCursor && `&cursor=${page.nextCursor}`;
        await rig.begin('list_c');
    } while (cursor);
    equal(seen, before.reverse());
});

claim('a wrong value is refused with what would be right', async (rig) => {
    for (const [query, text] of [
        ['status=waitng', "did you mean 'waiting'"],
        ['status=waiting,nothing', 'status is one of pending'],
        ['kind=process', 'kind is scenario'],
        ['from=yesterday', 'from is a time'],
        ['from=-2h', 'how long ago'],
        ['to=2026-13-01', 'to is a time'],
        ['limit=0', 'limit is a number'],
        ['limit=501', 'limit is a number'],
        ['limit=x', 'limit is a number'],
        ['cursor=abc', 'cursor'],
        ['order=up', 'order is newest or oldest'],
        ['parent=x', 'parent is the id of an execution'],
        ['waiting=incidents', "did you mean 'incident'"],
        ['deadlineBefore=soon', 'deadlineBefore is a time'],
        [`code=${'x'.repeat(501)}`, 'at most'],
    ])
        check(refused(await rig.api('GET', `/executions?${query}`), 400, 'bad_request').detail.includes(text), query);
});

// --- one ---

claim('an execution has every field', async (rig) => {
    const x = (await rig.api('GET', `/executions/${(await rig.begin('list_a', { key: 'fields' })).id}`)).body;
    equal(Object.keys(x), ['id', 'kind', 'code', 'version', 'status', 'key', 'input', 'context', 'currentStep',
        'waitingFor', 'error', 'result', 'rowVersion', 'debug', 'parentId', 'againOf', 'user', 'actions', 'createdAt',
        'startedAt', 'completedAt', 'updatedAt', 'deadlineAt']);
    equal([x.kind, x.status, x.key, x.currentStep, x.waitingFor.kind, x.debug, x.parentId, x.user.id],
        ['scenario', 'waiting', 'fields', 'ask', 'signal', false, null, '00000000-0000-7000-8000-000000000002']);
    equal(x.actions, ['cancel', 'signal', 'assign', 'migrate', 'pause']);
    equal((await rig.begin('adding', { input: { n: 1 } })).actions, ['again', 'delete']);
});

claim('sensitive input is masked in every view and in the log', async (rig) => {
    const input = { card: '4111-2222-3333', pin: 90210, who: 'Ann' };
    const key = { 'Idempotency-Key': `secret-${rig.name}` };
    const started = await rig.api('POST', '/executions', { code: 'secret', input, key: 'of 4111-2222-3333' }, key);
    equal(started.status, 201, JSON.stringify(started.body));
    const { id } = started.body;
    const views = [started.body];
    views.push((await rig.api('POST', '/executions', { code: 'secret', input, key: 'of 4111-2222-3333' }, key)).body);
    for (const path of ['', '/steps', '/context'])
        views.push((await rig.api('GET', `/executions/${id}${path}`)).body);
    const steps = views[3].items;
    views.push((await rig.api('GET', `/executions/${id}/context?at=${steps[0].id}`)).body);
    views.push((await rig.api('GET', '/executions?code=secret')).body);
    for (const view of views) {
        check(!/4111-2222|90210/.test(JSON.stringify(view)), `masked: ${JSON.stringify(view)}`);
        check(/\*\*\*/.test(JSON.stringify(view)), `shown: ${JSON.stringify(view)}`);
    }
    equal(views[2].input, { card: '***', pin: '***', who: 'Ann' });
    equal(steps[0].output, { text: 'card *** of Ann', pin: '***' });
    await until('the log line', () => rig.server.log.includes('paid with ***'));
    check(!rig.server.log.includes('4111-2222'), 'the log is masked');
    await rig.api('POST', `/executions/${id}/cancel`);
});

claim('a sensitive field of a form is masked in every view and in the log', async (rig) => {
    const { id } = await rig.begin('asks_card');
    const payload = { number: '5500-1111-2222', cents: 777123, who: 'Ann' };
    const views = [(await rig.api('POST', `/executions/${id}/signal?wait=60s`, { type: 'card', payload })).body];
    for (const path of ['', '/steps', '/context'])
        views.push((await rig.api('GET', `/executions/${id}${path}`)).body);
    views.push((await rig.api('GET', `/executions/${id}/context?at=${views[2].items[0].id}`)).body);
    for (const view of views) {
        check(!/5500-1111|777123/.test(JSON.stringify(view)), `masked: ${JSON.stringify(view)}`);
        check(/\*\*\*/.test(JSON.stringify(view)), `shown: ${JSON.stringify(view)}`);
    }
    equal(views[1].context.variables.card, { number: '***', cents: '***', who: 'Ann' });
    equal(views[1].context.signals[0].payload, { number: '***', cents: '***', who: 'Ann' });
    equal(views[2].items[2].error.message, 'no ***');
    await until('the log line', () => rig.server.log.includes('paid ***'));
    check(!rig.server.log.includes('5500-1111'), 'the log is masked');
    const dry = await rig.api('POST', '/scenarios/asks_card/dry-run', { mocks: { signals: { card: payload } } });
    equal(dry.status, 200, JSON.stringify(dry.body));
    check(!/5500-1111|777123/.test(JSON.stringify(dry.body)), `masked: ${JSON.stringify(dry.body)}`);
    await rig.api('POST', `/executions/${id}/cancel`);
});

claim('steps come the newest first when asked, in pages of any size, with large values too', async (rig) => {
    await rig.publish({ code: 'rounds', input: [{ name: 'text', type: 'string', required: true }, { name: 'lines', type: 'array', required: true }], steps: [{ code: 'each', loop: { for: '$.input.lines', steps: [{ code: 'line', procedure: { type: 'compute.transform', data: { n: '$.loop.index', text: '$.input.text' } } }] } }] });
    for (const text of ['', 'x'.repeat(100000)]) {
        const x = (await rig.api('POST', '/executions?wait=60s', { code: 'rounds', input: { text, lines: Array(40).fill(1) } })).body;
        const ids = (await rig.all(`/executions/${x.id}/steps?events=true`, 500)).map((s) => s.id);
        equal(ids.length >= 40, true);
        for (const limit of [1, 7, 500]) equal((await rig.all(`/executions/${x.id}/steps?events=true&order=newest`, limit)).map((s) => s.id), [...ids].reverse(), `pages of ${limit}`);
    }
    refused(await rig.api('GET', '/executions/01a1e315-0528-7d52-b011-6b107ea09869/steps?order=newest'), 404, 'not_found');
    refused(await rig.api('GET', '/executions/01a1e315-0528-7d52-b011-6b107ea09869/steps?order=up'), 400, 'bad_request');
});

claim('steps are paged in order', async (rig) => {
    const x = await rig.begin('adding', { input: { n: 4 } });
    const steps = await rig.all(`/executions/${x.id}/steps`, 2);
    equal(steps.map((s) => s.step), ['first', 'second', 'third']);
    equal(steps.map((s) => [s.kind, s.visit, s.attempt, s.status]), Array(3).fill(['forward', 1, 1, 'completed']));
    equal(steps[0].idempotencyKey, `${x.id}-first`);
    refused(await rig.api('GET', `/executions/${x.id}/steps?cursor=-1`), 400, 'bad_request');
    refused(await rig.api('GET', '/executions/0190a1b2-0000-7000-8000-000000000000/steps'), 404, 'not_found');
});

claim('the context is shown as it was after each step', async (rig) => {
    const x = await rig.begin('adding', { input: { n: 4 } });
    const steps = await rig.all(`/executions/${x.id}/steps`);
    const at = async (id) => (await rig.api('GET', `/executions/${x.id}/context?at=${id}`)).body;
    equal((await at(steps[0].id)).variables, { sum: 4 });
    equal(Object.keys((await at(steps[0].id)).steps), ['first']);
    equal((await at(steps[1].id)).variables, { sum: 40 });
    equal((await at(steps[2].id)).steps.third.total, 40);
    equal(await at(steps[2].id), (await rig.api('GET', `/executions/${x.id}/context`)).body);
    equal((await at(steps[2].id)).input, { n: 4 });
    for (const wrong of [x.id, 'nonsense', steps[0].id.replace(/.$/, (c) => (c === '0' ? '1' : '0'))])
        refused(await rig.api('GET', `/executions/${x.id}/context?at=${wrong}`), 404, 'not_found');
    refused(await rig.api('GET', `/executions/${steps[0].id}/context`), 404, 'not_found');
});

// --- signals by key ---

claim('a signal finds its execution by key', async (rig) => {
    const x = await rig.begin('list_a', { key: 'sig-1' });
    const answer = await rig.api('POST', '/signals', { type: 'go', key: 'sig-1', payload: { n: 1 }, id: 's-1' });
    equal([answer.status, answer.body], [202, { id: 's-1', executionId: x.id }]);
    await until('it ends', async () => (await rig.api('GET', `/executions/${x.id}`)).body.status === 'completed');
    equal((await rig.api('GET', `/executions/${x.id}`)).body.result, { got: { n: 1 } });
    // Sent again after the end: the same signal is known, another is not received.
    equal((await rig.api('POST', '/signals', { type: 'go', key: 'sig-1', payload: { n: 1 }, id: 's-1' })).body,
        { id: 's-1', executionId: x.id });
    refused(await rig.api('POST', '/signals', { type: 'go', key: 'sig-1', payload: { n: 2 }, id: 's-1' }), 409, 'conflict');
    refused(await rig.api('POST', '/signals', { type: 'go', key: 'sig-1', id: 's-2' }), 404, 'not_found');
});

claim('a signal by key says which code, when several run under it', async (rig) => {
    const a = await rig.begin('list_a', { key: 'sig-two' });
    const b = await rig.begin('list_b', { key: 'sig-two' });
    refused(await rig.api('POST', '/signals', { type: 'go', key: 'sig-two' }), 409, 'conflict');
    equal((await rig.api('POST', '/signals', { type: 'go', key: 'sig-two', code: 'list_b' })).body.executionId, b.id);
    const key = { 'Idempotency-Key': `sig-two-${rig.name}` };
    const body = { type: 'go', key: 'sig-two', code: 'list_a' };
    const first = await rig.api('POST', '/signals', body, key);
    equal(first.body.executionId, a.id);
    await until('it ends', async () => (await rig.api('GET', `/executions/${a.id}`)).body.status === 'completed');
    equal((await rig.api('POST', '/signals', body, key)).body, first.body, 'the answer of then');
});

claim('a signal without an address is refused', async (rig) => {
    refused(await rig.api('POST', '/signals', { type: 'go', key: 'nobody' }), 404, 'not_found');
    const pointer = async (body) => refused(await rig.api('POST', '/signals', body), 422, 'invalid').errors[0].pointer;
    equal(await pointer({ type: 'go' }), '/key');
    equal(await pointer({ key: 'x' }), '/type');
    equal(await pointer({ type: '', key: 'x' }), '/type');
    equal(await pointer({ type: 'go', key: '' }), '/key');
    equal(await pointer({ type: 'go', key: 'x', cod: 'y' }), '/cod');
    equal(await pointer({ type: 'go', correlation: { order: 1 } }), '/correlation');
});

// --- deleting ---

claim('an execution that has ended can be deleted, with all of it', async (rig) => {
    const key = { 'Idempotency-Key': `delete-${rig.name}` };
    const body = { code: 'adding', input: { n: 77777 } };
    const started = await rig.api('POST', '/executions', body, key);
    const { id } = started.body;
    equal((await rig.api('DELETE', `/executions/${id}`)).status, 204);
    refused(await rig.api('GET', `/executions/${id}`), 404, 'not_found');
    refused(await rig.api('GET', `/executions/${id}/steps`), 404, 'not_found');
    refused(await rig.api('DELETE', `/executions/${id}`), 404, 'not_found');
    refused(await rig.api('POST', `/executions/${id}/signal`, { type: 'go' }), 404, 'not_found');
    equal((await rig.api('POST', '/executions', body, key)).body, { id }, 'a repeated start starts nothing');
    const live = await rig.begin('list_a');
    refused(await rig.api('DELETE', `/executions/${live.id}`), 409, 'conflict');
    refused(await rig.api('DELETE', '/executions/nonsense'), 404, 'not_found');
    const again = { 'Idempotency-Key': `delete-again-${rig.name}` };
    const other = (await rig.begin('adding', { input: { n: 1 } })).id;
    equal((await rig.api('DELETE', `/executions/${other}`, undefined, again)).status, 204);
    equal((await rig.api('DELETE', `/executions/${other}`, undefined, again)).status, 204, 'the answer of then');
});

claim('a long history is deleted too', async (rig) => {
    const x = await rig.begin('list_a');
    await forAll(rig.server, Array.from({ length: 2100 }, (_, i) => i), (client, i) =>
        client.ask('POST', `/api/v1/executions/${x.id}/signal`, { type: 'other', payload: i }), 24);
    refused(await rig.api('DELETE', `/executions/${x.id}`), 409, 'conflict');
    await rig.api('POST', `/executions/${x.id}/cancel`);
    equal((await rig.api('DELETE', `/executions/${x.id}`)).status, 204);
    refused(await rig.api('GET', `/executions/${x.id}`), 404, 'not_found');
});

// --- many at once ---

claim('bulk counts what it would do, does it, and has nothing left', async (rig) => {
    const live = ids(await many(rig, 450, 'bulk_a'));
    const ended = await rig.begin('bulk_a');
    await rig.api('POST', `/executions/${ended.id}/cancel`);
    const bulk = (body) => rig.api('POST', '/executions/bulk', body);
    const counts = ({ matched, done, failed, skipped, more }) => [matched, done, failed, skipped, more];
    const filter = { code: 'bulk_a' };
    equal(counts((await bulk({ action: 'cancel', filter, dryRun: true })).body), [451, 0, 0, 1, false]);
    equal((await rig.api('GET', `/executions/${live[0]}`)).body.status, 'waiting');
    const part = (await bulk({ action: 'cancel', filter: { ...filter, status: ['waiting'] }, limit: 300, reason: 'test' })).body;
    equal(counts(part), [300, 300, 0, 0, true]);
    equal(counts((await bulk({ action: 'cancel', filter, cursor: part.nextCursor })).body), [150, 150, 0, 0, false]);
    equal(counts((await bulk({ action: 'cancel', filter })).body), [451, 0, 0, 451, false]);
    equal((await rig.all('/executions?code=bulk_a&status=cancelled', 500)).length, 451);
    equal(counts((await bulk({ action: 'delete', filter: { ...filter, status: 'cancelled' } })).body), [451, 451, 0, 0, false]);
    equal((await rig.all('/executions?code=bulk_a')).length, 0);
});

claim('bulk signals each execution once, however often it is asked', async (rig) => {
    const started = ids(await many(rig, 30, 'bulk_b'));
    const body = { action: 'signal', type: 'go', payload: { n: 1 }, filter: { code: 'bulk_b', status: 'waiting' } };
    const key = { 'Idempotency-Key': `bulk-${rig.name}` };
    const answers = await Promise.all([1, 2, 3].map(() => rig.api('POST', '/executions/bulk', body, key)));
    equal(answers.map((a) => a.status), [200, 200, 200]);
    await until('they end', async () => (await rig.all('/executions?code=bulk_b&status=completed', 50)).length === 30);
    const x = (await rig.api('GET', `/executions/${started[0]}`)).body;
    equal(x.context.signals.length, 1);
    equal((await rig.api('POST', '/executions/bulk', body, key)).body, answers[0].body, 'the answer of then');
    refused(await rig.api('POST', '/executions/bulk', { ...body, type: 'stop' }, key), 409, 'idempotency_conflict');
});

claim('bulk refuses what it does not understand, and changes nothing', async (rig) => {
    const x = await rig.begin('list_a');
    const pointer = async (body) =>
        refused(await rig.api('POST', '/executions/bulk', body), 422, 'invalid').errors[0].pointer;
    equal(await pointer({ action: 'cancel' }), '/filter');
    equal(await pointer({ filter: {} }), '/action');
    equal(await pointer({ action: 'explode', filter: {} }), '/action');
    equal(await pointer({ action: 'migrate', filter: {} }), '/version');
    equal(await pointer({ action: 'cancel', filter: { stauts: 'waiting' } }), '/filter/stauts');
    equal(await pointer({ action: 'cancel', filter: { status: 'waitin' } }), '/filter/status');
    equal(await pointer({ action: 'cancel', filter: { status: [1] } }), '/filter/status');
    equal(await pointer({ action: 'cancel', filter: { code: 1 } }), '/filter/code');
    equal(await pointer({ action: 'cancel', filter: { from: 'x' } }), '/filter/from');
    equal(await pointer({ action: 'cancel', filter: {}, type: 'go' }), '/type');
    equal(await pointer({ action: 'signal', filter: {} }), '/type');
    equal(await pointer({ action: 'delete', filter: {}, reason: 'x' }), '/reason');
    equal(await pointer({ action: 'cancel', filter: {}, limit: 0 }), '/limit');
    refused(await rig.api('POST', '/executions/bulk', { action: 'cancel', filter: {}, cursor: 'x' }), 400, 'bad_request');
    equal((await rig.api('GET', `/executions/${x.id}`)).body.status, 'waiting');
});

// --- nodes and figures ---

claim('nodes and metrics tell of this server', async (rig) => {
    const { items } = (await rig.api('GET', '/nodes')).body;
    equal(items.map((n) => [n.status, n.self]), [['live', true]]);
    const answer = await rig.client.ask('GET', '/metrics', undefined, { authorization: '' });
    equal(answer.status, 200);
    check(answer.headers['content-type'].startsWith('text/plain'), 'content type');
    const text = answer.raw;
    for (const name of ['pawl_executions{status="waiting"}', 'pawl_batches_total', 'pawl_commits_total', 'pawl_http_requests_total'])
        check(Number(text.match(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\d+)$`, 'm'))?.[1]) > 0, name);
    const listed = (await rig.all('/executions?status=waiting', 500)).length;
    check(text.includes(`pawl_executions{status="waiting"} ${listed}\n`), 'the counters are right');
});

// --- what a crash leaves ---

claim('kill -9 in the middle of a bulk cancellation leaves each cancelled or as it was', async (rig) => {
    const started = ids(await many(rig, 300, 'bulk_c'));
    const asked = rig.server.client().ask('POST', '/api/v1/executions/bulk', { action: 'cancel', filter: { code: 'bulk_c' } });
    await until('some are cancelled', async () => (await rig.api('GET', '/executions?code=bulk_c&status=cancelled&limit=1')).body.items.length);
    const acknowledged = (await rig.all('/executions?code=bulk_c&status=cancelled', 500)).length;
    await rig.restart();
    equal((await asked).status === 0 || (await asked).body.done === 300, true);
    const after = await rig.all('/executions?code=bulk_c', 500);
    equal(after.length, started.length);
    const cancelled = after.filter((x) => x.status === 'cancelled').length;
    check(cancelled >= acknowledged, 'what was seen is still true');
    equal(after.filter((x) => x.status === 'waiting').length, 300 - cancelled);
    equal((await rig.api('POST', '/executions/bulk', { action: 'cancel', filter: { code: 'bulk_c' } })).body.skipped, cancelled);
});

claim('retention deletes what ended long ago and nothing else, also across kill -9', async (rig) => {
    const live = ids(await many(rig, 20, 'list_d'));
    await many(rig, 300, 'filler', () => ({ input: { text: 'x'.repeat(20000) } }));
    await rig.restart({ PAWL_KEEP_COMPLETED: '1ms' });
    await until('some are gone', async () => (await rig.all('/executions?code=filler', 500)).length < 300);
    await rig.restart({ PAWL_KEEP_COMPLETED: '1ms' });
    await until('all are gone', async () => (await rig.all('/executions?status=completed,failed,cancelled', 500)).length === 0);
    equal(ids(await rig.all('/executions?code=list_d', 500)).sort(), live.sort());
    const size = () => (rig.store ? 0 : statSync(join(rig.folder, 'data', 'pawl.db')).size);
    await until('the space is given back', () => size() < 3000000);
    const text = (await rig.client.ask('GET', '/metrics')).raw;
    for (const status of ['completed', 'failed', 'cancelled'])
        check(text.includes(`pawl_executions{status="${status}"} 0\n`), `the counter of ${status}`);
    await rig.restart();
    const kept = await rig.begin('adding', { input: { n: 1 } });
    equal((await rig.api('GET', `/executions/${kept.id}`)).status, 200);
});

run(async (rig) => {
    for (const code of ['list_a', 'list_b', 'list_c', 'list_d', 'bulk_a', 'bulk_b', 'bulk_c']) await rig.publish(waiting(code));
    const luck = (code, onError, step, more = {}) => ({ code, onError, ...more, steps: [{ code: 'luck', procedure: { type: 'compute.fail', code: step, message: 'bad luck' } }] });
    const ask = (code) => ({ code, procedure: { type: 'wait.signal', signalType: code } });
    await rig.publish(waiting('list_kid'));
    await rig.publish({ code: 'list_parent', steps: [{ code: 'kid', procedure: { type: 'flow.start', code: 'list_kid', wait: true } }] });
    await rig.publish(luck('list_held', 'hold', 'list_luck', { settings: { timeout: '1h' } }));
    await rig.publish(luck('list_failing', 'fail_fast', 'list_luck'));
    await rig.publish({ code: 'list_branches', steps: [{ code: 'p', parallel: { branches: [[ask('left')], [ask('middle')], [ask('right')]] } }] });
    await rig.publish({ code: 'count_waiting', steps: [ask('count_ask')] });
    await rig.publish(luck('count_failing', 'fail_fast', 'count_luck'));
    await rig.publish(luck('count_held', 'hold', 'count_luck'));
    for (const definition of [failing, adding, secret, asksCard]) await rig.publish(definition);
    await rig.publish({ code: 'filler', steps: [{ code: 'copy', procedure: { type: 'compute.transform', data: { text: '$.input.text' } } }] });
});
