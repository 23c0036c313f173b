#!/usr/bin/env node
// Server-sent events of the real server, on both stores: an execution is followed without a gap
// and without a repeat, whatever happens on the way; the feed hints, or says that it did not.
import { readFileSync } from 'node:fs';
import net from 'node:net';

import { equal, Skip } from '../lib/claims.mjs';
import { checkProgram } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { Listener, parse } from './listen.mjs';

// Many waits in a row: each signal moves it by one.
const WAITS = 40;
const chain = {
    code: 'chain',
    steps: Array.from({ length: WAITS }, (_, i) => ({
        code: `s${i}`,
        procedure: { type: 'wait.signal', signalType: 'go' },
    })),
};
const quick = { code: 'quick', steps: [{ code: 'only', procedure: { type: 'compute.transform', data: { a: 1 } } }] };

class World {
    constructor(rig) {
        this.rig = rig;
        this.server = rig.server;
    }

    async ask(method, path, body, want) {
        const answer = await this.rig.api(method, path, body);
        if (want !== undefined) equal(answer.status, want, `${method} ${path}: ${answer.raw}`);
        return answer.body;
    }

    start = async (code) => (await this.ask('POST', '/executions', { code }, 201)).id;
    signal = (id, payload = 1) => this.ask('POST', `/executions/${id}/signal`, { type: 'go', payload }, 202);
    steps = async (id) => (await this.ask('GET', `/executions/${id}/steps`, undefined, 200)).items;
    follow = (id, options) => new Listener(this.server, `/executions/${id}/events`, options);
    feed = (query = '', options = {}) => new Listener(this.server, `/events${query}`, options);
}

const claimOf = (name, test) => claim(name, (rig) => test(new World(rig)));

/** What was heard is the history: every visible row once, in order, under its seq. */
function isHistory(events, steps, what) {
    const rows = events.filter((e) => e.type === 'step');
    equal(rows.map((e) => e.data), steps, what);
    equal(rows.map((e) => e.id), steps.map((s) => s.seq), `${what}: ids`);
    const ids = events.map((e) => e.id);
    equal(ids.every((id, i) => i === 0 || id >= ids[i - 1]), true, `${what}: ids never go back`);
}

claimOf('an execution is followed to its end', async (w) => {
    const id = await w.start('chain');
    const live = w.follow(id);
    await live.opened;
    equal([live.status, live.headers['content-type'], live.headers['cache-control']],
        [200, 'text/event-stream', 'no-store']);
    await until('the first status', () => live.events.length > 0);
    equal([live.events[0].type, live.events[0].data.status, live.events[0].data.currentStep],
        ['status', 'waiting', 's0']);
    equal(live.events[0].data.waitingFor.kind, 'signal');
    for (let i = 0; i < WAITS; i++) await w.signal(id, i);
    await live.over;
    equal(live.isWhole, true, 'it ends by itself');
    isHistory(live.events, await w.steps(id), 'live');
    const statuses = live.of('status');
    equal(statuses.map((s) => s.currentStep), [...chain.steps.map((s) => s.code), null]);
    const shown = await w.ask('GET', `/executions/${id}`, undefined, 200);
    equal([statuses.at(-1).status, statuses.at(-1).rowVersion, statuses.at(-1).at],
        ['completed', shown.rowVersion, shown.updatedAt]);
    const later = w.follow(id);
    await later.over;
    isHistory(later.events, await w.steps(id), 'afterwards');
    equal(later.of('status').map((s) => s.status), ['completed']);
});

claimOf('a stream begins behind Last-Event-ID, or behind ?after', async (w) => {
    const id = await w.start('chain');
    for (let i = 0; i < 5; i++) await w.signal(id, i);
    await w.ask('POST', `/executions/${id}/cancel`, {}, 202);
    const steps = await w.steps(id);
    for (const last of [0, ...steps.map((s) => s.seq), 1000000, 2 ** 40]) {
        const rest = steps.filter((s) => s.seq > last);
        const byHeader = w.follow(id, { last });
        const byQuery = new Listener(w.server, `/executions/${id}/events?after=${last}`);
        await Promise.all([byHeader.over, byQuery.over]);
        isHistory(byHeader.events, rest, `behind ${last}`);
        equal(byHeader.of('status').map((s) => s.status), ['cancelled']);
        equal(byQuery.events, byHeader.events);
    }
});

claimOf('whoever comes in the middle misses nothing and hears nothing twice', async (w) => {
    const id = await w.start('chain');
    const listeners = [];
    const signals = (async () => {
        for (let i = 0; i < WAITS; i++) await w.signal(id, 'x'.repeat(i * 50));
    })();
    for (let i = 0; i < 60; i++) {
        listeners.push(w.follow(id));
        await listeners.at(-1).opened;
    }
    await signals;
    await Promise.all(listeners.map((l) => l.over));
    const steps = await w.steps(id);
    listeners.forEach((l, i) => isHistory(l.events, steps, `listener ${i}`));
});

claimOf('a long history comes whole, and so does one large row', async (w) => {
    const id = await w.start('chain');
    for (let i = 0; i < WAITS - 1; i++) await w.signal(id, 'x'.repeat(i === 7 ? 150000 : 5000));
    const behind = w.follow(id);
    await until('it has caught up', () => behind.of('status').length > 0);
    await w.signal(id, 'y'.repeat(90000));
    await behind.over;
    isHistory(behind.events, await w.steps(id), 'behind');
});

claimOf('after kill -9 a client goes on where it was', async (w) => {
    const id = await w.start('chain');
    const heard = [];
    let sent = 0;
    for (let round = 0; round < 4; round++) {
        const listener = w.follow(id, { last: heard.at(-1)?.id });
        await listener.opened;
        for (let i = 0; i < 6; i++, sent++) await w.signal(id, sent);
        const asked = w.rig.api('POST', `/executions/${id}/signal`, { type: 'go', id: `last-${round}` });
        await until('something was heard', () => listener.of('step').length > 0);
        await w.server.kill();
        await Promise.all([asked, listener.over]);
        equal(listener.isWhole, false, 'it did not end');
        heard.push(...listener.events);
        await w.rig.start();
    }
    await w.ask('POST', `/executions/${id}/cancel`, {}, 202);
    const rest = w.follow(id, { last: heard.at(-1).id });
    await rest.over;
    isHistory([...heard, ...rest.events], await w.steps(id), 'all together');
});

claimOf('a client that does not read is cut, and goes on later', async (w) => {
    const id = await w.start('chain');
    const slow = w.follow(id);
    await until('the first status', () => slow.events.length > 0);
    slow.response.pause();
    const other = w.follow(id);
    await until('the other hears', () => other.events.length > 0);
    const before = w.server.socketCount();
    let sent = 0;
    // The kernel keeps some for a client that does not read; what is beyond that waits here.
    await until('it is cut', async () => {
        if (sent++ < 20) await w.signal(id, 'z'.repeat(24000));
        else await w.ask('POST', `/executions/${id}/signal`, { type: 'nobody' }, 202);
        return w.server.socketCount() < before;
    });
    slow.response.resume();
    await slow.over;
    equal(slow.isWhole, false);
    await w.ask('POST', `/executions/${id}/cancel`, {}, 202);
    await other.over;
    const steps = await w.steps(id);
    isHistory(other.events, steps, 'the other one');
    const rest = w.follow(id, { last: slow.last });
    await rest.over;
    isHistory([...slow.events, ...rest.events], steps, 'the slow one');
});

claimOf('who may not, or asks for nothing, is told', async (w) => {
    const none = w.follow('01900000-0000-7000-8000-000000000000');
    const nonsense = w.follow('nonsense');
    const bad = w.follow(await w.start('quick'), { last: 'x' });
    const open = w.feed('', { headers: { authorization: '' } });
    const status = w.feed('?status=happy');
    const all = [none, nonsense, bad, open, status];
    await Promise.all(all.map((l) => l.over));
    equal(all.map((l) => [l.status, JSON.parse(l.body).code]), [[404, 'not_found'],
        [404, 'not_found'], [400, 'bad_request'], [401, 'unauthorized'], [400, 'bad_request']]);
    equal(all.every((l) => l.headers['content-type'] === 'application/problem+json'), true);
});

claimOf('the feed hints at everything that moves', async (w) => {
    const all = w.feed();
    const chains = w.feed('?code=chain');
    const ends = w.feed('?status=completed');
    await Promise.all([all, chains, ends].map((l) => l.opened));
    const one = await w.start('chain');
    const two = await w.start('quick');
    await w.signal(one);
    const hints = (l) => l.of('execution').map((h) => [h.type, h.id, h.code, h.status, h.currentStep]);
    await until('all hints', () => hints(all).length >= 3);
    equal(hints(all), [['execution', one, 'chain', 'waiting', 's0'],
        ['execution', two, 'quick', 'completed', null], ['execution', one, 'chain', 'waiting', 's1']]);
    await until('filtered hints', () => hints(chains).length >= 2 && hints(ends).length >= 1);
    equal(hints(chains), hints(all).filter((h) => h[2] === 'chain'));
    equal(hints(ends), hints(all).filter((h) => h[3] === 'completed'));
    equal(all.of('execution').every((h) => !Number.isNaN(Date.parse(h.at))), true);
    for (const l of [all, chains, ends]) l.close();
    const back = w.feed('', { last: 3 });
    await until('reset', () => back.events.length > 0);
    equal([back.events[0].type, back.events[0].data], ['reset', {}]);
    const late = await w.start('quick');
    await until('a hint', () => back.events.length > 1);
    equal(back.events[1].data.id, late);
    back.close();
});

/** How many files a process may have open here. */
function filesMax() {
    const [, max] = readFileSync('/proc/self/limits', 'utf8').match(/^Max open files +\S+ +(\S+)/m);
    return max === 'unlimited' ? Infinity : Number(max);
}

claimOf('there is an end to how many streams there may be', async (w) => {
    if (w.rig.store) return;
    if (filesMax() < 4300) throw new Skip('a process may not have 4,300 files open');
    const { hostname, port } = new URL(w.server.url);
    // Nobody has them all: each of four has the thousand that a user may have.
    const tokens = [w.server.token];
    for (const name of ['one', 'two', 'three', 'four']) {
        const made = await fetch(`${w.server.url}/api/v1/users`, {
            method: 'POST', headers: { Authorization: `Bearer ${w.server.token}` }, body: JSON.stringify({ name, role: 'viewer' }),
        });
        tokens.push((await made.json()).token);
    }
    const sockets = [];
    const open = (token = tokens[1 + (sockets.length % 4)]) => new Promise((resolve, reject) => {
        const text = `GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
        const socket = net.connect(port, hostname, () => socket.write(text));
        sockets.push(socket);
        socket.once('error', reject);
        socket.once('data', (bytes) => resolve(bytes.toString()));
    });
    for (let i = 0; i < 40; i++) await Promise.all(Array.from({ length: 100 }, () => open()));
    const beyond = await open(tokens[0]);
    for (const socket of sockets) socket.destroy();
    equal(beyond.split('\r\n')[0], 'HTTP/1.1 503 Service Unavailable');
    equal(/\r\nRetry-After: 1\r\n/.test(beyond), true, 'Retry-After');
    await until('there is room again', async () => {
        const l = w.feed();
        await l.opened;
        l.close();
        return l.status === 200;
    });
});

claimOf('streams end when the server stops', async (w) => {
    const id = await w.start('chain');
    const all = [w.follow(id), w.feed(), w.follow(id), w.feed('?code=chain')];
    await Promise.all(all.map((l) => l.opened));
    await until('it is followed', () => all[0].events.length > 0);
    equal(await w.server.stop(), 0, 'exit status');
    await Promise.all(all.map((l) => l.over));
    equal(all.map((l) => l.isWhole), [true, true, true, true]);
    await w.rig.start();
});

claimOf('docs/events.md shows what is sent', async (w) => {
    const page = readFileSync('docs/events.md', 'utf8');
    const block = (info) => page.split('```' + info + '\n')[1].split('```')[0];
    const definition = JSON.parse(block('json'));
    await w.ask('PUT', `/scenarios/${definition.code}/draft`, definition, 200);
    await w.ask('POST', `/scenarios/${definition.code}/publish`, undefined, 200);
    const id = await w.start(definition.code);
    const live = w.follow(id);
    await until('it is followed', () => live.events.length > 0);
    await w.signal(id, { name: 'Ada' });
    await live.over;
    const told = JSON.stringify(live.events)
        .replace(/"[-0-9T:.]{20,26}Z"/g, '"TIME"')
        .replace(/"[0-9a-f-]{36}-[a-z]+"/g, '"KEY"')
        .replace(/"[0-9a-f-]{36}"/g, '"ID"');
    equal(JSON.parse(told), parse(block('events')).events);
});

await run(async (rig) => {
    for (const definition of [chain, quick]) await rig.publish(definition);
}, checkProgram);
