// catalog.ts - what the server says a definition may hold, and the kinds of its fields.
export interface CatalogField { name: string; label: string; kind: string; required: boolean; state: string; options?: string[]; optionLabels?: Record<string, string>; default?: string; shownFirst: boolean; section: 'request' | 'answer'; picks?: string; help: string; example: unknown }
export interface ResultField { name: string; kind: string; help: string }
export interface CatalogCommand { name: string; alias: string | null; label: string; group: string; help: string; standsAlone: boolean; /** What stays outside when it has run. */ leaves: 'nothing' | 'something' | 'question'; fields: CatalogField[]; result: { kind: string; help: string; fields: ResultField[] } }
export interface CatalogFunction { name: string; signatures?: string[]; help?: string; example?: string; [more: string]: unknown }
/** A step that is offered beside the bare commands. */
export interface CatalogPreset { name: string; label: string; group: string; help: string; step: Record<string, unknown> & { code: string } }
export interface Catalog {
    commands: CatalogCommand[]; presets: CatalogPreset[]; groups: { name: string; label: string }[]; tables: { name: string; label: string; help: string }[];
    fields: Record<string, CatalogField[]>; fieldKinds: { name: string; help: string }[]; functions: CatalogFunction[]; context: { name: string; type: string }[];
}

/** kind = term {" or " term}; term = "list of " term | "map of " term | word */
export type Kind = { is: 'list'; of: Kind } | { is: 'map'; of: Kind } | { is: 'word'; word: string };

function term(text: string): Kind {
    if (text.startsWith('list of ')) return { is: 'list', of: term(text.slice(8)) };
    if (text.startsWith('map of ')) return { is: 'map', of: term(text.slice(7)) };
    return { is: 'word', word: text };
}

export const kindsOf = (text: string): Kind[] => text.split(' or ').map(term);

export const commandOf = (catalog: Catalog, type: unknown) => catalog.commands.find((c) => c.name === type || (c.alias !== null && c.alias === type));
/** The fields of a table that a kind names; a word of kinds is no table, though there may be one of that name. */
export const tableOf = (catalog: Catalog, word: string) => (catalog.fieldKinds.some((kind) => kind.name === word) ? undefined : catalog.fields[word]);

/** The tables that an object with a `type` may be of: a `trigger` is a scheduleTrigger, a webhookTrigger and so on. */
export function variantsOf(catalog: Catalog, word: string): { type: string; field: CatalogField; fields: CatalogField[] }[] {
    if (!catalog.fieldKinds.some((kind) => kind.name === word)) return [];
    const ending = word.charAt(0).toUpperCase() + word.slice(1);
    return Object.entries(catalog.fields).flatMap(([name, fields]) => {
        const field = fields.find((one) => one.name === 'type');
        return name.endsWith(ending) && field?.options?.length === 1 ? [{ type: field.options[0]!, field, fields }] : [];
    });
}

const WORDS_OF_TEXT = new Set(['string', 'text', 'template', 'computed', 'duration', 'timestamp', 'code', 'name', 'expression', 'condition', 'procedureName', 'who', 'error']);

/** Whether a value is written as this kind says. */
export function fits(catalog: Catalog, kind: Kind, field: Pick<CatalogField, 'options'> | null, value: unknown): boolean {
    if (kind.is === 'list') return Array.isArray(value);
    if (kind.is === 'map') return value !== null && typeof value === 'object' && !Array.isArray(value);
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    switch (kind.word) {
        case 'integer': case 'number': return typeof value === 'number';
        case 'boolean': return typeof value === 'boolean';
        case 'one of': return typeof value === 'string' && (field?.options?.includes(value) ?? true);
        case 'computed': return typeof value === 'string' && /^\$\.|^=|\{\{/.test(value);
        case 'value': case 'any': return true;
        case 'commands': return isObject ? 'type' in (value as object) : Array.isArray(value);
        case 'run': return typeof value === 'string' || Array.isArray(value) || (isObject && 'type' in (value as object));
        default: return WORDS_OF_TEXT.has(kind.word) ? typeof value === 'string' : (tableOf(catalog, kind.word) !== undefined || variantsOf(catalog, kind.word).length > 0) && isObject;
    }
}

/** Which of the ways to write a field is meant: the one that fits, else the first. */
export function chosenKind(catalog: Catalog, kinds: Kind[], field: Pick<CatalogField, 'options'> | null, value: unknown): Kind {
    if (value === undefined) return kinds[0]!;
    return kinds.find((kind) => fits(catalog, kind, field, value)) ?? kinds[0]!;
}
