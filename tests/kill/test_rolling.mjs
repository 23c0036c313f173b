// test_rolling.mjs - two versions of the program on one PostgreSQL database while nodes are
// replaced: what either begins, the other goes on with, and nothing is lost when one stops or dies.
//
// The other version is built from the history of this repository (`make test-full`), or is the
// program that PAWL_PREVIOUS names.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';

import { check, claim, end, equal, skip } from '../lib/claims.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { makeFolder, pawl } from '../lib/program.mjs';
import { Server, started } from '../lib/server.mjs';
import { needPostgres } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const EACH = 40; // executions of each kind at each node
const OVER_S = 60;

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** The commits to be beside: the last one that changed the program, and the last with older tables. */
function formerCommits() {
    try {
        const program = git('log', '-1', '--format=%H', 'HEAD~1', '--', 'src');
        const tables = git('log', '-1', '--format=%H', '--', 'src/store/db/migrate.c');
        return [...new Set([program, git('rev-parse', `${tables}~1`)])].filter(Boolean);
    } catch {
        return []; // a copy without history, or of the newest commit alone
    }
}

function build(commit) {
    const folder = makeFolder();
    execFileSync('sh', ['-c', `git archive ${commit} | tar -x -C "$0"`, folder], { stdio: 'pipe' });
    execFileSync('make', ['-j2', 'PAWL_UI=none', 'build/pawl'], { cwd: folder, stdio: 'pipe', maxBuffer: 1 << 28, env: { PATH: process.env.PATH, HOME: process.env.HOME, CCACHE_DIR: process.env.CCACHE_DIR ?? '' } });
    return join(folder, 'build/pawl');
}

/** Programs to be beside, each with its name; none where there is nothing to build them of. */
function formerPrograms() {
    if (process.env.PAWL_PREVIOUS) return [[process.env.PAWL_PREVIOUS, resolve(process.env.PAWL_PREVIOUS)]];
    if (!process.env.PAWL_TEST_FULL) return skip('the version before is built by `make test-full`, or named by PAWL_PREVIOUS'), [];
    const commits = formerCommits();
    if (commits.length === 0) skip('there is no history to build the version before of');
    return commits.map((commit) => [commit.slice(0, 10), build(commit)]);
}

/** A service that counts the keys it was called with. */
class Service {
    async open() {
        this.keys = new Map();
        this.server = createServer((request, response) => {
            const key = request.headers['idempotency-key'];
            this.keys.set(key, (this.keys.get(key) ?? 0) + 1);
            setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"n":1}'), 5);
        });
        await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
        this.url = `http://127.0.0.1:${this.server.address().port}/`;
        return this;
    }
}

const log = (code) => ({ code, procedure: { type: 'log', message: 'done' } });
const definitions = (url) => [
    { code: 'r_waits', steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }, log('l')] },
    { code: 'r_sleeps', steps: [{ code: 's', procedure: { type: 'wait.timer', duration: '2s' } }, log('l')] },
    { code: 'r_calls', steps: [{ code: 's', procedure: { type: 'wait.timer', duration: '1s' } }, { code: 'c', procedure: { type: 'integration.http', method: 'POST', url }, retry: { maxAttempts: 20, delay: '50ms', backoff: 1 } }, log('l')] },
    { code: 'r_works', steps: [{ code: 'j', procedure: 'rolling.work', retry: { maxAttempts: 20, delay: '50ms', backoff: 1 } }, log('l')] },
    { code: 'r_child', steps: [{ code: 's', procedure: { type: 'wait.timer', duration: '500ms' } }] },
    { code: 'r_parent', steps: [{ code: 'c', procedure: { type: 'flow.start', code: 'r_child', wait: true } }, log('l')] },
    { code: 'r_fails', steps: [{ code: 'a', procedure: { type: 'log', message: 'a' }, rollback: { type: 'log', message: 'undone' } }, { code: 's', procedure: { type: 'wait.timer', duration: '1s' } }, { code: 'f', procedure: { type: 'compute.fail', code: 'no', message: 'm' }, retry: { maxAttempts: 1 } }] },
].map((definition) => ({ name: definition.code, ...definition }));

const KINDS = ['r_waits', 'r_sleeps', 'r_calls', 'r_works', 'r_parent', 'r_fails'];

class Upgrade {
    async open(program) {
        this.store = needPostgres(postgres).fresh();
        this.database = postgres.database;
        this.folder = makeFolder();
        this.begun = [];
        this.service = await new Service().open();
        this.old = await started(this.node('old', program));
        for (const definition of definitions(this.service.url)) await this.old.publish(definition);
        return this;
    }

    node(name, program, beside = null) {
        return new Server(join(this.folder, name), { store: this.store, program, beside });
    }

    async add() {
        this.next = await started(this.node('next', pawl, this.old));
        await until('shards are spread', () => this.ask('SELECT count(*) FROM shards GROUP BY epoch ORDER BY 1') === '128\n128');
    }

    ask(sql) {
        return postgres.ask(sql, this.database).trim();
    }

    async begin(node) {
        for (const code of KINDS)
            for (let i = 0; i < EACH; i++) {
                const answer = await node.asAdmin('POST', '/executions', { code });
                equal(answer.status, 201, answer.raw);
                this.begun.push({ id: answer.body.id, code });
            }
    }

    /** Send the signal of each that waits for one. */
    async signal(node, ids) {
        for (const { id } of ids) equal((await node.asAdmin('POST', `/executions/${id}/signal`, { type: 'go' })).status, 202);
    }

    /** Claim and complete jobs until there are none. */
    async work(node) {
        for (;;) {
            const { status, body } = await node.asAdmin('POST', '/jobs/claim', { types: ['rolling.work'], max: 50, lease: '60s', worker: 'w' });
            equal(status, 200);
            if (body.items.length === 0) return;
            for (const job of body.items) equal((await node.asAdmin('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: {} })).status, 200, JSON.stringify(job));
        }
    }

    async allEnd(node) {
        await until('everything ends', async () => {
            await this.work(node);
            return this.ask("SELECT count(*) FROM execution WHERE status NOT IN ('completed', 'failed', 'cancelled')") === '0';
        }, OVER_S * 3);
        for (const { id, code } of this.begun) {
            const { body } = await node.asAdmin('GET', `/executions/${id}`);
            equal(body.status, code === 'r_fails' ? 'failed' : 'completed', JSON.stringify(body));
        }
        equal(this.ask("SELECT count(*) FROM dead_letters"), '0', 'dead letters');
    }

    close() {
        this.service.server.closeAllConnections();
        this.service.server.close();
    }
}

const postgres = await Postgres.open();
const waiting = (upgrade, from, to) => upgrade.begun.filter(({ code }) => code === 'r_waits').slice(from, to);

for (const [name, program] of formerPrograms()) {
    await claim(`PostgreSQL: beside ${name}, either version goes on with what the other began, and the old one stops`, async () => {
        const upgrade = await new Upgrade().open(program);
        await upgrade.begin(upgrade.old);
        await upgrade.add();
        await upgrade.begin(upgrade.next);
        await upgrade.begin(upgrade.old);
        await upgrade.signal(upgrade.old, waiting(upgrade, EACH, EACH + 20));
        await upgrade.signal(upgrade.next, waiting(upgrade, 0, 20));
        await upgrade.work(upgrade.old);
        equal(await upgrade.old.stop(), 0, upgrade.old.log);
        await upgrade.signal(upgrade.next, [...waiting(upgrade, 20, EACH), ...waiting(upgrade, EACH + 20)]);
        await upgrade.allEnd(upgrade.next);
        equal([...upgrade.service.keys.values()].filter((n) => n > 1), [], 'calls that were made twice');
        equal(await upgrade.next.stop(), 0, upgrade.next.log);
        check(!/ERROR/.test(upgrade.old.log + upgrade.next.log), upgrade.old.log + upgrade.next.log);
        upgrade.close();
    });

    await claim(`PostgreSQL: beside ${name}, the old version goes on with what a new node had that was killed`, async () => {
        const upgrade = await new Upgrade().open(program);
        await upgrade.add();
        await upgrade.begin(upgrade.next);
        await upgrade.begin(upgrade.old);
        await upgrade.next.kill();
        await upgrade.signal(upgrade.old, waiting(upgrade, 0));
        await until('its shards are taken', () => upgrade.ask('SELECT count(DISTINCT epoch) FROM shards') === '1', OVER_S);
        await upgrade.allEnd(upgrade.old);
        equal(await upgrade.old.stop(), 0, upgrade.old.log);
        upgrade.close();
    });
}

end();
