// What the store takes on a small volume: its log is bounded by the free space and truncated when it is quiet.
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, statSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { check, claim, end, Skip } from '../lib/claims.mjs';
import { makeFolder, pawl } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const MIB = 1 << 20;
/** A volume of its own with a server on it. */
const onVolume = (name, size, run) => claim(name, async () => {
    const data = join(makeFolder(), 'volume');
    mkdirSync(data);
    try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', data], { stdio: 'pipe' });
    } catch {
        throw new Skip('a file system cannot be mounted here');
    }
    const server = new Server(data);
    try {
        check(await server.start(), server.log);
        await run(server, data);
    } finally {
        await server.kill();
        execFileSync('umount', ['-l', data]);
    }
});

const logBytes = (data) => (existsSync(join(data, 'pawl.db-wal')) ? statSync(join(data, 'pawl.db-wal')).size : 0);
const freeBytes = (data) => { const s = statfsSync(data); return s.bavail * s.bsize; };
const put = (client, n) => client.ask('PUT', '/api/v1/config/hot', { value: `${n}`.padEnd(60000, 'x') });

/** Write the same value again and again: much goes through the log, and the file stays small. */
async function churn(client, data, times) {
    let most = 0;
    for (let i = 0; i < times; i++) {
        const answer = await put(client, i);
        check(answer.status < 300, `change ${i} of ${times}: ${answer.status} ${JSON.stringify(answer.body)}, log ${logBytes(data)}`);
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

await onVolume('the log of a small store takes a part of a small volume, however much is written', '64m', async (server, data) => {
    const client = server.client();
    const most = await churn(client, data, 1400); // some 85 MB
    check(most > MIB, `the log had ${most} bytes: this claim says nothing`);
    check(most < 20 * MIB, `the log had ${most} bytes`);
    check(freeBytes(data) > 30 * MIB, `${freeBytes(data)} bytes are free`);
    await until('the log is truncated when it is quiet', () => logBytes(data) < MIB, 30);
    check((await put(client, 'after')).status === 200, 'and work goes on');
    client.close();
});

await onVolume('a server on a volume that its own log has filled comes up again', '64m', async (server, data) => {
    const client = server.client();
    await churn(client, data, 150);
    client.close();
    await server.kill();
    check(logBytes(data) > MIB, `the log has ${logBytes(data)} bytes`);
    fill(join(data, 'ballast'));
    check(await server.start(), `it does not come up: ${server.log}`);
    const again = server.client();
    check((await again.ask('GET', '/api/v1/config/hot')).body.value.startsWith('149'), 'what was acknowledged is there');
    await until('changes are taken', async () => (await put(again, 'on')).status === 200, 30);
    again.close();
});

await onVolume('a server on a full volume comes up, reads, and says what to do', '64m', async (server, data) => {
    const client = server.client();
    check((await put(client, 'x')).status === 201, 'a value');
    await until('the log is truncated', () => logBytes(data) < MIB, 30);
    client.close();
    await server.kill();
    fill(join(data, 'ballast'));
    check(await server.start(), `it does not come up: ${server.log}`);
    check(/no space left/.test(server.log) && /free some/.test(server.log), `it says: ${server.log}`);
    const again = server.client();
    check((await again.ask('GET', '/api/v1/config/hot')).status === 200, 'it reads');
    let answer;
    // What replaces something may find room where that was; what is new cannot.
    for (let i = 0; i < 100 && answer?.status !== 503; i++)
        answer = await again.ask('PUT', `/api/v1/templates/t${i}`, { subject: 's', body: `${i}`.padEnd(60000, 'x') });
    check(answer.status === 503 && /space/.test(answer.body.detail), JSON.stringify(answer.body));
    check((await again.ask('GET', '/api/v1/config/hot')).status === 200, 'it still reads');
    rmSync(join(data, 'ballast'));
    await until('changes are taken', async () => (await put(again, 'z')).status === 200, 30);
    again.close();
});

/** How many pages the log has in use: mxFrame in the head of its index. */
function logPages(data) {
    const fd = openSync(join(data, 'pawl.db-shm'), 'r');
    const head = Buffer.alloc(20);
    readSync(fd, head);
    closeSync(fd);
    return head.readUInt32LE(16);
}

await onVolume('a long log with a short index, as a kill leaves it, does not end a server on a full volume', '170m', async (server, data) => {
    const client = server.client();
    // The log is begun anew, its file stays long; what is killed then leaves an index of few pages.
    for (let i = 0; logBytes(data) < 20 * MIB || logPages(data) > 1000; i++)
        check((await put(client, i)).status < 300, `change ${i}, log ${logBytes(data)}`);
    client.close();
    await server.kill();
    check(await server.start(), server.log);
    fill(join(data, 'ballast'));
    const again = server.client();
    let full = null;
    for (let i = 0; i < 700 && !full; i++) {
        const answer = await put(again, i);
        if (answer.status !== 200) full = answer;
    }
    check(!full || (full.status === 503 && /no space left/.test(full.body.detail)), `${full?.status} ${JSON.stringify(full?.body)} ${server.log}`);
    check((await again.ask('GET', '/api/v1/config/hot')).status === 200, 'it still reads');
    again.close();
    await server.kill();
    check(await server.start(), `it does not come up: ${server.log}`);
    rmSync(join(data, 'ballast'));
    const last = server.client();
    await until('changes are taken', async () => (await put(last, 'z')).status === 200, 30);
    last.close();
});

/** Executions with a large input until the volume is full: how many were taken. */
async function startUntilFull(client) {
    const scenario = { code: 'fill', name: 'Fill', input: [{ name: 'p', type: 'string' }], steps: [{ code: 'a', procedure: { type: 'compute.transform', data: { x: 1 } } }] };
    check((await client.ask('PUT', '/api/v1/scenarios/fill/draft', scenario)).status === 200, 'draft');
    const published = await client.ask('POST', '/api/v1/scenarios/fill/publish', {});
    check(published.status === 200, JSON.stringify(published.body));
    for (let taken = 0, refused = 0; ;) {
        const answer = await client.ask('POST', '/api/v1/executions?wait=5s', { code: 'fill', input: { p: 'x'.repeat(20000) } });
        taken += answer.status < 300;
        refused = answer.status === 503 ? refused + 1 : 0;
        check(answer.status < 300 || answer.status === 503, `${answer.status} ${JSON.stringify(answer.body)}`);
        // The log is moved into the file and truncated between two refusals.
        if (refused === 20) return taken;
    }
}

const metric = async (server, name) => {
    const { raw } = await server.call(server.token, 'GET', '/metrics');
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(raw)?.[1]);
};

await onVolume('on a full volume executions can be deleted, and work goes on', '24m', async (server, data) => {
    const client = server.client();
    const taken = await startUntilFull(client);
    check(taken > 50, `${taken} executions`);
    await until('all have ended that can', async () => (await client.ask('GET', '/api/v1/executions?limit=1&status=completed')).status === 200);

    const ready = await client.ask('GET', '/readyz');
    check(ready.status === 503 && ready.body.status === 'no_space' && /delete/.test(ready.body.detail), JSON.stringify(ready.body));
    check((await metric(server, 'pawl_store_bytes')) > 10 * MIB, 'its size is a metric');
    check((await metric(server, 'pawl_data_free_bytes')) < 4 * MIB, 'so is the free space');
    check((await metric(server, 'pawl_ready')) === 0, 'and that it is not ready');

    const typed = execFileSync(pawl, ['delete', '--where', 'status=completed', '--json', '--url', server.url, '--token', server.token], { encoding: 'utf8' });
    check(JSON.parse(typed).done > 50 && JSON.parse(typed).failed === 0, typed);
    await until('it is ready again', async () => (await client.ask('GET', '/readyz')).status === 200, 30);
    check((await client.ask('POST', '/api/v1/executions', { code: 'fill', input: { p: 'x' } })).status === 201, 'starts are taken');
    const lines = server.log.split('\n').filter((line) => /did not take/.test(line));
    check(lines.length < 5, `${lines.length} lines of the log, the last ${lines.at(-1)}`);
    await until('the log says when it is over', async () => {
        await client.ask('POST', '/api/v1/executions', { code: 'fill', input: { p: 'x' } });
        return /takes batches again/.test(server.log);
    }, 30);
    client.close();
});

await onVolume('on a full volume retention goes on', '24m', async (server, data) => {
    const client = server.client();
    const taken = await startUntilFull(client);
    client.close();
    await server.stop();
    server.args = ['--keep-completed', '1s'];
    check(await server.start(), `it does not come up: ${server.log}`);
    const again = server.client();
    await until('old ones are deleted', async () => (await metric(server, 'pawl_executions_purged_total')) > taken / 2, 60);
    check((await again.ask('POST', '/api/v1/executions', { code: 'fill', input: { p: 'x' } })).status === 201, 'starts are taken');
    check(freeBytes(data) > 4 * MIB, `${freeBytes(data)} bytes are free`);
    again.close();
});

end();
