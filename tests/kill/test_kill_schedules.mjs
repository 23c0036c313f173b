// Schedules while the server is killed at every step of a tick, and at any moment, on both stores:
// no tick is lost or doubled.
//
// The clock stands still and is moved by hand, a quarter of an hour in each round.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { amount, share } from '../lib/budget.mjs';
import { end, same } from '../lib/claims.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';

const POINTS = [
    'node.before_advance', 'node.after_advance', 'node.before_submit', 'node.after_submit', 'node.batch_done',
    'node.between_answers', 'node.after_answers', 'writer.begun', 'writer.member', 'writer.before_commit', 'writer.committed',
];
const PASSES = [1, 2, 5];
const RANDOM_ROUNDS = amount('schedules.kills');
const MINUTE_MS = 60000;
const START_MS = Date.parse('2031-01-01T00:00:00Z');

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
    constructor(server) {
        this.server = server;
        this.clock = join(makeFolder(), 'clock');
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
    same(`${name}: each tick has started once`, await world.keys(), world.expected());
}

async function runStore(name, url) {
    const world = new World(new Server(makeFolder(), { store: url, program: checkProgram }));
    await world.start();
    await world.ask('PUT', '/scenarios/nightly/draft', nightly);
    const published = await world.ask('POST', '/scenarios/nightly/publish');
    same(`${name}: published`, published?.status, 200);
    const deaths = share('schedules.points', POINTS.flatMap((point) => PASSES.map((pass) => `${point}:${pass}`)));
    for (const death of deaths) await round(world, `${name}, ${death}`, { PAWL_CRASH_AT: death });
    same(`${name}: the server has died of most of it`, world.deaths > deaths.length / 3, true);
    for (let i = 0; i < RANDOM_ROUNDS; i++)
        await round(world, `${name}, killed after ${i} ms`, {}, async () => {
            await sleep(i);
            await world.server.kill();
        });
    world.client.close();
    await world.server.kill();
}

await onStores(runStore);
end();
