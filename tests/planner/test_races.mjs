// Real clients who ask at the same time, and what the database says after each round; on both stores.

import { amount } from '../lib/budget.mjs';
import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { Person, crew, newOrg } from './people.mjs';

const ROUNDS = amount('planner.rounds');

/** What must never be true, by name. */
const NEVER = {
    'an owner of two tasks': `SELECT assigned_to FROM tasks WHERE status IN ('assigned', 'in_progress', 'submitted') GROUP BY assigned_to HAVING count(*) > 1`,
    'a task in the pool that waits for another': `SELECT t.id FROM tasks t JOIN task_dependencies d ON d.task_id = t.id JOIN tasks p ON p.id = d.depends_on WHERE t.status = 'available' AND p.status <> 'done'`,
    'a task in the pool with a hold': `SELECT t.id FROM tasks t JOIN task_holds h ON h.task_id = t.id WHERE t.status = 'available' AND h.released_at IS NULL AND h.until IS NULL`,
    'a task blocked by nothing': `SELECT t.id FROM tasks t WHERE t.status = 'blocked' AND NOT EXISTS (SELECT 1 FROM task_holds h WHERE h.task_id = t.id AND h.released_at IS NULL) AND NOT EXISTS (SELECT 1 FROM task_dependencies d JOIN tasks p ON p.id = d.depends_on WHERE d.task_id = t.id AND p.status <> 'done')`,
    'a version that the log does not have': `SELECT t.id FROM tasks t WHERE t.row_version > 1 AND t.row_version <> (SELECT max(x.result_row_version) FROM task_transitions x WHERE x.task_id = t.id)`,
    'a status that the log does not end with': `SELECT t.id FROM tasks t JOIN task_transitions x ON x.task_id = t.id AND x.result_row_version = t.row_version WHERE x.to_status <> t.status`,
};

function invariants(rig) {
    for (const [what, query] of Object.entries(NEVER)) equal(rig.sql(query), [], what);
}

/** A person with a connection of its own. */
function alone(rig, person) {
    const client = rig.server.client();
    const other = new Person({ api: (method, path, body, headers) => client.ask(method, `/api/v1${path}`, body, headers) }, person, person.org);
    other.close = () => client.close();
    return other;
}

const finish = async (lead, owner, task) => {
    for (const action of ['self_assign', 'start', 'submit']) task = await owner.moved(task, action);
    return task;
};

claim('of 50 who take one task one gets it', async (rig) => {
    const org = newOrg();
    const lead = await Person.make(rig, 'lead', { org_id: org });
    const people = [];
    for (let i = 0; i < 50; i++) people.push(alone(rig, await Person.make(rig, 'executor', { org_id: org, skill_level: 5 })));
    for (let round = 0; round < ROUNDS; round++) {
        const task = await lead.task();
        const answers = await Promise.all(people.map((p) => p.move(task, 'self_assign')));
        const won = answers.filter((a) => a.status === 200);
        equal(won.length, 1, JSON.stringify(answers.map((a) => a.status)));
        check(answers.every((a) => a.status === 200 || a.body.code === 'version_conflict'), 'the others are told why');
        invariants(rig);
        await lead.moved(won[0].body.task, 'cancel', { reason: 'next' });
    }
    for (const p of people) p.close();
});

claim('of 10 tasks that one executor takes one is got', async (rig) => {
    const { lead, owner } = await crew(rig, { org_id: newOrg() });
    const hands = Array.from({ length: 10 }, () => alone(rig, owner));
    for (let round = 0; round < ROUNDS; round++) {
        const tasks = await Promise.all(hands.map(() => lead.task()));
        const answers = await Promise.all(hands.map((hand, i) => hand.move(tasks[i], 'self_assign')));
        const won = answers.filter((a) => a.status === 200);
        equal([won.length, answers.filter((a) => a.body.guard === 'wip').length], [1, 9], JSON.stringify(answers.map((a) => a.body)));
        invariants(rig);
        await lead.moved(won[0].body.task, 'cancel', { reason: 'next' });
    }
    for (const hand of hands) hand.close();
});

claim('a transition and the end of the shift', async (rig) => {
    const { lead, owner } = await crew(rig, { org_id: newOrg() });
    const hand = alone(rig, owner);
    for (let round = 0; round < ROUNDS * 4; round++) {
        const shift = (await lead.ask('POST', '/shifts', { name: `s${round}`, members: [owner.id] })).body;
        const task = await owner.moved(await owner.moved(await lead.task(), 'self_assign'), 'start');
        const [moved, ended] = await Promise.all([hand.move(task, 'submit'), lead.ask('POST', `/shifts/${shift.id}/end`, {})]);
        equal(ended.status, 200);
        const now = await lead.get(`/tasks/${task.id}`);
        equal(now.status, moved.status === 200 ? 'submitted' : 'available', JSON.stringify(moved.body));
        invariants(rig);
        await lead.moved(now, 'cancel', { reason: 'next' });
    }
    hand.close();
});

claim('the end of what was waited for, and a new hold', async (rig) => {
    const { lead, owner } = await crew(rig, { org_id: newOrg() });
    const other = alone(rig, lead);
    for (let round = 0; round < ROUNDS * 4; round++) {
        const first = await lead.task();
        const next = await lead.task({ depends_on: [first.id] });
        const submitted = await finish(lead, owner, first);
        const [approved, held] = await Promise.all([
            lead.move(submitted, 'review_approve'),
            other.ask('POST', `/tasks/${next.id}/holds`, { type: 'manual' }),
        ]);
        equal([approved.status, held.status], [200, 201]);
        equal((await lead.get(`/tasks/${next.id}`)).status, 'blocked');
        invariants(rig);
    }
    other.close();
});

claim('two dependencies that together would be a cycle', async (rig) => {
    const { lead } = await crew(rig, { org_id: newOrg() });
    const other = alone(rig, lead);
    for (let round = 0; round < ROUNDS * 4; round++) {
        const [a, b] = [await lead.task(), await lead.task()];
        const answers = await Promise.all([
            lead.ask('POST', `/tasks/${a.id}/dependencies`, { depends_on: b.id }),
            other.ask('POST', `/tasks/${b.id}/dependencies`, { depends_on: a.id }),
        ]);
        equal(answers.map((x) => x.status).sort(), [201, 422]);
        invariants(rig);
    }
    other.close();
});

await run(async () => {});
