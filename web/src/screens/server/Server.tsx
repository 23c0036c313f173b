// Server.tsx - is the server well, and who shares its store?
import { useQuery } from '@tanstack/react-query';
import { Bar } from '../../app/Shell';
import { call, type Page } from '../../lib/api';
import { Glyph } from '../../lib/icons';
import { Bones, Refusal, useNow } from '../../lib/parts';
import { Status } from '../../lib/status';
import { Say, t } from '../../lib/text';
import { between, number, when } from '../../lib/time';
import { Jobs } from './Jobs';
import '../screens.css';

interface Node { id: string; status: string; self: boolean; startedAt: string; batches: number }

/** Gauges and counters of /metrics, by name; it is open on the same machine only. */
async function metrics(): Promise<Map<string, number>> {
    const answer = await fetch('/metrics');
    const result = new Map<string, number>();
    if (answer.ok) for (const [, name, value] of (await answer.text()).matchAll(/^(pawl_\w+) (\S+)$/gm)) result.set(name!, Number(value));
    return result;
}

const FIGURES: [string, string][] = [
    ['pawl_commits_total', 'Changes made durable'], ['pawl_batches_total', 'Batches written'], ['pawl_commits_refused_total', 'Changes refused'], ['pawl_requests_pending', 'Requests under way'],
    ['pawl_cache_executions', 'Executions in memory'], ['pawl_timers_pending', 'Timers due within a minute'], ['pawl_dead_letters', 'Open dead letters'], ['pawl_kept_signals', 'Signals kept'], ['pawl_http_requests_total', 'Requests received'], ['pawl_store_silent_seconds', 'Seconds without an answer of the store'],
];

export function Server() {
    const now = useNow(1000);
    const nodes = useQuery({ queryKey: ['nodes'], refetchInterval: 5000, queryFn: () => call<Page<Node>>('/nodes') });
    const figures = useQuery({ queryKey: ['metrics'], refetchInterval: 5000, retry: false, queryFn: metrics });
    const ready = useQuery({ queryKey: ['readyz'], refetchInterval: 5000, queryFn: async () => { const answer = await fetch('/readyz'); return { ok: answer.ok, text: await answer.text() }; } });
    const self = nodes.data?.items.find((node) => node.self);
    return (
        <>
            <Bar title={t('Server')} busy={nodes.isLoading} />
            <div className="scroll page">
                {ready.data && (ready.data.ok
                    ? <div className="why ok"><Glyph name="completed" tone="ok" /><div className="grow"><div className="say"><Say text="**All is well.** It takes requests{since}." values={{ since: self ? t(', since {when} ({long})', { when: when(self.startedAt), long: between(self.startedAt, now) }) : '' }} /></div></div></div>
                    : <div className="why held"><Glyph name="held" tone="held" /><div className="grow"><div className="say"><b>{t('It does not take requests.')}</b> {ready.data.text.slice(0, 200)}</div></div></div>)}
                <Refusal error={nodes.error} />
                {!nodes.data && <Bones rows={3} />}
                <div className="card"><h2>{t('Nodes')}<span className="meta">{t('that share the store')}</span></h2>
                    {(nodes.data?.items ?? []).map((node) => <div key={node.id} className="trow nodes"><span className="m5 cut">{node.id}{node.self && <span className="t3"> · {t('this one')}</span>}</span><span><Status quiet name={node.status === 'live' ? 'live' : 'held'} /></span><span className="t2 num">{t('for {long}', { long: between(node.startedAt, now) })}</span><span className="r num t2">{t('{n} batch|{n} batches', { n: number(node.batches), count: node.batches })}</span></div>)}
                </div>
                <Jobs now={now} />
                {figures.data && figures.data.size > 0 && <div className="card"><h2>{t('Figures')}<span className="meta">/metrics</span></h2><dl className="figures">{FIGURES.filter(([name]) => figures.data!.has(name)).map(([name, label]) => <div key={name}><dt>{t(label)}</dt><dd className="num">{number(figures.data!.get(name)!)}</dd></div>)}</dl></div>}
            </div>
        </>
    );
}
