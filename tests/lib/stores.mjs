// stores.mjs - claims against real servers, on SQLite and on PostgreSQL side by side.
//
//     claim('a message that waits is listed', async (rig) => equal((await rig.all('/outbox')).length, 1));
//     await run((rig) => rig.publish(definition));
//
// The claims on PostgreSQL are tried by a second process of the same script, so that the two
// share nothing but what the script opens for each of them.
import { execFileSync, fork } from 'node:child_process';
import { join } from 'node:path';

import { Skip, check, claim as tryClaim, counts, end, equal, skip } from './claims.mjs';
import { Postgres } from './postgres.mjs';
import { makeFolder, pawl } from './program.mjs';
import { Server, started } from './server.mjs';

const POSTGRES_MISSING = 'PostgreSQL is not installed';

const claims = [];

/** A claim that run() tries on both stores, or on the one that `only` names: 'SQLite' or 'PostgreSQL'. */
export const claim = (name, test, only = null) => claims.push({ name, test, only });

/** A server in a folder of its own, with short words for what tests ask of it. */
export class Rig {
    constructor(store = null, program = pawl, beside = null) {
        this.folder = makeFolder();
        this.store = store;
        this.server = new Server(join(this.folder, 'data'), { store, program, beside });
    }

    async start(environment = {}) {
        await started(this.server, environment);
        this.client?.close();
        this.client = this.server.client();
    }

    async restart(environment = {}) {
        await this.server.kill();
        await this.start(environment);
    }

    api(method, path, body, headers) {
        return this.client.ask(method, `/api/v1${path}`, body, headers);
    }

    publish(definition) {
        return this.server.publish(definition);
    }

    async begin(code, options = {}) {
        const answer = await this.api('POST', '/executions', { code, ...options });
        equal(answer.status, 201, answer.raw);
        return answer.body;
    }

    /** All items of a list, page by page. */
    async all(path, limit = 7) {
        const items = [];
        let cursor = null;
        do {
            const at = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
            const page = await this.api('GET', `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${at}`);
            equal(page.status, 200, page.raw);
            check(page.body.items.length <= limit, 'a page is not larger than its limit');
            items.push(...page.body.items);
            cursor = page.body.nextCursor;
        } while (cursor);
        return items;
    }

    /** Run a statement in the store behind the server's back; each row is a line, with bars between its values. */
    sql(text) {
        const file = join(this.server.data, 'pawl.db');
        const out = this.store
            ? this.postgres.run('psql', '-q', '-X', '-At', '-c', text, this.store)
            : execFileSync('sqlite3', ['-cmd', '.timeout 60000', file, text], { stdio: 'pipe' });
        return out.toString().trim().split('\n').filter(Boolean);
    }

    async close() {
        this.client?.close();
        equal(await this.server.stop(), 0, 'exit status');
    }
}

async function runStore(name, postgres, prepare, program) {
    const rig = new Rig(postgres?.fresh() ?? null, program);
    Object.assign(rig, { name, postgres });
    await rig.start();
    await prepare(rig);
    for (const { name: text, test, only } of claims) {
        if ((only && only !== name) || !text.includes(process.argv[2] ?? '')) continue;
        const began = Date.now();
        await tryClaim(`${name}: ${text}`, () => test(rig));
        if (process.env.TIMES) console.log(`${Date.now() - began} ms ${name}: ${text}`);
    }
    await rig.close();
}

/** Run this script once more, for PostgreSQL: what it said and counted is said and counted here. */
async function runBeside(postgres) {
    const env = { ...process.env, PAWL_TEST_POSTGRES: postgres.address, PAWL_TEST_STORE: 'PostgreSQL' };
    const child = fork(process.argv[1], process.argv.slice(2), { env, silent: true });
    let said = '', told = null;
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    child.on('message', (message) => (told = message));
    const code = await new Promise((done) => child.on('close', done));
    process.stdout.write(said);
    if (!told) throw new Error(`the claims on PostgreSQL ended with status ${code}`);
    for (const what of Object.keys(counts)) counts[what] += told[what];
}

/**
 * Try the claims on both stores, each with one server, and end; `program` is another one than
 * that of users. An argument of the script is a part of the names of the claims to try.
 */
export async function run(prepare, program = pawl) {
    const postgres = await Postgres.open();
    if (process.env.PAWL_TEST_STORE) {
        process.on('disconnect', () => process.exit(1)); // whoever started it is gone
        await runStore('PostgreSQL', postgres, prepare, program);
        return end();
    }
    const beside = postgres && runBeside(postgres);
    await runStore('SQLite', null, prepare, program);
    await beside;
    if (!postgres) skip(POSTGRES_MISSING, claims.filter(({ only }) => only !== 'SQLite').length);
    end();
}

/** Do `work(name, store, postgres)` for both stores side by side; what PostgreSQL is missing for is skipped. */
export async function onStores(work) {
    const postgres = await Postgres.open();
    if (!postgres) skip(POSTGRES_MISSING);
    await Promise.all([work('SQLite', null), postgres && work('PostgreSQL', postgres.fresh(), postgres)]);
}

/** The server of PostgreSQL, or the claim that asks for it is skipped. */
export function needPostgres(postgres) {
    if (!postgres) throw new Skip(POSTGRES_MISSING);
    return postgres;
}
