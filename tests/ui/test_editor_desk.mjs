// Versions, merging, the dry-run and the text of the constructor in a browser: what they say, and how one moves in them.
import { readFileSync } from 'node:fs';
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { saved } from './editor.mjs';

const server = await startServer();
const text = (name) => readFileSync(`examples/${name}.json`, 'utf8');
for (const name of ['discount_approval', 'order_processing']) {
    await server.asAdmin('PUT', `/scenarios/${name}/draft`, text(name));
    equal((await server.asAdmin('POST', `/scenarios/${name}/publish`, {})).status, 200);
}
await server.asAdmin('PUT', '/records/stock/bolt', { left: 400 });
for (const deal of [1, 2]) await server.asAdmin('POST', '/executions?wait=3s', { code: 'discount_approval', input: { deal: `deal-${deal}`, amount: 240000, percent: 12 } });
const browser = await openBrowser();
const page = await openPage(browser, server);
const quiet = () => equal(page.wrong.splice(0), [], 'what the browser complained about');
const open = async (code) => {
    await page.goto(`${server.url}/processes/scenarios/${code}`);
    await page.waitForSelector('.node[data-code]');
};
await page.goto(signInUrl(server, '/processes'));
await page.waitForSelector('.trow');

await claim('each version says how many executions still run with it, and the sentence says who stays', async () => {
    const draft = text('discount_approval').replace('"timeout": "24h"', '"timeout": "12h"').replace('"code": "refuse"', '"name": "Say no", "code": "refuse"');
    equal((await server.asAdmin('PUT', '/scenarios/discount_approval/draft', draft)).body.valid, true);
    await open('discount_approval');
    await page.click('[role=tab]:has-text("Versions")');
    await page.waitForSelector('.vlist .o:has-text("2 run with it")');
    equal((await page.textContent('.vsay')).includes('2 executions that run with version 1 stay with it.'), true, await page.textContent('.vsay'));
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('F7 goes from change to change, and takes the canvas along', async () => {
    await page.waitForSelector('.vtext .mhead [role=status]:has-text("2 changes")');
    await page.keyboard.press('F7');
    await page.waitForSelector('.vtext .mhead [role=status]:has-text("1 of 2")');
    await page.waitForSelector('.versions .node.sel[data-code=ask]');
    await page.keyboard.press('F7');
    await page.waitForSelector('.versions .node.sel[data-code=refuse]');
    await page.keyboard.press('F7');
    await page.waitForSelector('.versions .node.sel[data-code=ask]');
    await page.keyboard.press('Shift+F7');
    await page.waitForSelector('.versions .node.sel[data-code=refuse]');
    await page.click('.vtext [aria-label="The change before"]');
    await page.waitForSelector('.versions .node.sel[data-code=ask]');
    quiet();
});

await claim('a step that is pressed on the canvas is in sight in the text', async () => {
    await page.click('.versions .node[data-code=refuse]');
    await page.waitForFunction(() => [...document.querySelector('.vtext .cmhost').shadowRoot.querySelectorAll('.cm-line')].some((line) => {
        const box = line.getBoundingClientRect();
        return /"refuse"/.test(line.textContent) && box.top > 0 && box.bottom < innerHeight;
    }));
    quiet();
});

await claim('in two columns the old text stands beside the new one, each with what changed', async () => {
    await page.click('.vtext [role=radio]:has-text("Two")');
    await page.waitForFunction(() => document.querySelector('.vtext .cmhost').shadowRoot.querySelectorAll('.cm-editor').length === 2);
    const sides = await page.evaluate(() => [...document.querySelector('.vtext .cmhost').shadowRoot.querySelectorAll('.cm-editor')].map((side) => [...side.querySelectorAll('.cm-changedLine')].map((line) => line.textContent.trim()).join('\n')));
    equal([sides[0].includes('24h'), sides[0].includes('12h'), sides[1].includes('12h'), sides[1].includes('Say no')], [true, false, true, true], JSON.stringify(sides));
    await page.keyboard.press('F7');
    await page.waitForSelector('.versions .node.sel[data-code=ask]');
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('a dry-run says how long in words, numbers the rounds of a loop, and names what it would do outside', async () => {
    await open('order_processing');
    await page.click('.btn:has-text("Dry-run")');
    await page.fill('#field-order', 'order-7');
    await page.fill('#field-customer', 'ada@example.org');
    await page.fill('#field-cents', '1200');
    await page.fill('#field-items', '[{"sku": "bolt", "count": 4}, {"sku": "bolt", "count": 1}]');
    for (const name of ['Payment', 'Pickup']) await page.click(`.dryrun .addf:has-text("${name}")`);
    await page.locator('.pinrow textarea').last().fill('{"parcel": "PX-1"}');
    await page.click('.drfoot .ink');
    await page.waitForSelector('.verdict.ok');
    equal((await page.textContent('.verdict .sub')).includes('at once') || / (s|min|h|d)\b/.test(await page.textContent('.verdict .sub')), true, await page.textContent('.verdict .sub'));
    equal(await page.$$eval('.visit', (all) => all.map((n) => n.textContent)), ['1, 2', '3', '4', '5', '6', '7', '8'], 'the loop is no visit of its own');
    const outside = await page.textContent('.outside');
    equal(['payment/order-7', 'stock/bolt', 'written'].filter((word) => !outside.includes(word)), [], outside);
    equal(await complaintsOf(page), []);
    await page.click('.dryrun .ihead .btn');
    quiet();
});

await claim('a wait that runs out is said in the words of the page, in both languages', async () => {
    const sub = async () => {
        await open('discount_approval');
        await page.click('.bar .btn:has(.ic use[href="#i-step"])');
        await page.fill('#field-deal', 'deal-9');
        await page.fill('#field-amount', '240000');
        await page.fill('#field-percent', '12');
        await page.click('.drfoot .ink');
        await page.waitForSelector('.verdict');
        return (await page.textContent('.verdict .sub')).replaceAll('\u00a0', ' ');
    };
    equal(await sub(), 'with the draft · after 2 d 12 h');
    await page.evaluate(() => localStorage.setItem('pawl.language', 'ru'));
    equal(/2 д 12 ч$/.test(await sub()), true, await page.textContent('.verdict .sub'));
    await page.evaluate(() => localStorage.setItem('pawl.language', 'en'));
    quiet();
});

await claim('below a finding the numbers stay with their lines, and F8 goes to the next one', async () => {
    const wrong = text('discount_approval').replace('"timeout": "24h"', '"timeout": "1 day"').replace('"timeout": "48h"', '"timeout": "2 days"').replace('"discount_approval"', '"approval_of_errors"');
    await server.asAdmin('PUT', '/scenarios/approval_of_errors/draft', wrong);
    await open('approval_of_errors');
    await page.click('[role=tab]:has-text("JSON")');
    await page.waitForFunction(() => document.querySelector('.jsontab .cmhost')?.shadowRoot?.querySelectorAll('.said').length >= 1);
    const lines = wrong.split('\n');
    const lineOf = (what) => lines.findIndex((line) => line.includes(what)) + 1;
    await page.keyboard.press('F8');
    await page.waitForSelector(`.jfoot:has-text("line ${lineOf('1 day')},")`);
    await page.keyboard.press('F8');
    await page.waitForSelector(`.jfoot:has-text("line ${lineOf('2 days')},")`);
    const off = await page.evaluate(() => {
        const root = document.querySelector('.jsontab .cmhost').shadowRoot;
        const tops = (all) => [...all].map((one) => one.getBoundingClientRect()).filter((box) => box.height > 0).map((box) => Math.round(box.top));
        const numbers = tops([...root.querySelectorAll('.cm-lineNumbers .cm-gutterElement')].filter((one) => /^\d+$/.test(one.textContent) && getComputedStyle(one).visibility !== 'hidden'));
        const rows = tops(root.querySelectorAll('.cm-line'));
        return rows.filter((top) => !numbers.some((other) => Math.abs(other - top) <= 1)).length;
    });
    equal(off, 0, 'lines whose number stands elsewhere');
    await page.locator('.cmhost .said button').first().click();
    await page.waitForSelector('.jfoot:has-text("1 error")');
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('two steps of one code are a choice with a hole in the text, and both can be kept', async () => {
    const base = text('discount_approval').replace('"discount_approval"', '"approval_of_two"');
    await server.asAdmin('PUT', '/scenarios/approval_of_two/draft', base);
    await open('approval_of_two');
    const added = (source, message) => source.replace('"code": "decide"', `"code": "notify", "procedure": {"type": "log", "message": "${message}"}\n    },\n    {\n      "code": "decide"`);
    await server.asAdmin('PUT', '/scenarios/approval_of_two/draft', added(base.replace('"timeout": "24h"', '"timeout": "12h"'), 'theirs'));
    await page.click('[role=tab]:has-text("JSON")');
    await page.locator('.cmhost .cm-content').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(added(base.replace('"timeout": "24h"', '"timeout": "36h"'), 'mine'));
    await page.waitForSelector('.merge');
    equal((await page.textContent('.mlist')).includes('To choose, 2 left of 2'), true, await page.textContent('.mlist'));
    await page.waitForFunction(() => [...document.querySelector('.merge .cmhost').shadowRoot.querySelectorAll('.hole')].some((hole) => hole.textContent === 'choose: "36h" or "12h"'));
    equal(await complaintsOf(page), []);
    await page.click('.btn:has-text("Take yours")');
    await page.click('.mchoice [aria-label="The next choice"]');
    await page.click('.btn:has-text("Keep both, yours as notify_2")');
    await page.waitForFunction(() => document.querySelector('.merge .cmhost').shadowRoot.querySelectorAll('.hole').length === 0);
    await page.click('.btn.ink:has-text("Save what was merged")');
    await saved(page);
    const { steps } = (await server.asAdmin('GET', '/scenarios/approval_of_two')).body.draft.definition;
    const at = steps.findIndex((s) => s.code === 'notify');
    equal(steps.slice(at, at + 3).map((s) => [s.code, s.procedure.message]), [['notify', 'theirs'], ['notify_2', 'mine'], ['decide', undefined]].map(([code, message]) => (message ? [code, message] : [code, steps[at + 2].procedure.message])));
    equal(steps.find((s) => s.code === 'ask').procedure.timeout, '36h');
    quiet();
});

await claim('what cannot be undone goes by the catalog: a step that only looks and fails leaves nothing, one that asks or writes does', async () => {
    const steps = [
        { code: 'look', procedure: [{ type: 'flow.if', condition: 'true', then: [{ type: 'log', message: 'x' }] }, { type: 'record.query', object: 'stock', limit: 1 }] },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'answer', assignee: 'group:managers' } },
        { code: 'tell', procedure: { type: 'flow.if', condition: 'true', then: [{ type: 'event.publish', event: 'Told', payload: {} }] } },
        { code: 'last', procedure: { type: 'log', message: 'end' } },
    ];
    equal((await server.asAdmin('PUT', '/scenarios/traces/draft', { code: 'traces', steps })).body.valid, true);
    await open('traces');
    await page.click('[role=tab]:has-text("Saga")');
    await page.click('.sagalist .part:has-text("Last")');
    await page.waitForSelector('.isect:has-text("These cannot be undone")');
    equal(await page.$$eval('.stayrow', (all) => all.map((row) => row.textContent)), ['Ask', 'Tell']);
    equal((await page.textContent('.isect:has(h3:has-text("Nothing to undo")) p')), 'Look');
    equal(await complaintsOf(page), []);
    quiet();
});

await browser.close();
await server.stop();
end();
