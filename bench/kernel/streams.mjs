// streams.mjs - clients of server-sent events while others start and are answered.
import net from 'node:net';
import { FOUR, FOUR_START, HOLD, HOLD_START, SIGNAL } from './definitions.mjs';
import { sleep, withServer } from './server.mjs';
import fs from 'node:fs';

const EACH = 500;

/** A client that reads and counts. */
class Reader {
    constructor(server, where) {
        this.events = this.resets = this.bytes = 0;
        this.isOver = false;
        this.socket = net.connect(server.port, '127.0.0.1');
        this.socket.on('data', d => {
            const text = d.toString('latin1');
            this.bytes += d.length;
            this.events += text.split('event: ').length - 1;
            this.resets += text.split('event: reset').length - 1;
        });
        this.socket.on('error', () => {});
        this.socket.on('close', () => { this.isOver = true; });
        this.opened = new Promise(resolve => this.socket.once('data', resolve));
        this.socket.write(`GET /api/v1${where} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
                          `Authorization: Bearer ${server.token}\r\n\r\n`);
    }
}

async function open(server, paths) {
    const readers = [];
    for (let i = 0; i < paths.length; i += 50) {
        const some = paths.slice(i, i + 50).map(p => new Reader(server, p));
        await Promise.all(some.map(r => r.opened));
        readers.push(...some);
    }
    return readers;
}

const sum = (readers, field) => readers.reduce((n, r) => n + r[field], 0);

export const streams = report => withServer(async server => {
    const full = { ...FOUR_START, connections: 64, seconds: 4, 'warm-up-ms': 500 };
    const measure = async what => {
        const r = await server.loadWithCpu(full);
        report.number(`${what}: executions`, r.perSecond, '/s');
        report.number(`${what}: p99`, r.p99Ms, 'ms');
        report.number(`${what}: CPU for each`, r.cpuUs / 1000, 'ms');
        return r;
    };
    await server.publish(FOUR);
    await server.publish(HOLD);
    const ids = `${server.folder}/ids`;
    await server.load({ ...HOLD_START, connections: 64, count: EACH, save: ids });
    const held = fs.readFileSync(ids, 'utf8').trim().split('\n');
    await measure('nobody listens');
    const rss = server.rssMb();
    const followers = await open(server, held.map(id => `/executions/${id}/events`));
    await measure('500 follow an execution each');
    const listeners = await open(server, Array(EACH).fill('/events'));
    report.number('1,000 streams: RSS for each', ((server.rssMb() - rss) * 1024) / (2 * EACH), 'KB');
    const before = server.cpuUs();
    await sleep(2000);
    report.number('1,000 streams, nothing happens: CPU', (server.cpuUs() - before) / 2e4, '%');
    await measure('500 follow, 500 listen to the feed');
    report.number('1,000 streams under load: RSS', server.rssMb(), 'MB');
    report.number('the feed: events to each listener', sum(listeners, 'events') / EACH, '');
    report.number('the feed: of them resets', sum(listeners, 'resets') / EACH, '');
    report.number('the feed: cut off', listeners.filter(r => r.isOver).length, '');
    const beside = server.load({ ...full, seconds: 3 });
    const r = await server.load({ ...SIGNAL, lines: ids, connections: 16, count: EACH });
    report.number('the 500 signalled under load: signal to completion, p99', r.p99Ms, 'ms');
    while (followers.some(f => !f.isOver)) await sleep(10);
    await beside;
    report.number('followers: events to each', sum(followers, 'events') / EACH, '');
    for (const reader of listeners) reader.socket.destroy();
});
