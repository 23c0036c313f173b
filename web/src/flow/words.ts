// words.ts - what stands on the lines between steps: conditions, jumps and times as people say them.
import { type Comparison, type Operator, readCondition, typedOf } from '../lib/condition';
import { commandsOf } from '../lib/steps';
import { t } from '../lib/text';
import { span } from '../lib/time';
import type { StepDef } from '../lib/types';

const LONGEST = 34;
const short = (text: string, most = LONGEST) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** "$.steps.decide.approved" is decide.approved, "$.input.amount" amount. */
const bare = (path: string) => path.replace(/^\$\./, '').replace(/^(input|steps|variables)\./, '').replace(/\.(payload|output)\./, '.');

function comparisonWords({ left, operator, right }: Comparison): string {
    const words: Record<Operator, string> = { '==': t('is'), '!=': t('is not'), '>': t('is over'), '>=': t('is at least'), '<': t('is under'), '<=': t('is at most'), true: '', false: '' };
    if (operator === 'true') return bare(left);
    if (operator === 'false') return t('not {what}', { what: bare(left) });
    return `${bare(left)} ${words[operator]} ${right.startsWith('$.') ? bare(right) : typedOf(right)}`;
}

/** A condition in the words of its author, else in ours where it is simple, as it is written where it is not. */
export function conditionWords(condition: unknown, name?: unknown): string {
    if (typeof name === 'string' && name !== '') return name;
    const text = String(condition ?? '').replace(/^=/, '');
    const all = readCondition(text);
    return all && all.length > 0 ? all.map(comparisonWords).join(` ${t('and')} `) : text.replaceAll('$.', '');
}

export const ifWords = (condition: unknown, name?: unknown) => short(t('if {condition}', { condition: conditionWords(condition, name) }));

/** Where a jump leads to that is no step. */
export const exitWords = (to: string) => (to === 'break' ? t('leaves the loop') : to === 'next' ? t('next round') : t('end'));

export function jumpWords(condition: string | undefined, name: string, words?: string): string {
    return condition === undefined ? short(t('goes to {name}', { name }), 40) : short(t('if {condition}, goes to {name}', { condition: short(conditionWords(condition, words), 24), name }), 48);
}

/** How long a step waits before it goes another way: "after 24 h". */
export function lateWords(step: StepDef): string {
    const timeout = commandsOf(step).find((command) => command.timeout !== undefined)?.timeout;
    return typeof timeout === 'string' && !/^[=$]|\{\{/.test(timeout) ? t('after {long}', { long: span(timeout) }) : t('when its time is up');
}

const OPPOSITE: Partial<Record<Operator, Operator>> = { true: 'false', false: 'true', '==': '!=', '!=': '==', '>': '<=', '<=': '>', '<': '>=', '>=': '<' };

/** How two conditions stand to each other; what a step between them may have changed is never told apart. */
export function relation(a: unknown, b: unknown): 'opposite' | 'exclusive' | null {
    const [x, ...more] = readCondition(String(a ?? '')) ?? [];
    const [y, ...others] = readCondition(String(b ?? '')) ?? [];
    if (!x || !y || more.length > 0 || others.length > 0 || bare(x.left) !== bare(y.left) || /^(\$\.)?variables\b/.test(x.left)) return null;
    if (OPPOSITE[x.operator] === y.operator && x.right === y.right) return 'opposite';
    return x.operator === '==' && y.operator === '==' && x.right !== y.right ? 'exclusive' : null;
}
