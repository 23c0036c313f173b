// Stepping through an execution in the browser: the next step, breakpoints, variables, up to a step, to the end.
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const server = await startServer();
const transform = (code, data) => ({ code, procedure: { type: 'compute.transform', data } });
await server.publish({ code: 'stepped', steps: [transform('a', 1), transform('b', 2), transform('c', 3), transform('d', 4), transform('e', '$.variables')] });
await server.publish({ code: 'drawn', nodes: [
    { id: 'start', type: 'start', config: {} }, { id: 'sum', type: 'math', config: { expression: '1 + 1' } }, { id: 'finish', type: 'end', config: {} },
], edges: [{ source: 'start', target: 'sum' }, { source: 'sum', target: 'finish' }] });
const begin = async (code, more) => (await server.asAdmin('POST', '/executions', { code, ...more })).body.id;
const get = async (id) => (await server.asAdmin('GET', `/executions/${id}`)).body;
const stands = (id, next) => until(`it stands before ${next}`, async () => (await get(id)).waitingFor?.next === next);

const browser = await openBrowser();
const page = await openPage(browser, server);
const open = async (id) => {
    await page.goto(signInUrl(server, `/executions/${id}`));
    await page.waitForSelector('.debugbar');
};
const press = (name) => page.click(`.debugbar button:text-is("${name}")`);
const says = (text) => page.waitForFunction((wanted) => document.querySelector('.why')?.textContent.includes(wanted), text);

await claim('the page says before which step it is stopped, and runs the next one', async () => {
    const id = await begin('stepped', { debug: true });
    await open(id);
    await says('Stopped by a debugger before B');
    await press('Next step');
    await says('Stopped by a debugger before C');
    await stands(id, 'c');
    await page.selectOption('.debugbar select', 'd');
    await press('Up to this step');
    await says('Stopped by a debugger before E');
    await stands(id, 'e');
    await page.fill('.debugbar input[aria-label="Variable"]', 'total');
    await page.fill('.debugbar input[aria-label="Its value, JSON"]', '17x');
    await press('To the end');
    await page.waitForFunction(() => document.querySelector('.debugbar')?.textContent.includes('no JSON'));
    await stands(id, 'e');
    await page.fill('.debugbar input[aria-label="Its value, JSON"]', '17');
    await press('To the end');
    await page.waitForSelector('.debugbar', { state: 'detached' });
    const x = await get(id);
    equal([x.status, x.result], ['completed', { total: 17 }]);
    equal(await complaintsOf(page), []);
});

await claim('breakpoints are set and taken away, also of nodes of a graph', async () => {
    const id = await begin('drawn', { breakpoints: ['sum'] });
    await open(id);
    await page.waitForFunction(() => document.querySelector('.debugbar')?.textContent.includes('Stops before sum.') || document.querySelector('.debugbar')?.textContent.includes('Stops before Sum.'));
    await page.selectOption('.debugbar select', 'finish');
    await press('Stop here');
    await until('both are breakpoints', async () => (await get(id)).breakpoints.join() === 'sum,finish');
    await page.waitForSelector('.debugbar button:text-is("Do not stop here")');
    await press('To the end');
    await stands(id, 'finish');
    await press('Do not stop here');
    await until('one is left', async () => (await get(id)).breakpoints.join() === 'sum');
    await press('Next step');
    await page.waitForSelector('.debugbar', { state: 'detached' });
    equal((await get(id)).status, 'completed');
});

await browser.close();
await server.stop();
end();
