// Requests of every kind that docs/openapi.yaml can be turned into, by every role of two organisations,
// against a server with sanitizers: none ends it, none is answered with 5xx but 503, none takes long,
// every answer is one that the document describes, memory stays what it was, and a request that is
// refused has changed nothing in the store.
//
// The world is that of walk.mjs, whose requests are also what the random ones are made from.
// PAWL_SEED=N repeats or changes what is sent; PAWL_CASES=N says how many to each store.
//
// (why: decision 0447)
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { parse } from 'yaml';

import { amount, Random, seed } from '../lib/budget.mjs';
import { counts, end, holds } from '../lib/claims.mjs';
import { makeFolder } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { Caller } from './caller.mjs';
import { Doc } from './document.mjs';
import { Fuzzer } from './fuzzer.mjs';
import { Ids } from './ids.mjs';
import { judge, printable } from './judge.mjs';
import { changedRows, storedRows } from './rows.mjs';
import { walks } from './walk.mjs';
import { Wire, requestBytes } from './wire.mjs';

const program = resolve(process.env.PAWL_FUZZED ?? 'build/asan/pawl-check');
const count = Number(process.env.PAWL_CASES ?? amount('fuzz.requests'));
const slowMs = amount('fuzz.answer_ms');
const EPOCH = 10000; // requests to one server, at most
const ROUND = 1000; // requests after which those that were refused are sent again
const AGAIN_MAX = 300; // of a round
const [FRESH_GROUPS, FRESH_GROUP] = [2, 30]; // of a round: new ones that must be refused
const WIDTH = 6;
const SHOWN = Number(process.env.PAWL_SHOWN ?? 15);
const MEMORY_MB = 96; // what a server may grow by between the first third of its requests and the last
const BUSY_SHARE = 0.02; // of answers that may be 503
const GOOD_SHARE = 0.2; // of requests as the document wants them that must be accepted
// Freed memory is given back soon, so that what grows is what is held.
const ASAN = 'quarantine_size_mb=4:malloc_context_size=5:allocator_release_to_os_interval_ms=200';

const written = parse(readFileSync('docs/openapi.yaml', 'utf8'));
const doc = new Doc(written);

/** Of requests that fail in the same way a thousand times the first say enough. */
function told(ok, text) {
    if (!ok && counts.failed >= SHOWN) counts.failed++;
    else holds(ok, text);
}

/** Remembers what was accepted: the bodies, and what the answers tell to exist. */
class Recorder extends Caller {
    async call(id, request = {}, wanted = null) {
        const answer = await super.call(id, request, wanted);
        if (answer.status >= 300 || !this.ids) return answer; // a walk may make another one of these
        this.ids.learn('own', doc.byId.get(id), request.path ?? {}, answer.json);
        const { body } = request;
        if (typeof body === 'object' && !Buffer.isBuffer(body)) this.seeds.set(id, [...(this.seeds.get(id) ?? []).slice(-30), body]);
        return answer;
    }
}

class Campaign {
    constructor(name, store, postgres, random) {
        Object.assign(this, { name, store, postgres, random });
        this.statuses = new Map();
        this.sent = this.good = this.accepted = this.busy = this.again = this.fresh = 0;
        this.slowest = { ms: 0 };
    }

    /** A server with a world in it, and the actors. */
    async open() {
        this.clock = join(makeFolder(), 'clock');
        writeFileSync(this.clock, '0');
        const env = { PAWL_CLOCK_FILE: this.clock, ASAN_OPTIONS: ASAN };
        this.server = await startServer({ store: this.store, program, args: ['--http-allow', '127.0.0.0/8'], env });
        this.ids = new Ids(doc, this.random);
        this.seeds = new Map();
        this.api = Object.assign(new Recorder(this.server.url, this.server.token, doc), { ids: this.ids, seeds: this.seeds });
        const { id } = (await this.api.call('getMe', {}, 200)).json;
        for (const token of (await this.api.call('listTokens', { path: { id } }, 200)).json.items) this.ids.taboo.add(token.id);
        this.ids.taboo.add(id);
        for (const walk of walks) await walk(this.api, () => {});
        this.fuzzer = new Fuzzer(doc, this.random, this.ids, this.seeds);
        this.refused = [];
        await this.makeActors();
    }

    /** Everybody who may ask: nobody, and each role in each of two organisations. */
    async makeActors() {
        this.actors = [{ org: 'own', role: null, token: null }];
        this.otherOrg ??= '00000000-0000-7000-8000-0000000000aa';
        for (const org of ['own', 'other'])
            for (const role of written.components.schemas.Role.enum) {
                const body = { name: `fuzzing ${role} ${++this.made}`, role, skill_level: 9, ...(org === 'other' ? { org_id: this.otherOrg } : {}) };
                const answer = await this.api.send('POST', '/api/v1/users', { body });
                if (answer.status !== 201) throw new Error(`no actor: ${answer.status} ${answer.raw}`);
                this.ids.taboo.add(answer.json.id);
                const weight = role === 'admin' ? 6 : role === 'operator' || role === 'lead' ? 2 : 1;
                for (let i = 0; i < weight; i++) this.actors.push({ org, role, token: answer.json.token });
            }
    }

    made = 0;

    bytes(made) {
        const headers = [['Host', 'localhost']];
        if (made.actor.token && !made.headers.some(([name]) => name === 'Authorization')) headers.push(['Authorization', `Bearer ${made.actor.token}`]);
        if (made.body) headers.push(['Content-Length', made.body.length]);
        headers.push(...made.headers);
        return requestBytes(made.method, made.target, headers, made.body);
    }

    async timed(wire, bytes, isHead) {
        const began = performance.now();
        const answer = await wire.send(bytes, { isHead });
        return { answer, ms: performance.now() - began };
    }

    /** Send one request and look at its answer; one that was slow is sent once more, since the machine may have been. */
    async sendOne(wire, made) {
        const bytes = this.bytes(made);
        const isHead = made.method === 'HEAD';
        const { answer, ms } = await this.timed(wire, bytes, isHead);
        const wrong = judge(doc, made, bytes, answer);
        const who = `${made.actor.role} of ${made.actor.org}`;
        told(!wrong, `${this.name}: ${made.kind}, ${made.operation.id} by ${who}: ${wrong}\n  sent ${printable(bytes)}\n  got ${answer.status} ${answer.raw.slice(0, 300)}`);
        const again = ms > slowMs && this.server.isRunning() ? (await this.timed(wire, bytes, isHead)).ms : 0;
        told(again <= slowMs, `${this.name}: ${made.operation.id} took ${ms | 0} ms and ${again | 0} ms\n  sent ${printable(bytes)}`);
        if (ms > this.slowest.ms) this.slowest = { ms, what: `${made.operation.id} (${made.kind})` };
        this.note(made, bytes, answer);
    }

    note(made, bytes, answer) {
        this.sent++;
        this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
        this.busy += answer.status === 503;
        const mayDo = made.isGood === true && !made.isRefused;
        this.good += mayDo;
        this.accepted += mayDo && answer.status < 300;
        if (answer.status < 300 && !made.isElsewhere) this.ids.learn(made.actor.org, made.operation, made.path ?? {}, answer.json);
        const isChange = !['GET', 'HEAD'].includes(made.method) && answer.status >= 400 && answer.status < 500;
        if (isChange && this.refused.length < AGAIN_MAX) this.refused.push({ made, bytes });
    }

    /** Requests by everybody, several at a time. */
    async wild(left) {
        await Promise.all(Array.from({ length: WIDTH }, async () => {
            const wire = new Wire(this.server.url);
            while (left > 0 && this.server.isRunning()) {
                const made = this.fuzzer.nextBy(this.actors);
                if (!made) continue;
                left--;
                await this.sendOne(wire, made);
            }
            wire.close();
        }));
    }

    /** The rows of the store when nothing is in flight any more. The clock stands still meanwhile. */
    async settledRows() {
        let rows = storedRows(this.server, this.postgres);
        await until('nothing changes any more', async () => {
            await sleep(200);
            const before = rows;
            rows = storedRows(this.server, this.postgres);
            return changedRows(before, rows) === '';
        });
        return rows;
    }

    /**
     * What was refused is sent again, with nobody else there. What is refused again must have changed
     * nothing; what is accepted now says nothing, and the rest is tried without it.
     */
    async refusedAgain() {
        writeFileSync(this.clock, `@${Date.now() * 1000}`);
        // A token says when it was used last: with a clock that stands still only once.
        for (const token of new Set(this.actors.map((actor) => actor.token))) await this.api.send('GET', '/api/v1/me', { token });
        for (let i = 0; i < FRESH_GROUPS && this.server.isRunning(); i++) await this.refusedFresh();
        for (let rest = this.refused; rest.length > 0 && this.server.isRunning();) {
            const before = await this.settledRows();
            const still = [];
            for (const one of rest) if (await this.isRefusedAgain(one)) still.push(one);
            this.again += still.length;
            const changed = changedRows(before, await this.settledRows());
            if (still.length === rest.length) {
                if (changed) await this.blame(rest, changed);
                else told(true);
                break;
            }
            rest = still;
        }
        this.refused = [];
        writeFileSync(this.clock, '0');
    }

    /** New requests that cannot be done: what the first of its kind would leave behind is seen here alone. */
    async refusedFresh() {
        const before = await this.settledRows();
        const group = [];
        while (group.length < FRESH_GROUP) {
            const made = this.fuzzer.nextRefused(this.actors);
            if (made) group.push({ made, bytes: this.bytes(made) });
        }
        for (const one of group) one.isRefused = await this.isRefusedAgain(one);
        if (!group.every(({ isRefused }) => isRefused)) return; // what was created says nothing
        this.fresh += group.length;
        const changed = changedRows(before, await this.settledRows());
        told(!changed, `${this.name}: one of these was refused and has changed\n${changed}\n  ${group.map(({ made }) => `${made.method} ${made.target.slice(0, 80)}`).join(', ')}`);
    }

    async isRefusedAgain({ made, bytes }) {
        const wire = new Wire(this.server.url);
        const { status } = await wire.send(bytes, { isHead: made.method === 'HEAD' });
        wire.close();
        return status >= 400;
    }

    /** Which of the requests it was that changed something: the half that does so again, and so on. */
    async blame(all, changed) {
        let [suspects, seen] = [all, changed];
        while (suspects.length > 1) {
            const half = suspects.slice(0, suspects.length / 2);
            const found = await this.changedBy(half);
            suspects = found ? half : suspects.slice(suspects.length / 2);
            seen = found || seen;
        }
        const [{ made, bytes }] = suspects;
        const alone = await this.changedBy(suspects);
        told(false, `${this.name}: ${made.operation.id} (${made.kind}) was refused ${alone ? 'and' : 'and perhaps'} has changed\n${alone || seen}\n  sent ${printable(bytes)}`);
    }

    async changedBy(requests) {
        const before = await this.settledRows();
        for (const one of requests) await this.isRefusedAgain(one);
        return changedRows(before, await this.settledRows());
    }

    async run(left) {
        await this.open();
        let early = 0;
        const third = left / 3;
        for (let done = 0; done < left && this.server.isRunning(); done += ROUND) {
            await this.wild(Math.min(ROUND, left - done));
            if (!this.server.isRunning()) break;
            if (done <= third) early = this.server.memoryMb();
            await this.refusedAgain();
            await this.makeActors();
        }
        await this.close(early);
    }

    async close(early) {
        told(this.server.isRunning(), `${this.name}: the server lives: ${this.server.code} ${this.server.signal} ${this.server.log.slice(-6000)}`);
        if (!this.server.isRunning()) return;
        const late = this.server.memoryMb();
        told(late - early <= MEMORY_MB, `${this.name}: memory grew from ${early | 0} to ${late | 0} MB`);
        told(!/"level":"error"|a request failed/.test(this.server.log), `${this.name}: the log has no errors: ${this.server.log.match(/.*("level":"error"|a request failed).*/)?.[0].slice(0, 1000)}`);
        this.memory = [...(this.memory ?? []), `${early | 0} to ${late | 0} MB`];
        this.api.close();
        const status = await this.server.stop();
        told(status === 0, `${this.name}: the server ends with ${status}: ${this.server.log.slice(-3000)}`);
    }

    finish() {
        told(this.busy <= BUSY_SHARE * this.sent, `${this.name}: ${this.busy} of ${this.sent} answers were 503`);
        told(this.accepted >= GOOD_SHARE * this.good, `${this.name}: only ${this.accepted} of ${this.good} good requests were accepted`);
        told(this.again > 0 && this.fresh > 0, `${this.name}: requests were refused while nobody else was there: ${this.again}, ${this.fresh}`);
        console.log(`${this.name}: ${this.sent} requests, ${[...this.statuses].sort().map(([status, n]) => `${n} of ${status}`).join(', ')}; ${this.accepted} of ${this.good} good ones accepted; ` +
            `${this.again} refused again, ${this.fresh} fresh ones; slowest ${this.slowest.ms | 0} ms, ${this.slowest.what}; memory ${this.memory}`);
    }
}

async function check(name, store, postgres) {
    const random = new Random(seed ^ (store ? 0x5bd1e995 : 0));
    const campaign = new Campaign(name, store, postgres, random);
    for (let left = count; left > 0; left -= EPOCH) {
        if (left !== count && store) campaign.store = postgres.fresh();
        await campaign.run(Math.min(left, EPOCH));
    }
    campaign.finish();
}

await onStores(check);
console.log(`seed ${seed}, ${count} requests to each store; PAWL_SEED=${seed} repeats them`);
end();
