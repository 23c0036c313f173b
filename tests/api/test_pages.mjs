// Pages are bounded in bytes: what a viewer lists cannot fill the server's memory; on both stores.

import { amount } from '../lib/budget.mjs';
import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';

const MIB = 1 << 20;
const RECORDS = amount('pages.records');
const ORDERED = 12;
const PAGE = 4 * MIB + MIB + 100000; // an item may begin before the end
const LARGE = 'x'.repeat(MIB - 200);

const statusOf = (rig, name) => rig.server.memoryMb(name) * MIB;

async function prepare(rig) {
    rig.idle = statusOf(rig, 'VmRSS');
    for (let i = 0; i < RECORDS; i++)
        equal((await rig.api('PUT', `/records/large/L-${String(i).padStart(4, '0')}`, { n: i, text: LARGE })).status, 201);
    for (let i = 0; i < ORDERED; i++)
        equal((await rig.api('PUT', `/records/ordered/O-${i}`, { n: i, text: LARGE })).status, 201);
    await rig.publish({
        code: 'large', steps: [{ code: 'keep', procedure: { type: 'compute.transform', data: { text: '$.input.text' } } }],
        result: { text: '$.input.text' },
    });
    for (let i = 0; i < 24; i++) await rig.begin('large', { input: { text: 'y'.repeat(MIB / 3) } });
}

/** All of a list by its cursors; every page is bounded, and none is empty before the last. */
async function walk(rig, path) {
    const ids = [];
    let cursor = null, pages = 0;
    do {
        const at = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
        const page = await rig.api('GET', `${path}${at}`);
        equal(page.status, 200, JSON.stringify(page.body).slice(0, 300));
        check(JSON.stringify(page.body).length < PAGE, `a page has ${JSON.stringify(page.body).length} bytes`);
        ids.push(...page.body.items.map((item) => item.id));
        cursor = page.body.nextCursor;
        pages++;
    } while (cursor);
    return { ids, pages };
}

claim('a page of records ends at 4 MiB, and the next goes on', async (rig) => {
    const wanted = Array.from({ length: RECORDS }, (_, i) => `L-${String(i).padStart(4, '0')}`);
    const all = await walk(rig, '/records/large?limit=500');
    equal(all.ids, wanted);
    check(all.pages >= RECORDS / 5, `${all.pages} pages`);
    equal((await rig.api('GET', '/records/large?limit=1')).body.items.length, 1);
});

claim('a page of records in an order ends at 4 MiB too', async (rig) => {
    const first = await rig.api('GET', '/records/ordered?limit=500&orderBy=n desc'.replace(' ', '%20'));
    equal(first.status, 200, JSON.stringify(first.body).slice(0, 300));
    check(first.body.items.length >= 3 && first.body.items.length <= 5, `${first.body.items.length} items`);
    equal(first.body.items[0].n, ORDERED - 1);
    const next = await rig.api('GET', `/records/ordered?limit=500&orderBy=n%20desc&cursor=${first.body.nextCursor}`);
    equal(next.body.items[0].n, ORDERED - 1 - first.body.items.length);
});

claim('a page of executions ends at 4 MiB, and the next goes on', async (rig) => {
    const all = await walk(rig, '/executions?limit=500&code=large');
    equal([all.ids.length, new Set(all.ids).size], [24, 24]);
    check(all.pages > 1, 'one page has them all');
    const byStatus = await walk(rig, '/executions?limit=500&status=completed,failed');
    equal(byStatus.ids, all.ids);
});

claim('sixteen lists at once stay within 200 MB above idle', async (rig) => {
    const clients = Array.from({ length: 16 }, () => rig.server.client());
    const paths = ['/records/large?limit=500', '/records/large?limit=1', '/executions?limit=500',
        '/records/large?limit=500&orderBy=n', '/records/large?where=record.n%20%3E%203&limit=500'];
    for (const path of paths)
        await Promise.all(clients.map((client) => client.ask('GET', `/api/v1${path}`)));
    clients.forEach((client) => client.close());
    const above = statusOf(rig, 'VmHWM') - rig.idle;
    if (process.env.TIMES) console.log(`peak ${Math.round(above / MIB)} MiB above idle on ${rig.name}`);
    check(above < 200e6, `the server peaked ${Math.round(above / 1e6)} MB above idle`);
});

claim('a page of dead letters ends at 4 MiB, and the next goes on', async (rig) => {
    await rig.publish({
        code: 'stuck', onError: 'hold',
        steps: [{ code: 'stop', procedure: { type: 'compute.fail', code: 'no', message: 'no', details: { text: '$.input.text' } } }],
    });
    for (let i = 0; i < 24; i++) await rig.begin('stuck', { input: { text: 'z'.repeat(MIB / 3) } });
    const all = await walk(rig, '/dlq?limit=500');
    equal(new Set(all.ids).size, 24);
    check(all.pages >= 2, `${all.pages} pages`);
});

claim('a page of what is live as it is saved ends at 4 MiB too', async (rig) => {
    const codes = Array.from({ length: 20 }, (_, i) => `large_${String(i).padStart(2, '0')}`);
    for (const code of codes) {
        const saved = await rig.api('PUT', `/templates/${code}`, { subject: 's', body: 'я'.repeat(95000), html: 'я'.repeat(95000) });
        equal(saved.status, 201, saved.raw);
    }
    const found = [];
    let cursor = '';
    do {
        const page = await rig.api('GET', `/templates?limit=500${cursor}`);
        equal(page.status, 200);
        check(Buffer.byteLength(page.raw) < PAGE, `a page has ${Buffer.byteLength(page.raw)} bytes`);
        found.push(...page.body.items.map((item) => item.code));
        cursor = page.body.nextCursor && `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
    } while (cursor);
    equal(found, codes);
    equal((await rig.all('/templates', 3)).map((item) => item.code), codes);
});

claim('a summary of a change has at most 2,000 bytes', async (rig) => {
    const item = { kind: 'scenario', code: 'summed', steps: [] };
    const { kind, ...definition } = item;
    equal((await rig.api('PUT', '/scenarios/summed/draft', definition)).status, 200, kind);
    for (const [path, body] of [['/scenarios/summed/publish', {}], ['/import', { items: [item] }]]) {
        const answer = await rig.api('POST', path, { ...body, changeSummary: 'я'.repeat(1001) });
        equal([answer.status, answer.body.errors[0].pointer], [422, '/changeSummary'], path);
    }
    equal((await rig.api('POST', '/scenarios/summed/publish', { changeSummary: 'я'.repeat(1000) })).status, 200);
});

await run(prepare);
