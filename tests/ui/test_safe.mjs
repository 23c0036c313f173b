// What a press does to data: it happens once, to what is shown, and no digit is lost on the way.
import { openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const server = await startServer();
const raw = async (method, path, body) => {
    const answer = await server.call(server.token, method, `/api/v1${path}`, body);
    equal(answer.status < 300, true, `${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer;
};
const ok = async (...request) => (await raw(...request)).body;
const BIG = '9007199254740993';
const definition = {
    code: 'shipping', onError: 'hold', input: [{ name: 'ref', type: 'integer' }, { name: 'note', type: 'string' }],
    steps: [{ code: 'ship', retry: { maxAttempts: 1 }, when: 'input.note != "quiet"', procedure: { type: 'compute.fail', code: 'closed', message: 'The gate is closed.' } }],
};
await ok('POST', '/import', { items: [definition] });
const start = (key, body = `{"code":"shipping","key":"${key}","input":{"ref":${BIG},"note":"first"}}`) => raw('POST', '/executions', body);
const isHeld = async (key) => (await stands(key))?.waitingFor?.kind === 'incident';
const stands = async (key) => (await ok('GET', `/executions?key=${key}&limit=1`)).items[0];
for (const key of ['gate-1', 'gate-2', 'gate-3']) await start(key);
for (const key of ['gate-1', 'gate-2', 'gate-3']) await until(`${key} is held`, () => isHeld(key), 20);

const browser = await openBrowser();
const page = await openPage(browser, server);
const quiet = () => equal(page.wrong.splice(0), [], 'what the browser complained about');

await claim('the address that signs in works in a tab that shows the page for signing in', async () => {
    await page.goto(`${server.url}/executions`);
    await page.waitForSelector('#token');
    page.wrong.splice(0); // the refusal that leads to this page
    await page.evaluate((token) => { location.hash = `token=${token}`; }, server.token);
    await page.waitForSelector('.trow');
    equal(new URL(page.url()).hash, '', 'the token does not stay in the address');
    quiet();
});

await claim('a number beyond 2^53 is shown, and sent back by a correction, with all its digits', async () => {
    const x = await stands('gate-1');
    await page.goto(`${server.url}/executions/${x.id}`);
    await page.click('.btn:has-text("Retry")');
    await page.click('.box[type=checkbox]');
    equal(await page.inputValue('#field-ref'), BIG);
    await page.fill('#field-note', 'quiet');
    await page.click('.btn.ink:has-text("Retry it")');
    await until('it goes on', async () => (await stands('gate-1')).status === 'completed');
    equal((await raw('GET', `/executions/${x.id}`)).raw.includes(`"ref":${BIG}`), true, 'as it was started');
    quiet();
});

await claim('a start whose answer is lost is pressed again and starts one execution', async () => {
    const before = (await ok('GET', '/executions?limit=100')).items.length;
    await page.goto(`${server.url}/executions?start=shipping`);
    await page.fill('#field-note', 'quiet');
    let lost = 0;
    const isStart = (url) => url.pathname === '/api/v1/executions';
    await page.route(isStart, async (route) => {
        if (route.request().method() !== 'POST' || lost++ > 0) return route.continue();
        await route.fetch(); // the server has done it
        await route.abort('connectionreset');
    });
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('[role=dialog] .refuse');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForURL('**/executions/*');
    await page.unroute(isStart);
    equal(lost, 2, 'it was sent twice');
    equal((await ok('GET', '/executions?limit=100')).items.length, before + 1);
    page.wrong.splice(0); // the connection that was cut
});

await claim('"Try 1 again" tries the dead letter that is shown, and no other', async () => {
    const x = await stands('gate-2');
    const before = (await ok('GET', '/dlq?status=retried')).items.map((letter) => letter.key);
    await page.goto(`${server.url}/dlq?execution=${x.id}`);
    await page.waitForSelector('.dlq .trow');
    await page.click('.btn:has-text("Try 1 again…")');
    await page.click('[role=dialog] .btn.ink:not([disabled])');
    await page.waitForSelector('[role=dialog] .btn.ink:has-text("Back to the list")');
    const tried = (await ok('GET', '/dlq?status=retried')).items;
    equal(tried.map((letter) => letter.key).filter((key) => !before.includes(key)), ['gate-2']);
    quiet();
});

await claim('a bulk action that is stopped stops, and says how far it came', async () => {
    for (let n = 10; n < 14; n++) await start(`stop-${n}`);
    for (let n = 10; n < 14; n++) await until(`stop-${n} is held`, () => isHeld(`stop-${n}`), 20);
    await page.goto(`${server.url}/executions?waiting=incident`);
    await page.waitForSelector('.trow:has-text("stop-13")');
    for (let n = 10; n < 14; n++) await page.click(`.trow:has-text("stop-${n}") .box`);
    await page.click('.bulk .btn:has-text("Cancel")');
    const isCancel = (url) => url.pathname.endsWith('/cancel');
    let release;
    const held = new Promise((done) => { release = done; });
    await page.route(isCancel, async (route) => { await held; await route.continue(); });
    await page.click('[role=dialog] .btn.solid');
    await page.click('[role=dialog] .btn:has-text("Stop")');
    release();
    await page.waitForSelector('[role=dialog] .note:has-text("Stopped")');
    await page.unroute(isCancel);
    const left = (await ok('GET', '/executions?limit=100')).items.filter((x) => x.key?.startsWith('stop-') && x.status === 'waiting').length;
    equal(left, 3, 'one was under way when it was stopped');
    quiet();
});

await claim('a draft is discarded: what is published stands there again', async () => {
    await ok('PUT', '/scenarios/shipping/draft', { ...definition, name: 'Another name' });
    await page.goto(`${server.url}/processes/scenarios/shipping`);
    await page.click('[role=tab]:has-text("Versions")');
    await page.click('.btn:has-text("Discard the draft…")');
    await page.click('[role=dialog] .btn.solid');
    await until('the draft is gone', async () => (await ok('GET', '/scenarios/shipping')).draft === null);
    await page.waitForSelector('.tag:has-text("version 1")');
    quiet();
});

await claim('the editor looks the same after the page of an execution was open', async () => {
    const foldOf = async () => {
        await page.click('[role=tab]:has-text("Steps")');
        await page.waitForSelector('.node');
        return page.evaluate(() => {
            const ed = document.querySelector('.ed');
            const probe = ed.appendChild(Object.assign(document.createElement('button'), { className: 'fold' }));
            const { position, display } = getComputedStyle(probe);
            probe.remove();
            return [position, display];
        });
    };
    await page.goto(`${server.url}/executions/${(await stands('gate-3')).id}`);
    await page.waitForSelector('.tlrows');
    await page.evaluate(() => history.pushState(null, '', '/processes/scenarios/shipping'));
    await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')));
    await page.waitForSelector('[role=tab]');
    equal(await foldOf(), ['static', 'flex']);
    quiet();
});

await claim('who signs in next is not offered what another has typed', async () => {
    const ada = await ok('POST', '/users', { name: 'Ada', role: 'admin', email: 'ada@example.org' });
    await page.evaluate(() => {
        for (const key of Object.keys(localStorage)) if (key.startsWith('pawl.draft:')) localStorage.removeItem(key);
    });
    const isDraft = (url) => url.pathname.endsWith('/draft');
    await page.route(isDraft, (route) => (route.request().method() === 'PUT' ? route.abort('connectionreset') : route.continue()));
    await page.goto(`${server.url}/processes/scenarios/shipping`);
    await page.click('[role=tab]:has-text("JSON")');
    await page.click('.cm-content');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith('pawl.draft:')));
    const other = await openPage(browser, server);
    await other.goto(signInUrl(server, '/executions', ada.token));
    await other.waitForSelector('.trow');
    const kept = await page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.startsWith('pawl.draft:')));
    await other.evaluate((all) => { for (const [key, text] of all) localStorage.setItem(key, text); }, kept);
    await other.goto(`${server.url}/processes/scenarios/shipping`);
    await other.waitForSelector('[role=tab]');
    await other.waitForSelector('.node');
    equal(await other.$$eval('.edtold', (all) => all.map((one) => one.textContent)), []);
    await other.close();
});

await browser.close();
await server.stop();
end();
