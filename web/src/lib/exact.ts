// exact.ts - JSON whose numbers keep all their digits: a number of JavaScript has about sixteen.
const raw = (JSON as unknown as { rawJSON?: (text: string) => unknown }).rawJSON;
const LONG_NUMBER = /[\d.]{16}/;

/** A number that a number of JavaScript would falsify: shown and sent as it is written. */
export class Exact {
    constructor(readonly text: string) {}

    toString() { return this.text; }

    toJSON() { return raw ? raw(this.text) : Number(this.text); }
}

/** A number as it is written: none of its digits is lost on the way. */
export function asNumber(plain: string): unknown {
    const isLong = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(plain) && plain.replace(/\D/g, '').length > 15;
    return raw && isLong && String(Number(plain)) !== plain ? new Exact(plain) : Number(plain);
}

type Reviver = (this: unknown, key: string, value: unknown) => unknown;
const keep = (_: string, value: unknown, context?: { source?: string }) => (typeof value === 'number' && context?.source ? asNumber(context.source) : value);

/** JSON with its numbers as they are written. */
export const readJson = (text: string): unknown => (LONG_NUMBER.test(text) ? JSON.parse(text, keep as Reviver) : JSON.parse(text));

export const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Exact);
