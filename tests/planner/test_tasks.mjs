// Tasks and what is around them: idempotency, versions, organisations, dependencies, holds,
// contributors, defects, inspections, shifts, time; on both stores.
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { Server } from '../lib/server.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { Person, crew, newOrg, taskIn, listen } from './people.mjs';

const soon = (ms) => new Date(Date.now() + ms).toISOString();

/** What the store says to a statement that it refuses; null when it takes it. */
function refusal(rig, text) {
    try {
        rig.sql(text);
        return null;
    } catch (error) {
        return `${error.stderr}`;
    }
}

// --- idempotency and versions ---

claim('an event that is sent again has the first answer, whatever became of the task', async (rig) => {
    const { owner, lead } = await crew(rig);
    const task = await lead.task();
    const event = { client_event_id: 'once', expected_row_version: task.row_version };
    const first = await owner.move(task, 'self_assign', { note: 'mine', empty: null }, event);
    equal(first.status, 200, JSON.stringify(first.body));
    await owner.moved(first.body.task, 'start');
    const again = await owner.move(task, 'self_assign', { fix_task_id: 'x', note: 'mine' }, event);
    equal([again.status, again.body], [200, first.body], 'nulls and what the server makes are not compared');
    equal((await lead.get(`/tasks/${task.id}/transitions`)).items.length, 2, 'nothing was done twice');
    refused(await owner.move(task, 'self_assign', { note: 'other' }, event), 409, 'idempotency_conflict');
    refused(await owner.move(task, 'submit', { note: 'mine' }, event), 409, 'idempotency_conflict');
    refused(await lead.move(task, 'self_assign', { note: 'mine' }, event), 409, 'idempotency_conflict');
    const other = await lead.task();
    equal((await lead.move(other, 'cancel', { reason: 'x' }, { client_event_id: 'once' })).status, 200, 'an event is of one task');
    await lead.moved(await lead.get(`/tasks/${task.id}`), 'cancel', { reason: 'over' });
});

claim('a refused request does not use up its event', async (rig) => {
    const { owner, lead } = await crew(rig);
    const task = await lead.task();
    const event = { client_event_id: 'try', expected_row_version: 77 };
    const stale = refused(await owner.move(task, 'self_assign', {}, event), 409, 'version_conflict');
    equal(stale.current_row_version, task.row_version);
    equal((await owner.move(task, 'self_assign', {}, { client_event_id: 'try' })).status, 200);
    await lead.moved(await lead.get(`/tasks/${task.id}`), 'cancel', { reason: 'over' });
});

claim('the order of the checks: task, event, action, role, version, transition, payload, guard', async (rig) => {
    const { owner, other, lead } = await crew(rig);
    const task = await lead.task({ min_skill: 9 });
    const stale = { expected_row_version: 5 };
    refused(await lead.move({ id: 'no-such', row_version: 1 }, 'nonsense'), 404, 'not_found');
    refused(await lead.move(task, 'nonsense', {}, stale), 422, 'unknown_action');
    refused(await lead.move(task, 'block', {}, stale), 422, 'unknown_action');
    refused(await owner.move(task, 'qc_pass', {}, stale), 422, 'action_forbidden');
    refused(await owner.move(task, 'cancel', {}, stale), 403, 'forbidden');
    refused(await lead.move(task, 'review_reject', {}, stale), 409, 'version_conflict');
    refused(await lead.move(task, 'review_reject', {}), 422, 'transition_not_allowed');
    refused(await lead.move(task, 'cancel', {}), 422, 'validation_error');
    refused(await lead.move(task, 'assign', { assign_to: '' }), 422, 'validation_error');
    equal(refused(await other.move(task, 'self_assign'), 422, 'guard_failed').guard, 'skill');
    for (const missing of ['client_event_id', 'expected_row_version'])
        refused(await lead.move(task, 'cancel', { reason: 'x' }, { [missing]: undefined }), 422, 'validation_error');
});

claim('guards: skill, trade, work in progress, assignee', async (rig) => {
    const { owner, other, lead } = await crew(rig);
    const novice = await Person.make(rig, 'executor', { skill_level: 2, specializations: ['weld'] });
    const task = await lead.task({ required_trade: 'paint' });
    const guard = async (answer) => refused(await answer, 422, 'guard_failed').guard;
    equal(await guard(novice.move(task, 'self_assign')), 'skill');
    equal(await guard(owner.move(task, 'self_assign')), 'trade');
    equal(await guard(lead.move(task, 'assign', { assign_to: owner.id })), 'trade');
    equal(await guard(lead.move(task, 'assign', { assign_to: lead.id })), 'assignee');
    equal(await guard(lead.move(task, 'assign', { assign_to: newOrg() })), 'assignee');
    const first = await owner.moved(await lead.task(), 'self_assign');
    equal(await guard(owner.move(await lead.task(), 'self_assign')), 'wip');
    equal(await guard(lead.move(await lead.task(), 'assign', { assign_to: owner.id })), 'wip');
    const second = await other.moved(await lead.task(), 'self_assign');
    equal(await guard(lead.move(second, 'reassign', { assign_to: owner.id, reason: 'r' })), 'wip');
    // Submitted work counts as well: a rejection must not make two of it.
    const submitted = await owner.moved(await owner.moved(first, 'start'), 'submit');
    equal(await guard(owner.move(await lead.task(), 'self_assign')), 'wip');
    await lead.moved(submitted, 'review_approve');
    const taken = await owner.moved(await lead.task({ required_trade: 'weld' }), 'self_assign');
    for (const t of [taken, second]) await lead.moved(t, 'cancel', { reason: 'over' });
});

claim('a reassignment is a recall and an assignment under one event', async (rig) => {
    const people = await crew(rig);
    const { lead, owner, other } = people;
    const task = await taskIn(people, 'in_progress');
    const answer = await lead.move(task, 'reassign', { assign_to: other.id, reason: 'ill' });
    equal([answer.status, answer.body.task.assigned_to, answer.body.task.status], [200, other.id, 'assigned']);
    equal([answer.body.task.row_version, answer.body.task.contributors], [task.row_version + 2, []]);
    const [assign, recall] = (await lead.get(`/tasks/${task.id}/transitions`)).items;
    equal([recall.action, assign.action, recall.client_event_id === assign.client_event_id], ['recall_to_pool', 'assign', true]);
    refused(await owner.move(answer.body.task, 'start'), 422, 'guard_failed');
    await lead.moved(answer.body.task, 'cancel', { reason: 'over' });
});

// --- the log ---

claim('the log of transitions cannot be changed, not even by SQL', async (rig) => {
    const { lead } = await crew(rig);
    const task = await lead.moved(await lead.task(), 'cancel', { reason: 'x' });
    const again = rig.store
        ? `INSERT INTO task_transitions OVERRIDING SYSTEM VALUE SELECT * FROM task_transitions WHERE task_id = '${task.id}' ON CONFLICT (id) DO UPDATE SET action = 'start'`
        : `INSERT OR REPLACE INTO task_transitions SELECT * FROM task_transitions WHERE task_id = '${task.id}'`;
    for (const text of [`UPDATE task_transitions SET action = 'start' WHERE task_id = '${task.id}'`, `DELETE FROM task_transitions WHERE task_id = '${task.id}'`, again]) {
        const error = refusal(rig, text);
        check(error?.includes('append-only'), `${text}: ${error}`);
    }
    equal((await lead.get(`/tasks/${task.id}/transitions`)).items[0].payload, { reason: 'x' });
});

claim('the database itself refuses two tasks of one owner, and an owner in the pool', async (rig) => {
    const { owner, lead } = await crew(rig);
    const taken = await owner.moved(await lead.task(), 'self_assign');
    const free = await lead.task();
    for (const text of [
        `UPDATE tasks SET status = 'assigned', assigned_to = '${owner.id}' WHERE id = '${free.id}'`,
        `UPDATE tasks SET assigned_to = '${owner.id}' WHERE id = '${free.id}'`,
        `UPDATE tasks SET assigned_to = NULL WHERE id = '${taken.id}'`,
        `UPDATE tasks SET status = 'planned' WHERE id = '${free.id}'`,
    ])
        check(refusal(rig, text) !== null, text);
    await lead.moved(taken, 'cancel', { reason: 'over' });
});

// --- tasks ---

claim('a task is made, changed under its version and deleted; its status is read-only', async (rig) => {
    const { lead, owner } = await crew(rig);
    const due = soon(3600e3);
    const task = await lead.task({ title: 'weld', project_id: 'hall', priority: 7, min_skill: 4, due_at: due, description: 'the beam' });
    equal([task.title, task.project_id, task.priority, task.min_skill, task.status, task.row_version, new Date(task.due_at).toISOString()],
        ['weld', 'hall', 7, 4, 'available', 1, due]);
    refused(await owner.ask('POST', '/tasks', { title: 'x' }), 403, 'forbidden');
    refused(await lead.ask('POST', '/tasks', { titel: 'x' }), 422, 'validation_error');
    refused(await lead.ask('POST', '/tasks', { title: 'x', priority: 'high' }), 422, 'validation_error');
    refused(await lead.ask('POST', '/tasks', { title: 'x', depends_on: ['nobody'] }), 422, 'validation_error');
    refused(await lead.ask('POST', '/tasks', { title: 'x', deliverable_id: 'nothing' }), 422, 'validation_error');
    const path = `/tasks/${task.id}`;
    refused(await lead.ask('PATCH', path, { status: 'done', expected_row_version: 1 }), 422, 'status_is_read_only');
    refused(await lead.ask('PATCH', path, { title: 'y' }), 422, 'validation_error');
    equal(refused(await lead.ask('PATCH', path, { title: 'y', expected_row_version: 9 }), 409, 'version_conflict').current_row_version, 1);
    refused(await owner.ask('PATCH', path, { title: 'y', expected_row_version: 1 }), 403, 'forbidden');
    const patched = await lead.ask('PATCH', path, { title: 'y', due_at: null, priority: 1, expected_row_version: 1 });
    equal([patched.status, patched.body.title, patched.body.due_at, patched.body.priority, patched.body.row_version, patched.body.description],
        [200, 'y', null, 1, 2, 'the beam']);
    refused(await owner.ask('DELETE', path), 403, 'forbidden');
    equal((await lead.ask('DELETE', path)).status, 204);
    refused(await lead.ask('GET', path), 404, 'not_found');
});

claim('what somebody worked on, or what others wait for, is not deleted', async (rig) => {
    const people = await crew(rig);
    const { lead } = people;
    const owned = await taskIn(people, 'assigned');
    refused(await lead.ask('DELETE', `/tasks/${owned.id}`), 409, 'conflict');
    const back = await lead.moved(owned, 'recall_to_pool', { reason: 'r', handover_note: 'half done' });
    equal([back.handover_note, back.recall_reason, back.assigned_to], ['half done', 'r', null]);
    refused(await lead.ask('DELETE', `/tasks/${back.id}`), 409, 'conflict');
    const first = await lead.task();
    await lead.task({ depends_on: [first.id] });
    refused(await lead.ask('DELETE', `/tasks/${first.id}`), 409, 'conflict');
});

claim('the pool: by priority, then the oldest; an executor sees what fits', async (rig) => {
    const org = newOrg();
    const people = await crew(rig, { org_id: org });
    const { lead, owner } = people;
    const novice = await Person.make(rig, 'executor', { org_id: org, skill_level: 2, specializations: ['weld'] });
    for (const [title, priority, required_trade] of [['a', 1, 'weld'], ['b', 5, 'paint'], ['c', 5, null], ['d', 9, 'weld'], ['e', 1, null]])
        await lead.task({ title, priority, required_trade: required_trade ?? undefined });
    await taskIn(people, 'blocked', { title: 'f' });
    const titles = async (person, query = '') => (await person.get(`/tasks/pool${query}`)).items.map((t) => t.title).join('');
    equal(await titles(lead), 'dbcae');
    equal(await titles(owner), 'dcae');
    equal(await titles(novice), '');
    const page = await lead.get('/tasks/pool?limit=2');
    equal(page.items.map((t) => t.title), ['d', 'b']);
    equal(await titles(lead, `?limit=2&cursor=${encodeURIComponent(page.nextCursor)}`), 'ca');
    refused(await lead.ask('GET', '/tasks/pool?cursor=nonsense'), 400, 'bad_request');
});

claim('lists of tasks are filtered', async (rig) => {
    const org = newOrg();
    const people = await crew(rig, { org_id: org });
    const { lead, owner } = people;
    await lead.task({ title: 'Late paint', project_id: 'p', required_trade: 'paint', due_at: '2020-01-01T00:00:00Z' });
    await taskIn(people, 'in_progress', { title: 'Weld it', project_id: 'p' });
    await taskIn(people, 'canceled', { title: 'Gone' });
    const titles = async (query) => (await lead.get(`/tasks?${query}`)).items.map((t) => t.title);
    equal(await titles(''), ['Gone', 'Weld it', 'Late paint']);
    equal(await titles('status=canceled'), ['Gone']);
    equal(await titles('project_id=p'), ['Weld it', 'Late paint']);
    equal(await titles(`assigned_to=${owner.id}&status=in_progress`), ['Weld it']);
    equal(await titles('required_trade=paint'), ['Late paint']);
    equal(await titles('overdue=true'), ['Late paint']);
    equal(await titles('q=weld'), ['Weld it']);
    const cable = await lead.task({ title: 'Проложить Кабель в ЦЕХЕ Ёлка ÄÖ' });
    for (const q of ['кабель', 'КАБЕЛЬ', 'цехе', 'ёЛКА', 'äö', 'ПРОЛОЖИТЬ КАБЕЛЬ']) equal(await titles(`q=${encodeURIComponent(q)}`), [cable.title], q);
    for (const q of [cable.id, cable.id.slice(-12), cable.id.slice(-12).toUpperCase()]) equal(await titles(`q=${q}`), [cable.title], q);
    for (const q of ['кобель', 'x%', cable.id.slice(0, 13)]) equal(await titles(`q=${encodeURIComponent(q)}`), [], q);
    await lead.ask('DELETE', `/tasks/${cable.id}`);
    equal((await owner.get('/tasks?assigned_to=me')).items.length, 1);
    refused(await lead.ask('GET', '/tasks?status=planned'), 400, 'bad_request');
    refused(await lead.ask('GET', '/tasks?color=red'), 400, 'bad_request');
    await until('the overdue one needs attention', async () => (await titles('needs_attention=true')).includes('Late paint'));
});

// --- dependencies and holds ---

claim('a task opens when the last one it waits for is done, in the same moment', async (rig) => {
    const people = await crew(rig);
    const { lead, owner, other } = people;
    const [a, b] = [await lead.task(), await lead.task()];
    const both = await lead.task({ depends_on: [a.id, b.id] });
    equal([both.status, both.unmet_dependencies, both.depends_on.length], ['blocked', 2, 2]);
    const finish = async (person, task) => {
        for (const action of ['self_assign', 'start', 'submit']) task = await person.moved(task, action);
        return lead.moved(task, 'review_approve');
    };
    await finish(owner, a);
    equal((await lead.get(`/tasks/${both.id}`)).status, 'blocked');
    await finish(other, b);
    const opened = await lead.get(`/tasks/${both.id}`);
    equal([opened.status, opened.unmet_dependencies], ['available', 0]);
    const [row] = (await lead.get(`/tasks/${both.id}/transitions`)).items;
    equal([row.action, row.actor_role, row.actor_id, row.client_event_id], ['unblock', 'system', null, null]);
});

claim('a canceled predecessor blocks until the dependency is taken away', async (rig) => {
    const { lead } = await crew(rig);
    const a = await lead.task();
    const b = await lead.task({ depends_on: [a.id] });
    await lead.moved(a, 'cancel', { reason: 'no' });
    equal((await lead.get(`/tasks/${b.id}`)).status, 'blocked');
    equal((await lead.ask('DELETE', `/tasks/${b.id}/dependencies/${a.id}`)).status, 204);
    equal((await lead.get(`/tasks/${b.id}`)).status, 'available');
    refused(await lead.ask('DELETE', `/tasks/${b.id}/dependencies/${a.id}`), 404, 'not_found');
});

claim('a dependency blocks, a cycle is refused', async (rig) => {
    const { lead, owner } = await crew(rig);
    const [a, b, c] = [await lead.task(), await lead.task(), await lead.task()];
    const on = (x, y, who = lead) => who.ask('POST', `/tasks/${x.id}/dependencies`, { depends_on: y.id });
    refused(await on(b, a, owner), 403, 'forbidden');
    const answer = await on(b, a);
    equal([answer.status, answer.body.status], [201, 'blocked']);
    equal((await lead.get(`/tasks/${b.id}/transitions`)).items[0].action, 'block');
    equal((await on(c, b)).status, 201);
    refused(await on(a, c), 422, 'validation_error');
    refused(await on(a, a), 422, 'validation_error');
    refused(await on(a, { id: 'nobody' }), 422, 'validation_error');
});

claim('holds block and release; what is assigned stays so, and goes back to blocked', async (rig) => {
    const people = await crew(rig);
    const { lead, owner } = people;
    const task = await lead.task();
    const hold = await lead.ask('POST', `/tasks/${task.id}/holds`, { type: 'material', reason: 'no steel' });
    equal([hold.status, hold.body.type, hold.body.reason, hold.body.created_by], [201, 'material', 'no steel', lead.id]);
    equal((await lead.get(`/tasks/${task.id}`)).status, 'blocked');
    refused(await owner.ask('DELETE', `/tasks/${task.id}/holds/${hold.body.id}`), 403, 'forbidden');
    equal((await lead.ask('DELETE', `/tasks/${task.id}/holds/${hold.body.id}`)).status, 204);
    equal((await lead.get(`/tasks/${task.id}`)).status, 'available');
    refused(await lead.ask('POST', `/tasks/${task.id}/holds`, { type: 'weather' }), 422, 'validation_error');
    const running = await taskIn(people, 'in_progress');
    equal((await lead.ask('POST', `/tasks/${running.id}/holds`, { type: 'area' })).status, 201);
    const same = await lead.get(`/tasks/${running.id}`);
    equal(same.status, 'in_progress');
    equal((await lead.moved(same, 'recall_to_pool', { reason: 'r' })).status, 'blocked');
});

claim('a hold ends by itself when its time has come', async (rig) => {
    const { lead } = await crew(rig);
    const task = await lead.task();
    equal((await lead.ask('POST', `/tasks/${task.id}/holds`, { type: 'area', until: soon(300) })).status, 201);
    equal((await lead.get(`/tasks/${task.id}`)).status, 'blocked');
    await until('the hold is over', async () => (await lead.get(`/tasks/${task.id}`)).status === 'available');
});

claim('what a missed event left is mended, and counted', async (rig) => {
    const { lead } = await crew(rig);
    const task = await lead.task();
    rig.sql(`UPDATE tasks SET status = 'blocked' WHERE id = '${task.id}'`);
    // Every few minutes, and at the start of a server, all tasks are looked at.
    await rig.restart();
    await until('the task is open again', async () => (await lead.get(`/tasks/${task.id}`)).status === 'available');
    const metrics = (await rig.client.ask('GET', '/metrics')).raw;
    check(/pawl_planner_repairs_total [1-9]/.test(metrics), 'repairs are counted');
    equal((await lead.get(`/tasks/${task.id}/transitions`)).items[0].action, 'unblock');
});

// --- people ---

claim('contributors are invited, may leave, and never move a task', async (rig) => {
    const org = newOrg();
    const { lead, owner, other, contributor } = await crew(rig, { org_id: org });
    const expert = await Person.make(rig, 'executor', { org_id: org, skill_level: 9, specializations: ['weld'] });
    const task = await lead.task();
    const invite = (who, person) => who.ask('POST', `/tasks/${task.id}/contributors`, { user_id: person.id });
    refused(await invite(lead, contributor), 422, 'transition_not_allowed');
    const taken = await owner.moved(task, 'self_assign');
    equal(refused(await invite(owner, contributor), 422, 'guard_failed').guard, 'skill');
    equal(refused(await invite(other, contributor), 422, 'guard_failed').guard, 'owner');
    refused(await invite(lead, { id: 'nobody' }), 422, 'guard_failed');
    equal((await invite(lead, contributor)).body.contributors, [contributor.id]);
    const escalated = await contributor.moved(taken, 'escalate', { kind: 'access', message: 'no key' });
    equal([escalated.status, escalated.needs_attention], ['assigned', true]);
    refused(await contributor.move(escalated, 'start'), 422, 'guard_failed');
    refused(await other.ask('DELETE', `/tasks/${task.id}/contributors/${contributor.id}`), 403, 'forbidden');
    equal((await contributor.ask('DELETE', `/tasks/${task.id}/contributors/${contributor.id}`)).status, 204);
    const moved = await lead.moved(escalated, 'reassign', { assign_to: expert.id, reason: 'expert' });
    equal((await invite(expert, contributor)).status, 201, 'with the skill an owner may invite');
    await lead.moved(moved, 'cancel', { reason: 'over' });
});

claim('an escalation is acknowledged, and the task needs no attention any more', async (rig) => {
    const people = await crew(rig);
    const { lead, owner } = people;
    const task = await owner.moved(await taskIn(people, 'assigned'), 'escalate', { kind: 'help', message: 'heavy' });
    refused(await owner.move(task, 'escalate', { kind: 'boredom', message: 'x' }), 422, 'validation_error');
    const [escalation] = (await lead.get(`/tasks/${task.id}/escalations`)).items;
    equal([escalation.kind, escalation.message, escalation.created_by, escalation.acknowledged_at], ['help', 'heavy', owner.id, null]);
    const path = `/tasks/${task.id}/escalations/${escalation.id}/acknowledge`;
    refused(await owner.ask('POST', path), 403, 'forbidden');
    equal((await lead.ask('POST', path)).body.acknowledged_by, lead.id);
    equal((await lead.get(`/tasks/${task.id}`)).needs_attention, false);
    await lead.moved(await lead.get(`/tasks/${task.id}`), 'cancel', { reason: 'over' });
});

claim('comments are kept in order', async (rig) => {
    const { lead, other } = await crew(rig);
    const task = await lead.task();
    for (const [who, body] of [[lead, 'first'], [other, 'second']])
        equal((await who.ask('POST', `/tasks/${task.id}/comments`, { body })).status, 201);
    equal((await lead.get(`/tasks/${task.id}/comments`)).items.map((c) => [c.body, c.created_by]), [['second', other.id], ['first', lead.id]]);
    refused(await lead.ask('POST', `/tasks/${task.id}/comments`, { body: ' ' }), 422, 'validation_error');
});

// --- quality ---

claim('a rejected task may come with a defect and the task that fixes it', async (rig) => {
    const people = await crew(rig);
    const { lead, owner, other } = people;
    const task = await taskIn(people, 'submitted', { title: 'beam', required_trade: 'weld', project_id: 'hall' });
    const answer = await lead.move(task, 'review_reject', { reason: 'crack', defect: { description: 'a crack', what_to_fix: 'weld again' }, create_fix: true });
    equal([answer.status, answer.body.task.status, answer.body.task.reject_reason], [200, 'in_progress', 'crack']);
    let fix = answer.body.fix_task;
    equal([fix.fix_of_task_id, fix.status, fix.required_trade, fix.project_id], [task.id, 'available', 'weld', 'hall']);
    const defect = (await lead.get(`/tasks/${task.id}/defects`)).items[0];
    equal([defect.description, defect.what_to_fix, defect.status, defect.fix_task_id], ['a crack', 'weld again', 'open', fix.id]);
    fix = await other.moved(await other.moved(fix, 'self_assign'), 'start');
    equal(refused(await other.move(fix, 'submit'), 422, 'validation_error').errors[0].pointer, '/how_fixed');
    fix = await lead.moved(await other.moved(fix, 'submit', { how_fixed: 'ground and welded' }), 'review_approve');
    const fixed = await lead.get(`/defects/${defect.id}`);
    equal([fixed.status, fixed.how_fixed, fixed.fixed_by, fixed.fixed_at !== null], ['fixed', 'ground and welded', other.id, true]);
    await owner.moved(answer.body.task, 'submit');
    await lead.moved(await lead.get(`/tasks/${task.id}`), 'review_approve');
    const late = await lead.ask('POST', `/tasks/${task.id}/fixes`, { description: 'rust', what_to_fix: 'paint' });
    equal([late.status, late.body.task.fix_of_task_id, late.body.defect.fix_task_id === late.body.task.id], [201, task.id, true]);
    refused(await owner.ask('POST', `/tasks/${task.id}/fixes`, { description: 'x' }), 403, 'forbidden');
    refused(await lead.ask('POST', `/tasks/${late.body.task.id}/fixes`, { description: 'x' }), 422, 'transition_not_allowed');
});

claim('anyone who sees a task may report a defect, which moves nothing', async (rig) => {
    const { lead, other } = await crew(rig);
    const task = await lead.task();
    const answer = await other.ask('POST', `/tasks/${task.id}/report-defect`, { description: 'wet', what_to_fix: 'dry it' });
    equal([answer.status, answer.body.status, answer.body.reported_by, answer.body.fix_task_id], [201, 'open', other.id, null]);
    equal((await lead.get(`/tasks/${task.id}`)).row_version, task.row_version);
});

claim('an inspection looks at a deliverable and may ask for a fix; it never moves a task', async (rig) => {
    const { lead, owner } = await crew(rig);
    const made = await lead.ask('POST', '/deliverables', { title: 'wall', project_id: 'hall' });
    equal(made.status, 201);
    const task = await lead.task({ deliverable_id: made.body.id });
    const path = `/deliverables/${made.body.id}/qc-inspections`;
    refused(await owner.ask('POST', path, { result: 'passed' }), 403, 'forbidden');
    refused(await lead.ask('POST', path, { result: 'good' }), 422, 'validation_error');
    equal((await lead.ask('POST', path, { result: 'passed', measurements: { gap: 1 } })).status, 201);
    const failed = await lead.ask('POST', path, { result: 'failed', measurements: { gap: 9 }, defect: { description: 'gap' }, create_fix: true });
    equal(failed.status, 201);
    const fix = await lead.get(`/tasks/${failed.body.fix_task_id}`);
    equal([fix.deliverable_id, fix.status, fix.project_id], [made.body.id, 'available', 'hall']);
    equal((await lead.get(`/defects/${failed.body.defect_id}`)).inspection_id, failed.body.id);
    equal((await lead.get(path)).items.map((i) => [i.result, i.measurements]), [['failed', { gap: 9 }], ['passed', { gap: 1 }]]);
    equal((await lead.get(`/tasks/${task.id}`)).row_version, 1);
});

// --- shifts, splitting, policy ---

claim('the end of a shift releases what its members own, and leaves what is submitted', async (rig) => {
    const people = await crew(rig);
    const { lead, owner, other, contributor } = people;
    const running = await taskIn(people, 'in_progress');
    const assigned = await other.moved(await lead.task(), 'self_assign');
    let submitted = await lead.task();
    for (const action of ['self_assign', 'start', 'submit']) submitted = await contributor.moved(submitted, action);
    const shift = await lead.ask('POST', '/shifts', { name: 'day', members: [owner.id, other.id, contributor.id] });
    equal([shift.status, shift.body.members.length, shift.body.ended_at], [201, 3, null]);
    refused(await owner.ask('POST', `/shifts/${shift.body.id}/end`), 403, 'forbidden');
    const ended = await lead.ask('POST', `/shifts/${shift.body.id}/end`, { handover_note: 'lamps are on' });
    equal([ended.status, ended.body.ended_by], [200, lead.id]);
    for (const task of [running, assigned]) {
        const now = await lead.get(`/tasks/${task.id}`);
        equal([now.status, now.assigned_to, now.contributors, now.handover_note], ['available', null, [], 'lamps are on']);
        equal((await lead.get(`/tasks/${task.id}/transitions`)).items[0].actor_role, 'system');
    }
    equal((await lead.get(`/tasks/${submitted.id}`)).status, 'submitted');
    refused(await lead.ask('POST', `/shifts/${shift.body.id}/end`), 409, 'conflict');
    refused(await lead.ask('POST', '/shifts', { name: 'night', members: ['nobody'] }), 422, 'validation_error');
});

claim('a shift ends by itself when its time has come', async (rig) => {
    const people = await crew(rig);
    const { lead, owner } = people;
    const task = await taskIn(people, 'assigned');
    const shift = await lead.ask('POST', '/shifts', { name: 'short', members: [owner.id], ends_at: soon(300) });
    equal(shift.status, 201);
    await until('the task is back', async () => (await lead.get(`/tasks/${task.id}`)).status === 'available');
    check((await lead.get(`/shifts/${shift.body.id}`)).ended_at !== null, 'the shift has ended');
});

claim('a task that is split waits for its parts', async (rig) => {
    const people = await crew(rig);
    const { lead, owner } = people;
    const task = await taskIn(people, 'in_progress', { project_id: 'hall', priority: 3 });
    const body = { client_event_id: 'cut', expected_row_version: task.row_version, subtasks: [{ title: 'left' }, { title: 'right', priority: 9 }] };
    refused(await owner.ask('POST', `/tasks/${task.id}/split`, body), 403, 'forbidden');
    const answer = await lead.ask('POST', `/tasks/${task.id}/split`, body);
    equal([answer.status, answer.body.task.status, answer.body.task.assigned_to, answer.body.task.recall_reason], [200, 'blocked', null, 'split']);
    equal(answer.body.subtasks.map((t) => [t.title, t.parent_task_id, t.project_id, t.priority]), [['left', task.id, 'hall', 3], ['right', task.id, 'hall', 9]]);
    const again = await lead.ask('POST', `/tasks/${task.id}/split`, body);
    equal([again.status, again.body], [200, answer.body]);
    refused(await lead.ask('POST', `/tasks/${task.id}/split`, { ...body, subtasks: [{ title: 'other' }] }), 409, 'idempotency_conflict');
    refused(await lead.ask('POST', `/tasks/${task.id}/split`, { ...body, client_event_id: 'cut2', subtasks: [] }), 422, 'validation_error');
});

claim('many tasks are assigned, recalled and canceled at once; a dry run counts', async (rig) => {
    const org = newOrg();
    const { lead, owner, other, contributor } = await crew(rig, { org_id: org });
    const tasks = [];
    for (let i = 0; i < 4; i++) tasks.push(await lead.task({ project_id: 'many' }));
    const bulk = async (who, body) => (await who.ask('POST', '/tasks/bulk', body)).body;
    refused(await owner.ask('POST', '/tasks/bulk', { action: 'cancel', filter: {} }), 403, 'forbidden');
    equal((await bulk(lead, { action: 'assign', filter: { project_id: 'many' }, payload: { assign_to: [owner.id] }, dryRun: true })).matched, 4);
    const given = await bulk(lead, { action: 'assign', ids: tasks.map((t) => t.id), payload: { assign_to: [owner.id, other.id, contributor.id] } });
    equal([given.matched, given.done, given.failed], [4, 3, 1], JSON.stringify(given));
    equal((await lead.get('/tasks?status=assigned')).items.length, 3);
    const back = await bulk(lead, { action: 'recall_to_pool', filter: { project_id: 'many' }, payload: { reason: 'rain' } });
    equal([back.done, back.skipped], [3, 1], JSON.stringify(back));
    const gone = await bulk(lead, { action: 'cancel', filter: { status: 'available' }, payload: { reason: 'over' } });
    equal([gone.done, gone.failed], [4, 0], JSON.stringify(gone));
});

claim('those who listen are told of tasks of their organisation, once', async (rig) => {
    const { lead } = await crew(rig);
    const stranger = (await crew(rig, { org_id: newOrg() })).lead;
    await lead.task({ project_id: 'live' });
    const [mine, theirs] = [await listen(rig, lead, 'live'), await listen(rig, stranger, 'live')];
    await lead.task(); // of no project: the first hint that the server ever gives
    await lead.task({ project_id: 'quiet' });
    const task = await lead.task({ project_id: 'live' });
    await lead.moved(task, 'cancel', { reason: 'x' });
    /* What others did is looked for once a second: two looks later a hint has not come again. */
    const last = await lead.task({ project_id: 'live', due_at: soon(1) });
    await until('the time has come', async () => (await lead.get(`/tasks/${last.id}`)).needs_attention);
    await sleep(2200);
    equal(mine.hints(), [[task.id, 'available'], [task.id, 'canceled'], [last.id, 'available']]);
    equal(theirs.text.includes('data:'), false);
    mine.stop();
    theirs.stop();
});

claim('those who listen are told of what other servers do, and processes, and time', async (rig) => {
    const { lead, owner } = await crew(rig);
    const mine = await listen(rig, lead, 'shared');
    const held = await lead.task({ project_id: 'shared' });
    equal((await lead.ask('POST', `/tasks/${held.id}/holds`, { type: 'manual', until: soon(2000) })).status, 201);
    await until('the hold is over', () => mine.hints().filter(([id, status]) => id === held.id && status === 'available').length === 2);
    await rig.publish({ code: 'feeds', name: 'feeds', steps: [{ code: 's', procedure: { type: 'task.create', title: 't', project_id: 'shared', assign_to: owner.id } }] });
    const made = await until('the process has made it', async () => (await rig.api('POST', '/executions?wait=5s', { code: 'feeds' })).body.result);
    await until('the hint of it', () => mine.hints().some(([id, status]) => id === made.id && status === 'assigned'));
    if (rig.store) {
        const second = new Server(join(rig.folder, 'second'), { beside: rig.server, store: rig.store });
        check(await second.start(), second.log);
        const client = second.client();
        const answer = await client.ask('POST', `/api/v1/tasks/${held.id}/transitions`, { action: 'cancel', client_event_id: 'there', expected_row_version: (await lead.get(`/tasks/${held.id}`)).row_version, payload: { reason: 'x' } }, { Authorization: `Bearer ${lead.token}` });
        equal(answer.status, 200, JSON.stringify(answer.body));
        client.close();
        await until('the hint of the other server', () => mine.hints().some(([id, status]) => id === held.id && status === 'canceled'));
        equal(await second.stop(), 0);
    }
    mine.stop();
});

claim('the policy is of an organisation, and its supervisors change it', async (rig) => {
    const org = newOrg();
    const { lead, supervisor, owner } = await crew(rig, { org_id: org, skill_level: 2 });
    equal(await lead.get('/planner/policy'), { min_skill_to_take: 3, self_check_min_skill: 7, min_skill_to_invite: 8, allow_trade_override: false });
    refused(await lead.ask('PATCH', '/planner/policy', { min_skill_to_take: 1 }), 403, 'forbidden');
    const task = await lead.task({ required_trade: 'paint' });
    equal(refused(await owner.move(task, 'self_assign'), 422, 'guard_failed').guard, 'skill');
    equal((await supervisor.ask('PATCH', '/planner/policy', { min_skill_to_take: 1, self_check_min_skill: 2, allow_trade_override: true })).status, 200);
    equal((await lead.move(task, 'assign', { assign_to: owner.id })).status, 200, 'a lead may override the trade');
    let taken = await lead.get(`/tasks/${task.id}`);
    for (const action of ['start', 'submit', 'review_approve']) taken = await owner.moved(taken, action);
    equal([taken.status, taken.self_checked, taken.reviewed_by], ['done', true, null]);
});

claim('people of an organisation see who works in it, and nothing that is private', async (rig) => {
    const org = newOrg();
    const { lead, owner } = await crew(rig, { org_id: org, skill_level: 6, specializations: ['weld'] });
    const all = (await owner.get('/planner/people?limit=500')).items;
    equal(all.every((person) => Object.keys(person).join() === 'id,name,role,skill_level,specializations,active'), true, JSON.stringify(all[0]));
    const shown = all.find((person) => person.id === owner.id);
    equal([shown.role, shown.skill_level, shown.specializations, shown.active], ['executor', 6, ['weld'], true]);
    equal((await lead.get('/planner/people?role=lead')).items.map((person) => person.id), [lead.id]);
    refused(await lead.ask('GET', '/planner/people?role=cook'), 400, 'bad_request');
    const strangers = await crew(rig, { org_id: newOrg() });
    equal((await strangers.lead.get('/planner/people?limit=500')).items.some((person) => all.some((other) => other.id === person.id)), false, 'of another organisation nobody');
    const first = await lead.get('/planner/people?limit=1');
    equal((await lead.get(`/planner/people?limit=1&cursor=${first.nextCursor}`)).items[0].id === first.items[0].id, false, 'the next page goes on');
});

claim('nothing of another organisation can be seen or guessed', async (rig) => {
    const people = await crew(rig);
    const { lead, owner } = people;
    const strangers = await crew(rig, { org_id: newOrg() });
    const task = await taskIn(people, 'assigned');
    const deliverable = (await lead.ask('POST', '/deliverables', { title: 'x' })).body;
    const shift = (await lead.ask('POST', '/shifts', { name: 'x', members: [] })).body;
    const body = { type: 'manual', depends_on: task.id, user_id: owner.id, body: 'hi', description: 'x', result: 'passed', title: 'x', expected_row_version: 1, client_event_id: 'e', subtasks: [{ title: 'x' }], action: 'cancel' };
    const only = (...names) => Object.fromEntries(names.map((name) => [name, body[name]]));
    for (const [method, path, sent] of [
        ['GET', `/tasks/${task.id}`], ['PATCH', `/tasks/${task.id}`, only('title', 'expected_row_version')], ['DELETE', `/tasks/${task.id}`],
        ['POST', `/tasks/${task.id}/transitions`, only('action', 'client_event_id', 'expected_row_version')], ['GET', `/tasks/${task.id}/transitions`],
        ['POST', `/tasks/${task.id}/split`, only('client_event_id', 'expected_row_version', 'subtasks')],
        ['POST', `/tasks/${task.id}/holds`, only('type')], ['GET', `/tasks/${task.id}/holds`], ['DELETE', `/tasks/${task.id}/holds/x`],
        ['POST', `/tasks/${task.id}/dependencies`, only('depends_on')], ['DELETE', `/tasks/${task.id}/dependencies/x`],
        ['POST', `/tasks/${task.id}/contributors`, only('user_id')], ['DELETE', `/tasks/${task.id}/contributors/${owner.id}`],
        ['POST', `/tasks/${task.id}/comments`, only('body')], ['GET', `/tasks/${task.id}/comments`], ['GET', `/tasks/${task.id}/escalations`],
        ['POST', `/tasks/${task.id}/escalations/x/acknowledge`], ['POST', `/tasks/${task.id}/report-defect`, only('description')],
        ['GET', `/tasks/${task.id}/defects`], ['POST', `/tasks/${task.id}/fixes`, only('description')],
        ['GET', `/deliverables/${deliverable.id}`], ['GET', `/deliverables/${deliverable.id}/qc-inspections`],
        ['POST', `/deliverables/${deliverable.id}/qc-inspections`, only('result')], ['GET', `/shifts/${shift.id}`], ['POST', `/shifts/${shift.id}/end`],
    ])
        for (const who of ['lead', 'owner', 'system'])
            refused(await strangers[who].ask(method, path, sent), 404, 'not_found');
    for (const list of ['/tasks', '/tasks/pool', '/defects', '/deliverables', '/shifts'])
        equal((await strangers.lead.get(list)).items, [], list);
    const mine = await strangers.lead.task();
    refused(await strangers.lead.ask('POST', `/tasks/${mine.id}/dependencies`, { depends_on: task.id }), 422, 'validation_error');
    equal(refused(await strangers.lead.move(mine, 'assign', { assign_to: owner.id }), 422, 'guard_failed').guard, 'assignee');
    await lead.moved(task, 'cancel', { reason: 'over' });
});

await run(async () => {});
