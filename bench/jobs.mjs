// jobs.mjs - starts a server with a process of one job for bench_jobs, which measures it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Server } from '../tests/lib/server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
const server = new Server(join(folder, 'data'), { store: process.env.STORE });
if (!(await server.start())) throw new Error(server.log);
const client = server.client();
const definition = { code: 'bench_jobs', steps: [{ code: 'do', procedure: 'bench.work' }] };
await client.ask('PUT', '/api/v1/scenarios/bench_jobs/draft', definition);
await client.ask('POST', '/api/v1/scenarios/bench_jobs/publish', {});
client.close();
const { hostname, port } = new URL(server.url);
const program = process.env.BENCH_JOBS ?? 'build/bench/bench_jobs';
const { status } = spawnSync(program, [hostname, port, server.token, String(server.child.pid)], { stdio: 'inherit' });
await server.stop();
rmSync(folder, { recursive: true, force: true });
process.exitCode = status ?? 1;
