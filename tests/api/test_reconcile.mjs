// What may have happened is found out, by asking and in the end by a person; on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until as eventually } from '../lib/wait.mjs';

const lost = { type: 'compute.fail', code: 'no_answer', message: 'the provider did not answer', class: 'indeterminate' };

/** The configuration says what became of the payment. */
const paying = (code, more) => ({
    code,
    input: [{ name: 'card', type: 'string', default: '0000-0000-0000', sensitive: true }],
    steps: [
        {
            code: 'pay', input: { card: '$.input.card' }, retry: { maxAttempts: 1 }, procedure: lost,
            reconcile: { procedure: { type: 'compute.transform', data: { outcome: '$.config.outcome', output: { id: 'p-1' } } }, ...more },
            rollback: { type: 'compute.transform', data: { refunded: '$.steps.pay.output' } },
        },
        { code: 'ship', procedure: { type: 'compute.transform', data: '$.steps.pay' } },
    ],
});

const patient = paying('patient', { every: '200ms', max: 1000 });
const hasty = paying('hasty', { every: '1ms', max: 3 });

const say = async (rig, outcome) => check((await rig.api('PUT', '/config/outcome', { value: outcome })).status < 300, 'config');
const execution = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const questions = async (rig, id) => (await rig.all(`/executions/${id}/steps`, 100)).filter((row) => row.kind === 'reconcile');
const letters = (rig, id) => rig.all(`/dlq?status=all&execution=${id}`, 3);

/** Ask until it is as wanted: a server is as fast as it can be. */
const until = (rig, id, wanted) => eventually(`${id} is as wanted`, async () => {
    const x = await execution(rig, id);
    return (await wanted(x)) ? x : null;
});

async function park(rig, input = {}) {
    await say(rig, 'unknown');
    const { id } = await rig.begin('hasty', { input });
    const x = await until(rig, id, (e) => e.waitingFor?.parked);
    const [letter] = await letters(rig, id);
    return { id, x, letter };
}

claim('the answer ends the asking', async (rig) => {
    await say(rig, 'unknown');
    const { id } = await rig.begin('patient');
    const asking = await until(rig, id, async (x) => x.waitingFor?.kind === 'reconcile' && x.waitingFor.asked >= 2);
    equal([asking.status, asking.currentStep, asking.waitingFor.step, asking.waitingFor.error.code], ['waiting', 'pay', 'pay', 'no_answer']);
    check(asking.waitingFor.until > asking.waitingFor.since, 'it says when it asks again');
    equal(asking.actions, ['cancel', 'signal', 'migrate', 'pause']);
    await say(rig, 'succeeded');
    const x = await until(rig, id, (e) => e.status !== 'waiting');
    equal([x.status, x.context.steps.pay.output, x.result.success], ['completed', { id: 'p-1' }, true]);
    const rows = await questions(rig, id);
    equal(rows.map((r) => r.idempotencyKey), rows.map((_, i) => `${id}-pay-reconcile-${i + 1}`));
    equal(rows.map((r) => r.status), rows.map(() => 'completed'));
    equal([rows[0].output.outcome, rows.at(-1).output.outcome, rows[0].step, rows[0].attempt], ['unknown', 'succeeded', 'pay', 1]);
    const forward = (await rig.all(`/executions/${id}/steps`, 100)).filter((r) => r.step === 'pay' && r.kind === 'forward');
    equal(forward.map((r) => [r.status, r.attempt]), [['completed', 1]]);
});

claim('failed is a business error', async (rig) => {
    await say(rig, 'failed');
    const answer = await rig.api('POST', '/executions?wait=60s', { code: 'patient' });
    equal([answer.body.status, answer.body.error.class, answer.body.error.compensation], ['failed', 'business', { compensated: [], failed: [] }]);
});

claim('a kill between two questions loses none and repeats none', async (rig) => {
    await say(rig, 'unknown');
    const started = [];
    for (let i = 0; i < 5; i++) started.push((await rig.begin('patient')).id);
    for (let round = 1; round <= 3; round++) {
        for (const id of started) await until(rig, id, async (x) => x.waitingFor.asked >= 2 * round);
        await rig.restart();
    }
    await say(rig, 'succeeded');
    for (const id of started) {
        const x = await until(rig, id, (e) => e.status !== 'waiting');
        equal(x.status, 'completed');
        const rows = await questions(rig, id);
        equal(rows.map((r) => r.idempotencyKey), rows.map((_, i) => `${id}-pay-reconcile-${i + 1}`));
    }
});

claim('asked often enough it is parked, with a dead letter', async (rig) => {
    const { id, x, letter } = await park(rig, { card: '4111-2222-3333' });
    equal([x.status, x.waitingFor.kind, x.waitingFor.step, x.waitingFor.asked, x.waitingFor.until], ['waiting', 'reconcile', 'pay', 3, undefined]);
    equal(x.actions, ['cancel', 'signal', 'retry', 'migrate']);
    equal([letter.kind, letter.step, letter.attempts, letter.cause.code, letter.payload.card, letter.status],
        ['reconcile', 'pay', 3, 'no_answer', '***', 'open']);
    check((await rig.all('/dlq?kind=reconcile', 50)).some((l) => l.id === letter.id), 'the list finds it by its kind');
    refused(await rig.api('POST', `/executions/${id}/skip`), 409, 'conflict');
    await rig.restart();
    equal((await execution(rig, id)).waitingFor, x.waitingFor);
});

claim('an operator says that it succeeded', async (rig) => {
    const { id, letter } = await park(rig);
    const path = `/dlq/${letter.id}/resolve`;
    equal(refused(await rig.api('POST', path, { note: 'x' }), 422, 'invalid').errors[0].pointer, '/outcome');
    equal(refused(await rig.api('POST', path, { note: 'x', outcome: 'unknown' }), 422, 'invalid').errors[0].pointer, '/outcome');
    equal(refused(await rig.api('POST', path, { note: 'x', outcome: 'failed', output: 1 }), 422, 'invalid').errors[0].pointer, '/output');
    equal((await execution(rig, id)).waitingFor.parked, true);
    const key = { 'Idempotency-Key': `outcome-${rig.name}` };
    const body = { note: 'seen at the provider', outcome: 'succeeded', output: { id: 'by hand' } };
    const first = await rig.api('POST', path, body, key);
    equal([first.status, first.body.status, first.body.note], [200, 'resolved', 'seen at the provider']);
    const again = await rig.api('POST', path, body, key);
    equal([again.status, again.body], [200, first.body]);
    refused(await rig.api('POST', path, body), 409, 'conflict');
    const x = await execution(rig, id);
    equal([x.status, x.context.steps.pay.output], ['completed', { id: 'by hand' }]);
    const [closed] = await letters(rig, id);
    equal([closed.status, closed.note, closed.resolvedBy], ['resolved', 'seen at the provider', first.body.resolvedBy]);
    const audit = await rig.api('GET', `/audit?action=dead_letter.resolve&limit=1`);
    equal([audit.status, audit.body.items[0].details.outcome], [200, 'succeeded']);
});

claim('an operator says that it failed, or has not happened', async (rig) => {
    for (const [outcome, wanted] of [['failed', 'business'], ['not_happened', 'transient']]) {
        const { id, letter } = await park(rig);
        equal((await rig.api('POST', `/dlq/${letter.id}/resolve`, { note: 'x', outcome })).status, 200);
        const x = await execution(rig, id);
        equal([x.status, x.error.class, x.error.compensation.compensated], ['failed', wanted, []]);
    }
});

claim('of many who say it one is heard', async (rig) => {
    const { letter } = await park(rig);
    const clients = Array.from({ length: 6 }, () => rig.server.client());
    const answers = await Promise.all(clients.map((c, i) =>
        c.ask('POST', `/api/v1/dlq/${letter.id}/resolve`, { note: `by ${i}`, outcome: 'succeeded', output: i })));
    clients.forEach((c) => c.close());
    equal(answers.map((a) => a.status).sort(), [200, ...Array(5).fill(409)]);
});

claim('a retry asks anew, and keys count on', async (rig) => {
    const { id, letter } = await park(rig);
    equal((await rig.api('POST', `/dlq/${letter.id}/retry`)).status, 202);
    await until(rig, id, (x) => x.waitingFor?.parked);
    equal((await letters(rig, id)).map((l) => l.status), ['open', 'retried']);
    await say(rig, 'succeeded');
    equal((await rig.api('POST', `/executions/${id}/retry`)).status, 202);
    const x = await until(rig, id, (e) => e.status !== 'waiting');
    equal(x.status, 'completed');
    equal((await questions(rig, id)).map((r) => r.attempt), [1, 2, 3, 4, 5, 6, 7]);
});

claim('cancelling finds out first', async (rig) => {
    await say(rig, 'unknown');
    const { id } = await rig.begin('patient');
    await until(rig, id, (x) => x.waitingFor?.asked >= 1);
    equal((await rig.api('POST', `/executions/${id}/cancel`)).status, 202);
    const stopping = await execution(rig, id);
    equal([stopping.status, stopping.waitingFor.kind, stopping.actions], ['compensating', 'reconcile', ['signal']]);
    refused(await rig.api('POST', `/executions/${id}/cancel`), 409, 'conflict');
    await rig.restart();
    await say(rig, 'succeeded');
    const x = await until(rig, id, (e) => e.status === 'cancelled');
    equal(x.error.compensation, { compensated: ['pay'], failed: [] });
    const rollback = (await rig.all(`/executions/${id}/steps`, 100)).at(-1);
    equal([rollback.kind, rollback.output], ['rollback', { refunded: { id: 'p-1' } }]);
});

claim('a parked one that is cancelled is rolled back as if it had happened', async (rig) => {
    const { id } = await park(rig);
    equal((await rig.api('POST', `/executions/${id}/cancel`)).status, 202);
    const x = await until(rig, id, (e) => e.status === 'cancelled');
    equal(x.error.compensation, { compensated: ['pay'], failed: [] });
    equal((await letters(rig, id)).map((l) => l.status), ['resolved']);
    equal((await rig.all(`/executions/${id}/steps`, 100)).at(-1).output, { refunded: null });
});

claim('a dry-run asks, and an operator in a test says it', async (rig) => {
    await say(rig, 'unknown');
    const trial = await rig.api('POST', '/scenarios/hasty/dry-run', {});
    equal([trial.status, trial.body.execution?.status ?? trial.body.status], [200, 'waiting']);
    equal(JSON.stringify(trial.body).match(/-reconcile-3/g)?.length > 0, true);
});

await run(async (rig) => {
    await say(rig, 'unknown');
    for (const definition of [patient, hasty]) await rig.publish(definition);
});
