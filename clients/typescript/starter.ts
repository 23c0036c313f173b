// A worker to begin with: copy it, put your own handlers in. node starter.js [LEASE_SECONDS]
import { JobError, Worker } from './pawl_worker.js';

const { argv, exit } = (globalThis as any).process;
const worker = new Worker({ lease: Number(argv[2] ?? 60) });

worker.handle('workshop.cut', ({ input }) => {
    if (!(input.length > 0)) throw new JobError('no_length', 'there is nothing to cut');
    return { pieces: Math.floor(input.length / 10), by: 'typescript' };
});

worker.handle('workshop.*', (job) => {
    job.report({ begun: job.step });
    return { did: job.type, by: 'typescript' };
});

await worker.run();
exit(0);
