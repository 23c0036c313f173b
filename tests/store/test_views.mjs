// test_views.mjs - the tables that people write SQL against, under their known names, on both stores.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

/** The rows of a statement as objects; JSON columns are texts in SQLite. */
function ask(rig, sql) {
    if (rig.store) {
        const wrapped = `SELECT coalesce(json_agg(t), '[]') FROM (${sql}) t`;
        const text = rig.postgres.run('psql', '-At', '-c', wrapped, rig.store).toString();
        return JSON.parse(text);
    }
    const text = execFileSync('sqlite3', ['-readonly', '-cmd', '.timeout 60000', '-json', join(rig.folder, 'data', 'pawl.db'), sql], { encoding: 'utf8' });
    return text.trim() === '' ? [] : JSON.parse(text);
}

const json = (value) => (typeof value === 'string' ? JSON.parse(value) : value);

// Keys in one order, and without `meta`, which is of the definition and not of the execution.
function sorted(value) {
    if (Array.isArray(value)) return value.map(sorted);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

function withoutMeta(context) {
    for (const step of Object.values(context.steps)) if (step) delete step.meta;
    return sorted(context);
}

const transform = (data) => ({ type: 'compute.transform', data });

const definition = {
    code: 'viewed',
    name: 'Everything that a context may hold',
    input: [{ name: 'n', type: 'integer', default: 1 }],
    settings: { retryPolicy: { maxAttempts: 2, delay: '1ms', backoff: 1 } },
    steps: [
        { code: 'a', procedure: transform({ x: '=$.input.n + 1', success: 'mine' }) },
        { code: 'left_out', when: 'false', procedure: transform({}) },
        { code: 'set', procedure: { type: 'compute.set', values: { yes: true, text: 't', deep: { a: [1] }, none: null, half: 1.5 } } },
        {
            code: 'each',
            loop: { for: '=[1, 2]', as: 'i', steps: [{ code: 'inner', procedure: [transform({}), { type: 'compute.set', values: { last: '$.loop.i' } }] }] },
        },
        { code: 'decision', procedure: { type: 'wait.signal', signalType: 'go' } },
        { code: 'broken', onError: 'continue', procedure: { type: 'compute.fail', code: 'boom', message: 'it broke', class: 'transient' } },
        { code: 'fork', branch: [{ when: 'true', steps: [{ code: 'inside', procedure: transform('a text') }] }] },
    ],
};

const ended = (rig, id) => until('it ends', async () => {
    const { body } = await rig.api('GET', `/executions/${id}`);
    return body.completedAt ? body : null;
});

const columns = {
    scenario_executions: 'id scenario_code scenario_version status input context current_step error started_at completed_at created_at updated_at '
        + 'kind business_key row_version wake_at owner_node stop_requested crash_count format org_id deadline_at waiting_for result debug parent_id checkpoint_seq trace_id created_by',
    scenario_step_history: 'id execution_id step_code status input output error attempt started_at completed_at created_at kind visit idempotency_key seq',
    scenario_versions: 'scenario_code version status definition change_summary created_by created_at',
    procedure_versions: 'procedure_code version status definition change_summary created_by created_at',
    scenario_run_snapshots: 'execution_id scenario_code scenario_version kind code version',
    received: 'id source execution_id received_at',
    executions: 'id schema_id id_status current_step_id started_at finished_at created_at created_by error',
    execution_state: 'execution_id current_node_id context updated_at',
    execution_steps: 'id execution_id node_id node_type prev_node_id next_node_id input output id_status error started_at finished_at',
};

claim('every known table is there with its columns', async (rig) => {
    for (const [table, names] of Object.entries(columns)) {
        const list = names.split(' ');
        ask(rig, `SELECT ${list.join(', ')} FROM ${table}`);
        if (table.startsWith('exec')) ask(rig, `SELECT ${list.join(', ')} FROM main.${table}`);
    }
});

claim('the context is that of the API, while it waits and when it has ended', async (rig) => {
    const { id } = await rig.begin('viewed', { input: { n: 4 }, key: 'V-1' });
    const context = () => ask(rig, `SELECT context FROM scenario_executions WHERE id = '${id}'`)[0].context;
    const waiting = (await rig.api('GET', `/executions/${id}`)).body;
    equal(waiting.status, 'waiting');
    equal(sorted(json(context())), withoutMeta(waiting.context), 'while it waits');
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'other', payload: 'kept' })).status, 202);
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'go', payload: { p: 1 } })).status, 202);
    const done = await ended(rig, id);
    equal(sorted(json(context())), withoutMeta(done.context), 'when it has ended');
    const [state] = ask(rig, `SELECT context, current_node_id FROM execution_state WHERE execution_id = '${id}'`);
    equal(sorted(json(state.context)), sorted(json(context())), 'the state of the other name');
    equal(state.current_node_id, 'fork');
});

claim('history says its keys, and the steps of the other name their kinds and neighbours', async (rig) => {
    const [{ id }] = ask(rig, "SELECT id FROM scenario_executions WHERE business_key = 'V-1'");
    const steps = await rig.all(`/executions/${id}/steps`, 100);
    const rows = ask(rig, `SELECT id, step_code, kind, status, visit, attempt, seq, idempotency_key
                           FROM scenario_step_history WHERE execution_id = '${id}' AND kind <> 'event' ORDER BY seq`);
    equal(
        rows.map((r) => [r.id, r.step_code, r.kind, r.status, r.visit, r.attempt, r.seq, r.idempotency_key]),
        steps.map((s) => [s.id, s.step, s.kind, s.status, s.visit, s.attempt, s.seq, s.idempotencyKey]),
    );
    const nodes = ask(rig, `SELECT node_id, node_type, prev_node_id, next_node_id, id_status, error
                            FROM execution_steps WHERE execution_id = '${id}' ORDER BY id`);
    equal(nodes.map((n) => [n.node_id, n.node_type, n.id_status]), [
        ['a', 'compute.transform', 1], ['left_out', 'compute.transform', 3], ['set', 'compute.set', 1],
        ['inner', 'procedure', 1], ['inner', 'procedure', 1], ['each', 'loop', 1], ['decision', 'wait.signal', 1],
        ['broken', 'compute.fail', 2], ['broken', 'compute.fail', 2], ['inside', 'compute.transform', 1], ['fork', 'branch', 1],
    ]);
    equal([nodes[0].prev_node_id, nodes[0].next_node_id], [null, 'left_out']);
    equal([nodes.at(-1).prev_node_id, nodes.at(-1).next_node_id], ['inside', null]);
    equal(nodes[7].error, 'it broke');
});

claim('status is a number under the other name', async (rig) => {
    const status = (key) => ask(rig, `SELECT e.id_status, e.schema_id, e.error, e.created_by FROM executions e
                                      JOIN scenario_executions s ON s.id = e.id WHERE s.business_key = '${key}'`)[0];
    const waiting = await rig.begin('viewed', { key: 'V-2' });
    equal([status('V-1').id_status, status('V-2').id_status], [4, 3]);
    equal((await rig.api('POST', `/executions/${waiting.id}/cancel`)).status, 202);
    equal(status('V-2').id_status, 6);
    const failed = await rig.begin('fails', { key: 'V-3' });
    equal((await ended(rig, failed.id)).status, 'failed');
    equal([status('V-3').id_status, status('V-3').error], [5, 'it broke']);
    check(status('V-1').schema_id === status('V-2').schema_id, 'one process has one number');
    check(status('V-1').schema_id !== status('V-3').schema_id, 'two processes have two');
    equal(status('V-3').created_by, (await rig.api('GET', '/me')).body.id);
});

claim('SQL that was written for jsonb finds what it looks for', async (rig) => {
    equal(ask(rig, `SELECT status FROM scenario_executions WHERE context @> '{"steps": {"a": {"x": 5}}}'`), [{ status: 'completed' }]);
    equal(ask(rig, `SELECT definition -> 'steps' -> 0 ->> 'code' AS code FROM scenario_versions WHERE scenario_code = 'viewed'`), [{ code: 'a' }]);
}, 'PostgreSQL');

claim('what arrived once is known by its id, a signal and a delivery of a webhook alike', async (rig) => {
    const { id } = await rig.begin('viewed', { input: { n: 4 } });
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'go', id: 'signal-of-mine' })).status, 202);
    await rig.publish({ code: 'hooked', name: 'hooked', triggers: [{ type: 'webhook', path: 'seen', id: '$.webhook.payload.id' }], steps: [{ code: 'a', procedure: transform({}) }] });
    const delivered = await rig.client.ask('POST', '/hooks/seen', { id: 'delivery-1' });
    equal(delivered.status, 202, JSON.stringify(delivered.body));
    const rows = ask(rig, "SELECT id, source, execution_id FROM received WHERE source = 'hooks/seen' OR id = 'signal-of-mine' ORDER BY source");
    equal(rows.map((row) => [row.source, row.execution_id]), [['hooks/seen', delivered.body.id], ['signal', id]]);
    check(rows[0].id.includes('delivery-1') && rows[1].id === 'signal-of-mine', JSON.stringify(rows));
});

await run(async (rig) => {
    await rig.publish(definition);
    await rig.publish({ code: 'fails', onError: 'fail_fast', steps: [{ code: 'a', procedure: { type: 'compute.fail', code: 'boom', message: 'it broke' } }] });
});
