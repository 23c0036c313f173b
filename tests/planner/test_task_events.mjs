// Events about tasks: told with the change that they tell of, to who has subscribed; on both stores.
import { Receiver } from '../api/receiver.mjs';
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { Person, crew, newOrg } from './people.mjs';

const eventually = (what, question) => until(what, question, 60);
let count = 0;

/** Somebody who wants these events while `work` runs. */
async function listening(rig, events, work) {
    const receiver = new Receiver();
    const code = `tasks_${++count}`;
    await receiver.open();
    const answer = await rig.api('PUT', `/subscriptions/${code}`, { url: receiver.url, events });
    equal(answer.status, 201, JSON.stringify(answer.body));
    try {
        return await work(receiver);
    } finally {
        await rig.api('DELETE', `/subscriptions/${code}`);
        receiver.close();
    }
}

/** What was told of a task, in order, once so many have come. */
async function told(receiver, id, wanted) {
    const of = () => receiver.once((d) => d.json.payload.id === id);
    await eventually(`${wanted.length} events of ${id}`, () => of().length >= wanted.length);
    equal(of().map((d) => d.json.name), wanted.map((w) => `task.${w}`));
    return of().map((d) => d.json);
}

claim('every move of a task is told, in order, with the task and the row of its log', (rig) => listening(rig, ['task.*'], async (receiver) => {
    const { owner, other, lead, contributor } = await crew(rig);
    let task = await lead.task({ title: 'told' });
    task = await lead.moved(task, 'assign', { assign_to: owner.id });
    equal((await lead.ask('POST', `/tasks/${task.id}/contributors`, { user_id: contributor.id })).status, 201);
    task = await owner.moved(await lead.get(`/tasks/${task.id}`), 'start');
    task = await owner.moved(task, 'escalate', { kind: 'help', message: 'heavy' });
    task = await lead.moved(task, 'reassign', { assign_to: other.id, reason: 'stronger' });
    task = await other.moved(task, 'start');
    task = await other.moved(task, 'submit', { n: 1 });
    task = await lead.moved(task, 'review_reject', { reason: 'again' });
    task = await other.moved(task, 'submit', { n: 2 });
    await lead.moved(task, 'review_approve');
    const all = await told(receiver, task.id, ['created', 'assigned', 'started', 'escalated', 'released', 'assigned', 'started', 'submitted', 'rejected', 'submitted', 'done']);
    const done = all.at(-1);
    equal([done.payload.status, done.payload.result, done.payload.transition.action, done.payload.transition.actor_id, done.executionId], ['done', { n: 2 }, 'review_approve', lead.id, null]);
    equal(all[0].payload.transition, null);
}));

claim('the end of a task starts a process, in the organisation of the task', async (rig) => {
    const code = `after_task_${++count}`;
    const people = await crew(rig, { org_id: newOrg() });
    const operator = await Person.make(rig, 'operator', { org_id: people.lead.org });
    await rig.publish({
        code, triggers: [{ type: 'event', event: 'task.done', when: '$.event.payload.title == "last one"', input: { task: '=$.event.payload.id' }, key: '=$.event.payload.id' }],
        steps: [{ code: 's', procedure: { type: 'compute.transform', data: { task: '=$.input.task' } } }],
    });
    for (const title of ['first one', 'last one']) {
        let task = await people.lead.task({ title });
        task = await people.lead.moved(task, 'assign', { assign_to: people.owner.id });
        task = await people.owner.moved(await people.owner.moved(task, 'start'), 'submit');
        task = await people.lead.moved(task, 'review_approve');
        people.last = task.id;
    }
    const items = await eventually('it has started', async () => {
        const all = (await operator.get(`/executions?code=${code}`)).items;
        return all.length > 0 && all;
    });
    equal(items.map((x) => [x.key, x.user.id]), [[people.last, 'system']]);
    equal((await rig.api('GET', `/executions?code=${code}`)).body.items.length, 0, 'another organisation sees');
    equal((await rig.api('POST', `/scenarios/${code}/retire`)).status, 200);
});

claim('what the planner does by itself is told, too', (rig) => listening(rig, ['task.blocked', 'task.available', 'task.overdue', 'task.canceled', 'task.deleted'], async (receiver) => {
    const { lead } = await crew(rig);
    const task = await lead.task({ due_at: new Date(Date.now() + 300).toISOString() });
    const hold = await lead.ask('POST', `/tasks/${task.id}/holds`, { type: 'manual' });
    equal((await lead.ask('DELETE', `/tasks/${task.id}/holds/${hold.body.id}`)).status, 204);
    await told(receiver, task.id, ['blocked', 'available', 'overdue']);
    await lead.moved(await lead.get(`/tasks/${task.id}`), 'cancel', { reason: 'late' });
    const all = await told(receiver, task.id, ['blocked', 'available', 'overdue', 'canceled']);
    equal(all[0].payload.transition.actor_role, 'system');
    const other = await lead.task();
    equal((await lead.ask('DELETE', `/tasks/${other.id}`)).status, 204);
    await told(receiver, other.id, ['deleted']);
}));

claim('a request that is refused or repeated tells nothing more', (rig) => listening(rig, ['task.*'], async (receiver) => {
    const { owner, other, lead } = await crew(rig);
    const task = await lead.task();
    const event = { client_event_id: 'told-once' };
    equal((await owner.move(task, 'self_assign', {}, event)).status, 200);
    equal((await owner.move(task, 'self_assign', {}, event)).status, 200);
    refused(await other.move(task, 'self_assign'), 409, 'version_conflict');
    await lead.moved(await lead.get(`/tasks/${task.id}`), 'cancel', { reason: 'over' });
    await told(receiver, task.id, ['created', 'assigned', 'canceled']);
}));

claim('tasks of processes are told with their execution; those of another organisation to nobody here', (rig) => listening(rig, ['task.*'], async (receiver) => {
    const { lead } = await crew(rig);
    const stranger = await Person.make(rig, 'lead', { org_id: newOrg() });
    const foreign = await stranger.task();
    await rig.publish({ code: 'asks', name: 'asks', steps: [{ code: 's', procedure: { type: 'task.create', title: 'of a process', wait: true } }] });
    const x = await rig.begin('asks');
    const waiting = await eventually('it waits', async () => (await rig.api('GET', `/executions/${x.id}`)).body.waitingFor);
    const [created] = await told(receiver, waiting.taskId, ['created']);
    equal([created.executionId, created.payload.execution_id], [x.id, x.id]);
    equal((await rig.api('POST', `/executions/${x.id}/cancel`)).status, 202);
    await told(receiver, waiting.taskId, ['created', 'canceled']);
    check(!receiver.deliveries.some((d) => d.json.payload.id === foreign.id), 'a task of another organisation was told');
    await lead.task();
}));

await run(async () => {});
