// Reading is cheap: a tab that nobody sees asks for nothing, one on a quiet server for next to nothing, and one on a
// busy server does not ask again with every step that somebody's process takes.
import { openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const server = await startServer();
const ok = async (method, path, body) => {
    const answer = await server.call(server.token, method, `/api/v1${path}`, body);
    equal(answer.status < 300, true, `${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer.body;
};
const FIELDS = 20;
await ok('POST', '/import', { items: [
    { code: 'quick', input: [{ name: 'n', type: 'integer' }, { name: 'text', type: 'string' }], steps: [{ code: 'one', procedure: { type: 'compute.transform', data: Object.fromEntries(Array.from({ length: FIELDS }, (_, i) => [`f${i}`, `=$.input.n + ${i}`])) } }] },
    { code: 'waits', input: [{ name: 'id', type: 'string', required: true }], settings: { key: '$.input.id' }, steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'a' } }] },
    { code: 'sleeps', input: [{ name: 'id', type: 'string', required: true }], settings: { key: '$.input.id' }, steps: [{ code: 'sleep', procedure: { type: 'wait.timer', duration: '30d' } }] },
] });
const start = (n, text = 'x') => ok('POST', '/executions', { code: 'quick', input: { n, text } });
await start(1, 'y'.repeat(200000));
for (const [code, id] of [['waits', 'w-1'], ['sleeps', 's-1']]) await ok('POST', '/executions', { code, input: { id } });
const stands = async (key) => (await ok('GET', `/executions?key=${key}&limit=1`)).items[0];
await until('it sleeps', async () => (await stands('s-1'))?.currentStep === 'sleep');

const browser = await openBrowser();
const page = await openPage(browser, server);
const quiet = () => equal(page.wrong.splice(0), [], 'what the browser complained about');
const asked = [];
page.on('request', (request) => { if (request.url().includes('/api/v1/') && !/\/events$/.test(request.url())) asked.push(request); });
const paths = () => asked.splice(0).map((request) => `${request.method()} ${new URL(request.url()).pathname}`);
await page.clock.install();
await page.goto(signInUrl(server, '/'));
await page.waitForSelector('.dash');

/** What a tab knows of being seen. */
const see = (isSeen) => page.evaluate((seen) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => !seen });
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => (seen ? 'visible' : 'hidden') });
    document.dispatchEvent(new Event('visibilitychange'));
}, isSeen);
const PAGES = [['/', '.dash'], ['/executions', '.trow'], ['/dlq', '.dlq'], ['/outbox', '.outlist'], ['/inbox', '.inbox, .empty'], [`/executions/${(await stands('s-1')).id}`, '.tlrows']];
const open = async ([path, selector]) => {
    await page.goto(`${server.url}${path}`);
    await page.waitForSelector(selector);
    await page.waitForSelector('.onair:not(.off)');
    await page.clock.runFor(5000);
    // What was asked for on the way is answered; the clock of the page stands meanwhile.
    await new Promise((done) => setTimeout(done, 700));
    asked.length = 0;
};

await claim('a hidden tab asks for nothing for a minute, whatever happens on the server, and looks when it is seen again', async () => {
    for (const one of PAGES) {
        await open(one);
        await see(false);
        for (let n = 0; n < 5; n++) await start(n);
        for (let second = 0; second < 60; second += 20) await page.clock.runFor(20000);
        equal(paths(), [], `${one[0]}, hidden`);
    }
    await open(PAGES[1]);
    await see(false);
    await ok('POST', '/executions', { code: 'waits', input: { id: 'w-2' } });
    await page.clock.runFor(10000);
    await see(true);
    await page.clock.runFor(3000);
    await page.waitForSelector('.trow:has-text("w-2")');
    quiet();
});

await claim('a tab on a quiet server asks a few times in a minute', async () => {
    for (const one of PAGES) {
        await open(one);
        for (let second = 0; second < 60; second += 20) await page.clock.runFor(20000);
        const all = paths();
        equal(all.length <= 8, true, `${one[0]}: ${all.length} requests, ${all.join(', ')}`);
    }
    quiet();
});

await claim('a tab on a busy server asks less often the longer that lasts', async () => {
    for (const one of [PAGES[0], PAGES[1]]) {
        await open(one);
        for (let second = 0; second < 30; second++) {
            await start(second);
            await page.clock.runFor(1000);
        }
        const all = paths();
        equal(all.length <= 60, true, `${one[0]}: ${all.length} requests in 30 s`);
    }
    quiet();
});

await claim('the values of all expressions of a step are one request, and the context stays on the server', async () => {
    await page.goto(`${server.url}/processes/scenarios/quick`);
    await page.waitForSelector('.node[data-code="one"]');
    await page.clock.runFor(2000);
    asked.length = 0;
    await page.click('.node[data-code="one"]');
    await page.clock.runFor(2000);
    await page.waitForSelector('.liveline .val');
    const evals = asked.filter((request) => request.url().endsWith('/eval'));
    equal([evals.length, evals.every((request) => request.postData().length < 5000)], [1, true], `${evals.length} requests, ${evals.map((request) => request.postData().length)} bytes`);
    quiet();
});

await browser.close();
await server.stop();
end();
