// test_upgrade.mjs - a store that 0.1.0 has left behind is taken over, on both stores.
//
// installed_0_1_0.sqlite.sql and installed_0_1_0.postgres.sql are what the last 0.1.0 has left:
// made by its `pawl serve` with the processes below, dumped with `sqlite3 .dump` and
// `pg_dump --inserts`. One buffered signal was given a time that never comes. Executions wait for a
// signal, a timer, a worker, a task, an operator; others have completed or were cancelled.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { check, claim, end, equal, skip } from '../lib/claims.mjs';
import { Client } from '../lib/client.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { Rig } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const here = new URL('.', import.meta.url).pathname;
const installed = (name) => join(here, `installed_0_1_0.${name}.sql`);

const TOKENS = {
    sqlite: 'pawl_8977549011b74f767902176ec7c5b546454183a099606c146123f88dd653c8ca',
    postgres: 'pawl_aa70007abde53eef82a91505f27fad9f8cbfdffc592f47bf666bda951b0bb8c6',
};

const statement = (text) => text.replace(/\s+/g, ' ').replace(/ ?([(),]) ?/g, '$1').trim();

/** Through a pipe: the user that runs PostgreSQL may not read the files of this one. */
function load(postgres, text, store) {
    const [program, ...args] = postgres.line('psql', ['-q', '-X', '-v', 'ON_ERROR_STOP=1', store]);
    execFileSync(program, args, { cwd: tmpdir(), input: text, stdio: 'pipe' });
}

const STORES = {
    sqlite: {
        make: () => new Rig(),
        load(rig) {
            mkdirSync(rig.server.data, { recursive: true });
            execFileSync('sqlite3', ['-bail', '-cmd', 'PRAGMA auto_vacuum = 2', join(rig.server.data, 'pawl.db')], { input: readFileSync(installed('sqlite')) });
        },
        schema: (rig) => JSON.parse(rig.sql("SELECT json_group_array(json_array(type, name, tbl_name, sql)) FROM sqlite_schema WHERE name <> 'sqlite_sequence'").join('\n'))
            .map(([type, name, table, sql]) => `${type} ${name} ${table} ${statement(sql ?? '')}`).sort(),
    },
    postgres: {
        make(postgres) {
            const rig = new Rig(postgres.fresh());
            rig.postgres = postgres;
            return rig;
        },
        load: (rig) => load(rig.postgres, readFileSync(installed('postgres')), rig.store),
        // Views that were dumped once have their conditions in another shape: each is dumped twice.
        schema(rig) {
            const dump = (store) => rig.postgres.run('pg_dump', '--schema-only', '--no-owner', '--no-privileges', store).toString();
            const again = rig.postgres.fresh();
            load(rig.postgres, dump(rig.store), again);
            return dump(again).split('\n').filter((line) => line && !/^(--|\\)/.test(line));
        },
    },
};

/** The newest execution of that process. */
const newest = async (rig, code) => (await rig.api('GET', `/executions?code=${code}&limit=1`)).body.items[0];
const becomes = (rig, id, status) =>
    until(`${id} is ${status}`, async () => (await rig.api('GET', `/executions/${id}`)).body.status === status, 30);

/** All that was left behind goes on. */
async function goesOn(rig, token) {
    const found = (await rig.all('/executions')).map((x) => `${x.code} ${x.waitingFor?.kind ?? x.status}`).filter((x) => !x.startsWith('nap '));
    equal(found, ['both cancelled', 'held incident', 'paint task', 'both signal', 'work job', 'order signal', 'order completed'], 'executions');

    const order = await newest(rig, 'order');
    equal([order.version, order.key], [1, 'k-2'], 'order');
    equal((await rig.api('POST', '/signals', { correlation: 'o-2', type: 'prepaid', payload: {} })).status, 202, 'signal');
    await becomes(rig, order.id, 'completed');

    await becomes(rig, (await newest(rig, 'nap')).id, 'completed');

    const { items: [job] } = (await rig.api('POST', '/jobs/claim', { types: ['shop.pack'], wait: '10s', worker: 'w1' })).body;
    equal(job.input, { n: 1 }, 'job');
    equal((await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: {} })).status, 200, 'complete');
    await becomes(rig, job.executionId, 'completed');

    const both = await newest(rig, 'both');
    equal(both.status, 'cancelled', 'both');
    const held = await newest(rig, 'held');
    equal((await rig.api('GET', '/dlq?status=open')).body.items.map((x) => x.executionId), [held.id], 'dead letters');
    equal((await rig.api('POST', `/executions/${held.id}/skip`, {})).status, 202, 'skip');
    await becomes(rig, held.id, 'completed');

    const ada = new Client(rig.server.url, token);
    const [task] = (await ada.ask('GET', '/api/v1/tasks')).body.items;
    equal([task.title, task.status], ['Paint the door', 'available'], 'task');
    equal((await ada.ask('GET', '/api/v1/inbox')).body.items, [], 'inbox');
    ada.close();

    equal((await rig.api('GET', '/records/orders/o-0')).body.n, 0, 'record');
    equal((await rig.begin('order', { input: { order: 'o-9' } })).version, 2, 'the newest version starts');
}

// The newest version of the tables, as the program has it.
const NEWEST = Number(/NEWEST = (\d+)/.exec(readFileSync('src/store/db/migrate.c', 'utf8'))[1]);

async function tryStore(name, postgres) {
    const { make, load, schema } = STORES[name];
    const fresh = make(postgres), old = make(postgres);

    load(old);
    await fresh.start();
    await old.start();
    await claim(`${name}: a store of 0.1.0 has the tables that a new one gets`, async () => {
        const has = schema(old), gets = schema(fresh);
        equal(has.filter((x) => !gets.includes(x)), [], 'only in the old one');
        equal(gets.filter((x) => !has.includes(x)), [], 'only in the new one');
        check(gets.length > 100, 'there are tables');
    });
    await claim(`${name}: a new store begins with the baseline, the old one has all versions that it came by`, async () => {
        equal(fresh.sql('SELECT min(version), max(version) FROM schema_version'), [`37|${NEWEST}`], 'new');
        equal(old.sql('SELECT count(*), max(version) FROM schema_version'), [`${NEWEST}|${NEWEST}`], 'old');
    });
    await claim(`${name}: what 0.1.0 has left behind goes on`, () => goesOn(old, TOKENS[name]));
    await claim(`${name}: an earlier version is refused, with what to do`, async () => {
        await old.close();
        old.sql('DELETE FROM schema_version WHERE version >= 37');
        equal(await old.server.start(), false, 'it starts');
        check(old.server.log.includes('start the last 0.1.0 on it once'), old.server.log);
        for (let version = 37; version <= NEWEST; version++) old.sql(`INSERT INTO schema_version (version, applied_at) VALUES (${version}, 0)`);
        await old.start();
    });
    await claim(`${name}: a later version is refused`, async () => {
        await old.close();
        old.sql('INSERT INTO schema_version (version, applied_at) VALUES (1000, 0)');
        equal(await old.server.start(), false, 'it starts');
        check(old.server.log.includes('start a newer one'), old.server.log);
    });
    await fresh.close();
}

await tryStore('sqlite', null);
const postgres = await Postgres.open();
if (postgres) await tryStore('postgres', postgres);
else skip('PostgreSQL is not installed', 5);
postgres?.close();
end();
