// Dead letters: what was given up is seen, and closed by what is done about it; on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const NOBODY = '00000000-0000-7000-8000-000000000000';

/** Its step fails until the configuration says that it is paid. */
const holding = {
    code: 'holding',
    onError: 'hold',
    input: [
        { name: 'n', type: 'integer', default: 1 },
        { name: 'card', type: 'string', default: '0000-0000-0000', sensitive: true },
    ],
    steps: [
        {
            code: 'pay', input: { card: '$.input.card', n: '$.input.n' },
            procedure: { type: 'compute.fail', when: '!$.config.paid', code: 'declined', message: 'not with {{ $.input.card }}' },
        },
    ],
};

/** Both rollbacks are given up; the last step fails. */
const stuck = {
    code: 'stuck',
    settings: { retryPolicy: { maxAttempts: 2, delay: '1ms', backoff: 1 } },
    steps: [
        { code: 'reserve', procedure: { type: 'log', message: 'a' }, rollback: { type: 'compute.fail', code: 'gone', message: 'm' } },
        { code: 'charge', procedure: { type: 'log', message: 'b' }, rollback: { type: 'compute.fail', code: 'down', message: 'm', class: 'transient', retry: { maxAttempts: 5, delay: '1ms', backoff: 1 } } },
        { code: 'fails', procedure: { type: 'compute.fail', code: 'no', message: 'm' } },
    ],
};

/** The second rollback fails until the configuration says that it is paid. */
const stranded = {
    code: 'stranded',
    settings: { retryPolicy: { maxAttempts: 1, delay: '1ms', backoff: 1 } },
    steps: [
        { code: 'first', procedure: { type: 'log', message: 'a' }, rollback: { type: 'log', message: 'undone' } },
        {
            code: 'second', procedure: { type: 'compute.transform', data: 2 },
            rollback: {
                procedure: [
                    { type: 'compute.fail', when: '!$.config.paid', code: 'down', message: 'm', class: 'transient' },
                    { type: 'compute.transform', data: { undone: '$.steps.second.output' } },
                ],
                retry: { maxAttempts: 5, delay: '1ms', backoff: 1 },
            },
        },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
        { code: 'fails', procedure: { type: 'compute.fail', code: 'no', message: 'm' } },
    ],
};

const many = { ...holding, code: 'many' };

/** Nobody knows whether it has happened, and nothing undoes it. */
const lost = {
    code: 'lost',
    steps: [{ code: 'call', retry: { maxAttempts: 1 }, procedure: { type: 'compute.fail', code: 'silence', message: 'm', class: 'indeterminate' } }],
};

const waiting = { code: 'waiting', steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } }] };

const letters = (rig, query) => rig.all(`/dlq?${query}`, 3);

/** The letters of an execution, whatever has become of them. */
const of = (rig, id) => letters(rig, `status=all&execution=${id}`);

async function hold(rig, input = {}) {
    const { id } = await rig.begin('holding', { input });
    const [letter] = await of(rig, id);
    return { id, letter };
}

async function fail(rig) {
    const answer = await rig.api('POST', '/executions?wait=60s', { code: 'stuck' });
    equal([answer.status, answer.body.status], [201, 'failed']);
    return answer.body.id;
}

async function gauge(rig) {
    const text = (await rig.client.ask('GET', '/metrics')).raw;
    return Number(/^pawl_dead_letters (\d+)$/m.exec(text)[1]);
}

claim('an incident has a dead letter that says what failed', async (rig) => {
    const before = await gauge(rig);
    const { id, letter } = await hold(rig, { n: 7 });
    equal(Object.keys(letter), ['id', 'kind', 'cause', 'attempts', 'payload', 'idempotencyKey', 'executionId', 'code', 'key', 'step', 'status', 'actions',
        'note', 'createdAt', 'resolvedAt', 'resolvedBy']);
    equal([letter.kind, letter.cause.code, letter.attempts, letter.executionId, letter.code, letter.step, letter.status, letter.note],
        ['incident', 'declined', 1, id, 'holding', 'pay', 'open', null]);
    equal(letter.payload.n, 7);
    equal((await rig.api('GET', `/dlq/${letter.id}`)).body, letter);
    equal(await gauge(rig), before + 1);
    equal((await of(rig, (await rig.begin('waiting')).id)).length, 0);
});

claim('what is sensitive is not shown', async (rig) => {
    const { letter } = await hold(rig, { card: '4111-2222-3333' });
    check(!JSON.stringify(letter).includes('4111-2222'), `the card is shown: ${JSON.stringify(letter)}`);
    equal([letter.payload.card, letter.cause.message], ['***', 'not with ***']);
    const closed = await rig.api('POST', `/dlq/${letter.id}/resolve`, { note: 'told 4111-2222-3333 to pay' });
    equal([closed.status, closed.body.note, closed.body.payload.card], [200, 'told *** to pay', '***']);
    equal((await rig.api('GET', `/dlq/${letter.id}`)).body, closed.body);
});

claim('each rollback that was given up has a dead letter', async (rig) => {
    const id = await fail(rig);
    const found = await of(rig, id);
    equal(found.map((l) => [l.kind, l.step, l.cause.code, l.attempts, l.status]),
        [['compensation', 'reserve', 'gone', 1, 'open'], ['compensation', 'charge', 'down', 5, 'open']]);
});

/** The end of an execution, and what of it is undone. */
const ended = (rig, id) => until(`${id} ends`, async () => {
    const { status, error, completedAt } = (await rig.api('GET', `/executions/${id}`)).body;
    const isOver = status === 'failed' || status === 'cancelled';
    return isOver ? [status, error.code, error.compensation, completedAt !== null] : null;
});

const rollbacks = async (rig, id, step) =>
    (await rig.all(`/executions/${id}/steps`, 100)).filter((r) => r.kind === 'rollback' && r.step === step);

async function strand(rig, how) {
    await rig.api('PUT', '/config/paid', { value: false });
    const { id } = await rig.begin('stranded');
    const before = how === 'cancel'
        ? await rig.api('POST', `/executions/${id}/cancel`, { reason: 'enough' })
        : await rig.api('POST', `/executions/${id}/signal`, { type: 'go', payload: 1 });
    equal(before.status, 202);
    const end = await ended(rig, id);
    equal(end[2], { compensated: ['first'], failed: ['second'] });
    const [letter] = await of(rig, id);
    return { id, letter, end };
}

claim('a rollback that was given up is tried again, and the end stays', async (rig) => {
    for (const [how, wanted] of [['fail', ['failed', 'no']], ['cancel', ['cancelled', 'cancelled']]]) {
        const before = await gauge(rig);
        const { id, letter, end } = await strand(rig, how);
        equal([...end.slice(0, 2), letter.attempts], [...wanted, 5]);
        await rig.api('PUT', '/config/paid', { value: true });
        const key = { 'Idempotency-Key': `undo-${how}-${rig.name}` };
        const answer = await rig.api('POST', `/dlq/${letter.id}/retry`, undefined, key);
        equal([answer.status, answer.body], [202, {}]);
        equal(await ended(rig, id), [...wanted, { compensated: ['first', 'second'], failed: [] }, true]);
        const rows = await rollbacks(rig, id, 'second');
        equal(rows.map((r) => r.attempt), [1, 2, 3, 4, 5, 6]);
        equal(new Set(rows.map((r) => r.idempotencyKey)).size, 1);
        equal([rows[5].status, rows[5].output], ['compensated', { undone: 2 }]);
        equal((await of(rig, id)).map((l) => [l.status, l.resolvedBy !== null]), [['retried', true]]);
        equal((await rig.api('POST', `/dlq/${letter.id}/retry`, undefined, key)).status, 202);
        refused(await rig.api('POST', `/dlq/${letter.id}/retry`), 409, 'conflict');
        refused(await rig.api('POST', `/executions/${id}/retry`), 409, 'conflict');
        equal(await gauge(rig), before);
    }
});

claim('given up again it is another letter, and a kill in between changes nothing', async (rig) => {
    const { id, letter } = await strand(rig, 'fail');
    equal((await rig.api('POST', `/dlq/${letter.id}/retry`)).status, 202);
    await rig.restart();
    equal(await ended(rig, id), ['failed', 'no', { compensated: ['first'], failed: ['second'] }, true]);
    const found = await of(rig, id);
    equal(found.map((l) => [l.status, l.attempts]), [['open', 10], ['retried', 5]]);
    equal((await rollbacks(rig, id, 'second')).map((r) => r.attempt), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await rig.api('PUT', '/config/paid', { value: true });
    equal((await rig.api('POST', `/dlq/${found[0].id}/retry`)).status, 202);
    equal((await ended(rig, id))[2], { compensated: ['first', 'second'], failed: [] });
    await rig.api('PUT', '/config/paid', { value: false });
});

claim('of many who try one rollback again one does', async (rig) => {
    const { id, letter } = await strand(rig, 'fail');
    await rig.api('PUT', '/config/paid', { value: true });
    const clients = Array.from({ length: 8 }, () => rig.server.client());
    const answers = await Promise.all(clients.map((c) => c.ask('POST', `/api/v1/dlq/${letter.id}/retry`)));
    clients.forEach((c) => c.close());
    equal(answers.map((a) => a.status).sort(), [202, ...Array(7).fill(409)]);
    equal((await ended(rig, id))[2], { compensated: ['first', 'second'], failed: [] });
    equal((await rollbacks(rig, id, 'second')).length, 6);
    await rig.api('PUT', '/config/paid', { value: false });
});

claim('what has no rollback is not tried again', async (rig) => {
    const answer = await rig.api('POST', '/executions?wait=60s', { code: 'lost' });
    equal(answer.body.status, 'failed');
    const [letter] = await of(rig, answer.body.id);
    const refusal = refused(await rig.api('POST', `/dlq/${letter.id}/retry`), 409, 'conflict');
    check(refusal.detail.includes('resolve'), refusal.detail);
    equal((await of(rig, answer.body.id))[0].status, 'open');
});

claim('cancelling the execution closes the letter of its incident', async (rig) => {
    const before = await gauge(rig);
    const { id, letter } = await hold(rig);
    equal((await rig.api('POST', `/executions/${id}/cancel`)).status, 202);
    const [closed] = await of(rig, id);
    equal([closed.id, closed.status, closed.resolvedBy !== null, closed.resolvedAt !== null], [letter.id, 'resolved', true, true]);
    equal(await gauge(rig), before);
    refused(await rig.api('POST', `/dlq/${letter.id}/resolve`, { note: 'x' }), 409, 'conflict');
    refused(await rig.api('POST', `/dlq/${letter.id}/retry`), 409, 'conflict');
});

claim('trying again closes the letter, and opens another when it fails again', async (rig) => {
    const before = await gauge(rig);
    const { id, letter } = await hold(rig);
    const key = { 'Idempotency-Key': `retry-${rig.name}` };
    const first = await rig.api('POST', `/dlq/${letter.id}/retry`, undefined, key);
    equal([first.status, first.body], [202, {}]);
    equal((await of(rig, id)).map((l) => l.status), ['open', 'retried']);
    equal((await rig.api('POST', `/dlq/${letter.id}/retry`, undefined, key)).status, 202);
    refused(await rig.api('POST', `/dlq/${letter.id}/retry`), 409, 'conflict');
    equal((await of(rig, id)).length, 2);
    equal(await gauge(rig), before + 1);
    equal((await rig.api('PUT', '/config/paid', { value: true })).status, 200);
    const [again] = await of(rig, id);
    equal((await rig.api('POST', `/dlq/${again.id}/retry`)).status, 202);
    equal((await rig.api('PUT', '/config/paid', { value: false })).status, 200);
    equal((await rig.api('GET', `/executions/${id}`)).body.status, 'completed');
    equal((await of(rig, id)).map((l) => l.status), ['retried', 'retried']);
    equal(await gauge(rig), before);
});

claim('skipping the step closes the letter', async (rig) => {
    const { id } = await hold(rig);
    equal((await rig.api('POST', `/executions/${id}/skip`, { output: 1 })).status, 202);
    equal((await of(rig, id)).map((l) => l.status), ['resolved']);
});

claim('resolving needs a note, happens once, and leaves the execution as it is', async (rig) => {
    const { id, letter } = await hold(rig);
    const path = `/dlq/${letter.id}/resolve`;
    for (const body of [undefined, {}, { note: '' }, { note: '   ' }, { note: 7 }, { note: 'x'.repeat(2001) }, { note: 'x', nte: 1 }])
        refused(await rig.api('POST', path, body), 422, 'invalid');
    equal(refused(await rig.api('POST', path, { note: 'x', outcome: 'maybe' }), 422, 'invalid').errors[0].pointer, '/outcome');
    equal(refused(await rig.api('POST', path, { note: 'x', outcome: 'succeeded' }), 422, 'invalid').errors[0].pointer, '/outcome');
    equal(refused(await rig.api('POST', path, { note: 'x', output: 1 }), 422, 'invalid').errors[0].pointer, '/output');
    equal((await of(rig, id))[0].status, 'open');
    const key = { 'Idempotency-Key': `resolve-${rig.name}` };
    const first = await rig.api('POST', path, { note: 'paid by hand' }, key);
    equal([first.status, first.body.status, first.body.note], [200, 'resolved', 'paid by hand']);
    const again = await rig.api('POST', path, { note: 'paid by hand' }, key);
    equal([again.status, again.body], [200, first.body]);
    refused(await rig.api('POST', path, { note: 'other' }, key), 409, 'idempotency_conflict');
    refused(await rig.api('POST', path, { note: 'once more' }), 409, 'conflict');
    equal((await rig.api('GET', `/dlq/${letter.id}`)).body, first.body);
    equal((await rig.api('GET', `/executions/${id}`)).body.waitingFor.kind, 'incident');
});

claim('of many who resolve one letter one does', async (rig) => {
    const { letter } = await hold(rig);
    const clients = Array.from({ length: 8 }, () => rig.server.client());
    const answers = await Promise.all(clients.map((c, i) => c.ask('POST', `/api/v1/dlq/${letter.id}/resolve`, { note: `by ${i}` })));
    clients.forEach((c) => c.close());
    equal(answers.map((a) => a.status).sort(), [200, ...Array(7).fill(409)]);
    const winner = answers.find((a) => a.status === 200);
    equal((await rig.api('GET', `/dlq/${letter.id}`)).body, winner.body);
});

claim('lists are filtered, newest first, page by page', async (rig) => {
    const held = [];
    for (let i = 0; i < 5; i++) held.unshift((await hold(rig)).letter.id);
    const middle = (await rig.api('GET', `/dlq/${held[2]}`)).body;
    await rig.api('POST', `/dlq/${held[2]}/resolve`, { note: 'x' });
    const ids = async (query) => (await letters(rig, query)).map((l) => l.id);
    const open = await ids('');
    equal(open.slice(0, 4), held.filter((id) => id !== held[2]));
    equal(await ids('status=open'), open);
    check((await ids('status=resolved')).includes(held[2]), 'the resolved one is found');
    check((await ids('status=all&code=holding')).includes(held[2]), 'any status');
    check((await letters(rig, 'status=retried')).every((l) => l.status === 'retried'), 'only those that were tried again');
    equal(await ids('code=waiting&status=all'), []);
    check((await letters(rig, 'kind=compensation')).every((l) => ['stuck', 'lost'].includes(l.code)), 'only rollbacks');
    equal(await ids(`execution=${NOBODY}`), []);
    const from = encodeURIComponent(middle.createdAt);
    equal((await ids(`status=all&from=${from}&code=holding`)).slice(-3), held.slice(0, 3));
    check(!(await ids(`status=all&to=${from}`)).includes(held[0]), 'none after the end');
    equal(await ids('from=2999-01-01'), []);
});

claim('what makes no sense is refused', async (rig) => {
    for (const query of ['status=opn', 'kind=nothing', 'execution=7', 'from=soon', 'limit=0', 'cursor=x'])
        refused(await rig.api('GET', `/dlq?${query}`), 400, 'bad_request');
    for (const id of [NOBODY, 'nonsense']) {
        refused(await rig.api('GET', `/dlq/${id}`), 404, 'not_found');
        refused(await rig.api('POST', `/dlq/${id}/resolve`, { note: 'x' }), 404, 'not_found');
        refused(await rig.api('POST', `/dlq/${id}/retry`), 404, 'not_found');
    }
    const { letter } = await hold(rig);
    refused(await rig.api('POST', `/dlq/${letter.id}/retry`, { what: 1 }), 422, 'invalid');
    refused(await rig.api('DELETE', `/dlq/${letter.id}`), 405, 'method_not_allowed');
});

claim('many are tried again at once, counted first', async (rig) => {
    await rig.api('PUT', '/config/paid', { value: false });
    const bulk = (body, headers) => rig.api('POST', '/dlq/bulk', { action: 'retry', ...body }, headers);
    const counts = ({ body }) => [body.matched, body.done, body.failed, body.more];
    const held = [], torn = [];
    for (let i = 0; i < 5; i++) held.push((await rig.begin('many')).id);
    for (let i = 0; i < 3; i++) torn.push((await strand(rig, 'fail')).id);
    equal(counts(await bulk({ filter: { code: 'many' }, dryRun: true })), [5, 0, 0, false]);
    equal((await letters(rig, 'code=many')).length, 5);
    const part = await bulk({ filter: { code: 'many', kind: 'incident' }, limit: 2 });
    equal(counts(part), [2, 2, 0, true]);
    equal((await letters(rig, 'status=retried&code=many')).length, 2);
    equal(counts(await bulk({ filter: { code: 'many' }, cursor: part.body.nextCursor })), [3, 3, 0, false]);
    await rig.api('PUT', '/config/paid', { value: true });
    const key = { 'Idempotency-Key': `many-${rig.name}` };
    const all = await bulk({ filter: { code: 'many' } }, key);
    equal(counts(all), [5, 5, 0, false]);
    equal((await bulk({ filter: { code: 'many' } }, key)).body, all.body);
    equal((await letters(rig, 'code=many')).length, 0);
    for (const id of held) equal((await rig.api('GET', `/executions/${id}`)).body.status, 'completed');
    equal(counts(await bulk({ filter: { code: 'stranded', kind: 'compensation', execution: torn[0] } })), [1, 1, 0, false]);
    equal(counts(await bulk({ filter: { code: 'stranded' } })), [2, 2, 0, false]);
    for (const id of torn) equal((await ended(rig, id))[2], { compensated: ['first', 'second'], failed: [] });
    await rig.api('PUT', '/config/paid', { value: false });
    const lone = await rig.api('POST', '/executions?wait=60s', { code: 'lost' });
    const refusal = await bulk({ filter: { execution: lone.body.id } });
    equal([counts(refusal), refusal.body.errors[0].executionId, refusal.body.errors[0].code], [[1, 0, 1, false], lone.body.id, 'conflict']);
    equal((await rig.api('GET', '/audit?action=dead_letter.bulk_retry&limit=1')).body.items[0].details.failed, 1);
});

claim('a bulk request that makes no sense is refused', async (rig) => {
    const pointer = async (body) => refused(await rig.api('POST', '/dlq/bulk', body), 422, 'invalid').errors[0].pointer;
    equal(await pointer({ action: 'close', filter: {} }), '/action');
    equal(await pointer({ action: 'resolve', filter: {} }), '/note');
    equal(await pointer({ action: 'retry' }), '/filter');
    equal(await pointer({ action: 'retry', filter: { kind: 'incidnt' } }), '/filter/kind');
    equal(await pointer({ action: 'retry', filter: { status: 'resolved' } }), '/filter/status');
    for (const status of [true, 1, [], ['open'], {}]) equal(await pointer({ action: 'retry', filter: { status } }), '/filter/status');
    equal(await pointer({ action: 'retry', filter: { execution: '7' } }), '/filter/execution');
    equal(await pointer({ action: 'retry', filter: { from: 'soon' } }), '/filter/from');
    equal(await pointer({ action: 'retry', filter: { step: 'a' } }), '/filter/step');
    equal(await pointer({ action: 'retry', filter: {}, limit: 0 }), '/limit');
});

claim('an execution with an open letter is not deleted; closed letters go with it', async (rig) => {
    const before = await gauge(rig);
    const id = await fail(rig);
    const found = await of(rig, id);
    const refusal = refused(await rig.api('DELETE', `/executions/${id}`), 409, 'letter_open');
    check(refusal.detail.includes('2 of its dead letters are open'), refusal.detail);
    equal(await of(rig, id), found);
    equal(await gauge(rig), before + 2);
    equal((await rig.api('POST', `/dlq/${found[1].id}/resolve`, { note: 'x' })).status, 200);
    refused(await rig.api('DELETE', `/executions/${id}`), 409, 'letter_open');
    equal((await rig.api('POST', `/dlq/${found[0].id}/resolve`, { note: 'x' })).status, 200);
    equal((await rig.api('DELETE', `/executions/${id}`)).status, 204);
    equal(await of(rig, id), []);
    refused(await rig.api('GET', `/dlq/${found[0].id}`), 404, 'not_found');
    equal(await gauge(rig), before);
});

claim('who deletes an execution with its open letters says why, and the audit log keeps that', async (rig) => {
    const before = await gauge(rig);
    const id = await fail(rig);
    const path = `/executions/${id}`;
    for (const query of ['letters=close', 'letters=close&note=', 'letters=drop&note=x', 'note=x', `letters=close&note=${'x'.repeat(2001)}`])
        refused(await rig.api('DELETE', `${path}?${query}`), 400, 'bad_request');
    equal((await of(rig, id)).length, 2);
    equal((await rig.api('DELETE', `${path}?letters=close&note=paid%20by%20hand`)).status, 204);
    equal((await rig.api('GET', path)).status, 404);
    equal(await gauge(rig), before);
    const [line] = (await rig.api('GET', `/audit?action=execution.delete&target=${id}`)).body.items;
    equal(line.details, { letters: 'close', note: 'paid by hand' });
});

claim('many are deleted but for those with an open letter, which are named', async (rig) => {
    const kept = await fail(rig);
    const closed = await fail(rig);
    for (const letter of await of(rig, closed)) await rig.api('POST', `/dlq/${letter.id}/resolve`, { note: 'x' });
    const ask = (more) => rig.api('POST', '/executions/bulk', { action: 'delete', filter: { code: 'stuck' }, ...more });
    const would = (await ask({ dryRun: true })).body;
    equal([would.done, would.failed, would.matched - would.skipped], [0, 0, 1]);
    const did = (await ask({})).body;
    equal([did.done, did.failed, did.matched], [1, would.skipped, would.matched]);
    equal(did.errors.find((e) => e.executionId === kept)?.code, 'letter_open');
    equal([(await rig.api('GET', `/executions/${kept}`)).status, (await rig.api('GET', `/executions/${closed}`)).status], [200, 404]);
});

claim('retention leaves an execution with an open letter alone, and says how many there are', async (rig) => {
    const kept = await fail(rig);
    const open = await gauge(rig);
    const goes = await fail(rig);
    for (const letter of await of(rig, goes)) await rig.api('POST', `/dlq/${letter.id}/resolve`, { note: 'x' });
    await rig.restart({ PAWL_KEEP_COMPLETED: '1ms' });
    await until('what nobody has to look at is gone', async () => (await rig.api('GET', `/executions/${goes}`)).status === 404);
    const spared = async () => Number(/^pawl_executions_kept_for_letters (\d+)$/m.exec((await rig.client.ask('GET', '/metrics')).raw)?.[1]);
    const ids = new Set((await letters(rig, 'kind=compensation')).map((l) => l.executionId));
    await until('they are counted', async () => (await spared()) >= ids.size);
    equal([(await rig.api('GET', `/executions/${kept}`)).body.status, (await of(rig, kept)).length, await gauge(rig)], ['failed', 2, open]);
    await rig.restart();
});

claim('letters and what was done about them survive a kill', async (rig) => {
    const kept = [await hold(rig), await hold(rig), await hold(rig)];
    const failed = await fail(rig);
    equal((await rig.api('POST', `/dlq/${kept[1].letter.id}/resolve`, { note: 'seen' })).status, 200);
    equal((await rig.api('POST', `/executions/${kept[2].id}/cancel`)).status, 202);
    const [before, open] = [await letters(rig, 'status=all'), await gauge(rig)];
    await rig.restart();
    equal(await letters(rig, 'status=all'), before);
    equal(await gauge(rig), open);
    equal((await letters(rig, '')).length, open);
    equal((await of(rig, failed)).length, 2);
    const one = async (k) => (await of(rig, k.id)).map((l) => l.status);
    equal([await one(kept[0]), await one(kept[1]), await one(kept[2])], [['open'], ['resolved'], ['resolved']]);
});

claim('killed under load, every held execution has its one letter', async (rig) => {
    const clients = Array.from({ length: 8 }, () => rig.server.client());
    let stop = false;
    const load = clients.map(async (c) => {
        while (!stop) {
            const started = await c.ask('POST', '/api/v1/executions', { code: 'holding', input: { n: 77 } }).catch(() => null);
            if (started?.status !== 201) return;
            await c.ask('POST', `/api/v1/executions/${started.body.id}/cancel`).catch(() => null);
            await c.ask('POST', '/api/v1/executions', { code: 'holding', input: { n: 78 } }).catch(() => null);
        }
    });
    const seen = (await letters(rig, '')).length;
    while ((await gauge(rig)) < seen + 40);
    await rig.server.kill();
    stop = true;
    await Promise.all(load);
    clients.forEach((c) => c.close());
    await rig.start();
    const all = await rig.all('/dlq?status=all&code=holding', 500);
    const open = all.filter((l) => l.status === 'open');
    for (const x of await rig.all('/executions?code=holding', 500)) {
        const mine = all.filter((l) => l.executionId === x.id);
        if (mine.some((l) => l.status === 'retried')) continue;
        equal(mine.length, 1, 'letters of one execution');
        if (x.status === 'cancelled') equal(mine[0].status, 'resolved');
    }
    equal(await gauge(rig), open.length + (await letters(rig, 'kind=compensation')).length);
});

await run(async (rig) => {
    equal((await rig.api('PUT', '/config/paid', { value: false })).status < 300, true);
    for (const definition of [holding, many, stuck, stranded, lost, waiting]) await rig.publish(definition);
});
