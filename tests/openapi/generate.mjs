// generate.mjs - values made from the schemas of the document: some that fit, some that miss by one rule.

const UNITS = ['x', 'a', 'Z', '0', ' ', '_', '-', '.', 'ä', 'ß', '\u0416', '\u4e2d', '\u0301', '\u200d', '\u202e', '\u{1f600}', '\u{10ffff}', '\ufdd0', '"', '\\', '/', '{{', '}}', '$', '%', "'", '<', '\t', '\n', '\u007f', '\u0085', '\u2028'];
const INTEGERS = [0, 1, 2, 3, 7, 10, 60, 255, 256, 1000, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER];
const DURATIONS = ['0', '1ms', '10ms', '1s', '1m', '1h', '1d', '1h30m', '0.5s', '7d'];
const TIMES = ['2026-01-01T00:00:00Z', '2026-02-28T23:59:59.999999Z', '1970-01-01T00:00:00Z', '2999-12-31T23:59:59Z', '2026-06-30T12:00:00+05:30'];
// What patterns are tried with: of a pattern without examples those that match are taken.
const WORDS = ['a', 'x_1', 'greeting', 'approval', 'invoice', 'compute.transform', 'walk.work', 'I-1', '1', '3', '42', '"1"', '"3"', 'draft', '*', 'POST', 'go', 'yes', 'Europe/Berlin', '0 3 * * *', 'admin', 'group:a',
    'abcdefghij', '2026-01-01', '15m', 'a@example.org', '00000000-0000-7000-8000-000000000000', 'input.who', '1 + 1', 'true'];
const LENGTH_MAX = 3000, ITEMS_MAX = 120, DEPTH_MAX = 6;

/** `id(name)`: something that may exist, for a member or parameter of that name; or undefined. */
export class Generator {
    constructor(doc, random, id = () => undefined) {
        Object.assign(this, { doc, random, id });
    }

    /** A value that fits the schema as far as schemas say it. */
    value(written, name = '', depth = 0) {
        const { random } = this;
        const schema = this.doc.schema(written) ?? {};
        if (schema.const !== undefined) return schema.const;
        if (schema.enum) return random.pick(schema.enum);
        if (schema.examples && random.chance(0.3)) return structuredClone(random.pick(schema.examples));
        const choice = schema.anyOf ?? schema.oneOf;
        if (choice) return this.value(random.pick(choice), name, depth);
        if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => this.value(part, name, depth)), this.members(schema, depth));
        const type = Array.isArray(schema.type) ? random.pick(schema.type) : (schema.type ?? (schema.properties ? 'object' : undefined));
        switch (type) {
            case 'null': return null;
            case 'boolean': return random.chance(0.5);
            case 'integer': case 'number': return this.number(schema);
            case 'string': return this.text(schema, name);
            case 'array': return this.items(schema, name, depth);
            case 'object': return this.members(schema, depth);
            default: return this.anything(depth);
        }
    }

    number({ minimum = -5, maximum = 2 ** 40, type }) {
        const { random } = this;
        const fitting = INTEGERS.filter((n) => n >= minimum && n <= maximum);
        const n = random.pick([minimum, maximum, ...fitting, ...fitting]);
        return type === 'number' && random.chance(0.3) && n < maximum ? n + 0.5 : n;
    }

    text(schema, name) {
        const { random } = this;
        const known = random.chance(0.8) ? this.id(name) : undefined;
        if (known !== undefined && this.doc.mistakes(schema, known) === '') return known;
        switch (schema.format) {
            case 'uuid': return this.id('id') ?? '00000000-0000-7000-8000-000000000000';
            case 'date': return random.pick(['2026-01-01', '2024-02-29', '2999-12-31', '1970-01-01']);
            case 'date-time': return random.pick(TIMES);
            case 'pawl-duration': return random.pick(DURATIONS);
            case 'uri': return random.pick(['http://127.0.0.1:9/', 'http://127.0.0.1:9/a?b=c#d', 'http://localhost:9', 'http://[::1]:9/']);
            case 'email': return `a${random.below(1000)}@example.org`;
            default:
        }
        const fitting = WORDS.filter((word) => this.doc.mistakes(schema, word) === '');
        if (fitting.length > 0 && (schema.pattern || random.chance(0.6))) return random.pick(fitting);
        const { minLength = 0, maxLength = 40 } = schema;
        const length = Math.max(minLength, Math.min(LENGTH_MAX, random.pick([minLength, minLength + 1, 3, 10, maxLength])));
        return Array.from({ length: Math.min(length, maxLength) }, () => random.pick(UNITS)).join('').slice(0, maxLength).toWellFormed();
    }

    items({ items = {}, minItems = 0, maxItems = 4, uniqueItems }, name, depth) {
        const { random } = this;
        const most = depth > DEPTH_MAX ? minItems : random.chance(0.03) ? Math.min(maxItems, ITEMS_MAX) : Math.min(maxItems, minItems + random.below(4));
        const made = Array.from({ length: Math.max(minItems, most) }, () => this.value(items, name, depth + 1));
        return uniqueItems ? [...new Map(made.map((item) => [JSON.stringify(item), item])).values()] : made;
    }

    members(schema, depth) {
        const { random } = this;
        const made = {};
        const share = depth > DEPTH_MAX ? 0 : random.pick([0, 0.2, 0.5, 1]);
        for (const [name, member] of Object.entries(schema.properties ?? {}))
            if (schema.required?.includes(name) || random.chance(share)) made[name] = this.value(member, name, depth + 1);
        const isFree = !schema.properties && !schema.allOf && schema.additionalProperties !== false;
        for (let i = isFree && depth < DEPTH_MAX ? random.below(3) : 0; i > 0; i--)
            made[random.pick(WORDS)] = typeof schema.additionalProperties === 'object' ? this.value(schema.additionalProperties, '', depth + 1) : this.anything(depth + 1);
        for (const [name, others] of Object.entries(schema.dependentRequired ?? {}))
            if (made[name] !== undefined) for (const other of others) made[other] ??= this.value(schema.properties[other], other, depth + 1);
        return made;
    }

    anything(depth) {
        const { random } = this;
        const simple = [null, true, 0, -1, 1.5, 1e300, '', 'x', '{{ $.input.who }}', '$.input', '=1 + 1', 'ä\u0301', []];
        if (depth > DEPTH_MAX || random.chance(0.6)) return random.pick(simple);
        return random.chance(0.5) ? [this.anything(depth + 1), this.anything(depth + 1)] : { [random.pick(WORDS)]: this.anything(depth + 1), '': 1 };
    }

    /** A value of the schema that breaks one of its rules at one place, where it has any; else any value. */
    nearly(schema, good) {
        const { random } = this;
        const places = [...this.places(schema, good, (v) => v)];
        const { rules, put } = random.pick(places);
        return put(random.pick(this.breaches(rules)));
    }

    // Every place of a value with the schema that rules it and how to put another value there.
    *places(written, value, put) {
        const rules = this.doc.schema(written) ?? {};
        yield { rules, put };
        if (Array.isArray(value) && rules.items && value.length > 0) {
            const at = this.random.below(value.length);
            yield* this.places(rules.items, value[at], (v) => put(value.with(at, v)));
        } else if (typeof value === 'object' && value !== null) {
            for (const [name, member] of Object.entries(rules.properties ?? {})) {
                const whole = (v) => put({ ...value, [name]: v });
                if (value[name] !== undefined) yield* this.places(member, value[name], whole);
                else yield { rules: this.doc.schema(member) ?? {}, put: whole };
            }
            const { [this.random.pick(Object.keys(value))]: _, ...rest } = value;
            yield { rules: { const: rest }, put, isRest: true };
        }
    }

    breaches(rules) {
        const wrong = [null, true, -1, 0.5, '', 'x', [], {}, [[]], { x: 1 }];
        if (rules.const !== undefined) wrong.push(rules.const);
        if (rules.enum) wrong.push(`${rules.enum[0]} `, String(rules.enum[0]).toUpperCase());
        if (rules.minimum !== undefined) wrong.push(rules.minimum - 1, rules.minimum);
        if (rules.maximum !== undefined) wrong.push(rules.maximum + 1, rules.maximum, rules.maximum * 2);
        if (rules.maxLength !== undefined) wrong.push('x'.repeat(rules.maxLength + 1), 'ä'.repeat(rules.maxLength), '\u{1f600}'.repeat(rules.maxLength));
        if (rules.minLength) wrong.push('x'.repeat(rules.minLength - 1));
        if (rules.maxItems !== undefined) wrong.push(Array(rules.maxItems + 1).fill('x'));
        if (rules.format) wrong.push('2026-02-30', '2026-01-01T24:00:00Z', '1y', '-1s', 'ftp://x', 'http://', '00000000-0000-7000-8000-00000000000g', 'http://127.0.0.1:99999/', 'http://user:pass@127.0.0.1:9/', '9999999h');
        if (rules.type === 'integer' || rules.type === 'number') wrong.push(Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 1e300, 1e-300, '1');
        if (rules.type === 'string') wrong.push('\u0000', '\ud800', '\u202e', 'x'.repeat(70000), '\u0001\u001f', '\ufeff');
        return wrong;
    }
}
