// collector.mjs - a receiver of OTLP over HTTP in JSON that takes nothing which the mapping does not allow.
import { createServer } from 'node:http';

const only = (object, names, what) => {
    for (const name of Object.keys(object)) if (!names.includes(name)) throw new Error(`${what} has a ${name}`);
    return object;
};
const hex = (text, digits, what) => {
    if (typeof text !== 'string' || !new RegExp(`^[0-9a-f]{${digits}}$`).test(text) || /^0+$/.test(text))
        throw new Error(`${what} is ${text}`);
};
const nanos = (text, what) => {
    if (typeof text !== 'string' || !/^[0-9]{19}$/.test(text)) throw new Error(`${what} is ${text}`);
    return BigInt(text);
};

/** [{key, value}] as an object: a value is {stringValue} or {intValue}, whose number is a text. */
function attributes(list) {
    const found = {};
    for (const item of list) {
        only(item, ['key', 'value'], 'an attribute');
        if (item.key in found) throw new Error(`${item.key} is there twice`);
        only(item.value, ['stringValue', 'intValue'], item.key);
        const { stringValue, intValue } = item.value;
        if ((typeof stringValue === 'string') === (typeof intValue === 'string')) throw new Error(`${item.key} is neither`);
        if (intValue !== undefined && !/^-?[0-9]+$/.test(intValue)) throw new Error(`${item.key} is ${intValue}`);
        found[item.key] = stringValue ?? Number(intValue);
    }
    return found;
}

function readSpan(span) {
    only(span, ['traceId', 'spanId', 'parentSpanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes', 'status'], 'a span');
    hex(span.traceId, 32, 'traceId');
    hex(span.spanId, 16, 'spanId');
    if ('parentSpanId' in span) hex(span.parentSpanId, 16, 'parentSpanId');
    if (typeof span.name !== 'string' || span.name === '') throw new Error('a span has no name');
    if (span.kind !== 1) throw new Error(`kind is ${span.kind}`);
    only(span.status, ['code', 'message'], 'a status');
    if (![1, 2].includes(span.status.code)) throw new Error(`status is ${span.status.code}`);
    const start = nanos(span.startTimeUnixNano, 'start'), end = nanos(span.endTimeUnixNano, 'end');
    if (end < start) throw new Error('a span ends before it begins');
    return { ...span, start, end, attributes: attributes(span.attributes) };
}

export class Collector {
    constructor() {
        this.spans = [];
        this.wrong = []; // what was sent and is not as it must be
        this.refuses = []; // statuses to answer with, each once
        this.requests = 0;
        this.server = createServer((request, response) => this.take(request, response));
    }

    async open() {
        await new Promise((resolve) => this.server.listen(this.port ?? 0, '127.0.0.1', resolve));
        this.port = this.server.address().port;
        this.url = `http://127.0.0.1:${this.port}`;
    }

    close() {
        this.server.closeAllConnections();
        return new Promise((resolve) => this.server.close(resolve));
    }

    async take(request, response) {
        let text = '';
        for await (const part of request) text += part;
        this.requests++;
        const refusal = this.refuses.shift();
        if (refusal) return response.writeHead(refusal).end();
        try {
            if (request.method !== 'POST' || request.url !== '/v1/traces') throw new Error(`${request.method} ${request.url}`);
            if (request.headers['content-type'] !== 'application/json') throw new Error(request.headers['content-type']);
            for (const resource of only(JSON.parse(text), ['resourceSpans'], 'the body').resourceSpans) {
                only(resource, ['resource', 'scopeSpans'], 'resourceSpans');
                this.resource = attributes(only(resource.resource, ['attributes'], 'a resource').attributes);
                for (const scope of resource.scopeSpans) {
                    only(scope, ['scope', 'spans'], 'scopeSpans');
                    this.spans.push(...scope.spans.map(readSpan));
                }
            }
        } catch (error) {
            this.wrong.push(`${error.message} in ${text}`);
        }
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    }

    /** The spans of an execution. */
    of(id) {
        return this.spans.filter((span) => span.attributes['saga.execution'] === id);
    }
}
