// marks.tsx - what the constructor says of a step on the canvas: what is wrong with it, and what undoes it.
import { Glyph } from '../lib/icons';
import { isObject } from '../lib/exact';
import { nameOf } from '../lib/steps';
import { t } from '../lib/text';
import type { Catalog } from './catalog';

/** What a command does it to: "deal", or the part of an address that is written as it is. */
function objectOf(command: Record<string, unknown>): string {
    const plain = (value: unknown) => (typeof value === 'string' && !/^[=$]/.test(value) ? value.replace(/\{\{.*?\}\}/gs, '…') : '');
    const data = isObject(command.data) ? Object.entries(command.data).find(([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && !/^[=$]|\{\{/.test(String(value))) : undefined;
    const change = data ? `${data[0]} → ${String(data[1])}` : '';
    const address = plain(command.url).replace(/^https?:\/\/[^/]*/, '') || plain(command.path);
    return [plain(command.object) || address || plain(command.message) || plain(command.template), change].filter(Boolean).join(', ');
}

const READS = ['record.get', 'record.find', 'compute.transform', 'compute.set'];

/** What undoes a step, in a few words: what is done, and to what. */
export function undoName(rollback: unknown, catalog: Catalog): string {
    if (typeof rollback === 'string') return nameOf({ code: rollback });
    // What only reads prepares the rest.
    if (Array.isArray(rollback)) return rollback.filter((one, i) => i === rollback.length - 1 || !READS.includes(String((one as { type?: unknown })?.type))).map((one) => undoName(one, catalog)).join(', ');
    if (!isObject(rollback)) return '';
    if (typeof rollback.type !== 'string') return undoName(rollback.procedure, catalog);
    const label = catalog.commands.find((command) => command.name === rollback.type)?.label ?? rollback.type;
    const object = objectOf(rollback);
    return rollback.type.startsWith('record.') && object.includes('→') ? object : object ? `${label}: ${object}` : label;
}

/** How often a rollback is tried: its own `retry`, or what the server does without one. */
export function undoAttempts(rollback: unknown): number {
    const retry = isObject(rollback) ? rollback.retry : undefined;
    return isObject(retry) && typeof retry.maxAttempts === 'number' ? retry.maxAttempts : UNDO_ATTEMPTS;
}
const UNDO_ATTEMPTS = 12;

export const ErrorMark = ({ errors, warnings }: { errors: number; warnings: number }) => (errors + warnings === 0 ? null : (
    <span className="mark2" title={errors > 0 ? t('{n} error|{n} errors', { n: errors }) : t('{n} warning|{n} warnings', { n: warnings })}><Glyph name={errors > 0 ? 'error' : 'held'} tone={errors > 0 ? 'bad' : 'held'} /></span>
));
