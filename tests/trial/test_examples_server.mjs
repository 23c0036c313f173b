#!/usr/bin/env node
// The examples on a real server: applied as a person would, started, answered, followed to their end.
import { spawnSync } from 'node:child_process';

import { claim, end, equal } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';
import { Rig } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const rig = new Rig();

const state = async (id) => (await rig.api('GET', `/executions/${id}`)).body;
const standsAt = (id, step) => until(`${step} waits`, async () => {
    const x = await state(id);
    if (x.completedAt) throw new Error(`it ended: ${JSON.stringify(x.error)}`);
    return x.currentStep === step && x.status === 'waiting';
});
const ended = (id) => until('it ends', async () => {
    const x = await state(id);
    return x.completedAt && x;
});
const send = async (id, type, payload) => equal((await rig.api('POST', `/executions/${id}/signal`, { type, payload })).status, 202, `signal ${type}`);
const record = async (object, id) => (await rig.api('GET', `/records/${object}/${encodeURIComponent(id)}`)).body;

await rig.start();
await claim('all four are published', () => {
    const names = ['client_onboarding', 'discount_approval', 'order_processing', 'contract_signing'];
    const { status, stdout, stderr } = spawnSync(pawl, ['apply', ...names.map((n) => `examples/${n}.json`)], {
        encoding: 'utf8',
        env: { ...process.env, PAWL_URL: rig.server.url, PAWL_DATA: rig.server.data },
    });
    equal([status, stderr], [0, ''], stdout);
    for (const name of names) equal(stdout.includes(`${name}: published version 1`), true, stdout);
});

await claim('a client is taken on board', async () => {
    const { id } = await rig.begin('client_onboarding', { input: { client: 'Ada', email: 'ada@example.com', integrations: ['crm'] } });
    await standsAt(id, 'confirmation');
    equal((await record('client', 'ada@example.com')).status, 'unconfirmed');
    await send(id, 'email_confirmed', { email: 'ada@example.com' });
    await standsAt(id, 'ready');
    await send(id, 'integration_ready', { name: 'crm' });
    const x = await ended(id);
    equal([x.status, x.result], ['completed', { client: 'ada@example.com', connected: ['crm'], missing: [] }]);
    equal((await record('client', 'ada@example.com')).status, 'active');
    equal((await rig.all('/records/letter?')).length, 1, 'letters');
});

await claim('a director decides about a large discount', async () => {
    const { id } = await rig.begin('discount_approval', { input: { deal: 'D-1', amount: 250000, percent: 12 } });
    await standsAt(id, 'ask');
    const { waitingFor, key } = await state(id);
    equal([waitingFor.assignee, key], ['group:directors', 'D-1']);
    const bad = await rig.api('POST', `/executions/${id}/signal`, { type: 'approval_decision', payload: { approved: 'yes' } });
    equal(bad.status, 422, 'a form that is filled in wrongly');
    await send(id, 'approval_decision', { approved: true, comment: 'fine' });
    const x = await ended(id);
    equal([x.status, x.result], ['completed', { approved: true, by: 'admin', comment: 'fine' }]);
    equal((await record('deal', 'D-1')).discount, 12);
});

await claim('an order is paid and shipped', async () => {
    await rig.api('PUT', '/records/stock/bolt', { left: 10 });
    const { id } = await rig.begin('order_processing', { input: { order: 'A-1', customer: 'Ada', cents: 4200, items: [{ sku: 'bolt', count: 4 }] } });
    await standsAt(id, 'payment');
    await send(id, 'payment_completed');
    await standsAt(id, 'pickup');
    await send(id, 'parcel_picked_up', { parcel: 'P-1' });
    const x = await ended(id);
    equal([x.status, x.result], ['completed', { order: 'A-1', parcel: 'P-1' }]);
    equal((await record('stock', 'bolt')).left, 6);
});

await claim('an order that is not paid is undone, also after a crash', async () => {
    const { id } = await rig.begin('order_processing', { input: { order: 'A-2', customer: 'Ada', cents: 4200, items: [{ sku: 'bolt', count: 4 }] } });
    await standsAt(id, 'payment');
    equal((await record('stock', 'bolt')).left, 2);
    await rig.restart();
    await send(id, 'payment_failed');
    const x = await ended(id);
    equal([x.status, x.error.code, x.error.compensation], ['failed', 'payment_refused', { compensated: ['charge', 'take'], failed: [] }]);
    equal((await record('stock', 'bolt')).left, 6);
    equal((await record('payment', 'A-2')).status, 'refunded');
});

await claim('a contract is signed by both and becomes active', async () => {
    const parties = [{ name: 'Ada', email: 'ada@example.com' }, { name: 'Bob', email: 'bob@example.com' }];
    const { id } = await rig.begin('contract_signing', { input: { contract: 'C-1', starts: '2026-01-01T00:00:00Z', parties } });
    await standsAt(id, 'signature');
    await send(id, 'document_signed', { email: 'bob@example.com' });
    await send(id, 'document_signed', { email: 'ada@example.com' });
    const x = await ended(id);
    equal([x.status, x.result.signatures.map((s) => s.by)], ['completed', ['Ada', 'Bob']]);
    equal((await record('contract', 'C-1')).status, 'active');
});

await rig.close();
end();
