// The planner in a browser: the board and its drops, the pool on a phone, a task with everything around it, shifts, the policy.
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';
import { fillFloor } from './floor.mjs';

const server = await startServer();
const { people, tasks, move, as } = await fillFloor(server);
const browser = await openBrowser();
const quiet = (page) => equal(page.wrong.splice(0), [], 'what the browser complained about');
const task = (name) => as(server.token, 'GET', `/tasks/${tasks[name].id}`);
const card = (name) => `.tcard[data-id="${tasks[name].id}"]`;
const column = (status) => `.column[data-status="${status}"]`;

/** Take hold of a card and move the pointer over a column. */
async function lift(page, name, status) {
    await page.hover(card(name));
    await page.mouse.down();
    const box = await (await page.$(column(status))).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 120, { steps: 5 });
    await page.waitForSelector('.board.lifting');
    await page.mouse.move(box.x + box.width / 2, box.y + 160, { steps: 5 });
}

const lead = await openPage(browser, server);
await lead.goto(signInUrl(server, '/planner', people.Lena.token));
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const phone = await openPage(browser, server, PHONE);
await phone.goto(signInUrl(server, '/', people.Tony.token));

await claim('the board shows every task in its column, with who has it', async () => {
    await lead.waitForSelector(`${column('in_progress')} ${card('cable')}`);
    for (const [name, status] of [['shaft', 'blocked'], ['sockets', 'available'], ['basins', 'assigned'], ['lamps', 'submitted'], ['trays', 'done']]) await lead.waitForSelector(`${column(status)} ${card(name)}`);
    equal((await lead.textContent(card('riser'))).includes('John'), true);
    equal((await lead.textContent('.attention')).includes('Barbara'), true, 'who asks for help comes first');
    quiet(lead);
});

await claim('the board and its tasks keep the width: the navigation is icons there, and marks where one is', async () => {
    const nav = async () => [(await (await lead.$('.nav')).boundingBox()).width, await lead.$$eval('.nav a.item.active', (all) => all.map((a) => a.getAttribute('href')))];
    equal(await nav(), [52, ['/planner']]);
    await lead.goto(`${server.url}/tasks/${tasks.cable.id}`);
    await lead.waitForSelector('.log li');
    equal(await nav(), [52, ['/planner']], 'a task belongs to the planner');
    equal(await lead.$('h3:has-text("What was handed in")'), null, 'nothing was handed in, so nothing is said of it');
    equal((await lead.textContent('.taskside .note')).includes('Only Barbara hands it in.'), true, 'what is nearly possible says who can');
    await lead.goto(`${server.url}/planner/shifts`);
    await lead.waitForSelector('.trow.shifts');
    equal(await nav(), [216, ['/planner/shifts']]);
    await lead.goto(`${server.url}/planner`);
    await lead.waitForSelector(card('cable'));
    equal(/ends .*, in 5 h 59 min/.test((await lead.textContent('.shiftline')).replace(/\u00a0/g, ' ')), true, 'how long is left stands beside the time');
    quiet(lead);
});

await claim('while a card is lifted, the columns say what dropping it does, or why it cannot be', async () => {
    await lift(lead, 'sockets', 'done');
    equal(await lead.$$eval('.column.legal', (all) => all.map((c) => c.dataset.status)), ['assigned'], 'only what the server allows');
    equal((await lead.textContent(`${column('assigned')} header p`)), 'drop to choose who gets it');
    equal((await lead.textContent(`${column('done')} header p`)), 'it must be handed in first');
    equal(await complaintsOf(lead), [], 'AA holds while dragging');
    await lead.mouse.up();
    await lead.waitForFunction(() => !document.querySelector('.column.legal'));
    equal((await task('sockets')).status, 'available', 'an illegal drop does nothing');
    quiet(lead);
});

await claim('a legal drop asks what must be known, and the board follows', async () => {
    await lift(lead, 'sockets', 'assigned');
    await lead.mouse.up();
    await lead.waitForSelector('[role=dialog] .picker button');
    equal(await lead.$eval('.picker button:has-text("Barbara")', (button) => button.disabled), true, 'who has a task is not free');
    equal(await complaintsOf(lead), []);
    await lead.click('.picker button:has-text("Grace")');
    await lead.click('[role=dialog] .btn.ink');
    await lead.waitForSelector(`${column('assigned')} ${card('sockets')}`);
    equal((await task('sockets')).assigned_to, people.Grace.id);
    quiet(lead);
});

await claim('what a drop does can be done by keyboard, from the menu of the card', async () => {
    await lead.focus(`${card('lamps')} .more`);
    await lead.keyboard.press('Enter');
    await lead.waitForSelector('.menu .mi');
    equal(await lead.$$eval('.menu .mi', (all) => all.map((b) => b.textContent)), ['Accept', 'Send back…', 'Cancel the task…']);
    await lead.keyboard.press('Tab');
    await lead.click('.menu .mi:has-text("Accept")');
    await lead.waitForSelector(`${column('done')} ${card('lamps')}`);
    quiet(lead);
});

await claim('filters stand in the address', async () => {
    await lead.selectOption('select[aria-label="Trade"]', 'plumbing');
    await lead.waitForFunction((id) => !document.querySelector(`[data-id="${id}"]`), tasks.cable.id);
    await lead.fill('.find input', 'riser');
    await lead.waitForFunction(() => new URL(location.href).searchParams.get('q') === 'riser');
    await lead.reload();
    await lead.waitForSelector(card('riser'));
    equal(await lead.$(card('basins')), null, 'after loading it again, too');
    await lead.click('.planfilter .btn.link');
    await lead.waitForSelector(card('cable'));
    quiet(lead);
});

await claim('the board follows what others do', async () => {
    await move('Margaret', 'coat', 'submit');
    await lead.waitForSelector(`${column('submitted')} ${card('coat')}`);
    quiet(lead);
});

await claim('who asks for help is acknowledged from the board', async () => {
    await lead.click('.attention .btn:has-text("Acknowledge")');
    await lead.waitForFunction(() => !document.querySelector('.attention'));
    equal((await task('cable')).needs_attention, false);
    quiet(lead);
});

await claim('a task is made, held, opened, split and deleted from its page', async () => {
    await lead.click('.bar .btn:has-text("New task")');
    equal(await lead.$eval('[role=dialog] .acts .btn.ink', (b) => [b.disabled, b.textContent]), [true, 'Missing: Title'], 'a button that waits says for what');
    await lead.fill('#task-priority', 'high');
    equal(await lead.inputValue('#task-priority'), '', 'what is no number is not taken for 0');
    await lead.fill('#task-title', 'Drill anchors, axis B');
    await lead.fill('#task-priority', '3');
    equal(await complaintsOf(lead), []);
    await lead.click('[role=dialog] .btn.ink');
    await lead.click('.tcard .title:has-text("Drill anchors")');
    await lead.click('.taskside .btn:has-text("Hold…")');
    await lead.fill('#hold-reason', 'no drill');
    await lead.click('[role=dialog] .btn.ink');
    await lead.waitForSelector('.why:has-text("Blocked")');
    await lead.click('.taskside .btn:has-text("End it")');
    await lead.waitForSelector('.why:has-text("In the pool")');
    await lead.click('.taskside .btn:has-text("Split…")');
    await lead.fill('#split-lines', 'Drill twelve holes\nSet twelve anchors\n');
    await lead.click('[role=dialog] .btn:has-text("Split into 2 tasks")');
    await lead.waitForFunction(() => document.querySelectorAll('.dep').length === 3);
    equal(await complaintsOf(lead), []);
    await lead.click('.dep .title:has-text("Set twelve anchors")');
    await lead.waitForSelector('h2:has-text("Set twelve anchors")');
    await lead.click('.taskside .btn:has-text("Delete the task…")');
    await lead.click('[role=dialog] .btn.solid');
    await lead.waitForSelector('[role=dialog] .refuse');
    equal((await lead.textContent('.refuse')).includes('409'), true, 'another task waits for it, and the server says so');
    await lead.keyboard.press('Escape');
    await lead.waitForFunction(() => !document.querySelector('[role=dialog]'));
    quiet(lead);
});

await claim('the page of a task has its history, people, defects and what is allowed', async () => {
    await lead.goto(`${server.url}/tasks/${tasks.cable.id}`);
    await lead.waitForSelector('.log li');
    const log = await lead.$$eval('.log li', (all) => all.map((row) => row.textContent));
    equal(log.some((row) => row.includes('Barbara asked for help: access') && row.includes('room 209 is locked')), true, log.join('\n'));
    equal(log.some((row) => row.includes('Lena sent it back') && row.includes('handed in → in progress')), true, log.join('\n'));
    equal(log.at(-1).includes('Lena made the task'), true);
    await lead.waitForSelector('.defect:has-text("2 clamps are missing")');
    await lead.waitForSelector('.deps .dep:has-text("Test circuits")');
    equal((await lead.textContent('.taskside')).includes('Tony'), true, 'who helps');
    const offered = await lead.$$eval('.taskside .sect:first-child .btn', (all) => all.map((b) => b.textContent));
    equal(offered, ['Reassign…', 'Recall to the pool…', 'Split…', 'Change…', 'Cancel the task…']);
    equal(await complaintsOf(lead), []);
    await lead.fill('.taskside textarea', 'The key is at the gate.');
    await lead.click('.btn:has-text("Add the comment")');
    await lead.waitForSelector('.comment:has-text("The key is at the gate.")');
    quiet(lead);
});

await claim('a refusal is shown in the server\'s words, and the page shows how the task stands now', async () => {
    await lead.click('.taskside .btn:has-text("Recall to the pool…")');
    equal(await lead.textContent('[role=dialog] .acts .btn.ink'), 'Missing: Reason');
    await lead.fill('#field-reason', 'the shift is over');
    await move('Barbara', 'cable', 'submit');
    await lead.waitForSelector('.ttl .st:has-text("handed in")');
    await lead.click('[role=dialog] .btn.ink');
    await lead.waitForSelector('[role=dialog] .refuse');
    equal((await lead.textContent('.refuse')).includes('409'), true, await lead.textContent('.refuse'));
    equal(await lead.inputValue('#field-reason'), 'the shift is over', 'what was typed is kept');
    await lead.keyboard.press('Escape');
    quiet(lead);
});

await claim('an executor on a phone takes a task, starts it, asks for help and hands it in', async () => {
    await phone.waitForSelector('.poolcard');
    equal(new URL(phone.url()).pathname, '/planner', 'the pool is where an executor begins');
    const titles = await phone.$$eval('.poolcard .title', (all) => all.map((e) => e.textContent));
    equal(titles.includes('Pressure test, riser 3'), false, 'only what fits the trade');
    equal(await phone.$('.attention'), null, 'what others ask for is for who leads');
    equal([await phone.textContent('.bar h1'), await phone.$$eval('.tabbar .active', (all) => all.map((a) => a.textContent))], ['Pool', ['Pool']]);
    equal((await phone.textContent('.poolcard:has-text("Wire the fire panel")')).includes('needs skill 7, yours is 3'), true);
    equal(await complaintsOf(phone), []);
    equal(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'nothing is wider than the phone');
    await phone.click('.poolcard:has-text("Fix: 2 clamps") .poolhead, .poolcard:has-text("Seal windows") .poolhead');
    await phone.click('.poolcard.open .btn:has-text("Take it")');
    await until('it is Tony\'s', async () => (await as(people.Tony.token, 'GET', '/tasks?assigned_to=me')).items.length === 1);
    await phone.waitForSelector('.why .btn.ink:has-text("Start")');
    equal(new URL(phone.url()).searchParams.get('view'), 'mine', 'who takes a task goes on with it');
    await phone.click('.tabbar a:has-text("Shift")');
    await phone.waitForSelector('.trow.shifts');
    equal(await phone.$$eval('.tabbar .active', (all) => all.map((a) => a.textContent)), ['Shift']);
    await phone.click('.tabbar a:has-text("My task")');
    await phone.waitForSelector('.why .btn.ink');
    equal(await phone.$$eval('.tabbar .active', (all) => all.map((a) => a.textContent)), ['My task']);
    await phone.click('.why .btn.ink:has-text("Start")');
    await phone.waitForSelector('.why .btn.ink:has-text("Hand it in")');
    await phone.click('.taskside .btn:has-text("I need help…")');
    await phone.click('.chips button:has-text("material")');
    await phone.fill('#field-message', 'the clamps are missing');
    equal(await complaintsOf(phone), []);
    await phone.click('[role=dialog] .btn.ink');
    await phone.waitForSelector('.why.held');
    await phone.click('.why .btn.ink:has-text("Hand it in")');
    const mine = (await as(people.Tony.token, 'GET', '/tasks?assigned_to=me')).items[0];
    if (mine.fix_of_task_id) {
        await phone.fill('#field-how_fixed', 'two clamps, 40 cm apart');
        await phone.click('[role=dialog] .btn.ink');
    }
    await until('it is handed in', async () => (await as(people.Tony.token, 'GET', `/tasks/${mine.id}`)).status === 'submitted');
    quiet(phone);
});

await claim('a task that a process waits for asks for its form when it is handed in', async () => {
    equal((await server.asAdmin('POST', '/import', { items: [{ kind: 'scenario', code: 'paint', steps: [{ code: 'work', procedure: { type: 'task.create', title: 'Paint the door', wait: true, form: [{ name: 'litres', type: 'number', required: true }] } }] }] })).status, 200);
    const x = (await server.asAdmin('POST', '/executions', { code: 'paint' })).body;
    const waiting = await until('it waits', async () => (await server.asAdmin('GET', `/executions/${x.id}`)).body.waitingFor?.taskId);
    tasks.door = { id: waiting };
    // Tony's first task is accepted, so that he is free.
    const [mine] = (await as(people.Tony.token, 'GET', '/tasks?assigned_to=me&status=submitted')).items;
    if (mine) await as(people.Lena.token, 'POST', `/tasks/${mine.id}/transitions`, { action: 'review_approve', client_event_id: 'door', expected_row_version: mine.row_version });
    await move('Tony', 'door', 'self_assign');
    await move('Tony', 'door', 'start');
    await phone.goto(`${server.url}/tasks/${waiting}`);
    await phone.click('.why .btn.ink:has-text("Hand it in")');
    await phone.click('[role=dialog] .btn.ink');
    await phone.waitForSelector('[role=dialog] .err');
    await phone.fill('#field-litres', '1.5');
    await phone.click('[role=dialog] .btn.ink');
    await phone.waitForFunction(() => !document.querySelector('[role=dialog]'));
    await move('Lena', 'door', 'review_approve');
    await until('the process has it', async () => (await server.asAdmin('GET', `/executions/${x.id}`)).body.status === 'completed');
    quiet(phone);
});

await claim('the end of a shift says what goes back to the pool', async () => {
    await lead.goto(`${server.url}/planner/shifts`);
    await lead.waitForSelector('.trow.shifts');
    equal(await complaintsOf(lead), []);
    await lead.click('.trow .btn:has-text("End shift…")');
    await lead.waitForSelector('.given li');
    const given = await lead.$$eval('.given .m5', (all) => all.map((e) => e.textContent).sort());
    equal(given, ['Fit basins, room 208', 'Mount sockets, room 216', 'Weld riser 4']);
    await lead.fill('#handover', 'tools are in the store');
    await lead.click('[role=dialog] .btn.ink');
    await lead.waitForSelector('.trow:has-text("ended")');
    await until('the tasks are back', async () => (await task('riser')).status === 'available');
    equal((await task('riser')).handover_note, 'tools are in the store');
    await lead.click('.bar .btn:has-text("Start a shift…")');
    await lead.fill('#shift-name', 'Night shift');
    await lead.click('.btn.link:has-text("everybody")');
    await lead.click('[role=dialog] .btn.ink');
    await lead.waitForSelector('.trow:has-text("Night shift")');
    quiet(lead);
});

await claim('a supervisor changes the policy; nobody is led to pages that refuse', async () => {
    const page = await openPage(browser, server);
    await page.goto(signInUrl(server, '/', people.Sven.token));
    await page.waitForSelector('.board');
    equal(await page.$$eval('.nav a.item', (all) => all.map((a) => a.getAttribute('href'))), ['/inbox', '/planner', '/planner/shifts', '/settings']);
    await page.goto(`${server.url}/settings`);
    await page.fill('#min_skill_to_take', '2');
    await page.click('.policy .btn.ink');
    await page.waitForSelector('.policy [role=status]');
    equal((await as(server.token, 'GET', '/planner/policy')).min_skill_to_take, 2);
    equal(await complaintsOf(page), []);
    quiet(page);
    await page.context().close();
});

await claim('in the dark and in Russian the board is readable', async () => {
    await lead.emulateMedia({ colorScheme: 'dark' });
    await lead.evaluate(() => localStorage.setItem('pawl.language', 'ru'));
    await lead.goto(`${server.url}/planner`);
    await lead.waitForSelector('.tcard');
    equal(await complaintsOf(lead), []);
    await lead.goto(`${server.url}/tasks/${tasks.cable.id}`);
    await lead.waitForSelector('.log li');
    equal(await complaintsOf(lead), []);
    quiet(lead);
});

await browser.close();
await server.stop();
end();
