// uses.ts - which published definitions name a credential, and at which steps.

export interface Use { kind: string; code: string; name?: string; step: string | null }

/** `items` is what is exported: definitions with `kind` and `code`. */
export function usesOf(items: Record<string, unknown>[], credential: string): Use[] {
    const found: Use[] = [];
    for (const item of items) {
        const walk = (value: unknown, step: string | null) => {
            if (Array.isArray(value)) return value.forEach((inner) => walk(inner, step));
            if (typeof value !== 'object' || value === null) return;
            const node = value as Record<string, unknown>;
            const at = node !== item && typeof node.code === 'string' ? node.code : step;
            if (node.credential === credential && !found.some((use) => use.code === item.code && use.kind === item.kind && use.step === at))
                found.push({ kind: String(item.kind), code: String(item.code), name: typeof item.name === 'string' ? item.name : undefined, step: at });
            Object.values(node).forEach((inner) => walk(inner, at));
        };
        walk(item, null);
    }
    return found.filter((use) => use.kind === 'scenario' || use.kind === 'procedure' || use.kind === 'schema');
}
