// Nothing that was typed is lost: a window that is closed, a page that crashes, a server that is away, another who
// published, a session that ended, a browser without room.
import { readFileSync } from 'node:fs';
import { openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';
import { saved } from './editor.mjs';

const server = await startServer();
server.args = ['--listen', new URL(server.url).host];
const text = readFileSync('examples/discount_approval.json', 'utf8');
const browser = await openBrowser();
let made = 0;

/** A process of a claim's own, published once. */
async function process() {
    const code = `approval_${++made}`;
    await server.asAdmin('PUT', `/scenarios/${code}/draft`, text.replace('"discount_approval"', `"${code}"`));
    equal((await server.asAdmin('POST', `/scenarios/${code}/publish`, {})).status, 200);
    return code;
}
const stored = async (code) => (await server.asAdmin('GET', `/scenarios/${code}`)).body;
const nameOf = (version) => version?.definition.steps[0].name;
const open = async (page, code, at = server.url) => {
    await page.goto(`${at}/processes/scenarios/${code}`);
    await page.waitForSelector('[data-code=check], .merge');
};
/** The step `check` gets a name, letter by letter. */
const type = async (page, name) => {
    await page.click('[data-code=check]');
    await page.click('.inspector .isect.two textarea');
    await page.keyboard.type(name);
};
const shows = (page, name) => page.waitForSelector(`.node[data-code=check]:has-text("${name}")`);
const signedIn = async (options) => {
    const page = await openPage(browser, server, options);
    await page.goto(signInUrl(server, '/processes'));
    await page.waitForSelector('.trow');
    return page;
};
await process();

await claim('a window that is closed in the middle of a word: the next one has the word, and saves it', async () => {
    const code = await process();
    const page = await signedIn();
    await open(page, code);
    await server.kill();
    await type(page, 'Half a wor');
    const context = page.context();
    await page.close();
    await server.start();
    const next = await context.newPage();
    await open(next, code);
    await shows(next, 'Half a wor');
    await next.waitForSelector('.edtold:has-text("is here again")');
    await saved(next);
    equal(nameOf((await stored(code)).draft), 'Half a wor');
    equal(await next.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('pawl.draft:'))), [], 'what has arrived is kept no longer');
    await context.close();
});

await claim('a page that is loaded again while its own save is on the way, or whose answer is lost, does not meet itself as another', async () => {
    const code = await process();
    const page = await signedIn();
    await open(page, code);
    let arrived = 0;
    await page.route('**/draft', async (route) => {
        if (route.request().method() !== 'PUT' || arrived > 0) return route.fallback();
        await route.fetch();
        arrived++;
    });
    await type(page, 'First');
    await until('the first save is there', () => arrived === 1);
    await page.keyboard.type(' and more');
    await page.reload();
    await page.waitForSelector('[data-code=check], .merge');
    equal(await page.locator('.merge').count(), 0);
    await shows(page, 'First and more');
    await saved(page);
    equal(nameOf((await stored(code)).draft), 'First and more');

    arrived = 0;
    await page.unroute('**/draft');
    await page.route('**/draft', async (route) => {
        if (route.request().method() !== 'PUT' || arrived > 0) return route.fallback();
        await route.fetch();
        arrived++;
        await page.keyboard.type(', typed meanwhile');
        return route.abort('connectionreset');
    });
    await type(page, 'Second');
    await until('the first save is there', () => arrived === 1);
    await shows(page, 'typed meanwhile');
    await until('all of it is saved', async () => nameOf((await stored(code)).draft)?.endsWith('typed meanwhile'));
    equal(await page.locator('.merge').count(), 0);
    await page.context().close();
});

await claim('a page that crashes in the middle of a word has it when it is loaded again', async () => {
    const code = await process();
    const page = await signedIn();
    const context = page.context();
    await open(page, code);
    await server.kill();
    await type(page, 'Crashed whil');
    const crashed = new Promise((done) => page.once('crash', done));
    await page.goto('chrome://crash').catch(() => undefined);
    await crashed;
    await page.close();
    await server.start();
    const next = await context.newPage();
    await open(next, code);
    await shows(next, 'Crashed whil');
    await saved(next);
    equal(nameOf((await stored(code)).draft), 'Crashed whil');
    await context.close();
});

await claim('a text that is no JSON survives its window, and is saved when it is JSON again', async () => {
    const code = await process();
    const page = await signedIn();
    const context = page.context();
    await open(page, code);
    await page.click('[role=tab]:has-text("JSON")');
    await page.locator('.cmhost .cm-content').focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('half');
    await page.waitForSelector('.savedword:has-text("no JSON")');
    await page.close();
    const next = await context.newPage();
    await open(next, code);
    await next.click('.bar .btn:has-text("The text is no JSON")');
    await next.waitForSelector('.cm-line:has-text("half{")');
    await next.locator('.cmhost .cm-content').focus();
    await next.keyboard.press('Control+Home');
    for (let i = 0; i < 4; i++) await next.keyboard.press('Delete');
    await next.waitForFunction(() => !/no JSON/.test(document.querySelector('.savedword')?.textContent ?? ''));
    equal((await stored(code)).draft, null, 'it is what is published: there is nothing to save');
    await context.close();
});

await claim('what was typed and taken back does not come again', async () => {
    const code = await process();
    const page = await signedIn();
    const context = page.context();
    await open(page, code);
    await server.kill();
    await type(page, 'Not this');
    await shows(page, 'Not this');
    await page.keyboard.press('Control+z');
    await page.waitForSelector('.node[data-code=check]:not(:has-text("Not this"))');
    await page.close();
    await server.start();
    const next = await context.newPage();
    await open(next, code);
    equal(await next.locator('.node:has-text("Not this")').count(), 0);
    equal(await next.locator('.edtold').count(), 0);
    await context.close();
});

await claim('two tabs and a window that was closed: each has its own text, and a tab that lives is not robbed of it', async () => {
    const code = await process();
    const page = await signedIn();
    const other = await page.context().newPage();
    await open(page, code);
    await open(other, code);
    await server.kill();
    await type(page, 'Of the first');
    await type(other, 'Of the second');
    await other.close();
    await server.start();
    await saved(page);
    equal(nameOf((await stored(code)).draft), 'Of the first');
    const next = await page.context().newPage();
    await open(next, code);
    await next.waitForSelector('.merge');
    equal((await next.textContent('.mchoice')).includes('Of the second') && (await next.textContent('.mchoice')).includes('Of the first'), true, await next.textContent('.mchoice'));
    await page.context().close();
});

await claim('what another published while one typed is merged with it, and not written over', async () => {
    const code = await process();
    const page = await signedIn();
    await open(page, code);
    const theirs = text.replace('"discount_approval"', `"${code}"`).replace('"timeout": "24h"', '"timeout": "12h"');
    equal((await server.asAdmin('PUT', `/scenarios/${code}/draft`, theirs)).status, 200);
    equal((await server.asAdmin('POST', `/scenarios/${code}/publish`, {})).body.version, 2);
    await type(page, 'Of mine');
    await page.waitForSelector('.merge');
    equal(/published this at/.test(await page.textContent('.msay')), true, await page.textContent('.msay'));
    equal((await stored(code)).draft, null, 'no draft stands there without what was published');
    await page.click('.btn.ink:has-text("Save what was merged")');
    await saved(page);
    const { draft } = await stored(code);
    equal([nameOf(draft), draft.definition.steps.find((s) => s.code === 'ask').procedure.timeout], ['Of mine', '12h']);
    await page.context().close();
});

await claim('a draft that another changed and published takes one into the merge; one that was published as it stood does not', async () => {
    const code = await process();
    const page = await signedIn();
    await open(page, code);
    await type(page, 'First');
    await saved(page);
    const { draft } = await stored(code);
    equal((await server.asAdmin('POST', `/scenarios/${code}/publish`, {})).body.version, 2);
    await page.keyboard.type(' and more');
    await page.waitForFunction(() => /^saved/.test(document.querySelector('.savedword')?.textContent ?? ''));
    await until('it is a draft again', async () => nameOf((await stored(code)).draft) === 'First and more');
    equal(await page.locator('.merge').count(), 0);
    const now = (await stored(code)).draft;
    equal((await server.call(server.token, 'PUT', `/api/v1/scenarios/${code}/draft`, JSON.stringify({ ...now.definition, name: 'Another name' }), { 'If-Match': `"${now.version}"` })).status, 200);
    equal((await server.asAdmin('POST', `/scenarios/${code}/publish`, {})).body.version, 3);
    await page.keyboard.insertText(', and yet more'); // at once: after a part of it the page may be another
    await page.waitForSelector('.merge');
    await page.click('.btn.ink:has-text("Save what was merged")');
    await saved(page);
    const end = (await stored(code)).draft;
    equal([end.definition.name, nameOf(end)], ['Another name', 'First and more, and yet more']);
    equal(draft.version > 0, true);
    await page.context().close();
});

await claim('a draft that another has saved since one looked is not published unseen: it is shown first', async () => {
    const code = await process();
    const page = await signedIn();
    await open(page, code);
    await type(page, 'To be published');
    await saved(page);
    const { draft } = await stored(code);
    equal((await server.asAdmin('PUT', `/scenarios/${code}/draft`, { ...draft.definition, name: 'Of another' })).status, 200);
    await page.click('.bar .btn.ink:has-text("Publish…")');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.merge');
    equal((await stored(code)).published.version, 1);
    equal((await page.textContent('.mlist')).includes('name'), true, await page.textContent('.mlist'));
    await page.click('.btn.ink:has-text("Save what was merged")');
    await shows(page, 'To be published');
    await page.click('.bar .btn.ink:has-text("Publish…")');
    await page.click('[role=dialog] .btn.ink');
    await page.waitForSelector('.edtold:has-text("Version 2 is published")');
    const { published } = await stored(code);
    equal([published.definition.name, nameOf(published)], ['Of another', 'To be published']);
    await page.context().close();
});

await claim('a text with the line ends of Windows is no change when it is opened, and keeps them when one word is', async () => {
    const code = `approval_${++made}`;
    const raw = text.replace('"discount_approval"', `"${code}"`).replaceAll('\n', '\r\n').replace(/\r\n$/, '');
    await server.asAdmin('PUT', `/scenarios/${code}/draft`, raw);
    equal((await server.asAdmin('POST', `/scenarios/${code}/publish`, {})).status, 200);
    const page = await signedIn();
    await open(page, code);
    equal(await page.locator('.bar .tag:has-text("draft")').count(), 0, 'nothing has changed');
    await page.click('[data-code=ask]');
    await page.locator('.inspector .fld:has(> .flh label:text-is("Timeout")) textarea').fill('12h');
    await saved(page);
    const { raw: answer } = await server.asAdmin('GET', `/scenarios/${code}/versions/draft`);
    equal(answer.includes(raw.replace('"timeout": "24h"', '"timeout": "12h"')), true, 'only that word has changed');
    await page.context().close();
});

await claim('a session that ended while one typed: after signing in again the text is there, and is saved', async () => {
    const code = await process();
    const page = await signedIn();
    await open(page, code);
    await page.click('[data-code=check]');
    await page.click('.inspector .isect.two textarea');
    await page.keyboard.type('Typed by ');
    await page.context().clearCookies();
    await page.keyboard.insertText('nobody'); // at once: after a part of it the page may be another
    await page.waitForSelector('#token');
    await page.fill('#token', server.token);
    await page.keyboard.press('Enter');
    await shows(page, 'Typed by nobody');
    await saved(page);
    equal(nameOf((await stored(code)).draft), 'Typed by nobody');
    await page.context().close();
});

await claim('a browser whose local storage is full keeps it all the same', async () => {
    const code = await process();
    const page = await signedIn();
    const context = page.context();
    await open(page, code);
    await page.evaluate(() => { for (let size = 1 << 20; size > 0; size >>= 1) try { for (let i = 0; ; i++) localStorage.setItem(`full:${size}:${i}`, 'x'.repeat(size)); } catch { /* no more of this size */ } });
    await server.kill();
    await type(page, 'No room for th');
    await shows(page, 'No room for th');
    await page.waitForSelector('.savedword:has-text("does not answer")');
    equal(await page.locator('.edtold.held').count(), 0, 'it is kept');
    await page.close();
    await server.start();
    const next = await context.newPage();
    await open(next, code);
    await shows(next, 'No room for th');
    await saved(next);
    equal(nameOf((await stored(code)).draft), 'No room for th');
    await next.reload();
    await shows(next, 'No room for th');
    equal([await next.locator('.edtold').count(), await next.locator('.merge').count(), next.wrong ?? []], [0, 0, []], 'what has arrived does not come again');
    await context.close();
});

await claim('a browser that can keep nothing at all says so, saves at once, and asks before the page is left', async () => {
    const code = await process();
    const page = await signedIn();
    await page.addInitScript(() => {
        Storage.prototype.setItem = function (name) { if (name.startsWith('pawl.draft:')) throw new DOMException('full', 'QuotaExceededError'); };
        IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError'); };
    });
    await open(page, code);
    await type(page, 'Straight on');
    await saved(page);
    equal(nameOf((await stored(code)).draft), 'Straight on');
    await server.kill();
    await page.keyboard.type(', and away');
    await page.waitForSelector('.edtold.held:has-text("no room")');
    const asked = new Promise((done) => page.once('dialog', (dialog) => { done(dialog.type()); void dialog.dismiss(); }));
    await page.close({ runBeforeUnload: true });
    equal(await asked, 'beforeunload');
    await server.start();
    await saved(page);
    equal(nameOf((await stored(code)).draft), 'Straight on, and away');
    await page.waitForFunction(() => !document.querySelector('.edtold.held'));
    equal(page.wrong, []);
    await page.context().close();
});

await claim('by plain HTTP from another machine, where browsers give no locks: it is kept, found at once, and published', async () => {
    const port = new URL(server.url).port;
    const far = await openBrowser(['--host-resolver-rules=MAP pawl.test 127.0.0.1']);
    const at = `http://pawl.test:${port}`;
    const code = await process();
    const page = await openPage(far, { url: at });
    await page.goto(`${at}/processes#token=${server.token}`);
    await page.waitForSelector('.trow');
    equal(await page.evaluate(() => [isSecureContext, 'locks' in navigator]), [false, false]);
    await open(page, code, at);
    await server.kill();
    await type(page, 'From afar');
    await shows(page, 'From afar');
    const context = page.context();
    await page.close();
    await server.start();
    const next = await context.newPage();
    await open(next, code, at);
    await shows(next, 'From afar');
    await saved(next);
    const third = await context.newPage();
    await open(third, code, at);
    equal(await third.locator('.merge').count(), 0);
    await next.click('.bar .btn.ink:has-text("Publish…")');
    await next.click('[role=dialog] .btn.ink');
    await next.waitForSelector('.edtold:has-text("Version 2 is published")');
    equal(nameOf((await stored(code)).published), 'From afar');
    await far.close();
});

await browser.close();
await server.stop();
end();
