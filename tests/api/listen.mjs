// listen.mjs - a client of server-sent events that counts what it hears.
import http from 'node:http';

/** The events of a text; what is not whole stays in `rest`. */
export function parse(text) {
    const blocks = text.split('\n\n');
    const rest = blocks.pop();
    const events = [];
    let beats = 0;
    for (const block of blocks) {
        const event = {};
        for (const line of block.split('\n')) {
            const colon = line.indexOf(':');
            if (colon === 0) beats++;
            else event[line.slice(0, colon)] = line.slice(colon + 2);
        }
        if (event.data === undefined) continue;
        events.push({ type: event.event, id: Number(event.id), data: JSON.parse(event.data) });
    }
    return { events, beats, rest };
}

export class Listener {
    /** `last` is the Last-Event-ID, or undefined. */
    constructor(server, path, { last, headers = {} } = {}) {
        this.events = [];
        this.beats = 0;
        this.status = null;
        this.isOver = false;
        this.isWhole = false; /* it ended as a stream ends, and was not cut */
        let rest = '';
        const url = new URL(server.url);
        const request = http.request({
            agent: false,
            host: url.hostname,
            port: url.port,
            path: `/api/v1${path}`,
            headers: {
                authorization: `Bearer ${server.token}`,
                ...(last === undefined ? {} : { 'last-event-id': last }),
                ...headers,
            },
        });
        this.request = request;
        const over = (resolve) => () => {
            this.isOver = true;
            resolve();
        };
        this.opened = new Promise((resolve) => {
            this.over = new Promise((end) => {
                request.on('error', () => (over(end)(), resolve()));
                request.on('response', (response) => {
                    this.status = response.statusCode;
                    this.headers = response.headers;
                    this.response = response;
                    this.body = '';
                    response.setEncoding('utf8');
                    response.on('data', (text) => {
                        this.body = (this.body + text).slice(0, 2000);
                        if (this.status !== 200) return;
                        const parsed = parse(rest + text);
                        rest = parsed.rest;
                        this.beats += parsed.beats;
                        this.events.push(...parsed.events);
                    });
                    response.on('error', over(end));
                    response.on('close', () => {
                        this.isWhole = response.complete;
                        over(end)();
                    });
                    resolve();
                });
            });
        });
        request.end();
    }

    get last() {
        return this.events.at(-1)?.id;
    }

    of(type) {
        return this.events.filter((e) => e.type === type).map((e) => e.data);
    }

    close() {
        this.request.destroy();
    }
}
