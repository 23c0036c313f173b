// uses.ts - which published definitions name a credential, a function, a template or a value of the configuration, and at which steps.

export interface Use { kind: string; code: string; name?: string; step: string | null }

type Node = Record<string, unknown>;

const STAGED = new Set(['scenario', 'procedure', 'schema', 'machine']);
const ALL = new Set([...STAGED, 'function', 'template']);

/** Items of an export, {kind, code, text}, as definitions with `kind` and `code`. */
export const definitionsOf = (items: { kind: string; code: string; text: string }[]): Node[] =>
    items.map(({ kind, code, text }) => ({ ...(JSON.parse(text) as Node), kind, code }));

/** `items` is what is exported: definitions with `kind` and `code`. Every object and text in them is asked whether it names what is sought. */
function search(items: Node[], kinds: Set<string>, names: (what: Node | string) => boolean): Use[] {
    const found: Use[] = [];
    for (const item of items.filter((one) => kinds.has(String(one.kind)))) {
        const code = String(item.code ?? item.name);
        const add = (step: string | null) => {
            if (!found.some((use) => use.code === code && use.kind === item.kind && use.step === step)) found.push({ kind: String(item.kind), code, name: typeof item.name === 'string' ? item.name : undefined, step });
        };
        const walk = (value: unknown, step: string | null): void => {
            if (Array.isArray(value)) return value.forEach((inner) => walk(inner, step));
            if (typeof value === 'string' && names(value)) return add(step);
            if (typeof value !== 'object' || value === null) return;
            const node = value as Node;
            const at = node !== item && typeof node.code === 'string' ? node.code : step;
            if (names(node)) add(at);
            Object.values(node).forEach((inner) => walk(inner, at));
        };
        walk(item, null);
    }
    return found;
}

export const usesOf = (items: Node[], credential: string) => search(items, STAGED, (what) => typeof what === 'object' && what.credential === credential);

/** Who names something that is live as soon as it is saved. */
export function usersOf(items: Node[], kind: 'functions' | 'templates' | 'config', name: string): Use[] {
    if (kind === 'templates') return search(items, STAGED, (what) => typeof what === 'object' && what.template === name);
    const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const called = kind === 'functions' ? new RegExp(`\\bfn\\.${word}\\s*\\(`) : new RegExp(`\\bconfig\\.${word}(?!\\w)`);
    return search(items, ALL, (what) => typeof what === 'string' && called.test(what)).filter((use) => !(kind === 'functions' && use.kind === 'function' && use.code === name));
}
