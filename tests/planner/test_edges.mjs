// test_edges.mjs - the planner at the edges of what it takes: values, filters, repeats, nodes.
import { randomUUID } from 'node:crypto';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { crew, listen, Person } from './people.mjs';

const org = randomUUID();
let people;
let boss;

const titles = async (query) => (await boss.get(`/tasks${query}`)).items.map((task) => task.title).sort().join();

claim('a patch that names the status says that it is read-only, to whom may patch', async (rig) => {
    const task = await boss.task();
    refused(await boss.ask('PATCH', `/tasks/${task.id}`, { status: 'done' }), 422, 'status_is_read_only');
    refused(await boss.ask('PATCH', `/tasks/${task.id}`, { status: 'done', expected_row_version: 9, x: 1 }), 422, 'status_is_read_only');
    refused(await people.owner.ask('PATCH', `/tasks/${task.id}`, { status: 'done', expected_row_version: 1 }), 403, 'forbidden');
    const stranger = await Person.make(rig, 'lead', { org_id: randomUUID() });
    refused(await stranger.ask('PATCH', `/tasks/${task.id}`, { status: 'done' }), 404, 'not_found');
    equal((await boss.get(`/tasks/${task.id}`)).row_version, 1);
});

claim('a priority is any integer, larger first', async () => {
    const project_id = randomUUID();
    for (const priority of [0, -5, 2147483647, -2147483647]) await boss.task({ title: `${priority}`, priority, project_id });
    const pages = [];
    let cursor = '';
    do {
        const page = await boss.get(`/tasks/pool?project_id=${project_id}&limit=1${cursor}`);
        pages.push(...page.items.map((task) => task.title));
        cursor = page.nextCursor && `&cursor=${encodeURIComponent(page.nextCursor)}`;
    } while (cursor);
    equal(pages, ['2147483647', '0', '-5', '-2147483647']);
    const task = await boss.task();
    equal((await boss.ask('PATCH', `/tasks/${task.id}`, { priority: -1, expected_row_version: 1 })).body.priority, -1);
    for (const priority of [1.5, '1', 1e10]) refused(await boss.ask('POST', '/tasks', { title: 'x', priority }), 422, 'validation_error');
});

claim('a skill is an integer from 1 to 10, and no task asks for more', async (rig) => {
    for (const skill_level of [0, 11, -1, 5.5, '5']) {
        const answer = await rig.api('POST', '/users', { name: 'x', role: 'executor', skill_level });
        equal(answer.status, 422, `skill_level ${skill_level}`);
        equal(answer.body.errors[0].pointer, '/skill_level');
    }
    for (const skill_level of [1, 10, null]) {
        const answer = await rig.api('POST', '/users', { name: 'x', role: 'executor', skill_level });
        equal([answer.status, answer.body.skill_level], [201, skill_level]);
    }
    refused(await boss.ask('POST', '/tasks', { title: 'x', min_skill: 11 }), 422, 'validation_error');
    equal((await boss.task({ min_skill: 10 })).min_skill, 10);
    const task = await boss.task();
    refused(await boss.ask('PATCH', `/tasks/${task.id}`, { min_skill: 11, expected_row_version: 1 }), 422, 'validation_error');
});

claim('a filter that is false leaves out what it names', async () => {
    const project_id = randomUUID();
    const late = await boss.task({ title: 'late', project_id, due_at: '2020-01-01T00:00:00Z' });
    await boss.task({ title: 'fine', project_id, due_at: '2100-01-01T00:00:00Z' });
    await boss.task({ title: 'undated', project_id });
    const ended = await boss.task({ title: 'ended', project_id, due_at: '2020-01-01T00:00:00Z' });
    await boss.moved(await boss.get(`/tasks/${ended.id}`), 'cancel', { reason: 'x' });
    equal(await titles(`?project_id=${project_id}&overdue=true`), 'late');
    equal(await titles(`?project_id=${project_id}&overdue=false`), 'ended,fine,undated');
    const owner = await Person.make(boss.rig, 'executor', { org_id: org, skill_level: 5 });
    let task = await owner.moved(await boss.task({ title: 'stuck', project_id }), 'self_assign');
    task = await owner.moved(task, 'escalate', { kind: 'help', message: 'm' });
    const calm = await titles(`?project_id=${project_id}&needs_attention=false`);
    check(!calm.includes('stuck') && calm.includes('fine') && calm.includes('undated'), calm);
    check((await titles(`?project_id=${project_id}&needs_attention=true`)).includes('stuck'), 'stuck needs attention');
    equal(await titles(`?assigned_to=${owner.id}&needs_attention=false`), '');
    const counted = await boss.ask('POST', '/tasks/bulk', { action: 'cancel', filter: { project_id, overdue: false }, payload: { reason: 'x' }, dryRun: true });
    equal(counted.body.matched, 4, JSON.stringify(counted.body));
    check((await boss.get(`/tasks/${late.id}`)).status === 'available', 'late is untouched');
});

claim('an escalation that is acknowledged again stays as it is', async () => {
    const owner = await Person.make(boss.rig, 'executor', { org_id: org, skill_level: 5 });
    const task = await owner.moved(await boss.task(), 'self_assign');
    await owner.moved(task, 'escalate', { kind: 'help', message: 'm' });
    const [escalation] = (await boss.get(`/tasks/${task.id}/escalations`)).items;
    const path = `/tasks/${task.id}/escalations/${escalation.id}/acknowledge`;
    const first = await boss.ask('POST', path);
    equal([first.status, first.body.acknowledged_by], [200, boss.id]);
    const again = await people.supervisor.ask('POST', path);
    equal([again.status, again.body], [200, first.body]);
    refused(await boss.ask('POST', `/tasks/${task.id}/escalations/${randomUUID()}/acknowledge`), 404, 'not_found');
});

claim('a shift does not end before it starts', async () => {
    const shift = { name: 'night', starts_at: '2030-01-02T00:00:00Z', ends_at: '2030-01-01T00:00:00Z' };
    const problem = refused(await boss.ask('POST', '/shifts', shift), 422, 'validation_error');
    equal(problem.errors[0].pointer, '/ends_at');
});

claim('in bulk an action that there is not, or that is of quality control, is refused as alone', async () => {
    const task = await boss.task();
    for (const [action, code] of [['fly', 'unknown_action'], ['qc_pass', 'action_forbidden']])
        refused(await boss.ask('POST', '/tasks/bulk', { action, ids: [task.id] }), 422, code);
    refused(await boss.ask('POST', '/tasks/bulk', { action: 'submit', ids: [task.id] }), 422, 'invalid');
});

claim('what was there before somebody listened is never hinted at, however much it is', async (rig) => {
    const tasks = await Promise.all(Array.from({ length: 120 }, () => boss.task({ project_id: 'many' })));
    for (const task of tasks) await boss.moved(task, 'cancel', { reason: 'x' });
    const hints = await listen(rig, boss, 'many');
    /* The log is looked at once a second, and a little of it again each time. */
    await sleep(2200);
    equal(hints.hints(), []);
    const last = await boss.task({ project_id: 'many' });
    await until('the hint', () => hints.hints().length > 0);
    equal(hints.hints(), [[last.id, 'available']]);
    hints.stop();
});

claim('what a task waits for and who takes part in it are lists, page by page', async (rig) => {
    const before = [await boss.task(), await boss.task(), await boss.task()].map((task) => task.id).sort();
    const waits = await boss.task({ depends_on: before });
    const first = await boss.get(`/tasks/${waits.id}/dependencies?limit=2`);
    const rest = await boss.get(`/tasks/${waits.id}/dependencies?limit=2&cursor=${first.nextCursor}`);
    equal([...first.items, ...rest.items].map((item) => item.depends_on), before);
    equal([first.items.length, rest.nextCursor], [2, null]);
    const [owner, helper] = [await Person.make(rig, 'executor', { org_id: org, skill_level: 5 }), await Person.make(rig, 'executor', { org_id: org, skill_level: 5 })];
    const task = await owner.moved(await boss.task(), 'self_assign');
    equal((await boss.get(`/tasks/${task.id}/contributors`)).items, []);
    equal((await boss.ask('POST', `/tasks/${task.id}/contributors`, { user_id: helper.id })).status, 201);
    equal((await boss.get(`/tasks/${task.id}/contributors`)).items, [{ user_id: helper.id }]);
    refused(await boss.ask('GET', `/tasks/${task.id}/contributors?cursor=x`), 400, 'bad_request');
    const stranger = await Person.make(rig, 'lead', { org_id: randomUUID() });
    for (const list of ['dependencies', 'contributors']) refused(await stranger.ask('GET', `/tasks/${task.id}/${list}`), 404, 'not_found');
});

claim('a refusal under an Idempotency-Key is answered, and the same again', async (rig) => {
    const worker = await Person.make(rig, 'executor', { org_id: org, skill_level: 1, specializations: ['weld'] });
    const stranger = await Person.make(rig, 'executor', { org_id: randomUUID(), skill_level: 5 });
    const [hard, open] = [await boss.task({ min_skill: 9 }), await boss.task()];
    const move = (task, action, more = {}) => ({ action, payload: {}, client_event_id: randomUUID(), expected_row_version: task.row_version, ...more });
    const requests = [
        [worker, 'POST', `/tasks/${hard.id}/transitions`, move(hard, 'self_assign'), 422],
        [boss, 'POST', `/tasks/${open.id}/transitions`, move(open, 'start'), 403],
        [worker, 'POST', `/tasks/${open.id}/transitions`, move(open, 'cancel', { payload: { reason: 'no' } }), 403],
        [boss, 'POST', `/tasks/${open.id}/transitions`, move(open, 'assign', { payload: { assign_to: stranger.id } }), 422],
        [worker, 'DELETE', `/tasks/${open.id}/holds/x`, undefined, 403],
        [boss, 'POST', '/shifts', { member_id: stranger.id, starts_at: '2030-01-01T08:00:00Z', ends_at: '2030-01-01T16:00:00Z' }, 422],
        [boss, 'POST', '/tasks', { title: 'x', deliverable_id: randomUUID() }, 422],
        [boss, 'POST', '/tasks', { title: 'x', depends_on: [randomUUID()] }, 422],
    ];
    for (const [person, method, path, body, status] of requests) {
        const key = { 'Idempotency-Key': randomUUID() };
        const [first, again, plain] = [await person.ask(method, path, body, key), await person.ask(method, path, body, key), await person.ask(method, path, body)];
        equal([first.status, again.status, plain.status], [status, status, status], `${method} ${path} ${JSON.stringify(body)} ${first.raw}`);
        const told = ({ code, detail, errors, guard }) => JSON.stringify({ code, detail, errors, guard });
        equal([told(first.body), told(again.body)], [told(plain.body), told(plain.body)]);
    }
});

await run(async (rig) => {
    people = await crew(rig, { org_id: org });
    boss = people.lead;
});
