/**
 * pawl_worker - do jobs of Pawl in TypeScript or JavaScript: one file, no dependencies. Node 18 or
 * newer; anything else that has fetch and AbortController, when `url` and `token` are given.
 *
 *     const worker = new Worker(); // PAWL_URL and PAWL_TOKEN
 *     worker.handle('shop.pack', async (job) => ({ box: 3 }));
 *     await worker.run(); // until SIGTERM or SIGINT
 *
 * What holds:
 * - A job is claimed only when there is capacity for it, and its lease is renewed while it is done.
 *   A handler that keeps the process busy without ever awaiting keeps the heartbeat from being sent.
 * - What a handler returns is the output. JobError says how it failed; any other error is a failure
 *   of the class `indeterminate`, because nobody knows how far the handler came.
 * - Every request may be sent again: claims go under an Idempotency-Key, and the same answer to a
 *   job may come twice. So a server that is away costs time and nothing else.
 * - The signal of a handler whose lease is over is aborted, and its reason says why: the server has
 *   said so, or the lease has run out by this machine's clock while the server was out of reach.
 * - What was done under job.idempotencyKey must not be done twice: an attempt that follows a lost
 *   lease has the same key.
 */

export type ErrorClass = 'business' | 'transient' | 'indeterminate';

/** The work failed: business is final, transient is tried again, indeterminate may have happened. */
export class JobError extends Error {
    readonly code: string;
    readonly errorClass: ErrorClass;

    constructor(code: string, message: string, errorClass: ErrorClass = 'business') {
        super(message);
        this.code = code;
        this.errorClass = errorClass;
    }
}

/** The server refuses this worker: its token, its types. Trying again would not help. */
export class Refused extends Error {}

/** One attempt at one step. */
export interface Job {
    readonly id: string;
    readonly type: string;
    readonly input: any;
    readonly idempotencyKey: string;
    readonly attempt: number;
    readonly executionId: string;
    readonly step: string;
    /** What an earlier attempt has reported, or undefined. */
    readonly progress: any;
    /** Aborted when the lease is over or the worker stops: the work is not wanted any more. */
    readonly signal: AbortSignal;
    /** Keep progress (any JSON, 64 KiB at most) with the job: the next heartbeat takes it. */
    report(progress: unknown): void;
}

export type Handler = (job: Job) => unknown;

/** Times are seconds. What is left out has its default. */
export interface Options {
    url?: string; // PAWL_URL
    token?: string; // PAWL_TOKEN
    name?: string; // for people
    concurrency?: number; // jobs at a time; 4
    lease?: number; // of a job; 60
    wait?: number; // of a claim for jobs; 10
    grace?: number; // of handlers at a stop; 20
}

const ANSWER_MAX = 64 * 1024 * 1024; // characters of one answer of the server
const BACKOFF_MAX = 30000;
const RETRY_AFTER_MAX = 300000; // ms that a server may ask for

// What this file uses of its surroundings, so that it needs no types of Node.
const here = globalThis as any;
const environment: Record<string, string | undefined> = here.process?.env ?? {};
const log = (text: string): void => here.console.error(`pawl: ${text}`);
const now = (): number => here.performance.now();

interface Reply {
    status: number; // 0: there was no whole answer
    retryAfter: number; // ms
    body: any;
}

/** Ends early when the signal is aborted. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((done) => {
        if (signal?.aborted) return done();
        const end = () => {
            here.clearTimeout(timer);
            signal?.removeEventListener('abort', end);
            done();
        };
        const timer = here.setTimeout(end, ms);
        signal?.addEventListener('abort', end);
    });
}

/** What a refusal says. */
const detail = (reply: Reply): string =>
    String(reply.body?.errors?.[0]?.message ?? reply.body?.detail ?? reply.body?.title ?? 'no reason given');

/** Whether the same request may succeed later. */
const isAway = (status: number): boolean => status < 300 || status >= 500 || status === 408 || status === 429;

/** Twice as long each time, spread, and no less than the server has asked for. */
const backoff = (tries: number, reply: Reply, most = BACKOFF_MAX): number =>
    Math.max(reply.retryAfter, Math.min(most, 100 * 2 ** Math.min(tries - 1, 20)) * (0.5 + Math.random() / 2));

const failure = (code: string, message: string, errorClass: ErrorClass) =>
    ({ error: { code, message: message.slice(0, 2000), class: errorClass } });

const newKey = (): string => `${here.crypto?.randomUUID?.() ?? Math.random()}-${now()}-${Math.random()}`;

/** A job that is under way: its lease is kept until it is answered. */
class Running {
    readonly job: Job;
    leaseEnd: number;
    isOver = false; // it was answered, or is not answered any more
    private readonly abort = new AbortController();
    private readonly isRepeated: boolean;
    private wake: () => void = () => {};
    private reported: { progress: unknown } | null = null;

    constructor(private readonly worker: Worker, private readonly fields: any, isRepeated: boolean) {
        const { id, type, input, idempotencyKey, attempt, executionId, step, progress } = fields;
        this.leaseEnd = now() + worker.lease * 1000;
        this.isRepeated = isRepeated; // its lease began some time ago
        this.job = {
            id, type, input, idempotencyKey, attempt, executionId, step, progress,
            signal: this.abort.signal,
            report: (what: unknown) => {
                this.reported = { progress: what };
                this.wake();
            },
        };
    }

    get token(): string {
        return this.fields.leaseToken;
    }

    cancel(reason: string): void {
        if (this.isOver || this.abort.signal.aborted) return;
        log(`job ${this.job.id} of ${this.job.type}: ${reason}`);
        this.abort.abort(new Error(reason));
        this.wake();
    }

    /** True for who ends it first. */
    end(): boolean {
        const isFirst = !this.isOver;
        this.isOver = true;
        this.wake();
        return isFirst;
    }

    /** Renew the lease until the job is over. */
    async keep(): Promise<void> {
        const every = (this.worker.lease * 1000) / 3;
        const least = Math.min(1000, every); // between two heartbeats, however often it reports
        let last = now();
        let due = this.isRepeated ? last : last + every;
        while (!this.isOver && !this.abort.signal.aborted) {
            const left = (this.reported ? Math.min(due, last + least) : due) - now();
            if (left > 0) {
                const woken = new AbortController();
                this.wake = () => woken.abort();
                await sleep(left, woken.signal);
                continue;
            }
            last = now();
            due = await this.renew(last, every);
        }
    }

    /** One heartbeat; when the next is due. */
    private async renew(sentAt: number, every: number): Promise<number> {
        const report = this.reported;
        const left = this.leaseEnd - sentAt;
        let reply: Reply = { status: 0, retryAfter: 0, body: null };
        this.reported = null;
        if (left > 0)
            reply = await this.worker.ask(`/jobs/${this.job.id}/heartbeat`, { leaseToken: this.token, ...report }, Math.min(every, left) + 50);
        if (reply.status === 200) {
            this.leaseEnd = sentAt + this.worker.lease * 1000;
            return sentAt + every;
        }
        if (reply.status === 404 || reply.status === 409) {
            this.cancel(`the lease is over: ${detail(reply)}`);
        } else if (now() >= this.leaseEnd) {
            this.cancel('the lease has run out; the server was not reached in time');
        } else if (report && !isAway(reply.status) && reply.status !== 401 && reply.status !== 403) {
            log(`job ${this.job.id}: its progress is refused: ${detail(reply)}`);
            return sentAt; // without it, at once
        } else {
            this.reported ??= report;
        }
        // Tried again soon; in time to say that the lease has run out.
        return Math.min(now() + every / 2, this.leaseEnd);
    }
}

/** Claims jobs and gives each to the handler of its type, `concurrency` at a time. */
export class Worker {
    readonly lease: number;
    private readonly url: string;
    private readonly token: string;
    private readonly name: string;
    private readonly concurrency: number;
    private readonly wait: number;
    private readonly grace: number;
    private readonly handlers = new Map<string, Handler>();
    private readonly stopping = new AbortController();
    private readonly running = new Set<Running>();
    private changed: () => void = () => {};
    private stoppedAt = Infinity;

    constructor(options: Options = {}) {
        this.url = (options.url ?? environment.PAWL_URL ?? 'http://127.0.0.1:7070').replace(/\/+$/, '');
        this.token = options.token ?? environment.PAWL_TOKEN ?? '';
        this.name = options.name ?? `${environment.HOSTNAME ?? 'node'}-${here.process?.pid ?? 0}`;
        this.concurrency = options.concurrency ?? 4;
        this.lease = options.lease ?? 60;
        this.wait = options.wait ?? 10;
        this.grace = options.grace ?? 20;
        if (!/^https?:\/\/./.test(this.url)) throw new Error('PAWL_URL is an address such as http://127.0.0.1:7070');
        if (!this.token) throw new Error('PAWL_TOKEN has no token: pawl user add NAME --role worker makes one');
        if (!(this.concurrency >= 1 && this.concurrency <= 100)) throw new Error('concurrency is 1 to 100');
    }

    /** A handler for a procedure, shop.pack, or a pattern, shop.*; the longest that fits counts. */
    handle(type: string, handler: Handler): void {
        this.handlers.set(type, handler);
    }

    private handlerOf(type: string): Handler {
        const fits = (t: string) => t === type || (t.endsWith('.*') && type.startsWith(t.slice(0, -1)));
        const best = [...this.handlers.keys()].filter(fits).sort((a, b) => Number(b === type) - Number(a === type) || b.length - a.length)[0];
        const handler = this.handlers.get(best ?? '');
        if (!handler) throw new Error(`no handler for ${type}`);
        return handler;
    }

    async ask(path: string, body: unknown, timeout: number, key?: string): Promise<Reply> {
        const late = new AbortController();
        const timer = here.setTimeout(() => late.abort(), timeout);
        try {
            const answer = await here.fetch(`${this.url}/api/v1${path}`, {
                method: 'POST',
                headers: {
                    authorization: `Bearer ${this.token}`,
                    'content-type': 'application/json',
                    ...(key ? { 'idempotency-key': key } : {}),
                },
                body: JSON.stringify(body),
                signal: late.signal,
            });
            const text = await readBounded(answer);
            const asked = Number(answer.headers.get('retry-after') ?? 0) * 1000;
            const retryAfter = Number.isFinite(asked) ? Math.min(Math.max(asked, 0), RETRY_AFTER_MAX) : 0;
            let json: any = null;
            try {
                json = JSON.parse(text);
            } catch {
                // Not JSON: something between here and the server has answered.
            }
            return { status: answer.status, retryAfter, body: json };
        } catch {
            return { status: 0, retryAfter: 0, body: null };
        } finally {
            here.clearTimeout(timer);
        }
    }

    private async claim(most: number): Promise<Running[]> {
        const ms = (seconds: number) => `${Math.round(seconds * 1000)}ms`;
        const body = { types: [...this.handlers.keys()].sort(), max: most, wait: ms(this.wait), lease: ms(this.lease), worker: this.name };
        let key = newKey();
        for (let tries = 1; ; tries++) {
            const wasStopping = this.stopping.signal.aborted;
            const reply = await this.ask('/jobs/claim', body, this.wait * 1000 + 15000, key);
            if (reply.status === 200 && Array.isArray(reply.body?.items))
                return reply.body.items.map((fields: any) => new Running(this, fields, tries > 1));
            if (reply.status === 409) key = newKey();
            else if (!isAway(reply.status)) throw new Refused(`the server refuses to give jobs (${reply.status}): ${detail(reply)}`);
            if (tries === 1 || tries % 20 === 0) log(`the server gives no jobs (${reply.status || 'no answer'}), trying again`);
            // Once more at a stop: jobs may have been leased by the claim whose answer was lost.
            if (wasStopping) return [];
            await sleep(backoff(tries, reply), this.stopping.signal);
        }
    }

    /** Answer a job until the server has heard it. False: it is not wanted any more. */
    private async send(running: Running, what: string, body: object): Promise<boolean> {
        for (let tries = 1; ; tries++) {
            const reply = await this.ask(`/jobs/${running.job.id}/${what}`, { leaseToken: running.token, ...body }, 30000);
            if (reply.status === 200) return true;
            if (reply.status === 404 || reply.status === 409) return false;
            if (!isAway(reply.status) && reply.status !== 401 && reply.status !== 403) {
                log(`job ${running.job.id}: its answer is refused (${reply.status}): ${detail(reply)}`);
                if (what !== 'complete') return false;
                what = 'fail';
                body = failure('answer_refused', detail(reply), 'indeterminate');
                continue;
            }
            if (now() > running.leaseEnd + this.lease * 1000 || (running.isOver && tries >= 3)) return false;
            await sleep(backoff(tries, reply, this.lease * 250));
        }
    }

    private async result(job: Job): Promise<[string, object]> {
        try {
            const output = (await this.handlerOf(job.type)(job)) ?? null;
            JSON.stringify(output);
            return ['complete', { output }];
        } catch (error: any) {
            if (error instanceof JobError) return ['fail', failure(error.code, error.message, error.errorClass)];
            log(`job ${job.id} of ${job.type}: ${error?.stack ?? error}`);
            return ['fail', failure('worker_error', String(error), 'indeterminate')];
        }
    }

    private async work(running: Running): Promise<void> {
        void running.keep();
        const [what, body] = await this.result(running.job);
        if (!running.isOver && !(await this.send(running, what, body))) log(`job ${running.job.id}: its answer is not wanted any more`);
        running.end();
        this.running.delete(running);
        this.changed();
    }

    private async takeJobs(): Promise<void> {
        while (!this.stopping.signal.aborted) {
            if (this.running.size >= this.concurrency) {
                await this.change(60000);
                continue;
            }
            for (const running of await this.claim(this.concurrency - this.running.size)) {
                if (this.stopping.signal.aborted) {
                    running.end();
                    await this.send(running, 'return', {});
                } else {
                    this.running.add(running);
                    void this.work(running);
                }
            }
        }
    }

    /** Until a job has ended or the worker is to stop; `ms` at most. */
    private change(ms: number): Promise<void> {
        const woken = new AbortController();
        this.changed = () => woken.abort();
        return sleep(ms, woken.signal);
    }

    /** Claim no more; run() returns when what is under way has ended or was given up. */
    stop(): void {
        if (!this.stopping.signal.aborted) log(`stopping; jobs under way: ${this.running.size}`);
        this.stoppedAt = Math.min(this.stoppedAt, now());
        this.stopping.abort();
        this.changed();
    }

    /** Work until stop(), SIGTERM or SIGINT. Rejects with Refused when the server refuses the worker. */
    async run(): Promise<void> {
        if (this.handlers.size === 0) throw new Error('the worker has no handlers');
        const onSignal = () => this.stop();
        const signals = ['SIGTERM', 'SIGINT'];
        for (const name of signals) here.process?.once?.(name, onSignal); // the second one ends it at once
        try {
            await this.takeJobs(); // its last poll ends by itself: what it is given goes back
        } finally {
            this.stop();
            await this.finish();
            for (const name of signals) here.process?.removeListener?.(name, onSignal);
        }
    }

    /** Let handlers end by themselves for `grace`; what is left is failed as indeterminate. */
    private async finish(): Promise<void> {
        await this.rest(this.stoppedAt + this.grace * 1000);
        for (const running of this.running) running.cancel('the worker stops');
        await this.rest(now() + 1000);
        for (const running of this.running)
            if (running.end()) await this.send(running, 'fail', failure('worker_stopped', 'the worker was stopped amid the job', 'indeterminate'));
    }

    private async rest(until: number): Promise<void> {
        while (this.running.size > 0 && now() < until) await this.change(until - now());
    }
}

async function readBounded(answer: any): Promise<string> {
    const decoder = new here.TextDecoder();
    let text = '';
    for await (const chunk of answer.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        if (text.length > ANSWER_MAX) throw new Error('the answer is too large');
    }
    return text + decoder.decode();
}
