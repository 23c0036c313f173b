// pawl doctor and pawl backup beside a server on PostgreSQL: a real one of the test's own.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Postgres } from '../kill/postgres.mjs';

const pawl = process.env.PAWL ?? 'build/pawl';
const postgres = await Postgres.open();
if (postgres === null) {
    console.log('0 passed, 1 failed: PostgreSQL is not installed');
    process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'pawl-doctor-'));
const store = postgres.fresh();
const env = { ...process.env, PAWL_DATA: join(folder, 'data'), XDG_STATE_HOME: folder };
delete env.PAWL_STORE;
delete env.PAWL_URL;
let passed = 0;
let failed = 0;

function run(...args) {
    const { status, stdout, stderr } = spawnSync(pawl, args, { env, encoding: 'utf8' });
    return { status, text: stdout + stderr };
}

function claim(what, answer, status, ...parts) {
    const ok = answer.status === status && parts.every((part) => answer.text.includes(part));
    if (ok) passed++;
    else {
        failed++;
        console.log(`FAILED ${what}\n  status ${answer.status}: ${answer.text}`);
    }
}

// A machine with few open files or little space is told of as well, and rightly.
const well = /warning {2}(open files|space)/.test(run('doctor', '--store', store).text) ? '0 problems, ' : 'All is well.';
claim('a database that is still empty is told', run('doctor', '--store', store), 0,
    'ok       store            PostgreSQL answers', 'warning  schema', 'pawl serve');
const server = spawn(pawl, ['serve', '--store', store, '--listen', '127.0.0.1:0'], { env });
let log = '';
env.PAWL_URL = await new Promise((done) => {
    const look = (bytes) => {
        log += bytes;
        const url = log.match(/listens on (\S+)/)?.[1];
        if (url) done(url);
    };
    server.stdout.on('data', look);
    server.stderr.on('data', look);
    server.on('exit', () => done(''));
});
claim('a server on PostgreSQL is well', run('doctor', '--store', store), 0,
    'PostgreSQL answers', 'the newest', 'takes requests', well);
env.PAWL_STORE = store;
claim('the store may be named by the environment', run('doctor', '--json'), 0,
    '{"name":"store","level":"ok","message":"PostgreSQL answers","hint":null}');
claim('its backup is its own business', run('backup', join(folder, 'b.db')), 1, 'pg_dump');

// A branch waits for a child that has ended, beside one that waits for a signal; and a deletion has left rows.
const waits = (code) => ({ code, procedure: { type: 'wait.signal', signalType: 'go' } });
const file = join(folder, 'all.json');
writeFileSync(file, JSON.stringify({ items: [
    { code: 'kid', steps: [waits('ask')] },
    { code: 'gone', steps: [{ code: 'a', procedure: { type: 'compute.set', values: { a: 1 } } }] },
    { code: 'both', steps: [{ code: 'side', parallel: { branches: [
        [waits('listen')],
        [{ code: 'run', procedure: { type: 'flow.start', code: 'kid', wait: true } }]] } }] },
] }));
claim('the definitions are published', run('apply', file), 0);
for (const code of ['both', 'gone']) claim(`${code} is started`, run('start', code, '--wait=10ms'), 0);
claim('what waits is well', run('doctor'), 0, 'none is held, parked or asleep');
postgres.ask(`UPDATE execution SET status = 'completed' WHERE scenario_code = 'kid';
    UPDATE execution SET updated_at = updated_at - 120000000 WHERE scenario_code IN ('kid', 'both');
    UPDATE execution SET deleted_at = updated_at - 1200000000 WHERE scenario_code = 'gone'`);
claim('what nothing will wake is told', run('doctor'), 1, 'problem  asleep', '1 that nothing will wake');
claim('what a deletion has left is told', run('doctor'), 1, 'warning  deleted in part', '1 deleted');
postgres.stop();
claim('a PostgreSQL that has gone is a problem', run('doctor'), 1, 'problem  store', '--store');

server.removeAllListeners('exit');
const gone = new Promise((done) => server.on('exit', done));
server.kill('SIGKILL');
await gone;
postgres.close();
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
