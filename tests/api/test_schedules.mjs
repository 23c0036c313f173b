// Schedules on both stores: exactly the ticks that are expected, whatever the clock does.
//
// The clock of the server stands still and is moved by hand, which only the build with slow checks allows.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { checkProgram } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const NOBODY = '00000000-0000-7000-8000-000000000000';
const SYSTEM = { id: 'system', name: 'system', email: '', role: 'system' };

let number = 0;
let now; // as the clock says

const clockFile = (rig) => join(rig.folder, 'clock');

const writeClock = (rig, iso) => writeFileSync(clockFile(rig), `@${Date.parse((now = iso)) * 1000}`);

/** Set the clock of the server, and wait until it knows; `iso` is a time in UTC. */
async function setClock(rig, iso) {
    const next = new Date(Date.parse(iso) + 1000).toISOString().replace('.000', '');
    writeClock(rig, iso);
    await until('the clock is set', async () => (await rig.api('GET', '/schedules/preview?cron=*%20*%20*%20*%20*%20*')).body.items[0].at === next);
}

/** A process that starts by itself, and keeps for when. */
const scheduled = (triggers, more = {}) => ({
    code: `scheduled_${++number}`,
    input: [{ name: 'at', type: 'datetime', required: true }],
    triggers: [triggers].flat().map((t) => ({ type: 'schedule', input: { at: '$.schedule.at' }, ...t })),
    settings: { key: '{{ $.input.?rule.orValue("") }}{{ $.input.at }}' },
    steps: [{ code: 'keep', procedure: { type: 'compute.transform', data: { at: '$.input.at' } } }],
    ...more,
});

const schedulesOf = async (rig, code) => (await rig.api('GET', `/schedules?code=${code}`)).body.items;
const ticksOf = async (rig, code) => (await rig.all(`/executions?code=${code}&order=oldest`, 100)).map((x) => x.key);
const act = (rig, id, action, body, headers) => rig.api('POST', `/schedules/${id}/${action}`, body, headers);

/** The ticks that were started, once nothing is due any more. */
async function settled(rig, code) {
    await until(`nothing of ${code} is due`, async () => {
        const all = await schedulesOf(rig, code);
        return all.every((s) => s.status !== 'active' || s.nextAt === null || s.nextAt > now);
    });
    return ticksOf(rig, code);
}

/** Publish it at a time; it is retired when the claim is over. */
async function withSchedule(rig, at, definition, test) {
    await setClock(rig, at);
    await rig.publish(definition);
    try {
        await test(definition.code, (await schedulesOf(rig, definition.code))[0]);
    } finally {
        await rig.api('POST', `/scenarios/${definition.code}/retire`);
    }
}

/** Let time pass in steps, and see what has started. */
async function pass(rig, code, ...times) {
    for (const time of times) {
        await setClock(rig, time);
        await settled(rig, code);
    }
    return ticksOf(rig, code);
}

claim('a tick starts an execution as the system, with the input that the trigger says', async (rig) => {
    const definition = scheduled({ cron: '30 9 * * *', timezone: 'Europe/Berlin', input: { at: '$.schedule.at', zone: '$.schedule.timezone', cron: '$.schedule.cron', id: '$.schedule.id' } }, { input: undefined });
    await withSchedule(rig, '2027-01-04T00:00:00Z', definition, async (code, schedule) => {
        equal([schedule.code, schedule.cron, schedule.timezone, schedule.catchUp, schedule.status, schedule.trigger], [code, '30 9 * * *', 'Europe/Berlin', 'one', 'active', 0]);
        equal([schedule.nextAt, schedule.lastAt, schedule.lastExecutionId, schedule.lastError, schedule.pausedAt], ['2027-01-04T08:30:00Z', null, null, null, null]);
        equal(await pass(rig, code, '2027-01-04T08:29:59Z'), []);
        equal(await pass(rig, code, '2027-01-04T08:30:00Z'), ['2027-01-04T08:30:00Z']);
        const [execution] = (await rig.api('GET', `/executions?code=${code}`)).body.items;
        const { user, input, id } = (await rig.api('GET', `/executions/${execution.id}`)).body;
        equal(user, SYSTEM);
        equal(input, { at: '2027-01-04T08:30:00Z', zone: 'Europe/Berlin', cron: '30 9 * * *', id: schedule.id });
        const [after] = await schedulesOf(rig, code);
        equal([after.id, after.nextAt, after.lastAt, after.lastExecutionId, after.lastError], [schedule.id, '2027-01-05T08:30:00Z', '2027-01-04T08:30:00Z', id, null]);
    });
});

for (const [zone, cron, from, ticks] of [
    // The night in which 02:30 is left out, and the one in which it comes twice.
    ['Europe/Berlin', '30 2 * * *', '2027-03-27T12:00:00Z', ['2027-03-28T01:00:00Z', '2027-03-29T00:30:00Z']],
    ['Europe/Berlin', '30 2 * * *', '2027-10-30T12:00:00Z', ['2027-10-31T00:30:00Z', '2027-11-01T01:30:00Z']],
    ['America/New_York', '30 2 * * *', '2028-03-11T12:00:00Z', ['2028-03-12T07:00:00Z', '2028-03-13T06:30:00Z']],
    ['America/New_York', '30 1 * * *', '2028-11-04T12:00:00Z', ['2028-11-05T05:30:00Z', '2028-11-06T06:30:00Z']],
    ['Australia/Lord_Howe', '45 1 * * *', '2029-03-31T12:00:00Z', ['2029-03-31T14:45:00Z', '2029-04-01T15:15:00Z']],
    ['Australia/Lord_Howe', '15 2 * * *', '2029-10-06T12:00:00Z', ['2029-10-06T15:30:00Z', '2029-10-07T15:15:00Z']],
]) {
    claim(`${cron} in ${zone} after ${from} ticks exactly when it should`, async (rig) => {
        await withSchedule(rig, from, scheduled({ cron, timezone: zone, catchUp: 'all' }), async (code) => {
            // Second by second around each tick, and every three hours between them.
            const times = [];
            for (let t = Date.parse(from); t <= Date.parse(ticks[1]) + 7200e3; t += 3 * 3600e3) times.push(t);
            for (const tick of ticks) times.push(Date.parse(tick) - 1000, Date.parse(tick));
            for (const t of [...new Set(times)].sort((a, b) => a - b)) {
                const at = new Date(t).toISOString().replace('.000', '');
                equal(await pass(rig, code, at), ticks.filter((tick) => tick <= at), `at ${at}`);
            }
        });
    });
}

claim('an hourly schedule ticks every real hour of a night that has 25', async (rig) => {
    await withSchedule(rig, '2030-10-26T22:00:00Z', scheduled({ cron: '0 * * * *', timezone: 'Europe/Berlin', catchUp: 'all' }), async (code) => {
        equal(await pass(rig, code, '2030-10-27T03:00:00Z'), ['2030-10-26T23:00:00Z', '2030-10-27T00:00:00Z', '2030-10-27T01:00:00Z', '2030-10-27T02:00:00Z', '2030-10-27T03:00:00Z']);
    });
});

const days = (from, count) => Array.from({ length: count }, (_, i) => new Date(Date.parse(from) + i * 86400e3).toISOString().replace('.000', ''));

claim('a week of downtime is caught up as catchUp says', async (rig) => {
    const definition = scheduled([
        { cron: '0 9 * * *', input: { at: '$.schedule.at', rule: 'one' } },
        { cron: '0 9 * * *', catchUp: 'none', input: { at: '$.schedule.at', rule: 'none' } },
        { cron: '0 9 * * *', catchUp: 'all', input: { at: '$.schedule.at', rule: 'all' } },
        { cron: '*/10 * * * *', catchUp: 'all', input: { at: '$.schedule.at', rule: 'many' } },
    ], { input: undefined });
    await withSchedule(rig, '2031-01-01T10:00:00Z', definition, async (code) => {
        await rig.server.kill();
        writeClock(rig, '2031-01-08T10:00:05Z');
        await rig.start({ PAWL_CLOCK_FILE: clockFile(rig) });
        await settled(rig, code);
        const all = await rig.all(`/executions?code=${code}&order=oldest`, 500);
        const by = (rule) => all.map((x) => x.key).filter((key) => key.startsWith(rule)).map((key) => key.slice(rule.length));
        equal(by('one'), ['2031-01-08T09:00:00Z']);
        equal(by('none'), []);
        equal(by('all'), days('2031-01-02T09:00:00Z', 7));
        // 1,008 ticks were due: the last 1,000 have started.
        equal([by('many').length, by('many')[0], by('many').at(-1)], [1000, '2031-01-01T11:30:00Z', '2031-01-08T10:00:00Z']);
        // From now on all of them tick as usual.
        await setClock(rig, '2031-01-09T09:00:00Z');
        await settled(rig, code);
        const later = (await rig.all(`/executions?code=${code}&order=oldest`, 500)).map((x) => x.key).filter((key) => key.endsWith('2031-01-09T09:00:00Z'));
        equal(later.map((key) => key.slice(0, -20)).sort(), ['all', 'many', 'none', 'one']);
        const [one, none] = await schedulesOf(rig, code);
        equal([one.nextAt, none.nextAt], ['2031-01-10T09:00:00Z', '2031-01-10T09:00:00Z']);
    });
});

claim('a tick of catchUp none starts while it is at most a minute late', async (rig) => {
    await withSchedule(rig, '2031-02-01T00:00:00Z', scheduled({ cron: '0 9 * * *', catchUp: 'none' }), async (code) => {
        equal(await pass(rig, code, '2031-02-01T09:01:00Z'), ['2031-02-01T09:00:00Z']);
        equal(await pass(rig, code, '2031-02-02T09:01:01Z'), ['2031-02-01T09:00:00Z']);
        equal(await pass(rig, code, '2031-02-03T09:00:30Z'), ['2031-02-01T09:00:00Z', '2031-02-03T09:00:00Z']);
    });
});

claim('a clock that is set back makes no tick come twice; pausing and going on takes the new time', async (rig) => {
    await withSchedule(rig, '2031-03-01T00:00:00Z', scheduled({ cron: '0 * * * *' }), async (code, { id }) => {
        equal(await pass(rig, code, '2031-03-01T01:00:00Z', '2031-03-01T02:00:00Z'), ['2031-03-01T01:00:00Z', '2031-03-01T02:00:00Z']);
        await setClock(rig, '2031-03-01T00:30:00Z');
        await rig.api('GET', '/schedules');
        await setClock(rig, '2031-03-01T02:30:00Z');
        await settled(rig, code);
        equal((await ticksOf(rig, code)).length, 2);
        equal((await pass(rig, code, '2031-03-01T03:00:00Z')).length, 3);
        await setClock(rig, '2031-02-20T00:30:00Z');
        equal((await schedulesOf(rig, code))[0].nextAt, '2031-03-01T04:00:00Z');
        await act(rig, id, 'pause');
        equal((await act(rig, id, 'resume')).body.nextAt, '2031-02-20T01:00:00Z');
        equal((await pass(rig, code, '2031-02-20T01:00:00Z')).slice(3), ['2031-02-20T01:00:00Z']);
    });
});

claim('a paused schedule does not tick; going on catches up, or not, as catchUp says', async (rig) => {
    const definition = scheduled([{ cron: '0 9 * * *' }, { cron: '0 10 * * *', catchUp: 'none' }, { cron: '0 11 * * *', catchUp: 'all' }]);
    await withSchedule(rig, '2031-04-01T00:00:00Z', definition, async (code) => {
        const all = await schedulesOf(rig, code);
        for (const { id } of all) {
            const answer = await act(rig, id, 'pause');
            equal([answer.status, answer.body.id, answer.body.status, answer.body.nextAt, answer.body.pausedAt], [200, id, 'paused', null, '2031-04-01T00:00:00Z']);
            equal((await act(rig, id, 'pause')).body.pausedAt, '2031-04-01T00:00:00Z');
        }
        equal(await pass(rig, code, '2031-04-03T12:00:00Z'), []);
        // A new version with the same expression leaves it paused.
        await rig.publish({ ...definition, name: 'another name' });
        equal((await schedulesOf(rig, code)).map((s) => [s.id, s.status, s.version]), all.map((s) => [s.id, 'paused', 2]));
        for (const { id } of all) equal((await act(rig, id, 'resume')).body.status, 'active');
        equal((await settled(rig, code)).sort(), ['2031-04-01T11:00:00Z', '2031-04-02T11:00:00Z', '2031-04-03T09:00:00Z', '2031-04-03T11:00:00Z']);
        const audit = (await rig.api('GET', '/audit?limit=50')).body.items.filter((x) => x.target === code).map((x) => x.action);
        equal([audit.filter((x) => x === 'schedule.pause').length > 0, audit.filter((x) => x === 'schedule.resume').length], [true, 3]);
    });
});

claim('run starts its process now and leaves the ticks as they are', async (rig) => {
    await withSchedule(rig, '2031-05-01T00:00:00Z', scheduled({ cron: '0 9 * * *' }), async (code, { id, nextAt }) => {
        const answer = await act(rig, id, 'run');
        equal([answer.status, answer.body.code, answer.body.input.at], [201, code, '2031-05-01T00:00:00Z']);
        equal((await rig.api('GET', `/executions/${answer.body.id}`)).body.user, SYSTEM);
        equal((await schedulesOf(rig, code))[0].nextAt, nextAt);
        const again = await act(rig, id, 'run', undefined, { 'Idempotency-Key': 'run-1' });
        equal((await act(rig, id, 'run', undefined, { 'Idempotency-Key': 'run-1' })).body.id, again.body.id);
        await act(rig, id, 'pause');
        equal((await act(rig, id, 'run')).status, 201, 'also while it is paused');
        refused(await act(rig, NOBODY, 'run'), 404, 'not_found');
        refused(await act(rig, 'nonsense', 'pause'), 404, 'not_found');
    });
});

claim('what is published says which schedules there are: changed, reverted, retired, taken back', async (rig) => {
    const definition = scheduled([{ cron: '0 9 * * *' }, { cron: '0 10 * * *' }]);
    await withSchedule(rig, '2031-06-01T00:00:00Z', definition, async (code) => {
        const [nine, ten] = await schedulesOf(rig, code);
        // The other order: each keeps its id.
        await rig.publish({ ...definition, triggers: [definition.triggers[1], definition.triggers[0]] });
        equal((await schedulesOf(rig, code)).map((s) => [s.id, s.trigger]), [[ten.id, 0], [nine.id, 1]]);
        // One goes, the other has another time.
        await rig.publish({ ...definition, triggers: [{ ...definition.triggers[0], cron: '0 8 * * *' }] });
        const [eight, ...others] = await schedulesOf(rig, code);
        equal([eight.cron, eight.nextAt, others], ['0 8 * * *', '2031-06-01T08:00:00Z', []]);
        equal(await pass(rig, code, '2031-06-01T12:00:00Z'), ['2031-06-01T08:00:00Z']);
        await rig.api('POST', `/scenarios/${code}/revert`);
        equal((await schedulesOf(rig, code)).map((s) => s.cron).sort(), ['0 10 * * *', '0 9 * * *']);
        await rig.api('POST', `/scenarios/${code}/retire`);
        equal((await schedulesOf(rig, code)).map((s) => [s.status, s.nextAt]), [['retired', null], ['retired', null]]);
        refused(await act(rig, (await schedulesOf(rig, code))[0].id, 'pause'), 409, 'conflict');
        refused(await act(rig, (await schedulesOf(rig, code))[0].id, 'run'), 409, 'retired');
        await setClock(rig, '2031-06-03T12:00:00Z');
        equal((await settled(rig, code)).length, 1);
        await rig.api('POST', `/scenarios/${code}/unretire`);
        equal((await schedulesOf(rig, code)).map((s) => [s.status, s.nextAt]).sort(), [['active', '2031-06-04T09:00:00Z'], ['active', '2031-06-04T10:00:00Z']]);
        equal((await settled(rig, code)).length, 1, 'what it has missed meanwhile is not caught up');
        const draft = await rig.api('PUT', `/scenarios/${code}/draft`, { ...definition, triggers: [] });
        equal([draft.status, (await schedulesOf(rig, code)).length], [200, 2], 'a draft changes nothing');
    });
});

claim('a tick starts beside an execution of the tick before that still runs', async (rig) => {
    const slow = scheduled({ cron: '0 * * * *' }, { steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } }] });
    await withSchedule(rig, '2031-06-10T00:30:00Z', slow, async (code) => {
        const ticks = ['2031-06-10T01:00:00Z', '2031-06-10T02:00:00Z', '2031-06-10T03:00:00Z'];
        equal(await pass(rig, code, ...ticks), ticks);
        equal((await rig.all(`/executions?code=${code}&status=waiting`)).length, 3, 'all of them run at once');
    });
});

claim('another time zone that is published moves the next tick, and brings none back', async (rig) => {
    const definition = scheduled({ cron: '0 9 * * *', timezone: 'Asia/Tokyo' });
    const move = (timezone) => rig.publish({ ...definition, triggers: [{ ...definition.triggers[0], timezone }] });
    await withSchedule(rig, '2031-06-11T12:00:00Z', definition, async (code) => {
        const next = async () => (await schedulesOf(rig, code)).map((s) => [s.timezone, s.nextAt]);
        equal(await next(), [['Asia/Tokyo', '2031-06-12T00:00:00Z']]);
        equal(await pass(rig, code, '2031-06-12T00:00:00Z'), ['2031-06-12T00:00:00Z']);
        // Nine o'clock of that day is still to come in New York: that is another tick.
        await move('America/New_York');
        equal(await next(), [['America/New_York', '2031-06-12T13:00:00Z']]);
        equal(await pass(rig, code, '2031-06-12T13:00:00Z'), ['2031-06-12T00:00:00Z', '2031-06-12T13:00:00Z']);
        // In Berlin it is past: the next one is that of tomorrow.
        await move('Europe/Berlin');
        equal(await next(), [['Europe/Berlin', '2031-06-13T07:00:00Z']]);
        equal((await pass(rig, code, '2031-06-13T06:59:59Z')).length, 2, 'nothing is caught up that this zone never missed');
        equal((await pass(rig, code, '2031-06-13T07:00:00Z')).at(-1), '2031-06-13T07:00:00Z');
    });
});

claim('a start that is refused is told, and the schedule goes on', async (rig) => {
    const busy = { code: `busy_${++number}`, settings: { key: 'the-same' }, triggers: [{ type: 'schedule', cron: '0 * * * *' }], steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } }] };
    await withSchedule(rig, '2031-07-01T00:00:00Z', busy, async (code) => {
        await setClock(rig, '2031-07-01T01:00:00Z');
        await settled(rig, code);
        await setClock(rig, '2031-07-01T02:00:00Z');
        await settled(rig, code);
        const [schedule] = await schedulesOf(rig, code);
        equal([schedule.lastError?.code, schedule.lastAt, schedule.nextAt, schedule.lastExecutionId], ['key_busy', '2031-07-01T02:00:00Z', '2031-07-01T03:00:00Z', null]);
        const entry = (await rig.api('GET', '/audit?limit=20')).body.items.find((x) => x.action === 'schedule.refused' && x.target === code);
        equal([entry.details.at, entry.details.error.code, entry.details.schedule], ['2031-07-01T02:00:00Z', 'key_busy', schedule.id]);
        const [waiting] = (await rig.api('GET', `/executions?code=${code}`)).body.items;
        await rig.api('POST', `/executions/${waiting.id}/signal?wait=5s`, { type: 'go' });
        await setClock(rig, '2031-07-01T03:00:00Z');
        await settled(rig, code);
        equal((await rig.all(`/executions?code=${code}`)).length, 2);
        equal((await schedulesOf(rig, code))[0].lastError, null);
    });
    const joins = { ...busy, code: `joins_${++number}`, settings: { key: 'x', onKeyConflict: 'join' } };
    await withSchedule(rig, '2031-07-02T00:00:00Z', joins, async (code) => {
        for (const hour of ['01', '02', '03']) {
            await setClock(rig, `2031-07-02T${hour}:00:00Z`);
            await settled(rig, code);
        }
        equal((await rig.all(`/executions?code=${code}`)).length, 1);
        equal((await schedulesOf(rig, code))[0].lastError, null);
    });
    const broken = { code: `broken_${++number}`, input: [{ name: 'n', type: 'integer', required: true }], triggers: [{ type: 'schedule', cron: '0 * * * *', input: { n: '$.config.not_a_number' } }], steps: busy.steps };
    await rig.api('PUT', '/config/not_a_number', { value: 'seven' });
    await withSchedule(rig, '2031-07-03T00:00:00Z', broken, async (code) => {
        await setClock(rig, '2031-07-03T01:00:00Z');
        await settled(rig, code);
        const [schedule] = await schedulesOf(rig, code);
        equal([schedule.lastError?.code, schedule.nextAt], ['invalid', '2031-07-03T02:00:00Z']);
        refused(await act(rig, schedule.id, 'run'), 422, 'invalid');
    });
});

claim('what is wrong with a schedule is found when it is saved, with its column', async (rig) => {
    const wrong = async (trigger) => {
        const answer = await rig.api('POST', '/validate', { kind: 'scenario', definition: scheduled(trigger) });
        return answer.body.errors.map((e) => [e.pointer, e.column ?? null, e.message, e.hint ?? null]);
    };
    equal(await wrong({ cron: '0 24 * * *' }), [['/triggers/0/cron', 3, '24 is no hour: these are 0 to 23', 'midnight is hour 0']]);
    equal(await wrong({ cron: '0 0 30 2 *' }), [['/triggers/0/cron', 5, 'the day 30 never comes in the months of this expression', 'L is the last day of a month']]);
    equal((await wrong({ cron: '0 9 * * *', timezone: 'Europe/Nowhere' }))[0][0], '/triggers/0/timezone');
    equal((await wrong({ cron: '0 9 * * *', input: { at: '$.schedule.when' } }))[0][0], '/triggers/0/input/at');
    equal(await wrong({ cron: '0 9 * * *', timezone: '+03:00' }), []);
});

claim('preview shows the next ten times, on both clocks', async (rig) => {
    await setClock(rig, '2032-03-27T12:00:00Z');
    const ask = (cron, timezone) => rig.api('GET', `/schedules/preview?cron=${encodeURIComponent(cron)}${timezone ? `&timezone=${encodeURIComponent(timezone)}` : ''}`);
    const { body } = await ask('30 2 * * *', 'Europe/Berlin');
    equal([body.cron, body.timezone, body.items.length], ['30 2 * * *', 'Europe/Berlin', 10]);
    equal(body.items.slice(0, 2), [{ at: '2032-03-28T01:00:00Z', local: '2032-03-28T03:00:00+02:00' }, { at: '2032-03-29T00:30:00Z', local: '2032-03-29T02:30:00+02:00' }]);
    equal((await ask('0 0 1 1 *')).body.items.at(-1), { at: '2042-01-01T00:00:00Z', local: '2042-01-01T00:00:00+00:00' });
    const problem = refused(await ask('0 0 * * MONDAY'), 422, 'invalid');
    equal([problem.errors[0].pointer, problem.errors[0].column, problem.errors[0].hint], ['/cron', 9, 'names have three letters: MON']);
    refused(await ask('0 9 * * *', 'Europe/Nowhere'), 422, 'invalid');
    refused(await ask(''), 422, 'invalid');
});

claim('schedules belong to the organisation of their trigger, and roles and access hold', async (rig) => {
    const org = '01900000-0000-7000-8000-000000000077';
    const user = async (role, org_id) => {
        const { body } = await rig.api('POST', '/users', { name: `${role}_${++number}`, role, ...(org_id ? { org_id } : {}) });
        return { authorization: `Bearer ${body.token}` };
    };
    const operator = await user('operator', org);
    const viewer = await user('viewer');
    const stranger = await user('operator');
    await withSchedule(rig, '2033-01-01T00:00:00Z', scheduled({ cron: '0 9 * * *', org_id: org }), async (code) => {
        equal(await schedulesOf(rig, code), [], 'an admin of another organisation does not see it');
        const [schedule] = (await rig.api('GET', `/schedules?code=${code}`, undefined, operator)).body.items;
        equal(schedule.orgId, org);
        refused(await act(rig, schedule.id, 'pause'), 404, 'not_found');
        await setClock(rig, '2033-01-01T09:00:00Z');
        await until('it ticks', async () => (await rig.api('GET', `/executions?code=${code}`, undefined, operator)).body.items.length === 1);
        equal((await rig.api('GET', `/executions?code=${code}`)).body.items, []);
        equal((await act(rig, schedule.id, 'run', undefined, operator)).status, 201);
    });
    await withSchedule(rig, '2033-02-01T00:00:00Z', scheduled({ cron: '0 9 * * *' }, { access: { start: ['group:finance'], operate: ['group:finance'] } }), async (code, { id }) => {
        refused(await act(rig, id, 'pause', undefined, viewer), 403, 'forbidden');
        refused(await act(rig, id, 'run', undefined, stranger), 403, 'forbidden');
        refused(await act(rig, id, 'pause', undefined, stranger), 403, 'forbidden');
        equal((await rig.api('GET', `/schedules?code=${code}`, undefined, viewer)).body.items.length, 1);
        equal((await pass(rig, code, '2033-02-01T09:00:00Z')).length, 1, 'its own ticks start it all the same');
    });
});

claim('several nodes on one database act upon each tick once', async (rig) => {
    const other = new Server(join(rig.folder, 'other'), { beside: rig.server, store: rig.store, program: checkProgram });
    check(await other.start({ PAWL_CLOCK_FILE: clockFile(rig) }), other.log);
    try {
        const definition = scheduled(Array.from({ length: 20 }, (_, i) => ({ cron: `${i} * * * *`, catchUp: 'all' })));
        await withSchedule(rig, '2034-01-01T00:00:30Z', definition, async (code) => {
            const client = other.client();
            for (let minute = 1; minute <= 60; minute += 7) {
                await setClock(rig, `2034-01-01T00:${String(minute).padStart(2, '0')}:00Z`.replace('00:60', '01:00'));
                await Promise.all([rig.api('GET', '/schedules?limit=1'), client.ask('GET', '/api/v1/schedules?limit=1')]);
            }
            await setClock(rig, '2034-01-01T02:00:00Z');
            await client.ask('GET', '/api/v1/schedules?limit=1');
            const ticks = (await settled(rig, code)).sort();
            const wanted = [];
            for (let m = 1; m <= 120; m++) if (m % 60 < 20) wanted.push(new Date(Date.parse('2034-01-01T00:00:00Z') + m * 60e3).toISOString().replace('.000', ''));
            equal(ticks, wanted);
            client.close();
        });
    } finally {
        await other.stop();
    }
}, 'PostgreSQL');

claim('the metrics count ticks and how late they were', async (rig) => {
    const { raw: text } = await rig.client.ask('GET', '/metrics');
    for (const outcome of ['started', 'refused', 'joined', 'left_out'])
        check(new RegExp(`pawl_schedule_ticks_total\\{[^}]*outcome="${outcome}"[^}]*\\} [1-9]`).test(text), `${outcome}: ${text.match(/pawl_schedule_ticks_total.*/g)}`);
    check(/pawl_schedule_lateness_seconds_count [1-9]/.test(text), 'lateness');
});

claim('a zone that this machine does not have is told where schedules are listed, and in the log', async (rig) => {
    const definition = scheduled({ cron: '0 9 * * *', timezone: 'Europe/Berlin' });
    await withSchedule(rig, '2036-01-01T10:00:00Z', definition, async (code) => {
        equal((await schedulesOf(rig, code))[0].lastError, null);
        writeClock(rig, '2036-01-02T10:00:00Z');
        await rig.restart({ PAWL_CLOCK_FILE: clockFile(rig), TZDIR: rig.folder });
        const [schedule] = await schedulesOf(rig, code);
        equal([schedule.status, schedule.lastError.code], ['active', 'not_found_timezone']);
        check(schedule.lastError.message.includes('Europe/Berlin'), schedule.lastError.message);
        await until('the log tells it', () => rig.server.log.includes('a schedule does not tick'));
        equal(await ticksOf(rig, code), []);
        await rig.restart({ PAWL_CLOCK_FILE: clockFile(rig) });
        equal(await settled(rig, code), ['2036-01-02T08:00:00Z']);
        equal((await schedulesOf(rig, code))[0].lastError, null);
    });
});

await run(async (rig) => {
    number = 0;
    writeClock(rig, '2027-01-01T00:00:00Z');
    await rig.restart({ PAWL_CLOCK_FILE: clockFile(rig) });
}, checkProgram);
