// The card of a record in a browser against the real server: what it holds, its buttons, what was started from it.
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';

const server = await startServer();
const ok = async (method, path, body) => {
    const answer = await server.asAdmin(method, path, body);
    equal(answer.status < 300, true, `${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer.body;
};
const wait = [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'approved' } }];
await ok('POST', '/import', { items: [
    {
        kind: 'scenario', code: 'discount', name: 'Discount', input: [{ name: 'deal', type: 'string', required: true }, { name: 'percent', type: 'integer', required: true }],
        triggers: [{ type: 'action', object: 'deal', label: 'Ask for a discount', when: "record.status == 'open'", input: { deal: '$.record.id' } }], steps: wait,
    },
    {
        kind: 'scenario', code: 'remind', name: 'Reminder', input: [{ name: 'deal', type: 'string', required: true }],
        triggers: [{ type: 'action', object: 'deal', label: 'Remind the customer', input: { deal: '$.record.id' } }], steps: wait,
    },
    {
        kind: 'scenario', code: 'price', name: 'Price', input: [{ name: 'deal', type: 'string', required: true }],
        steps: [
            { code: 'raise', procedure: { type: 'record.update', object: 'deal', id: '$.input.deal', data: { sum: 1500 } }, rollback: { type: 'record.update', object: 'deal', id: '$.input.deal', data: { sum: 1200 } } },
            { code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }, { code: 'stop', procedure: { type: 'compute.fail', code: 'too_dear', message: 'too dear' } },
        ],
    },
    { kind: 'scenario', code: 'drop', input: [{ name: 'deal', type: 'string', required: true }], steps: [{ code: 'remove', procedure: { type: 'record.delete', object: 'deal', id: '$.input.deal' } }] },
] });
await ok('PUT', '/records/deal/D 7%2Feast', { status: 'open', sum: 1200 });
const viewer = (await server.user({ name: 'Edsger', role: 'viewer' })).token;

const browser = await openBrowser();
const page = await openPage(browser, server);
const quiet = (of = page) => equal(of.wrong.splice(0), [], 'what the browser complained about');
const labels = (of = page) => of.$$eval('.recordacts .btn', (all) => all.map((button) => button.textContent));
const started = async () => (await ok('GET', `/executions?record=${encodeURIComponent('deal/D 7/east')}`)).items;
const card = '/records/deal/D%207%2Feast';

await claim('an object that only an action names is found, and its records', async () => {
    await page.goto(signInUrl(server, '/records'));
    await page.click('.card.pick:has-text("deal")');
    await page.click('.trow .key');
    await page.waitForSelector('.recordacts .btn');
    equal(new URL(page.url()).pathname, card);
    quiet();
});

await claim('the card has a button for each action whose condition holds', async () => {
    equal(await labels(), ['Ask for a discount…', 'Remind the customer']);
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('a button that needs nothing more starts at once, and the card shows what it started', async () => {
    await page.click('.recordacts .btn:has-text("Remind")');
    await page.waitForSelector('.recordacts [role=status] a');
    await page.waitForSelector('.side .line:has-text("remind")');
    const [made] = await started();
    equal([made.code, await page.getAttribute('.recordacts [role=status] a', 'href')], ['remind', `/executions/${made.id}`]);
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('a button that needs more asks for it, shows what the card gives, and says what the server refuses', async () => {
    await page.click('.recordacts .btn:has-text("discount")');
    await page.waitForSelector('#field-percent');
    equal(await page.textContent('[role=dialog] .facts dd'), 'D 7/east');
    equal(await page.$('#field-deal'), null, 'what the card gives is not asked for');
    equal(await complaintsOf(page), []);
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('[role=dialog] .refuse');
    equal((await started()).length, 1);
    page.wrong.splice(0); // the browser writes the refusal to its console
    await page.fill('#field-percent', '5');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.side .line:has-text("discount")');
    equal(await page.$('[role=dialog]'), null);
    const made = (await started()).find((one) => one.code === 'discount');
    equal((await ok('GET', `/executions/${made.id}`)).input, { deal: 'D 7/east', percent: 5 });
    quiet();
});

await claim('a button goes when its condition no longer holds', async () => {
    await ok('PATCH', '/records/deal/D 7%2Feast', { status: 'won' });
    await ok('POST', '/executions', { code: 'remind', input: { deal: 'x' } }); // news for whoever listens
    await page.waitForFunction(() => document.querySelectorAll('.recordacts .btn').length === 1);
    equal(await labels(), ['Remind the customer']);
    quiet();
});

await claim('who may only look has no buttons, and sees what was started', async () => {
    const other = await openPage(browser, server);
    await other.goto(signInUrl(server, card, viewer));
    await other.waitForSelector('.side .line:has-text("discount")');
    equal(await labels(other), []);
    equal(await complaintsOf(other), []);
    quiet(other);
    await other.context().close();
});

const did = () => page.$$eval('.writer', (all) => all.map((one) => [one.querySelector('.m5').textContent, [...one.querySelectorAll('.did')].map((line) => line.textContent)]));

await claim('the card lists the executions that changed the record, newest first, with what each did', async () => {
    equal(await did(), []);
    const made = await ok('POST', '/executions', { code: 'price', key: 'price-1', input: { deal: 'D 7/east' } });
    await page.waitForSelector('.writer');
    equal(await did(), [['price-1', ['raise changed itversion 3']]]);
    await ok('POST', `/executions/${made.id}/signal?wait=5s`, { type: 'go' });
    await page.waitForSelector('.did:has-text("undoing raise changed it")');
    equal(await did(), [['price-1', ['undoing raise changed itversion 4', 'raise changed itversion 3']]]);
    equal(await complaintsOf(page), []);
    await page.click('.did >> nth=1');
    await page.waitForSelector('.insp .tag:has-text("raise")');
    equal(new URL(page.url()).pathname, `/executions/${made.id}`);
    quiet();
});

await claim('a record that is gone says who deleted it', async () => {
    await ok('PUT', '/records/deal/D-8', { status: 'open' });
    await ok('POST', '/executions?wait=5s', { code: 'drop', key: 'drop-1', input: { deal: 'D-8' } });
    await page.goto(`${server.url}/records/deal/D-8`);
    await page.waitForSelector('.did:has-text("remove deleted it")');
    equal(await page.$eval('.side .refuse', (box) => box.textContent.includes('there is no such record')), true);
    page.wrong.splice(0); // the browser writes the refusal to its console
    await page.goto(`${server.url}${card}`);
    await page.waitForSelector('.writer');
});

await claim('in Russian the card has words of its own around the labels of the processes', async () => {
    await page.evaluate(() => localStorage.setItem('pawl.language', 'ru'));
    await page.reload();
    await page.waitForSelector('.side h3:has-text("Запущено с этой карточки")');
    await page.waitForSelector('.recordacts .btn:has-text("Remind the customer")');
    equal(await complaintsOf(page), []);
    quiet();
});

await browser.close();
await server.stop();
end();
