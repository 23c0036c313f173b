// The page behind a link that answers a wait, in a browser: by keyboard, on a small screen, in both languages and colours.
import { createServer } from 'node:http';

import { complaintsOf, openBrowser, openPage } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const FORM = [
    { name: 'approved', type: 'boolean', required: true, label: 'Approve the discount?' },
    { name: 'amount', type: 'integer', label: 'Amount', description: 'In euros' },
    { name: 'kind', type: 'string', enum: ['new', 'old'] },
    { name: 'reason', type: 'string', requiredWhen: 'payload.approved == false' },
    { name: 'at', type: 'datetime' },
    { name: 'more', type: 'object' },
];

const told = [];
const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
        told.push(body);
        response.writeHead(200).end();
    });
});
await new Promise((done) => receiver.listen(0, '127.0.0.1', done));

const server = await startServer();
const api = (method, path, body) => server.asAdmin(method, path, body);
await api('PUT', '/scenarios/ask/draft', {
    code: 'ask', steps: [
        { code: 'tell', procedure: { type: 'integration.http', method: 'POST', url: `http://127.0.0.1:${receiver.address().port}/`, body: '{{ $.execution.callbackUrl }}/decision' } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'decision', public: true, title: 'A discount of 12 % for Muster & Söhne', form: FORM } },
    ],
});
await api('POST', '/scenarios/ask/publish');

async function linked() {
    const { id } = (await api('POST', '/executions', { code: 'ask' })).body;
    await until('it waits', async () => (await api('GET', `/executions/${id}`)).body.currentStep === 'ask');
    return { id, link: told.at(-1) };
}

const browser = await openBrowser();

for (const [locale, colorScheme, send] of [['en-GB', 'light', 'Send the answer'], ['ru-RU', 'dark', 'Отправить ответ']]) {
    await claim(`${locale}, ${colorScheme}: the page fits 390 pixels, axe has nothing against it, and it is filled in by keyboard`, async () => {
        const { id, link } = await linked();
        const page = await openPage(browser, server, { viewport: { width: 390, height: 800 }, locale, colorScheme, extraHTTPHeaders: {} });
        await page.goto(link);
        equal(await complaintsOf(page), []);
        equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, 'nothing sticks out');
        equal(await page.evaluate(() => getComputedStyle(document.querySelector('main')).maxWidth !== 'none'), true, 'the policy lets the style in');
        equal(await page.locator('button').textContent(), send);
        await page.keyboard.press('Tab');
        await page.keyboard.press('ArrowDown'); // from yes to no
        equal(await page.locator('#f-approved-no').isChecked(), true, 'a radio button by keyboard');
        await page.locator('button').focus();
        await page.keyboard.press('Enter');
        await page.waitForSelector('#e-reason');
        equal(await complaintsOf(page), [], 'with mistakes, too');
        equal(await page.locator('#f-approved-no').isChecked(), true, 'what was filled in is kept');
        equal(await page.getAttribute('#f-reason', 'aria-invalid'), 'true');
        equal((await api('GET', `/executions/${id}`)).body.status, 'waiting');
        await page.fill('#f-reason', 'too much');
        await page.fill('#f-at', '2026-03-01T10:30:00');
        await page.selectOption('#f-kind', 'old');
        await page.locator('#f-reason').press('Enter'); // of a text of several lines: one more line
        await page.fill('#f-reason', 'too much');
        await page.locator('button').click();
        await page.waitForSelector('p.card');
        equal(await complaintsOf(page), []);
        const { status, result } = (await api('GET', `/executions/${id}`)).body;
        equal([status, result.payload], ['completed', { approved: false, kind: 'old', reason: 'too much', at: '2026-03-01T10:30:00Z' }]);
        await page.goto(link);
        equal(await complaintsOf(page), []);
        equal(await page.locator('form').count(), 0, 'there is nothing to answer any more');
        equal(page.wrong.filter((w) => !w.includes('axe')), []);
        await page.context().close();
    });
}

await browser.close();
receiver.close();
await server.stop();
end();
