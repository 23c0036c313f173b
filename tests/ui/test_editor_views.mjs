// The views of the constructor in a browser: values beside expressions, the saga, versions, the dry-run, what a viewer may do.
import { readFileSync } from 'node:fs';
import { openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { field, noProblems, saved } from './editor.mjs';

const axe = readFileSync('tests/node_modules/axe-core/axe.min.js', 'utf8');
const server = await startServer();
const example = (name) => JSON.parse(readFileSync(`examples/${name}.json`, 'utf8'));
await server.asAdmin('POST', '/import', { items: ['discount_approval', 'order_processing'].map(example) });
await server.asAdmin('POST', '/executions?wait=3s', { code: 'discount_approval', input: { deal: 'deal-318', amount: 240000, percent: 12 } });
await server.asAdmin('POST', '/signals', { key: 'deal-318', type: 'approval_decision', payload: { approved: true, comment: 'fine by me' } });
const browser = await openBrowser();
const page = await openPage(browser, server);
async function complaints() {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
    return violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(' ')} (${(n.any[0] ?? n.all[0] ?? n.none[0])?.message ?? ''})`).join('; ')}`);
}
const quiet = () => { const said = page.wrong.splice(0); equal(said, [], 'what the browser complained about'); };
const open = async (code) => {
    await page.goto(`${server.url}/processes/scenarios/${code}`);
    await page.waitForSelector('.node[data-code]');
};
await page.goto(signInUrl(server, '/processes'));
await page.waitForSelector('.trow');

await claim('an expression shows its value with a past execution, and says at which column it cannot', async () => {
    await open('discount_approval');
    await page.click('[data-code=grant]');
    await page.click('.isect h3 button:has-text("More")').catch(() => undefined);
    await page.waitForSelector('.liveline .val:has-text("12")');
    equal((await page.textContent('.liveline')).includes('deal-318'), true);
    const id = field(page, 'Id').locator('textarea');
    await id.fill('$.input.amont');
    await page.waitForSelector('.liveline.no:has-text("amont")');
    await id.fill('$.input.am');
    await page.waitForSelector('.hints .o:has-text("input.amount")');
    equal((await page.textContent('.hints')).includes('240000'), true, 'with the values of the execution');
    await page.keyboard.press('Enter');
    equal(await id.inputValue(), '$.input.amount');
    await page.waitForSelector('.liveline .val:has-text("240000")');
    equal(await complaints(), []);
    await page.keyboard.press('Control+z');
    quiet();
});

await claim('the picker puts in what the context has', async () => {
    await field(page, 'Id').locator('textarea').fill('');
    await field(page, 'Id').locator('.fx').click();
    await page.fill('.picker input', 'decide.by');
    await page.waitForSelector('.picker .o:has-text("steps.decide.by")');
    equal(await complaints(), []);
    await page.keyboard.press('Enter');
    equal(await field(page, 'Id').locator('textarea').inputValue(), '$.steps.decide.by');
    await field(page, 'Id').locator('textarea').fill('$.input.deal');
    await noProblems(page);
    quiet();
});

await claim('the saga says what is undone, in which order, and what is not', async () => {
    await open('order_processing');
    await page.click('[role=tab]:has-text("Saga")');
    await page.click('.sagalist .part:has-text("Close")');
    await page.waitForSelector('.undolist li');
    const undone = await page.$$eval('.undolist li p', (all) => all.map((p) => p.textContent));
    equal(undone.map((text) => text.match(/undoes (\w+)/)?.[1]), ['Ship', 'Charge', 'Take']);
    await page.click('.sagalist .part:has-text("Charge")');
    await page.waitForFunction(() => document.querySelectorAll('.undolist li').length === 1);
    equal(await complaints(), []);
    await page.click('.btn:has-text("Let it go on when it fails")');
    await saved(page);
    const { draft } = (await server.asAdmin('GET', '/scenarios/order_processing')).body;
    equal(draft.definition.steps.find((s) => s.code === 'charge').onError, 'continue');
    await page.keyboard.press('Control+z');
    quiet();
});

await claim('a dry-run draws the way on the canvas, with answers pinned from a past execution', async () => {
    await open('discount_approval');
    await page.click('.btn:has-text("Dry-run")');
    await page.selectOption('.dryrun h3 select', { index: 1 });
    await page.waitForSelector('.pinrow');
    await page.waitForFunction(() => document.querySelector('#field-amount')?.value === '240000');
    const before = (await server.asAdmin('GET', '/executions?limit=100')).body.items.length;
    await page.click('.drfoot .ink');
    await page.waitForSelector('.verdict.ok');
    equal(await page.$$eval('.node.t-way', (all) => all.map((n) => n.dataset.code)), ['check', 'route', 'ask', 'decide', 'grant']);
    equal(await page.$$eval('.visit', (all) => all.map((n) => n.textContent)), ['1', '2', '3', '4', '5']);
    equal((await server.asAdmin('GET', '/executions?limit=100')).body.items.length, before, 'nothing was started');
    equal(await complaints(), []);
    await page.fill('.pinrow textarea', '{"approved": false}');
    await page.click('.drfoot .ink');
    await page.waitForSelector('.node.t-way[data-code=refuse]');
    await page.click('.dryrun .ihead .btn');
    await page.waitForFunction(() => !document.querySelector('.t-way'));
    quiet();
});

await claim('a dry-run is kept as a test, which runs on the server and says what is not as expected', async () => {
    await page.click('.btn:has-text("Dry-run")');
    await page.selectOption('.dryrun h3 select', { index: 1 });
    await page.waitForSelector('.pinrow');
    await page.click('.drfoot .ink');
    await page.waitForSelector('.verdict.ok');
    await page.click('.btn:has-text("Keep as a test")');
    await page.waitForSelector('.testtext');
    await page.click('.btn.ink:has-text("Run the tests")');
    await page.waitForSelector('.why.ok:has-text("1 test passes")');
    equal(await complaints(), []);
    const text = await page.inputValue('.testtext');
    await page.fill('.testtext', text.replace('"completed"', '"failed"'));
    await page.click('.btn.ink:has-text("Run the tests")');
    await page.waitForSelector('.why.bad:has-text("1 test fails")');
    await saved(page);
    equal((await server.asAdmin('GET', '/scenarios/discount_approval')).body.draft.definition.meta.tests[0].expect.status, 'failed');
    await page.click('.tests .btn:has-text("Delete")');
    await page.waitForSelector('.empty:has-text("There are no tests yet")');
    await page.click('[role=tab]:has-text("Steps")');
    await page.waitForSelector('[data-code=ask]');
    quiet();
});

await claim('versions are compared on the canvas and in the text, and the one before is published again', async () => {
    await page.click('[data-code=ask]');
    await field(page, 'Timeout').locator('textarea').fill('12h');
    await saved(page);
    await page.click('[role=tab]:has-text("Versions")');
    await page.waitForSelector('.node.t-chg[data-code=ask]');
    equal((await page.textContent('.beside')).includes('24h'), true);
    equal((await page.textContent('.vsay')).includes('1 step differs'), true, await page.textContent('.vsay'));
    equal(await complaints(), []);
    await page.click('.vsay .btn.ink');
    await page.fill('#summary', 'Half a day is enough');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.vlist .o:has-text("Half a day is enough")');
    await page.click('.vlist .o:has-text("version 2")');
    await page.click('.btn:has-text("Revert to version 1…")');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.edtold:has-text("published again")');
    equal((await server.asAdmin('GET', '/scenarios/discount_approval')).body.published.version, 1);
    quiet();
});

await claim('a procedure is edited by the same constructor', async () => {
    await server.asAdmin('PUT', '/procedures/greet/draft', { code: 'greet', name: 'Greet', commands: [{ type: 'flow.if', condition: '$.input.x > 1', then: [{ type: 'log', message: 'many' }] }] });
    await page.goto(`${server.url}/processes/procedures/greet`);
    await page.waitForSelector('.node:has-text("If")');
    await page.click('.node:has-text("Log")');
    await field(page, 'Message').locator('textarea').fill('more than one');
    await saved(page);
    equal((await server.asAdmin('GET', '/procedures/greet')).body.draft.definition.commands[0].then[0].message, 'more than one');
    equal(await complaints(), []);
    quiet();
});

await claim('who may not change it reads it: no palette, no publishing', async () => {
    const viewer = await server.user({ name: 'Edsger', role: 'viewer', groups: [] });
    const token = viewer.token ?? viewer;
    const other = await openPage(browser, server);
    await other.goto(`${server.url}/processes/scenarios/discount_approval#token=${token}`);
    await other.waitForSelector('.node[data-code=ask]');
    await other.click('[data-code=ask]');
    equal(await other.locator('.parts').count(), 0);
    equal(await other.locator('.bar .btn:has-text("Publish")').count(), 0);
    equal(await other.locator('.inspector textarea:not([readonly])').count(), 0);
    await other.context().close();
});

await claim('it stands at 1280, in the dark and in Russian, free of what axe finds', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.evaluate(() => localStorage.setItem('pawl.language', 'ru'));
    await open('discount_approval');
    await page.click('[data-code=ask]');
    await page.waitForSelector('.inspector label:text-is("Тайм-аут")');
    equal(await complaints(), []);
    equal(await page.evaluate(() => document.documentElement.scrollWidth <= 1280 && document.querySelector('.bar').scrollWidth <= document.querySelector('.bar').clientWidth), true, 'nothing is wider than the page');
    quiet();
});

await claim('at 1280 the palette has names; where only pictures fit, each has its name for who cannot tell them apart', async () => {
    const names = () => page.$$eval('.part', (all) => all.map((part) => [part.getAttribute('aria-label'), part.querySelector('.pname').offsetWidth > 0]));
    const wide = await names();
    equal(wide.length > 20 && wide.every(([, shown]) => shown), true, 'names are shown');
    equal(wide.every(([name]) => /[а-я]/i.test(name ?? '')), true, 'in Russian');
    equal(new Set(wide.map(([name]) => name)).size, wide.length, 'no two are called the same');
    await page.setViewportSize({ width: 1100, height: 800 });
    await page.mouse.move(700, 600);
    equal((await names()).map(([, shown]) => shown).includes(true), false, 'no room for names');
    equal((await names()).every(([name]) => Boolean(name)), true);
    equal(await complaints(), []);
    await page.setViewportSize({ width: 1280, height: 800 });
    quiet();
});

await claim('in Russian the text between two versions says in Russian what is left out', async () => {
    const text = readFileSync('examples/order_processing.json', 'utf8').replace('"order_processing"', '"order_by_phone"');
    const draft = async (name) => equal((await server.asAdmin('PUT', '/scenarios/order_by_phone/draft', text.replace(/"name": "[^"]*"/, `"name": "${name}"`))).body.valid, true);
    await draft('Order by phone');
    equal((await server.asAdmin('POST', '/scenarios/order_by_phone/publish', {})).status, 200);
    await draft('Order by telephone');
    await open('order_by_phone');
    await page.click('[role=tab]:has-text("Версии")');
    await page.waitForSelector('.cm-collapsedLines');
    equal(/^Строк без изменений: \d+$/.test(await page.textContent('.cm-collapsedLines')), true, await page.textContent('.cm-collapsedLines'));
    equal(await page.$$eval('.vlist .o .row', (all) => all.filter((row) => row.scrollWidth > row.clientWidth).length), 0, 'no time of a version is cut off');
    quiet();
});

await claim('in Russian no button of the list of processes is cut off', async () => {
    await page.goto(`${server.url}/processes`);
    await page.waitForSelector('.trow.procs .btn:has-text("Запустить")');
    equal(await page.$$eval('.trow.procs > span:last-child', (all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth).length), 0);
    await page.evaluate(() => localStorage.setItem('pawl.language', 'en'));
    quiet();
});

await browser.close();
await server.stop();
end();
