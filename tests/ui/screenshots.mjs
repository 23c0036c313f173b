// screenshots.mjs - every screen of the web UI into docs/ui, as `make screenshots` does: light and dark, English and Russian, wide and on a phone.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dropFolder, makeFolder, Server } from '../api/rig.mjs';
import { openBrowser, openPage, signInUrl } from './browser.mjs';
import { fill } from './world.mjs';

const OUT = process.argv[2] ?? 'docs/ui';
const ONLY = process.argv.slice(3); // names of screens that are drawn anew; all of them when there are none
const folder = makeFolder();
const server = new Server(folder);
await server.start();
await fill(server, ['order_processing', 'discount_approval', 'client_onboarding', 'contract_signing'].map((name) => JSON.parse(readFileSync(`examples/${name}.json`, 'utf8'))));
for (const [path, body] of [['/functions/vat', { params: [{ name: 'sum', type: 'number' }], body: 'sum * 0.19' }], ['/templates/on_its_way', { subject: 'Your order {{ data.order }}', body: 'It is on its way, as parcel {{ data.parcel }}.' }], ['/config/discount_limit', { value: 100000 }]]) await server.asAdmin('PUT', path, body);
for (const [name, role, groups] of [['Ada', 'operator', ['orders']], ['Grace', 'admin', ['directors']], ['Alan', 'operator', ['directors', 'managers']], ['Edsger', 'viewer', []]]) await server.user({ name, role, groups, email: `${name.toLowerCase()}@example.org` });

const one = async (key) => (await server.asAdmin('GET', `/executions?key=${key}&limit=1`)).json.items[0].id;
const letter = (await server.asAdmin('GET', '/dlq?limit=1')).json.items[0].id;
const click = (selector) => (page) => page.click(selector);
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
    ['execution-context', `/executions/${await one('order-1040')}`, '.insp [role=tab]', async (page) => { await page.click('.insp [role=tab]:nth-child(4)'); await page.waitForSelector('.code .add'); }, 'wide'],
    ['execution-held', `/executions/${await one('invoice-2207')}`, '.why.held'],
    ['execution-completed', `/executions/${await one('order-1040')}`, '.why.ok'],
    ['dead-letters', `/dlq?id=${letter}`, '.letter'],
    ['records', '/records', '.card'],
    ['record', '/records/stock/bolt', '.side'],
    ['audit', '/audit', '.trow'],
    ['server', '/server', '.why'],
    ['processes', '/processes', '.trow'],
    ['constructor', '/processes/scenarios/order_processing', '.ed .node', async (page) => { await page.click('[data-code]:nth-child(1)').catch(() => undefined); }],
    ['functions', '/functions?name=vat', '.side'],
    ['templates', '/templates', '.trow'],
    ['configuration', '/config', '.trow'],
    ['users', '/settings', '.trow'],
    ['palette', '/executions', '.trow', async (page) => { await page.keyboard.press('Control+k'); await page.waitForSelector('.cmd input:focus'); await page.keyboard.type('order-1043'); await page.waitForSelector('.cmd .hit'); }, 'wide'],
    ['keys', '/executions', '.trow', async (page) => { await page.keyboard.press('?'); await page.waitForSelector('.keys'); }, 'wide'],
];
const VARIANTS = [['light', 'en', 1280], ['dark', 'en', 1280], ['light', 'ru', 1280], ['light', 'en', 390], ['dark', 'ru', 390]];

if (ONLY.length === 0) rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const browser = await openBrowser();
const wrong = [];
const list = new Map();
for (const [scheme, language, width] of VARIANTS) {
    const phone = width < 640;
    const page = await openPage(browser, server, { viewport: { width, height: phone ? 844 : 800 }, colorScheme: scheme, reducedMotion: 'reduce' });
    await page.addInitScript((to) => { if (location.protocol !== 'about:') localStorage.setItem('pawl.language', to); }, language);
    const draw = async (name) => {
        if (ONLY.length > 0 && !ONLY.includes(name)) return;
        await page.waitForTimeout(400);
        const file = `${name}-${scheme}-${language}-${width}.png`;
        await page.screenshot({ path: `${OUT}/${file}` });
        list.set(name, [...(list.get(name) ?? []), file]);
    };
    await page.goto(server.base);
    await page.waitForSelector('#token');
    await draw('sign-in');
    await page.goto('about:blank');
    await page.goto(signInUrl(server));
    await page.waitForSelector('.main');
    for (const [name, path, ready, act, only] of SCREENS) {
        if ((only === 'wide' && phone) || (ONLY.length > 0 && !ONLY.includes(name))) continue;
        await page.goto(server.base + path);
        await page.waitForSelector(ready).catch((error) => { throw new Error(`${name}: ${error.message}`); });
        if (act) await act(page);
        await draw(name);
    }
    wrong.push(...page.wrong);
    await page.context().close();
}
const rows = [...list].map(([name, files]) => `## ${name.replaceAll('-', ' ')}\n\n${files.map((file) => `![${file.replace('.png', '').replaceAll('-', ' ')}](${file})`).join('\n')}\n`);
if (ONLY.length === 0) writeFileSync(`${OUT}/README.md`, `# The web UI, screen by screen\n\nDrawn by \`make screenshots\`: light and dark, English and Russian, 1280 and 390 pixels wide.\n\n${rows.join('\n')}`);
await browser.close();
await server.stop();
dropFolder(folder);
console.log(`${[...list.values()].flat().length} screenshots in ${OUT}`);
if (wrong.length) {
    console.log(wrong.join('\n'));
    process.exit(1);
}
process.exit(0);
