// Family.tsx - who started an execution, what it has started, and what is waited for at the end of that chain.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useNow } from '../../lib/parts';
import { call, type Page } from '../../lib/api';
import { Icon } from '../../lib/icons';
import { stateOf, Status } from '../../lib/status';
import { t } from '../../lib/text';
import { between, number } from '../../lib/time';
import type { Execution } from '../../lib/types';
import { whereAndWhy } from '../../lib/why';

const LEVELS = 8; // that are followed, up and down
const CHILDREN = 50;

const nameOf = (x: Execution) => x.key ?? `${x.code} …${x.id.slice(-8)}`;

/** Those above it, the first of them first. What the viewer may not see ends the chain. */
const useParents = (x: Execution) => useQuery({
    queryKey: ['parents', x.id], enabled: Boolean(x.parentId), staleTime: 60000,
    queryFn: async () => {
        const found: Execution[] = [];
        for (let id = x.parentId; id && found.length < LEVELS;) {
            const parent: Execution | null = await call<Execution>(`/executions/${id}`).catch(() => null);
            if (!parent) break;
            found.unshift(parent);
            id = parent.parentId;
        }
        return found;
    },
});

const awaited = (x: Execution) => x.waitingFor?.executionId ?? x.waitingFor?.branches?.find((b) => b.executionId)?.executionId ?? null;

/** What it waits for, and what that waits for, down to the one that does not wait for another. */
const useAwaited = (x: Execution) => useQuery({
    queryKey: ['awaited', x.id, x.rowVersion], enabled: Boolean(awaited(x)), refetchInterval: 15000,
    queryFn: async () => {
        const found: Execution[] = [];
        for (let id = awaited(x); id && found.length < LEVELS;) {
            const child: Execution | null = await call<Execution>(`/executions/${id}`).catch(() => null);
            if (!child) break;
            found.push(child);
            id = awaited(child);
        }
        return found;
    },
});

export function Parents({ x }: { x: Execution }) {
    const found = useParents(x);
    const list = found.data ?? [];
    if (!x.parentId) return null;
    if (list.length === 0) return <Link to="/executions/$id" params={{ id: x.parentId }}>{t('started by another')}</Link>;
    return (
        <nav className="row parents" aria-label={t('Started by')}><span className="t3">{t('Started by')}</span>
            {list.map((p, i) => <span key={p.id} className="row">{i > 0 && <Icon name="right" small />}<Link to="/executions/$id" params={{ id: p.id }} title={p.code}>{nameOf(p)}</Link></span>)}
        </nav>
    );
}

/** The end of the chain in the sentence: where the one stands that everything above it waits for. */
export function Awaited({ x }: { x: Execution }) {
    const list = useAwaited(x).data ?? [];
    const last = list.at(-1);
    if (!last) return null;
    const why = whereAndWhy(last);
    return (
        <span className="awaited">
            {list.map((child, i) => <span key={child.id} className="row">{i > 0 && <Icon name="right" small />}<Link to="/executions/$id" params={{ id: child.id }}>{nameOf(child)}</Link></span>)}
            <Status quiet name={stateOf(last)} />{why.step && <span className="tag mono">{why.step}</span>}{why.text && <span className={`cut ${why.strong ? 'b' : ''}`}>{why.text}</span>}
        </span>
    );
}

/** What it has started, the first of them first: how each stands, and why. */
export function Children({ x }: { x: Execution }) {
    const now = useNow(x.completedAt ? null : 1000);
    const found = useQuery({ queryKey: ['children', x.id, x.rowVersion], placeholderData: (before) => before, refetchInterval: x.completedAt ? false : 15000, queryFn: () => call<Page<Execution>>(`/executions?parent=${x.id}&order=oldest&limit=${CHILDREN}`) });
    const list = found.data?.items ?? [];
    if (list.length === 0) return null;
    return (
        <section className="children" aria-label={t('What it has started')}>
            <div className="row"><h3 className="h">{t('What it has started')}</h3><span className="meta num">{number(list.length)}{found.data?.nextCursor ? '+' : ''}</span>{found.data?.nextCursor && <span className="end"><Link to="/executions" search={{ parent: x.id } as Record<string, string>}>{t('All of them')}</Link></span>}</div>
            {list.map((child) => {
                const why = whereAndWhy(child);
                return (
                    <Link key={child.id} className="child" to="/executions/$id" params={{ id: child.id }}>
                        <Status quiet name={stateOf(child)} /><span className="m5 cut">{child.key ?? child.code}</span>
                        <span className="cut grow t2">{why.step && <span className="tag mono">{why.step}</span>} {why.text}</span>
                        <span className="num t3">{between(child.startedAt ?? child.createdAt, child.completedAt ?? now)}</span>
                    </Link>
                );
            })}
        </section>
    );
}
