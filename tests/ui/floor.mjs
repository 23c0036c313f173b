// floor.mjs - a building site for the browser tests and the screenshots: people with trades, tasks in every status, a shift, a hold,
// a defect with its fix, somebody who asks for help.
import { equal } from '../lib/claims.mjs';

let events = 0;

export async function fillFloor(server) {
    const as = async (token, method, path, body, wanted = [200, 201]) => {
        const answer = await server.call(token, method, `/api/v1${path}`, body);
        equal(wanted.includes(answer.status), true, `${method} ${path}: ${answer.status} ${answer.raw}`);
        return answer.body;
    };
    const people = {};
    for (const [name, role, skill_level, specializations] of [
        ['Lena', 'lead'], ['Sven', 'supervisor'], ['Barbara', 'executor', 6, ['electrical']], ['Grace', 'executor', 8, ['electrical', 'painting']], ['John', 'executor', 7, ['plumbing']],
        ['Margaret', 'executor', 7, ['painting']], ['Dennis', 'executor', 4, ['electrical']], ['Radia', 'executor', 5, ['plumbing']], ['Tony', 'executor', 3, ['electrical']],
    ]) people[name] = await as(server.token, 'POST', '/users', { name, role, ...(skill_level ? { skill_level, specializations } : {}) });
    const lead = people.Lena.token;
    const tasks = {};
    const make = async (name, body) => { tasks[name] = await as(lead, 'POST', '/tasks', { project_id: 'Building B, level 2', ...body }); };
    const hours = (n) => new Date(Date.now() + n * 3600000).toISOString();
    await make('trays', { title: 'Cable trays, axis A', required_trade: 'electrical', min_skill: 5, priority: 5 });
    await make('slots', { title: 'Chase slots, room 209', required_trade: 'electrical', min_skill: 3, priority: 5 });
    const move = async (who, name, action, payload = {}) => {
        const task = await as(people[who].token, 'GET', `/tasks/${tasks[name].id}`);
        return (await as(people[who].token, 'POST', `/tasks/${task.id}/transitions`, { action, client_event_id: `floor-${++events}`, expected_row_version: task.row_version, payload })).task;
    };
    const finish = async (who, name) => {
        for (const action of ['self_assign', 'start', 'submit']) await move(who, name, action);
        await move('Lena', name, 'review_approve');
    };
    await finish('Grace', 'trays');
    await finish('Dennis', 'slots');
    await make('cable', { title: 'Pull cable, room 209', description: 'From the sub-panel at axis B, 3 × 2.5 mm², 18 m.\nLadder and reel are in the store.', required_trade: 'electrical', min_skill: 5, priority: 9, due_at: hours(3), depends_on: [tasks.trays.id, tasks.slots.id] });
    await make('cable214', { title: 'Pull cable, room 214', description: 'From the sub-panel at axis B, 3 × 2.5 mm², 18 m. Ladder and reel are in the store.', required_trade: 'electrical', min_skill: 5, priority: 8, due_at: hours(5) });
    await make('sockets', { title: 'Mount sockets, room 216', required_trade: 'electrical', min_skill: 3, priority: 6, due_at: hours(28) });
    await make('panel', { title: 'Wire the fire panel, level 3', required_trade: 'electrical', min_skill: 7, priority: 6 });
    await make('pressure', { title: 'Pressure test, riser 3', required_trade: 'plumbing', min_skill: 6, priority: 4, due_at: hours(26) });
    await make('prime', { title: 'Prime walls, room 212', required_trade: 'painting', min_skill: 3, priority: 2 });
    await make('windows', { title: 'Seal windows, room 210', priority: 1 });
    await make('riser', { title: 'Weld riser 4', required_trade: 'plumbing', min_skill: 7, priority: 7 });
    await make('lamps', { title: 'Ceiling lamps, room 203', required_trade: 'electrical', min_skill: 4, priority: 3 });
    await make('coat', { title: 'Second coat, room 205', required_trade: 'painting', min_skill: 3, priority: 3 });
    await make('basins', { title: 'Fit basins, room 208', required_trade: 'plumbing', min_skill: 4, priority: 3 });
    await make('mount209', { title: 'Mount sockets, room 209', required_trade: 'electrical', min_skill: 3, depends_on: [tasks.cable.id] });
    await make('test', { title: 'Test circuits, level 2', required_trade: 'electrical', min_skill: 7, depends_on: [tasks.cable.id, tasks.cable214.id] });
    await make('shaft', { title: 'Close the shaft, axis C', required_trade: 'plumbing', min_skill: 4 });
    await as(lead, 'POST', `/tasks/${tasks.shaft.id}/holds`, { type: 'material', reason: 'plates come on Wednesday', until: hours(48) });
    await move('Barbara', 'cable', 'self_assign');
    await move('Barbara', 'cable', 'start');
    await move('Barbara', 'cable', 'submit');
    await move('Lena', 'cable', 'review_reject', { reason: '2 clamps are missing at the door', defect: { description: '2 clamps are missing at the door', what_to_fix: 'set two clamps, 40 cm apart' }, create_fix: true });
    await move('Barbara', 'cable', 'escalate', { kind: 'access', message: 'room 209 is locked, nobody has the key' });
    await as(people.Barbara.token, 'POST', `/tasks/${tasks.cable.id}/comments`, { body: 'Reel two is empty, the third one is in the store.' });
    await move('Lena', 'riser', 'assign', { assign_to: people.John.id });
    await move('John', 'riser', 'start');
    await move('Dennis', 'lamps', 'self_assign');
    await move('Dennis', 'lamps', 'start');
    await move('Dennis', 'lamps', 'submit');
    await move('Margaret', 'coat', 'self_assign');
    await move('Margaret', 'coat', 'start');
    await move('Radia', 'basins', 'self_assign');
    await as(lead, 'POST', `/tasks/${tasks.cable.id}/contributors`, { user_id: people.Tony.id });
    await as(lead, 'POST', '/shifts', { name: 'Day shift', ends_at: hours(6), members: ['Barbara', 'Grace', 'John', 'Margaret', 'Dennis', 'Radia', 'Tony'].map((name) => people[name].id) });
    return { people, tasks, move, as };
}
