// fuzzer.mjs - requests of every kind by everybody: as the document wants them, nearly so, and hostile.
//
// A case is one of malform.mjs; it may be accepted. It is made for an actor {org, role, token}, and
// isRefused also where the document gives the actor's role no right, or where the request names what
// belongs to another organisation.
import { Generator } from './generate.mjs';
import { Malformer } from './malform.mjs';

// What belongs to an organisation and is known by an id that nobody else has.
const SCOPED = /^\/api\/v1\/(executions|tasks|jobs|dlq|outbox|inbox|deliverables|defects|shifts)\//;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/;
const WAITS = ['0', '1ms', '5ms'];
// A wait that would hold the connection for long; without a value it is ten seconds.
const LONG_WAIT = /[?&]wait=(?:&|$|[0-9.]+(?:s|m|h|d))|"wait" ?: ?"(?:"|[0-9.]+(?:s|m|h|d))/;
const SHORT_WAIT = /"wait":"(0|\d+ms)"/; // a claim without it waits half a minute

const FORM = 'application/x-www-form-urlencoded';
const languages = ['ru', 'en', 'ru;q=0.5, en', '*', 'xx', ';;', 'ru'.repeat(500)];
const traces = ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-00000000000000000000000000000000-0000000000000000-00', 'ff-x', ''];

export class Fuzzer extends Malformer {
    /** `ids`: what exists; `seeds`: requests that were accepted once, by the id of their operation. */
    constructor(doc, random, ids, seeds) {
        super(doc, random, {});
        Object.assign(this, { ids, seeds });
        this.keys = 0;
        this.generator = new Generator(doc, random, (name) => (name === 'wait' ? random.pick(WAITS) : this.ids.named(this.org(), name)));
        this.makers = [...this.makers, ...Array(12).fill(this.goodCase), ...Array(8).fill(this.nearCase), this.formCase, this.formCase, this.formCase, this.sizeCase, this.methodCase, this.headCase];
    }

    /** The next case, by one of the actors; null when the dice made none that may be sent. */
    nextBy(actors) {
        const { random } = this;
        const operation = random.pick(this.doc.operations);
        const able = operation.isOpen || random.chance(0.2) ? actors : actors.filter(({ role }) => operation.roles.includes(role));
        const actor = random.pick(able);
        this.actor = actor;
        this.isForeign = false;
        const made = random.pick(this.makers).call(this, operation);
        if (!made) return null;
        const all = { operation, method: operation.method, headers: [], body: null, ...made };
        all.target ??= this.target(operation);
        if (LONG_WAIT.test(all.target) || (all.body && LONG_WAIT.test(all.body.toString('latin1')))) return null;
        // The server does what it is told: it would end.
        if (all.operation.id === 'drainNode' && !all.isRefused) return null;
        if (all.operation.id === 'claimJobs' && !all.isRefused && !SHORT_WAIT.test(all.body)) return null;
        const mayNot = !all.operation.isOpen && !all.operation.roles.includes(actor.role);
        const isRefused = all.isRefused || (!all.isElsewhere && (mayNot || this.isForeign));
        return { ...all, actor, path: this.path, mayBeBusy: true, isRefused, isAnywhere: true };
    }

    /** A case that changes nothing: one that must be refused, or about something that is not there. */
    nextRefused(actors) {
        this.isNowhere = this.random.chance(0.4);
        const made = this.nextBy(actors);
        const isNowhere = this.isNowhere && made?.isGood && /\{/.test(made.operation.path) && made.method !== 'PUT';
        this.isNowhere = false;
        return made && !made.operation.isSafe && (made.isRefused || isNowhere) ? made : null;
    }

    org() {
        return this.random.chance(0.85) ? this.actor.org : this.actor.org === 'own' ? 'other' : 'own';
    }

    target(operation, replace = {}) {
        this.path = {};
        return operation.path.replace(/\{(\w+)\}/g, (_, name) => {
            if (replace[name] !== undefined) return replace[name];
            if (this.isNowhere) return `nothing_${++this.keys}`;
            const org = this.org();
            const value = this.ids.at(org, operation.path, name) ?? this.ids.named(org, name) ?? '1';
            if (org !== this.actor.org && SCOPED.test(operation.path) && UUID.test(value)) this.isForeign = true;
            this.path[name] = value;
            return encodeURIComponent(value);
        });
    }

    goodBody(operation) {
        const { random } = this;
        const schema = this.doc.bodySchema(operation);
        const seed = random.pick(this.seeds.get(operation.id) ?? [null]);
        if (seed !== null && random.chance(0.6)) return structuredClone(seed);
        if (schema && random.chance(0.9)) return this.generator.value(schema);
        return super.goodBody(operation);
    }

    // Headers that the document describes, some of them.
    goodHeaders(operation) {
        const { random } = this;
        const headers = [];
        for (const { in: where, name, schema } of operation.parameters)
            if (where === 'header' && random.chance(0.15)) headers.push([name, name === 'Idempotency-Key' ? `key ${random.chance(0.3) ? random.below(20) : ++this.keys}` : this.latin(this.generator.value(schema, name))]);
        if (random.chance(0.1)) headers.push(['Accept-Language', random.pick(languages)]);
        if (random.chance(0.05)) headers.push(['traceparent', random.pick(traces)]);
        return headers;
    }

    latin(text) {
        return String(text).replace(/[^\x20-\x7e]/g, '?');
    }

    goodQuery(operation) {
        const { random } = this;
        const parts = operation.parameters
            .filter((p) => p.in === 'query' && (p.required || random.chance(0.25)))
            .map(({ name, schema }) => `${name}=${encodeURIComponent(this.generator.value(schema, name))}`);
        return parts.length > 0 ? `?${parts.join('&')}` : '';
    }

    goodCase(operation) {
        const body = operation.body ? Buffer.from(JSON.stringify(this.goodBody(operation))) : null;
        return { kind: 'as the document wants it', target: this.target(operation) + this.goodQuery(operation), headers: this.goodHeaders(operation), body, isGood: true };
    }

    nearCase(operation) {
        if (!operation.body) return null;
        const schema = this.doc.bodySchema(operation);
        const body = JSON.stringify(this.generator.nearly(schema, this.goodBody(operation)));
        return { ...this.bodyCase(operation, 'beyond a bound', Buffer.from(body)), headers: this.goodHeaders(operation) };
    }

    // A form of a page, as browsers send it or not quite.
    formCase() {
        const { random } = this;
        const operation = random.pick(this.doc.operations.filter((o) => o.body?.content[FORM]));
        const parts = ['n=1', 'n=x', 'a=%C3%A4', 'b=%ff', 'n', '=', '&&', 'n=1&n=2', '__proto__=1', 'x[0][y]=1', `z=${'%41'.repeat(2000)}`, 'a=1;b=2', '+=+', '%', 'n=%00', 'type=go', 'payload={"n":1}'];
        const text = Array.from({ length: random.below(5) }, () => random.pick(parts)).join('&');
        const multi = `--x\r\nContent-Disposition: form-data; name="n"\r\n\r\n1\r\n--x${random.pick(['--', '', '\r\n', '--\r\n'])}`;
        const type = random.pick([FORM, FORM, `${FORM}; charset=utf-8`, 'multipart/form-data; boundary=x', 'multipart/form-data', 'text/plain']);
        const body = Buffer.from(type.startsWith('multi') ? multi : text);
        return { kind: 'a form', operation, method: operation.method, target: this.target(operation), headers: [['Content-Type', type], ...(random.chance(0.3) ? [['Accept', 'text/html']] : [])], body };
    }

    // What is long, deep or wide, within what HTTP allows.
    sizeCase(operation) {
        const { random } = this;
        if (!operation.body) return { kind: 'large', target: `${this.target(operation)}?${'a=1&'.repeat(random.below(1500))}`, isElsewhere: true };
        const good = JSON.stringify(this.goodBody(operation));
        const name = random.pick(Object.keys(this.doc.bodySchema(operation)?.properties ?? { x: 1 }));
        const large = random.pick([
            () => `"${'x'.repeat(200000)}"`, () => `"${'\\u00e4'.repeat(30000)}"`, () => '['.repeat(90) + ']'.repeat(90), () => '{"a":'.repeat(90) + '1' + '}'.repeat(90),
            () => `[${'{},'.repeat(20000)}{}]`, () => `{${Array.from({ length: 3000 }, (_, i) => `"k${i}":${i}`).join()}}`, () => `"${'{{ 1 }}'.repeat(5000)}"`, () => `"${'('.repeat(5000)}"`, () => '1'.repeat(5000), () => `"${'x'.repeat(3 << 20)}"`,
        ])();
        return this.bodyCase(operation, 'large', Buffer.from(`{"${name}":${large}${good.length > 2 ? `,${good.slice(1)}` : '}'}`));
    }

    headCase(operation) {
        if (operation.method !== 'GET') return null;
        return { kind: 'HEAD', method: 'HEAD', target: this.target(operation) + this.goodQuery(operation) };
    }
}
