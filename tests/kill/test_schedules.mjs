// Schedules while the server is killed at every step of a tick, and at any moment, on both stores:
// no tick is lost or doubled.
//
// The clock stands still and is moved by hand, a quarter of an hour in each round.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Postgres } from './postgres.mjs';
import { Server, sleep, until } from './server.mjs';

const POINTS = [
    'node.before_advance', 'node.after_advance', 'node.before_submit', 'node.after_submit', 'node.batch_done',
    'node.between_answers', 'node.after_answers', 'writer.begun', 'writer.member', 'writer.before_commit', 'writer.committed',
];
const PASSES = [1, 2, 5];
const RANDOM_ROUNDS = 12;
const MINUTE_MS = 60000;
const START_MS = Date.parse('2031-01-01T00:00:00Z');

let passed = 0;
let failed = 0;

function check(what, found, wanted) {
    if (JSON.stringify(found) === JSON.stringify(wanted)) passed++;
    else {
        failed++;
        console.log(`FAILED: ${what}: ${JSON.stringify(found).slice(0, 300)}, wanted ${JSON.stringify(wanted).slice(0, 300)}`);
    }
}

const iso = (ms) => new Date(ms).toISOString().replace('.000', '');
const nightly = {
    code: 'nightly',
    settings: { key: '{{ $.input.which }} {{ $.input.at }}' },
    triggers: [['* * * * *', 'minute'], ['*/5 * * * *', 'five'], ['0 * * * *', 'hour']].map(([cron, which]) => ({
        type: 'schedule', cron, catchUp: 'all', input: { which, at: '$.schedule.at' },
    })),
    steps: [{ code: 'keep', procedure: { type: 'compute.transform', data: 1 } }],
};

class World {
    constructor(server, folder) {
        this.server = server;
        this.clock = join(folder, 'clock');
        this.now = START_MS;
        this.deaths = 0;
        this.setClock();
    }

    setClock() {
        writeFileSync(this.clock, `@${this.now * 1000}`);
    }

    async start(environment = {}) {
        const up = await this.server.start({ PAWL_CLOCK_FILE: this.clock, ...environment });
        this.client?.close();
        if (up) this.client = this.server.client();
        return up;
    }

    async ask(method, path, body) {
        if (!this.server.isRunning()) {
            this.deaths++;
            await this.start();
        }
        const answer = await this.client.ask(method, `/api/v1${path}`, body);
        return answer.status === 0 || answer.status === 503 ? null : answer;
    }

    /** Until all that is due has started. */
    settle() {
        return until('nothing is due', async () => {
            const answer = await this.ask('GET', '/schedules');
            return answer?.body.items.length === 3 && answer.body.items.every((s) => s.nextAt > iso(this.now));
        });
    }

    async keys() {
        const keys = [];
        for (let cursor = ''; cursor !== null;) {
            const answer = await this.ask('GET', `/executions?code=nightly&limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
            if (answer === null) continue;
            keys.push(...answer.body.items.map((x) => x.key));
            cursor = answer.body.nextCursor;
        }
        return keys.sort();
    }

    expected() {
        const keys = [];
        for (let t = START_MS + MINUTE_MS; t <= this.now; t += MINUTE_MS) {
            const minute = (t / MINUTE_MS) % 60;
            keys.push(`minute ${iso(t)}`);
            if (minute % 5 === 0) keys.push(`five ${iso(t)}`);
            if (minute === 0) keys.push(`hour ${iso(t)}`);
        }
        return keys.sort();
    }
}

/** A quarter of an hour passes while `harm` is done. */
async function round(world, name, environment, harm) {
    await world.server.kill();
    world.now += 15 * MINUTE_MS;
    world.setClock();
    await world.start(environment);
    await harm?.();
    await world.settle();
    // It is true also for a server that has seen nothing of it.
    await world.server.kill();
    await world.start();
    await world.settle();
    check(`${name}: each tick has started once`, await world.keys(), world.expected());
}

async function runStore(name, url) {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-schedules-'));
    const world = new World(new Server(join(folder, 'data'), url), folder);
    await world.start();
    await world.ask('PUT', '/scenarios/nightly/draft', nightly);
    const published = await world.ask('POST', '/scenarios/nightly/publish');
    check(`${name}: published`, published?.status, 200);
    for (const point of POINTS)
        for (const passes of PASSES) await round(world, `${name}, ${point}:${passes}`, { PAWL_CRASH_AT: `${point}:${passes}` });
    check(`${name}: the server has died of most of it`, world.deaths > POINTS.length, true);
    for (let i = 0; i < RANDOM_ROUNDS; i++)
        await round(world, `${name}, killed after ${i} ms`, {}, async () => {
            await sleep(i);
            await world.server.kill();
        });
    world.client.close();
    await world.server.kill();
    rmSync(folder, { recursive: true, force: true });
}

const postgres = await Postgres.open();
await runStore('SQLite', null);
if (postgres) await runStore('PostgreSQL', postgres.fresh());
postgres?.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
