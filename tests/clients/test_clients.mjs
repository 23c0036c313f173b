// The clients for workers, in each language that this machine has: against a desk that loses, delays
// and refuses, and against the server. (Kills: test_kill_clients.mjs; the READMEs: test_client_readmes.mjs.)
import { spawn } from 'node:child_process';

import { check, claim, end, equal, skip } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';
import { Desk } from './desk.mjs';
import { buildWorker, names } from '../../clients/demo/languages.mjs';

const SOURCES = { python: 'trial.py', go: 'trial.go', typescript: 'trial.ts', c: 'trial.c' };
const LEASE = 9; // seconds: a heartbeat after 3, or after 1 when there is progress
const CLAIMS = 10; // for each language

const started = new Set();
process.on('exit', () => {
    for (const child of started) child.kill('SIGKILL');
});

/** A worker of a language that runs. */
class Worker {
    constructor(command, url, { lease = LEASE, grace = 20, token = 'a token' } = {}) {
        const [program, ...args] = [...command, String(lease), String(grace)];
        this.said = '';
        this.child = spawn(program, args, { env: { ...process.env, PAWL_URL: url, PAWL_TOKEN: token }, stdio: ['ignore', 'pipe', 'pipe'] });
        started.add(this.child);
        for (const stream of [this.child.stdout, this.child.stderr]) stream.on('data', (text) => (this.said += text));
        this.ended = new Promise((done) => this.child.on('close', (status) => {
            started.delete(this.child);
            done(status);
        }));
    }

    says(text) {
        return until(`the worker says ${text}`, () => this.said.includes(text));
    }

    async stop() {
        this.child.kill('SIGTERM');
        equal(await this.ended, 0, `exit status; ${this.said}`);
        check(this.said.includes('STOPPED'), this.said);
    }
}

async function withDesk(command, options, test) {
    const desk = new Desk();
    await desk.open();
    const worker = new Worker(command, desk.url, options);
    try {
        await test(desk, worker);
    } catch (error) {
        error.message += `\n${worker.said.slice(-2000)}`;
        throw error;
    } finally {
        worker.child.kill('SIGKILL');
        desk.close();
    }
}

/** What a client does when the network and the server do not do what one wishes. */
async function tryAtDesk(name, command) {
    const say = (text) => `${name}: ${text}`;

    await withDesk(command, {}, async (desk, worker) => {
        await claim(say('a claim that was lost or put off is made again under its key, no sooner than asked for'), async () => {
            const done = desk.offer('trial.echo', { n: 'Ä"\\ \u{1f600}' });
            await desk.heard(done, 'complete');
            const from = desk.requests.length;
            desk.answer('/claim', 'lost', 1);
            desk.answer('/claim', { status: 503, headers: { 'retry-after': '1' } }, 1);
            desk.answer('/claim', { status: 429 }, 1);
            const claims = await until('claims', () => {
                const all = desk.requests.slice(from).filter((r) => r.path.endsWith('/claim'));
                // The last of another key has waited with nothing lost.
                const at = all.findIndex((r, i) => i >= 3 && all[i - 1].key === r.key && all[i - 2].key === r.key && all[i - 3].key === r.key);
                return at > 0 && all.slice(at - 3, at + 1);
            });
            check(claims[0].key?.length >= 16, 'it has a key');
            equal(new Set(claims.map((r) => r.text)).size, 1, 'bodies');
            check(claims[2].at - claims[1].at >= 990, `${claims[2].at - claims[1].at} ms after Retry-After: 1`);
            equal([claims[0].body.types.length, claims[0].body.lease, claims[0].token], [7, '9000ms', 'Bearer a token']);
            desk.forget();
        });

        await claim(say('what the handler returns is the answer, in every script; it is sent again until it is heard'), async () => {
            desk.answer('/complete', 'lost', 1);
            desk.answer('/complete', { status: 502 }, 1);
            const input = { n: 'Ä"\\\n \u{1f600}', list: [1.5, null, { deep: true }] };
            const job = desk.offer('trial.echo', input);
            await until('three answers', () => desk.about(job, 'complete').length >= 3);
            const bodies = desk.about(job, 'complete').map((r) => r.body);
            equal(bodies[2], bodies[0]);
            equal([bodies[0].leaseToken, bodies[0].output.input, bodies[0].output.key, bodies[0].output.attempt], [job.leaseToken, input, job.idempotencyKey, 1]);
            desk.forget();
        });

        await claim(say('the lease is renewed while the handler works, with its progress, and it is told when that is refused'), async () => {
            const job = desk.offer('trial.slow', { ms: 600000 });
            const beats = await until('two heartbeats', () => desk.about(job, 'heartbeat').length >= 2 && desk.about(job, 'heartbeat').map((r) => r.body));
            equal(beats[0], { leaseToken: job.leaseToken, progress: { page: 1 } });
            equal(beats[1].leaseToken, job.leaseToken);
            desk.answer('/heartbeat', { status: 409, body: { detail: 'this lease is over: made up' } });
            await worker.says(`CANCELLED ${job.id}: the lease is over: this lease is over: made up`);
            await desk.heard(job, 'complete');
            desk.forget();
        });

        await claim(say('a stop lets the handler end, and gives back what comes after it'), async () => {
            const kept = desk.offer('trial.slow', { ms: 2000 });
            await desk.heard(kept, 'heartbeat');
            const next = desk.requests.length;
            await until('it asks for more', () => desk.requests.slice(next).some((r) => r.path.endsWith('/claim')));
            worker.child.kill('SIGTERM');
            equal((await desk.heard(kept, 'complete')).body.output, 'slept');
            equal(await worker.ended, 0, worker.said);
            check(worker.said.includes('STOPPED'), worker.said);
            equal(desk.offered.length, 0);
        });
    });

    await claim(say('a handler whose server is out of reach is told when its lease has run out'), async () => {
        await withDesk(command, { lease: 1.2 }, async (desk, worker) => {
            desk.answer('/heartbeat', 'lost');
            const at = Date.now();
            const job = desk.offer('trial.slow', { ms: 600000 });
            await worker.says(`CANCELLED ${job.id}: the lease has run out`);
            check(Date.now() - at >= 1100, `told after ${Date.now() - at} ms`);
            equal((await desk.heard(job, 'complete')).body.output, 'cancelled');
        });
    });

    await withDesk(command, { grace: 0.2 }, async (desk, worker) => {
        await claim(say('a job that comes while it stops goes back unbegun; a handler that does not end is indeterminate'), async () => {
            const deaf = desk.offer('trial.deaf', { ms: 600000 });
            await desk.heard(deaf, 'heartbeat');
            const late = holdNextClaim(desk);
            await late.asked;
            worker.child.kill('SIGTERM');
            await worker.says('stopping');
            const job = late.give();
            equal((await desk.heard(job, 'return')).body, { leaseToken: job.leaseToken });
            const { body } = await desk.heard(deaf, 'fail');
            equal([body.error.code, body.error.class], ['worker_stopped', 'indeterminate']);
            equal(await worker.ended, 0, worker.said);
        });
    });

    await claim(say('a worker that is refused says so and ends'), async () => {
        await withDesk(command, {}, async (desk, worker) => {
            desk.answer('/claim', { status: 403, body: { detail: 'made up' } });
            equal(await worker.ended, 1);
            check(worker.said.includes('REFUSED') && worker.said.includes('made up'), worker.said);
        });
    });
}

/** The next claim waits until give() answers it with a job. */
function holdNextClaim(desk) {
    let give, asked;
    const held = { asked: new Promise((done) => (asked = done)) };
    const wait = desk.wait.bind(desk);
    desk.wait = () => {
        desk.wait = wait;
        asked();
        return new Promise((done) => (give = done));
    };
    held.give = () => {
        const job = desk.offer('trial.echo', {});
        give();
        return job;
    };
    return held;
}

const INPUTS = { echo: ['n'], fail: ['code', 'message', 'class'], break: [], large: ['bytes'] };

/** The same against the server: what becomes of each way to end. */
async function tryAtServer(name, command, server, client, token) {
    const run = async (code, input) => (await client.ask('POST', '/api/v1/executions?wait=60s', { code, input })).body;
    const worker = new Worker(command, server.url, { token });

    await claim(`${name}: a job is done for the server, and its failure is of the class that the handler says`, async () => {
        const x = await run('trial_echo', { n: [1, 'ü'] });
        equal([x.status, x.result?.all.output.input, x.result?.all.output.key, x.result?.all.output.attempt], ['completed', { n: [1, 'ü'] }, `${x.id}-do`, 1], worker.said);
        const failed = await run('trial_fail', { code: 'no_box', message: 'no "box" left', class: 'business' });
        equal([failed.status, failed.error.code, failed.error.message, failed.error.class], ['failed', 'no_box', 'no "box" left', 'business']);
        const transient = await run('trial_fail', { code: 'busy', message: 'later', class: 'transient' });
        equal([transient.status, transient.error.class], ['failed', 'transient']);
    });
    await claim(`${name}: what went wrong in the handler, or cannot be answered, may have happened`, async () => {
        const broken = await run('trial_break', {});
        equal([broken.status, broken.error.code, broken.error.class], ['failed', 'worker_error', 'indeterminate'], JSON.stringify(broken.error));
        const large = await run('trial_large', { bytes: 1100000 });
        equal([large.status, large.error.code, large.error.class], ['failed', 'answer_refused', 'indeterminate'], JSON.stringify(large.error));
    });
    await claim(`${name}: a handler of a pattern does all that fits, side by side`, async () => {
        const all = await Promise.all(['many_a', 'many_b', 'many_a', 'many_b', 'many_a'].map((code) => run(code, {})));
        equal(all.map((x) => x.result?.all.output), ['many.a', 'many.b', 'many.a', 'many.b', 'many.a']);
        await worker.stop();
    });
    worker.child.kill('SIGKILL');
}

const server = await startServer();
const client = server.client();
const retry = { maxAttempts: 1 };
for (const [type, names] of Object.entries(INPUTS)) {
    const input = Object.fromEntries(names.map((field) => [field, `$.input.${field}`]));
    await server.publish({ code: `trial_${type}`, steps: [{ code: 'do', procedure: `trial.${type}`, input, retry }], result: { all: '$.steps.do' } });
}
for (const type of ['a', 'b']) await server.publish({ code: `many_${type}`, steps: [{ code: 'do', procedure: `many.${type}` }], result: { all: '$.steps.do' } });
const { body: user } = await client.ask('POST', '/api/v1/users', { name: 'trial', role: 'worker' });

const built = await Promise.all(names.map(async (name) => ({ name, ...(await buildWorker(name, `tests/clients/trial/${SOURCES[name]}`)) })));
const present = built.filter((b) => b.command);
for (const { name, missing } of built) if (missing) skip(`the client in ${name}: there is no ${missing}`, CLAIMS);
await Promise.all(present.map(({ name, command }) => tryAtDesk(name, command)));
// One after the other: they ask for the same jobs.
for (const { name, command } of present) await tryAtServer(name, command, server, client, user.token);
client.close();
await server.stop();
end();
