// test_deliveries.mjs - messages, calls and children while the server is told to stop, loses its
// connections or its store: nothing that was answered is sent again, nothing is lost.
import net from 'node:net';
import { join } from 'node:path';

import { MailServer } from '../api/mails.mjs';
import { Receiver } from '../api/receiver.mjs';
import { amount } from '../lib/budget.mjs';
import { check, equal } from '../lib/claims.mjs';
import { forAll } from '../lib/client.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { checkProgram } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { Rig, claim, run } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';

const ANSWER_MS = 1500;
const STOP_MS = 3000;
const CUTS = 1000; // in two seconds: the other server looks every second
const STALL_MS = amount('deliveries.stall_ms');

const kid = { code: 'kid', steps: [{ code: 'k', procedure: { type: 'event.publish', event: 'kid.done', payload: { n: '$.input.n' } } }] };

// Calls, tells subscribers twice, in order, and starts a child that does so too.
const order = (url) => ({
    code: 'order',
    steps: [
        { code: 'pay', procedure: { type: 'integration.http', method: 'POST', url: `${url}/pay`, body: { n: '$.input.n' } } },
        { code: 'first', procedure: { type: 'event.publish', event: 'order.paid', payload: { n: '$.input.n', at: 1 } } },
        { code: 'kid', procedure: { type: 'flow.start', code: 'kid', input: { n: '$.input.n' }, wait: true } },
        { code: 'second', procedure: { type: 'event.publish', event: 'order.sent', payload: { n: '$.input.n', at: 2 } } },
    ],
});

/** Who is called and who has subscribed: each delivery that was answered, by its id. */
class World {
    constructor(names) {
        this.names = names;
        this.answered = new Map(); // the id of a delivery, or the key of a call -> how often
        this.delay = 0;
    }

    async open(rig) {
        this.receivers = this.names.map(() => new Receiver());
        for (const [i, receiver] of this.receivers.entries()) {
            await receiver.open();
            receiver.answer = async (delivery) => {
                if (this.delay) await sleep(this.delay);
                const id = `${this.names[i]} ${delivery.headers['pawl-delivery'] ?? delivery.headers['idempotency-key']}`;
                this.answered.set(id, (this.answered.get(id) ?? 0) + 1);
                return 200;
            };
            const answer = await rig.api('PUT', `/subscriptions/${this.names[i]}`, { url: receiver.url, events: ['order.*', 'kid.*'] });
            check(answer.status < 300, answer.raw);
        }
        await rig.publish(kid);
        await rig.publish(order(this.receivers[0].url));
    }

    async close(rig) {
        for (const name of this.names) await rig.api('DELETE', `/subscriptions/${name}`);
        for (const receiver of this.receivers) receiver.close();
    }

    twice() {
        return [...this.answered].filter(([, times]) => times > 1);
    }

    /** Of each execution three messages to each subscriber and one call, each once, and in order. */
    mustHave(count) {
        equal(this.twice(), [], 'answered, and sent again');
        equal(this.answered.size, count * (3 * this.names.length + 1), 'deliveries and calls');
        for (const receiver of this.receivers) {
            const seen = new Map();
            for (const { json } of receiver.deliveries.filter((d) => d.json.name?.startsWith('order.'))) {
                check(json.payload.at === (seen.get(json.payload.n) ?? 0) + 1, `${json.payload.n}: ${json.payload.at} too early`);
                seen.set(json.payload.n, json.payload.at);
            }
        }
    }
}

async function startOrders(server, from, count, code = 'order') {
    await forAll(server, Array.from({ length: count }, (_, i) => from + i), async (client, n) => {
        const answer = await client.ask('POST', '/api/v1/executions', { code, input: { n } });
        equal(answer.status, 201, answer.raw);
    });
}

async function atRest(rig) {
    await until('all have ended', async () => {
        for (const status of ['pending', 'running', 'waiting'])
            if ((await rig.api('GET', `/executions?status=${status}`)).body.items?.length !== 0) return false;
        return true;
    });
    await until('no message is left', async () => (await rig.api('GET', '/outbox')).body.items?.length === 0);
}

claim('SIGTERM under full delivery ends in time and repeats nothing that was answered', async (rig) => {
    const world = new World(['one', 'two', 'three']);
    const rounds = amount('deliveries.stops'), each = 60;
    const took = [];
    await world.open(rig);
    for (let i = 0; i < rounds; i++) {
        world.delay = ANSWER_MS;
        await startOrders(rig.server, i * each, each);
        await sleep(300 * (1 + (i % 4)));
        const began = Date.now();
        equal(await rig.server.stop(), 0, rig.server.log.slice(-500));
        took.push(Date.now() - began);
        world.delay = 0;
        await rig.start();
    }
    await atRest(rig);
    world.mustHave(rounds * each);
    console.log(`${rig.name}: ${rounds} stops under delivery took ${took.join(', ')} ms`);
    // A busy machine may hold one of them up.
    check(Math.min(...took) < STOP_MS, `stops took ${took.join(', ')} ms`);
    await world.close(rig);
});

// A worker packs, then a mail leaves.
const parcel = {
    code: 'parcel',
    steps: [
        { code: 'pack', procedure: 'drain.pack', input: { n: '$.input.n' } },
        { code: 'mail', procedure: { type: 'notification.email', to: '=string("p") + string($.input.n) + "@example.com"', subject: 'Packed', body: 'text' } },
    ],
};

/** Workers that keep each job for as long as a call takes, and repeat an answer until somebody has heard it. */
class Workers {
    constructor(server, count) {
        this.server = server;
        this.claimed = new Map(); // execution -> how often a job of it was given to somebody
        this.refused = [];
        this.isOver = false;
        this.all = Array.from({ length: count }, () => this.work());
    }

    async ask(path, body) {
        if (!this.server.isRunning()) return { status: 0 };
        const client = this.server.client();
        const answer = await client.ask('POST', `/api/v1/jobs/${path}`, body);
        client.close();
        return answer;
    }

    async work() {
        while (!this.isOver) {
            const answer = await this.ask('claim', { types: ['drain.pack'], max: 5, wait: '300ms', lease: '60s', worker: 'drain' });
            const jobs = answer.status === 200 ? answer.body.items : [];
            for (const job of jobs) this.claimed.set(job.executionId, (this.claimed.get(job.executionId) ?? 0) + 1);
            if (jobs.length > 0) await sleep(ANSWER_MS / 3);
            for (const job of jobs) {
                const said = { leaseToken: job.leaseToken, output: { job: job.id } };
                const heard = await until('the answer is heard', async () => {
                    const end = await this.ask(`${job.id}/complete`, said);
                    return end.status === 0 || end.status === 503 ? null : end;
                });
                if (heard.status !== 200) this.refused.push(heard.raw);
            }
            if (jobs.length === 0) await sleep(20);
        }
    }

    close() {
        this.isOver = true;
        return Promise.all(this.all);
    }
}

claim('SIGTERM under mails and jobs ends in time and repeats nothing that was answered', async (rig) => {
    const mails = new MailServer();
    await mails.open('plain');
    const smtp = { PAWL_SMTP: `smtp://127.0.0.1:${mails.port}`, PAWL_MAIL_FROM: 'shop@example.com' };
    const rounds = amount('deliveries.stops'), each = 40, took = [];
    await rig.server.stop();
    await rig.start(smtp);
    await rig.publish(parcel);
    const workers = new Workers(rig.server, 4);
    for (let i = 0; i < rounds; i++) {
        await startOrders(rig.server, i * each, each, 'parcel');
        await until('mails and jobs are in flight', () => workers.claimed.size >= i * each + each / 4);
        await sleep(300 + 200 * (i % 4));
        const began = Date.now();
        equal(await rig.server.stop(), 0, rig.server.log.slice(-500));
        took.push(Date.now() - began);
        await rig.start(smtp);
    }
    await atRest(rig);
    await workers.close();
    console.log(`${rig.name}: ${rounds} stops under mails and jobs took ${took.join(', ')} ms`);
    equal(workers.refused, [], 'answers of workers');
    equal([...workers.claimed.values()].filter((times) => times > 1), [], 'jobs that were given to two');
    equal(workers.claimed.size, rounds * each, 'jobs');
    const ids = mails.mails.map((mail) => mail.headers['message-id']);
    equal(new Set(ids).size, ids.length, 'mails that were taken, and sent again');
    equal(ids.length, rounds * each, 'mails');
    check(Math.min(...took) < STOP_MS, `stops took ${took.join(', ')} ms`);
    await mails.kill();
});

/**
 * A mail server that keeps what comes after it was asked whether a mail may be sent. It never says
 * that it may, or, taking mails, never that it has got one.
 */
class ReluctantMailServer {
    async open(takes = false) {
        this.sessions = []; // what each has said behind DATA
        this.server = net.createServer((socket) => {
            let text = '', asked = -1;
            socket.on('error', () => {});
            socket.on('data', (part) => {
                text += part.toString('latin1');
                if (asked >= 0) this.sessions[asked] += part.toString('latin1');
                for (let end; asked < 0 && (end = text.indexOf('\r\n')) >= 0;) {
                    const line = text.slice(0, end);
                    text = text.slice(end + 2);
                    if (line === 'DATA') asked = this.sessions.push(text) - 1;
                    if (line !== 'DATA' || takes) socket.write(line === 'DATA' ? '354 go on\r\n' : '250 go on\r\n');
                }
            });
            socket.write('220 mail.test\r\n');
        });
        await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
        this.port = this.server.address().port;
    }
}

/** What waits for a mail server gets one that takes it, so that the claims behind find no message. */
async function mustMail(rig, count) {
    const mails = new MailServer();
    await mails.open('plain');
    await rig.server.stop();
    await rig.start({ PAWL_SMTP: `smtp://127.0.0.1:${mails.port}`, PAWL_MAIL_FROM: 'shop@example.com' });
    await atRest(rig);
    equal(mails.mails.length, count, 'mails that waited');
    await mails.kill();
}

claim('a mail that is cut while it is sent is no mail', async (rig) => {
    const mails = new ReluctantMailServer();
    await mails.open();
    await rig.server.stop();
    await rig.start({ PAWL_SMTP: `smtp://127.0.0.1:${mails.port}`, PAWL_MAIL_FROM: 'shop@example.com' });
    await rig.publish({ code: 'letter', steps: [{ code: 'mail', procedure: { type: 'notification.email', to: 'a@example.com', subject: 'Packed', body: 'text' } }] });
    await rig.begin('letter');
    await until('the mail may be sent', () => mails.sessions.length === 1);
    const began = Date.now();
    equal(await rig.server.stop(), 0, rig.server.log.slice(-500));
    console.log(`${rig.name}: a stop with a mail in flight took ${Date.now() - began} ms`);
    equal(mails.sessions, [''], 'what came behind DATA');
    await rig.start();
    equal((await rig.api('GET', '/outbox')).body.items.map((m) => [m.status, m.attempts]), [['pending', 0]], 'the message');
    mails.server.close();
    await mustMail(rig, 1);
});

claim('a mail server that does not say what became of a mail holds up no call and no stop', async (rig) => {
    const mails = new ReluctantMailServer();
    await mails.open(true);
    await rig.server.stop();
    await rig.start({ PAWL_SMTP: `smtp://127.0.0.1:${mails.port}`, PAWL_MAIL_FROM: 'shop@example.com' });
    await rig.publish({ code: 'letters', steps: Array.from({ length: 5 }, (_, i) => ({ code: `m${i}`, procedure: { type: 'notification.email', to: 'a@example.com', subject: 'Packed', body: 'text' } })) });
    await rig.begin('letters');
    await until('a mail was sent', () => mails.sessions.some((text) => text.endsWith('\r\n.\r\n')));
    const service = new Receiver();
    await service.open();
    await rig.publish({ code: 'beside', steps: [{ code: 'call', procedure: { type: 'integration.http', method: 'POST', url: `${service.url}/pay`, body: {} } }] });
    const called = Date.now();
    const answer = await rig.api('POST', '/executions?wait=30s', { code: 'beside' });
    equal(answer.body.status, 'completed', answer.raw);
    check(Date.now() - called < STOP_MS, `a call beside it took ${Date.now() - called} ms`);
    service.close();
    const began = Date.now();
    equal(await rig.server.stop(), 0, rig.server.log.slice(-500));
    const took = Date.now() - began;
    console.log(`${rig.name}: a stop with a mail that is not answered took ${took} ms`);
    check(took < 2 * STOP_MS, `the stop took ${took} ms`);
    mails.server.close();
    await mustMail(rig, 5);
});

claim('a server that loses its connections and lives keeps its lanes', async (rig) => {
    const world = new World(['cut']);
    const second = new Server(join(rig.folder, 'second'), { store: rig.store, program: checkProgram, beside: rig.server });
    await world.open(rig);
    const [name] = rig.sql('SELECT node FROM nodes'); // as its writing session is called
    check(await second.start(), second.log);
    world.delay = 20;
    for (let i = 0; i < amount('deliveries.cuts'); i++) {
        await startOrders(rig.server, i * 20, 20);
        rig.sql(`DO $$ BEGIN FOR i IN 1..${CUTS} LOOP
            PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}';
            PERFORM pg_stat_clear_snapshot();
            PERFORM pg_sleep(0.002);
        END LOOP; END $$`);
        await sleep(500);
    }
    await atRest(rig);
    check(/connected to the database again/.test(rig.server.log), 'it has lost no connection');
    world.mustHave(amount('deliveries.cuts') * 20);
    equal(await second.stop(), 0, second.log.slice(-500));
    await world.close(rig);
}, 'PostgreSQL');

claim('a store that stalls holds everything up and repeats nothing', async () => {
    const postgres = await Postgres.own(); // nobody else's: it is stopped
    const rig = new Rig(postgres.fresh(), checkProgram);
    const world = new World(['slow']);
    await rig.start();
    await world.open(rig);
    world.delay = 200;
    await startOrders(rig.server, 0, 100);
    postgres.signalAll('SIGSTOP');
    await sleep(STALL_MS);
    const health = await rig.client.ask('GET', '/healthz');
    postgres.signalAll('SIGCONT');
    equal(health.status, 200, 'it lives');
    await atRest(rig);
    world.mustHave(100);
    await world.close(rig);
    await rig.close();
    postgres.close();
}, 'PostgreSQL');

await run(async () => {}, checkProgram);
