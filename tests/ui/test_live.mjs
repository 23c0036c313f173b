// Functions, templates and the configuration in a browser: seen before they are saved, saved over the version they were made from.
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';

const server = await startServer();
const ok = async (method, path, body, token = server.token) => {
    const answer = await server.call(token, method, `/api/v1${path}`, body);
    equal(answer.status < 300, true, `${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer.body;
};
const browser = await openBrowser();
const quiet = (page) => equal(page.wrong.splice(0), [], 'what the browser complained about');
const page = await openPage(browser, server);
const button = () => page.$eval('.side .acts .btn.ink', (b) => [b.disabled, b.textContent]);
const save = async (name) => {
    await page.click('.side .acts .btn:has-text("Save…")');
    await page.click(`[role=dialog] .btn:has-text("Save ${name}")`);
    await page.waitForFunction(() => !document.querySelector('[role=dialog]'));
};

await claim('a function is tried with values and looked at by the server before it is saved', async () => {
    await page.goto(signInUrl(server, '/functions'));
    await page.click('.empty .btn');
    await page.waitForSelector('#live-name');
    equal(await button(), [true, 'A name is missing']);
    await page.fill('#live-name', '2vat');
    await page.waitForSelector('.f:has(#live-name) .err');
    await page.fill('#live-name', 'vat');
    await page.fill('#live-body', 'summ * 0.2');
    await page.waitForSelector('.f:has(#live-body) .err:has-text("summ")');
    await page.fill('#live-body', 'sum * 0.2');
    await page.waitForFunction(() => !document.querySelector('.f:has(#live-body) .err'));
    await page.fill('#field-sum', '50');
    await page.waitForSelector('.outcome:has-text("10")');
    equal((await server.asAdmin('GET', '/functions/vat')).status, 404, 'nothing is saved yet');
    equal(await complaintsOf(page), []);
    await save('vat');
    await page.waitForSelector('.side .tag:has-text("version 1")');
    equal((await ok('GET', '/functions/vat')).body, 'sum * 0.2');
    equal(await button(), [true, 'Nothing is changed']);
    quiet(page);
});

await claim('what is typed and not saved outlives the page, and can be thrown away', async () => {
    await page.fill('#live-body', 'sum * 0.3');
    await page.click('.side .btn[aria-label="Close"]');
    await page.waitForSelector('.trow.live:has-text("not saved")');
    await page.reload();
    await page.click('.trow.live .rowlink');
    await page.waitForSelector('.side .note:has-text("did not save")');
    equal(await page.inputValue('#live-body'), 'sum * 0.3');
    await page.click('.side .note .btn');
    await page.waitForFunction(() => document.querySelector('#live-body').value === 'sum * 0.2');
    quiet(page);
});

await claim('who saves second sees both texts, chooses, and nothing is lost', async () => {
    const grace = await ok('POST', '/users', { name: 'Grace', role: 'admin' });
    await page.fill('#live-body', 'sum * 0.25');
    await ok('PUT', '/functions/vat', { params: [{ name: 'sum', type: 'number' }], body: 'sum * 0.21' }, grace.token);
    await page.click('.side .acts .btn:has-text("Save…")');
    await page.click('[role=dialog] .btn:has-text("Save vat")');
    await page.waitForSelector('.conflict:has-text("Grace has saved version 2")');
    const diff = await page.textContent('.conflict .code');
    equal([diff.includes('0.21'), diff.includes('0.25')], [true, true], diff);
    equal(await button(), [true, 'Choose theirs or yours first']);
    equal((await ok('GET', '/functions/vat')).body, 'sum * 0.21', 'nothing was written over');
    equal(await complaintsOf(page), []);
    await page.click('.conflict .btn:has-text("Go on with mine")');
    await save('vat');
    equal((await ok('GET', '/functions/vat')).body, 'sum * 0.25');
    await page.waitForSelector('.side .tag:has-text("version 3")');
    await ok('PUT', '/functions/vat', { params: [{ name: 'sum', type: 'number' }], body: 'sum * 0.22' }, grace.token);
    await page.waitForFunction(() => document.querySelector('#live-body').value === 'sum * 0.22');
    quiet(page);
});

await claim('a new one does not write over one that is there', async () => {
    await page.click('.bar .btn:has-text("New function…")');
    await page.fill('#live-name', 'vat');
    await save('vat');
    await page.waitForSelector('.side .refuse:has-text("There is one of this name already")');
    equal((await ok('GET', '/functions/vat')).version, 4);
    await page.fill('#live-name', 'net');
    await page.fill('#live-body', 'sum - fn.vat(sum)');
    await save('net');
    await page.waitForSelector('.side .tag:has-text("version 1")');
    quiet(page);
});

await claim('what is in use says where, cannot be made wrong for it, and is not deleted', async () => {
    await ok('PUT', '/templates/paid', { subject: 'Paid: {{ data.order }}', body: 'Thank you for {{ data.cents }} cents.' });
    await ok('PUT', '/config/limit', { value: 100 });
    await ok('POST', '/import', { items: [{ kind: 'scenario', code: 'bill', name: 'Bill', input: [{ name: 'order', type: 'string', required: true }, { name: 'cents', type: 'integer', required: true }], settings: { key: '$.input.order' }, steps: [{ code: 'add', procedure: { type: 'compute.transform', data: { vat: '=fn.vat($.input.cents)', limit: '$.config.limit' } } }, { code: 'mail', procedure: { type: 'notification.email', to: 'ada@example.org', template: 'paid', data: { order: 'no. {{ input.order }}', cents: '$.input.cents' } } }] }] });
    await page.goto(`${server.url}/functions?name=vat`);
    await page.waitForSelector('.side .line:has-text("Bill") .tag:has-text("add")');
    await page.waitForSelector('.side .line:has-text("net")');
    await page.click('.side .btn[aria-label="Remove"]');
    await page.fill('#live-body', '1');
    await page.waitForSelector('.side .note.held:has-text("uses it and would be wrong")');
    for (const [path, step] of [['/functions?name=vat', 'add'], ['/templates?name=paid', 'mail'], ['/config?name=limit', 'add']]) {
        await page.goto(server.url + path);
        await page.waitForSelector(`.side .line:has-text("Bill") .tag:has-text("${step}")`);
        await page.click('.side .btn:has-text("Delete…")');
        await page.waitForSelector('[role=dialog] .lead:has-text("the server will refuse")');
        await page.click('[role=dialog] .btn.solid');
        await page.waitForSelector('[role=dialog] .refuse:has-text("409")');
        equal(await complaintsOf(page), []);
    }
    await page.keyboard.press('Escape');
    quiet(page);
});

await claim('a template is seen with the values of an execution before it is saved', async () => {
    await ok('POST', '/executions?wait=10s', { code: 'bill', input: { order: 'order-7', cents: 1200 } });
    await page.goto(`${server.url}/templates?name=paid`);
    await page.waitForSelector('.mail:has-text("Paid: (order)")');
    await page.waitForSelector('#live-sample');
    await page.selectOption('#live-sample', { index: 1 });
    await page.waitForSelector('.mail:has-text("Paid: no. order-7")');
    await page.fill('#live-body', 'We have {{ data.cents }} cents, thank you.');
    await page.waitForSelector('.mail:has-text("We have 1200 cents, thank you.")');
    await page.fill('#live-body', 'We have {{ data.cents');
    await page.waitForSelector('.f:has(#live-body) .err');
    equal((await ok('GET', '/templates/paid')).body, 'Thank you for {{ data.cents }} cents.', 'and nothing was saved');
    equal(await complaintsOf(page), []);
    await page.fill('#live-body', 'We have {{ data.cents }} cents.');
    await save('paid');
    equal((await ok('GET', '/templates/paid')).body, 'We have {{ data.cents }} cents.');
    quiet(page);
});

await claim('a value of the configuration keeps every digit, and text that is no JSON is not sent', async () => {
    await page.goto(`${server.url}/config?name=limit`);
    await page.waitForSelector('#live-value');
    await page.fill('#live-value', '{"most": 12345678901234567, "rates": [1.5, 2]');
    await page.waitForSelector('.f:has(#live-value) .err');
    equal(await button(), [true, 'It cannot be read yet']);
    await page.fill('#live-value', '{"most": 12345678901234567, "rates": [1.5, 2]}');
    await save('limit');
    equal((await server.asAdmin('GET', '/config/limit')).raw.includes('"most":12345678901234567,'), true);
    await page.reload();
    await page.waitForSelector('#live-value');
    equal(await page.inputValue('#live-value'), '{\n    "most": 12345678901234567,\n    "rates": [\n        1.5,\n        2\n    ]\n}');
    quiet(page);
});

await claim('who may not change it reads it; on a phone and in Russian it fits', async () => {
    const ada = await ok('POST', '/users', { name: 'Ada', role: 'viewer' });
    const phone = await openPage(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: 'dark' });
    await phone.addInitScript(() => { if (location.protocol !== 'about:') localStorage.setItem('pawl.language', 'ru'); });
    await phone.goto(signInUrl(server, '/functions?name=vat', ada.token));
    await phone.waitForSelector('#live-body');
    equal([await phone.$('.side .acts'), await phone.getAttribute('#live-body', 'readonly')], [null, '']);
    await phone.fill('#field-sum', '50');
    await phone.waitForSelector('.outcome code');
    equal(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'nothing is wider than the phone');
    equal(await complaintsOf(phone), []);
    quiet(phone);
    await phone.context().close();
});

await browser.close();
await server.stop();
end();
