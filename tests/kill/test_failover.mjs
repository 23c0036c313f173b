// test_failover.mjs - the PostgreSQL server of an installation fails, and its standby is promoted:
// what was acknowledged is there, work goes on, and the former server is not written to.
//
// Two servers of the test's own, the second a synchronous standby of the first.
import { join } from 'node:path';

import { check, claim, end, equal } from '../lib/claims.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { makeFolder } from '../lib/program.mjs';
import { Server, started } from '../lib/server.mjs';
import { needPostgres } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';

const CLIENTS = 8;
const waits = { code: 'waits', name: 'waits', steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }] };
const sleeps = { code: 'sleeps', name: 'sleeps', steps: [{ code: 's', procedure: { type: 'wait.timer', duration: '3s' } }] };

/** A primary, its synchronous standby, and a node whose address names both. */
class Pair {
    async open() {
        this.first = needPostgres(await Postgres.own());
        const store = this.first.fresh();
        this.database = this.first.database;
        this.second = await this.first.standby();
        this.first.ask("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
        this.first.ask('SELECT pg_reload_conf()');
        await this.isSynchronous();
        const hosts = [this.first, this.second].map(({ port }) => `127.0.0.1:${port}`).join(',');
        this.address = store.replace(/@[^/]*/, `@${hosts}`);
        this.node = new Server(join(makeFolder(), 'data'), { store: this.address });
        await started(this.node);
        await this.node.publish(waits);
        await this.node.publish(sleeps);
        return this;
    }

    isSynchronous() {
        return until('the standby is synchronous', () => this.first.ask("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").trim() === '1');
    }

    /** What psql prints for a statement to one of the two. */
    ask(server, sql) {
        return server.ask(sql, this.database).trim();
    }

    /** End whatever waits for the standby: what it has committed, it has committed alone. */
    cancelWaiting() {
        this.ask(this.first, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    }

    async close() {
        if (this.node.isRunning()) equal(await this.node.stop(), 0, this.node.log);
        this.first.close();
        this.second.close();
    }
}

/** Clients that start executions as fast as they are answered, and remember what they were answered. */
class Load {
    constructor(node) {
        this.acknowledged = new Map(); // business key to id
        this.refused = 0;
        this.lastAt = 0;
        this.isOver = false;
        this.clients = Array.from({ length: CLIENTS }, (_, i) => this.run(node, i));
    }

    async run(node, i) {
        const client = node.client();
        for (let n = 0; !this.isOver; n++) {
            const key = `c${i}-${n}`;
            const code = n % 2 ? 'waits' : 'sleeps';
            const { status, body } = await client.ask('POST', '/api/v1/executions', { code, key });
            if (status === 201) {
                this.acknowledged.set(key, body.id);
                this.lastAt = performance.now();
            } else {
                check([0, 503].includes(status), `a start was answered ${status} ${JSON.stringify(body)}`);
                this.refused++;
                await sleep(20);
            }
        }
        client.close();
    }

    async end() {
        this.isOver = true;
        await Promise.all(this.clients);
    }
}

const idsOf = (text) => new Map(text.split('\n').filter(Boolean).map((line) => line.split('|')));

async function failsOver(pair) {
    const load = new Load(pair.node);
    await until('work is under way', () => load.acknowledged.size > 300);
    const at = performance.now();
    pair.first.stop();
    const before = load.acknowledged.size;
    pair.second.promote();
    await until('work goes on', () => load.acknowledged.size > before + 50);
    const next = [...load.acknowledged].length;
    const took = performance.now() - at;
    await sleep(500);
    await load.end();
    console.log(`from the stop of the server to the 50th acknowledged start behind it: ${took.toFixed(0)} ms; ${before} before, ${next - before} then, ${load.refused} refused`);
    const stored = idsOf(pair.ask(pair.second, 'SELECT business_key, id FROM execution'));
    const lost = [...load.acknowledged].filter(([key, id]) => stored.get(key) !== id);
    equal(lost, [], 'acknowledged, and not there');
    check(took < 60000, `${took} ms`);
    await until('timers are fired', () => pair.ask(pair.second, "SELECT count(*) FROM execution WHERE waiting_kind = 'timer'") === '0');
}

await claim('PostgreSQL: a standby that is promoted under load has all that was acknowledged, and the former server is not written to', async () => {
    const pair = await new Pair().open();
    await failsOver(pair);
    // The former one comes back, without a standby, and takes writes.
    pair.first.resume();
    pair.first.ask("ALTER SYSTEM SET synchronous_standby_names = ''");
    pair.first.ask('SELECT pg_reload_conf()');
    const count = 'SELECT count(*), (SELECT max(batch_no) FROM nodes), (SELECT max(beat) FROM epochs) FROM execution';
    const former = pair.ask(pair.first, count);
    pair.second.stop();
    const answer = await pair.node.asAdmin('POST', '/executions', { code: 'waits', key: 'none' });
    equal(answer.status, 503, answer.raw);
    await until('it says why', () => pair.node.log.includes('it is not written to'));
    equal(pair.ask(pair.first, count), former, 'the former server was written to');
    // A node that starts anew knows it as well.
    await pair.node.kill();
    check(!(await pair.node.start()), 'it started on the former server');
    check(pair.node.log.includes('it is not written to'), pair.node.log);
    equal(pair.ask(pair.first, count), former, 'the former server was written to by a start');
    pair.second.resume();
    await started(pair.node);
    const after = await pair.node.asAdmin('POST', '/executions', { code: 'waits', key: 'after' });
    equal(after.status, 201, after.raw);
    equal(pair.ask(pair.second, "SELECT id FROM execution WHERE business_key = 'after'"), after.body.id);
    await pair.close();
});

await claim('PostgreSQL: a commit that its standby may not have is acknowledged when the standby has it, and not before', async () => {
    const pair = await new Pair().open();
    pair.second.stop();
    const answers = [];
    const starts = Array.from({ length: 4 }, async (_, i) => {
        const answer = await pair.node.asAdmin('POST', '/executions', { code: 'waits', key: `k${i}` });
        answers.push(answer.status);
        return answer;
    });
    for (let i = 0; i < 5; i++) { // each look of the node for what became of it waits as well
        await until('a session waits for the standby', () => pair.ask(pair.first, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' LIMIT 1") === '1');
        pair.cancelWaiting();
        await sleep(100);
    }
    equal(answers.filter((status) => status === 201), [], 'acknowledged, and the standby has it not');
    pair.second.resume();
    for (const [i, start] of (await Promise.all(starts)).entries()) {
        check([201, 503].includes(start.status), start.raw);
        if (start.status === 201) equal(pair.ask(pair.second, `SELECT id FROM execution WHERE business_key = 'k${i}'`), start.body.id);
    }
    await pair.isSynchronous();
    pair.first.stop();
    pair.second.promote();
    const again = await until('work goes on', async () => {
        const answer = await pair.node.asAdmin('POST', '/executions', { code: 'waits', key: 'again' });
        return answer.status !== 503 && answer;
    });
    equal(again.status, 201, again.raw);
    await pair.close();
});

end();
