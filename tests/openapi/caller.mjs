// caller.mjs - calls operations by their id and holds every answer against the document.
import { Wrong } from '../lib/claims.mjs';
import { Wire, requestBytes } from './wire.mjs';

const takesKey = (operation) => operation.parameters.some((p) => p.in === 'header' && p.name === 'Idempotency-Key');

export class Caller {
    constructor(url, token, doc) {
        this.url = url;
        this.token = token;
        this.doc = doc;
        this.wire = new Wire(url);
        this.seen = new Map(); // operation id -> set of statuses
        this.keys = 0; // how many Idempotency-Keys were made up
        this.notKept = new Set(); // operations whose answer was not kept under its Idempotency-Key
    }

    /**
     * Call an operation. `wanted` is the status it must have; the answer must be one that the
     * document describes whatever it is.
     */
    async call(id, { path = {}, query = {}, headers = {}, body, token = this.token, isHead = false, until, rawQuery = search(query) } = {}, wanted = null) {
        const operation = this.doc.byId.get(id);
        if (!operation) throw new Wrong(`there is no operation ${id}`);
        const target = operation.path.replace(/\{(\w+)\}/g, (_, name) => {
            if (path[name] === undefined) throw new Wrong(`${id}: no value for {${name}}`);
            return encodeURIComponent(path[name]);
        });
        if (takesKey(operation) && !headers['Idempotency-Key']) headers = { ...headers, 'Idempotency-Key': `walk ${process.pid} ${++this.keys}` };
        const answer = await this.send(isHead ? 'HEAD' : operation.method, target + rawQuery, { headers, body, token, until });
        const wrong = this.doc.answerMistakes(operation, answer, isHead);
        if (wrong) throw new Wrong(`${id}: ${wrong}\n  answer: ${answer.status} ${answer.raw.slice(0, 600)}`);
        if (wanted !== null && answer.status !== wanted)
            throw new Wrong(`${id}: status ${answer.status}, wanted ${wanted}: ${answer.raw.slice(0, 600)}`);
        if (!this.seen.has(id)) this.seen.set(id, new Set());
        this.seen.get(id).add(String(answer.status));
        if (takesKey(operation) && answer.status < 300) await this.checkKept(operation, target + rawQuery, { headers, body, token }, answer);
        return answer;
    }

    /** An answer under a key is kept, whatever it says: a request with another body is a conflict. */
    async checkKept(operation, target, { headers, body, token }, answer) {
        if (body?.dryRun || (operation.id === 'claimJobs' && answer.json.items.length === 0)) return; // nothing has happened
        const text = Buffer.isBuffer(body) ? body.toString() : typeof body === 'string' ? body : JSON.stringify(body ?? {});
        const again = await this.send(operation.method, target, { headers, body: `${text} `, token });
        if (again.json?.code !== 'idempotency_conflict') this.notKept.add(`${operation.id}: ${text} then ${again.status} ${again.raw.slice(0, 200)}`);
    }

    send(method, target, { headers = {}, body, token = this.token, until } = {}) {
        const bytes = body === undefined ? Buffer.alloc(0)
            : Buffer.isBuffer(body) ? body
            : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
        const all = {
            Host: 'localhost',
            ...(token ? { Authorization: `Bearer ${token}` } : {}),
            ...(body === undefined && ['GET', 'HEAD', 'DELETE'].includes(method) ? {} : { 'Content-Length': bytes.length }),
            ...headers,
        };
        return this.wire.send(requestBytes(method, target, Object.entries(all), bytes), { isHead: method === 'HEAD', until });
    }

    /** The events of a stream, each of which the document must describe. */
    async events(id, options = {}) {
        const answer = await this.call(id, { ...options, until: (text) => options.until?.(parseEvents(text)) }, 200);
        const events = parseEvents(answer.raw);
        const schemas = this.doc.byId.get(id).events;
        for (const { event, data } of events) {
            const wrong = schemas[event] ? this.doc.mistakes(schemas[event], data) : 'it is not documented';
            if (wrong) throw new Wrong(`${id}: event ${event}: ${wrong}: ${JSON.stringify(data)}`);
        }
        return { events, hasEnded: answer.hasEnded };
    }

    close() {
        this.wire.close();
    }
}

function parseEvents(text) {
    return text.split('\n\n').slice(0, -1).filter((part) => !part.startsWith(':')).map((part) => {
        const field = (name) => part.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1];
        return { id: Number(field('id')), event: field('event'), data: JSON.parse(field('data')) };
    });
}

function search(query) {
    const text = Object.entries(query)
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        .join('&');
    return text && `?${text}`;
}
