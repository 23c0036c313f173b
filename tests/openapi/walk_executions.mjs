// walk_executions.mjs - the part of walk.mjs about executions: begun, answered, repaired, listed, followed.
import { createServer } from 'node:http';

import { NOBODY, greeting, waiting, failing, holding, eventful, publish } from './walk_world.mjs';

export async function walkExecutions(api, holds) {
    const start = (body, more = {}, wanted = 201) => api.call('startExecution', { body, ...more }, wanted);
    const ended = await start({ code: 'greeting', input: { who: 'Ada' } }, { query: { wait: '10s' } });
    holds(ended.json.status === 'completed' && ended.json.result.text === 'Hello, Ada', 'a waited start has ended');
    holds(ended.headers.location === `/api/v1/executions/${ended.json.id}`, 'Location names it');
    const held = await start({ scenario: 'waiting', key: 'walk-1' }, { headers: { 'Idempotency-Key': 'walk-start' } });
    const id = held.json.id;
    await start({ scenario: 'waiting', key: 'walk-1' }, { headers: { 'Idempotency-Key': 'walk-start' } }, 200);
    const other = await start({ scenario: 'waiting', key: 'walk-2' }, { headers: { 'Idempotency-Key': 'walk-start' } }, 409);
    holds(other.json.code === 'idempotency_conflict', 'a key for another request is a conflict');
    const busy = await start({ code: 'waiting', key: 'walk-1' }, {}, 409);
    holds(busy.json.code === 'key_busy' && busy.json.executionId === id, 'a busy key says who has it');
    const slow = await start({ code: 'waiting' }, { query: { wait: '1ms' } }, 202);
    await start({ code: 'nothing' }, {}, 404);
    await start({ code: 'greeting', version: 99 }, {}, 404);
    await start({ code: 'greeting', input: { who: 7, whom: 'x' } }, {}, 422);
    await start({ code: 'greeting' }, { query: { wait: 'long' } }, 400);
    for (const key of ['\xff', 'a\xe9', 'k'.repeat(256)]) await start({ code: 'greeting' }, { headers: { 'Idempotency-Key': key } }, 400);
    const failed = await start({ code: 'failing' }, { query: { wait: '' } });
    holds(failed.json.status === 'failed' && failed.json.error.code === 'no_stock', 'a failed one says why');
    const incident = await start({ code: 'holding' }, { query: { wait: '100ms' } }, 202);
    holds(incident.json.waitingFor.kind === 'incident', 'one that is held waits as an incident');

    for (const one of [ended, held, slow, failed, incident]) {
        await api.call('getExecution', { path: { id: one.json.id } }, 200);
        await api.call('listSteps', { path: { id: one.json.id } }, 200);
    }
    await api.call('getExecution', { path: { id: NOBODY } }, 404);
    await api.call('listSteps', { path: { id: NOBODY } }, 404);
    await api.call('listSteps', { path: { id }, query: { cursor: 'x' } }, 400);
    await api.call('listSteps', { path: { id }, query: { order: 'newest', limit: 1 } }, 200);
    const steps = await api.call('listSteps', { path: { id }, query: { limit: 1 } }, 200);
    await api.call('listSteps', { path: { id }, query: { limit: 1, cursor: steps.json.nextCursor } }, 200);
    await walkAgain(api, holds);
    await walkLists(api, holds, id);
    await walkEventful(api, holds);
    await walkSignals(api, holds, id);

    await walkPause(api, holds, slow.json.id, id);
    await walkDebug(api, holds, 'waiting', id);
    await walkInbox(api, holds, slow.json.id, id);
    await walkCallbacks(api, holds);
    await api.call('cancelExecution', { path: { id: slow.json.id }, body: { reason: 'enough' } }, 202);
    const gone = await api.call('getExecution', { path: { id: slow.json.id } }, 200);
    holds(gone.json.status === 'cancelled' && !gone.json.actions.includes('cancel'), 'a cancelled one is cancelled');
    await api.call('cancelExecution', { path: { id: slow.json.id } }, 409);
    await api.call('cancelExecution', { path: { id: NOBODY } }, 404);
    await walkRepair(api, holds, held.json.id, failed.json.id);
    await api.call('cancelExecution', { path: { id: incident.json.id }, body: { raeson: 'x' } }, 422);
    await api.call('cancelExecution', { path: { id: incident.json.id } }, 202);
}

async function walkPause(api, holds, id, ended) {
    const path = { id };
    await api.call('resumeExecution', { path }, 409);
    await api.call('pauseExecution', { path, body: { reason: 'x'.repeat(1001) } }, 422);
    await api.call('pauseExecution', { path, body: { reason: 'not now' } }, 202);
    const paused = (await api.call('getExecution', { path }, 200)).json;
    holds(paused.waitingFor.kind === 'paused' && paused.waitingFor.branches.length === 1 && paused.actions.includes('resume'), 'a paused one says so');
    await api.call('pauseExecution', { path }, 409);
    await api.call('resumeExecution', { path, body: { why: 1 } }, 422);
    await api.call('resumeExecution', { path, body: {} }, 202);
    for (const action of ['pause', 'resume']) {
        const many = { action, filter: { code: paused.code, status: 'waiting' } };
        const done = await api.call('changeExecutions', { body: many }, 200);
        holds(done.json.done > 0, `many are told to ${action}`);
    }
    for (const operation of ['pauseExecution', 'resumeExecution']) {
        await api.call(operation, { path: { id: ended } }, 409);
        await api.call(operation, { path: { id: NOBODY } }, 404);
    }
}

async function walkDebug(api, holds, code, ended) {
    const start = { code, debug: true, breakpoints: [] };
    await api.call('startExecution', { body: { ...start, breakpoints: ['nowhere'] } }, 422);
    const { id } = (await api.call('startExecution', { body: start }, 201)).json;
    const path = { id };
    const stopped = (await api.call('getExecution', { path }, 200)).json;
    holds(stopped.debug && stopped.waitingFor?.kind === 'debug' && stopped.actions.includes('continue'), 'a stopped one says so');
    await api.call('setBreakpoints', { path, body: { nodes: ['nowhere'] } }, 422);
    await api.call('setBreakpoints', { path, body: { nodes: [stopped.currentStep] } }, 202);
    await api.call('continueExecution', { path, body: { to: 'nowhere' } }, 422);
    await api.call('pauseExecution', { path }, 409);
    await api.call('continueExecution', { path, body: { to: 'end', set: { variables: { x: 1 } } } }, 202);
    for (const [operation, body] of [['continueExecution', {}], ['setBreakpoints', { nodes: [] }]]) {
        await api.call(operation, { path: { id: ended }, body }, 409);
        await api.call(operation, { path: { id: NOBODY }, body }, 404);
    }
}

async function walkInbox(api, holds, waits, ended) {
    const me = (await api.call('getMe', {}, 200)).json;
    const path = { id: waits };
    await api.call('listInbox', { query: { cursor: 'x' } }, 400);
    await api.call('assignExecution', { path, body: { assignee: [] } }, 422);
    await api.call('assignExecution', { path, body: { step: 'nowhere', assignee: me.id } }, 409);
    await api.call('assignExecution', { path: { id: ended }, body: { assignee: me.id } }, 409);
    await api.call('assignExecution', { path: { id: NOBODY }, body: { assignee: me.id } }, 404);
    await publish(api, { code: 'asking', steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: ['yes', 'no'], title: 'May we?', assignee: me.id, timeout: '1h', show: [{ label: 'Sum', value: 12 }], then: [{ label: 'Yes', text: 'It ships.' }], form: [{ name: 'n', type: 'integer', required: true }] } }] });
    for (const query of [{}, { wait: '5s' }]) {
        const { id } = (await api.call('startExecution', { body: { code: 'asking' } }, 201)).json;
        const mine = (await api.call('listInbox', {}, 200)).json.items;
        const item = { itemId: mine.find((i) => i.executionId === id)?.id };
        holds(item.itemId !== undefined, 'what is assigned to the caller is in the inbox');
        await api.call('answerInbox', { path: item, body: { payload: { n: 1 } } }, 422);
        await api.call('answerInbox', { path: { itemId: 'nothing' }, body: {} }, 404);
        await api.call('answerInbox', { path: item, query, body: { type: 'yes', payload: { n: 1 } } }, query.wait ? 200 : 202);
        await api.call('answerInbox', { path: item, body: { type: 'yes', payload: { n: 1 } } }, 409);
    }
    holds((await api.call('listInbox', { query: { answered: 'true' } }, 200)).json.items.length >= 2, 'what was answered is listed');
    const given = (await api.call('startExecution', { body: { code: 'asking' } }, 201)).json.id;
    await api.call('assignExecution', { path: { id: given }, body: { assignee: 'group:others' } }, 202);
    const rows = (await api.call('listSteps', { path: { id: given }, query: { events: true } }, 200)).json.items;
    holds(rows.some((row) => row.status === 'assigned'), 'an assignment is in the history');
    await api.call('cancelExecution', { path: { id: given } }, 202);
}

/** The tokens of links that executions tell a server of ours. */
async function tokens(api, count, code) {
    const found = [];
    const server = createServer((request, response) => {
        let body = '';
        request.on('data', (part) => (body += part));
        request.on('end', () => {
            found.push(body.split('/').pop());
            response.writeHead(200).end();
        });
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${server.address().port}/`;
    await publish(api, { code, steps: [
        { code: 'tell', procedure: { type: 'integration.http', method: 'POST', url, body: '$.execution.callbackUrl' } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go', public: true, timeout: '1h', form: [{ name: 'n', type: 'integer', required: true }] } },
    ] });
    for (let i = 0; i < count; i++) {
        const { id } = (await api.call('startExecution', { body: { code } }, 201)).json;
        while ((await api.call('getExecution', { path: { id } }, 200)).json.currentStep !== 'ask') await new Promise((done) => setTimeout(done, 10));
    }
    server.close();
    return found;
}

async function walkCallbacks(api, holds) {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const links = await tokens(api, 4, 'linked');
    for (const [show, answer, type] of [['showCallback', 'answerCallback', {}], ['showCallbackOfType', 'answerCallbackOfType', { type: 'go' }]]) {
        const page = { token: links.pop(), ...type }, program = { token: links.pop(), ...type };
        await api.call(show, { path: { token: 'nothing', type: 'go' } }, 404);
        holds((await api.call(show, { path: page }, 200)).raw.includes('<form'), 'a link shows a form');
        for (const path of [page, program]) {
            const headers = path === page ? form : {};
            await api.call(answer, { path, headers, body: path === page ? 'n=x' : { n: 'x' } }, 422);
            await api.call(answer, { path, headers, body: path === page ? 'n=%ff' : '{' }, 400);
            await api.call(answer, { path, headers, body: path === page ? 'n=1' : { n: 1 } }, path === page ? 200 : 202);
            await api.call(answer, { path, headers, body: path === page ? 'n=1' : { n: 1 } }, 404);
        }
    }
}

async function walkRepair(api, holds, ended, failed) {
    const incident = async () => ({ id: (await api.call('startExecution', { body: { code: 'holding' } }, 201)).json.id });
    let path = await incident();
    const before = (await api.call('getExecution', { path }, 200)).json;
    holds(['retry', 'skip', 'migrate'].every((action) => before.actions.includes(action)), 'what is held can be repaired');
    await api.call('retryExecution', { path }, 202);
    await api.call('retryExecution', { path, body: { from: before.currentStep, version: before.version } }, 202);
    await api.call('retryExecution', { path, body: { from: 'nowhere' } }, 422);
    await api.call('retryExecution', { path, body: { version: 99 } }, 422);
    await api.call('migrateExecution', { path, body: { version: before.version } }, 202);
    await api.call('migrateExecution', { path, body: {} }, 422);
    await api.call('skipStep', { path, body: { output: { n: 1 } } }, 202);
    path = await incident();
    await api.call('skipStep', { path }, 202);
    const after = (await api.call('getExecution', { path }, 200)).json;
    holds(after.status === 'completed' && !after.actions.includes('skip'), 'without its step it goes on');
    await api.call('skipStep', { path, body: { outptu: 1 } }, 422);
    await api.call('retryExecution', { path: { id: failed } }, 202);
    for (const id of [ended, NOBODY]) {
        const wanted = id === ended ? 409 : 404;
        await api.call('retryExecution', { path: { id } }, wanted);
        await api.call('skipStep', { path: { id } }, wanted);
        await api.call('migrateExecution', { path: { id }, body: { version: 1 } }, wanted);
    }
}

async function walkEventful(api, holds) {
    const { json } = await api.call('startExecution', { body: { code: 'eventful' } }, 201);
    const path = { id: json.id };
    holds(json.waitingFor.title === 'May we?' && json.waitingFor.form.length === 1 && json.waitingFor.public, 'a wait says what people are asked');
    await api.call('signalExecution', { path, body: { type: 'yes', payload: { n: 2 } } }, 202);
    const unmatched = await api.call('getExecution', { path }, 200);
    holds(unmatched.json.waitingFor.unmatched === 1, 'a signal that does not match is counted');
    await api.call('signalExecution', { path, body: { type: 'yes', payload: { n: 'many' } } }, 422);
    await api.call('signalExecution', { path, body: { type: 'no', payload: { n: 1 } }, query: { wait: '10s' } }, 200);
    await api.events('followExecution', { path });
    const end = await api.call('getExecution', { path }, 200);
    holds(end.json.status === 'failed' && end.json.error.compensation.compensated.length === 2, 'a failure is told with what was undone');
    const steps = await api.call('listSteps', { path }, 200);
    const seen = new Set(steps.json.items.map((s) => `${s.kind} ${s.status}`));
    for (const row of ['forward completed', 'forward failed', 'rollback compensated']) holds(seen.has(row), `history has a row ${row}: ${[...seen]}`);
}

async function walkAgain(api, holds) {
    const first = await api.call('startExecution', { body: { code: 'greeting', input: { who: 'Ada' } }, query: { wait: '10s' } }, 201);
    const path = { id: first.json.id };
    const headers = { 'Idempotency-Key': 'walk-again' };
    const again = await api.call('startAgain', { path, headers }, 201);
    holds(again.json.againOf === first.json.id, 'the new one names the old one');
    await api.call('startAgain', { path, headers }, 200);
    await api.call('startAgain', { path, body: { version: 77 } }, 404);
    await api.call('startAgain', { path, body: { version: 0 } }, 422);
    await api.call('startAgain', { path, query: { wait: 'long' } }, 400);
    await api.call('startAgain', { path: { id: NOBODY } }, 404);
    const live = await api.call('startExecution', { body: { code: 'waiting' } }, 201);
    await api.call('startAgain', { path: { id: live.json.id } }, 409);
    await api.call('cancelExecution', { path: { id: live.json.id } }, 202);
    await api.call('startAgain', { path: { id: live.json.id }, query: { wait: '1ms' } }, 202);
    await api.call('listLogs', { path, query: { limit: 1 } }, 200);
    await api.call('listLogs', { path, query: { cursor: 'x' } }, 400);
    await api.call('listLogs', { path: { id: NOBODY } }, 404);
}

async function walkLists(api, holds, id) {
    const first = await api.call('listExecutions', { query: { limit: 1 } }, 200);
    holds(first.json.nextCursor !== null, 'a page of one has a next one');
    await api.call('listExecutions', { query: { limit: 2, cursor: first.json.nextCursor } }, 200);
    const found = await api.call('listExecutions', {
        query: { kind: 'scenario', code: 'waiting', status: 'waiting', key: 'walk-1', step: 'ask', from: '2020-01-01', to: '2999-01-01T00:00:00Z', q: id },
    }, 200);
    holds(found.json.items.length === 1 && found.json.items[0].id === id, 'all filters together find one');
    await api.call('listExecutions', { query: { parent: id, error: 'x', waiting: 'signal', deadlineBefore: '2h', order: 'oldest' } }, 200);
    for (const by of ['code', 'status', 'step', 'error']) {
        const counts = await api.call('summarizeExecutions', { query: { by } }, 200);
        holds(by === 'error' || counts.json.items.length > 0, `executions are counted by ${by}`);
    }
    await api.call('summarizeExecutions', { query: { by: 'size' } }, 400);
    for (const query of [{ limit: 501 }, { from: 'soon' }, { status: 'asleep' }, { cursor: 'x' }])
        await api.call('listExecutions', { query }, 400);
}

async function walkSignals(api, holds, id) {
    const signal = (body, more = {}, wanted = 202) => api.call('signalExecution', { path: { id }, body, ...more }, wanted);
    await signal({ type: 'other', id: 's1', payload: [1] });
    await signal({ type: 'other', id: 's1', payload: [1] });
    await signal({ type: 'other', id: 's1', payload: [2] }, {}, 409);
    await signal({ type: '' }, {}, 422);
    await api.call('signalExecution', { path: { id: NOBODY }, body: { type: 'go' } }, 404);
    const taken = await signal({ type: 'go', payload: { a: 1 } }, { query: { wait: '10s' } }, 200);
    holds(taken.json.step.step === 'ask' && taken.json.executionId === id, 'a signal is answered with the step that took it');
    const done = await api.call('getExecution', { path: { id } }, 200);
    holds(done.json.status === 'completed' && done.json.result.got.a === 1, 'what was signalled arrived');
    await signal({ type: 'go' }, {}, 409);
}

export async function walkEvents(api, holds) {
    const { id } = (await api.call('startExecution', { body: { code: 'waiting' } }, 201)).json;
    const first = await api.events('followExecution', { path: { id }, until: (all) => all.some((e) => e.event === 'status') });
    holds(first.events.map((e) => e.event).join() === 'step,step,status' && !first.hasEnded, 'an execution is followed to where it waits');
    await api.call('signalExecution', { path: { id }, body: { type: 'go' }, query: { wait: '10s' } }, 200);
    const last = first.events.at(-1).id;
    const rest = await api.events('followExecution', { path: { id }, headers: { 'Last-Event-ID': last } });
    holds(rest.hasEnded && rest.events.at(-1).data.status === 'completed' && rest.events.every((e) => e.id > last), 'and then to its end');
    const same = await api.events('followExecution', { path: { id }, query: { after: last } });
    holds(JSON.stringify(same) === JSON.stringify(rest), 'after says the same as Last-Event-ID');
    await api.call('followExecution', { path: { id: NOBODY } }, 404);
    await api.call('followExecution', { path: { id }, query: { after: 'x' } }, 400);

    const other = new api.constructor(api.url, api.token, api.doc);
    const feed = api.events('followAll', { query: { code: 'waiting' }, headers: { 'Last-Event-ID': 0 }, until: (all) => all.some((e) => e.event === 'execution') });
    // Nobody says when the feed has begun, so something happens until it was heard.
    let heard = false;
    feed.then(() => (heard = true), () => (heard = true));
    while (!heard) {
        const { json } = await other.call('startExecution', { body: { code: 'waiting' } }, 201);
        await other.call('cancelExecution', { path: { id: json.id } }, 202);
    }
    const { events } = await feed;
    holds(events[0].event === 'reset', 'a reconnect to the feed begins with reset');
    other.close();
    await api.call('followAll', { query: { status: 'asleep' } }, 400);
}

export async function walkMany(api, holds) {
    const { id } = (await api.call('startExecution', { body: { code: 'waiting', key: 'many-1' } }, 201)).json;
    await api.call('sendSignal', { body: { type: 'other', key: 'many-1', payload: 1, id: 'm1' } }, 202);
    await api.call('sendSignal', { body: { type: 'other', key: 'many-1', payload: 2, id: 'm1' } }, 409);
    await api.call('sendSignal', { body: { type: 'other', key: 'nobody' } }, 404);
    await api.call('sendSignal', { body: { type: 'other' } }, 422);
    await api.call('deleteExecution', { path: { id } }, 409);

    const steps = (await api.call('listSteps', { path: { id } }, 200)).json.items;
    const then = await api.call('getContext', { path: { id }, query: { at: steps[0].id } }, 200);
    holds(then.json.variables.n === 1, 'a context is shown as it was');
    await api.call('getContext', { path: { id } }, 200);
    await api.call('getContext', { path: { id }, query: { at: NOBODY } }, 404);

    const all = { action: 'cancel', filter: { code: 'waiting', status: ['waiting'] } };
    const dry = await api.call('changeExecutions', { body: { ...all, dryRun: true } }, 200);
    holds(dry.json.matched > 0 && dry.json.done === 0, 'a dry run counts');
    const key = { 'Idempotency-Key': 'many-bulk' };
    const done = await api.call('changeExecutions', { body: all, headers: key }, 200);
    holds(done.json.done === dry.json.matched && !done.json.more, 'many are cancelled');
    await api.call('changeExecutions', { body: { ...all, limit: 1 }, headers: key }, 409);
    await api.call('changeExecutions', { body: { action: 'explode', filter: {} } }, 422);
    await api.call('deleteExecution', { path: { id } }, 204);
    await api.call('deleteExecution', { path: { id } }, 404);
}

export async function walkDeadLetters(api, holds) {
    const held = [];
    for (let i = 0; i < 3; i++) held.push((await api.call('startExecution', { body: { code: 'holding' } }, 201)).json.id);
    const page = await api.call('listDeadLetters', { query: { limit: 1, code: 'holding', kind: 'incident', status: 'open' } }, 200);
    holds(page.json.items[0].executionId === held[2] && page.json.nextCursor !== null, 'dead letters are listed, newest first');
    await api.call('listDeadLetters', { query: { limit: 1, cursor: page.json.nextCursor, from: '2026-01-01', to: '2999-01-01T00:00:00Z' } }, 200);
    const one = await api.call('listDeadLetters', { query: { execution: held[0], status: 'all' } }, 200);
    holds(one.json.items.length === 1 && one.json.items[0].cause.code === 'no_stock', 'an incident has one letter');
    await api.call('listDeadLetters', { query: { status: 'opn' } }, 400);
    const path = { letterId: one.json.items[0].id };
    await api.call('getDeadLetter', { path }, 200);
    await api.call('getDeadLetter', { path: { letterId: NOBODY } }, 404);

    const resolve = (body, headers, wanted, to = path) => api.call('resolveDeadLetter', { path: to, body, headers }, wanted);
    const key = { 'Idempotency-Key': 'walk-letter' };
    await resolve({}, {}, 422);
    await resolve({ note: 'x', outcome: 'succeeded' }, {}, 422);
    await resolve({ note: 'x' }, {}, 404, { letterId: NOBODY });
    await resolve({ note: 'x' }, { 'Idempotency-Key': 'k'.repeat(256) }, 400);
    const closed = await resolve({ note: 'counted again' }, key, 200);
    holds(closed.json.status === 'resolved' && closed.json.note === 'counted again', 'a letter is resolved with a note');
    await resolve({ note: 'counted again' }, key, 200);
    await resolve({ note: 'other' }, key, 409);

    const many = (body, wanted, headers = {}) => api.call('retryDeadLetters', { body, headers }, wanted);
    const counted = await many({ action: 'retry', filter: { kind: 'incident' }, dryRun: true }, 200);
    holds(counted.json.matched > 0 && counted.json.done === 0, 'a dry-run counts the letters');
    await many({ action: 'retry', filter: { code: 'nothing' } }, 200, { 'Idempotency-Key': 'walk-letters' });
    await many({ action: 'retry', filter: { code: 'other' } }, 409, { 'Idempotency-Key': 'walk-letters' });
    await many({ action: 'retry', filter: { kind: 'none' } }, 422);

    const retry = (to, wanted, more = {}) => api.call('retryDeadLetter', { path: to, ...more }, wanted);
    await retry(path, 409);
    await retry({ letterId: NOBODY }, 404);
    await retry(path, 422, { body: { what: 1 } });
    await retry({ letterId: page.json.items[0].id }, 202);
}
