// The inbox, the outbox, the credentials and what else stands beside the monitor, in a browser against the real server.
import { readFileSync } from 'node:fs';
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const server = await startServer();
const ok = async (method, path, body, token = server.token) => {
    const answer = await server.call(token, method, `/api/v1${path}`, body);
    equal(answer.status < 300, true, `${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer.body;
};
await ok('POST', '/import', { items: [JSON.parse(readFileSync('examples/discount_approval.json', 'utf8'))] });
const user = (name, role, groups = []) => ok('POST', '/users', { name, role, groups, email: `${name.toLowerCase()}@example.org` });
const [grace, ada] = [await user('Grace', 'member', ['directors']), await user('Ada', 'operator', ['directors'])];
for (const n of [318, 319]) await ok('POST', '/executions', { code: 'discount_approval', input: { deal: `deal-${n}`, amount: 240000, percent: 12 } });

const browser = await openBrowser();
const quiet = (page) => equal(page.wrong.splice(0), [], 'what the browser complained about');
const member = await openPage(browser, server);
const admin = await openPage(browser, server);
const one = async (key) => (await ok('GET', `/executions?key=${key}&limit=1`)).items[0];
const inbox = (who) => ok('GET', '/inbox', undefined, who.token);

await claim('a member comes to the inbox and sees nothing else', async () => {
    await until('both are asked', async () => (await inbox(grace)).items.length === 2);
    await member.goto(signInUrl(server, '/', grace.token));
    await member.waitForSelector('.askrow');
    equal(new URL(member.url()).pathname, '/inbox');
    equal(await member.$$eval('.nav a.item', (all) => all.map((a) => a.getAttribute('href'))), ['/inbox']);
    equal(await member.$$eval('.askrow', (all) => all.length), 2);
    equal((await member.textContent('.nav a.item .n')), '2', 'how many there are');
    equal(await complaintsOf(member), []);
    quiet(member);
});

await claim('a question is answered in its form, and is gone', async () => {
    await member.waitForSelector('.answer h2');
    const question = await member.textContent('.answer h2');
    equal(await member.$eval('.answer .btn.ink', (button) => [button.disabled, button.textContent]), [true, '1 answer is missing'], 'what is missing is said');
    await member.click('.answer [role=radio]:has-text("yes")');
    await member.fill('#field-comment', 'fine by me');
    equal(await complaintsOf(member), []);
    await member.keyboard.press('Control+Enter');
    await member.waitForSelector('.asks [role=status]');
    equal((await member.textContent('.asks [role=status]')).includes(question), true);
    await member.waitForFunction(() => document.querySelectorAll('.askrow').length === 1);
    const answered = await until('it ends', async () => [await one('deal-318'), await one('deal-319')].find((x) => x.status === 'completed'));
    equal(answered.result.approved, true);
    quiet(member);
});

await claim('who answers second is told who was first, and what was typed stays', async () => {
    await member.click('.answer [role=radio]:has-text("no")');
    await member.fill('#field-comment', 'not in November');
    const [left] = (await inbox(ada)).items;
    // The list is not asked for again before the button is pressed.
    const list = await inbox(grace);
    const isList = (url) => url.pathname === '/api/v1/inbox';
    await member.route(isList, (route) => route.fulfill({ json: list }));
    await ok('POST', `/inbox/${left.id}`, { payload: { approved: true } }, ada.token);
    await member.click('.answer .btn.ink');
    await member.waitForSelector('.gone:has-text("Ada has answered it already")');
    await member.unroute(isList);
    await member.waitForFunction(() => !document.querySelector('.askrow'));
    equal(await member.inputValue('#field-comment'), 'not in November', 'while the list goes on');
    equal(await complaintsOf(member), []);
    await member.click('.gone .btn');
    await member.waitForSelector('.empty');
    quiet(member);
});

const SURVEY = { kind: 'scenario', code: 'survey', name: 'Site survey', input: [{ name: 'site', type: 'string', required: true }, { name: 'limit', type: 'string', required: true }], settings: { key: '$.input.site' }, steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'surveyed', title: 'What is at {{ input.site }}?', assignee: 'group:directors', timeout: '$.input.limit', onTimeout: 'continue', form: [
    { name: 'place', type: 'string', label: 'Place', required: true, description: 'Where you stood.' },
    { name: 'rooms', type: 'integer', required: true, default: 4 },
    { name: 'area', type: 'number' },
    { name: 'serial', type: 'integer' },
    { name: 'safe', type: 'boolean', label: 'Is it safe?', required: true },
    { name: 'why_not', type: 'string', label: 'Why not?', requiredWhen: 'payload.safe == false' },
    { name: 'grade', type: 'string', enum: ['good', 'fair', 'poor'], required: true },
    { name: 'colour', type: 'string', enum: ['red', 'green'], default: 'green' },
    { name: 'seen', type: 'date' },
    { name: 'exactly', type: 'datetime' },
    { name: 'pin', type: 'string', sensitive: true },
    { name: 'box', type: 'object' },
    { name: 'found', type: 'array' },
] } }], result: { answer: '$.steps.ask.payload' } };

await claim('every kind of field is answered, and what the server finds wrong stands at its field', async () => {
    await ok('POST', '/import', { items: [SURVEY] });
    await ok('POST', '/executions', { code: 'survey', input: { site: 'dock-4', limit: '1h' } });
    await member.click('.askrow:has-text("dock-4")');
    await member.waitForSelector('#field-place');
    const note = (name) => member.textContent(`label[for="field-${name}"] .t3`).catch(() => '');
    equal([await member.inputValue('#field-rooms'), await member.inputValue('#field-colour')], ['4', 'green'], 'it begins with what is usual');
    equal([await note('rooms'), await note('why_not'), await note('seen'), await note('box')], ['a whole number', 'needed when “Is it safe?” is no', 'a date, optional', 'an object, optional']);
    equal((await member.textContent('.f:has(#field-place) .help')), 'Where you stood.');
    equal([await member.getAttribute('#field-pin', 'type'), await member.getAttribute('#field-seen', 'type')], ['password', 'date']);
    await member.fill('#field-place', 'at the gate');
    await member.locator('#field-area').pressSequentially('12.05');
    equal(await member.inputValue('#field-area'), '12.05', 'a point is not lost while it is typed');
    await member.locator('#field-serial').pressSequentially('12345678901234567');
    await member.fill('#field-rooms', 'four');
    await member.click('.answer .seg [role=radio]:has-text("no")');
    await member.click('.answer .seg [role=radio]:has-text("fair")');
    await member.fill('#field-seen', '2026-11-13');
    await member.fill('#field-exactly', '2026-11-13T10:45');
    await member.fill('#field-pin', '4711');
    await member.fill('#field-box', '{"w": 2');
    await member.waitForSelector('.f:has(#field-box) .err:has-text("no JSON yet")');
    equal(await member.$eval('.answer .send .btn', (b) => [b.disabled, b.textContent]), [true, '1 answer cannot be read']);
    await member.fill('#field-box', '{"w": 2}');
    await member.fill('#field-found', '["nail"]');
    await member.click('.answer .send .btn');
    await member.waitForSelector('.f:has(#field-rooms) .err:has-text("whole number")');
    equal(await member.$$eval('[aria-invalid=true]', (all) => all.map((e) => e.id)), ['field-rooms'], 'only what is wrong');
    equal(await member.evaluate(() => document.activeElement.id), 'field-rooms', 'one is led to the first of them');
    equal(await complaintsOf(member), []);
    await member.fill('#field-rooms', '6');
    await member.click('.answer .send .btn');
    await member.waitForSelector('.f:has(#field-why_not) .err');
    await member.reload();
    await member.waitForSelector('#field-place');
    equal([await member.inputValue('#field-place'), await member.inputValue('#field-pin')], ['at the gate', ''], 'what was typed outlives a reload, but for what is sensitive');
    await member.fill('#field-why_not', 'wet');
    await member.fill('#field-pin', '4711');
    await member.click('.answer .send .btn');
    await member.waitForSelector('.asks [role=status]');
    const x = await until('it ends', async () => { const found = await one('dock-4'); return found.status === 'completed' && server.call(server.token, 'GET', `/api/v1/executions/${found.id}`); });
    const { pin, ...answer } = x.body.result.answer;
    const inOrder = (object) => Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
    equal(inOrder(answer), inOrder({ place: 'at the gate', rooms: 6, area: 12.05, serial: 12345678901234567, safe: false, why_not: 'wet', grade: 'fair', colour: 'green', seen: '2026-11-13', exactly: '2026-11-13T10:45:00.000Z', box: { w: 2 }, found: ['nail'] }));
    equal(x.raw.includes('"serial":12345678901234567,') || x.raw.includes('"serial":12345678901234567}'), true, 'no digit is lost');
    quiet(member);
});

await claim('a question whose time is up while it is answered says so, and keeps what was typed', async () => {
    await ok('POST', '/executions', { code: 'survey', input: { site: 'dock-5', limit: '12s' } });
    await until('it is asked', async () => (await inbox(grace)).items.length === 1);
    await member.reload();
    await member.click('.askrow:has-text("dock-5")');
    await member.fill('#field-place', 'on the roof');
    await member.waitForSelector('.gone:has-text("Its time is up.")');
    equal(await member.inputValue('#field-place'), 'on the roof');
    equal(await member.$('.answer .send'), null);
    await member.click('.gone .btn');
    await member.waitForSelector('.empty');
    quiet(member);
});

await claim('on a phone the question fills the page, and one comes back to the list', async () => {
    await ok('POST', '/executions', { code: 'discount_approval', input: { deal: 'deal-320', amount: 240000, percent: 7 } });
    const phone = await openPage(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await phone.goto(signInUrl(server, '/inbox', grace.token));
    await phone.click('.askrow');
    await phone.waitForSelector('.answer h2');
    equal(await phone.isVisible('.askrow'), false);
    equal(await complaintsOf(phone), []);
    await phone.click('.back .btn');
    await phone.waitForSelector('.askrow');
    quiet(phone);
    await phone.context().close();
});

await claim('settings mark the page one is on; a page has its title once', async () => {
    await admin.goto(signInUrl(server, '/settings'));
    await admin.waitForSelector('.trow.users');
    equal([new URL(admin.url()).pathname, await admin.$$eval('.setnav .active', (all) => all.map((a) => a.textContent))], ['/settings/users', ['Users and tokens']]);
    for (const [path, title] of [['/functions', 'Functions'], ['/templates', 'Templates'], ['/config', 'Configuration']]) {
        await admin.goto(server.url + path);
        await admin.waitForSelector('.empty');
        equal(await admin.$$eval('.main h1, .main h2', (all, word) => all.filter((h) => h.textContent === word).length, title), 1, title);
    }
    quiet(admin);
});

await claim('a user is made and given a token, groups and skill; is found, renamed, shut out and let in again', async () => {
    await admin.goto(`${server.url}/settings`);
    await admin.click('.bar .btn:has-text("New user…")');
    equal(await admin.textContent('[role=dialog] .acts .ink'), 'A name is missing', 'what is missing is said');
    await admin.fill('#user-name', 'Barbara');
    await admin.selectOption('#user-role', 'executor');
    equal((await admin.textContent('.f:has(#user-role) .help')).includes('pool'), true, 'what the role may');
    await admin.click('.offered .tag:has-text("directors")');
    equal(await admin.inputValue('#user-groups'), 'directors', 'a group that others have is taken as they spell it');
    await admin.fill('#user-trades', 'electrical, painting');
    await admin.fill('#user-skill', '6');
    equal(await complaintsOf(admin), []);
    await admin.click('[role=dialog] .acts .ink');
    await admin.waitForSelector('.token code');
    equal(await complaintsOf(admin), []);
    equal((await admin.textContent('.tokenfacts')).includes('in the groups directors'), true);
    const first = await admin.textContent('.token code');
    equal((await ok('GET', '/me', undefined, first)).name, 'Barbara');
    await admin.keyboard.press('Escape');
    equal(await admin.isVisible('.token code'), true, 'a token is not lost by a key');
    await admin.click('[role=dialog] .box');
    await admin.click('[role=dialog] .acts .btn:has-text("Close")');
    await admin.waitForSelector('.side dd:has-text("electrical, painting")');

    await admin.click('.side .btn:has-text("New token…")');
    await admin.fill('#token-name', 'tablet');
    await admin.selectOption('#token-ends', '30');
    await admin.selectOption('#token-replaces', { index: 1 });
    equal(await complaintsOf(admin), []);
    await admin.click('[role=dialog] .acts .ink');
    await admin.waitForSelector('.token code');
    const second = await admin.textContent('.token code');
    equal([(await server.call(first, 'GET', '/api/v1/me')).status, (await server.call(second, 'GET', '/api/v1/me')).status], [401, 200], 'it stands in the place of the first');
    await admin.click('[role=dialog] .box');
    await admin.click('[role=dialog] .acts .btn:has-text("Close")');
    await admin.waitForSelector('.side .line:has-text("tablet"):has-text("ends ")');

    await admin.click('.side .btn:has-text("Change…")');
    await admin.fill('#user-name', 'Barbara L.');
    await admin.fill('#user-mail', 'ADA@example.org');
    await admin.click('[role=dialog] .acts .ink');
    await admin.waitForSelector('[role=dialog] .refuse:has-text("409")');
    await admin.fill('#user-mail', 'barbara@example.org');
    await admin.click('[role=dialog] .acts .ink');
    await admin.waitForSelector('.side dd:has-text("barbara@example.org")');

    await admin.fill('.find input', 'painting');
    await admin.waitForFunction(() => document.querySelectorAll('.trow.users').length === 1);
    await admin.fill('.find input', 'nobody at all');
    await admin.click('.empty .btn');
    await admin.click('.side .btn:has-text("Shut Barbara L. out…")');
    await admin.click('[role=dialog] .btn.solid');
    await admin.waitForSelector('.trow.users.off:has-text("shut out")');
    equal((await server.call(second, 'GET', '/api/v1/me')).status, 401);
    equal(await complaintsOf(admin), []);
    await admin.click('.side .btn:has-text("Let Barbara L. in again")');
    await admin.waitForFunction(() => !document.querySelector('.trow.users.off'));
    equal((await server.call(second, 'GET', '/api/v1/me')).status, 200);
    quiet(admin);
});

await claim('a credential is made, shown without its secret, changed and deleted', async () => {
    await admin.goto(`${server.url}/settings/credentials`);
    await admin.waitForSelector('.empty');
    equal(await complaintsOf(admin), []);
    await admin.click('.empty .btn');
    await admin.fill('#cred-code', 'erp');
    equal(await admin.textContent('[role=dialog] .acts .btn.ink'), 'Missing: Only for addresses under');
    await admin.fill('#cred-base_url', 'https://erp.example/v1');
    await admin.fill('#cred-header_name', 'X-Api-Key');
    await admin.fill('#cred-secret', 'sk_live_51H');
    equal(await complaintsOf(admin), []);
    await admin.click('[role=dialog] .btn.ink');
    await admin.waitForSelector('.side');
    equal((await admin.textContent('.side')).includes('X-Api-Key'), true);
    equal((await admin.content()).includes('sk_live_51H'), false, 'what is secret never comes out');
    equal(await complaintsOf(admin), []);
    await ok('POST', '/import', { items: [{ kind: 'scenario', code: 'report_deal', name: 'Report a deal', steps: [{ code: 'tell', procedure: { type: 'integration.http', method: 'POST', credential: 'erp', path: '/deals' } }] }] });
    await admin.reload();
    await admin.waitForSelector('.side .line:has-text("Report a deal") .tag:has-text("tell")');
    await admin.click('.side .btn.ink');
    equal(await admin.inputValue('#cred-base_url'), 'https://erp.example/v1');
    equal(await admin.inputValue('#cred-secret'), '', 'the secret is given again');
    await admin.fill('#cred-base_url', 'https://erp.example/v2');
    await admin.fill('#cred-secret', 'sk_live_52');
    await admin.click('[role=dialog] .btn.ink');
    await admin.waitForSelector('.side dd:has-text("v2")');
    await admin.click('.side .btn:has-text("Delete…")');
    await admin.waitForSelector('[role=dialog] .lead:has-text("1 published step")');
    await admin.click('[role=dialog] .btn.solid');
    await admin.waitForFunction(() => document.querySelector('[role=dialog] .refuse') || document.querySelector('.empty'));
    quiet(admin);
});

await claim('what is not delivered says why, is filtered by the address, and is tried again by hand', async () => {
    await admin.goto(`${server.url}/outbox`);
    await admin.waitForSelector('.empty');
    equal(await complaintsOf(admin), []);
    await ok('PUT', '/subscriptions/away', { url: 'http://127.0.0.1:9/hook', events: ['OrderPaid'] });
    await ok('POST', '/import', { items: [{ kind: 'scenario', code: 'pay', steps: [{ code: 'tell', procedure: { type: 'event.publish', event: 'OrderPaid', payload: {} } }] }] });
    await ok('POST', '/executions?wait=10s', { code: 'pay' });
    await admin.waitForSelector('.trow.outbox:has-text("OrderPaid")');
    await until('it was tried', async () => (await ok('GET', '/outbox')).items[0].attempts > 0);
    await admin.waitForFunction(() => document.querySelector('.trow.outbox code'));
    equal(await complaintsOf(admin), []);
    const before = (await ok('GET', '/outbox')).items[0].attempts;
    await admin.click('.trow.outbox .btn:has-text("Send it now")');
    await until('it is tried at once', async () => (await ok('GET', '/outbox')).items[0].attempts > before);
    await admin.click('.views button:has-text("Given up")');
    await admin.waitForSelector('.empty:has-text("Nothing matches")');
    equal(new URL(admin.url()).searchParams.get('status'), 'parked');
    await admin.click('.empty .btn');
    await admin.waitForSelector('.trow.outbox');
    quiet(admin);
});

await claim('a failed execution is retried with the version and the input that were corrected', async () => {
    const definition = (left) => ({ kind: 'scenario', code: 'divide', input: [{ name: 'by', type: 'integer', required: true }], settings: { key: '="d" + string($.input.by)' }, steps: [{ code: 'check', procedure: { type: 'compute.validate', rules: [{ expr: `$.input.by > ${left}`, code: 'too_small', message: 'it is too small' }] } }] });
    await ok('POST', '/import', { items: [definition(10)] });
    const failed = await ok('POST', '/executions?wait=10s', { code: 'divide', input: { by: 3 } });
    equal(failed.status, 'failed');
    await ok('POST', '/import', { items: [definition(5)] });
    await admin.goto(`${server.url}/executions/${failed.id}`);
    await admin.click('.why .btn.ink:has-text("Retry")');
    await admin.selectOption('#version', '2');
    await admin.click('[role=dialog] .box');
    equal(await admin.inputValue('#field-by'), '3', 'the form has what it began with');
    await admin.fill('#field-by', '7');
    equal(await complaintsOf(admin), []);
    await admin.click('[role=dialog] .btn.ink');
    await admin.waitForSelector('.why.ok');
    const after = await ok('GET', `/executions/${failed.id}`);
    equal([after.status, after.version, after.input.by], ['completed', 2, 7]);
    quiet(admin);
});

await claim('an operator gives a question to somebody else', async () => {
    const waiting = await one('deal-320');
    await admin.goto(`${server.url}/executions/${waiting.id}`);
    await admin.waitForSelector('.why .btn.ink');
    await admin.click('.bar .btn.sq');
    await admin.click('.menu .mi:has-text("Assign…")');
    await admin.fill('#assignee', 'ada@example.org');
    await admin.click('[role=dialog] .btn.ink');
    await until('it is hers', async () => (await inbox(ada)).items.length === 1 && (await inbox(grace)).items.length === 0);
    quiet(admin);
});

await claim('what starts by the clock shows its next ten times, is paused, resumed and run now', async () => {
    await admin.goto(`${server.url}/schedules`);
    await admin.waitForSelector('.empty');
    equal(await complaintsOf(admin), []);
    await admin.click('.empty .btn');
    await admin.fill('#cron', '0 9 * * MON-FRI');
    await admin.waitForFunction(() => document.querySelectorAll('.times li').length === 10);
    await admin.fill('#cron', '0 99 * * *');
    await admin.waitForSelector('[role=dialog] .refuse');
    await admin.keyboard.press('Escape');
    await ok('POST', '/import', { items: [{ kind: 'scenario', code: 'nightly', name: 'Nightly report', triggers: [{ type: 'schedule', cron: '30 2 * * *', timezone: 'Europe/Berlin' }], steps: [{ code: 'note', procedure: { type: 'compute.transform', data: { done: true } } }] }] });
    await admin.click('.trow.scheds .rowlink');
    await admin.waitForFunction(() => document.querySelectorAll('.side .times li').length === 10);
    equal((await admin.textContent('.side .times li')).includes('02:30'), true, 'on the clock of its zone');
    equal(await complaintsOf(admin), []);
    await admin.click('.side .btn:has-text("Pause it")');
    await admin.waitForSelector('.trow.scheds:has-text("paused")');
    await admin.click('.side .btn:has-text("Resume it")');
    await admin.waitForSelector('.trow.scheds:has-text("active")');
    await admin.click('.side .btn:has-text("Run it now")');
    await admin.waitForSelector('.why.ok');
    quiet(admin);
});

await browser.close();
await server.stop();
end();
