// drive.mjs - the rows of the suite through HTTP, side by side in one server.
//
// The engine has played every row before and left a trace: where each event and
// each timer on the way brought the execution. All rows share the server's
// clock, which stands still between the moments of the traces. At each of them
// every row that has something to do there does it; then it must come to rest
// where the engine did, and in the end it must look the same to a client: its
// state, its history, every time and every key. What differs is only who did
// it and the ids.
//
// With kills, the server is killed after every such round and started again.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { holds, skip } from '../lib/claims.mjs';
import { forAll } from '../lib/client.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const FOLDER = 'tests/conformance/cases';
const ENGINE = process.env.CONFORMANCE_ENGINE ?? 'build/tests/test_conformance_engine';
const START_US = Date.parse('2026-01-01T00:00:00Z') * 1000;
const REST_S = 180; // an execution that has not come to rest by then never will
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Ends at once; when it was created is what the server takes for now. */
const CLOCK = { code: 'conf_clock', steps: [] };

/** All rows share the server: external procedures are named so that no row does another's jobs. */
const EXTERNAL = /"((?:crm|bank)\.[a-z_0-9]+?)"/g;
const withOwnTypes = (row, i) => JSON.parse(JSON.stringify(row).replace(EXTERNAL, `"$1__${i}"`));
const typesOf = (row) => [...JSON.stringify(row).matchAll(/"((?:crm|bank)\.[a-z_0-9]+?__\d+)"/g)].map(([, type]) => type);

const kindOf = (definition) => (definition.states ? 'machine' : 'scenario');

/** The rows with what the engine made of them. */
export function readRows() {
    const folder = makeFolder();
    const trace = join(folder, 'trace');
    try {
        execFileSync(ENGINE, { env: { ...process.env, CONFORMANCE_TRACE: trace }, stdio: 'pipe' });
    } catch {
        // Rows that failed there fail in its own count.
    }
    const traces = new Map();
    for (const line of readFileSync(trace, 'utf8').trim().split('\n')) {
        const one = JSON.parse(line);
        traces.set(one.name, one);
    }
    return readdirSync(FOLDER)
        .filter((file) => file.endsWith('.json'))
        .sort()
        .flatMap((file) =>
            JSON.parse(readFileSync(join(FOLDER, file), 'utf8')).map((row) => ({ file, row })),
        )
        .map(({ file, row: written }, i) => {
            const row = withOwnTypes(written, i);
            const name = `${file.replace('.json', '')}: ${row.rule}`;
            return { name, row, trace: traces.get(name), code: row.definition.code ?? `row_${i}` };
        })
        .filter(({ name }) => name.includes(process.env.CONFORMANCE_ONLY ?? ''));
}

// --- what clients see ---

/** Without what may differ: who, and ids. */
function normal(value, id) {
    if (typeof value === 'string')
        return value.replaceAll(id, 'ID').replace(UUID, 'UUID').replace(/__\d+/g, '');
    if (Array.isArray(value)) return value.map((item) => normal(item, id));
    if (value === null || typeof value !== 'object') return value;
    // What a server says about workers is no part of the state.
    const said = value.kind === 'job' ? ['reason', 'jobId', 'leaseUntil'] : [];
    return Object.fromEntries(
        Object.entries(value)
            .filter(([name]) => name !== 'user' && !said.includes(name))
            .map(([name, item]) =>
                name === 'by' && item !== null ? [name, 'someone'] : [name, normal(item, id)],
            ),
    );
}

/** Rows of history, whose ids are made of that of the execution. */
const rows = (steps, id) => normal(steps, id).map((row) => ({ ...row, id: 'ROW' }));

const isTime = (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

/** The first difference as a text, or null. */
function difference(path, wanted, is, withTimes) {
    if (!withTimes && isTime(wanted) && isTime(is)) return null;
    if (wanted !== null && is !== null && typeof wanted === 'object' && typeof is === 'object') {
        for (const name of new Set([...Object.keys(wanted), ...Object.keys(is)])) {
            const found = difference(`${path}.${name}`, wanted[name], is[name], withTimes);
            if (found) return found;
        }
        return null;
    }
    if (Object.is(wanted, is)) return null;
    const text = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 500);
    return `${path}: the engine has ${text(wanted)}, the server ${text(is)}`;
}

/** All pages of a list. */
async function all(client, path) {
    const items = [];
    let cursor = '';
    do {
        const { body } = await client.ask('GET', `/api/v1${path}limit=500${cursor}`);
        items.push(...body.items);
        cursor = body.nextCursor ? `&cursor=${encodeURIComponent(body.nextCursor)}` : '';
    } while (cursor);
    return items;
}

/** Dead letters, the oldest first, without what the engine alone does not know. */
const letters = (items, id) =>
    normal(items, id).map(({ kind, step, attempts, cause }) => ({ kind, step, attempts, cause }));

// --- one row ---

/** Jobs that were claimed and not answered, by their idempotency key: all rows share the server. */
const claimed = new Map();
let claiming = Promise.resolve();

/** Calls that a row needs and a server may not have. */
const CALLS = {
    retry: '/api/v1/executions/{id}/retry',
    skip: '/api/v1/executions/{id}/skip',
    migrate: '/api/v1/executions/{id}/migrate',
    registry: '/api/v1/procedures/{code}/draft',
    answer: '/api/v1/jobs/{jobId}/complete',
};

class Run {
    constructor({ name, row, trace, code }) {
        this.name = name;
        this.row = row;
        this.trace = trace;
        this.code = code;
        // Where times are drawn by lot, the engine's timers say nothing about ours.
        this.points = (trace?.points ?? []).filter(
            ({ event }) => event >= 0 || row.times !== false,
        );
        this.problem = trace ? null : 'the engine could not play it';
    }

    fail(text) {
        this.problem ??= text;
        this.points = [];
    }

    async publish(client, definition, kind = `${kindOf(definition)}s`) {
        const whole = { code: this.code, ...definition };
        const path = `/api/v1/${kind}/${whole.code}`;
        const draft = await client.ask('PUT', `${path}/draft`, whole);
        const answer =
            draft.status === 200 ? await client.ask('POST', `${path}/publish`, {}) : draft;
        if (answer.status !== 200) this.fail(`publishing: ${JSON.stringify(answer.body)}`);
    }

    async prepare(client) {
        if (this.problem) return;
        const { definition, others = [], registry = [], events = [] } = this.row;
        const whole = { code: 'row', ...definition };
        if (this.row.findings) {
            const { body } = await client.ask('POST', '/api/v1/validate', {
                kind: kindOf(whole),
                definition: whole,
            });
            // The server was sent a text and says where in it; the engine was given a value.
            const errors = (body.errors ?? []).map(({ place, ...error }) => error);
            const found = difference('findings', this.trace.findings, errors, true);
            if (found) this.fail(found);
        }
        if (events.length === 0) return;
        for (const procedure of registry) await this.publish(client, procedure, 'procedures');
        for (const other of others) await this.publish(client, other);
        await this.publish(client, definition);
    }

    /** What is sent for an event: [path, body], or null. */
    request(event, number) {
        const [[name, body]] = Object.entries(event);
        const path = `/api/v1/executions/${this.id}/${name}`;
        if (name === 'pass' || name === 'child') return null;
        if (name === 'start') return ['/api/v1/executions', { code: this.code, input: body }];
        if (name === 'signal') return [path, { id: `s${number}`, ...body }];
        if (name === 'resolve') return [`/api/v1/dlq/${this.letter}/resolve`, { note: 'x', ...body }];
        return [path, body];
    }

    async act(client, point) {
        const event = this.row.events[point.event];
        if (event?.publish) return this.publish(client, event.publish);
        if (event?.answer) return this.answer(client, event.answer, point);
        if (event?.resolve) this.letter = (await all(client, `/dlq?execution=${this.id}&`))[0]?.id;
        const request = event && this.request(event, point.event);
        if (!request) return undefined;
        const answer = await client.ask('POST', ...request);
        const wanted = point.refused || [200, 201, 202];
        if (![wanted].flat().includes(answer.status))
            this.fail(`events[${point.event}]: ${answer.status} ${JSON.stringify(answer.body)}`);
        if (event.start && answer.body?.id) this.id = answer.body.id;
        return undefined;
    }

    /** A worker claims the job that has this key and answers it; or nobody waits for that. */
    async answer(client, { key, output, error }, point) {
        const job = await this.claim(client, key.replace('ID-', `${this.id}-`));
        if (point.refused) {
            if (job) this.fail(`events[${point.event}]: there is a job of ${key}`);
            return;
        }
        if (!job) {
            this.fail(`events[${point.event}]: there is no job of ${key}`);
            return;
        }
        const { leaseToken } = job;
        const { status, body } =
            output !== undefined
                ? await client.ask('POST', `/api/v1/jobs/${job.id}/complete`, { leaseToken, output })
                : await client.ask('POST', `/api/v1/jobs/${job.id}/fail`, {
                      leaseToken,
                      error: { code: 'external_failed', ...error },
                  });
        if (status !== 200) this.fail(`events[${point.event}]: ${status} ${JSON.stringify(body)}`);
    }

    /**
     * The job of a key: others of its type that are claimed on the way are kept for later. One claims
     * after the other, or a job on its way to somebody else would seem not to be there.
     */
    claim(client, key) {
        const job = claiming.then(() => this.claimNow(client, key));
        claiming = job.catch(() => {});
        return job;
    }

    async claimNow(client, key) {
        const types = [...new Set(typesOf(this.row))];
        while (!claimed.has(key)) {
            const { status, body } = await client.ask('POST', '/api/v1/jobs/claim', {
                types, wait: '0s', max: 1, lease: '24h', worker: 'conformance',
            });
            if (status !== 200) this.fail(`claiming: ${status} ${JSON.stringify(body)}`);
            if (!body.items?.length) break;
            claimed.set(body.items[0].idempotencyKey, body.items[0]);
        }
        const job = claimed.get(key);
        claimed.delete(key);
        return job;
    }

    async rest(client, point) {
        if (this.problem || !this.id) return;
        let body;
        try {
            await until('', async () => {
                ({ body } = await client.ask('GET', `/api/v1/executions/${this.id}`));
                return body.rowVersion >= point.rowVersion;
            }, REST_S);
        } catch {
            this.fail(`after event ${point.event} at ${point.at / 1e6} s it is at commit ` +
                `${body.rowVersion}, not ${point.rowVersion}: ${body.status} ` +
                JSON.stringify(body.waitingFor));
        }
    }

    async compare(client) {
        if (this.problem || !this.id) return;
        const { body } = await client.ask('GET', `/api/v1/executions/${this.id}`);
        const steps = await all(client, `/executions/${this.id}/steps?`);
        const dead = (await all(client, `/dlq?status=all&execution=${this.id}&`)).reverse();
        const withTimes = this.row.times !== false;
        const shown = { ...normal(body, this.id), code: 'row' };
        const wanted = { ...normal(this.trace.shown, 'ID'), code: 'row' };
        const found =
            difference('', wanted, shown, withTimes) ??
            difference('steps', rows(this.trace.steps, 'ID'), rows(steps, this.id), withTimes) ??
            difference('deadLetters', letters(this.trace.deadLetters, 'ID'), letters(dead, this.id));
        if (found) this.fail(found);
    }
}

// --- all rows ---

/** What a row needs that the server does not have, or null. */
function missing(run, absent) {
    const needs = run.row.events?.map((event) => Object.keys(event)[0]) ?? [];
    if (run.row.registry) needs.push('registry');
    return needs.find((name) => absent.has(name)) ?? null;
}

async function findAbsent(client) {
    const absent = new Set();
    const { body } = await client.ask('GET', '/openapi.json');
    for (const [name, path] of Object.entries(CALLS)) if (!body.paths[path]) absent.add(name);
    return absent;
}

export class Drive {
    /** `store` is a postgres:// address or null; `kills`: kill after every round. */
    constructor({ store = null, kills = false }) {
        this.folder = makeFolder();
        this.server = new Server(join(this.folder, 'data'), { store, program: checkProgram });
        this.clock = join(this.folder, 'clock');
        this.kills = kills;
        this.killed = this.rounds = 0;
    }

    /** At once: a server that finds the file empty would live in our own time. */
    setClock(us) {
        writeFileSync(`${this.clock}.new`, `@${START_US + us}\n`);
        renameSync(`${this.clock}.new`, this.clock);
    }

    async start() {
        if (!(await this.server.start({ PAWL_CLOCK_FILE: this.clock })))
            throw new Error(`it does not start: ${this.server.log}`);
    }

    /** Set the clock, and wait until the server lives by it: it looks now and then. */
    async moveTo(us) {
        const client = this.server.client();
        this.setClock(us);
        await until('the server sees its clock', async () => {
            const { body } = await client.ask('POST', '/api/v1/executions', { code: CLOCK.code });
            return Date.parse(body.createdAt) * 1000 === Math.floor((START_US + us) / 1000) * 1000;
        });
        client.close();
    }

    /** One moment: what is due there happens. */
    async round(runs, at) {
        const due = runs.filter((run) => run.points[0]?.at === at);
        const now = due.map((run) => ({ run, point: run.points.shift() }));
        const isLazy = this.rounds++ % 2 === 0;
        await forAll(this.server, now, (client, { run, point }) => run.act(client, point));
        if (!this.kills || isLazy)
            await forAll(this.server, now, (client, { run, point }) => run.rest(client, point));
        if (this.kills) {
            await this.server.kill();
            this.killed++;
            await this.start();
            if (!isLazy)
                await forAll(this.server, now, (client, { run, point }) => run.rest(client, point));
        }
        const over = due.filter((run) => run.points.length === 0);
        await forAll(this.server, over, (client, run) => run.compare(client));
    }

    async play(rows) {
        const all = rows.map((row) => new Run(row));
        this.setClock(0);
        await this.start();
        const client = this.server.client();
        const absent = await findAbsent(client);
        await client.ask('PUT', `/api/v1/scenarios/${CLOCK.code}/draft`, CLOCK);
        await client.ask('POST', `/api/v1/scenarios/${CLOCK.code}/publish`, {});
        client.close();
        const runs = all.filter((run) => !missing(run, absent));
        if (runs.length < all.length) skip(`the server has no call for ${[...absent].join(', ')}`, all.length - runs.length);
        await forAll(this.server, runs, (one, run) => run.prepare(one));
        for (let at = 0; ; ) {
            await this.moveTo(at);
            while (runs.some((run) => run.points[0]?.at === at)) await this.round(runs, at);
            const next = runs.filter((run) => run.points.length > 0).map((run) => run.points[0].at);
            if (next.length === 0) break;
            at = Math.min(...next);
        }
        for (const run of runs) holds(!run.problem, `${run.name}\n    ${run.problem}`);
        return runs.length;
    }

    async close() {
        const status = await this.server.stop();
        if (status !== 0) holds(false, `it stops with ${status}: ${this.server.log}`);
    }
}

/** Play the rows, each of which is a claim. */
export async function drive(name, rows, options) {
    const began = Date.now();
    const d = new Drive(options);
    let count = 0;
    try {
        count = await d.play(rows);
    } finally {
        await d.close();
    }
    console.log(`${name}: ${count} rows, ${d.rounds} rounds, ${d.killed} kills, ${((Date.now() - began) / 1000).toFixed(1)} s`);
}
