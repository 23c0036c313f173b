// Failures.tsx - what has failed lately, alike together: how many, where, and with which error.
import { Link } from '@tanstack/react-router';
import { Glyph } from '../../lib/icons';
import { t } from '../../lib/text';
import { number, shortly, span } from '../../lib/time';
import type { Execution } from '../../lib/types';
import type { Window } from './stats';

export interface Alike { code: string; error: string; step: string; message: string; items: Execution[] }

/** Failures of one process at one step with one error, the newest group first. */
export function alike(items: Execution[]): Alike[] {
    const groups = new Map<string, Alike>();
    for (const x of items) {
        const [error, step] = [x.error?.code ?? '', x.error?.step ?? ''];
        const name = JSON.stringify([x.code, error, step]);
        const group = groups.get(name) ?? { code: x.code, error, step, message: x.error?.message ?? '', items: [] };
        group.items.push(x);
        groups.set(name, group);
    }
    return [...groups.values()];
}

/** The filter that finds the executions of a group. */
export const filterOf = (group: Alike, from: string) => ({ status: 'failed', code: group.code, ...(group.error ? { error: group.error } : {}), from }) as Record<string, string>;

const GROUPS = 6;

export function Failures({ groups, more, window }: { groups: Alike[]; more: boolean; window: Window }) {
    return (
        <div className="card failures"><h2>{t('Failures')}<span className="meta">{t('in {window}', { window: span(window) })}</span><span className="end meta">{t('newest first')}</span></h2>
            {groups.length === 0 && <p className="t3 quiet">{t('Nothing has failed.')}</p>}
            {groups.slice(0, GROUPS).map((group) => {
                const x = group.items[0]!;
                const cells = <><Glyph name="failed" tone="bad" /><span className="m5 cut">{group.items.length === 1 ? (x.key ?? `…${x.id.slice(-8)}`) : t('{n} alike', { n: `${number(group.items.length)}${more ? '+' : ''}` })}</span><span className="cut"><span className="t1">{group.message}</span> <span className="mono t3">{group.error}</span></span><span className="cut t2">{group.code} › {group.step}</span><span className="meta num r">{shortly(x.completedAt ?? x.createdAt)}</span></>;
                return group.items.length === 1 ? <Link key={x.id} className="er" to="/executions/$id" params={{ id: x.id }}>{cells}</Link> : <Link key={x.id} className="er" to="/executions" search={filterOf(group, window)}>{cells}</Link>;
            })}
            {groups.length > GROUPS && <Link className="er more" to="/executions" search={{ status: 'failed', from: window } as Record<string, string>}>{t('All failures in {window}', { window: span(window) })}</Link>}
        </div>
    );
}
