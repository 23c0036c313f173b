// The page of an execution in a browser against the real server: what each kind of wait says, down to who can end it.
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const server = await startServer();
const ok = async (method, path, body) => {
    const answer = await server.asAdmin(method, path, body);
    equal(answer.status < 300, true, `${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer.body;
};
const starts = (code, of) => ({ kind: 'scenario', code, name: code, input: [{ name: 'n', type: 'string' }], settings: { key: `=\"${code}-\" + $.input.n` }, steps: [{ code: 'hand_over', name: 'Hand over', procedure: { type: 'flow.start', code: of, input: { n: '$.input.n' }, wait: true } }] });
await ok('POST', '/import', { items: [
    starts('order', 'delivery'), starts('delivery', 'courier'),
    { kind: 'scenario', code: 'courier', input: [{ name: 'n', type: 'string' }], settings: { key: '="courier-" + $.input.n' }, steps: [{ code: 'pickup', procedure: { type: 'wait.signal', signalType: 'picked_up' } }] },
    { kind: 'scenario', code: 'parcel', steps: [{ code: 'say', procedure: { type: 'log', level: 'warn', message: 'the box is small' } }, { code: 'pack', name: 'Pack it', procedure: 'shop.pack' }] },
    { kind: 'scenario', code: 'remind', steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'answer', reminder: { every: '200ms', max: 2, procedure: { type: 'log', message: 'please' } } } }] },
    {
        kind: 'scenario', code: 'stuck', steps: [
            { code: 'pay', procedure: { type: 'log', message: 'paid' }, rollback: { type: 'compute.fail', code: 'bank_shut', message: 'the bank is shut' } },
            { code: 'ship', procedure: { type: 'compute.fail', code: 'no_van', message: 'there is no van' } },
        ],
    },
    { kind: 'scenario', code: 'sides', steps: [{ code: 'both', parallel: { branches: [[{ code: 'left', procedure: { type: 'wait.signal', signalType: 'l' } }], [{ code: 'right', procedure: { type: 'wait.signal', signalType: 'r' } }]] } }, { code: 'after', procedure: { type: 'log', message: 'both' } }] },
    { kind: 'scenario', code: 'payout', input: [{ name: 'n', type: 'integer' }], steps: [{ code: 'charge', procedure: { type: 'compute.fail', code: 'card_declined', message: 'the bank declined the card' } }] },
    { kind: 'scenario', code: 'account', steps: [{ code: 'find', onError: 'hold', procedure: { type: 'record.get', object: 'account', id: 'main' } }] },
] });
for (let n = 0; n < 12; n++) await ok('POST', '/executions?wait=5s', { code: 'payout', key: `payout-${n}`, input: { n } });
await ok('POST', '/executions', { code: 'account', key: 'account-1' });
const sides = await ok('POST', '/executions', { code: 'sides', key: 'sides-1' });
const order = await ok('POST', '/executions', { code: 'order', input: { n: '7' } });
const parcel = await ok('POST', '/executions', { code: 'parcel', key: 'parcel-1' });
const remind = await ok('POST', '/executions', { code: 'remind', key: 'remind-1' });
const stuck = await ok('POST', '/executions?wait=5s', { code: 'stuck', key: 'stuck-1' });

const browser = await openBrowser();
const page = await openPage(browser, server);
const quiet = (of = page) => equal(of.wrong.splice(0), [], 'what the browser complained about');
const why = () => page.textContent('.why .say');
const byKey = async (key) => (await ok('GET', `/executions?key=${key}`)).items[0];
await until('courier-7 waits', async () => (await byKey('courier-7'))?.waitingFor);

await claim('who waits for what it has started says what waits at the end of the chain', async () => {
    await page.goto(signInUrl(server, `/executions/${order.id}`));
    await page.waitForSelector('.why .awaited a:has-text("courier-7")');
    equal(await page.$$eval('.why .awaited a', (all) => all.map((a) => a.textContent)), ['delivery-7', 'courier-7']);
    equal((await why()).startsWith('Waits at Hand over for delivery, which it has started'), true, await why());
    equal((await page.textContent('.why .awaited')).includes('for the signal picked_up'), true, await page.textContent('.why .awaited'));
    equal(await page.$$eval('.children .child .m5', (all) => all.map((one) => one.textContent)), ['delivery-7']);
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('who was started by others names them, the first of them first', async () => {
    await page.click('.why .awaited a:has-text("courier-7")');
    await page.waitForSelector('.parents a:has-text("order-7")');
    equal(await page.$$eval('.parents a', (all) => all.map((a) => a.textContent)), ['order-7', 'delivery-7']);
    quiet();
});

await claim('a step that no worker takes says which, and leads to the work that waits', async () => {
    await page.goto(`${server.url}/executions/${parcel.id}`);
    await page.waitForSelector('.why.wait:has-text("for a worker to take shop.pack")');
    await page.clock.setSystemTime(Date.now() + 120000);
    await page.waitForSelector('.why.held');
    equal((await why()).startsWith('No worker takes shop.pack, which Pack it needs'), true, await why());
    equal((await page.textContent('.happened')).includes('Say: the box is small'), true, 'what steps log is among what happened');
    equal(await complaintsOf(page), []);
    await page.click('.why .sub a');
    await page.waitForSelector('.trow.jobs:has-text("shop.pack")');
    equal((await page.textContent('.trow.jobs')).includes('1 waiting, 0 taken'), true, await page.textContent('.trow.jobs'));
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('a job that a worker has taken says so, in the sentence and by the name of the worker', async () => {
    const { items } = await ok('POST', '/jobs/claim', { types: ['shop.pack'], max: 1, worker: 'packer-1' });
    equal(items.length, 1);
    await page.waitForSelector('.trow.jobs:has-text("at work: packer-1")', { timeout: 15000 });
    await page.clock.setSystemTime(Date.now());
    await page.goto(`${server.url}/executions/${parcel.id}`);
    await page.waitForSelector('.why.wait');
    equal((await why()).startsWith('Waits at Pack it for a worker to end shop.pack'), true, await why());
    quiet();
});

await claim('reminders are diamonds on the wait, and no rows of their own', async () => {
    await page.goto(`${server.url}/executions/${remind.id}`);
    await page.waitForFunction(() => document.querySelectorAll('.tmark.reminder').length === 2);
    equal(await page.$$eval('.tlrows .tr .nm .cut', (all) => all.map((one) => one.textContent.trim())), ['Ask']);
    await ok('POST', `/executions/${remind.id}/signal`, { type: 'answer' });
    await page.waitForSelector('.tmark.signal');
    equal((await page.$$('.tmark.reminder')).length, 2);
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('what could not be undone leads to its dead letter, and to no other', async () => {
    await ok('POST', '/executions?wait=5s', { code: 'stuck', key: 'stuck-2' });
    await page.goto(`${server.url}/executions/${stuck.id}`);
    await page.waitForSelector('.why .sub a');
    equal((await page.textContent('.why .sub')).startsWith('1 step could not be undone: pay.'), true, await page.textContent('.why .sub'));
    await page.click('.why .sub a');
    await page.waitForSelector('.trow:has-text("stuck-1")');
    equal(await page.$('.trow:has-text("stuck-2")'), null);
    equal(await complaintsOf(page), []);
    await page.click('.note .btn.link');
    await page.waitForSelector('.trow:has-text("stuck-2")');
    quiet();
});

await claim('a lane that is under way is drawn as reached, and what follows it is not', async () => {
    await page.goto(`${server.url}/executions/${sides.id}`);
    await page.waitForSelector('.node.live >> nth=1');
    equal(await page.$eval('.lane', (lane) => lane.classList.contains('later')), false, 'the lane itself');
    equal(await page.$$eval('.wires path.wire.done:not([data-from=""])', (all) => all.length), 0, 'nothing behind a branch that waits is done');
    equal(await page.$eval('.node:has-text("after")', (node) => node.classList.contains('later')), true, 'what comes after it');
    quiet();
});

await claim('failures that are alike stand together on the overview, and lead to all of them', async () => {
    await page.goto(`${server.url}/`);
    await page.waitForSelector('.failures .er:has-text("12 alike")');
    equal((await page.textContent('.why .failed')).includes('12 of them in payout'), true, await page.textContent('.why .failed'));
    equal(await complaintsOf(page), []);
    await page.click('.failures .er:has-text("12 alike")');
    await page.waitForSelector('.trow:has-text("payout-11")');
    equal(Object.fromEntries(new URL(page.url()).searchParams), { status: 'failed', code: 'payout', error: 'card_declined', from: '1h' });
    equal((await page.textContent('body')).includes('12 match'), true);
    quiet();
});

await claim('a view says how many it has, whatever filter is set now', async () => {
    equal(await page.textContent('.views button:has-text("Needs a person") .num'), '1');
    await page.click('.views button:has-text("Needs a person")');
    await page.waitForSelector('.trow:has-text("account-1")');
    quiet();
});

await claim('a view of one\'s own is saved, renamed and forgotten', async () => {
    await page.goto(`${server.url}/executions?code=payout`);
    await page.click('.views button:has-text("Save view")');
    await page.fill('#view-name', 'Payouts');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.views button.on:has-text("Payouts")');
    await page.click('.views button:has-text("Rename…")');
    await page.fill('#view-name', 'Money out');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.views button.on:has-text("Money out")');
    await page.reload();
    await page.waitForSelector('.views button.on:has-text("Money out")');
    equal(await page.$('.views button:has-text("Payouts")'), null);
    equal(await complaintsOf(page), []);
    await page.click('.views button:has-text("Forget this view")');
    await page.waitForFunction(() => !document.querySelector('.views')?.textContent.includes('Money out'));
    quiet();
});

await claim('when nothing matches, the page says how many there are with one filter less', async () => {
    await page.goto(`${server.url}/executions?status=failed&code=account`);
    await page.waitForSelector('.oneless .btn');
    equal(await page.$$eval('.oneless .btn', (all) => all.map((one) => one.textContent)), ['1 without “status is failed”', '14 without “process is account”']);
    equal(await complaintsOf(page), []);
    await page.click('.oneless .btn >> nth=0');
    await page.waitForSelector('.trow:has-text("account-1")');
    quiet();
});

await claim('on a phone and in Russian the head of the timeline keeps its words whole', async () => {
    const phone = await openPage(browser, server, { viewport: { width: 390, height: 844 } });
    await phone.addInitScript(() => localStorage.setItem('pawl.language', 'ru'));
    await phone.clock.setSystemTime(Date.now() + 65000);
    await phone.goto(signInUrl(server, `/executions/${order.id}`));
    await phone.waitForSelector('.tlhead .meta:has-text("мин")');
    equal(await phone.$eval('.tlhead .meta', (one) => one.getBoundingClientRect().height < 28), true, 'the duration stands in one line');
    equal(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'nothing scrolls sideways');
    equal(await complaintsOf(phone), []);
    quiet(phone);
    await phone.context().close();
});

await browser.close();
await server.stop();
end();
