// screenshots.mjs - every screen of the web UI into a folder, build/ui-pictures by `make screenshots`: light and dark, English and Russian, wide and on a phone.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';
import { fillFloor } from './floor.mjs';
import { fill } from './world.mjs';

const OUT = process.argv[2] ?? 'build/ui-pictures'; // of the drawing itself: whoever imports this file draws nothing
const ONLY = process.argv.slice(3); // names of screens that are drawn anew; all of them when there are none
const server = await startServer();
await fill(server, ['order_processing', 'discount_approval', 'client_onboarding', 'contract_signing'].map((name) => JSON.parse(readFileSync(`examples/${name}.json`, 'utf8'))));
for (const [path, body] of [['/functions/vat', { params: [{ name: 'sum', type: 'number' }], body: 'sum * 0.19' }], ['/templates/on_its_way', { subject: 'Your order {{ data.order }}', body: 'It is on its way, as parcel {{ data.parcel }}.' }], ['/config/discount_limit', { value: 100000 }]]) await server.asAdmin('PUT', path, body);
for (const [name, role, groups] of [['Ada', 'operator', ['orders']], ['Grace', 'admin', ['directors']], ['Alan', 'operator', ['directors', 'managers']], ['Edsger', 'viewer', []]]) await server.user({ name, role, groups, email: `${name.toLowerCase()}@example.org` });

const { people, tasks } = await fillFloor(server);

const ask = async (method, path, body) => {
    const answer = await server.asAdmin(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.raw}`);
    return answer.body;
};
await ask('PUT', '/credentials/payments', { type: 'api_key', base_url: 'https://payments.internal/v1', header_name: 'X-Api-Key', header_value: 'sk_live_51H' });
await ask('PUT', '/credentials/bank', { type: 'oauth2_client', base_url: 'https://api.bank.example', token_url: 'https://id.bank.example/token', client_id: 'pawl', client_secret: 'secret-of-pawl', scope: 'payments' });
await ask('PUT', '/credentials/signing', { type: 'secret', base_url: 'https://sign.example', values: { key: 'k-9914', pin: '4711-22' } });
await ask('POST', '/import', { items: [{ kind: 'scenario', code: 'weekly_report', name: 'Weekly report', triggers: [{ type: 'schedule', cron: '0 7 * * MON', timezone: 'Europe/Berlin' }, { type: 'schedule', cron: '30 2 1 * *', timezone: 'UTC', catchUp: 'none' }], steps: [{ code: 'note', procedure: { type: 'compute.transform', data: {} } }] }, { kind: 'scenario', code: 'tell_partner', name: 'Tell the partner', steps: [{ code: 'pay', procedure: { type: 'integration.http', method: 'POST', credential: 'payments', path: '/payments' } }, { code: 'publish', procedure: { type: 'event.publish', event: 'OrderPaid', payload: {} } }] }, { kind: 'scenario', code: 'announce', name: 'Announce', steps: [{ code: 'publish', procedure: { type: 'event.publish', event: 'OrderPaid', payload: { order: 'order-1040' } } }, { code: 'mail', procedure: { type: 'notification.email', to: 'ada@example.org', subject: 'Paid', body: 'Your order is paid.' } }] }] });
// Buttons on the card of a record: one that asks how much, one that needs nothing.
await ask('POST', '/import', { items: [{ kind: 'scenario', code: 'reorder', name: 'Reorder', input: [{ name: 'sku', type: 'string', required: true }, { name: 'count', type: 'integer', required: true }, { name: 'note', type: 'string' }], triggers: [{ type: 'action', object: 'stock', label: 'Order more', input: { sku: '$.record.id' } }], steps: [{ code: 'delivered', procedure: { type: 'wait.signal', signalType: 'delivered' } }] }, { kind: 'scenario', code: 'stocktaking', name: 'Stocktaking', input: [{ name: 'sku', type: 'string', required: true }], triggers: [{ type: 'action', object: 'stock', label: 'Count it', input: { sku: '$.record.id' } }], steps: [{ code: 'count', procedure: { type: 'compute.transform', data: { counted: true } } }] }] });
await ask('POST', '/records/stock/bolt/actions/reorder', { input: { count: 500 } });
await ask('POST', '/records/stock/bolt/actions/stocktaking', {});
await ask('PUT', '/subscriptions/shop', { url: 'http://127.0.0.1:9/hook', events: ['OrderPaid'] });
for (let i = 0; i < 3; i++) await ask('POST', '/executions', { code: 'announce' });
const hopper = await ask('POST', '/users', { name: 'Hopper', role: 'member', email: 'hopper@example.org', groups: ['directors', 'managers', 'legal'] });
await ask('POST', '/import', { items: [{ kind: 'scenario', code: 'survey', name: 'Site survey', input: [{ name: 'site', type: 'string', required: true }], steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'surveyed', title: 'What is at {{ input.site }}?', assignee: 'group:legal', timeout: '2d', form: [{ name: 'place', type: 'string', label: 'Place', required: true, description: 'Where you stood.' }, { name: 'rooms', type: 'integer', label: 'Rooms', required: true, default: 4 }, { name: 'safe', type: 'boolean', label: 'Is it safe?', required: true }, { name: 'why_not', type: 'string', label: 'Why not?', requiredWhen: 'payload.safe == false' }, { name: 'grade', type: 'string', label: 'Grade', enum: ['good', 'fair', 'poor'], required: true }, { name: 'seen', type: 'date', label: 'Seen on' }] } }] }] });
await ask('POST', '/executions', { code: 'survey', input: { site: 'dock-4' } });
// A draft that is wrong, one that changes something, one that has just begun.
const draft = (code, change) => server.asAdmin('PUT', `/scenarios/${code}/draft`, change(readFileSync(`examples/${code}.json`, 'utf8')));
await draft('contract_signing', (text) => text);
await server.asAdmin('POST', '/scenarios/contract_signing/publish', { changeSummary: 'Both sides sign in turn' });
await draft('contract_signing', (text) => text.replace('"code": "declined",', '"code": "declined", "name": "Somebody says no",').replace(/\{\s*"code": "activate"/, '{"code": "tell_sales", "name": "Tell the sales team", "procedure": {"type": "log", "message": "signed"}},\n    $&'));
await draft('client_onboarding', (text) => text.replace(/\$\.steps\.(\w)\w*/, '$.steps.$1x').replace('"procedure"', '"procedur"'));
await server.asAdmin('PUT', '/scenarios/holiday_request/draft', '{\n  "code": "holiday_request",\n  "name": "Holiday request",\n  "steps": []\n}\n');

// A chain of executions, a step that no worker takes, a wait that has reminded: what the page of an execution says of each.
const hands = (code, name, to) => ({ kind: 'scenario', code, name, input: [{ name: 'n', type: 'string' }], settings: { key: `="${code}-" + $.input.n` }, steps: [{ code: 'prepare', name: 'Prepare', procedure: { type: 'log', message: 'number {{ input.n }}' } }, { code: 'hand_over', name: 'Hand over', procedure: { type: 'flow.start', code: to, input: { n: '$.input.n' }, wait: true } }] });
await ask('POST', '/import', { items: [
    hands('export', 'Export', 'delivery'), hands('delivery', 'Delivery', 'courier'),
    { kind: 'scenario', code: 'courier', name: 'Courier', input: [{ name: 'n', type: 'string' }], settings: { key: '="courier-" + $.input.n' }, steps: [{ code: 'pickup', name: 'Pick it up', procedure: { type: 'wait.signal', signalType: 'picked_up', timeout: '2d', reminder: { every: '400ms', max: 3, procedure: { type: 'log', message: 'the courier was reminded' } } } }] },
    { kind: 'scenario', code: 'parcel', name: 'Parcel', steps: [{ code: 'pack', name: 'Pack it', procedure: 'shop.pack' }] },
] });
await ask('POST', '/executions', { code: 'export', input: { n: '7' } });
await ask('POST', '/executions', { code: 'parcel', key: 'parcel-19' });

// What another execution starts begins a moment later.
const one = (key) => until(`the execution ${key}`, async () => (await server.asAdmin('GET', `/executions?key=${key}&limit=1`)).body.items[0]?.id);
const letter = (await server.asAdmin('GET', '/dlq?limit=1')).body.items[0].id;
const click = (selector) => (page) => page.click(selector);
/** One draft, changed by two: a field that both changed, a step that both put in, and what fits together. */
async function merging(page) {
    await server.asAdmin('DELETE', '/scenarios/invoice_payment/draft');
    await page.reload();
    await page.waitForSelector('.ed .node');
    const { definition } = (await ask('GET', '/scenarios/invoice_payment')).published;
    const changed = (name, message, more = {}) => JSON.stringify({ ...definition, ...more, steps: [...definition.steps.map((step) => (step.code === 'book' ? { ...step, name } : step)), { code: 'tell', name: 'Tell the supplier', procedure: { type: 'log', message } }] }, null, 2);
    await page.click('[role=tab] >> nth=2');
    await page.waitForSelector('.jsontab .cmhost');
    await ask('PUT', '/scenarios/invoice_payment/draft', changed('Book the invoice', 'it is paid', { name: 'Payment of invoices' }));
    await page.locator('.cmhost .cm-content').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(changed('Enter it into the books', 'paid in full'));
    await page.waitForSelector('.merge');
}
const [admin, lead, worker] = [server.token, people.Lena.token, people.Tony.token];
// name, address, what is waited for, what is done then, 'wide' when it is not for phones, whose page it is
const SCREENS = [
    ['overview', '/', '.dash'],
    ['executions', '/executions', '.trow'],
    ['executions-chosen', '/executions?code=invoice_payment', '.trow', async (page) => { for (const box of (await page.$$('.trow .box')).slice(0, 3)) await box.click(); }, 'wide'],
    ['executions-confirm', '/executions?waiting=incident', '.trow', async (page) => { await page.click('.thead .box'); await page.click('.bulk .btn.link'); await page.click('.bulk .btn.ink'); await page.waitForSelector('[role=dialog] .num'); }, 'wide'],
    ['executions-nothing', '/executions?status=compensating&from=24h', '.empty'],
    ['start', '/executions?start=discount_approval', '#field-deal'],
    ['execution-waiting', `/executions/${await one('deal-318')}`, '.tr'],
    ['execution-signal', `/executions/${await one('deal-318')}`, '.why .btn.ink', click('.why .btn.ink')],
    ['execution-rolled-back', `/executions/${await one('order-1043')}`, '.insp .errmsg'],
    ['execution-context', `/executions/${await one('order-1040')}`, '.insp [role=tab]', async (page) => { await page.locator('.tlrows .tr').last().click(); await page.click('.insp [role=tab]:nth-child(4)'); await page.waitForSelector('.code .add'); }, 'wide'],
    ['execution-held', `/executions/${await one('invoice-2207')}`, '.why.held'],
    ['execution-completed', `/executions/${await one('order-1040')}`, '.why.ok'],
    ['execution-children', `/executions/${await one('export-7')}`, '.why .awaited a >> nth=1'],
    ['execution-child', `/executions/${await one('courier-7')}`, '.parents a >> nth=1'],
    ['execution-worker', `/executions/${await one('parcel-19')}`, '.why .sub a'],
    ['dead-letters', `/dlq?id=${letter}`, '.letter'],
    ['inbox', '/inbox', '.askrow', undefined, undefined, hopper.token],
    ['inbox-answer', '/inbox', '.askrow', async (page) => { await page.click('.askrow'); await page.click('.answer [role=radio]'); }, undefined, hopper.token],
    ['inbox-form', '/inbox', '.askrow', async (page) => { await page.click('.askrow:has-text("dock-4")'); await page.waitForSelector('#field-place'); }, undefined, hopper.token],
    ['inbox-empty', '/inbox', '.empty', undefined, undefined, worker],
    ['schedules', '/schedules', '.trow.scheds', async (page) => { await page.click('.rowlink'); await page.waitForSelector('.times li'); }],
    ['schedules-try', '/schedules', '.trow.scheds', async (page) => { await page.click('.bar .btn'); await page.waitForSelector('.times li'); }],
    ['outbox', '/outbox', '.trow.outbox'],
    ['credentials', '/settings/credentials?code=payments', '.side'],
    ['credential-new', '/settings/credentials', '.trow', click('.bar .btn')],
    ['records', '/records', '.card'],
    ['record', '/records/stock/bolt', '.side .line'],
    ['record-changed', '/records/invoice/invoice-2207', '.writer'],
    ['record-action', '/records/stock/bolt', '.recordacts .btn', async (page) => { await page.click('.recordacts .btn'); await page.waitForSelector('#field-count'); await page.fill('#field-count', '500'); }],
    ['audit', '/audit', '.trow'],
    ['server', '/server', '.why'],
    ['processes', '/processes', '.trow'],
    ['constructor', '/processes/scenarios/order_processing', '.ed .node', click('[data-code=charge]')],
    ['constructor-process', '/processes/scenarios/discount_approval', '.ed .node'],
    ['constructor-form', '/processes/scenarios/discount_approval', '.ed .node', click('[data-code=ask]'), 'wide'],
    ['constructor-picker', '/processes/scenarios/discount_approval', '.ed .node', async (page) => { await page.click('[data-code=grant]'); await page.click('.isect .expr .fx >> nth=0'); await page.waitForSelector('.picker .o'); }, 'wide'],
    ['constructor-saga', '/processes/scenarios/order_processing', '.ed .node', click('[role=tab] >> nth=1'), 'wide'],
    ['constructor-json', '/processes/scenarios/discount_approval', '.ed .node', async (page) => { await page.click('[role=tab] >> nth=2'); await page.waitForSelector('.jsontab .cmhost'); await page.click('.jfoot .btn'); }, 'wide'],
    ['constructor-dry-run', '/processes/scenarios/discount_approval', '.ed .node', async (page) => { await page.click('.bar .btn:has(.ic use[href="#i-step"])'); await page.selectOption('.dryrun h3 select', { index: 2 }); await page.waitForSelector('.pinrow, .dryrun .more'); await page.click('.drfoot .ink'); await page.waitForSelector('.verdict'); }, 'wide'],
    ['constructor-versions', '/processes/scenarios/contract_signing', '.ed .node', async (page) => { await page.click('[role=tab] >> nth=4'); await page.waitForSelector('.vtext'); }, 'wide'],
    ['constructor-merge', '/processes/scenarios/invoice_payment', '.ed .node, .merge', merging, 'wide'],
    ['constructor-problems', '/processes/scenarios/client_onboarding', '.ed .node', async (page) => { await page.waitForSelector('.problems .prow'); await page.click('.problems .prow'); }, 'wide'],
    ['constructor-empty', '/processes/scenarios/holiday_request', '.slot.only', undefined, 'wide'],
    ['process-new', '/processes', '.trow', async (page) => { await page.click('.bar .btn.ink'); await page.waitForSelector('#new-name'); }, 'wide'],
    ['functions', '/functions?name=vat', '.side'],
    ['function-new', '/functions?new=1', '#live-name'],
    ['templates', '/templates?name=on_its_way', '.mail'],
    ['configuration', '/config?name=discount_limit', '#live-value'],
    ['users', '/settings', '.trow'],
    ['user', '/settings/users', '.trow', async (page) => { await page.click('.rowlink:has-text("Barbara")'); await page.waitForSelector('.side .line'); }],
    ['user-new', '/settings/users', '.trow', async (page) => { await page.click('.bar .btn'); await page.selectOption('#user-role', 'executor'); }],
    ['token-new', '/settings/users', '.trow', async (page) => { await page.click('.rowlink:has-text("Barbara")'); await page.click('.side .sect .btn.sm >> nth=1'); await page.waitForSelector('#token-name'); }],
    ['planner', '/planner', '.column.shown .tcard', undefined, undefined, lead],
    ['planner-lifted', '/planner', '.column.shown .tcard', async (page) => { await page.hover(`[data-id="${tasks.cable214.id}"]`); await page.mouse.down(); await page.mouse.move(620, 400, { steps: 5 }); await page.waitForSelector('.board.lifting'); await page.mouse.move(600, 420, { steps: 4 }); }, 'wide', lead],
    ['planner-assign', '/planner', '.column.shown .tcard', async (page) => { await page.click(`[data-id="${tasks.cable214.id}"] .more`); await page.click('.menu .mi'); await page.waitForSelector('.picker button'); }, 'wide', lead],
    ['planner-new-task', '/planner', '.column.shown .tcard', click('.bar .btn.ink'), undefined, lead],
    ['pool', '/planner?view=pool', '.poolcard', undefined, undefined, worker],
    ['pool-of-all', '/planner?view=pool', '.poolcard', undefined, 'wide', lead],
    ['my-task', '/planner?view=mine', '.empty', undefined, undefined, worker],
    ['task', `/tasks/${tasks.cable.id}`, '.log li', undefined, undefined, lead],
    ['task-of-mine', `/tasks/${tasks.cable.id}`, '.log li', undefined, undefined, people.Barbara.token],
    ['task-help', `/tasks/${tasks.cable.id}`, '.log li', async (page) => { await page.click('.taskside .btn:has-text("help"), .taskside .btn:has-text("помощь")'); await page.waitForSelector('[role=dialog] .chips'); }, undefined, people.Barbara.token],
    ['shifts', '/planner/shifts', '.trow', undefined, undefined, lead],
    ['shift-end', '/planner/shifts', '.trow', async (page) => { await page.click('.trow .btn'); await page.waitForSelector('.given'); }, undefined, lead],
    ['policy', '/settings/policy', '.policy'],
    ['palette', '/executions', '.trow', async (page) => { await page.keyboard.press('Control+k'); await page.waitForSelector('.cmd input:focus'); await page.keyboard.type('order-1043'); await page.waitForSelector('.cmd .hit'); }, 'wide'],
    ['keys', '/executions', '.trow', async (page) => { await page.keyboard.press('?'); await page.waitForSelector('.keys'); }, 'wide'],
];
/** The screens, in a server that is filled for them; for tests that walk over all of them. */
export { SCREENS, server };

if (process.argv[1]?.endsWith('screenshots.mjs')) {
    const VARIANTS = [['light', 'en', 1280], ['dark', 'en', 1280], ['light', 'ru', 1280], ['light', 'en', 390], ['dark', 'ru', 390]];

    if (ONLY.length === 0) rmSync(OUT, { recursive: true, force: true });
    mkdirSync(OUT, { recursive: true });
    const browser = await openBrowser();
    const wrong = [];
    const list = new Map();
    for (const [scheme, language, width] of VARIANTS) {
        const phone = width < 640;
        const look = { viewport: { width, height: phone ? 844 : 800 }, colorScheme: scheme, reducedMotion: 'reduce' };
        const draw = async (page, name) => {
            if (ONLY.length > 0 && !ONLY.includes(name)) return;
            await page.waitForTimeout(400);
            const file = `${name}-${scheme}-${language}-${width}.png`;
            await page.screenshot({ path: `${OUT}/${file}` });
            list.set(name, [...(list.get(name) ?? []), file]);
        };
        const pages = new Map();
        const pageOf = async (token) => {
            if (pages.has(token)) return pages.get(token);
            const page = await openPage(browser, server, look);
            pages.set(token, page);
            await page.addInitScript((to) => { if (location.protocol !== 'about:') localStorage.setItem('pawl.language', to); }, language);
            await page.goto(server.url);
            await page.waitForSelector('#token');
            if (token === admin) await draw(page, 'sign-in');
            await page.goto('about:blank');
            await page.goto(signInUrl(server, '/', token));
            await page.waitForSelector('.main');
            return page;
        };
        for (const [name, path, ready, act, only, token = admin] of SCREENS) {
            if ((only === 'wide' && phone) || (ONLY.length > 0 && !ONLY.includes(name))) continue;
            const page = await pageOf(token);
            await page.goto(server.url + path);
            await page.waitForSelector(ready).catch((error) => { throw new Error(`${name}: ${error.message}`); });
            if (act) await act(page);
            await draw(page, name);
            await page.mouse.up();
        }
        for (const page of pages.values()) {
            wrong.push(...page.wrong);
            await page.context().close();
        }
    }
    // Whatever is there now, in the order of the screens: also after only some were drawn.
    const drawn = readdirSync(OUT).filter((file) => file.endsWith('.png'));
    const nameOf = (file) => file.replace(/-(light|dark)-(en|ru)-\d+\.png$/, '');
    const names = [...new Set(['sign-in', ...SCREENS.map(([name]) => name), ...drawn.map(nameOf)])].filter((name) => drawn.some((file) => nameOf(file) === name));
    const rows = names.map((name) => `## ${name.replaceAll('-', ' ')}\n\n${VARIANTS.map((variant) => `${name}-${variant.join('-')}.png`).filter((file) => drawn.includes(file)).map((file) => `![${file.replace('.png', '').replaceAll('-', ' ')}](${file})`).join('\n')}\n`);
    writeFileSync(`${OUT}/README.md`, `# The web UI, screen by screen\n\nDrawn by \`make screenshots\`: light and dark, English and Russian, 1280 and 390 pixels wide.\n\n${rows.join('\n')}`);
    await browser.close();
    await server.stop();
    console.log(`${[...list.values()].flat().length} screenshots in ${OUT}`);
    if (wrong.length) {
        console.log(wrong.join('\n'));
        process.exit(1);
    }
    process.exit(0);
}
