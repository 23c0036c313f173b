// What the store takes on a small volume: its log is bounded by the free space and truncated when it is quiet.
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Server, until } from '../kill/server.mjs';

const MIB = 1 << 20;
const pawl = resolve(process.env.PAWL ?? 'build/pawl');
let passed = 0, failed = 0, skipped = 0;

const must = (ok, what) => {
    if (!ok) throw new Error(what);
};

/** A volume of its own with a server on it. */
async function claim(name, size, run) {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-space-'));
    const data = join(folder, 'volume');
    mkdirSync(data);
    try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', data], { stdio: 'pipe' });
    } catch {
        skipped++;
        console.log(`skipped ${name}: a file system cannot be mounted here`);
        return;
    }
    const server = new Server(data, null, pawl);
    try {
        must(await server.start(), server.log);
        await run(server, data);
        passed++;
    } catch (error) {
        failed++;
        console.log(`FAILED ${name}\n  ${error.stack}`);
    }
    await server.kill();
    execFileSync('umount', ['-l', data]);
    rmSync(folder, { recursive: true, force: true });
}

const logBytes = (data) => (existsSync(join(data, 'pawl.db-wal')) ? statSync(join(data, 'pawl.db-wal')).size : 0);
const freeBytes = (data) => { const s = statfsSync(data); return s.bavail * s.bsize; };
const put = (client, n) => client.ask('PUT', '/api/v1/config/hot', { value: `${n}`.padEnd(60000, 'x') });

/** Write the same value again and again: much goes through the log, and the file stays small. */
async function churn(client, data, times) {
    let most = 0;
    for (let i = 0; i < times; i++) {
        const answer = await put(client, i);
        must(answer.status < 300, `change ${i} of ${times}: ${answer.status} ${JSON.stringify(answer.body)}, log ${logBytes(data)}`);
        most = Math.max(most, logBytes(data));
    }
    return most;
}

function fill(file) {
    const fd = openSync(file, 'w');
    try {
        for (const block of [1 << 16, 1 << 12]) {
            try {
                for (;;) writeSync(fd, Buffer.alloc(block));
            } catch {
                // There is no room for more of this size.
            }
        }
    } finally {
        closeSync(fd);
    }
}

await claim('the log of a small store takes a part of a small volume, however much is written', '64m', async (server, data) => {
    const client = server.client();
    const most = await churn(client, data, 1400); // some 85 MB
    must(most > MIB, `the log had ${most} bytes: this claim says nothing`);
    must(most < 20 * MIB, `the log had ${most} bytes`);
    must(freeBytes(data) > 30 * MIB, `${freeBytes(data)} bytes are free`);
    await until('the log is truncated when it is quiet', () => logBytes(data) < MIB, 30);
    must((await put(client, 'after')).status === 200, 'and work goes on');
    client.close();
});

await claim('a server on a volume that its own log has filled comes up again', '64m', async (server, data) => {
    const client = server.client();
    await churn(client, data, 150);
    client.close();
    await server.kill();
    must(logBytes(data) > MIB, `the log has ${logBytes(data)} bytes`);
    fill(join(data, 'ballast'));
    must(await server.start(), `it does not come up: ${server.log}`);
    const again = server.client();
    must((await again.ask('GET', '/api/v1/config/hot')).body.value.startsWith('149'), 'what was acknowledged is there');
    await until('changes are taken', async () => (await put(again, 'on')).status === 200, 30);
    again.close();
});

await claim('a server on a full volume comes up, reads, and says what to do', '64m', async (server, data) => {
    const client = server.client();
    must((await put(client, 'x')).status === 201, 'a value');
    await until('the log is truncated', () => logBytes(data) < MIB, 30);
    client.close();
    await server.kill();
    fill(join(data, 'ballast'));
    must(await server.start(), `it does not come up: ${server.log}`);
    must(/no space left/.test(server.log) && /free some/.test(server.log), `it says: ${server.log}`);
    const again = server.client();
    must((await again.ask('GET', '/api/v1/config/hot')).status === 200, 'it reads');
    let answer;
    // What replaces something may find room where that was; what is new cannot.
    for (let i = 0; i < 100 && answer?.status !== 503; i++)
        answer = await again.ask('PUT', `/api/v1/templates/t${i}`, { subject: 's', body: `${i}`.padEnd(60000, 'x') });
    must(answer.status === 503 && /space/.test(answer.body.detail), JSON.stringify(answer.body));
    must((await again.ask('GET', '/api/v1/config/hot')).status === 200, 'it still reads');
    rmSync(join(data, 'ballast'));
    await until('changes are taken', async () => (await put(again, 'z')).status === 200, 30);
    again.close();
});

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed === 0 ? 0 : 1);
