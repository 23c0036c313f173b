// test_kill.mjs - the server is killed under load, again and again, and loses nothing.
//
// A campaign is one store on which a server is started, loaded, killed and
// started again. After every start all that was acknowledged since the last one
// is looked at; at the end everything is brought to its end, all of it is looked
// at once more, and fold_check compares every history with its state.
//
// Each kill is one claim, and so are the two at the end of a campaign. Each kind of campaign
// happens at least once, and as often as time allows.
// KILL_ONLY=node.batch_done or =sqlite:40 or =postgres:40 runs one campaign.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';

import { amount, seed, share } from '../lib/budget.mjs';
import { end, holds } from '../lib/claims.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { sleep } from '../lib/wait.mjs';
import { foldMistakes } from './fold.mjs';
import { Load, random } from './load.mjs';

const REACH_S = 180; // a crash point that is not reached within this is never reached

let kills = 0;

const noProblem = (what, problems) => holds(problems.length === 0, [what, ...problems].join('\n    '));

class Campaign {
    constructor(name, store = null) {
        this.name = name;
        this.store = store;
        this.data = makeFolder();
        this.server = new Server(this.data, { store, program: checkProgram });
        this.load = new Load(this.server, name.replace(/[^a-z]/g, ''));
        this.kills = 0;
        this.began = Date.now();
    }

    /** Start without any crash point, and look at what was left. */
    async recover(what) {
        if (!(await this.server.start()))
            this.load.problem(`it does not start: ${this.server.code} ${this.server.log}`);
        else await this.load.settle();
        noProblem(`${this.name}: ${what}`, this.load.problems.splice(0));
    }

    async begin() {
        if (!(await this.server.start())) throw new Error(this.server.log);
        await this.load.publishAll();
    }

    /** Load it and kill it at a random moment. */
    async killAnywhere() {
        let isOver = false;
        const running = this.load.run(() => isOver);
        // Often early, while it still recovers; sometimes late.
        await sleep(random.chance(0.3) ? random.below(30) : random.below(500));
        await this.server.kill();
        isOver = true;
        await running;
        this.count();
        if (this.server.signal !== 'SIGKILL')
            this.load.problem(`it ended by itself: ${this.server.code} ${this.server.log}`);
        // A file as the kill left it, before anyone mends it.
        if (!this.store && this.kills % 5 === 0) this.foldCheck();
        await this.recover(`kill ${this.kills}`);
    }

    /** Start it so that it dies at `point`, and load it until it does. */
    async die(point, pass) {
        const end = Date.now() + REACH_S * 1000;
        if (await this.server.start({ PAWL_CRASH_AT: `${point}:${pass}` }))
            await this.load.run(() => Date.now() > end);
        if (this.server.isRunning()) this.load.problem(`${point} was not passed ${pass} times`);
        else if (this.server.signal !== 'SIGKILL')
            this.load.problem(`${point}: ended with ${this.server.code} ${this.server.log}`);
        await this.server.kill();
        this.count();
    }

    async dieAt(point) {
        const pass = somePass(point);
        await this.server.stop();
        // Somebody must have died in the middle of an execution before.
        if (point === 'start.crash_counted') await this.die('node.before_advance', 1);
        await this.die(point, pass);
        await this.recover(`${point}, pass ${pass}`);
    }

    count() {
        this.kills++;
        kills++;
    }

    foldCheck() {
        const mistakes = foldMistakes(this.store ?? this.data);
        if (mistakes) this.load.problem(mistakes);
    }

    async end() {
        await this.load.finish();
        noProblem(`${this.name}: everything ends, nothing is lost`, this.load.problems.splice(0));
        const status = await this.server.stop();
        if (status !== 0) this.load.problem(`SIGTERM ended it with ${status}: ${this.server.log}`);
        this.foldCheck();
        noProblem(`${this.name}: every history gives its state`, this.load.problems.splice(0));
        const { acknowledged, unanswered, refused, removed, executions } = this.load;
        console.log(
            `${this.name}: ${this.kills} kills, ${acknowledged} acknowledged, ` +
                `${unanswered} unanswered, ${refused} refused, ${executions.size} executions, ` +
                `${removed} deleted, ` +
                `${((Date.now() - this.began) / 1000).toFixed(1)} s`,
        );
        rmSync(this.data, { recursive: true, force: true });
    }
}

/** Whether another campaign of a kind may begin: a slow machine does fewer, and says so. */
function hasTime(name, i, first) {
    const seconds = (Date.now() - first) / 1000;
    if (i === 1 || seconds < amount('kill.seconds')) return true;
    console.log(`${name}: ${i - 1} campaigns took ${seconds.toFixed(0)} s, that is enough`);
    return false;
}

/** Campaigns of at most 20 kills each, so that the last look at everything stays short. */
async function killAnywhere(name, count, store) {
    const first = Date.now();
    for (let left = count, i = 1; left > 0 && hasTime(name, i, first); left -= 20, i++) {
        const campaign = new Campaign(`${name} ${i}`, store());
        await campaign.begin();
        for (let k = 0; k < Math.min(left, 20); k++) await campaign.killAnywhere();
        await campaign.end();
    }
}

// Keys are not rotated under this load: tests/api/test_credentials_rekey.mjs dies at those points.
const crashPoints = execFileSync('build/tests/crash_points', { encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((point) => !point.startsWith('rekey.'));

/** A pass at which to die: the first, or one under way. */
function somePass(point) {
    if (point.startsWith('start.')) return 1;
    if (/^checkpoint|carefully|publishing/.test(point)) return 1 + random.below(2);
    return 1 + random.below(40);
}

async function dieEverywhere(name, rounds, points, store) {
    const first = Date.now();
    for (let i = 1; i <= rounds && hasTime(name, i, first); i++) {
        const campaign = new Campaign(`${name} ${i}`, store());
        // Only a new store is migrated.
        if (points.includes('start.migrating')) await campaign.dieAt('start.migrating');
        else await campaign.server.start();
        await campaign.load.publishAll();
        for (const point of points) if (point !== 'start.migrating') await campaign.dieAt(point);
        await campaign.end();
    }
}

async function onSqlite(only, count, store) {
    if (!only || only === 'sqlite')
        await killAnywhere('sqlite', Number(count ?? amount('kill.sqlite')), store);
    if (!only || only === 'points')
        await dieEverywhere('sqlite points', Number(count ?? amount('kill.sqlite_rounds')), crashPoints, store);
}

async function onPostgres(only, count, points, store) {
    if (!only || only === 'postgres')
        await killAnywhere('postgres', Number(count ?? amount('kill.postgres')), store);
    if (!only) await dieEverywhere('postgres points', amount('kill.postgres_rounds'), share('kill.points', points), store);
}

const began = Date.now();
const [only, count] = (process.env.KILL_ONLY ?? '').split(':');
if (crashPoints.includes(only)) await dieEverywhere('sqlite points', Number(count ?? 1), [only], () => null);
else {
    const shared = crashPoints.filter((point) => !/^checkpoint|carefully/.test(point));
    // The stores beside each other: while one syncs, the other computes.
    await onStores((name, store, postgres) => store
        ? onPostgres(only, count, shared, () => postgres.fresh())
        : onSqlite(only, count, () => null));
}
console.log(`${kills} kills in ${((Date.now() - began) / 1000).toFixed(0)} s, seed ${seed}`);
end();
