// walk_planner.mjs - the part of the walk that goes through the planner; see walk.mjs.

import { NOBODY } from './walk_world.mjs';

let events = 0;
const event = (task, more = {}) => ({ client_event_id: `walk-${++events}`, expected_row_version: task.row_version, ...more });
const NOWHERE = { taskId: 'nothing' };

/** The answers that a change gives to a key that was used for another body, to nothing and to nonsense. */
async function walkChange(api, id, path, good, status, { bad = { x: 1 }, gone = NOWHERE } = {}) {
    const headers = { 'Idempotency-Key': `walk-planner-${++events}` };
    const made = await api.call(id, { path, body: good, headers }, status);
    await api.call(id, { path, body: JSON.stringify({ ...good, another: 1 }), headers }, 422);
    await api.call(id, { path, body: bad }, 422);
    if (gone) await api.call(id, { path: { ...path, ...gone }, body: good }, 404);
    return made.json;
}

/** A key that was used for something else. */
async function walkConflict(api, id, path, first, second) {
    const headers = { 'Idempotency-Key': `walk-planner-${++events}` };
    await api.call(id, { path, body: first, headers });
    await api.call(id, { path, body: second, headers }, 409);
}

async function walkLists(api, path) {
    for (const id of ['listTasks', 'listPool', 'listDefects', 'listDeliverables', 'listShifts', 'listPeople']) {
        await api.call(id, { query: { limit: 1 } }, 200);
        await api.call(id, { query: { cursor: 'x' } }, 400);
    }
    for (const id of ['listTransitions', 'listHolds', 'listComments', 'listEscalations', 'listTaskDefects', 'listDependencies', 'listContributors']) {
        await api.call(id, { path, query: { limit: 1 } }, 200);
        await api.call(id, { path: NOWHERE }, 404);
        await api.call(id, { path, query: { limit: 0 } }, 400);
    }
}

async function walkTasks(api, lead, worker) {
    const task = await walkChange(lead, 'createTask', {}, { title: 'walk' }, 201, { gone: null });
    await walkConflict(lead, 'createTask', {}, { title: 'a' }, { title: 'b' });
    const path = { taskId: task.id };
    await api.call('getTask', { path }, 200);
    await api.call('getTask', { path: NOWHERE }, 404);
    await walkChange(lead, 'changeTask', path, { title: 'walked', expected_row_version: 1 }, 200);
    await lead.call('changeTask', { path, body: { title: 'x', expected_row_version: 1 } }, 409);
    await lead.call('changeTask', { path, body: { status: 'done', expected_row_version: 2 } }, 422);

    const move = (who, current, action, payload, status = 200) =>
        who.call('moveTask', { path: { taskId: current.id }, body: event(current, { action, payload }) }, status);
    let now = (await api.call('getTask', { path }, 200)).json;
    await move(lead, { ...now, row_version: 1 }, 'cancel', { reason: 'x' }, 409);
    await move(lead, now, 'fly', {}, 422);
    await move(lead, { ...now, id: 'nothing' }, 'cancel', { reason: 'x' }, 404);
    await lead.call('moveTask', { path, body: {} }, 422);
    const moved = { path, body: event(now, { action: 'self_assign' }) };
    now = (await worker.call('moveTask', moved, 200)).json.task;
    await worker.call('moveTask', moved, 200);
    now = (await move(worker, now, 'escalate', { kind: 'help', message: 'x' })).json.task;
    return { path, now, move };
}

async function walkLinks(api, lead, path, user) {
    const hold = await walkChange(lead, 'holdTask', path, { type: 'manual' }, 201);
    await walkConflict(lead, 'holdTask', path, { type: 'manual' }, { type: 'area' });
    const held = { ...path, holdId: hold.id };
    await lead.call('releaseHold', { path: held, body: { x: 1 } }, 422);
    await walkConflict(lead, 'releaseHold', held, undefined, {});
    await lead.call('releaseHold', { path: held }, 404);
    const left = (await api.call('listHolds', { path }, 200)).json.items.filter((h) => h.released_at === null);
    for (const { id } of left) await lead.call('releaseHold', { path: { ...path, holdId: id } }, 204);

    const other = (await lead.call('createTask', { body: { title: 'first' } }, 201)).json;
    await walkChange(lead, 'addDependency', path, { depends_on: other.id }, 201);
    await walkConflict(lead, 'addDependency', path, { depends_on: other.id }, { depends_on: 'x' });
    const link = { ...path, dependsOn: other.id };
    await lead.call('removeDependency', { path: link, body: { x: 1 } }, 422);
    await walkConflict(lead, 'removeDependency', link, undefined, {});
    await lead.call('removeDependency', { path: link }, 404);
    await lead.call('addDependency', { path, body: { depends_on: other.id } }, 201);
    await lead.call('removeDependency', { path: link }, 204);

    await walkChange(lead, 'inviteContributor', path, { user_id: user.id }, 201);
    await walkConflict(lead, 'inviteContributor', path, { user_id: user.id }, { user_id: 'x' });
    const guest = { ...path, userId: user.id };
    await lead.call('removeContributor', { path: guest, body: { x: 1 } }, 422);
    await walkConflict(lead, 'removeContributor', guest, undefined, {});
    await lead.call('removeContributor', { path: guest }, 404);
    await lead.call('inviteContributor', { path, body: { user_id: user.id } }, 201);
    await lead.call('removeContributor', { path: guest }, 204);

    await walkChange(lead, 'commentTask', path, { body: 'hm' }, 201);
    await walkConflict(lead, 'commentTask', path, { body: 'a' }, { body: 'b' });
    const [escalation] = (await api.call('listEscalations', { path }, 200)).json.items;
    const seen = { ...path, escalationId: escalation.id };
    await lead.call('acknowledgeEscalation', { path: seen, body: { x: 1 } }, 422);
    await lead.call('acknowledgeEscalation', { path: seen, headers: { 'Idempotency-Key': 'walk-seen' } }, 200);
    await lead.call('acknowledgeEscalation', { path: seen, body: {}, headers: { 'Idempotency-Key': 'walk-seen' } }, 409);
    await lead.call('acknowledgeEscalation', { path: { ...seen, escalationId: 'nothing' } }, 404);
}

async function walkQuality(api, lead, path) {
    await walkChange(lead, 'reportDefect', path, { description: 'x' }, 201);
    await walkConflict(lead, 'reportDefect', path, { description: 'a' }, { description: 'b' });
    await walkChange(lead, 'createFix', path, { description: 'x', what_to_fix: 'y' }, 201);
    await walkConflict(lead, 'createFix', path, { description: 'a' }, { description: 'b' });
    const [defect] = (await api.call('listDefects', {}, 200)).json.items;
    await api.call('getDefect', { path: { defectId: defect.id } }, 200);
    await api.call('getDefect', { path: { defectId: 'x' } }, 404);
    const wall = await walkChange(lead, 'createDeliverable', {}, { title: 'wall' }, 201, { gone: null });
    await walkConflict(lead, 'createDeliverable', {}, { title: 'a' }, { title: 'b' });
    const at = { deliverableId: wall.id };
    await api.call('getDeliverable', { path: at }, 200);
    await api.call('getDeliverable', { path: { deliverableId: 'x' } }, 404);
    const gone = { deliverableId: 'x' };
    await walkChange(lead, 'inspectDeliverable', at, { result: 'failed', defect: { description: 'x' }, create_fix: true, measurements: [1] }, 201, { gone });
    await walkConflict(lead, 'inspectDeliverable', at, { result: 'passed' }, { result: 'failed' });
    await api.call('listInspections', { path: at, query: { limit: 1 } }, 200);
    await api.call('listInspections', { path: gone }, 404);
    await api.call('listInspections', { path: at, query: { limit: 0 } }, 400);
}

async function walkShifts(api, lead, user) {
    const shift = await walkChange(lead, 'startShift', {}, { name: 'day', members: [user.id], ends_at: '2999-01-01T00:00:00Z' }, 201, { gone: null });
    await walkConflict(lead, 'startShift', {}, { name: 'a' }, { name: 'b' });
    const at = { shiftId: shift.id };
    await api.call('getShift', { path: at }, 200);
    await api.call('getShift', { path: { shiftId: 'x' } }, 404);
    await lead.call('endShift', { path: at, body: { x: 1 } }, 422);
    await lead.call('endShift', { path: at, body: { handover_note: 'x' } }, 200);
    await lead.call('endShift', { path: at }, 409);
    await lead.call('endShift', { path: { shiftId: 'x' } }, 404);
}

async function walkPolicy(api) {
    await api.call('getPolicy', {}, 200);
    await api.call('getPolicy', { rawQuery: '?x=1' }, 400);
    await walkChange(api, 'changePolicy', {}, { min_skill_to_take: 3 }, 200, { gone: null });
    await walkConflict(api, 'changePolicy', {}, { min_skill_to_take: 3 }, { min_skill_to_take: 4 });
    await api.call('changePolicy', { body: { min_skill_to_take: 3 } }, 200);
}

export async function walkPlanner(api, holds) {
    const user = async (role, more = {}) => (await api.call('createUser', { body: { name: `walking ${role}`, role, ...more } }, 201)).json;
    const as = ({ token }) => ({ call: (id, request, ...rest) => api.call(id, { token, ...request }, ...rest) });
    const [leader, doer, guest] = [await user('lead'), await user('executor', { skill_level: 9 }), await user('executor', { skill_level: 9 })];
    const [lead, worker] = [as(leader), as(doer)];
    const { path, now, move } = await walkTasks(api, lead, worker);
    await walkLinks(api, lead, path, guest);
    let task = (await move(worker, now, 'start')).json.task;
    task = (await move(worker, task, 'submit')).json.task;
    const rejected = (await move(lead, task, 'review_reject', { reason: 'x', defect: { description: 'y' }, create_fix: true })).json;
    holds(rejected.fix_task.fix_of_task_id === task.id, 'a rejection may make a fix');
    task = (await move(worker, rejected.task, 'submit')).json.task;
    await walkQuality(api, lead, path);
    await walkLists(api, path);
    await move(lead, task, 'review_approve');

    const whole = (await lead.call('createTask', { body: { title: 'whole' } }, 201)).json;
    const cut = { path: { taskId: whole.id }, body: event(whole, { subtasks: [{ title: 'part' }] }) };
    await lead.call('splitTask', cut, 200);
    await lead.call('splitTask', { ...cut, body: { ...cut.body, subtasks: [{ title: 'other' }] } }, 409);
    await lead.call('splitTask', { ...cut, body: {} }, 422);
    await lead.call('splitTask', { ...cut, path: NOWHERE }, 404);

    const doomed = (await lead.call('createTask', { body: { title: 'doomed' } }, 201)).json;
    await lead.call('deleteTask', { path: { taskId: doomed.id }, body: { x: 1 } }, 422);
    await lead.call('deleteTask', { path: { taskId: task.id } }, 409);
    await lead.call('deleteTask', { path: { taskId: doomed.id } }, 204);
    await lead.call('deleteTask', { path: { taskId: doomed.id } }, 404);
    await lead.call('moveTasks', { body: { action: 'cancel', filter: { project_id: 'none' }, payload: { reason: 'x' } } }, 200);
    await lead.call('moveTasks', { body: { action: 'recall_to_pool', ids: [task.id, NOBODY], dryRun: true } }, 200);
    await lead.call('moveTasks', { body: { action: 'start', ids: [] } }, 422);
    await lead.call('moveTasks', { body: { action: 'assign' } }, 422);
    await walkConflict(lead, 'moveTasks', {}, { action: 'cancel', ids: [] }, { action: 'assign', ids: [] });
    await api.call('followTasks', { query: { project_id: 'p' } }, 200);
    await api.call('followTasks', { query: { after: 'x' } }, 400);
    await walkShifts(api, lead, doer);
    await walkPolicy(api);
}
