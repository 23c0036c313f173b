// Building with the constructor, in a browser: what the palette offers, forms for everything that the catalog has, names and codes, the keyboard.
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { field, fill, noProblems, saved } from './editor.mjs';

const server = await startServer();
const browser = await openBrowser();
const page = await openPage(browser, server, { viewport: { width: 1280, height: 800 } });
const quiet = (on = page) => equal(on.wrong.splice(0), [], 'what the browser complained about');
const draft = async (code, kind = 'scenarios') => (await server.asAdmin('GET', `/${kind}/${code}`)).body.draft.definition;
const catalog = (await server.asAdmin('GET', '/catalog')).body;
const made = async (code, steps = [], more = {}) => equal((await server.asAdmin('PUT', `/scenarios/${code}/draft`, { code, name: code, ...more, steps })).status < 300, true);
const open = async (code, on = page) => {
    await on.goto(`${server.url}/processes/scenarios/${code}`);
    await on.waitForSelector('.ed-canvas .slot');
};
const part = async (key) => {
    await page.locator(`[data-part="${key}"]`).click();
    await page.waitForFunction(() => document.activeElement?.matches('.inspector .isect.two textarea'));
};

await server.asAdmin('POST', '/users', { name: 'Mia', email: 'mia@example.org', role: 'operator', groups: ['managers'] });
equal((await server.asAdmin('PUT', '/credentials/erp', { type: 'api_key', base_url: 'https://erp.example', header_name: 'X-Api-Key', header_value: 'sk-very-secret-1' })).status < 300, true);
await page.goto(signInUrl(server, '/processes'));
await page.waitForSelector('.btn.ink');

await claim('a person is asked with one click: who, what, a form and how long stand there, and nothing is wrong', async () => {
    await made('asking');
    await open('asking');
    await page.fill('.psearch input', 'person');
    await page.press('.psearch input', 'Enter');
    await page.waitForSelector('[data-code=ask]');
    await noProblems(page);
    await saved(page);
    const [step] = (await draft('asking')).steps;
    equal([step.code, step.name, step.procedure.type, step.procedure.assignee, step.procedure.timeout, step.procedure.form.map((f) => f.name)], ['ask', 'Ask a person', 'wait.signal', 'group:managers', '24h', ['approved', 'comment']]);
    equal(await field(page, 'Timeout').locator('.meta').innerText(), '24 hours');
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('who is asked is picked from the groups and the people that there are', async () => {
    const box = field(page, 'Assignee').locator('textarea');
    await box.fill('mia');
    await page.locator('.hints .o', { hasText: 'mia@example.org' }).click();
    equal(await box.inputValue(), 'mia@example.org');
    await saved(page);
    quiet();
});

await claim('a second one has another code and waits for a signal of its own', async () => {
    await part('preset:ask');
    await page.waitForSelector('[data-code=ask_2]');
    await saved(page);
    equal((await draft('asking')).steps.map((s) => s.procedure.signalType), ['ask_answer', 'ask_2_answer']);
    quiet();
});

await claim('the code of a step goes with its name, until somebody has chosen a code', async () => {
    await made('naming', [], { input: [{ name: 'id', type: 'string' }] });
    await open('naming');
    await part('log');
    equal(await page.inputValue('.inspector .isect.two textarea'), 'Log');
    await page.keyboard.type('Tell the customer, at last');
    await page.keyboard.press('Tab');
    await page.waitForSelector('[data-code=tell_the_customer_at_last]');
    await page.fill('.inspector .isect.two input', 'tell');
    await page.press('.inspector .isect.two input', 'Enter');
    await page.waitForSelector('[data-code=tell]');
    await page.fill('.inspector .isect.two textarea', 'Tell them');
    await page.keyboard.press('Tab');
    await page.waitForSelector('.node:has-text("Tell them")');
    equal(await page.locator('.node[data-code]').evaluateAll((all) => all.map((n) => n.dataset.code)), ['tell']);
    quiet();
});

await claim('what is empty is said in words, not in JSON, and is not red before anybody has typed', async () => {
    await part('compute.validate');
    await page.waitForSelector('.problems .prow:has-text("is not filled in yet")');
    equal((await page.locator('.problems').innerText()).includes('"expr"'), false);
    equal(await page.locator('.inspector .inp.wrong').count(), 0);
    await part('step:branch');
    await page.waitForSelector('.elab:has-text("no condition yet")');
    equal(await page.locator('.inspector .said.error').count(), 0, await page.locator('.inspector').innerText());
    quiet();
});

await claim('branches that run at once are added and taken away in the form, and a way comes before the rest', async () => {
    await made('ways');
    await open('ways');
    await part('step:parallel');
    await field(page, 'Branches').locator('.btn:has-text("Add a branch")').click();
    await page.waitForFunction(() => document.querySelectorAll('.slot.only').length === 3);
    await field(page, 'Branches').locator('.btn.sq').first().click();
    await page.waitForFunction(() => document.querySelectorAll('.slot.only').length === 2);
    await part('step:branch');
    await saved(page); // no finding that arrives now moves the button under the pointer
    await field(page, 'Branch').locator(':scope > .list > .btn').click();
    await page.waitForFunction(() => document.querySelectorAll('.slot.only').length === 5);
    await saved(page);
    const step = (await draft('ways')).steps[1];
    equal(step.branch, [{ when: '', steps: [] }, { when: '', steps: [] }, { steps: [] }]);
    quiet();
});

await claim('what starts a process by itself has a form, too', async () => {
    await made('starting', [{ code: 'a', procedure: { type: 'log', message: 'x' } }]);
    await open('starting');
    await page.locator('.inspector .addf:text-is("Triggers")').click();
    await field(page, 'Triggers').locator('.list > .btn').click();
    await fill(page, 'Cron', '0 9 * * 1');
    await noProblems(page);
    await saved(page);
    equal((await draft('starting')).triggers, [{ type: 'schedule', cron: '0 9 * * 1' }]);
    await field(page, 'Type').locator('select').selectOption('event');
    await fill(page, 'Event', 'task.done');
    await saved(page);
    equal((await draft('starting')).triggers, [{ type: 'event', event: 'task.done' }]);
    quiet();
});

await claim('a rollback is a command or a procedure, and what it is given is one click more', async () => {
    await made('undoing', [{ code: 'book', procedure: { type: 'log', message: 'x' }, rollback: 'unbook' }], { procedures: { unbook: [{ type: 'log', message: 'u' }] } });
    await open('undoing');
    await page.click('[data-code=book]');
    await field(page, 'Rollback').locator('.addf:text-is("Input")').click();
    await field(page, 'Rollback').locator('.btn:has-text("Add a field")').click();
    await field(page, 'Rollback').locator('.kvrow .key').fill('why');
    await field(page, 'Rollback').locator('.kvrow .val textarea').fill('gone');
    await noProblems(page);
    await saved(page);
    equal((await draft('undoing')).steps[0].rollback, { procedure: 'unbook', input: { why: 'gone' } });
    quiet();
});

await claim('the head of the undo lane is in view, also when the first step has a rollback', async () => {
    const [head, canvas] = await page.evaluate(() => ['.undobox .hd', '.ed-canvas .canvas'].map((at) => document.querySelector(at).getBoundingClientRect().top));
    equal(head >= canvas, true, `the head is at ${head}, the canvas begins at ${canvas}`);
    quiet();
});

await claim('a service is called with a credential that is picked, retries and what counts as success', async () => {
    await made('calling');
    await open('calling');
    await part('integration.http');
    await field(page, 'Method').locator('select').selectOption('POST');
    await field(page, 'Credential').locator('textarea').click();
    await page.locator('.hints .o', { hasText: 'erp' }).click();
    await fill(page, 'Path', '/orders');
    await field(page, 'Expected').locator('.btn:has-text("Add an item")').click();
    await field(page, 'Expected').locator('.litem textarea').fill('201');
    await page.locator('.isect h3 button:has-text("If it fails")').click();
    await page.locator('.inspector .addf:text-is("Retry")').click();
    await fill(page, 'Attempts', '5');
    await fill(page, 'First pause', '10s');
    await noProblems(page);
    await saved(page);
    const [step] = (await draft('calling')).steps;
    equal([step.procedure, step.retry], [{ type: 'integration.http', method: 'POST', credential: 'erp', path: '/orders', expect: [201] }, { maxAttempts: 5, delay: '10s' }]);
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('steps are added, chosen, moved, copied, pasted and deleted by keyboard alone', async () => {
    await made('keys', [{ code: 'one', procedure: { type: 'log', message: 'x' } }, { code: 'two', procedure: { type: 'log', message: '{{ steps.one.message }}' } }]);
    await open('keys');
    const codes = () => page.locator('.node[data-code]').evaluateAll((all) => all.map((n) => n.dataset.code));
    await page.locator('[data-code=one]').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('[data-code=two].sel:focus');
    await page.keyboard.press('Control+d');
    await page.waitForSelector('[data-code=two_2].sel:focus');
    equal(await codes(), ['one', 'two', 'two_2']);
    await page.keyboard.press('Alt+ArrowUp');
    await page.waitForFunction(() => document.querySelectorAll('.node[data-code]')[1]?.dataset.code === 'two_2');
    await page.locator('[data-code=one]').focus();
    await page.keyboard.press('Control+c');
    await page.locator('[data-code=two]').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+v');
    await page.waitForSelector('[data-code=one_2].sel:focus');
    equal(await codes(), ['one', 'two_2', 'two', 'one_2']);
    await page.keyboard.press('Delete');
    await page.waitForFunction(() => !document.querySelector('[data-code=one_2]'));
    await page.locator('[data-code=two]').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('a');
    await page.keyboard.type('fail');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-code=fail]');
    await page.waitForFunction(() => document.activeElement?.matches('.inspector textarea'));
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-code=fail].sel:focus');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.matches('.inspector textarea'));
    await saved(page);
    equal((await draft('keys')).steps.map((s) => s.code), ['one', 'two_2', 'two', 'fail']);
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-code=fail].sel:focus');
    await page.keyboard.press('?');
    await page.waitForSelector('[role=dialog]:has-text("In the constructor")');
    await page.keyboard.press('Escape');
    quiet();
});

await claim('the copy of a lane has codes of its own, and speaks of its own steps', async () => {
    await made('lanes', [{ code: 'each', loop: { for: '$.input.lines', steps: [{ code: 'take', procedure: { type: 'log', message: 'x' } }, { code: 'say', procedure: { type: 'log', message: '{{ steps.take.message }}' } }] } }], { input: [{ name: 'lines', type: 'array', required: true }] });
    await open('lanes');
    await page.locator('.lane .hd').first().click();
    await page.keyboard.press('Control+d');
    await page.waitForSelector('[data-code=take_2]');
    await saved(page);
    const [, copy] = (await draft('lanes')).steps;
    equal([copy.code, copy.loop.steps.map((s) => s.code), copy.loop.steps[1].procedure.message], ['each_2', ['take_2', 'say_2'], '{{ steps.take_2.message }}']);
    await noProblems(page);
    quiet();
});

await claim('every command of the catalog is put in from the palette, and each of its fields has a control of its own', async () => {
    await made('walk', []);
    await open('walk');
    const lost = [];
    for (const command of catalog.commands) {
        await part(command.name);
        await page.waitForSelector('.node.sel');
        const folded = page.locator('.inspector .isect > h3 button[aria-expanded=false]');
        while ((await folded.count()) > 0) await folded.first().click();
        for (const own of command.fields) {
            const chip = page.locator(`.inspector .isect:not(:has-text("If it fails")) .addf:text-is("${own.label}")`);
            if ((await field(page, own.label).count()) === 0 && (await chip.count()) > 0) await chip.first().click();
            const box = page.locator(`.inspector .fld[data-at$="/procedure/${own.name}"]`);
            const controls = await box.locator(':scope input, :scope textarea, :scope select, :scope .pickfield, :scope [role=radio], :scope .btn').count();
            if ((await box.count()) !== 1 || controls === 0) lost.push(`${command.name}.${own.name}`);
        }
        await page.keyboard.press('Escape');
        await page.locator('.node.sel, .lane.sel > .hd').first().focus();
        await page.keyboard.press('Delete');
        await page.waitForFunction(() => document.querySelectorAll('.node[data-code], .lane').length === 0);
    }
    equal(lost, []);
    quiet();
});

await claim('no name in the palette is cut off, and no word of a form is raw, in either language', async () => {
    for (const language of ['en', 'ru']) {
        await page.evaluate((to) => localStorage.setItem('pawl.language', to), language);
        await open('walk');
        const cut = await page.locator('.part .pname').evaluateAll((all) => all.filter((el) => el.scrollWidth > el.clientWidth + 1 || getComputedStyle(el).textOverflow === 'ellipsis').map((el) => el.textContent));
        equal(cut, [], language);
        equal(await page.locator('.part').count() > 25, true);
        await page.locator('.inspector .addf, .inspector .list > .btn').first().click();
        await page.waitForSelector('.inspector .titem.open select');
        const types = await page.locator('.inspector .titem.open select option').allInnerTexts();
        equal(types.filter((word) => ['string', 'integer', 'boolean', 'datetime', 'array'].includes(word)), [], language);
    }
    equal(await complaintsOf(page), []);
    quiet();
});

await claim('a start says what it lacks, begins with the defaults and is filled from the one before, but for what is secret', async () => {
    await page.evaluate(() => localStorage.setItem('pawl.language', 'en'));
    const input = [{ name: 'deal', type: 'string', required: true, description: 'Its number.' }, { name: 'percent', type: 'integer', required: true, default: 5 }, { name: 'pin', type: 'string', sensitive: true }];
    await made('startable', [{ code: 'a', procedure: { type: 'log', message: 'x' } }], { input, description: 'Says x.' });
    equal((await server.asAdmin('POST', '/scenarios/startable/publish', {})).status, 200);
    equal((await server.asAdmin('POST', '/executions', { code: 'startable', key: 'deal-77', input: { deal: 'd-77', percent: 7, pin: '4711' } })).status < 300, true);
    await open('startable');
    await page.click('.bar .btn:has-text("Start…")');
    await page.waitForSelector('[role=dialog] .btn:has-text("1 field before starting")');
    equal(await page.inputValue('#field-percent'), '5');
    equal((await page.locator('[role=dialog] .lead').innerText()).includes('It asks for 3 things. Says x.'), true, await page.locator('[role=dialog] .lead').innerText());
    equal(await page.getAttribute('#field-pin', 'type'), 'password');
    await page.click('[role=dialog] .btn:has-text("Fill from deal-77")');
    await page.waitForFunction(() => document.querySelector('#field-deal')?.value === 'd-77');
    equal([await page.inputValue('#field-percent'), await page.inputValue('#field-pin')], ['7', '']);
    // The form and its JSON say the same.
    await page.click('[role=dialog] [role=radio]:has-text("JSON")');
    equal(JSON.parse(await page.inputValue('#field-json')), { deal: 'd-77', percent: 7 });
    await page.fill('#field-json', '{"deal": "d-78", "percent": 9}');
    await page.click('[role=dialog] [role=radio]:has-text("Form")');
    equal([await page.inputValue('#field-deal'), await page.inputValue('#field-percent')], ['d-78', '9']);
    await page.waitForSelector('[role=dialog] .btn.ink:has-text("Start")');
    quiet();
});

await browser.close();
await server.stop();
end();
