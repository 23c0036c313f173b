// load.mjs - drives a server, remembers what it acknowledged, and holds it to that.
import { isDeepStrictEqual } from 'node:util';

import { Random } from '../lib/budget.mjs';
import { forAll, microseconds } from '../lib/client.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { kids, publish, results, scenarios, stepsOf } from './scenarios.mjs';

const WORKERS = 12;
const TALLIES = 4;
const BUSINESS_KEYS = 4;
const PAD = 'x'.repeat(9000);

const terminal = new Set(['completed', 'failed', 'cancelled']);

/** Choices follow from the seed; in which order they are made, the machine decides. */
export const random = new Random();

export class Load {
    constructor(server, name) {
        this.server = server;
        this.name = name; // of keys and ids: unique within the store
        this.counter = 0;
        this.executions = new Map(); // id -> what was acknowledged
        this.byKey = new Map(); // Idempotency-Key -> {body, id}
        this.openStarts = []; // Idempotency-Keys whose answer did not come
        this.openSignals = []; // {x, signal}, the same
        this.openRemoves = []; // executions, the same
        this.ended = []; // those that may be deleted
        this.waiting = []; // those that a signal may wake
        this.touched = new Set(); // since the last check
        this.versions = new Map(); // code -> the newest version that was acknowledged
        this.problems = [];
        this.acknowledged = this.refused = this.unanswered = this.removed = 0;
    }

    problem(text) {
        if (this.problems.length < 20) this.problems.push(text);
    }

    async publishAll() {
        const client = this.server.client();
        for (const code of Object.keys(scenarios)) await this.publish(client, code);
        client.close();
    }

    // --- what is asked of the server ---

    async publish(client, code) {
        const answer = await publish(client, code);
        if (answer.status === 200) this.versions.set(code, answer.body.version);
        // Two at a time: the draft of one may be the version of the other.
        else if (![0, 404, 412, 503].includes(answer.status))
            this.problem(`publishing ${code}: ${JSON.stringify(answer)}`);
    }

    businessKey(i) {
        return `${this.name}-k${i}`;
    }

    newStart() {
        const code = random.pick([
            ...['kill_steps', 'kill_steps', 'kill_steps', 'kill_signal', 'kill_signal'],
            ...['kill_timer', 'kill_records', 'kill_later', 'kill_family', 'kill_held'],
        ]);
        const input = { n: random.below(1000) };
        if (code === 'kill_steps' || code === 'kill_signal')
            input.pad = PAD.slice(0, random.pick([1, 100, 600, 6000, 9000]));
        if (['kill_timer', 'kill_later', 'kill_family', 'kill_held'].includes(code))
            input.pause = `${20 + random.below(400)}ms`;
        if (['kill_records', 'kill_later', 'kill_held'].includes(code))
            input.tally = `${this.name}-${random.below(TALLIES)}`;
        if (code === 'kill_signal' && random.chance(0.2))
            return { code, input, key: this.businessKey(random.below(BUSINESS_KEYS)) };
        return { code, input };
    }

    /** An answer to a start: remember it, and look at what it says. */
    started(body, answer, key) {
        const { id, status, result } = answer.body;
        let x = this.executions.get(id);
        if (key) {
            const known = this.byKey.get(key);
            if (known.id && known.id !== id)
                this.problem(`key ${key} answered ${known.id}, then ${id}`);
            known.id = id;
        }
        this.acknowledged++;
        if (!x) {
            x = { id, code: body.code, input: body.input, signals: new Map(), rowVersion: 0 };
            this.executions.set(id, x);
            if (x.code === 'kill_signal') this.waiting.push(x);
        }
        this.touched.add(x);
        if (status === 'completed') x.result = result;
        if (status === 'completed' && x.code !== 'kill_signal') this.compareResult(x, result);
        // Those that counted themselves stay: they are counted at the end.
        if (status === 'completed' && ['kill_steps', 'kill_timer', 'kill_long'].includes(x.code) && !key)
            this.ended.push(x);
        return x;
    }

    async start(client) {
        const body = this.newStart();
        const key = random.chance(0.5) ? `${this.name}-${++this.counter}` : null;
        const path = `/api/v1/executions${random.chance(0.6) ? '?wait=300ms' : ''}`;
        const headers = key ? { 'idempotency-key': key } : {};
        if (key) this.byKey.set(key, { body, id: null });
        const asked = client.ask('POST', path, body, headers);
        // The same at the same time: both are told of one execution.
        if (key && random.chance(0.1)) await this.repeatStart(this.second, key);
        const answer = await asked;
        if ([200, 201, 202].includes(answer.status)) {
            this.started(body, answer, key);
        } else if (answer.status === 409 && body.key && answer.body.code === 'key_busy') {
            this.refused++;
        } else if (answer.status === 0) {
            this.unanswered++;
            if (key) this.openStarts.push(key);
        } else if (answer.status === 503) {
            this.refused++;
            if (answer.body?.code === 'outcome_unknown' && key) this.openStarts.push(key);
        } else {
            this.problem(`start of ${body.code}: ${JSON.stringify(answer)}`);
        }
    }

    /** A start whose answer did not come, or did: the same key must lead to one execution. */
    async repeatStart(client, key) {
        const { body } = this.byKey.get(key);
        const answer = await client.ask('POST', '/api/v1/executions', body, {
            'idempotency-key': key,
        });
        const isBusy = answer.status === 409 && answer.body.code === 'key_busy';
        if ([200, 201, 202].includes(answer.status)) this.started(body, answer, key);
        else if (answer.status === 0 || answer.status === 503) this.openStarts.push(key);
        else if (!isBusy || this.byKey.get(key).id) this.problem(`repeated start: ${JSON.stringify(answer)}`);
    }

    async sendSignal(client, x, signal) {
        const answer = await client.ask('POST', `/api/v1/executions/${x.id}/signal`, signal);
        if (answer.status === 202 || answer.status === 200) {
            if (answer.body.id !== signal.id) this.problem(`signal ${signal.id} became another`);
            x.signals.set(signal.id, signal);
            this.touched.add(x);
            this.acknowledged++;
        } else if (answer.status === 0 || answer.status === 503) {
            this.openSignals.push({ x, signal });
        } else if (answer.status !== 409) {
            this.problem(`signal to ${x.id}: ${JSON.stringify(answer)}`);
        }
        return answer.status;
    }

    async signal(client) {
        const x = random.pick(this.waiting);
        const known = [...x.signals.values()];
        // Now and then the same one again, which must not count twice.
        const signal =
            known.length > 0 && random.chance(0.2)
                ? random.pick(known)
                : {
                      type: 'go',
                      id: `${this.name}-s${++this.counter}`,
                      payload: { n: random.below(100) },
                  };
        if ((await this.sendSignal(client, x, signal)) === 409) this.forget(x);
    }

    async cancel(client) {
        const x = random.pick(this.waiting);
        const answer = await client.ask('POST', `/api/v1/executions/${x.id}/cancel`, {
            reason: 'no longer wanted',
        });
        if (answer.status === 202) {
            x.isCancelled = true;
            this.touched.add(x);
            this.acknowledged++;
        } else if (![0, 409, 503].includes(answer.status)) {
            this.problem(`cancel of ${x.id}: ${JSON.stringify(answer)}`);
        }
        this.forget(x);
    }

    /** One that is not wanted any more, mostly a short one; the long one goes in parts. */
    async remove(client) {
        const long = this.ended.findIndex((x) => x.code === 'kill_long');
        const at = long >= 0 ? long : random.below(this.ended.length);
        await this.askRemove(client, this.ended.splice(at, 1)[0]);
    }

    async askRemove(client, x) {
        const answer = await client.ask('DELETE', `/api/v1/executions/${x.id}`);
        // From here on it may be gone, and once it is said to be, it is.
        x.isGoing = true;
        if (answer.status === 204 || answer.status === 404) {
            if (answer.status === 404 && !x.wasAsked)
                this.problem(`${x.id} was acknowledged and cannot be deleted`);
            x.isGone = true;
            this.removed++;
            this.acknowledged++;
        } else if (answer.status === 0 || answer.status === 503) {
            x.wasAsked = true;
            this.openRemoves.push(x);
        } else if (answer.status !== 409) {
            this.problem(`delete of ${x.id}: ${JSON.stringify(answer)}`);
        }
        this.touched.add(x);
    }

    async startLong(client) {
        const body = { code: 'kill_long', input: { n: ++this.counter } };
        const answer = await client.ask('POST', '/api/v1/executions?wait=30s', body);
        if ([200, 201, 202].includes(answer.status)) this.started(body, answer, null);
    }

    forget(x) {
        const i = this.waiting.indexOf(x);
        if (i >= 0) this.waiting.splice(i, 1);
    }

    async act(client) {
        const hasWaiting = this.waiting.length > 0;
        if (hasWaiting && random.chance(0.25)) return this.signal(client);
        if (hasWaiting && random.chance(0.04)) return this.cancel(client);
        if (random.chance(0.01)) return this.publish(client, 'kill_steps');
        if (this.ended.length > 0 && random.chance(0.03)) return this.remove(client);
        if (random.chance(0.004)) return this.startLong(client);
        return this.start(client);
    }

    /** Load the server until `isOver` says so, or it is gone. */
    async run(isOver) {
        this.second = this.server.client();
        const work = async () => {
            const client = this.server.client();
            while (this.server.isRunning() && !isOver()) {
                const before = this.unanswered;
                await this.act(client);
                if (this.unanswered > before) await sleep(5);
            }
            client.close();
        };
        await Promise.all(Array.from({ length: WORKERS }, work));
        this.second.close();
    }

    // --- what must be true ---

    compareResult(x, result) {
        const want = results[x.code](x);
        if (!isDeepStrictEqual(result, want))
            this.problem(
                `${x.code} ${x.id} ended with ${JSON.stringify(result)}, not ${JSON.stringify(want)}`,
            );
    }

    /** After a restart: ask again what was not answered, then look at all that was. */
    async settle() {
        const starts = this.openStarts.splice(0);
        const signals = this.openSignals.splice(0);
        const keys = [...this.byKey.entries()].filter(([, known]) => known.id).map(([key]) => key);
        const repeated = Array.from({ length: Math.min(8, keys.length) }, () =>
            random.pick(keys),
        );
        await forAll(this.server, [...starts, ...repeated], (client, key) =>
            this.repeatStart(client, key),
        );
        await forAll(this.server, signals, (client, { x, signal }) =>
            this.sendSignal(client, x, signal),
        );
        await forAll(this.server, this.openRemoves.splice(0), (client, x) =>
            this.askRemove(client, x),
        );
        const touched = [...this.touched];
        this.touched.clear();
        await forAll(this.server, touched, (client, x) =>
            this.verify(client, x, touched.length < 100 || random.chance(0.3)),
        );
        await this.verifyVersions();
        await this.verifyBusinessKeys();
    }

    /** A business key has one live execution at most. */
    async verifyBusinessKeys() {
        const client = this.server.client();
        for (let i = 0; i < BUSINESS_KEYS; i++) {
            const key = this.businessKey(i);
            const live = await this.list(client, `status=waiting&key=${key}`);
            if (live.length > 1) this.problem(`${live.length} live executions have key ${key}`);
        }
        client.close();
    }

    async verifyVersions() {
        const client = this.server.client();
        for (const [code, version] of this.versions) {
            const answer = await client.ask('GET', `/api/v1/scenarios/${code}/versions`);
            const numbers = (answer.body.items ?? answer.body)
                .filter((item) => item.status !== 'draft')
                .map((item) => item.version);
            const published = (answer.body.items ?? answer.body).filter(
                (item) => item.status === 'published',
            );
            if (!numbers.includes(version)) this.problem(`version ${version} of ${code} is lost`);
            if (published.length !== 1 || published[0].version !== Math.max(...numbers))
                this.problem(`${code}: ${published.length} versions are published`);
        }
        client.close();
    }

    verifySignals(x, shown) {
        const signals = shown.context.signals ?? [];
        const ids = signals.map((signal) => signal.id);
        if (new Set(ids).size !== ids.length) this.problem(`${x.id} has a signal twice`);
        for (const [id, signal] of x.signals) {
            const found = signals.find((one) => one.id === id);
            if (!found) this.problem(`${x.id} lost signal ${id}`);
            else if (!isDeepStrictEqual(found.payload, signal.payload))
                this.problem(`${x.id} changed signal ${id}`);
        }
        x.taken = signals.map((signal) => signal.payload.n);
    }

    async verify(client, x, withSteps) {
        const answer = await client.ask('GET', `/api/v1/executions/${x.id}`);
        if (x.isGone) {
            if (answer.status !== 404) this.problem(`${x.id} was deleted: ${answer.status}`);
            return undefined;
        }
        if (x.isGoing && answer.status === 404) return undefined;
        if (answer.status !== 200)
            return this.problem(`${x.code} ${x.id} was acknowledged: ${JSON.stringify(answer)}`);
        const shown = answer.body;
        x.status = shown.status;
        if (shown.code !== x.code) this.problem(`${x.id} is ${shown.code}, not ${x.code}`);
        if (!isDeepStrictEqual(shown.input, x.input)) this.problem(`${x.id} has another input`);
        if (shown.rowVersion < x.rowVersion) this.problem(`${x.id} went back`);
        x.rowVersion = shown.rowVersion;
        if (x.isCancelled && shown.status !== 'cancelled')
            this.problem(`${x.id} was cancelled and is ${shown.status}`);
        if (x.result && shown.status !== 'completed')
            this.problem(`${x.id} was completed and is ${shown.status}`);
        // Others may have changed the record while it held its write: it is told so.
        if (shown.status === 'failed' && !(x.code === 'kill_held' && shown.error.code === 'conflict_version'))
            this.problem(`${x.code} ${x.id} failed: ${JSON.stringify(shown.error)}`);
        if (x.result && !isDeepStrictEqual(shown.result, x.result))
            this.problem(`${x.id} ended with another result`);
        this.verifySignals(x, shown);
        if (shown.status === 'completed') this.compareResult(x, shown.result);
        if (withSteps) await this.verifySteps(client, x, shown);
    }

    async verifySteps(client, x, shown) {
        const rows = [];
        for (let cursor = ''; cursor !== null;) {
            const answer = await client.ask('GET', `/api/v1/executions/${x.id}/steps?cursor=${cursor}`);
            if (answer.status !== 200) return this.problem(`steps of ${x.id}: ${answer.status}`);
            rows.push(...answer.body.items);
            cursor = answer.body.nextCursor;
        }
        const forward = rows.filter((row) => row.kind === 'forward' && row.status === 'completed');
        const visits = forward.map((row) => `${row.step} ${row.visit}`);
        if (rows.some((row, i) => i > 0 && row.seq <= rows[i - 1].seq))
            this.problem(`steps of ${x.id} are not in order`);
        const times = rows.map((row) => microseconds(row.completedAt));
        const back = times.findIndex((time, i) => i > 0 && time < times[i - 1]);
        if (back > 0)
            this.problem(
                `${x.id}: ${rows[back].completedAt} comes after ${rows[back - 1].completedAt}`,
            );
        if (new Set(visits).size !== visits.length) this.problem(`${x.id} ran a step twice`);
        if (
            shown.status === 'completed' &&
            !isDeepStrictEqual(
                forward.map((row) => row.step),
                stepsOf(x.code),
            )
        )
            this.problem(`steps of ${x.id}: ${visits.slice(0, 50).join(', ')} (${visits.length} in all)`);
    }

    /** Ids of all executions that a filter finds. */
    async list(client, filter) {
        const ids = [];
        for (let cursor = ''; cursor !== null; ) {
            const answer = await client.ask(
                'GET',
                `/api/v1/executions?limit=500&${filter}${cursor && `&cursor=${cursor}`}`,
            );
            if (answer.status !== 200) throw new Error(`list: ${JSON.stringify(answer)}`);
            ids.push(...answer.body.items.map((item) => item.id));
            cursor = answer.body.nextCursor ?? null;
        }
        return ids;
    }

    /** Let everything end, also what was never acknowledged, and look at all of it once more. */
    async finish() {
        const client = this.server.client();
        await this.settle();
        try {
            await until('everything that waits for a signal ends', async () => {
                const ids = await this.list(client, 'status=waiting&code=kill_signal');
                await forAll(this.server, ids, async (one, id) => {
                    const path = `/api/v1/executions/${id}/signal`;
                    await one.ask('POST', path, { type: 'finish', payload: { n: 1 } });
                });
                return ids.length === 0;
            });
            await until('everything that waits for a timer ends', async () => {
                for (const status of ['pending', 'running', 'waiting'])
                    if ((await this.list(client, `status=${status}`)).length > 0) return false;
                return true;
            });
        } catch (error) {
            const ids = await this.list(client, 'status=waiting');
            this.problem(`${error.message}; ${ids.length} still wait, such as ${ids[0]}`);
        }
        const keys = [...this.byKey.keys()].filter((key) => this.byKey.get(key).id);
        await forAll(this.server, keys, (one, key) => this.repeatStart(one, key));
        await forAll(this.server, [...this.executions.values()], (one, x) =>
            this.verify(one, x, true),
        );
        for (const x of this.executions.values())
            if (!x.isGone && !terminal.has(x.status))
                this.problem(`${x.code} ${x.id} is ${x.status}`);
        await this.verifyTallies(client);
        await this.verifyKids(client);
        client.close();
    }

    /** Each completed count is in the tally once, acknowledged or not. */
    async verifyTallies(client) {
        const completed =
            (await this.list(client, 'status=completed&code=kill_records')).length +
            (await this.list(client, 'status=completed&code=kill_held')).length +
            (await this.list(client, 'status=completed&code=kill_later')).length;
        let sum = 0;
        for (let i = 0; i < TALLIES; i++) {
            const answer = await client.ask('POST', '/api/v1/executions?wait=180s', {
                code: 'kill_read',
                input: { tally: `${this.name}-${i}` },
            });
            sum += answer.body.result?.n ?? 0;
        }
        if (sum !== completed)
            this.problem(`${completed} executions counted themselves, the tallies say ${sum}`);
    }

    /** Each parent has its children, once each, acknowledged or not. */
    async verifyKids(client) {
        const live = (await this.list(client, 'code=kill_kid')).length;
        const ended = (await this.list(client, 'status=completed&code=kill_kid')).length;
        let wanted = 0;
        for (const [code, count] of Object.entries(kids))
            wanted += count * (await this.list(client, `code=${code}`)).length;
        if (live !== ended) this.problem(`${live - ended} children did not complete`);
        if (ended !== wanted) this.problem(`there are ${ended} children, not ${wanted}`);
    }
}
