// test_stats.mjs - GET /stats: what the charts draw, on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until as eventually } from '../lib/wait.mjs';
import { Receiver } from './receiver.mjs';

const stats = async (rig, query = '') => {
    const answer = await rig.api('GET', `/stats${query}`);
    equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
};
const sum = (points, name) => points.reduce((n, point) => n + point[name], 0);

claim('executions are counted by outcome, with how long they took and what is waited for', async (rig) => {
    const before = (await stats(rig)).points;
    await rig.begin('well');
    await rig.begin('well');
    await rig.begin('ill');
    const { id } = await rig.begin('waits');
    await rig.begin('waits');
    equal((await rig.api('POST', `/executions/${id}/cancel`, {})).status, 202);
    // A minute that ends here is in no row for a moment.
    for (;;) {
        const { points } = await stats(rig);
        const more = ['started', 'completed', 'failed', 'cancelled'].map((name) => sum(points, name) - sum(before, name));
        if (more.some((n) => n < 0) || more[0] === 0) continue;
        equal(more, [5, 2, 1, 1]);
        equal(points.at(-1).waiting.signal, 1);
        const { p50, p95, p99 } = points.findLast((point) => point.latencyMs !== null).latencyMs;
        check(p50 > 0 && p50 <= p95 && p95 <= p99 && p99 < 600000, `${p50} ${p95} ${p99}`);
        break;
    }
});

claim('a retry that fails at once has failed again', async (rig) => {
    const { id } = await rig.begin('ill');
    const before = (await stats(rig)).points;
    for (let n = 0; n < 3; n++) equal((await rig.api('POST', `/executions/${id}/retry`, {})).status, 202);
    await eventually('it is counted', async () => {
        const { points } = await stats(rig);
        return sum(points, 'failed') - sum(before, 'failed') === 3;
    });
});

claim('points are as many and as long as was asked for, and end now', async (rig) => {
    for (const [query, count, seconds] of [['', 60, 60], ['?window=1h&step=15m', 4, 900], ['?window=24h&step=15m', 96, 900], ['?window=7d&step=2h', 84, 7200]]) {
        const { from, to, stepSeconds, points } = await stats(rig, query);
        equal([points.length, stepSeconds], [count, seconds], query);
        equal(points[0].at, from);
        const times = points.map((point) => Date.parse(point.at));
        check(times.every((at, i) => i === 0 || at - times[i - 1] === seconds * 1000), `${times}`);
        check(times.at(-1) <= Date.parse(to) && Date.parse(to) < times.at(-1) + seconds * 1000, `${to}`);
        check(points[0].started === 0 && points[0].latencyMs === null, 'before the first start there was nothing');
    }
});

claim('what is no window, or too many points, is refused', async (rig) => {
    for (const query of ['?window=8d', '?window=1', '?window=30s', '?step=90s', '?step=2h', '?step=-1m', '?window=7d&step=1m'])
        refused(await rig.api('GET', `/stats${query}`), 400, 'bad_request');
});

claim('the outbox lags as long as its oldest message waits, between two attempts too, and not when it is empty', async (rig) => {
    const lag = async () => (await stats(rig)).points.at(-1).outboxLagMs;
    const receiver = new Receiver();
    await receiver.open();
    receiver.answer = () => 503;
    equal(await lag(), 0);
    equal((await stats(rig)).points[0].outboxLagMs, null, 'before the first start nobody counted');
    equal((await rig.api('PUT', '/subscriptions/lag', { url: receiver.url, events: ['Lag'] })).status, 201);
    await rig.begin('tells');
    const tried = await eventually('it was tried', async () => (await rig.api('GET', '/outbox')).body.items.find((m) => m.attempts > 0));
    const from = Date.now() - Date.parse(tried.createdAt), ms = await lag(), to = Date.now() - Date.parse(tried.createdAt);
    check(ms > 0 && ms >= from - 1 && ms <= to + 1, `${from} <= ${ms} <= ${to}`);
    receiver.answer = () => 200;
    await eventually('it is delivered', async () => (await lag()) === 0);
    equal((await rig.api('DELETE', '/subscriptions/lag')).status, 204);
    receiver.close();
});

claim('another organisation sees its own', async (rig) => {
    const org = '0190a0b0-0000-7000-8000-00000000000b';
    const made = await rig.api('POST', '/users', { name: 'Other', email: 'other@example.org', role: 'viewer', org_id: org });
    equal(made.status, 201, JSON.stringify(made.body));
    const answer = await rig.api('GET', '/stats', undefined, { authorization: `Bearer ${made.body.token}` });
    equal([sum(answer.body.points, 'started'), answer.body.points.at(-1).waiting, answer.body.points.at(-1).outboxLagMs], [0, {}, 0]);
});

await run(async (rig) => {
    const step = (procedure) => [{ code: 'a', procedure }];
    await rig.publish({ code: 'well', steps: step({ type: 'compute.transform', data: { n: 1 } }) });
    await rig.publish({ code: 'ill', steps: step({ type: 'compute.fail', code: 'no', message: 'no' }) });
    await rig.publish({ code: 'tells', steps: step({ type: 'event.publish', event: 'Lag', payload: 1 }) });
    await rig.publish({ code: 'waits', steps: step({ type: 'wait.signal', signalType: 'go' }) });
});
