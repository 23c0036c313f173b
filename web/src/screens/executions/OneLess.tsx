// OneLess.tsx - when nothing matches: how many there would be with one filter less.
import { useQuery } from '@tanstack/react-query';
import { call, type Page } from '../../lib/api';
import { t } from '../../lib/text';
import { number } from '../../lib/time';
import type { Execution } from '../../lib/types';
import { FIELDS, type Filter, inWords } from './filters';

const COUNTED = 100;

export function OneLess({ filter, change }: { filter: Filter; change: (to: Filter) => void }) {
    const set = [...FIELDS, 'q' as const].filter((name) => filter[name]);
    const found = useQuery({
        queryKey: ['one-less', filter], enabled: set.length > 1,
        queryFn: () => Promise.all(set.map(async (name) => {
            const rest: Filter = { ...filter, [name]: undefined };
            const query = new URLSearchParams(Object.entries(rest).filter(([, value]) => value) as [string, string][]);
            const page = await call<Page<Execution>>(`/executions?${query}&limit=${COUNTED}`);
            return { name, rest, count: page.items.length, more: Boolean(page.nextCursor) };
        })),
    });
    const some = (found.data ?? []).filter((one) => one.count > 0);
    if (some.length === 0) return null;
    return (
        <span className="oneless">{some.map((one) => (
            <button key={one.name} type="button" className="btn link" onClick={() => change(one.rest)}>{t('{n} without “{filter}”', { n: `${number(one.count)}${one.more ? '+' : ''}`, filter: one.name === 'q' ? filter.q! : inWords(one.name, filter[one.name]!).filter(Boolean).join(' ') })}</button>
        ))}</span>
    );
}
