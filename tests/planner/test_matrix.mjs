// Every status, every action, every relation to the task, against the table below, through HTTP.
import { equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep } from '../lib/wait.mjs';
import { crew, taskIn } from './people.mjs';

// Who: owner, executor (any of them), contributor, lead, supervisor, system.
const TABLE = `
blocked     | unblock        | available   | system lead supervisor        | holds
available   | self_assign    | assigned    | executor                      |
available   | assign         | assigned    | lead supervisor               |
assigned    | start          | in_progress | owner                         |
in_progress | submit         | submitted   | owner                         |
submitted   | review_approve | done        | lead supervisor owner         | skill of owner
submitted   | review_reject  | in_progress | lead supervisor               |
assigned    | shift_release  | available   | system                        |
in_progress | shift_release  | available   | system                        |
assigned    | recall_to_pool | available   | lead supervisor               |
in_progress | recall_to_pool | available   | lead supervisor               |
assigned    | reassign       | assigned    | lead supervisor               |
in_progress | reassign       | assigned    | lead supervisor               |
blocked     | escalate       | blocked     | owner contributor             |
available   | escalate       | available   | owner contributor             |
assigned    | escalate       | assigned    | owner contributor             |
in_progress | escalate       | in_progress | owner contributor             |
submitted   | escalate       | submitted   | owner contributor             |
blocked     | cancel         | canceled    | lead supervisor               |
available   | cancel         | canceled    | lead supervisor               |
assigned    | cancel         | canceled    | lead supervisor               |
in_progress | cancel         | canceled    | lead supervisor               |
submitted   | cancel         | canceled    | lead supervisor               |
`.trim().split('\n').map((line) => {
    const [from, action, to, who, guard] = line.split('|').map((cell) => cell.trim());
    return { from, action, to, who: who.split(' '), guard };
});

const STATUSES = ['blocked', 'available', 'assigned', 'in_progress', 'submitted', 'done', 'canceled'];
const ACTIONS = [...new Set(TABLE.map((row) => row.action))];
const WHO = ['owner', 'other', 'contributor', 'lead', 'supervisor', 'system'];
const EXECUTORS = ['owner', 'other', 'contributor'];
const OWNED = ['assigned', 'in_progress', 'submitted', 'done'];

/** The role may ask for the action at all: whatever the task is, and whoever owns it. */
function roleMay(action, who) {
    const all = TABLE.filter((row) => row.action === action).flatMap((row) => row.who);
    if (EXECUTORS.includes(who)) return all.some((one) => ['owner', 'executor', 'contributor'].includes(one));
    return all.includes(who);
}

/** [status, code, guard or what the task becomes]. */
function wanted(status, action, who) {
    if (!roleMay(action, who)) return [403, 'forbidden', undefined];
    const row = TABLE.find((one) => one.from === status && one.action === action);
    if (!row) return [422, 'transition_not_allowed', undefined];
    // Nobody owns or contributes to a task that is not taken.
    const relation = OWNED.includes(status) ? who : EXECUTORS.includes(who) ? 'other' : who;
    const fits = row.who.includes(relation) || (EXECUTORS.includes(who) && row.who.includes('executor'));
    if (!fits) return [422, 'guard_failed', 'owner'];
    if (row.guard === 'holds') return [422, 'guard_failed', 'holds'];
    if (row.guard === 'skill of owner' && relation === 'owner') return [422, 'guard_failed', 'skill'];
    return [200, undefined, row.to];
}

const payloadOf = (action, people) => ({
    reason: 'because', kind: 'help', message: 'come', assign_to: people.other.id,
});

for (const status of STATUSES)
    claim(`${status}: each action by each of ${WHO.join(', ')}`, async (rig) => {
        const people = await crew(rig);
        let task = await taskIn(people, status);
        let cases = 0;
        for (const action of ACTIONS)
            for (const who of WHO) {
                const [code, problem, more] = wanted(status, action, who);
                const what = `${status} ${action} by ${who}`;
                const answer = await people[who].move(task, action, payloadOf(action, people));
                cases++;
                if (code !== 200) {
                    equal(refused(answer, code, problem).guard, more, what);
                    continue;
                }
                equal([answer.status, answer.body.task?.status], [200, more], `${what}: ${JSON.stringify(answer.body)}`);
                equal(answer.body.transition.from_status, action === 'reassign' ? 'available' : status, what);
                // What was taken would be in the way of the next case.
                if (!['done', 'canceled'].includes(answer.body.task.status))
                    await people.lead.moved(answer.body.task, 'cancel', { reason: 'case closed' });
                task = await taskIn(people, status);
            }
        equal(cases, ACTIONS.length * WHO.length);
        equal((await people.lead.get(`/tasks/${task.id}`)).status, status, 'refusals change nothing');
        if (task.assigned_to && status !== 'done')
            await people.lead.moved(task, 'cancel', { reason: 'done with it' });
    });

claim('`actions` of a task are those that would not be refused', async (rig) => {
    const people = await crew(rig);
    for (const status of STATUSES) {
        const task = await taskIn(people, status);
        for (const who of WHO) {
            const shown = (await people[who].get(`/tasks/${task.id}`)).actions;
            equal(shown.sort(), ACTIONS.filter((action) => wanted(status, action, who)[0] === 200).sort(), `${status}, ${who}`);
        }
        if (['assigned', 'in_progress', 'submitted'].includes(status))
            await people.lead.moved(task, 'cancel', { reason: 'next' });
    }
});

claim('a hold that is over lets a task be unblocked', async (rig) => {
    const people = await crew(rig);
    for (const who of ['system', 'lead', 'supervisor']) {
        const task = await people.lead.task();
        const over = new Date(Date.now() + 30).toISOString();
        equal((await people.lead.ask('POST', `/tasks/${task.id}/holds`, { type: 'area', until: over })).status, 201);
        await sleep(60);
        const now = await people.lead.get(`/tasks/${task.id}`);
        // The planner itself may have been first.
        if (now.status === 'blocked') {
            const answer = await people[who].move(now, 'unblock');
            if (answer.status !== 409) equal(answer.status, 200, JSON.stringify(answer.body));
        }
        equal((await people.lead.get(`/tasks/${task.id}`)).status, 'available');
    }
});

await run(async () => {});
