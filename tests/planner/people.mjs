// people.mjs - users of the planner and short words for what they ask.
import { equal } from '../lib/claims.mjs';

let events = 0;

export class Person {
    constructor(rig, user, org) {
        this.rig = rig;
        this.id = user.id;
        this.token = user.token;
        this.role = user.role;
        this.org = org;
    }

    /** One person: `more` is {skill_level, specializations, org_id}. */
    static async make(rig, role, more = {}) {
        const answer = await rig.api('POST', '/users', { name: `${role} ${++events}`, role, ...more });
        equal(answer.status, 201, JSON.stringify(answer.body));
        return new Person(rig, answer.body, more.org_id);
    }

    ask(method, path, body, headers = {}) {
        return this.rig.api(method, path, body, { Authorization: `Bearer ${this.token}`, ...headers });
    }

    /** The same, which must succeed; answers the body. */
    async get(path) {
        const answer = await this.ask('GET', path);
        equal(answer.status, 200, JSON.stringify(answer.body));
        return answer.body;
    }

    async task(body = {}) {
        const answer = await this.ask('POST', '/tasks', { title: 'work', ...body });
        equal(answer.status, 201, JSON.stringify(answer.body));
        return answer.body;
    }

    move(task, action, payload = {}, more = {}) {
        return this.ask('POST', `/tasks/${task.id}/transitions`, {
            action, payload, client_event_id: `event-${++events}`, expected_row_version: task.row_version, ...more,
        });
    }

    /** The same, which must succeed; answers the task. */
    async moved(task, action, payload = {}) {
        const answer = await this.move(task, action, payload);
        equal(answer.status, 200, `${action}: ${JSON.stringify(answer.body)}`);
        return answer.body.task;
    }
}

/** Enough people for every relation to a task. */
export async function crew(rig, more = {}) {
    const executor = { skill_level: 5, specializations: ['weld'], ...more };
    const [owner, other, contributor] = await Promise.all([1, 2, 3].map(() => Person.make(rig, 'executor', executor)));
    const [lead, supervisor, system] = await Promise.all(['lead', 'supervisor', 'system'].map((role) => Person.make(rig, role, more.org_id ? { org_id: more.org_id } : {})));
    return { owner, other, contributor, lead, supervisor, system };
}

/** A task of the owner in a status, with the contributor where it may have one. */
export async function taskIn(people, status, body = {}) {
    const { owner, contributor, lead } = people;
    let task = await lead.task(body);
    if (status === 'blocked') {
        equal((await lead.ask('POST', `/tasks/${task.id}/holds`, { type: 'manual' })).status, 201);
        return lead.get(`/tasks/${task.id}`);
    }
    if (status === 'available') return task;
    if (status === 'canceled') return lead.moved(task, 'cancel', { reason: 'not needed' });
    task = await lead.moved(task, 'assign', { assign_to: owner.id });
    equal((await lead.ask('POST', `/tasks/${task.id}/contributors`, { user_id: contributor.id })).status, 201);
    for (const [action, after] of [['start', 'in_progress'], ['submit', 'submitted'], ['review_approve', 'done']]) {
        if (task.status === status) return task;
        task = await (action === 'review_approve' ? lead : owner).moved(task, action, { how_fixed: 'so' });
        equal(task.status, after);
    }
    return task;
}

export const newOrg = () => `00000000-0000-4000-8000-${String(Date.now() * 1000 + ++events).slice(-12).padStart(12, '0')}`;

/** Listen to the tasks of a project; `hints()` are [id, status], in order. */
export async function listen(rig, person, project) {
    const stop = new AbortController();
    const heard = { text: '', stop: () => stop.abort(), hints: () => [...heard.text.matchAll(/^data: (.*)$/gm)].map((m) => JSON.parse(m[1])).map((e) => [e.id, e.status]) };
    const answer = await fetch(`${rig.server.url}/api/v1/tasks/events?project_id=${project}`, { headers: { Authorization: `Bearer ${person.token}` }, signal: stop.signal });
    equal(answer.status, 200);
    (async () => {
        for await (const part of answer.body) heard.text += Buffer.from(part).toString();
    })().catch(() => {});
    return heard;
}
