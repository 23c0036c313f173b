// A thousand children of one parent, all of them joined: what that takes is counted in commits, in
// rows that the database has touched (PostgreSQL) and in bytes that were written (SQLite), never in
// time, and grows with their number alone.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { check, claim, end, equal } from '../lib/claims.mjs';
import { Server } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const FEW = 100, MANY = 1000;
// What one of MANY may take of what one of FEW takes: in time linear in their number. How many rows and bytes depends on what shares a batch, and when the log is moved into the file.
const TIMES_MAX = { commits: 1.1, rows: 1.5, bytes: 1.4 };
const kid = { code: 'kid', input: [{ name: 'n', type: 'integer' }], steps: [{ code: 'k', procedure: { type: 'compute.transform', data: { n: '$.input.n' } } }] };
const parent = {
    code: 'parent',
    input: [{ name: 'list', type: 'array', required: true }],
    steps: [{ code: 'all', loop: {
        for: '$.input.list', concurrency: 100, collect: '$.steps.run.n',
        steps: [{ code: 'run', procedure: { type: 'flow.start', code: 'kid', input: { n: '$.loop.item' }, wait: true } }],
    } }],
};
const ROWS = `SELECT tup_returned + tup_fetched + tup_inserted + tup_updated + tup_deleted FROM pg_stat_database WHERE datname = current_database()`;

/** What a parent of so many children takes, by a server of its own: {commits, rows or bytes}. */
async function join(count, postgres) {
    const folder = mkdtempSync(path.join(tmpdir(), 'pawl-children-'));
    const server = new Server(path.join(folder, 'data'), { store: postgres?.fresh() });
    check(await server.start(), server.log);
    const database = postgres?.database;
    for (const process of [kid, parent]) await server.publish(process);
    const commits = async () => Number((await server.call(null, 'GET', '/metrics')).raw.match(/^pawl_commits_total (\d+)$/m)[1]);
    const bytes = () => Number(readFileSync(`/proc/${server.child.pid}/io`, 'utf8').match(/wchar: (\d+)/)[1]);
    const before = [await commits(), bytes()];
    const list = Array.from({ length: count }, (_, i) => i);
    const answer = await server.asAdmin('POST', '/executions?wait=120s', { code: 'parent', input: { list } });
    equal([answer.body.status, answer.body.result?.items?.length ?? answer.body.result?.count], ['completed', count], answer.raw.slice(0, 500));
    const took = { commits: (await commits()) - before[0], bytes: bytes() - before[1] };
    equal(await server.stop(), 0, server.log);
    if (postgres) {
        // Sessions say what they have touched when they end.
        const sessions = `SELECT count(*) FROM pg_stat_activity WHERE datname = '${database}'`;
        await until('the sessions are over', async () => Number(postgres.ask(sessions, 'postgres')) === 0);
        took.rows = Number(postgres.ask(ROWS, database));
    }
    rmSync(folder, { recursive: true, force: true });
    return took;
}

await onStores(async (name, store, postgres) => {
    await claim(`${name}: a thousand children of one parent take ten times what a hundred take`, async () => {
        const [none, few, many] = [await join(0, postgres), await join(FEW, postgres), await join(MANY, postgres)];
        for (const what of Object.keys(none).filter((key) => key !== (postgres ? 'bytes' : 'rows'))) {
            const one = (few[what] - none[what]) / FEW, later = (many[what] - none[what]) / MANY;
            console.log(`${name}: ${what} for a child: ${one.toFixed(2)} of ${FEW}, ${later.toFixed(2)} of ${MANY}`);
            check(later <= one * TIMES_MAX[what], `${what} for a child: ${later.toFixed(1)} of ${MANY}, ${one.toFixed(1)} of ${FEW}`);
        }
    });
});
end();
