// The constructor in a browser, against the real server: a process is built, published, run and corrected without a line of JSON.
import { readFileSync } from 'node:fs';
import { openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { addItem, addPair, addStep, field, fill, noProblems, saved } from './editor.mjs';

const axe = readFileSync('tests/node_modules/axe-core/axe.min.js', 'utf8');
const server = await startServer();
server.args = ['--listen', new URL(server.url).host];
const browser = await openBrowser();
const page = await openPage(browser, server);

async function complaints(on = page) {
    await on.evaluate(axe);
    const { violations } = await on.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
    return violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(' ')} (${(n.any[0] ?? n.all[0] ?? n.none[0])?.message ?? ''})`).join('; ')}`);
}
const quiet = (on = page) => { const said = on.wrong.splice(0); equal(said, [], 'what the browser complained about'); };
const draft = async (code) => (await server.asAdmin('GET', `/scenarios/${code}`)).body.draft;
const one = async (key) => (await server.asAdmin('GET', `/executions?key=${key}&limit=1`)).body.items[0];

await page.goto(signInUrl(server, '/processes'));

await claim('a new process is made from its name, and says itself what it wants', async () => {
    await page.click('.btn.ink:has-text("New process…")');
    await page.fill('#new-name', 'Discount approval');
    equal(await page.inputValue('#new-code'), 'discount_approval');
    equal(await complaints(), []);
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.slot.only');
    equal((await draft('discount_approval')).definition.steps, []);
    equal(await complaints(), []);
    quiet();
});

await claim('its input, its steps, a branch and a form are put together without JSON', async () => {
    await addItem(page, 'Input', { Name: 'deal', Type: 'string', Required: true });
    await addItem(page, 'Input', { Name: 'amount', Type: 'number', Required: true });
    await addItem(page, 'Input', { Name: 'percent', Type: 'number', Required: true });

    await addStep(page, 'Check rules', 'Check the request', 'check');
    await addItem(page, 'Rules', { Rule: '$.input.percent > 0 && $.input.percent <= 50', 'Error code': 'bad_percent', Message: 'a discount is up to 50 %, not {{ input.percent }}' });

    await addStep(page, 'Calculate', 'Find who decides', 'route');
    await addPair(page, 'Data', 'approver', "=$.input.amount > 100000 ? 'group:directors' : 'group:managers'");

    await addStep(page, 'Wait for a signal', 'Ask them', 'ask');
    await fill(page, 'Type of the signal', 'approval_decision');
    await fill(page, 'Assignee', '$.steps.route.approver');
    await fill(page, 'Title', '{{ input.percent }} % for {{ input.deal }}?');
    await fill(page, 'Timeout', '24h');
    await addItem(page, 'Form', { Name: 'approved', Type: 'boolean', Required: true });
    await addItem(page, 'Form', { Name: 'comment', Type: 'string' });

    await addStep(page, 'Branch', 'What they said', 'said');
    const ways = field(page, 'Branch');
    await ways.locator('.pickfield').click();
    await page.fill('.picker input', 'ask.payload.appr');
    await page.press('.picker input', 'Enter');
    equal(await ways.locator('.cmp select').inputValue(), 'true', 'yes or no is compared as such');

    // The first way is chosen on the canvas, and what stands there is put into it.
    await page.locator('.slot.only').first().click();
    await addStep(page, 'Create a record', 'Grant it', 'grant');
    await fill(page, 'Object', 'deal');
    await fill(page, 'Id', '$.input.deal');
    await addPair(page, 'Data', 'discount', '$.input.percent');
    await page.locator('.slot.only').first().click();
    await addStep(page, 'Log', 'Refuse it', 'refuse');
    await fill(page, 'Message', 'no discount for {{ input.deal }}');
    await noProblems(page);
    await saved(page);
    const { definition } = await draft('discount_approval');
    equal(definition.steps.map((s) => s.code), ['check', 'route', 'ask', 'said']);
    equal(definition.steps[3].branch, [{ when: '$.steps.ask.payload.approved', steps: [{ code: 'grant', name: 'Grant it', procedure: { type: 'record.create', data: { discount: '$.input.percent' }, object: 'deal', id: '$.input.deal' } }] }, { steps: [{ code: 'refuse', name: 'Refuse it', procedure: { type: 'log', message: 'no discount for {{ input.deal }}' } }] }]);
    equal(definition.steps[2].procedure.form, [{ name: 'approved', type: 'boolean', required: true }, { name: 'comment', type: 'string' }]);
    equal(await complaints(), []);
    quiet();
});

await claim('what is wrong is said with its step and field, leads there, and is mended by a button', async () => {
    await page.click('[data-code=ask]');
    await fill(page, 'Timeout', '1 day');
    await page.waitForSelector('.problems .prow:has-text("Timeout")');
    equal((await page.textContent('.problems .where')), 'Ask them › Timeout');
    await page.waitForSelector('.bar .btn:has-text("1 error before publishing")');
    await page.click('[data-code=check]');
    await page.click('.problems .prow');
    await page.waitForFunction(() => document.activeElement?.value === '1 day');
    equal(await complaints(), []);
    await page.click('.problems .btn:has-text("Use 1d")');
    await noProblems(page);
    equal(await field(page, 'Timeout').locator('textarea').inputValue(), '1d');
    await fill(page, 'Timeout', '24h');
    quiet();
});

await claim('undo and redo go through everything, in one order', async () => {
    await page.click('[data-code=route]');
    await page.keyboard.press('Delete');
    await page.waitForFunction(() => !document.querySelector('[data-code=route]'));
    await page.click('[data-code=check]');
    await page.keyboard.press('Alt+ArrowDown');
    await page.waitForFunction(() => document.querySelectorAll('.node[data-code]')[0]?.dataset.code === 'ask');
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await page.waitForSelector('[data-code=route]');
    equal(await page.$$eval('.node[data-code]', (all) => all.slice(0, 3).map((n) => n.dataset.code)), ['check', 'route', 'ask']);
    await noProblems(page);
    quiet();
});

await claim('a new code of a step is new wherever the step is spoken of', async () => {
    await page.click('[data-code=ask]');
    await page.fill('.inspector .isect.two input', 'decision');
    await page.press('.inspector .isect.two input', 'Enter');
    await page.waitForSelector('[data-code=decision].sel');
    await noProblems(page);
    await saved(page);
    equal((await draft('discount_approval')).definition.steps[3].branch[0].when, '$.steps.decision.payload.approved');
    quiet();
});

await claim('broken JSON can be left and come back to, and the canvas keeps what it said last', async () => {
    await page.click('[role=tab]:has-text("JSON")');
    await page.waitForSelector('.jsontab .cmhost');
    await page.locator('.cmhost .cm-content').focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Delete');
    await page.waitForSelector('.savedword:has-text("no JSON")');
    await page.click('[role=tab]:has-text("Steps")');
    await page.waitForSelector('[data-code=decision]');
    equal((await page.textContent('.problems')).includes('no JSON'), true);
    await page.goto(`${server.url}/processes`);
    await page.waitForSelector('.trow');
    await page.goto(`${server.url}/processes/scenarios/discount_approval`);
    await page.waitForSelector('.bar .btn:has-text("The text is no JSON")');
    await page.waitForSelector('[data-code=decision]');
    await page.click('.bar .btn:has-text("The text is no JSON")');
    await page.locator('.cmhost .cm-content').focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('{');
    await page.keyboard.press('Delete'); // the bracket that closes it by itself
    await page.waitForFunction(() => !document.querySelector('.savedword')?.textContent.includes('no JSON'));
    equal(await complaints(), []);
    await page.click('[role=tab]:has-text("Steps")');
    await noProblems(page);
    quiet();
});

await claim('it is published with a word why, started from a form of its input, answered, and completes', async () => {
    await page.click('.bar .btn.ink:has-text("Publish…")');
    await page.fill('#summary', 'the first one');
    equal(await complaints(), []);
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.edtold:has-text("Version 1 is published")');
    await page.click('.bar .btn:has-text("Start…")');
    await page.fill('#field-deal', 'deal-1');
    await page.fill('#field-amount', '240000');
    await page.fill('#field-percent', '12');
    await page.fill('#key', 'deal-1');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.why .btn.ink');
    equal((await page.textContent('.why')).includes('directors'), true, await page.textContent('.why'));
    await page.click('.why .btn.ink');
    await page.click('[role=dialog] [role=radio]:has-text("yes")');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.why.ok');
    equal((await server.asAdmin('GET', '/records/deal/deal-1')).body.discount ?? (await server.asAdmin('GET', '/records/deal/deal-1')).body.data?.discount, 12);
    quiet();
});

await claim('two tabs that edit one draft meet in a merge, and nothing is lost', async () => {
    const other = await page.context().newPage();
    other.wrong = [];
    other.on('pageerror', (error) => other.wrong.push(error.message));
    for (const each of [page, other]) {
        await each.goto(`${server.url}/processes/scenarios/discount_approval`);
        await each.waitForSelector('[data-code=decision]');
    }
    await page.click('[data-code=decision]');
    await fill(page, 'Timeout', '12h');
    await saved(page);
    await other.click('[data-code=decision]');
    // It saves itself when both are typed: the merge does not come in between.
    let typed;
    const both = new Promise((resolve) => { typed = resolve; });
    await other.route('**/api/v1/scenarios/discount_approval**', async (route) => {
        await both;
        await route.continue();
    });
    await fill(other, 'Timeout', '48h');
    await fill(other, 'Title', 'A discount?');
    typed();
    await other.waitForSelector('.merge');
    equal(await complaints(other), []);
    equal((await other.textContent('.mlist')).includes('Ask them › timeout'), true, await other.textContent('.mlist'));
    equal((await draft('discount_approval')).definition.steps[2].procedure.timeout, '12h', 'what the first one saved is there');
    await other.click('.btn:has-text("Take yours")');
    await other.click('.btn.ink:has-text("Save what was merged")');
    await saved(other);
    const merged = (await draft('discount_approval')).definition.steps[2].procedure;
    equal([merged.timeout, merged.title], ['48h', 'A discount?']);
    // The first tab meets what the second one saved.
    await fill(page, 'Title', '{{ input.percent }} % for {{ input.deal }}, please?');
    await page.waitForSelector('.merge');
    await page.click('.btn:has-text("Take theirs")');
    await page.click('.btn.ink:has-text("Save what was merged")');
    await page.waitForSelector('[data-code=decision]');
    equal((await draft('discount_approval')).definition.steps[2].procedure.title, 'A discount?');
    quiet(other);
    await other.close();
    quiet();
});

await claim('a server that goes away in the middle is said, what is typed is kept, and saved when it is back', async () => {
    await page.goto(`${server.url}/processes/scenarios/discount_approval`);
    await page.waitForSelector('[data-code=decision]');
    await page.click('[data-code=check]');
    await server.kill();
    await page.fill('.inspector .isect.two textarea', 'Check it, while the server is away');
    await page.waitForSelector('.savedword:has-text("does not answer")');
    await page.waitForSelector('.node:has-text("Check it, while")');
    equal(await page.evaluate(() => Object.entries(localStorage).some(([name, text]) => name.startsWith('pawl.draft:') && text.includes('Check it, while'))), true, 'kept in the browser');
    await server.start();
    await saved(page);
    equal((await draft('discount_approval')).definition.steps[0].name, 'Check it, while the server is away');
    quiet();
});

await claim('a definition that was wrong is corrected, and what failed with it goes on with the new version', async () => {
    await server.asAdmin('POST', '/import', { items: [{ code: 'tolls', name: 'Tolls', input: [{ name: 'km', type: 'number' }], steps: [{ code: 'sum', name: 'Work it out', onError: 'hold', procedure: { type: 'compute.transform', data: { toll: '=$.input.km / ($.input.km - $.input.km)' } } }, { code: 'say', procedure: { type: 'log', message: '{{ steps.sum.toll }}' } }] }] });
    await server.asAdmin('POST', '/executions?wait=3s', { code: 'tolls', key: 'toll-1', input: { km: 4 } });
    const failed = await one('toll-1');
    await page.goto(`${server.url}/executions/${failed.id}`);
    await page.waitForSelector('.why.held, .why.bad');
    await page.goto(`${server.url}/processes/scenarios/tolls`);
    await page.click('[data-code=sum]');
    await field(page, 'Data').locator('.kvrow .val textarea').fill('=$.input.km * 2');
    await saved(page);
    await page.click('.bar .btn.ink:has-text("Publish…")');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.edtold:has-text("Version 2 is published")');
    await page.goto(`${server.url}/executions/${failed.id}`);
    await page.click('.why .btn.ink');
    await page.waitForSelector('[role=dialog]');
    const version = page.locator('[role=dialog] select#version, [role=dialog] #version');
    if (await version.count()) await version.evaluate((el) => el.tagName) === 'SELECT' ? await version.selectOption('2') : await version.fill('2');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.why.ok');
    const now = await one('toll-1');
    equal([now.status, now.version], ['completed', 2]);
    quiet();
});

await browser.close();
await server.stop();
end();
