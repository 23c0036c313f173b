// pawl job: what waits for workers or is with one, and endpoints that do jobs.

import { claim, end, equal } from '../lib/claims.mjs';
import { execute, makeFolder, pawl } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';

const folder = makeFolder();
const s = await startServer();

const env = { PATH: process.env.PATH, PAWL_URL: s.url, PAWL_DATA: s.data };
const cli = (...args) => execute(pawl, args, { env, cwd: folder });

async function said(status, parts, ...args) {
    const answer = await cli(...args);
    equal(answer.status, status, answer.out);
    for (const part of parts) equal(answer.out.includes(part), true, `"${part}" in ${answer.out}`);
    return answer.out;
}

async function publish(code, procedure) {
    const path = `/scenarios/${code}`;
    equal((await s.asAdmin('PUT', `${path}/draft`, { code, steps: [{ code: 'do', procedure }] })).body.valid, true);
    equal((await s.asAdmin('POST', `${path}/publish`, {})).status, 200);
}

await claim('an empty list says so', async () => {
    await said(0, ['no job waits for a worker'], 'job');
    await said(0, ['{"items":[]'], 'job', 'ls', '--json');
});

await claim('jobs are listed with their status, worker, lease and execution', async () => {
    await publish('packing', 'shop.pack');
    await publish('billing', 'shop.bill');
    const first = (await s.asAdmin('POST', '/executions', { code: 'packing' })).body.id;
    await s.asAdmin('POST', '/executions', { code: 'packing' });
    await s.asAdmin('POST', '/executions', { code: 'billing' });
    const claimed = await s.asAdmin('POST', '/jobs/claim', { types: ['shop.pack'], max: 1, lease: '1h', worker: 'packer-1' });
    equal(claimed.body.items.length, 1);
    const out = await said(0, ['ID', 'LEASE', 'shop.bill'], 'job', 'ls');
    const line = out.split('\n').find((text) => text.includes('packer-1'));
    for (const part of ['shop.pack', 'leased', '60 min', first.slice(-12), 'do']) equal(line.includes(part), true, `"${part}" in ${line}`);
    const ready = await said(0, [], 'job', 'ls', '--type', 'shop.pack', '--status', 'ready');
    equal(ready.trim().split('\n').length, 2, ready);
    const all = JSON.parse(await said(0, [], 'job', 'ls', '--all', '--json'));
    equal(all.items.map((job) => job.status), ['leased', 'ready', 'ready']);
    await said(1, ['status is ready or leased'], 'job', 'ls', '--status', 'done');
});

await claim('an endpoint is registered, listed and removed', async () => {
    await said(0, ['no endpoints'], 'job', 'endpoint');
    await said(0, ['jobs of mail.* are sent to https://mail.example/jobs'], 'job', 'endpoint', 'set', 'mail', 'https://mail.example/jobs');
    await said(0, ['NAMESPACE', 'mail', 'https://mail.example/jobs'], 'job', 'endpoint', 'ls');
    equal(JSON.parse(await said(0, [], 'job', 'endpoint', '--json')).items.length, 1);
    await said(1, ['URL'], 'job', 'endpoint', 'set', 'mail', 'nowhere');
    await said(0, ['jobs of mail.* wait for workers again'], 'job', 'endpoint', 'rm', 'mail');
    await said(1, ['no endpoint'], 'job', 'endpoint', 'rm', 'mail');
});

await claim('what is no command of it is answered with its usage', async () => {
    for (const words of [['job', 'do'], ['job', 'endpoint', 'set', 'x'], ['job', 'endpoint', 'rm'], ['job', 'ls', 'more']])
        await said(2, ['usage'], ...words);
});

await s.stop();
end();
