// pawl doctor and pawl backup beside a server on PostgreSQL: a real one of the test's own.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { end, holds, skip } from '../lib/claims.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { makeFolder, pawl } from '../lib/program.mjs';

const postgres = await Postgres.own();
if (postgres === null) {
    skip('PostgreSQL is not installed', 14);
    end();
}
const folder = makeFolder();
const store = postgres.fresh();
const env = { ...process.env, PAWL_DATA: join(folder, 'data'), XDG_STATE_HOME: folder };
delete env.PAWL_STORE;
delete env.PAWL_URL;

function run(...args) {
    const { status, stdout, stderr } = spawnSync(pawl, args, { env, encoding: 'utf8' });
    return { status, text: stdout + stderr };
}

function told(what, answer, status, ...parts) {
    const ok = answer.status === status && parts.every((part) => answer.text.includes(part));
    holds(ok, `${what}\n  status ${answer.status}: ${answer.text}`);
}

// A machine with few open files or little space is told of as well, and rightly.
const well = /warning {2}(open files|space)/.test(run('doctor', '--store', store).text) ? '0 problems, ' : 'All is well.';
told('a database that is still empty is told', run('doctor', '--store', store), 0,
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
    server.on('close', () => done(''));
});
told('a server on PostgreSQL is well', run('doctor', '--store', store), 0,
    'PostgreSQL answers', 'the newest', 'takes requests', well);
env.PAWL_STORE = store;
told('the store may be named by the environment', run('doctor', '--json'), 0,
    '{"name":"store","level":"ok","message":"PostgreSQL answers","hint":null}');
told('its backup is its own business', run('backup', join(folder, 'b.db')), 1, 'pg_dump');

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
told('the definitions are published', run('apply', file), 0);
for (const code of ['both', 'gone']) told(`${code} is started`, run('start', code, '--wait=10ms'), 0);
told('what waits is well', run('doctor'), 0, 'none is held, parked or asleep');
postgres.ask(`UPDATE execution SET status = 'completed' WHERE scenario_code = 'kid';
    UPDATE execution SET updated_at = updated_at - 120000000 WHERE scenario_code IN ('kid', 'both');
    UPDATE execution SET deleted_at = updated_at - 1200000000 WHERE scenario_code = 'gone'`);
told('what nothing will wake is told', run('doctor'), 1, 'problem  asleep', '1 that nothing will wake');
told('what a deletion has left is told', run('doctor'), 1, 'warning  deleted in part', '1 deleted');
// A folder that is in use on SQLite, and a database without anything in it.
const used = join(folder, 'used');
const seed = spawn(pawl, ['serve', '--store', 'sqlite', '--data', used, '--listen', '127.0.0.1:0'], { env: { ...env, PAWL_STORE: 'sqlite' } });
const seedUrl = await new Promise((done) => {
    let text = '';
    seed.stdout.on('data', (bytes) => ((text += bytes), /listens on (\S+)/.test(text) && done(text.match(/listens on (\S+)/)[1])));
    seed.on('close', () => done(''));
});
const seedFile = join(folder, 'seed.json');
writeFileSync(seedFile, JSON.stringify({ code: 'seed', steps: [] }));
spawnSync(pawl, ['apply', seedFile], { env: { ...env, PAWL_URL: seedUrl, PAWL_DATA: used } });
seed.kill('SIGTERM');
await new Promise((done) => seed.on('close', done));
const empty = postgres.fresh();
told('an empty database beside a folder in use is refused', run('serve', '--data', used, '--store', empty, '--listen', '127.0.0.1:0'), 1,
    'holds an installation on SQLite', 'is empty', 'pawl move --from');
told('and nothing was made in it', run('doctor', '--data', join(folder, 'none'), '--store', empty), 0, 'version 0 of');
{
    copyFileSync(join(folder, 'data', 'master.key'), join(used, 'master.key'));
    const joined = spawn(pawl, ['serve', '--data', used, '--store', store, '--listen', '127.0.0.1:0'], { env });
    const ok = await new Promise((done) => {
        let text = '';
        joined.stdout.on('data', (bytes) => ((text += bytes), text.includes('listens on') && done(true)));
        joined.stderr.on('data', (bytes) => (log += bytes));
        joined.on('close', () => done(false));
    });
    holds(ok, `a database that is in use is joined from such a folder\n  ${log.slice(-300)}`);
    joined.kill('SIGTERM');
    await new Promise((done) => (joined.exitCode !== null ? done() : joined.on('close', done)));
}

postgres.stop();
told('a PostgreSQL that has gone is a problem', run('doctor'), 1, 'problem  store', '--store');

server.removeAllListeners('close');
const gone = new Promise((done) => server.on('close', done));
server.kill('SIGKILL');
await gone;
end();
