// A worker with one handler for each thing that test_clients.mjs looks at.
import { JobError, Refused, Worker } from './pawl_worker.js';

const { argv, exit } = (globalThis as any).process;
const worker = new Worker({ name: 'trial-typescript', concurrency: 4, lease: Number(argv[2]), wait: 1, grace: Number(argv[3]) });
const pause = (ms: number, signal?: AbortSignal) => new Promise<void>((done) => {
    setTimeout(done, ms);
    signal?.addEventListener('abort', () => done());
});

worker.handle('trial.echo', (job) => ({
    input: job.input, key: job.idempotencyKey, attempt: job.attempt, progress: job.progress ?? null, step: job.step, execution: job.executionId,
}));
worker.handle('trial.fail', ({ input }) => {
    throw new JobError(input.code, input.message, input.class);
});
worker.handle('trial.break', () => {
    throw new TypeError('made up');
});
worker.handle('trial.large', ({ input }) => 'x'.repeat(input.bytes));
worker.handle('trial.slow', async (job) => {
    job.report({ page: 1 });
    await pause(job.input.ms, job.signal);
    if (!job.signal.aborted) return 'slept';
    console.log(`CANCELLED ${job.id}: ${job.signal.reason.message}`);
    return 'cancelled';
});
worker.handle('trial.deaf', ({ input }) => pause(input.ms));
worker.handle('many.*', (job) => job.type);

try {
    await worker.run();
    console.log('STOPPED');
    exit(0);
} catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.log(`REFUSED ${error.message}`);
    exit(1);
}
