// test_metrics.mjs - what /metrics counts while processes run, on both stores.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { scrape } from './scrape.mjs';

const service = createServer((request, response) => {
    response.writeHead(request.url === '/well' ? 200 : 503, { 'content-type': 'application/json' });
    response.end('{}');
});
await new Promise((resolve) => service.listen(0, '127.0.0.1', resolve));
service.unref();
const host = `http://127.0.0.1:${service.address().port}`;

const wanted = {
    saga_step_duration_seconds: 'histogram', saga_flow_transitions_total: 'counter',
    execution_e2e_latency_seconds: 'histogram', order_e2e_latency_seconds: 'histogram',
    procedure_executions_total: 'counter', procedure_duration_seconds: 'histogram',
    command_executions_total: 'counter', command_duration_seconds: 'histogram',
    pawl_mailbox_depth: 'gauge', pawl_dead_letters: 'gauge', pawl_outbox_pending: 'gauge', pawl_outbox_oldest_age_seconds: 'gauge', pawl_timers_pending: 'gauge', pawl_executions: 'gauge',
    pawl_commit_batch_size: 'histogram', pawl_commit_duration_seconds: 'histogram',
    pawl_idempotency_conflicts_total: 'counter',
    pawl_http_calls_total: 'counter', pawl_http_call_duration_seconds: 'histogram',
    pawl_http_calls_under_way: 'gauge', pawl_http_calls_queued: 'gauge',
    pawl_jobs: 'gauge', pawl_job_claims_total: 'counter', pawl_job_wait_seconds: 'histogram',
    pawl_jobs_ended_total: 'counter', pawl_workers_waiting: 'gauge',
};

claim('every family is there, with its type', async (rig) => {
    const { types } = await scrape(rig);
    equal(Object.fromEntries(Object.keys(wanted).map((name) => [name, types[name]])), wanted);
});

claim('the guide names every family', async (rig) => {
    const page = readFileSync('docs/metrics.md', 'utf8');
    const { types } = await scrape(rig);
    equal(Object.keys(types).filter((name) => !page.includes(`\`${name}\``)), [], 'families that the page does not name');
});

claim('steps, commands, procedures and changes of status are counted once they are durable', async (rig) => {
    const { id } = await rig.begin('counted');
    const waiting = (await scrape(rig)).series;
    equal(waiting.get('saga_flow_transitions_total{scenario="counted",from="pending",to="waiting"}'), 1);
    equal(waiting.get('saga_step_duration_seconds_count{scenario="counted",step="a",outcome="completed"}'), 1);
    equal(waiting.get('execution_e2e_latency_seconds_count{scenario="counted"}'), undefined);
    equal((await rig.api('POST', `/executions/${id}/signal?wait=60s`, { type: 'go' })).status, 200);
    const { series } = await scrape(rig);
    equal(series.get('saga_flow_transitions_total{scenario="counted",from="waiting",to="completed"}'), 1);
    equal(series.get('saga_step_duration_seconds_count{scenario="counted",step="left_out",outcome="skipped"}'), 1);
    equal(series.get('saga_step_duration_seconds_count{scenario="counted",step="broken",outcome="failed"}'), 1);
    equal(series.get('execution_e2e_latency_seconds_count{scenario="counted"}'), 1);
    equal(series.get('procedure_executions_total{procedure="helper",outcome="completed"}'), 1);
    equal(series.get('procedure_duration_seconds_count{procedure="helper"}'), 1);
    equal(series.get('command_executions_total{command="wait.signal"}'), 1);
    // One in `a`, two in the procedure; the step that was left out ran none.
    equal(series.get('command_executions_total{command="compute.transform"}'), 3);
    for (const command of ['compute.transform', 'compute.fail', 'wait.signal'])
        equal(series.get(`command_duration_seconds_count{command="${command}"}`),
            series.get(`command_executions_total{command="${command}"}`), command);
    // The wait is all of its step, so both took as long.
    equal(series.get('command_duration_seconds_sum{command="wait.signal"}'),
        series.get('saga_step_duration_seconds_sum{scenario="counted",step="w",outcome="completed"}'));
    check(series.get('command_duration_seconds_sum{command="wait.signal"}') > 0, 'a wait takes time');
});

claim('buckets add up', async (rig) => {
    const { series } = await scrape(rig);
    const of = (bound) => series.get(`pawl_commit_batch_size_bucket{le="${bound}"}`);
    const bounds = [1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 4096, '+Inf'].map(of);
    check(bounds.every((n, i) => i === 0 || n >= bounds[i - 1]), `${bounds}`);
    equal(of('+Inf'), series.get('pawl_commit_batch_size_count'));
    check(series.get('pawl_commit_batch_size_count') > 0 && series.get('pawl_commit_duration_seconds_sum') > 0, 'batches were timed');
});

claim('conflicts of Idempotency-Keys are counted, repetitions are not', async (rig) => {
    const count = async () => (await scrape(rig)).series.get('pawl_idempotency_conflicts_total');
    const ask = (key) => rig.api('POST', '/executions', { code: 'counted', key }, { 'idempotency-key': 'metrics' });
    const before = await count();
    equal((await ask('M-1')).status, 201);
    equal((await ask('M-1')).status, 200);
    equal(await count(), before);
    equal((await ask('M-2')).status, 409);
    equal(await count(), before + 1);
});

claim('calls are counted by host and how they ended, and what has a key is timed as an order', async (rig) => {
    const before = (await scrape(rig)).series;
    const more = (after, name) => after.get(name) - (before.get(name) ?? 0);
    const { id } = await rig.begin('calling', { key: `C-${rig.name}` });
    await rig.api('POST', `/executions/${id}/signal?wait=60s`, { type: 'go' });
    const { series } = await scrape(rig);
    equal(more(series, `pawl_http_calls_total{host="${host}",outcome="2xx"}`), 1);
    equal(more(series, `pawl_http_calls_total{host="${host}",outcome="5xx"}`), 2);
    equal(more(series, `pawl_http_calls_total{host="http://127.0.0.1:1",outcome="external_unreachable"}`), 1);
    equal(more(series, `pawl_http_call_duration_seconds_count{host="${host}"}`), 3);
    equal(more(series, 'order_e2e_latency_seconds_count'), 1);
    equal(series.get('pawl_http_calls_under_way'), 0);
    equal(series.get('pawl_http_calls_queued'), 0);
});

claim('jobs are counted by type and status, and by how they ended', async (rig) => {
    await rig.publish({ code: 'measured', steps: [{ code: 'do', procedure: 'measured.work', retry: { maxAttempts: 1 } }] });
    for (let i = 0; i < 4; i++) await rig.begin('measured');
    const claimed = await rig.api('POST', '/jobs/claim', { types: ['measured.work'], max: 3, wait: '10s', lease: '1s' });
    equal(claimed.body.items.length, 3);
    const before = (await scrape(rig)).series;
    equal(before.get('pawl_jobs{type="measured.work",status="ready"}'), 1);
    equal(before.get('pawl_jobs{type="measured.work",status="leased"}'), 3);
    equal(before.get('pawl_job_claims_total{type="measured.work"}'), 3);
    equal(before.get('pawl_job_wait_seconds_count{type="measured.work"}'), 3);
    const [a, b] = claimed.body.items;
    equal((await rig.api('POST', `/jobs/${a.id}/complete`, { leaseToken: a.leaseToken })).status, 200);
    equal((await rig.api('POST', `/jobs/${b.id}/fail`, { leaseToken: b.leaseToken, error: { code: 'no' } })).status, 200);
    const ended = await until('the third lease runs out', async () => {
        const { series } = await scrape(rig);
        return series.get('pawl_jobs_ended_total{outcome="expired"}') ? series : null;
    }, 30);
    equal(['completed', 'failed', 'expired'].map((how) => ended.get(`pawl_jobs_ended_total{outcome="${how}"}`)), [1, 1, 1]);
    equal(ended.get('pawl_jobs{type="measured.work",status="leased"}'), undefined);
    const other = rig.server.client();
    const polled = other.ask('POST', '/api/v1/jobs/claim', { types: ['measured.other'], wait: '3s' });
    await until('a worker waits', async () => (await scrape(rig)).series.get('pawl_workers_waiting') === 1, 30);
    await polled;
    other.close();
    equal((await scrape(rig)).series.get('pawl_workers_waiting'), 0);
});

claim('from elsewhere figures are for viewers of the default organisation', async (rig) => {
    const make = async (more) => (await rig.api('POST', '/users', { name: 'who', ...more })).body.token;
    const org_id = '00000000-0000-4000-8000-0000000000aa';
    const ask = async (token) => (await rig.client.ask('GET', '/metrics', undefined, { 'X-Forwarded-For': '203.0.113.5', Authorization: token ? `Bearer ${token}` : '' })).status;
    const wanted = [[{ role: 'viewer' }, 200], [{ role: 'operator' }, 200], [{ role: 'worker' }, 403], [{ role: 'member' }, 403], [{ role: 'viewer', org_id }, 403]];
    for (const [more, status] of wanted) equal(await ask(await make(more)), status, JSON.stringify(more));
    equal(await ask(null), 401);
});

claim('promtool finds nothing wrong with /metrics after all this', async (rig) => {
    const { text } = await scrape(rig);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    equal([status, stdout, stderr], [0, '', '']);
});

await run(async (rig) => {
    const call = (code, url) => ({
        code, onError: 'continue', retry: { maxAttempts: 2, delay: '1ms' }, procedure: { type: 'integration.http', url },
    });
    await rig.publish({
        code: 'calling',
        steps: [
            call('well', `${host}/well`), call('ill', `${host}/ill`),
            { ...call('nobody', 'http://127.0.0.1:1/'), retry: { maxAttempts: 1 } },
            { code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } },
        ],
    });
    const transform = { type: 'compute.transform', data: { x: 1 } };
    equal((await rig.api('PUT', '/procedures/helper/draft', { code: 'helper', commands: [transform, transform] })).status, 200);
    equal((await rig.api('POST', '/procedures/helper/publish')).status, 200);
    await rig.publish({
        code: 'counted',
        steps: [
            { code: 'a', procedure: transform },
            { code: 'left_out', when: 'false', procedure: transform },
            { code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } },
            { code: 'broken', onError: 'continue', procedure: { type: 'compute.fail', code: 'boom', message: 'no' } },
            { code: 'named', procedure: 'helper' },
        ],
    });
});
