// History.tsx - the log of a task, the newest first, in words.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Page, query } from '../../lib/api';
import { Icon } from '../../lib/icons';
import { Button, Refusal, Segments } from '../../lib/parts';
import { t } from '../../lib/text';
import { full, when } from '../../lib/time';
import { ACTIONS } from './actions';
import { LOOK } from './look';
import type { Task, Transition } from './tasks';

type Name = (id: string | null | undefined) => string;

function said(row: Transition, name: Name): string {
    const who = row.actor_id ? name(row.actor_id) : t('the system');
    const whom = typeof row.payload.assign_to === 'string' ? name(row.payload.assign_to) : '';
    switch (row.action) {
        case 'self_assign': return t('{who} took it', { who });
        case 'assign': return t('{who} assigned it to {whom}', { who, whom });
        case 'start': return t('{who} started', { who });
        case 'submit': return t('{who} handed it in', { who });
        case 'review_approve': return t('{who} accepted it', { who });
        case 'review_reject': return t('{who} sent it back', { who });
        case 'recall_to_pool': return t('{who} recalled it', { who });
        case 'shift_release': return t('{who} released it: the shift ended', { who });
        case 'escalate': return t('{who} asked for help: {kind}', { who, kind: t(String(row.payload.kind ?? 'other')) });
        case 'cancel': return t('{who} canceled it', { who });
        case 'unblock': return t('{who} opened it', { who });
        case 'block': return t('{who} blocked it', { who });
        default: return `${who}: ${row.action}`;
    }
}

const words = (row: Transition) => ['message', 'reason', 'how_fixed', 'handover_note'].map((name) => row.payload[name]).filter((text): text is string => typeof text === 'string' && text !== '');

export function History({ task, name, now }: { task: Task; name: Name; now: number }) {
    const [which, choose] = useState<'all' | 'status'>('all');
    const found = useInfiniteQuery({
        queryKey: ['tasks', 'log', task.id], initialPageParam: '',
        queryFn: ({ pageParam }) => call<Page<Transition>>(`/tasks/${task.id}/transitions${query({ limit: 50, cursor: pageParam })}`),
        getNextPageParam: (page) => page.nextCursor ?? undefined,
    });
    const rows = (found.data?.pages ?? []).flatMap((page) => page.items);
    const shown = which === 'all' ? rows : rows.filter((row) => row.from_status !== row.to_status);
    return (
        <section className="part"><h3>{t('History')}<span className="end"><Segments small label={t('History')} value={which} onChange={choose} options={[{ value: 'all', label: t('Everything') }, { value: 'status', label: t('Status only') }]} /></span></h3>
            <Refusal error={found.error} />
            <ol className="log">
                {shown.map((row) => (
                    <li key={row.id}>
                        <span className="num t3" title={full(row.created_at)}>{when(row.created_at, { now })}</span><Icon name={ACTIONS[row.action]?.icon ?? 'hold'} small />
                        <span className="grow"><span>{said(row, name)}</span>{words(row).map((text) => <span key={text} className="t2 block">“{text}”</span>)}</span>
                        <span className="meta">{row.from_status === row.to_status ? t('no change') : `${t(LOOK[row.from_status].word)} → ${t(LOOK[row.to_status].word)}`}</span>
                    </li>
                ))}
                {!found.hasNextPage && <li><span className="num t3" title={full(task.created_at)}>{when(task.created_at, { now })}</span><Icon name="plus" small /><span className="grow">{t('{who} made the task', { who: task.created_by ? name(task.created_by) : t('the system') })}</span><span /></li>}
            </ol>
            {found.hasNextPage && <Button kind="quiet" onClick={() => void found.fetchNextPage()}>{t('Show earlier')}</Button>}
        </section>
    );
}
