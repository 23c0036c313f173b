// Tasks of processes while the server is killed at every step of it, on both stores: a step that asks for a task
// makes one, never two, and the end of either side reaches the other.

import { share } from '../lib/budget.mjs';
import { end, same } from '../lib/claims.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { World } from './world.mjs';

let count = 0;

const task = (more) => ({ type: 'task.create', title: '$.input.title', ...more });
const scenarios = {
    waits: task({ wait: true }),
    goes_on: task({}),
    hurries: task({ wait: true, timeout: '1ms' }),
};

class Planner extends World {
    async begin(code) {
        const title = `t${++count}x`;
        const x = await this.insist('POST', '/executions', { code, input: { title } }, { 'Idempotency-Key': title });
        return { id: x.body.id, title };
    }

    async tasks({ title }) {
        return (await this.insist('GET', `/tasks?q=${title}`)).body.items;
    }

    /** It waits for its task, which there is one of. */
    async waiting(x, name) {
        await until('it waits', async () => (await this.get(x.id)).waitingFor?.kind === 'task');
        const tasks = await this.tasks(x);
        same(`${name}: there is one task`, tasks.map((t) => [t.status, t.execution_id]), [['available', x.id]]);
        return tasks[0];
    }

    ended(x) {
        return until('it has ended', async () => {
            const now = await this.get(x.id);
            return ['completed', 'failed', 'cancelled'].includes(now.status) && now;
        });
    }

    /** The same request however often the server dies of it. */
    cancelTask(t) {
        return this.insist('POST', `/tasks/${t.id}/transitions`, { action: 'cancel', client_event_id: 'over', expected_row_version: t.row_version, payload: { reason: 'over' } });
    }
}

async function stepAsks(world, name, environment) {
    await world.restart(environment);
    const x = await world.begin('waits');
    const t = await world.waiting(x, name);
    same(`${name}: it can be canceled`, (await world.cancelTask(t)).status, 200);
    same(`${name}: its end is heard`, (await world.ended(x)).result.status, 'canceled');
}

async function stepDoesNotWait(world, name, environment) {
    await world.restart(environment);
    const x = await world.begin('goes_on');
    const end = await world.ended(x);
    same(`${name}: it has completed`, [end.status, end.result.status], ['completed', 'available']);
    same(`${name}: with one task`, (await world.tasks(x)).map((t) => t.id), [end.result.id]);
}

async function taskEnds(world, name, environment) {
    const x = await world.begin('waits');
    const t = await world.waiting(x, name);
    await world.restart(environment);
    same(`${name}: it is canceled`, (await world.cancelTask(t)).body.task.status, 'canceled');
    const end = await world.ended(x);
    same(`${name}: its end is heard`, [end.status, end.result.status, end.result.id], ['completed', 'canceled', t.id]);
}

async function executionEnds(world, name, environment) {
    const x = await world.begin('waits');
    await world.waiting(x, name);
    await world.restart(environment);
    await world.insist('POST', `/executions/${x.id}/cancel`, {}, { 'Idempotency-Key': `${x.title}-cancel` });
    same(`${name}: it is cancelled`, (await world.ended(x)).status, 'cancelled');
    same(`${name}: so is the task`, (await world.tasks(x)).map((t) => t.status), ['canceled']);
}

async function timeIsUp(world, name, environment) {
    await world.restart(environment);
    const x = await world.begin('hurries');
    const end = await world.ended(x);
    same(`${name}: the step fails`, [end.status, end.error?.code], ['failed', 'timeout_task']);
    same(`${name}: the task is canceled`, (await world.tasks(x)).map((t) => t.status), ['canceled']);
}

const everywhere = [
    'node.after_advance', 'node.before_submit', 'writer.member', 'writer.before_commit', 'writer.committed',
    'node.batch_done', 'node.between_answers', 'node.after_answers',
];
await onStores(async (store, url) => {
    const points = url ? ['writer.before_commit', 'writer.committed', 'node.batch_done'] : everywhere;
    const world = new Planner(new Server(makeFolder(), { store: url, program: checkProgram }));
    await world.start();
    for (const [code, procedure] of Object.entries(scenarios)) {
        const input = [{ name: 'title', type: 'string' }];
        const saved = await world.ask('PUT', `/scenarios/${code}/draft`, { code, input, onError: 'fail_fast', steps: [{ code: 'work', procedure }] });
        same('the scenario is valid', saved.body?.valid, true);
        same('it is published', (await world.ask('POST', `/scenarios/${code}/publish`)).status, 200);
    }
    for (const death of share('bridge.points', points.flatMap((point) => [`${point}:1`, `${point}:2`]))) {
        const before = world.deaths;
        for (const play of [stepAsks, stepDoesNotWait, taskEnds, executionEnds, timeIsUp])
            await play(world, `${store} ${death} ${play.name}`, { PAWL_CRASH_AT: death });
        same(`${store} ${death}: the server died there`, world.deaths > before, true);
    }
    same(`${store}: it ends as it should`, await world.server.stop(), 0);
    world.client.close();
});
end();
