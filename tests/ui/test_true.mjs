// What a page says is so: dialogs describe what is chosen, numbers are whole or say that they are not, a version that
// is opened is that version, and what can never happen is said before somebody waits for it.
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const server = await startServer();
const ok = async (method, path, body) => {
    const answer = await server.call(server.token, method, `/api/v1${path}`, body);
    equal(answer.status < 300, true, `${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer.body;
};
const id = [{ name: 'id', type: 'string', required: true }];
const settings = { key: '$.input.id' };
const fails = { type: 'compute.fail', code: 'closed', message: 'The gate is closed.' };
const HELD = { code: 'gate', input: id, settings, onError: 'hold', steps: [{ code: 'ship', name: 'Ship it', retry: { maxAttempts: 1 }, procedure: fails }] };
const MENDED = { ...HELD, steps: [{ code: 'ship', name: 'Ship it', procedure: { type: 'log', message: 'gone' } }] };
const UNDO = { type: 'log', message: 'undo' };
const TRIP = {
    code: 'trip', name: 'Trip', input: id, settings,
    steps: [
        { code: 'book', name: 'Book a seat', procedure: { type: 'compute.transform', data: { seat: 4 } }, rollback: UNDO },
        { code: 'rooms', loop: { for: '=[1, 2]', as: 'night', steps: [{ code: 'room', name: 'Take a room', procedure: { type: 'compute.transform', data: { night: '$.loop.night' } }, rollback: UNDO }] } },
        { code: 'ask', name: 'Ask the guest', procedure: { type: 'wait.signal', signalType: 'answer', title: 'Come?', form: [{ name: 'come', type: 'boolean', required: true }] } },
    ],
};
const LETTER = { code: 'letter', input: id, settings, steps: [{ code: 'mail', name: 'Send it', procedure: { type: 'notification.email', to: 'ada@example.org', subject: 'Hello', body: 'x' } }] };
const SIDES = {
    code: 'sides', input: id, settings,
    steps: [{ code: 'both', name: 'Both', parallel: { branches: [[{ code: 'wait', procedure: { type: 'wait.signal', signalType: 'a' } }], [{ code: 'set', procedure: { type: 'compute.set', values: { x: 1 } } }]] } }],
};
const SHOP = {
    code: 'shop', name: 'Shop', input: id, settings,
    steps: [
        { code: 'reserve', name: 'Reserve', procedure: { type: 'integration.http', method: 'POST', url: 'http://127.0.0.1:9/reserve/{{ input.id }}' }, rollback: { type: 'integration.http', method: 'POST', url: 'http://127.0.0.1:9/release/{{ steps.reserve.body.no }}' } },
        { code: 'charge', name: 'Charge', retry: { maxAttempts: 1 }, procedure: { type: 'integration.http', method: 'POST', url: 'http://127.0.0.1:9/charge' } },
    ],
};
const { id: admin } = await ok('GET', '/me');
TRIP.steps[2].procedure.assignee = admin;
await ok('POST', '/import', { items: [HELD, TRIP, LETTER, SIDES, SHOP] });
const start = (code, key) => ok('POST', '/executions?wait=2s', { code, input: { id: key } });
const stands = async (key) => (await ok('GET', `/executions?key=${key}&limit=1`)).items[0];
const idOf = async (key) => (await stands(key)).id;
for (const key of ['gate-1', 'gate-2', 'gate-3']) await start('gate', key);
await start('trip', 'trip-1');
await start('sides', 'sides-1');
for (const key of ['gate-1', 'gate-2', 'gate-3']) await until(`${key} is held`, async () => (await stands(key))?.waitingFor?.kind === 'incident', 20);
await until('the trip waits', async () => (await stands('trip-1'))?.currentStep === 'ask', 20);

const browser = await openBrowser();
const page = await openPage(browser, server);
const quiet = () => equal(page.wrong.splice(0), [], 'what the browser complained about');
const open = async (path) => { await page.goto(`${server.url}${path}`); };
await page.goto(signInUrl(server, '/executions'));
await page.waitForSelector('.trow');

await claim('a choice on a phone has its circle before its words, and an area of 44 px around it', async () => {
    const phone = await openPage(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true });
    await phone.goto(signInUrl(server, '/inbox'));
    await phone.click('.askrow');
    await phone.waitForSelector('.answer .seg > button');
    const [circle, button] = await phone.evaluate(() => {
        const one = document.querySelector('.answer .seg > button');
        const { width, height, position } = getComputedStyle(one, '::before');
        return [[width, height, position], one.getBoundingClientRect().height >= 44];
    });
    equal([circle, button], [['16px', '16px', 'static'], true]);
    await phone.context().close();
});

await claim('the version that ran is what is opened, at the step that failed, and nothing in it can be changed', async () => {
    await ok('PUT', '/scenarios/gate/draft', { ...MENDED, name: 'Another draft' });
    await open(`/executions/${await idOf('gate-1')}`);
    await page.click('.insp a:has-text("/steps/0/procedure")');
    await page.waitForSelector('.node.sel[data-code="ship"]');
    equal(await page.textContent('.bar .tag'), 'version 1');
    equal(await page.locator('.psearch').count(), 0, 'the palette');
    equal((await page.textContent('.inspector')).includes('Fail'), true, 'the step as it was in version 1');
    quiet();
});

await claim('what an execution came to stands on its page without a press', async () => {
    await start('letter', 'letter-1');
    await until('it has ended', async () => (await stands('letter-1')).status === 'completed', 20);
    await open(`/executions/${await idOf('letter-1')}`);
    await page.waitForSelector('.tlrows');
    await page.waitForSelector('.insp .hd:has-text("The execution")');
    equal(await page.getAttribute('.insp [role=tab]:has-text("Result")', 'aria-selected'), 'true');
    quiet();
});

await claim('counts that leave something out say so', async () => {
    const { id: user } = await ok('POST', '/users', { name: 'Olga', role: 'operator', email: 'olga@example.org' });
    const { token } = await ok('POST', `/users/${user}/tokens`, { name: 'browser' });
    equal((await server.call(token, 'GET', '/api/v1/executions/summary?by=status')).body.partial, true, 'what an operator is told');
    const other = await openPage(browser, server);
    await other.goto(signInUrl(server, '/executions', token));
    await other.waitForSelector('.trow');
    const all = other.locator('.views button:has-text("All")').first();
    await all.locator('.num:not(:empty)').waitFor();
    equal(/\+$/.test((await all.locator('.num').textContent()).trim()), true, await all.textContent());
    await other.context().close();
});

await claim('a page that comes back by the back button hears again', async () => {
    // Its own asking is every 15 s while it waits for a signal: what comes sooner was heard.
    await start('sides', 'back-1');
    await open(`/executions/${await idOf('back-1')}`);
    await page.waitForSelector('.onair:not(.off)');
    await page.waitForSelector('.why.wait');
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })));
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await page.waitForTimeout(300);
    await ok('POST', '/signals', { key: 'back-1', type: 'a', payload: {} });
    await page.waitForSelector('.why.ok', { timeout: 6000 });
    quiet();
});

await claim('publishing says what changes, what a test thinks of it, and the number that it will have', async () => {
    await ok('DELETE', '/scenarios/gate/draft').catch(() => undefined);
    await ok('PUT', '/scenarios/gate/draft', MENDED);
    await ok('POST', '/scenarios/gate/publish', {});
    await ok('POST', '/scenarios/gate/revert', {});
    await ok('PUT', '/scenarios/gate/draft', { ...MENDED, meta: { tests: [{ name: 'it fails', input: { id: 'x' }, expect: { status: 'failed' } }] } });
    await open('/processes/scenarios/gate');
    await page.click('.btn:has-text("Publish…")');
    await page.waitForSelector('[role=dialog] .refuse:has-text("it fails")');
    equal(await page.textContent('[role=dialog] h2'), 'Publish version 3?');
    equal((await page.textContent('[role=dialog]')).includes('Ship it'), true, 'the step that changes is named');
    equal(await complaintsOf(page), []);
    await page.click('[role=dialog] .btn:has-text("Publish version 3")');
    await page.waitForSelector('.edtold:has-text("Version 3 is published.")');
    quiet();
});

await claim('a mail that nobody can send is said on the overview, in the navigation and on the execution', async () => {
    await open('/');
    await page.waitForSelector('.dash .why:has-text("cannot be delivered")');
    await page.waitForSelector('.nav a[href="/outbox"] .n');
    await open(`/executions/${await idOf('letter-1')}`);
    await page.waitForSelector('.note:has-text("without --smtp")');
    quiet();
});

await claim('many are retried with the version that mends them, and the dialog keeps its question', async () => {
    await open('/executions?waiting=incident');
    await page.waitForSelector('.trow:has-text("gate-3")');
    for (const key of ['gate-1', 'gate-2']) await page.click(`.trow:has-text("${key}") .box`);
    await page.click('.bulk .btn:has-text("Retry")');
    await page.selectOption('[role=dialog] #bulk-version', '3');
    await page.click('[role=dialog] .btn.ink:not([disabled])');
    await page.waitForSelector('[role=dialog] .btn.ink:has-text("Back to the list")');
    equal(await page.textContent('[role=dialog] h2'), 'Retry 2 executions?');
    for (const key of ['gate-1', 'gate-2']) await until(`${key} completes`, async () => { const x = await stands(key); return x.status === 'completed' && x.version === 3; });
    quiet();
});

await claim('a dialog says what follows from what is chosen in it', async () => {
    await open(`/executions/${await idOf('trip-1')}`);
    await page.click('.btn:has-text("Cancel…")');
    const lead = () => page.textContent('[role=dialog] .lead');
    equal((await lead()).includes('undone'), true, await lead());
    const undone = await page.$$eval('[role=dialog] .undolist li', (all) => all.map((one) => one.textContent));
    equal([undone.length, undone[0].includes('Take a room'), undone[0].includes('2'), undone[1].includes('Book a seat')], [2, true, true, true], String(undone));
    await page.click('[role=dialog] [role=radio]:has-text("Leave it")');
    equal([(await lead()).includes('stays'), await page.locator('[role=dialog] .undolist').count()], [true, 0], await lead());
    await page.keyboard.press('Escape');
    await open(`/executions/${await idOf('gate-3')}`);
    await page.click('.btn:has-text("Retry")');
    equal((await lead()).includes('step that failed'), true);
    await page.selectOption('#from', 'ship');
    equal([(await lead()).includes('Ship it'), (await lead()).includes('step that failed')], [true, false], await lead());
    quiet();
});

await claim('the menu of an execution is gone through by keys, closes by Esc, and when something is chosen', async () => {
    await open(`/executions/${await idOf('trip-1')}`);
    const more = page.locator('.btn[aria-label="More actions"]');
    await more.focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=menu]');
    await page.waitForFunction(() => document.activeElement?.closest('[role=menu]'));
    await page.keyboard.press('ArrowDown');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('role'));
    equal(await focused(), 'menuitem');
    await page.keyboard.press('Escape');
    await page.waitForSelector('[role=menu]', { state: 'detached' });
    await more.click();
    await page.click('[role=menuitem]:has-text("Migrate")');
    await page.waitForSelector('[role=dialog]');
    equal(await page.locator('[role=menu]').count(), 0, 'the menu above the dialog');
    quiet();
});

await claim('a dry-run that would be undone says what fails and what is undone, and its undo can be answered', async () => {
    await open('/processes/scenarios/shop');
    await page.click('.btn:has-text("Dry-run")');
    await page.fill('.dryrun #field-id', 'A7');
    await page.click('.dryrun .addf:has-text("Reserve")');
    await page.locator('.dryrun .pinrow textarea').last().fill('{"status_code": 200, "body": {"no": 7}}');
    await page.click('.dryrun .addf:has-text("Charge")');
    await page.locator('.dryrun .pinrow textarea').last().fill('{"status_code": 400}');
    await page.click('.dryrun .btn:has-text("Try it")');
    await page.waitForSelector('.verdict');
    const verdict = await page.textContent('.verdict');
    equal([verdict.includes('fail'), verdict.includes('Charge'), verdict.includes('answered 400')], [true, true, true], verdict);
    const outside = await page.textContent('.outside');
    equal([outside.includes('POST http://127.0.0.1:9/release/7'), outside.includes('{{')], [true, false], outside);
    await page.click('.dryrun .addf:has-text("Undo of Reserve")');
    await page.locator('.dryrun .pinrow textarea').last().fill('{"status_code": 200}');
    await page.click('.dryrun .btn:has-text("Run again")');
    await page.waitForSelector('.ed-canvas .node.t-undo[data-code="reserve"]');
    quiet();
});

await claim('an expression about a loop is not called wrong, and costs no refusal', async () => {
    const refused = [];
    page.on('response', (answer) => { if (answer.status() === 422) refused.push(answer.url()); });
    await open('/processes/scenarios/trip');
    await page.click('.node[data-code="room"]');
    await page.waitForSelector('.inspector .valueof, .inspector .outcome, .inspector .val');
    await page.waitForTimeout(1200);
    equal(await page.locator('.inspector :text("no such key")').count(), 0);
    equal(refused, []);
    quiet();
});

await claim('inside a rollback the answer of the step that is undone is offered', async () => {
    await open('/processes/scenarios/shop');
    await page.click('.node[data-code="reserve"]');
    const undo = page.locator('.inspector .rollback');
    await undo.first().waitFor();
    const url = undo.locator('textarea').first();
    await url.fill('http://127.0.0.1:9/release/{{ steps.reserve.bo');
    await page.waitForSelector('.hints :text("steps.reserve.body"), [role=option]:has-text("steps.reserve.body")');
    await page.keyboard.press('Escape');
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('what was cancelled turns no more, and what would be undone is counted by visit', async () => {
    await open(`/executions/${await idOf('trip-1')}`);
    await page.waitForSelector('.tlrows');
    const line = await page.textContent('.lanes, .tl, .timeline').catch(() => page.textContent('.middle'));
    equal(/this would be undone:\s*3/.test(await page.textContent('.middle')), true, line);
    await ok('POST', `/executions/${await idOf('sides-1')}/cancel`, {});
    await until('it is cancelled', async () => (await stands('sides-1')).status === 'cancelled');
    await open(`/executions/${await idOf('sides-1')}`);
    await page.waitForSelector('.lane');
    equal(await page.locator('.lane .turn, .lane use[href*="running"]').count(), 0, 'a lane that turns');
    quiet();
});

await claim('the navigation has words where one wants them, and keeps them', async () => {
    const small = await openPage(browser, server, { viewport: { width: 1280, height: 800 } });
    await small.goto(signInUrl(server, '/executions'));
    await small.waitForSelector('.trow');
    const width = async () => Math.round((await small.locator('.nav').boundingBox()).width);
    equal(await width() < 80, true, 'at first');
    await small.click('.nav .pin');
    equal(await small.locator('.nav a[href="/dlq"] span.cut').isVisible(), true);
    await small.goto(`${server.url}/processes/scenarios/trip`);
    await small.waitForSelector('.node');
    equal(await width() > 150, true, 'where the page needs room');
    equal(await small.getAttribute('.nav .pin', 'aria-expanded'), 'true');
    equal(await complaintsOf(small), []);
    await small.keyboard.press('Escape');
    await small.focus('.nav .pin');
    await small.keyboard.press('Enter');
    equal(await width() < 80, true, 'by keyboard, again');
    await small.context().close();
});

await claim('who reads English loads no Russian, and the other language is there when it is chosen', async () => {
    const other = await openPage(browser, server);
    const loaded = [];
    other.on('response', async (answer) => { if (answer.url().endsWith('.js')) loaded.push(await answer.text().catch(() => '')); });
    await other.goto(signInUrl(server, '/executions'));
    await other.waitForSelector('.trow');
    const isRussian = () => loaded.some((text) => /Мёртвые|Выполнения|Исходящие|исходящие/.test(text));
    equal([loaded.length > 1, isRussian()], [true, false]);
    await other.click('.who');
    await other.click('.mi:has-text("Русский")');
    await other.waitForSelector('html[lang=ru]');
    await until('it was loaded', isRussian);
    equal(/[А-я]/.test(await other.textContent('.bar h1')), true);
    await other.reload();
    await other.waitForSelector('.trow');
    equal(/[А-я]/.test(await other.textContent('.bar h1')), true, 'after a reload');
    await other.context().close();
});

await browser.close();
await server.stop();
end();
