// Transitions a second through HTTP beside what the store alone can write; the pool among a million tasks.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Postgres } from '../tests/lib/postgres.mjs';
import { Server } from '../tests/lib/server.mjs';

const TASKS = Number(process.env.TASKS ?? 1000000);
const AVAILABLE = Number(process.env.AVAILABLE ?? 10000);
const CYCLES = Number(process.env.CYCLES ?? 500);
const CLIENTS = Number(process.env.CLIENTS ?? 64);
const TRADES = 20;
const org = '00000000-0000-7000-8000-000000000001';

const now = () => Number(process.hrtime.bigint()) / 1e6;

function percentile(times, p) {
    return times.sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor((times.length * p) / 100))];
}

/** Run SQL on the store; answers what it prints and how long it took. */
function sql(url, folder, text) {
    const file = join(folder, 'bench.sql');
    writeFileSync(file, text);
    const began = now();
    const done = url
        ? spawnSync('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', url, '-f', file], { encoding: 'utf8', maxBuffer: 1 << 28 })
        : spawnSync('sqlite3', ['-batch', '-bail', join(folder, 'data', 'pawl.db'), `.read ${file}`], { encoding: 'utf8', maxBuffer: 1 << 28 });
    if (done.status !== 0) throw new Error(done.stderr.slice(0, 2000));
    return { text: done.stdout, ms: now() - began };
}

/** Tasks that are done, and among them evenly some that are available. */
function load(url, folder, theirOrg) {
    const each = Math.max(1, Math.floor(TASKS / AVAILABLE));
    const columns = '(id, org_id, project_id, title, required_trade, min_skill, priority, status, row_version, had_owner, self_checked, needs_attention, created_at, updated_at)';
    const trade = `'trade' || ((n / ${each}) % ${TRADES})`;
    const numbers = url ? `generate_series(1, ${TASKS}) AS s(n)` : `(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${TASKS}) SELECT n FROM s)`;
    const { ms } = sql(url, folder, `INSERT INTO tasks ${columns} SELECT 'bench-' || n, '${theirOrg}', 'bench', 'task ' || n, ${trade}, 0, n % 7, CASE WHEN n % ${each} = 0 THEN 'available' ELSE 'done' END, 1, 0, 0, 0, 1700000000000000 + n, 1700000000000000 + n FROM ${numbers};\n${url ? 'VACUUM ANALYZE tasks;' : ''}`);
    console.log(`  ${TASKS} tasks, ${AVAILABLE} of them available, written in ${(ms / 1000).toFixed(0)} s`);
}

async function pool(server, people) {
    for (const [name, person, path] of people) {
        const client = server.client();
        const times = [];
        let items = 0;
        for (let i = 0; i < 205; i++) {
            const began = now();
            const answer = await client.ask('GET', `/api/v1${path}`, undefined, { Authorization: `Bearer ${person.token}` });
            if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
            items = answer.body.items.length;
            if (i >= 5) times.push(now() - began);
        }
        client.close();
        console.log(`  pool, ${name}: ${items} tasks, median ${percentile(times, 50).toFixed(2)} ms, p99 ${percentile(times, 99).toFixed(2)} ms`);
    }
}

/** CYCLES tasks for each client, from the pool to the end: five requests, four of them transitions. */
async function transitions(server, lead, executors) {
    const began = now();
    let moves = 0;
    await Promise.all(executors.map(async (executor, who) => {
        const client = server.client();
        const ask = async (person, path, body) => {
            const answer = await client.ask('POST', `/api/v1${path}`, body, { Authorization: `Bearer ${person.token}` });
            if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
            return answer.body;
        };
        for (let i = 0; i < CYCLES / 10; i++) {
            let task = await ask(lead, '/tasks', { title: `of ${who}`, project_id: 'cycle' });
            for (const [person, action, payload] of [[lead, 'assign', { assign_to: executor.id }], [executor, 'start', {}], [executor, 'submit', {}], [lead, 'review_approve', {}]]) {
                task = (await ask(person, `/tasks/${task.id}/transitions`, { action, payload, client_event_id: `${action}`, expected_row_version: task.row_version })).task;
                moves++;
            }
        }
        client.close();
    }));
    return (moves * 1000) / (now() - began);
}

/** The rows of a transition, written by the database's own program: 64 transitions a transaction. */
function ceiling(url, folder) {
    const count = 6400;
    const lines = [url ? '' : 'PRAGMA synchronous=FULL;'];
    for (let i = 0; i < count; i++) {
        if (i % 64 === 0) lines.push('BEGIN;');
        const task = `bench-${i + 1}`;
        const statements = [
            `UPDATE tasks SET row_version = row_version + 1, updated_at = ${i}, handover_note = 'x' WHERE id = '${task}' AND row_version = 1`,
            `INSERT INTO task_transitions (id, task_id, org_id, action, from_status, to_status, actor_id, actor_role, payload, client_event_id, expected_row_version, result_row_version, created_at) VALUES ('log-${i}', '${task}', '${org}', 'start', 'assigned', 'in_progress', 'somebody', 'executor', '{}', 'event', 1, 2, ${i})`,
            `INSERT INTO task_events (task_id, client_event_id, actor_id, action, payload, answer) VALUES ('${task}', 'event', 'somebody', 'start', '{}', '${'x'.repeat(1200)}')`,
        ];
        lines.push(`${statements.join(url ? '\\; ' : ';\n')};`);
        if (i % 64 === 63) lines.push('COMMIT;');
    }
    return (count * 1000) / sql(url, folder, lines.join('\n')).ms;
}

async function bench(name, url) {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
    const server = new Server(join(folder, 'data'), { store: url });
    if (!(await server.start())) throw new Error(server.log);
    const admin = server.client();
    const person = async (role, more = {}) => (await admin.ask('POST', '/api/v1/users', { name: role, role, ...more })).body;
    const lead = await person('lead');
    const painter = await person('executor', { skill_level: 5, specializations: ['trade3'] });
    const nobody = await person('executor', { skill_level: 5, specializations: ['none of these'] });
    const executors = await Promise.all(Array.from({ length: CLIENTS }, () => person('executor', { skill_level: 5 })));
    console.log(name);
    const moves = await transitions(server, lead, executors);
    const theirOrg = (await admin.ask('GET', '/api/v1/tasks?limit=1')).body.items[0].org_id;
    load(url, folder, theirOrg);
    await pool(server, [
        ['a lead', lead, '/tasks/pool'],
        ['an executor of one trade of twenty', painter, '/tasks/pool'],
        ['an executor for whom there is nothing', nobody, '/tasks/pool'],
        ['a lead, 500 a page', lead, '/tasks/pool?limit=500'],
    ]);
    const crowded = await transitions(server, lead, executors);
    admin.close();
    await server.stop();
    const most = ceiling(url, folder);
    console.log(`  transitions through HTTP, ${CLIENTS} clients: ${moves.toFixed(0)}/s; among ${TASKS} tasks ${crowded.toFixed(0)}/s; ` +
        `the store alone, 64 a transaction: ${most.toFixed(0)}/s: ${(crowded / most).toFixed(2)} of it`);
    rmSync(folder, { recursive: true, force: true });
}

await bench('SQLite', null);
const postgres = await Postgres.open();
if (postgres) await bench('PostgreSQL', postgres.fresh());
postgres?.close();
