// eval.ts - the value of an expression with the context of a chosen execution. The server evaluates; nobody else does.
//
// What is asked for at about the same time is one request, and the context stays on the server.
import { useEffect, useState } from 'react';
import { post } from '../lib/api';
import { isObject } from '../lib/exact';
import { t } from '../lib/text';
import type { Answers } from '../lib/types';
import type { Sample } from './desk';
import { brief } from './known';

/** `isAbsent`: it has a value only at a moment of which nothing is kept. */
export interface Outcome { ok: boolean; text: string; column?: number; isAbsent?: boolean }

export const isComputed = (text: string) => /^\$\.|^=|\{\{/.test(text);

/** What the context has only while something is under way: the round of a loop, the signal that has just come. */
const MOMENTARY = ['loop', 'signal', 'response', 'error', 'record', 'reminder', 'webhook'];
const isMomentary = (text: string, context: unknown) => MOMENTARY.some((root) => !(isObject(context) && root in context) && new RegExp(`(^|[^\\w.$"'])(\\$\\.)?${root}\\b`).test(text));

type Item = { expression: string } | { value: string };
type Values = Extract<Answers['evaluateExpression'], { items: unknown }>['items'];
interface Asked { item: Item; tell: (outcome: Outcome) => void }

const GATHER_MS = 40;
const ITEMS_MOST = 200;
const queues = new Map<string, Asked[]>();

async function send(id: string) {
    const asked = queues.get(id) ?? [];
    queues.delete(id);
    for (let i = 0; i < asked.length; i += ITEMS_MOST) {
        const some = asked.slice(i, i + ITEMS_MOST);
        const { items } = await post<{ items: Values }>('/eval', { items: some.map((one) => one.item), executionId: id });
        some.forEach((one, n) => {
            const got = items[n] as { value?: unknown; error?: { message: string; column?: number } };
            one.tell(got.error ? { ok: false, text: got.error.message, column: got.error.column } : { ok: true, text: brief(got.value) });
        });
    }
}

function ask(id: string, one: Asked) {
    const queue = queues.get(id);
    if (queue) return void queue.push(one);
    queues.set(id, [one]);
    setTimeout(() => void send(id).catch(() => undefined), GATHER_MS);
}

export function useOutcome(text: string, isExpression: boolean, sample: Sample | null): Outcome | null {
    const [outcome, say] = useState<Outcome | null>(null);
    useEffect(() => {
        if (!sample || text.trim() === '' || (!isExpression && !isComputed(text))) return say(null);
        if (isMomentary(text, sample.context)) return say({ ok: true, text: t('known only while it runs'), isAbsent: true });
        let isOver = false;
        const timer = setTimeout(() => ask(sample.id, { item: isExpression ? { expression: text } : { value: text }, tell: (got) => { if (!isOver) say(got); } }), 250);
        return () => {
            isOver = true;
            clearTimeout(timer);
        };
    }, [text, isExpression, sample]);
    return outcome;
}
