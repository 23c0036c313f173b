// eval.ts - the value of an expression with the context of a chosen execution. The server evaluates; nobody else does.
import { useEffect, useState } from 'react';
import { Problem, post } from '../lib/api';
import { brief } from './known';

export interface Outcome { ok: boolean; text: string; column?: number }

/** Pieces of a text that are expressions, and what stands between them. */
export function pieces(text: string, isExpression: boolean): { text: string; isExpression: boolean }[] {
    if (isExpression) return [{ text, isExpression: true }];
    if (text.startsWith('$.')) return [{ text, isExpression: true }];
    if (text.startsWith('=')) return [{ text: text.slice(1), isExpression: true }];
    return text.split(/(\{\{.*?\}\})/s).filter(Boolean).map((part) => (part.startsWith('{{') ? { text: part.slice(2, -2), isExpression: true } : { text: part, isExpression: false }));
}

export const isComputed = (text: string) => /^\$\.|^=|\{\{/.test(text);

async function evaluate(text: string, isExpression: boolean, context: unknown, signal: AbortSignal): Promise<Outcome> {
    const parts = pieces(text, isExpression);
    try {
        const values = await Promise.all(parts.map((part) => (part.isExpression ? post<{ value: unknown }>('/eval', { expression: part.text, context }, { signal }).then((a) => a.value) : part.text)));
        if (values.length === 1) return { ok: true, text: brief(values[0]) };
        return { ok: true, text: brief(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('')) };
    } catch (error) {
        if (error instanceof Problem) return { ok: false, text: error.body.errors?.[0]?.message ?? error.message, column: error.body.errors?.[0]?.column };
        throw error;
    }
}

export function useOutcome(text: string, isExpression: boolean, context: unknown): Outcome | null {
    const [outcome, say] = useState<Outcome | null>(null);
    useEffect(() => {
        if (context === undefined || context === null || text.trim() === '' || (!isExpression && !isComputed(text))) return say(null);
        const stop = new AbortController();
        const timer = setTimeout(() => void evaluate(text, isExpression, context, stop.signal).then(say, () => undefined), 250);
        return () => {
            clearTimeout(timer);
            stop.abort();
        };
    }, [text, isExpression, context]);
    return outcome;
}
