// The picture of a process is true: conditions, jumps and ends with their words, and the way that was taken, from the
// history; it is moved, zoomed, searched and folded as a canvas is. Schemas and machines have a picture as well.
import { readFileSync } from 'node:fs';
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
const step = (n) => ({ code: `step_${n}`, name: `Step number ${n}`, procedure: { type: 'log', message: 'x' } });
const LONG = { code: 'long', name: 'Long', steps: [...Array.from({ length: 60 }, (_, n) => step(n)), { code: 'rounds', name: 'Rounds', loop: { for: '=[1]', steps: Array.from({ length: 40 }, (_, n) => step(n + 60)) } }] };
const JUMPS = {
    code: 'jumps', name: 'Jumps', input: [{ name: 'tries', type: 'integer', required: true }],
    steps: [
        { code: 'first', name: 'First', procedure: { type: 'log', message: 'x' } },
        { code: 'extra', name: 'Extra', when: '$.input.tries > 5', procedure: { type: 'log', message: 'x' } },
        { code: 'last', name: 'Last', procedure: { type: 'log', message: 'x' }, goto: [{ when: '$.input.tries > 90', to: 'first' }, { when: '$.input.tries == 1', to: 'end' }] },
        { code: 'after', name: 'After', procedure: { type: 'log', message: 'x' }, goto: 'end' },
    ],
};
await ok('POST', '/import', { items: [JSON.parse(readFileSync('examples/discount_approval.json', 'utf8')), LONG, JUMPS] });
const stands = async (key) => (await ok('GET', `/executions?key=${key}&limit=1`)).items[0];
for (const [deal, approved] of [['deal-1', true], ['deal-2', false]]) {
    await ok('POST', '/executions', { code: 'discount_approval', input: { deal, amount: 500, percent: 5 } });
    await until(`${deal} is asked`, async () => (await stands(deal))?.currentStep === 'ask');
    await ok('POST', '/signals', { key: deal, type: 'approval_decision', payload: { approved } });
    await until(`${deal} ends`, async () => (await stands(deal)).status === 'completed');
}

const browser = await openBrowser();
const page = await openPage(browser, server);
const quiet = () => equal(page.wrong.splice(0), [], 'what the browser complained about');
const open = async (path, selector) => {
    await page.goto(`${server.url}${path}`);
    await page.waitForSelector(selector);
};
const words = () => page.$$eval('.elab', (all) => all.map((one) => one.textContent.replaceAll('\u00a0', ' ')));
const boxOf = (code) => page.locator(`.node[data-code="${code}"]`).boundingBox();
const taken = (selector) => page.$$eval(`.wires path.wire${selector}`, (all) => all.map((one) => `${one.dataset.kind} ${one.dataset.from}-${one.dataset.to}`));
await page.goto(signInUrl(server, '/processes'));
await page.waitForSelector('.trow, .proc, table');

await claim('a discount granted draws "granted" and not "refused", and one refused the other way', async () => {
    for (const [deal, yes, no] of [['deal-1', 'grant', 'refuse'], ['deal-2', 'refuse', 'grant']]) {
        await open(`/executions/${(await stands(deal)).id}`, '.node[data-code="grant"]');
        await page.waitForSelector(`.wires path.wire.done[data-to="${yes}"]`);
        const lines = await taken('.done');
        equal([lines.includes(`next -${yes}`), lines.some((line) => line.includes(no)), lines.includes('jump ask-decide'), lines.some((line) => line.includes('escalate'))], [true, false, true, false], String(lines));
        equal(await page.$$eval('.endpill.done', (all) => all.map((one) => one.textContent)), ['start', 'end']);
    }
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('conditions, jumps and times stand on the lines, and two steps that exclude each other side by side', async () => {
    await open('/processes/scenarios/discount_approval', '.node[data-code="grant"]');
    const said = await words();
    for (const word of ['if decide.approved', 'if not decide.approved', 'goes to Decide', 'after 24 h']) equal(said.includes(word), true, `${word}: ${said}`);
    equal((await boxOf('grant')).y, (await boxOf('refuse')).y, 'the height of the two');
    await open('/processes/scenarios/jumps', '.node[data-code="last"]');
    const jumps = await words();
    for (const word of ['if tries is over 5', 'if tries is over 90, goes to First', 'if tries is 1: end']) equal(jumps.includes(word), true, `${word}: ${jumps}`);
    equal(await page.$$eval('.endpill', (all) => all.map((one) => one.textContent)), ['end', 'start']);
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('a dry-run draws the way that it took, around what was skipped', async () => {
    await page.click('.btn:has-text("Dry-run")');
    await page.fill('.dryrun #field-tries', '2');
    await page.click('.dryrun .btn:has-text("Try it")');
    await page.waitForSelector('.wires path.wire.way');
    const lines = await taken('.way');
    equal([lines.includes('skip extra-'), lines.includes('next -extra'), lines.includes('next last-after'), lines.includes('jump last-first')], [true, false, true, false], String(lines));
    quiet();
});

await claim('it is moved by dragging, and zoomed where the pointer is', async () => {
    await open('/processes/scenarios/long', '.node[data-code="step_0"]');
    const canvas = await page.locator('.canvas').boundingBox();
    const [x, y] = [canvas.x + 20, canvas.y + canvas.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - 200, { steps: 4 });
    await page.mouse.up();
    equal(await page.$eval('.canvas', (el) => el.scrollTop), 200, 'moved by');
    await page.$eval('.canvas', (el) => { el.scrollTop = 1600; });
    const code = await page.$$eval('.node', (all) => all.find((one) => one.getBoundingClientRect().top > 350).dataset.code);
    const before = await boxOf(code);
    const at = { x: before.x + before.width / 2, y: before.y + before.height / 2 };
    await page.mouse.move(at.x, at.y);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, 200);
    await page.keyboard.up('Control');
    await page.waitForFunction(([own, width]) => document.querySelector(`.node[data-code="${own}"]`).getBoundingClientRect().width < width * 0.8, [code, before.width]);
    const after = await boxOf(code);
    equal([Math.abs(after.y + after.height / 2 - at.y) < 3], [true], `what is under the pointer stays: ${at.y}, then ${after.y + after.height / 2}`);
    quiet();
});

await claim('a hundred steps are found, folded, and seen at once', async () => {
    await page.click('.zoom [aria-label="Find a step"]');
    await page.fill('.seek input', 'number 57');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.node.sel[data-code="step_57"]');
    const found = await boxOf('step_57');
    const canvas = await page.locator('.canvas').boundingBox();
    equal([found.y > canvas.y, found.y < canvas.y + canvas.height], [true, true], 'it is in sight');
    await page.keyboard.press('Escape');
    equal(await page.locator('.small').count(), 1, 'the whole of it in small');
    equal(await page.locator('.node[data-code="step_70"]').count(), 1);
    await page.locator('.lane .foldmark').click();
    await page.waitForSelector('.node[data-code="rounds"]:has-text("40 steps in it")');
    equal(await page.locator('.node[data-code="step_70"]').count(), 0);
    await page.click('.zoom [aria-label="Fit"]');
    await page.waitForFunction(() => { const el = document.querySelector('.canvas'); return el.scrollHeight <= el.clientHeight && el.scrollWidth <= el.clientWidth; });
    const letters = await page.$$eval('.node .nm', (all) => Math.min(...all.map((one) => (parseFloat(getComputedStyle(one).fontSize) * one.getBoundingClientRect().height) / one.offsetHeight)));
    equal(letters >= 8, true, `names of all 61 are ${letters} px high`);
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('while something is dragged the places where it can be dropped light up', async () => {
    await open('/processes/scenarios/jumps', '.node[data-code="last"]');
    const shown = () => page.$eval('.slot:not(.only)', (el) => [getComputedStyle(el).opacity, el.offsetWidth]);
    await page.mouse.move(5, 5);
    const part = await page.locator('.part').first().boundingBox();
    await page.mouse.move(part.x + 20, part.y + 10);
    await page.mouse.down();
    await page.mouse.move(part.x + 60, part.y + 40, { steps: 4 });
    await page.waitForSelector('.ed-canvas.dragging');
    await page.waitForFunction(() => getComputedStyle(document.querySelector('.slot:not(.only)')).opacity === '1');
    equal(await shown(), ['1', 28]);
    const slot = await page.locator('.slot:not(.only)').nth(1).boundingBox();
    await page.mouse.move(slot.x + 14, slot.y + 14, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => document.querySelectorAll('.ed-canvas .node:not(.undonode)').length === 5);
    equal(await page.locator('.ed-canvas.dragging').count(), 0);
    quiet();
});

// The examples, without what they ask of others.
const GRAPH = JSON.parse(readFileSync('examples/graphs/balance.json', 'utf8'));
GRAPH.nodes.find((node) => node.id === 'http_1').config.url = `${server.url}/nothing`;
const MACHINE = JSON.parse(readFileSync('examples/machines/order_life.json', 'utf8'));
MACHINE.states.new.on.pay.do = [{ type: 'compute.set', values: { charge: 1 } }];
const word = (code) => page.textContent(`.net .elab[data-code="${code}"]`);

await claim('a schema is drawn with its nodes, its branches, and the way that was taken', async () => {
    await ok('POST', '/import', { items: [GRAPH, MACHINE] });
    await open('/processes/schemas/balance', '.net .node[data-code="end_2"]');
    equal(await page.$$eval('.net .node', (all) => all.map((one) => one.dataset.code)), GRAPH.nodes.map((node) => node.id));
    equal(await page.$$eval('.net .elab', (all) => all.map((one) => one.textContent)), ['true', 'false']);
    equal([await page.locator('.net .wire.done, .net .wire.no').count(), await page.locator('.net .node.final').count()], [0, 2], 'nothing was taken yet');
    await page.focus('.net .node[data-code="http_1"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.side .code:has-text("/nothing")');
    equal(await page.getAttribute('.net .node[data-code="http_1"]', 'aria-pressed'), 'true');
    equal(await complaintsOf(page), []);
    const { id } = await ok('POST', '/executions', { code: 'balance', input: {} });
    await until('it has ended', async () => (await ok('GET', `/executions/${id}`)).status === 'completed');
    await open(`/executions/${id}`, '.net .wire.done[data-to="end_2"]');
    equal([await taken('.done'), await taken('.no')].map((lines) => lines.length), [3, 2]);
    equal(await page.$$eval('.net .node.later', (all) => all.map((one) => one.dataset.code)), ['var_set_1', 'end_1']);
    await page.click('.net .node[data-code="condition_1"]');
    await page.waitForSelector('.insp .hd:has-text("condition_1")');
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('a machine is drawn with its states and events, where it stands, and what led there', async () => {
    await open('/processes/machines/order_life', '.net .node[data-code="delivered"]');
    equal(await page.$$eval('.net .node', (all) => all.map((one) => one.dataset.code)), Object.keys(MACHINE.states));
    equal([await word('new.pay'), await word('new.cancel'), (await word('new#3d')).replaceAll('\u00a0', ' '), await word('packed.ship')], ['The whole sum is paid', 'cancel', 'Nobody has paid, after 3 d', 'ship']);
    equal((await page.textContent('.net .node[data-code="paid"] .stay')), 'note');
    equal([await page.locator('.net .node.final').count(), await page.locator('.net .node.initial[data-code="new"]').count(), await page.locator('.net .endpill.start').count()], [2, 1, 1]);
    await page.click('.net .elab[data-code="new.pay"]');
    await page.waitForSelector('.side .code:has-text("signal.payload.sum >= input.sum")');
    equal(await complaintsOf(page), []);
    const { id } = await ok('POST', '/executions', { code: 'order_life', input: { order: 'o-1', sum: 5 } });
    const comesTo = (state) => until(`it comes to ${state}`, async () => (await ok('GET', `/executions/${id}`)).currentStep === state);
    await comesTo('new');
    for (const [type, payload, state] of [['pay', { sum: 5 }, 'paid'], ['note', { text: 'x' }, 'paid'], ['pack', {}, 'packed']]) {
        await ok('POST', `/executions/${id}/signal`, { type, payload });
        await comesTo(state);
    }
    await open(`/executions/${id}`, '.net .node.live[data-code="packed"]');
    await page.waitForSelector('.net .wire.done[data-code="paid.pack"]');
    equal(await page.$$eval('.net .wire.done[data-code], .net .stay.done', (all) => all.map((one) => one.dataset.code)), ['new.pay', 'paid.pack', 'paid.note']);
    equal(await page.$$eval('.net .node.later', (all) => all.map((one) => one.dataset.code)), ['shipped', 'delivered', 'cancelled']);
    await page.click('.net .elab[data-code="new.pay"]');
    await page.waitForSelector('.insp .hd:has-text("new.pay")');
    equal(await page.getAttribute('.net .node[data-code="new"]', 'aria-pressed'), 'true', 'the state of the transition');
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('a draft that nobody could publish is drawn as far as it can be', async () => {
    const drafts = [
        ['schemas', 'odd_list', { nodes: { a: 1 }, edges: 7, name: {} }, 0],
        ['schemas', 'odd_edges', { nodes: [null, { id: 'one', type: 'start', position: { x: 'q' } }, { id: '__proto__', type: 4 }], edges: [{ source: 'one', target: 'none' }, null, { source: 'one', target: '__proto__' }] }, 2],
        ['machines', 'odd_states', { mode: 'state_machine', initial: 7, states: { a: { on: { x: [{ to: 'nowhere' }, 5] }, after: [] }, b: null } }, 1],
    ];
    for (const [kind, code, definition, boxes] of drafts) {
        await ok('PUT', `/${kind}/${code}/draft`, { code, ...definition });
        await open(`/processes/${kind}/${code}`, '.net .canvas');
        equal([await page.locator('.net .node').count(), await page.locator('.net .notdrawn').count()], [boxes, code === 'odd_list' ? 0 : 1], code);
    }
    equal(await complaintsOf(page), []);
    quiet();
});

await browser.close();
await server.stop();
end();
