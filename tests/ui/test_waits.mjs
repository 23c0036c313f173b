// The page of an execution in a browser against the real server: what each kind of wait says, down to who can end it.
import { Claims, dropFolder, equal, makeFolder, Server } from '../api/rig.mjs';
import { complaintsOf, openBrowser, openPage, signInUrl } from './browser.mjs';

const folder = makeFolder();
const server = new Server(folder);
if (!(await server.start())) throw new Error(server.log);
const ok = async (method, path, body) => {
    const answer = await server.asAdmin(method, path, body);
    equal(answer.status < 300, true, `${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer.json;
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
] });
const order = await ok('POST', '/executions', { code: 'order', input: { n: '7' } });
const parcel = await ok('POST', '/executions', { code: 'parcel', key: 'parcel-1' });
const remind = await ok('POST', '/executions', { code: 'remind', key: 'remind-1' });
const stuck = await ok('POST', '/executions?wait=5s', { code: 'stuck', key: 'stuck-1' });

const browser = await openBrowser();
const claims = new Claims();
const page = await openPage(browser, server);
const quiet = (of = page) => equal(of.wrong.splice(0), [], 'what the browser complained about');
const why = () => page.textContent('.why .say');
const byKey = async (key) => (await ok('GET', `/executions?key=${key}`)).items[0];
for (let i = 0; i < 200 && !(await byKey('courier-7'))?.waitingFor; i++) await new Promise((done) => setTimeout(done, 20));

await claims.claim('who waits for what it has started says what waits at the end of the chain', async () => {
    await page.goto(signInUrl(server, `/executions/${order.id}`));
    await page.waitForSelector('.why .awaited a:has-text("courier-7")');
    equal(await page.$$eval('.why .awaited a', (all) => all.map((a) => a.textContent)), ['delivery-7', 'courier-7']);
    equal((await why()).startsWith('Waits at Hand over for delivery, which it has started'), true, await why());
    equal((await page.textContent('.why .awaited')).includes('for the signal picked_up'), true, await page.textContent('.why .awaited'));
    equal(await page.$$eval('.children .child .m5', (all) => all.map((one) => one.textContent)), ['delivery-7']);
    equal(await complaintsOf(page), []);
    quiet();
});

await claims.claim('who was started by others names them, the first of them first', async () => {
    await page.click('.why .awaited a:has-text("courier-7")');
    await page.waitForSelector('.parents a:has-text("order-7")');
    equal(await page.$$eval('.parents a', (all) => all.map((a) => a.textContent)), ['order-7', 'delivery-7']);
    quiet();
});

await claims.claim('a step that no worker takes says which, and leads to the work that waits', async () => {
    await page.goto(`${server.base}/executions/${parcel.id}`);
    await page.waitForSelector('.why.wait:has-text("for a worker to take shop.pack")');
    await page.clock.setSystemTime(Date.now() + 120000);
    await page.waitForSelector('.why.held');
    equal((await why()).startsWith('No worker takes shop.pack, which Pack it needs'), true, await why());
    equal((await page.textContent('.happened')).includes('say: the box is small'), true, 'what steps log is among what happened');
    equal(await complaintsOf(page), []);
    await page.click('.why .sub a');
    await page.waitForSelector('.trow.jobs:has-text("shop.pack")');
    equal((await page.textContent('.trow.jobs')).includes('1 waiting, 0 taken'), true, await page.textContent('.trow.jobs'));
    equal(await complaintsOf(page), []);
    quiet();
});

await claims.claim('a job that a worker has taken says so, in the sentence and by the name of the worker', async () => {
    const { items } = await ok('POST', '/jobs/claim', { types: ['shop.pack'], max: 1, worker: 'packer-1' });
    equal(items.length, 1);
    await page.waitForSelector('.trow.jobs:has-text("at work: packer-1")', { timeout: 15000 });
    await page.clock.setSystemTime(Date.now());
    await page.goto(`${server.base}/executions/${parcel.id}`);
    await page.waitForSelector('.why.wait');
    equal((await why()).startsWith('Waits at Pack it for a worker to end shop.pack'), true, await why());
    quiet();
});

await claims.claim('reminders are diamonds on the wait, and no rows of their own', async () => {
    await page.goto(`${server.base}/executions/${remind.id}`);
    await page.waitForFunction(() => document.querySelectorAll('.tmark.reminder').length === 2);
    equal(await page.$$eval('.tlrows .tr .nm .cut', (all) => all.map((one) => one.textContent.trim())), ['ask']);
    await ok('POST', `/executions/${remind.id}/signal`, { type: 'answer' });
    await page.waitForSelector('.tmark.signal');
    equal((await page.$$('.tmark.reminder')).length, 2);
    equal(await complaintsOf(page), []);
    quiet();
});

await claims.claim('what could not be undone leads to its dead letter, and to no other', async () => {
    await ok('POST', '/executions?wait=5s', { code: 'stuck', key: 'stuck-2' });
    await page.goto(`${server.base}/executions/${stuck.id}`);
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

await browser.close();
await server.stop();
dropFolder(folder);
claims.end();
