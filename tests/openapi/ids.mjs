// ids.mjs - what exists, as answers have told it: for each organisation the values of path parameters.

const NAMES = ['id', 'code', 'name', 'key', 'namespace', 'path'];
const MOST = 60; // of a place; older ones give way

/** `doc`: the document, whose paths say what an answer lists. `isTaboo`: what no request may name. */
export class Ids {
    constructor(doc, random) {
        this.random = random;
        this.taboo = new Set();
        // The paths that end in a parameter, by the path before it: what a list there tells of.
        this.inner = new Map();
        for (const { path } of doc.operations)
            for (const [whole, name] of path.matchAll(/\{(\w+)\}/g)) {
                const place = path.slice(0, path.indexOf(whole) + whole.length);
                this.inner.set(place.slice(0, -whole.length - 1), { place, name });
            }
        this.pools = new Map(); // organisation and place -> values
    }

    /** Remember what an answer to an operation tells somebody of an organisation. */
    learn(org, operation, path, json) {
        if (typeof json !== 'object' || json === null) return;
        const list = this.inner.get(operation.path);
        for (const item of Array.isArray(json.items) ? json.items.slice(0, 20) : [json]) {
            if (typeof item !== 'object' || item === null) continue;
            const name = NAMES.find((n) => typeof item[n] === 'string');
            if (list && name) this.add(org, list.place, item[name]);
            for (const [member, value] of Object.entries(item))
                if (typeof value === 'string' && value.length < 300) this.add(org, `.${member}`, value);
        }
        for (const [, param] of operation.path.matchAll(/\{(\w+)\}/g))
            if (path[param] !== undefined) this.add(org, operation.path.slice(0, operation.path.indexOf(`{${param}}`) + param.length + 2), path[param]);
    }

    add(org, place, value) {
        if (this.taboo.has(value)) return;
        const name = `${org} ${place}`;
        const pool = this.pools.get(name) ?? [];
        if (pool.includes(value)) return;
        if (pool.length >= MOST) pool.splice(this.random.below(MOST), 1);
        pool.push(value);
        this.pools.set(name, pool);
    }

    /** A value of the place that a path has for a parameter; undefined when none is known. */
    at(org, path, param) {
        const pool = this.pools.get(`${org} ${path.slice(0, path.indexOf(`{${param}}`) + param.length + 2)}`);
        return pool && this.random.pick(pool);
    }

    /** A value that members of this name had. */
    named(org, member) {
        const pool = this.pools.get(`${org} .${member}`);
        return pool && this.random.pick(pool);
    }
}
