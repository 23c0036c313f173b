// Processes.tsx - what there is to run, and what of it runs.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Bar } from '../../app/Shell';
import { isAdmin, mayAct, useMe } from '../../app/session';
import { useState } from 'react';
import { all, call } from '../../lib/api';
import { Bones, Button, Empty, Refusal } from '../../lib/parts';
import { Say, t } from '../../lib/text';
import { number, shortly } from '../../lib/time';
import type { Process } from '../../lib/types';
import { NewProcess } from './New';
import '../screens.css';

export function Processes() {
    const { me } = useMe();
    const go = useNavigate();
    const [making, make] = useState(false);
    const processes = useQuery({ queryKey: ['processes'], queryFn: () => all<Process>('/processes') });
    const procedures = useQuery({ queryKey: ['processes', 'procedures'], queryFn: () => all<Process>('/procedures') });
    const found = { isLoading: processes.isLoading, error: processes.error, data: processes.data && [...processes.data, ...(procedures.data ?? []).map((p) => ({ ...p, kind: 'procedure' }))] };
    const running = useQuery({ queryKey: ['summary', 'code'], queryFn: () => call<{ items: { value: string; status?: string; count: number }[] }>('/executions/summary?by=code') });
    const counts = new Map<string, number>();
    for (const item of running.data?.items ?? []) if (!['completed', 'failed', 'cancelled'].includes(item.status ?? '')) counts.set(item.value, (counts.get(item.value) ?? 0) + item.count);
    return (
        <>
            <Bar title={t('Processes')} busy={found.isLoading} live={false}>{isAdmin(me) && <Button kind="ink" icon="plus" onClick={() => make(true)}>{t('New process…')}</Button>}</Bar>
            <div className="thead procs"><span>{t('Name')}</span><span>{t('Code')}</span><span>{t('Kind')}</span><span>{t('Published')}</span><span>{t('Draft')}</span><span className="r">{t('Live now')}</span><span /></div>
            <div className="scroll">
                {found.isLoading && <Bones />}
                <Refusal error={found.error} />
                {(found.data ?? []).map((p) => (
                    <div key={`${p.kind}/${p.code}`} className="trow procs">
                        <span className="cut"><Link className="key" to="/processes/$kind/$code" params={{ kind: `${p.kind}s`, code: p.code }}>{p.name ?? p.code}</Link></span><span className="mono t2 cut">{p.code}</span><span className="t2">{t(p.kind)}</span>
                        <span className="t2 num">{p.published ? <>{t('version {n}', { n: p.published.version })} <span className="t3">{shortly(p.published.createdAt)}</span></> : '–'}</span><span className="t2">{p.draft ? t('draft') : '–'}</span>
                        <span className="r num"><Link className="above" to="/executions" search={{ code: p.code } as Record<string, string>}>{number(counts.get(p.code) ?? 0)}</Link></span>
                        <span className="r above">{mayAct(me) && p.published && p.kind !== 'procedure' && <Button small onClick={() => void go({ to: '/executions', search: { start: p.code } as Record<string, string> })}>{t('Start…')}</Button>}</span>
                    </div>
                ))}
                {found.data?.length === 0 && <Empty title={t('There are no processes yet')} action={isAdmin(me) && <Button kind="ink" onClick={() => make(true)}>{t('New process…')}</Button>}><Say text="A process says what happens after what. Put one together here, or write it as JSON and publish it with `pawl apply FILE`." /></Empty>}
            </div>
            {making && <NewProcess close={() => make(false)} />}
        </>
    );
}
