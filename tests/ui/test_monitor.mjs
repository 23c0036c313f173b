// The web UI in a browser, against the real server: sign in, find what failed, see why, do something about it.
import { readFileSync } from 'node:fs';
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';
import { fill } from './world.mjs';

// It comes back at the same address, as a server does.
const server = await startServer();
server.args = ['--listen', new URL(server.url).host];
await fill(server, ['order_processing', 'discount_approval'].map((name) => JSON.parse(readFileSync(`examples/${name}.json`, 'utf8'))));
const browser = await openBrowser();
const one = async (key) => (await server.asAdmin('GET', `/executions?key=${key}&limit=1`)).body.items[0];

const page = await openPage(browser, server);

const complaints = () => complaintsOf(page);
const quiet = () => { const said = page.wrong.splice(0); equal(said, [], 'what the browser complained about'); };

await claim('without a session every page asks for a token, and a wrong one is refused in the server\'s words', async () => {
    await page.goto(`${server.url}/executions`);
    await page.fill('#token', 'pawl_wrong');
    await page.click('button[type=submit]');
    await page.waitForSelector('.err');
    equal((await page.textContent('.err')).length > 10, true, 'it says why');
    equal(await complaints(), []);
    quiet();
});

await claim('the address that `pawl login` prints signs in, and keeps the token nowhere', async () => {
    await page.goto('about:blank');
    page.wrong.length = 0;
    await page.goto(signInUrl(server, '/executions'));
    await page.waitForSelector('.trow');
    equal(page.url(), `${server.url}/executions`);
    equal(await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, history.state])).then((text) => text.includes('pawl_')), false, 'no token, no cookie that scripts can read');
    const [cookie] = (await page.context().cookies()).filter((c) => c.name === 'pawl_session');
    equal([cookie.httpOnly, cookie.sameSite, cookie.path], [true, 'Strict', '/']);
    quiet();
});

await claim('a failed execution is found by its key, and its page says why', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('order-1043');
    await page.waitForFunction(() => document.querySelectorAll('.trow').length === 1);
    equal(new URL(page.url()).searchParams.get('q'), 'order-1043', 'the filter stands in the address');
    await page.click('.trow a.key');
    await page.waitForSelector('.why.bad');
    const sentence = await page.textContent('.why');
    equal(sentence.includes('the payment was refused') && sentence.includes('payment_refused'), true, sentence);
    equal(sentence.includes('3 steps'), true, 'and what was undone');
    await page.waitForSelector('.node.bad');
    equal(await page.$$eval('.node.undone', (all) => all.length), 2, 'steps that were undone');
    equal(await page.$$eval('.tb.undo', (all) => all.length), 3, 'bars in the lane of compensation');
    equal((await page.textContent('.insp')).includes('the payment was refused'), true, 'the error of the attempt');
    equal(await complaints(), []);
    quiet();
});

await claim('time travel shows what each step changed in the context', async () => {
    await page.click('.insp [role=tab]:has-text("Context")');
    await page.waitForSelector('.code .add');
    const before = await page.textContent('.travel');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction((text) => document.querySelector('.travel')?.textContent !== text, before);
    await page.waitForSelector('.code .add');
    equal((await page.textContent('.code')).includes('payment_failed'), true, 'what the wait for the payment brought');
    quiet();
});

await claim('what is held is mended and retried from its page, which follows live', async () => {
    const held = await one('invoice-2207');
    await page.goto(`${server.url}/executions/${held.id}`);
    await page.waitForSelector('.why.held');
    equal((await page.textContent('.why')).includes("there is no account 'main'"), true);
    equal((await server.asAdmin('PUT', '/records/account/main', { iban: 'DE02' })).status < 300, true);
    await page.click('.why .btn.ink');
    await page.waitForSelector('[role=dialog]');
    equal(await complaints(), []);
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.why.ok');
    equal((await one('invoice-2207')).status, 'completed');
    quiet();
});

await claim('a wait is answered by the form of its definition', async () => {
    const deal = await one('deal-318');
    await page.goto(`${server.url}/executions/${deal.id}`);
    await page.waitForSelector('.why .btn.ink');
    equal((await page.textContent('.why')).includes('directors'), true);
    await page.click('.why .btn.ink');
    await page.click('[role=dialog] [role=radio]:has-text("yes")');
    await page.fill('#field-comment', 'fine by me');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.why.ok');
    equal((await one('deal-318')).result.approved, true);
    quiet();
});

await claim('a refusal is shown where one pressed, in the server\'s words, and the page shows the new state', async () => {
    const order = await one('order-1048');
    await page.goto(`${server.url}/executions/${order.id}`);
    await page.click('.bar .btn:has-text("Cancel…")');
    await page.waitForSelector('[role=dialog]');
    equal((await server.asAdmin('POST', `/executions/${order.id}/cancel`, { reason: 'somebody was faster' })).status, 202);
    await page.waitForSelector('.ttl .st.none');
    await page.click('[role=dialog] .btn.solid');
    await page.waitForSelector('[role=dialog] .refuse');
    equal((await page.textContent('.refuse')).includes('409'), true, await page.textContent('.refuse'));
    await page.keyboard.press('Escape');
    quiet();
});

await claim('many are acted on by a frozen filter, after a count', async () => {
    await page.goto(`${server.url}/executions?code=order_processing&step=payment`);
    await page.waitForSelector('.trow');
    await page.click('.thead .box');
    await page.click('.bulk .btn.link');
    await page.click('.bulk .btn:has-text("Pause")');
    const waiting = (await server.asAdmin('GET', '/executions?code=order_processing&step=payment&waiting=signal&limit=500')).body.items.length;
    await page.waitForFunction((n) => document.querySelector('[role=dialog] h2')?.textContent?.includes(`Pause ${n} `), waiting);
    equal(await complaints(), []);
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('[role=dialog] .note');
    await page.click('[role=dialog] .btn.ink');
    const paused = (await server.asAdmin('GET', '/executions?code=order_processing&waiting=paused&limit=500')).body.items.length;
    equal(paused >= waiting, true, `${paused} of ${waiting} are paused`);
    await page.waitForFunction(() => !document.querySelector('[role=dialog]'));
    quiet();
});

await claim('an execution is started from a form made of its input', async () => {
    await page.goto(`${server.url}/executions?start=discount_approval`);
    await page.fill('#field-deal', 'deal-400');
    await page.fill('#field-amount', '5000');
    await page.fill('#field-percent', '90');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.why.bad, .why.held');
    equal((await page.textContent('.why')).includes('a discount is up to 50 %, not 90'), true);
    quiet();
});

await claim('the list follows what happens elsewhere', async () => {
    await page.goto(`${server.url}/executions`);
    await page.waitForSelector('.trow');
    await server.asAdmin('POST', '/executions', { code: 'nightly_report', input: { day: 'today' } });
    await page.waitForSelector('.trow:has-text("today")');
    quiet();
});

await claim('every page is free of what axe finds, light and dark', async () => {
    const pages = [['/', '.dash'], ['/executions', '.trow'], ['/dlq', '.trow'], ['/records/stock', '.trow'], ['/audit', '.trow'], ['/server', '.why'], ['/processes', '.trow'], ['/processes/scenarios/order_processing', '.node'], ['/functions', '.empty'], ['/settings', '.trow']];
    // Colours are the same roles everywhere: in the dark three pages have all of them.
    for (const [scheme, some] of [['light', pages], ['dark', pages.slice(0, 3)]]) {
        await page.emulateMedia({ colorScheme: scheme });
        for (const [path, ready] of some) {
            await page.goto(server.url + path);
            await page.waitForSelector(ready);
            equal(await complaints(), [], `${path}, ${scheme}`);
        }
    }
    quiet();
});

await claim('everything is reached by keyboard: the palette, the keys, the rows', async () => {
    await page.goto(`${server.url}/`);
    await page.waitForSelector('.dash');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.cmd input:focus');
    await page.keyboard.type('order-1033');
    await page.waitForSelector('.cmd .o .hit');
    equal(await complaints(), []);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.why.bad');
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.waitForSelector('.trow');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.waitForSelector('.trow.cur.sel');
    await page.waitForSelector('.bulk');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.waitForSelector('.keys');
    equal(await complaints(), []);
    await page.keyboard.press('Escape');
    quiet();
});

await claim('a restart of the server is shown and survived', async () => {
    const order = await one('order-1046');
    await page.goto(`${server.url}/executions/${order.id}`);
    await page.waitForSelector('.why .btn.ink');
    await server.kill();
    await page.waitForSelector('.offair');
    equal((await page.textContent('.why')).includes('parcel_picked_up'), true, 'what was shown stays');
    await server.start();
    await page.waitForSelector('.offair', { state: 'detached' });
    await server.asAdmin('POST', `/executions/${order.id}/signal`, { type: 'parcel_picked_up', payload: { parcel: 'PX-1' } });
    await page.waitForSelector('.why.ok');
    page.wrong = page.wrong.filter((line) => !line.includes('EventSource'));
    quiet();
});

await claim('in Russian nothing is left in English', async () => {
    await page.evaluate(() => localStorage.setItem('pawl.language', 'ru'));
    await page.goto(`${server.url}/executions`);
    await page.waitForSelector('.trow');
    equal((await page.textContent('h1')), 'Запуски');
    equal(await page.evaluate(() => document.documentElement.lang), 'ru');
    await page.evaluate(() => localStorage.setItem('pawl.language', 'en'));
    quiet();
});

await claim('signing out ends the session', async () => {
    await page.goto(`${server.url}/executions`);
    await page.click('.who');
    await page.click('.mi:has-text("Sign out")');
    await page.waitForSelector('#token');
    await until('the session is over', async () => (await page.request.get(`${server.url}/api/v1/me`)).status() === 401);
    await page.goto(`${server.url}/executions`);
    await page.waitForSelector('#token');
    quiet();
});

await browser.close();
await server.stop();
end();
