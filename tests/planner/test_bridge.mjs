// Tasks that processes ask for (task.create): made, waited for, refused, canceled; on both stores.
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { Person, crew, newOrg } from './people.mjs';

let codes = 0;

/** A process of one step that asks for a task, started; answers the execution. */
async function ask(rig, task, more = {}, starter = rig) {
    const code = `bridge_${++codes}`;
    await rig.publish({
        code,
        name: code,
        onError: 'fail_fast',
        steps: [{ code: 'work', procedure: { type: 'task.create', title: 'Paint {{ input.what }}', ...task } }],
        ...more,
    });
    return start(starter, code);
}

async function start(starter, code, input = { what: 'the door' }) {
    const answer = await (starter.ask ? starter.ask('POST', '/executions', { code, input }) : starter.api('POST', '/executions', { code, input }));
    equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
}

const show = async (rig, execution) => (await rig.api('GET', `/executions/${execution.id}`)).body;
const ended = (rig, execution) => until('the execution has ended', async () => {
    const x = await show(rig, execution);
    return ['completed', 'failed', 'cancelled'].includes(x.status) && x;
});
/** The execution waits for a task; answers what it waits for. */
const waits = (rig, execution) => until('it waits for a task', async () => {
    const x = await show(rig, execution);
    check(!['completed', 'failed'].includes(x.status), JSON.stringify(x));
    return x.waitingFor?.kind === 'task' && x.waitingFor;
});

/** From the pool to the end. */
async function doIt(people, id, payload = {}) {
    let task = await people.lead.get(`/tasks/${id}`);
    if (task.status === 'available') task = await people.lead.moved(task, 'assign', { assign_to: people.owner.id });
    if (task.status === 'assigned') task = await people.owner.moved(task, 'start');
    task = await people.owner.moved(task, 'submit', payload);
    return people.lead.moved(task, 'review_approve');
}

claim('without wait the result is the created task, at once', async (rig) => {
    const { lead } = await crew(rig);
    const due = '2031-01-02T03:04:05Z';
    const before = await lead.task();
    const x = await ended(rig, await ask(rig, {
        project_id: 'p1', description: 'two coats', required_trade: 'paint', min_skill: 4, priority: 9, due_at: due, depends_on: [before.id],
    }));
    equal(x.status, 'completed', JSON.stringify(x));
    const made = await lead.get(`/tasks/${x.result.id}`);
    const fields = (t) => [t.title, t.project_id, t.description, t.required_trade, t.min_skill, t.priority, t.due_at, t.depends_on, t.status, t.execution_id];
    equal(fields(made), ['Paint the door', 'p1', 'two coats', 'paint', 4, 9, due, [before.id], 'blocked', x.id]);
    equal(fields(x.result), fields(made), 'the result is that task');
    equal([x.result.timedOut, made.created_by], [false, null]);
    equal((await lead.ask('DELETE', `/tasks/${made.id}`)).status, 204, 'nothing waits for it');
    await lead.moved(before, 'cancel', { reason: 'over' });
});

claim('with wait the step completes when the task is done, with the payload of its submission', async (rig) => {
    const people = await crew(rig);
    const x = await ask(rig, { wait: true, form: [{ name: 'litres', type: 'number', required: true }, { name: 'coats', type: 'integer', default: 2 }] });
    const waiting = await waits(rig, x);
    equal([waiting.step, waiting.title], ['work', 'Paint the door']);
    check(waiting.form?.length === 2, 'the form is shown');
    const task = await people.lead.get(`/tasks/${waiting.taskId}`);
    equal([task.status, task.execution_id, task.form.length, task.result], ['available', x.id, 2, null]);
    refused(await people.lead.ask('DELETE', `/tasks/${task.id}`), 409, 'conflict');
    await doIt(people, task.id, { litres: 1.5 });
    const end = await ended(rig, x);
    equal([end.status, end.result.status, end.result.result, end.result.timedOut], ['completed', 'done', { litres: 1.5, coats: 2 }, false]);
    equal(end.result.assigned_to, people.owner.id);
});

claim('a submission that does not fit the form: 422 with pointers, and nothing has changed', async (rig) => {
    const people = await crew(rig);
    const x = await ask(rig, { wait: true, form: [{ name: 'litres', type: 'number', required: true }, { name: 'why', type: 'string', requiredWhen: 'payload.litres > 10' }] });
    const { taskId } = await waits(rig, x);
    let task = await people.lead.moved(await people.lead.get(`/tasks/${taskId}`), 'assign', { assign_to: people.owner.id });
    task = await people.owner.moved(task, 'start');
    for (const [payload, pointer] of [[{}, '/payload/litres'], [{ litres: 'much' }, '/payload/litres'], [{ litres: 11 }, '/payload/why'], [{ litres: 1, colour: 'red' }, '/payload/colour']]) {
        const problem = refused(await people.owner.move(task, 'submit', payload), 422, 'validation_error');
        equal(problem.errors?.map((e) => e.pointer), [pointer], JSON.stringify(problem));
    }
    equal((await people.lead.get(`/tasks/${taskId}`)).row_version, task.row_version);
    await doIt(people, taskId, { litres: 11, why: 'large door' });
    equal((await ended(rig, x)).result.result, { litres: 11, why: 'large door' });
});

claim('a rejected submission does not count; the last one does', async (rig) => {
    const people = await crew(rig);
    const x = await ask(rig, { wait: true });
    const { taskId } = await waits(rig, x);
    let task = await people.lead.moved(await people.lead.get(`/tasks/${taskId}`), 'assign', { assign_to: people.owner.id });
    task = await people.owner.moved(task, 'start');
    task = await people.owner.moved(task, 'submit', { n: 1 });
    task = await people.lead.moved(task, 'review_reject', { reason: 'no' });
    task = await people.owner.moved(task, 'submit', { n: 2 });
    await people.lead.moved(task, 'review_approve');
    equal((await ended(rig, x)).result.result, { n: 2 });
});

claim('a canceled task completes the step with that status', async (rig) => {
    const { lead } = await crew(rig);
    const x = await ask(rig, { wait: true });
    const { taskId } = await waits(rig, x);
    await lead.moved(await lead.get(`/tasks/${taskId}`), 'cancel', { reason: 'no paint' });
    const end = await ended(rig, x);
    equal([end.status, end.result.status, end.result.cancel_reason, end.result.result], ['completed', 'canceled', 'no paint', null]);
});

claim('assign_to gives it to an executor at once; whom it cannot be given to is an error of the step', async (rig) => {
    const people = await crew(rig);
    const x = await ask(rig, { wait: true, assign_to: people.owner.id });
    const { taskId } = await waits(rig, x);
    const task = await people.lead.get(`/tasks/${taskId}`);
    equal([task.status, task.assigned_to], ['assigned', people.owner.id]);
    const log = (await people.lead.get(`/tasks/${taskId}/transitions`)).items;
    equal(log.map((t) => [t.action, t.actor_role, t.actor_id]), [['assign', 'system', null]]);
    const before = rig.sql('SELECT count(*) FROM tasks');
    for (const [more, guard] of [[{ assign_to: people.owner.id }, 'wip'], [{ assign_to: 'nobody' }, 'assignee'], [{ assign_to: people.lead.id }, 'assignee'], [{ assign_to: people.other.id, required_trade: 'paint' }, 'trade'], [{ assign_to: people.other.id, depends_on: [taskId] }, 'dependencies']]) {
        const end = await ended(rig, await ask(rig, more));
        equal([end.status, end.error.code, end.error.class, end.error.details?.guard], ['failed', 'validation_task', 'business', guard], JSON.stringify(end.error));
    }
    for (const [more, field] of [[{ depends_on: ['nothing'] }, 'depends_on'], [{ deliverable_id: 'nothing' }, 'deliverable_id']]) {
        const end = await ended(rig, await ask(rig, more));
        equal([end.status, end.error.code, end.error.details?.field], ['failed', 'validation_task', field], JSON.stringify(end.error));
    }
    equal(rig.sql('SELECT count(*) FROM tasks'), before, 'what was refused has made nothing');
    await doIt(people, taskId);
    equal((await ended(rig, x)).status, 'completed');
});

claim('when the time is up the task is canceled, or kept, and the step fails or goes on', async (rig) => {
    const { lead } = await crew(rig);
    const failed = await ended(rig, await ask(rig, { wait: true, timeout: '50ms' }));
    equal([failed.status, failed.error.code], ['failed', 'timeout_task']);
    equal(rig.sql(`SELECT status FROM tasks WHERE execution_id = '${failed.id}'`), ['canceled']);
    const went = await ended(rig, await ask(rig, { wait: true, timeout: '50ms', onTimeout: 'continue' }));
    equal([went.status, went.result.status, went.result.timedOut, went.result.title], ['completed', 'canceled', true, 'Paint the door']);
    const kept = await ended(rig, await ask(rig, { wait: true, timeout: '50ms', onTimeout: 'continue', keep: true }));
    equal([kept.status, kept.result.status, kept.result.timedOut], ['completed', 'available', true]);
    const task = await lead.get(`/tasks/${kept.result.id}`);
    equal(task.status, 'available');
    equal((await lead.ask('DELETE', `/tasks/${task.id}`)).status, 204, 'nobody waits for it any more');
});

claim('cancelling the execution cancels the open task, and opens nothing', async (rig) => {
    const { lead, owner } = await crew(rig);
    const x = await ask(rig, { wait: true, assign_to: owner.id });
    const { taskId } = await waits(rig, x);
    equal((await rig.api('POST', `/executions/${x.id}/cancel`, { reason: 'enough' })).status, 202);
    equal((await ended(rig, x)).status, 'cancelled');
    const task = await lead.get(`/tasks/${taskId}`);
    equal([task.status, task.assigned_to], ['canceled', null]);
    check(task.cancel_reason.length > 0, 'it says why');
    equal((await lead.get(`/tasks/${taskId}/transitions`)).items[0].actor_role, 'system');
    equal(rig.sql('SELECT count(*) FROM execution_events'), ['0'], 'nobody is told');
});

claim('a branch that loses cancels its task; that of the winner stays as it is', async (rig) => {
    const people = await crew(rig);
    const task = (code) => [{ code, procedure: { type: 'task.create', title: code, wait: true } }];
    const code = `race_${++codes}`;
    await rig.publish({ code, name: code, steps: [{ code: 'p', parallel: { join: 'any', branches: [task('one'), task('two')] } }] });
    const x = await start(rig, code);
    await until('both wait', async () => (await show(rig, x)).waitingFor?.branches?.length === 2);
    const [one, two] = (await show(rig, x)).waitingFor.branches;
    await doIt(people, two.taskId, { done: true });
    equal((await ended(rig, x)).status, 'completed');
    equal((await people.lead.get(`/tasks/${one.taskId}`)).status, 'canceled');
    equal((await people.lead.get(`/tasks/${two.taskId}`)).status, 'done');
});

claim('the end of a task waits while the execution is paused', async (rig) => {
    const people = await crew(rig);
    const x = await ask(rig, { wait: true });
    const { taskId } = await waits(rig, x);
    equal((await rig.api('POST', `/executions/${x.id}/pause`)).status, 202);
    await doIt(people, taskId, { n: 1 });
    equal((await show(rig, x)).status, 'waiting');
    equal((await rig.api('POST', `/executions/${x.id}/resume`)).status, 202);
    equal((await ended(rig, x)).result.result, { n: 1 });
});

claim('the task belongs to the organisation of the starter', async (rig) => {
    const org = newOrg();
    const inside = await Person.make(rig, 'lead', { org_id: org });
    const outside = await Person.make(rig, 'lead');
    const admin = await Person.make(rig, 'admin', { org_id: org });
    const x = await ask(rig, { wait: true }, {}, admin);
    const { taskId } = await until('it waits', async () => (await admin.ask('GET', `/executions/${x.id}`)).body.waitingFor);
    equal((await inside.get(`/tasks/${taskId}`)).org_id, org);
    refused(await outside.ask('GET', `/tasks/${taskId}`), 404, 'not_found');
    await inside.moved(await inside.get(`/tasks/${taskId}`), 'cancel', { reason: 'x' });
    await until('it has ended', async () => (await admin.ask('GET', `/executions/${x.id}`)).body.status === 'completed');
});

claim('tasks of many executions: each has one, and each end reaches its own', async (rig) => {
    const { lead } = await crew(rig);
    const code = `many_${++codes}`;
    await rig.publish({ code, name: code, steps: [{ code: 'work', procedure: { type: 'task.create', title: 'n {{ input.n }}', wait: true } }] });
    const all = await Promise.all(Array.from({ length: 60 }, (_, n) => start(rig, code, { n })));
    const ids = await Promise.all(all.map(async (x) => (await waits(rig, x)).taskId));
    equal(new Set(ids).size, 60);
    await Promise.all(ids.map(async (id, n) => {
        if (n % 3 === 0) return rig.api('POST', `/executions/${all[n].id}/cancel`);
        return lead.moved(await lead.get(`/tasks/${id}`), 'cancel', { reason: 'x' });
    }));
    for (const [n, x] of all.entries()) equal((await ended(rig, x)).status, n % 3 === 0 ? 'cancelled' : 'completed');
    equal(rig.sql(`SELECT count(*) FROM tasks WHERE status <> 'canceled' AND title LIKE 'n %'`), ['0']);
    equal(rig.sql('SELECT count(*) FROM execution_events'), ['0']);
});

await run(async () => {});
