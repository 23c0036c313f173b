// Workers claim, keep, complete and fail jobs while the server is killed: at random, and at the
// points where a batch, a claim or an answer is half done. On both stores: no answer that was
// acknowledged is lost, no step has two, no job is with two workers, and every execution ends.

import { amount, share } from '../lib/budget.mjs';
import { end, holds } from '../lib/claims.mjs';
import { forAll } from '../lib/client.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { foldMistakes } from './fold.mjs';
import { random } from './load.mjs';

const WORKERS = 8;
const KILLS = amount('jobs.kills'); // at random moments, for each store
const STARTS = 15; // executions for each kill
const POINTS = [
    ['node.before_advance', 20], ['node.after_advance', 20], ['node.need_reads', 1], ['node.before_submit', 10],
    ['node.batch_done', 10], ['node.between_answers', 10], ['node.after_answers', 10], ['writer.member', 20],
    ['writer.before_commit', 10], ['writer.committed', 10], ['node.timer_fired', 3],
];

const retry = { maxAttempts: 100, delay: '20ms', backoff: 1, jitter: 'none' };
const definitions = [
    { code: 'jobs_one', steps: [{ code: 'do', procedure: 'kill.one', input: { n: '$.input.n' }, retry }] },
    // Its time is up now and then, while a worker has it or before one does.
    { code: 'jobs_timed', steps: [{ code: 'do', procedure: 'kill.timed', input: { n: '$.input.n' }, timeout: '300ms', retry }] },
];

const told = (what, ok, found) => holds(ok, `${what}: ${JSON.stringify(found)?.slice(0, 600)}`);

class Jobs {
    constructor(server) {
        this.server = server;
        this.isOver = false;
        this.started = new Map(); // n -> id
        this.claimed = new Set(); // ids of jobs that somebody was given
        this.said = new Map(); // execution -> [{job, what, status}] of what was answered
        this.acknowledged = this.refused = this.unheard = this.beats = 0;
        this.problems = [];
    }

    /** Ask until there is an answer that says something, whoever is killed meanwhile. */
    async insist(method, path, body, headers) {
        return until(`${method} ${path} is answered`, async () => {
            if (!this.server.isRunning()) return null;
            const client = this.server.client();
            const answer = await client.ask(method, path, body, headers);
            client.close();
            return answer.status === 0 || answer.status === 503 ? null : answer;
        });
    }

    async start(n) {
        const code = n % 4 === 0 ? 'jobs_timed' : 'jobs_one';
        const answer = await this.insist('POST', '/api/v1/executions', { code, input: { n } }, { 'idempotency-key': `j${n}` });
        if (![200, 201].includes(answer.status)) this.problems.push(`start: ${JSON.stringify(answer)}`);
        this.started.set(n, answer.body.id);
    }

    async claim(name) {
        if (!this.server.isRunning()) return [];
        const client = this.server.client();
        const answer = await client.ask('POST', '/api/v1/jobs/claim',
            { types: ['kill.one', 'kill.timed'], max: 1 + random.below(4), wait: '300ms', lease: '1s', worker: name });
        client.close();
        if (answer.status === 200) return answer.body.items;
        if (answer.status !== 0 && answer.status !== 503) this.problems.push(`claim: ${JSON.stringify(answer)}`);
        return [];
    }

    async work(job) {
        if (this.claimed.has(job.id)) this.problems.push(`job ${job.id} is with two workers`);
        this.claimed.add(job.id);
        if (job.idempotencyKey !== `${job.executionId}-do`) this.problems.push(`the key ${job.idempotencyKey}`);
        if (random.chance(0.1)) return; // it dies
        if (random.chance(0.3)) {
            this.beats++;
            const beat = await this.insist('POST', `/api/v1/jobs/${job.id}/heartbeat`, { leaseToken: job.leaseToken });
            if (![200, 409].includes(beat.status)) this.problems.push(`heartbeat: ${JSON.stringify(beat)}`);
            if (beat.status === 409) return;
        }
        if (random.chance(0.1)) await sleep(random.below(1500)); // too late, perhaps
        const what = random.chance(0.75) ? 'complete' : random.pick(['transient', 'indeterminate', 'business']);
        const said = { job: job.id, what, status: null };
        const all = this.said.get(job.executionId) ?? [];
        all.push(said);
        this.said.set(job.executionId, all);
        const body = what === 'complete'
            ? { leaseToken: job.leaseToken, output: { job: job.id } }
            : { leaseToken: job.leaseToken, error: { code: 'made_up', message: job.id, class: what } };
        const answer = await this.insist('POST', `/api/v1/jobs/${job.id}/${what === 'complete' ? 'complete' : 'fail'}`, body);
        said.status = answer.status;
        if (answer.status === 200) this.acknowledged++;
        else if (answer.status === 409) this.refused++;
        else this.problems.push(`answer: ${JSON.stringify(answer)}`);
    }

    async worker(name) {
        while (!this.isOver) {
            const jobs = await this.claim(name);
            for (const job of jobs) await this.work(job);
            if (jobs.length === 0) await sleep(20);
        }
    }

    /** How an execution ended is what somebody was told is true, and nothing else. */
    judge(x) {
        const said = this.said.get(x.id) ?? [];
        const final = said.filter((s) => s.status === 200 && (s.what === 'complete' || s.what === 'business'));
        told('one answer ends it', final.length === 1, { x, said });
        if (final.length !== 1) return;
        const [{ job, what }] = final;
        if (what === 'complete')
            told('what was acknowledged is the result', x.status === 'completed' && x.context.steps.do.output?.job === job, { x, said });
        else
            told('the failure that was acknowledged is the error', x.status === 'failed' && x.error.message === job, { x, said });
    }
}

async function publish(client, definition) {
    const path = `/api/v1/scenarios/${definition.code}`;
    const draft = await client.ask('PUT', `${path}/draft`, definition);
    if (!draft.body.valid) throw new Error(JSON.stringify(draft.body.errors));
    await client.ask('POST', `${path}/publish`, {});
}

/** Give it work, and let it die: by itself at a point, or at some moment. */
async function dieOnce(jobs, first, point, pass) {
    const server = jobs.server;
    const starts = (async () => {
        for (let n = first; n < first + STARTS; n++) await jobs.start(n);
    })();
    if (point) {
        // The load may be over before the point was passed so often: then it dies as it is.
        await Promise.race([server.ended, sleep(4000)]);
        if (server.isRunning()) await server.kill();
    } else {
        await sleep(50 + random.below(600));
        await server.kill();
    }
    if (server.signal !== 'SIGKILL') jobs.problems.push(`${point ?? 'kill'}: ended with ${server.code} ${server.log}`);
    return { starts };
}

async function campaign(name, store, points) {
    const server = new Server(makeFolder(), { store, program: checkProgram });
    const jobs = new Jobs(server);
    const starting = [];
    let n = 0, died = 0;
    const began = Date.now();

    await server.start();
    const client = server.client();
    for (const definition of definitions) await publish(client, definition);
    client.close();
    const workers = Array.from({ length: WORKERS }, (_, i) => jobs.worker(`w${i}`));
    const deaths = [...points, ...Array.from({ length: KILLS }, () => [null, 0])];
    await server.kill();
    for (const [point, passes] of deaths) {
        const pass = 1 + random.below(passes);
        if (!(await server.start(point ? { PAWL_CRASH_AT: `${point}:${pass}` } : {})) && !point)
            jobs.problems.push(`it does not start: ${server.log}`);
        starting.push((await dieOnce(jobs, n, point, pass)).starts);
        n += STARTS;
        died++;
    }
    await server.start();
    await Promise.all(starting);
    const ids = [...jobs.started.values()];
    const ends = [];
    await forAll(server, ids, async (c, id) => {
        let x = null;
        const isEnded = until(`${id} ends`, async () => {
            x = (await c.ask('GET', `/api/v1/executions/${id}`)).body;
            return ['completed', 'failed', 'cancelled'].includes(x?.status);
        });
        await isEnded.catch(async (error) => {
            const open = (await c.ask('GET', '/api/v1/jobs?limit=500')).body;
            throw new Error(`${error.message}: ${JSON.stringify({ x, said: jobs.said.get(id), open })}`);
        });
        ends.push(x);
    }, 4);
    jobs.isOver = true;
    await Promise.all(workers);
    // Not before: an execution has ended a moment before its worker is told so.
    for (const x of ends) jobs.judge(x);
    const last = server.client();
    const left = (await last.ask('GET', '/api/v1/jobs?limit=500')).body.items;
    last.close();
    told('no job is left', left.length === 0, left);
    told('nothing went wrong', jobs.problems.length === 0, jobs.problems);
    await server.stop();
    const mistakes = foldMistakes(store ?? server.data);
    holds(mistakes === '', `${name}: ${mistakes}`);
    console.log(`${name}: ${died} deaths, ${ids.length} executions, ${jobs.claimed.size} jobs, ${jobs.acknowledged} answers ` +
        `acknowledged, ${jobs.refused} refused, ${jobs.beats} heartbeats, ${((Date.now() - began) / 1000).toFixed(1)} s`);
}

await onStores((name, store) => campaign(name, store, share('jobs.points', POINTS)));
end();
