// Audit.tsx - who did what.
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Bar } from '../../app/Shell';
import { call, type Page, query } from '../../lib/api';
import { Icon } from '../../lib/icons';
import { Bones, Button, Empty, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { full, when } from '../../lib/time';
import '../screens.css';

interface Line { id: string; at: string; user: { id: string; name: string } | null; action: string; target: string; details: Record<string, unknown> | null }

const say = (details: Line['details']) => (details ? Object.entries(details).filter(([, v]) => v !== null).map(([name, v]) => `${name} ${typeof v === 'object' ? JSON.stringify(v) : v}`).join(', ') : '');

export function Audit() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const [typed, type] = useState(search.action ?? search.target ?? '');
    const found = useInfiniteQuery({
        queryKey: ['audit', search.action ?? '', search.target ?? ''], initialPageParam: '', getNextPageParam: (page: Page<Line>) => page.nextCursor ?? undefined,
        queryFn: ({ pageParam }) => call<Page<Line>>(`/audit${query({ action: search.action, target: search.target, limit: 200, cursor: pageParam })}`),
    });
    const lines = found.data?.pages.flatMap((page) => page.items) ?? [];
    const apply = (text: string) => void go({ to: '/audit', search: (text === '' ? {} : text.includes('.') ? { action: text } : { target: text }) as Record<string, string>, replace: true });
    return (
        <>
            <Bar title={t('Audit')} busy={found.isFetching} live={false} />
            <form onSubmit={(event) => { event.preventDefault(); apply(typed.trim()); }}><div className="filter"><Icon name="search" small /><input value={typed} aria-label={t('Filter')} placeholder={t('An action such as execution.cancel, or the id of what it was done to')} onChange={(event) => type(event.target.value)} />{typed && <Button kind="quiet" small square icon="x" aria-label={t('Clear filters')} onClick={() => { type(''); apply(''); }} />}</div></form>
            <div className="thead audit" style={{ marginTop: 12 }}><span>{t('When')}</span><span>{t('Who')}</span><span>{t('What')}</span><span>{t('To what')}</span><span>{t('Details')}</span></div>
            <div className="scroll">
                {found.isLoading && <Bones />}
                {Boolean(found.error) && <div className="pagehead"><Refusal error={found.error} /></div>}
                {lines.map((line) => (
                    <div key={line.id} className="trow audit">
                        <span className="num t2" title={full(line.at)}>{when(line.at, { seconds: true })}</span><span className="m5 cut">{line.user?.name ?? '–'}</span><span className="mono cut">{line.action}</span>
                        <span className="cut mono">{line.action.startsWith('execution.') && line.target?.length === 36 ? <Link to="/executions/$id" params={{ id: line.target }}>…{line.target.slice(-8)}</Link> : line.target && line.target.length > 24 ? `…${line.target.slice(-8)}` : line.target}</span>
                        <span className="t2 cut">{say(line.details)}</span>
                    </div>
                ))}
                {found.data && lines.length === 0 && <Empty title={t('Nothing matches')}>{t('Everything that anybody changes is written here.')}</Empty>}
                {found.hasNextPage && <div className="pagehead"><Button onClick={() => void found.fetchNextPage()}>{t('Show earlier ones')}</Button></div>}
            </div>
        </>
    );
}
