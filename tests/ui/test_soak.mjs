// An hour of live updates (in test-full; a short while otherwise): the pages that follow what happens keep the memory they need and no more.
import { openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { amount } from '../lib/budget.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { sleep } from '../lib/wait.mjs';

const SECONDS = Number(process.env.PAWL_SOAK_SECONDS ?? amount('soak.seconds'));
const PAGES = [['/', '.dash'], ['/executions', '.trow'], ['/planner', '.tcard']];
const server = await startServer();
await server.publish({ code: 'tick', steps: [{ code: 'note', procedure: { type: 'compute.transform', data: { done: true } } }, { code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }] });
const task = (await server.asAdmin('POST', '/tasks', { title: 'work' })).body;

const browser = await openBrowser();
const pages = [];
for (const [path, ready] of PAGES) {
    const page = await openPage(browser, server);
    await page.goto(signInUrl(server, path));
    await server.asAdmin('POST', '/executions', { code: 'tick' });
    await page.waitForSelector(ready);
    pages.push({ path, page, tools: await page.context().newCDPSession(page), heap: [], nodes: [] });
}

/** A connection that was idle for long may be closed by the server just when it is used: then once more. */
const ask = (...request) => server.asAdmin(...request).catch(() => server.asAdmin(...request));

/** What the page holds when everything is collected that can be. */
async function weigh(one) {
    await one.tools.send('HeapProfiler.enable');
    await one.tools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await one.tools.send('Runtime.getHeapUsage');
    const { nodes } = await one.tools.send('Memory.getDOMCounters');
    one.heap.push(usedSize / 1048576);
    one.nodes.push(nodes);
}

await claim(`memory stays flat over ${SECONDS} s of updates`, async () => {
    const end = Date.now() + SECONDS * 1000;
    const every = Math.max(1000, SECONDS * 1000 / 24);
    let updates = 0, next = 0, version = task.row_version;
    while (Date.now() < end) {
        const begun = (await Promise.all(Array.from({ length: 5 }, () => ask('POST', '/executions', { code: 'tick' })))).map((answer) => answer.body.id);
        await Promise.all(begun.map((id) => ask('POST', `/executions/${id}/signal`, { type: 'go' })));
        const changed = (await ask('PATCH', `/tasks/${task.id}`, { priority: updates % 100, expected_row_version: version })).body;
        version = changed.row_version ?? version;
        updates += 11;
        if (Date.now() >= next) {
            next = Date.now() + every;
            for (const one of pages) await weigh(one);
        }
        await sleep(50);
    }
    for (const { path, page, heap, nodes } of pages) {
        // The first weights are those of a page that still fills its caches; the middle is held against the end.
        const third = (list, at) => list.slice(Math.floor(list.length * at / 3), Math.ceil(list.length * (at + 1) / 3)).sort((a, b) => a - b);
        const median = (list) => list[list.length >> 1];
        const [middle, last] = [median(third(heap, 1)), median(third(heap, 2))];
        console.log(`${path}: ${updates} updates; heap ${heap[0].toFixed(1)} MB at first, ${middle.toFixed(1)} in the middle, ${last.toFixed(1)} at the end; nodes ${nodes[0]}, ${nodes.at(-1)}`);
        equal(last < middle * 1.15 + 4, true, `${path}: ${heap.map((n) => n.toFixed(1)).join(' ')} MB`);
        equal(nodes.at(-1) < Math.max(nodes[0], median(third(nodes, 1))) * 1.5 + 2000, true, `${path}: ${nodes.join(' ')} nodes`);
        equal(page.wrong, [], path);
    }
});

await browser.close();
await server.stop();
end();
