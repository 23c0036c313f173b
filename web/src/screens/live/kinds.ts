// kinds.ts - what is live as soon as it is saved: functions, templates and values of the configuration.
import { applyEdits, findNodeAtLocation, format, parseTree } from 'jsonc-parser';

export type KindName = 'functions' | 'templates' | 'config';

export interface Parameter { name: string; type: string }
/** What is edited. A value of the configuration is text: none of its digits is lost on the way. */
export interface Work { params?: Parameter[]; body?: string; subject?: string; html?: string; text?: string }

export interface Kind { path: KindName; item: string; key: 'name' | 'code'; title: string; one: { label: string; title: string; word: string }; lead: { help: string }; empty: { help: string }; means: string; name: { help: string; pattern: RegExp }; first: Work }

export const KINDS: Record<KindName, Kind> = {
    functions: {
        path: 'functions', item: 'function', key: 'name', title: 'Functions', one: { label: 'New function…', title: 'New function', word: 'function' },
        lead: { help: 'Expressions with a name, for every process.' }, empty: { help: 'A function is an expression with a name: fn.vat(sum) in one place instead of everywhere.' },
        means: 'Executions that start from now on use it; those that run keep the version they began with.', name: { help: 'Processes call it as fn.NAME: letters, digits and _, not a digit first.', pattern: /^[A-Za-z_]\w{0,99}$/ },
        first: { params: [{ name: 'sum', type: 'number' }], body: 'sum * 0.19' },
    },
    templates: {
        path: 'templates', item: 'template', key: 'code', title: 'Templates', one: { label: 'New template…', title: 'New template', word: 'template' },
        lead: { help: 'Texts of messages, with values filled in.' }, empty: { help: 'A template is the text of a message, with places for values.' },
        means: 'It is live at once: the next message has this text, for executions that run as well.', name: { help: 'Steps name it as template: small letters, digits and _, a letter first.', pattern: /^[a-z][a-z0-9_]{0,99}$/ },
        first: { subject: 'Your order {{ data.order }}', body: 'It is on its way.' },
    },
    config: {
        path: 'config', item: 'config', key: 'name', title: 'Configuration', one: { label: 'New value…', title: 'New value', word: 'value' },
        lead: { help: 'Values that processes read as $.config.NAME.' }, empty: { help: 'A value that is the same for all processes of this installation: an address, a limit, a switch.' },
        means: 'It is live at once: the next step that reads it has this value, in executions that run as well.', name: { help: 'Processes read it as $.config.NAME: letters, digits and _, not a digit first.', pattern: /^[A-Za-z_]\w{0,99}$/ },
        first: { text: '100' },
    },
};

export interface Stored { version: number; updatedBy: string | null; updatedAt: string; work: Work }

/** What the server answered, as it is edited. */
export function readStored(kind: Kind, answer: string): Stored {
    const item = JSON.parse(answer) as { version: number; updatedBy: string | null; updatedAt: string } & Work;
    const at = { version: item.version, updatedBy: item.updatedBy, updatedAt: item.updatedAt };
    if (kind.path === 'functions') return { ...at, work: { params: item.params ?? [], body: item.body ?? '' } };
    if (kind.path === 'templates') return { ...at, work: { subject: item.subject ?? '', body: item.body ?? '', ...(item.html ? { html: item.html } : {}) } };
    const tree = parseTree(answer);
    const value = tree && findNodeAtLocation(tree, ['value']);
    const text = value ? answer.slice(value.offset, value.offset + value.length) : 'null';
    return { ...at, work: { text: applyEdits(text, format(text, undefined, { tabSize: 4, insertSpaces: true, eol: '\n' })) } };
}

/** The text of a request body: that of a value goes as it was typed. */
export const bodyOf = (work: Work) => (work.text === undefined ? JSON.stringify(work) : `{"value": ${work.text}}`);

/** Why it cannot be sent yet, or nothing. */
export function unreadable(work: Work): string {
    if (work.text === undefined) return '';
    try {
        JSON.parse(work.text);
        return '';
    } catch (error) {
        return (error as Error).message;
    }
}

export const isSame = (a: Work, b: Work) => JSON.stringify(a) === JSON.stringify(b);

/** Two versions for a comparison by lines. */
export const forDiff = (work: Work): unknown => {
    if (work.text === undefined) return Object.fromEntries(Object.entries(work).map(([name, value]) => [name, typeof value === 'string' && value.includes('\n') ? value.split('\n') : value]));
    try {
        return { value: JSON.parse(work.text) as unknown };
    } catch {
        return { value: work.text };
    }
};

// What is typed and not saved outlives the page; of which version it was is kept with it.
const keyOf = (kind: Kind, name: string) => `pawl.live.${kind.path}.${name}`;
export interface Kept { version: number; work: Work; at: number }
export const keep = (kind: Kind, name: string, kept: Kept) => localStorage.setItem(keyOf(kind, name), JSON.stringify(kept));
export const drop = (kind: Kind, name: string) => localStorage.removeItem(keyOf(kind, name));
export function keptOf(kind: Kind, name: string): Kept | null {
    try {
        return JSON.parse(localStorage.getItem(keyOf(kind, name)) ?? 'null') as Kept | null;
    } catch {
        return null;
    }
}
