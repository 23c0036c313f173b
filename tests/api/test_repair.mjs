// Retrying, skipping and migrating executions, on both stores and across kills.
import { check, equal } from '../lib/claims.mjs';
import { forAll, refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const NOBODY = '00000000-0000-7000-8000-000000000000';
const transform = (code, data, more = {}) => ({ code, procedure: { type: 'compute.transform', data }, ...more });
const ask = { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } };

// A typo in the second step: what was paid must not be rolled back because of it.
const order = (field) => ({
    code: 'order',
    input: [{ name: 'item', type: 'string', required: true }, { name: 'count', type: 'integer', default: 1 }],
    steps: [
        { code: 'pay', procedure: { type: 'compute.set', values: { paid: '$.input.item' } },
          rollback: { type: 'compute.set', values: { paid: null } } },
        transform('ship', { text: `{{ $.variables.${field} }} x {{ $.input.count }}` }),
    ],
});
const failing = { code: 'failing', onError: 'fail_fast', steps: [
    transform('first', '=$.input.n'),
    { code: 'stop', procedure: { type: 'compute.fail', code: 'no_luck', message: 'bad luck', when: '$.input.n < 5' } },
] };
const undone = { code: 'undone', steps: [
    { ...transform('one', 1), rollback: { type: 'compute.set', values: { back: true } } },
    { code: 'stop', procedure: { type: 'compute.fail', code: 'no_luck', message: 'bad luck' } },
] };
const holding = { code: 'holding', onError: 'hold', steps: [
    transform('first', '=$.input.n'),
    transform('second', '=10 / $.input.n'),
    transform('third', { got: '$.steps.second.output' }),
] };
const badResult = { code: 'bad_result', steps: [transform('one', 1)], result: { value: '=1 / ($.steps.one.output - 1)' } };
const secret = { code: 'secret', onError: 'hold', input: [{ name: 'card', type: 'string', sensitive: true }], steps: [
    transform('use', { text: 'card {{ $.input.card }}' }),
    { code: 'stop', procedure: { type: 'compute.fail', code: 'declined', message: 'not {{ $.input.card }}', when: "$.input.card.startsWith('bad')" } },
    ask,
] };
const formed = { code: 'formed', steps: [
    { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go', form: [{ name: 'n', type: 'integer', required: true }] } },
] };
// Versions of a process of which many wait.
const waiting = (text) => ({ code: 'waiting', steps: [ask, transform('done', text)] });

const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const steps = async (rig, id) => (await rig.all(`/executions/${id}/steps`, 100)).map((s) => `${s.step}${s.visit > 1 ? s.visit : ''} ${s.status}`);
const act = (rig, id, action, body, headers) => rig.api('POST', `/executions/${id}/${action}`, body, headers);
async function done(rig, id, action, body, headers) {
    const answer = await act(rig, id, action, body, headers);
    equal([answer.status, answer.body], [202, {}], JSON.stringify(answer.body));
}
const version = async (rig, code) => (await rig.api('GET', `/scenarios/${code}`)).body.published.version;

async function held(rig, code, input = {}, more = {}) {
    const x = await rig.begin(code, { input, ...more });
    equal([x.status, x.waitingFor.kind], ['waiting', 'incident']);
    return x.id;
}

// --- retry ---

claim('nobody waits for an execution that is held', async (rig) => {
    const began = Date.now();
    const x = await rig.api('POST', '/executions?wait=10m', { code: 'holding', input: { n: 0 } });
    equal([x.status, x.body.waitingFor.kind], [202, 'incident']);
    check(Date.now() - began < 300000, 'it was waited for');
});

claim('a held typo is repaired with a corrected version', async (rig) => {
    await rig.publish(order('payed'));
    const id = await held(rig, 'order', { item: 'chair' });
    const before = await get(rig, id);
    equal(before.actions, ['cancel', 'signal', 'retry', 'skip', 'migrate']);
    await done(rig, id, 'retry');
    equal((await get(rig, id)).waitingFor.kind, 'incident', 'the same version fails again');
    await rig.publish(order('paid'));
    await done(rig, id, 'retry', { version: await version(rig, 'order') });
    const after = await get(rig, id);
    equal([after.status, after.version, after.result], ['completed', before.version + 1, { text: 'chair x 1' }]);
    equal(after.actions, ['again', 'delete']);
    equal(await steps(rig, id), ['pay completed', 'ship failed', 'ship2 failed', 'ship3 completed']);
    refused(await act(rig, id, 'retry'), 409, 'conflict');
});

claim('a failed execution is tried again from where it failed or from an earlier step, with another input', async (rig) => {
    const x = await rig.begin('failing', { input: { n: 1 } });
    equal([x.status, x.actions], ['failed', ['retry', 'again', 'delete']]);
    await done(rig, x.id, 'retry');
    equal((await get(rig, x.id)).status, 'failed');
    await done(rig, x.id, 'retry', { from: 'first', input: { n: 7 } });
    const after = await get(rig, x.id);
    equal([after.status, after.error, after.context.input, after.context.steps.first.output], ['completed', null, { n: 7 }, 7]);
    equal(await steps(rig, x.id), ['first completed', 'stop failed', 'stop2 failed', 'first2 completed', 'stop3 completed']);
});

claim('what was rolled back, completed or cancelled is not tried again', async (rig) => {
    const x = await rig.begin('undone');
    await until('it has failed', async () => (await get(rig, x.id)).status === 'failed');
    equal((await get(rig, x.id)).actions, ['again', 'delete']);
    for (const action of ['retry', 'skip']) refused(await act(rig, x.id, action), 409, 'conflict');
    refused(await act(rig, x.id, 'migrate', { version: 1 }), 409, 'conflict');
    const w = await rig.begin('waiting');
    equal(w.actions, ['cancel', 'signal', 'assign', 'migrate', 'pause']);
    for (const action of ['retry', 'skip']) refused(await act(rig, w.id, action), 409, 'conflict');
    await act(rig, w.id, 'cancel');
    for (const action of ['retry', 'skip']) refused(await act(rig, w.id, action), 409, 'conflict');
    refused(await act(rig, w.id, 'migrate', { version: 1 }), 409, 'conflict');
});

claim('what is wrong with a repair is told with pointers, and nothing has changed', async (rig) => {
    const id = await held(rig, 'order_held', { item: 'table' });
    const before = await get(rig, id);
    const wrong = async (action, body, pointer, text) => {
        for (const headers of [{}, { 'Idempotency-Key': `wrong-${pointer}-${text}` }]) {
            const [finding] = refused(await act(rig, id, action, body, headers), 422, 'invalid').errors;
            equal(finding.pointer, pointer, JSON.stringify(finding));
            check(`${finding.message} ${finding.hint ?? ''}`.includes(text), JSON.stringify(finding));
        }
    };
    await wrong('retry', { from: 'shop' }, '/from', "did you mean 'ship'?");
    await wrong('retry', { from: '' }, '/from', 'code of a step');
    await wrong('retry', { from: 'inner' }, '/from', 'inside another');
    await wrong('retry', { version: 99 }, '/version', 'no version 99');
    await wrong('retry', { version: 0 }, '/version', 'from 1 on');
    await wrong('retry', { version: '1' }, '/version', 'integer');
    await wrong('retry', { input: { count: 2 } }, '/input/item', 'item');
    await wrong('retry', { input: { item: 'x', colour: 'red' } }, '/input/colour', 'colour');
    await wrong('retry', { input: 7 }, '/input', 'object');
    await wrong('retry', { form: 'x' }, '/form', "did you mean 'from'?");
    await wrong('skip', { ouput: 1 }, '/ouput', "did you mean 'output'?");
    await wrong('migrate', {}, '/version', 'version');
    await wrong('migrate', { version: 99 }, '/version', 'no version 99');
    equal(await get(rig, id), before);
    for (const action of ['retry', 'skip']) refused(await act(rig, NOBODY, action), 404, 'not_found');
    refused(await act(rig, NOBODY, 'migrate', { version: 1 }), 404, 'not_found');
    refused(await act(rig, 'x', 'retry'), 404, 'not_found');
});

claim('a form answers what is wrong with a signal, also under an Idempotency-Key', async (rig) => {
    const { id } = await rig.begin('formed');
    for (const headers of [{}, { 'Idempotency-Key': 'form' }])
        for (const [payload, pointer] of [[{ n: 'many' }, '/payload/n'], [{}, '/payload/n'], [{ n: 1, m: 2 }, '/payload/m']])
            equal(refused(await rig.api('POST', `/executions/${id}/signal`, { type: 'go', payload }, headers), 422, 'invalid').errors.map((e) => e.pointer), [pointer]);
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'go', payload: { n: 1 } })).status, 202);
});

claim('a retry takes its business key again, unless somebody else has it', async (rig) => {
    const x = await rig.begin('failing', { input: { n: 1 }, key: 'again' });
    const y = await rig.begin('holding', { input: { n: 0 }, key: 'again' });
    const z = await rig.begin('key_wait', { key: 'k' });
    await rig.api('POST', `/executions/${z.id}/signal`, { type: 'go' });
    await until('it has failed', async () => (await get(rig, z.id)).status === 'failed');
    const other = await rig.begin('key_wait', { key: 'k' });
    equal(refused(await act(rig, z.id, 'retry', { from: 'ask' }), 409, 'key_busy').executionId, other.id);
    equal((await get(rig, z.id)).status, 'failed');
    await act(rig, other.id, 'cancel');
    await done(rig, z.id, 'retry', { from: 'ask' });
    equal((await get(rig, z.id)).status, 'waiting');
    equal(refused(await rig.api('POST', '/executions', { code: 'key_wait', key: 'k' }), 409, 'key_busy').executionId, z.id);
    await done(rig, x.id, 'retry', { input: { n: 9 } });
    await act(rig, y.id, 'cancel');
});

claim('under an Idempotency-Key a repair happens once', async (rig) => {
    const id = await held(rig, 'holding', { n: 0 });
    const key = { 'Idempotency-Key': `once-${id}` };
    await done(rig, id, 'retry', {}, key);
    await done(rig, id, 'retry', {}, key);
    equal(await steps(rig, id), ['first completed', 'second failed', 'second2 failed']);
    refused(await act(rig, id, 'retry', { from: 'first' }, key), 409, 'idempotency_conflict');
    const skip = { 'Idempotency-Key': `skip-${id}` };
    await done(rig, id, 'skip', { output: 3 }, skip);
    await done(rig, id, 'skip', { output: 3 }, skip);
    equal((await get(rig, id)).result, { got: 3 });
    const late = { 'Idempotency-Key': `late-${id}` };
    const first = refused(await act(rig, id, 'skip', {}, late), 409, 'conflict');
    equal(refused(await act(rig, id, 'skip', {}, late), 409, 'conflict'), first, 'a refusal is repeated');
});

// --- skip ---

claim('a step is skipped, without an output or with one', async (rig) => {
    const a = await held(rig, 'holding', { n: 0 });
    await done(rig, a, 'skip');
    equal(await steps(rig, a), ['first completed', 'second failed', 'second2 skipped', 'third failed']);
    equal((await get(rig, a)).currentStep, 'third', 'what rests on its output is held in its turn');
    await done(rig, a, 'skip', { output: { got: 'nothing' } });
    equal((await get(rig, a)).result, { got: 'nothing' });
    const b = await held(rig, 'holding', { n: 0 });
    await done(rig, b, 'skip', { output: [1, { two: 2 }] });
    equal((await get(rig, b)).result, { got: [1, { two: 2 }] });
    equal(await steps(rig, b), ['first completed', 'second failed', 'second2 completed', 'third completed']);
});

claim('a result that failed has no step to skip, and says so', async (rig) => {
    const id = await held(rig, 'bad_result');
    equal((await get(rig, id)).actions, ['cancel', 'signal', 'retry', 'migrate']);
    refused(await act(rig, id, 'skip'), 409, 'conflict');
    await rig.publish({ ...badResult, result: { value: '$.steps.one.output' } });
    await done(rig, id, 'retry', { version: await version(rig, 'bad_result') });
    equal((await get(rig, id)).result, { value: 1 });
});

// --- migrate ---

claim('many that wait go on with another version, all but those that cannot', async (rig) => {
    const ids = [];
    await rig.publish(waiting('old'));
    const old = await version(rig, 'waiting');
    await forAll(rig.server, Array.from({ length: 60 }, (_, i) => i), async (client, i) => {
        const answer = await client.ask('POST', '/api/v1/executions', { code: 'waiting', key: `mig-${i}` });
        ids[i] = answer.body.id;
    }, 16);
    await rig.publish({ ...waiting('elsewhere'), steps: [{ ...ask, code: 'other' }, transform('done', 'elsewhere')] });
    const wrong = old + 1;
    const all = { action: 'migrate', filter: { code: 'waiting', status: 'waiting' } };
    const none = (await rig.api('POST', '/executions/bulk', { ...all, version: wrong })).body;
    equal([none.matched, none.done, none.failed], [60, 0, 60]);
    check(none.errors[0].message.includes("'ask' does not exist"), JSON.stringify(none.errors[0]));
    refused(await act(rig, ids[0], 'migrate', { version: wrong }), 409, 'conflict');
    // A dry run is decided by the same code, and changes nothing.
    for (const [version, error] of [[wrong, "'ask' does not exist"], [999, '999']]) {
        const would = (await rig.api('POST', '/executions/bulk', { ...all, version, dryRun: true })).body;
        equal([would.matched, would.done, would.failed, would.skipped], [60, 0, 60, 0], JSON.stringify(would));
        check(would.errors[0].message.includes(error), JSON.stringify(would.errors[0]));
    }
    equal((await rig.api('GET', `/executions/${ids[0]}`)).body.version, old);
    await rig.publish(waiting('new'));
    const dry = (await rig.api('POST', '/executions/bulk', { ...all, version: old + 2, dryRun: true })).body;
    equal([dry.matched, dry.done, dry.failed, dry.skipped], [60, 0, 0, 0], JSON.stringify(dry));
    const moved = (await rig.api('POST', '/executions/bulk', { ...all, version: old + 2 })).body;
    equal([moved.matched, moved.done, moved.failed, moved.skipped], [60, 60, 0, 0], JSON.stringify(moved));
    await rig.restart();
    await forAll(rig.server, ids, async (client, id) => {
        equal((await client.ask('POST', `/api/v1/executions/${id}/signal?wait=60s`, { type: 'go' })).status, 200);
        const x = (await client.ask('GET', `/api/v1/executions/${id}`)).body;
        equal([x.status, x.version, x.result], ['completed', old + 2, 'new']);
    }, 16);
});

claim('many are tried again and skipped, and those that cannot are counted', async (rig) => {
    for (let i = 0; i < 3; i++) await rig.begin('bulk_fail', { input: { n: 1 } });
    await rig.begin('bulk_fail', { input: { n: 6 } });
    const bulk = async (body) => (await rig.api('POST', '/executions/bulk', body)).body;
    const again = await bulk({ action: 'retry', filter: { code: 'bulk_fail' }, input: { n: 8 }, from: 'first' });
    equal([again.matched, again.done, again.skipped, again.failed], [4, 3, 1, 0]);
    equal((await rig.api('GET', '/executions?code=bulk_fail&status=completed')).body.items.length, 4);
    for (let i = 0; i < 2; i++) await held(rig, 'bulk_hold', { n: 0 });
    const wrong = await bulk({ action: 'retry', filter: { code: 'bulk_hold' }, from: 'nowhere' });
    equal([wrong.failed, wrong.errors[0].code], [2, 'invalid']);
    const skipped = await bulk({ action: 'skip', filter: { code: 'bulk_hold' }, output: 4 });
    equal([skipped.matched, skipped.done], [2, 2]);
    const refusedBulk = (body, pointer) => async () => equal(refused(await rig.api('POST', '/executions/bulk', { filter: { code: 'bulk_hold' }, ...body }), 422, 'invalid').errors[0].pointer, pointer);
    await refusedBulk({ action: 'migrate' }, '/version')();
    await refusedBulk({ action: 'skip', from: 'x' }, '/from')();
    await refusedBulk({ action: 'cancel', version: 1 }, '/version')();
    await refusedBulk({ action: 'retry', output: 1 }, '/output')();
    await refusedBulk({ action: 'migrate', version: 0 }, '/version')();
});

// --- secrets ---

claim('a sensitive input that was replaced is masked like the first one', async (rig) => {
    const id = await held(rig, 'secret', { card: 'bad-qxqx' });
    await done(rig, id, 'retry', { from: 'use', input: { card: 'bad-wzwz' } });
    await done(rig, id, 'retry', { input: { card: 'good-kvkv' } });
    const views = [];
    for (const path of ['', '/steps', '/context']) views.push((await rig.api('GET', `/executions/${id}${path}`)).body);
    const events = await rig.api('POST', `/executions/${id}/signal?wait=60s`, { type: 'go' });
    views.push(events.body);
    const text = JSON.stringify(views);
    for (const card of ['qxqx', 'wzwz', 'kvkv']) check(!text.includes(card), `${card} is shown: ${text}`);
    equal(views[0].status, 'waiting');
});

// --- kill -9 ---

claim('what was repaired is repaired after a kill, and what was not can be', async (rig) => {
    await rig.publish({ ...order('payed'), code: 'killed' });
    const ids = [];
    for (let i = 0; i < 6; i++) ids.push(await held(rig, 'killed', { item: `i${i}` }, { key: `kill-${i}` }));
    await rig.publish({ ...order('paid'), code: 'killed', steps: [...order('paid').steps, ask] });
    const to = await version(rig, 'killed');
    for (const id of ids.slice(0, 3)) await done(rig, id, 'retry', { version: to });
    // The others are asked for while the server dies: each is repaired or as it was.
    const asked = ids.slice(3).map((id) => act(rig, id, 'retry', { version: to }).catch(() => null));
    await rig.restart();
    await Promise.all(asked);
    for (const id of ids.slice(3)) {
        const x = await get(rig, id);
        if (x.waitingFor.kind === 'incident') await done(rig, id, 'retry', { version: to });
        else equal([x.version, x.currentStep], [to, 'ask']);
    }
    await rig.restart();
    for (const [i, id] of ids.entries()) {
        const x = await get(rig, id);
        equal([x.status, x.version, x.currentStep, x.context.steps.ship.text], ['waiting', to, 'ask', `i${i} x 1`]);
        equal(await steps(rig, id), ['pay completed', 'ship failed', 'ship2 completed']);
        await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
        equal((await get(rig, id)).status, 'completed');
    }
});

await run(async (rig) => {
    const inner = { code: 'outer', loop: { for: [1], steps: [transform('inner', 1)] } };
    const typo = { ...order('payed'), code: 'order_held' };
    typo.steps.push(inner);
    const keyWait = { ...failing, code: 'key_wait', steps: [ask, { code: 'stop', procedure: { type: 'compute.fail', code: 'no', message: 'no' } }] };
    for (const definition of [failing, undone, holding, badResult, secret, formed, typo, keyWait, waiting('first'),
        { ...failing, code: 'bulk_fail' }, { ...holding, code: 'bulk_hold' }])
        await rig.publish(definition);
});
