// Inspector.tsx - one attempt: what went in, what came out, what was wrong, and what the context was right after it.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { useKeys } from '../../app/Shell';
import { call } from '../../lib/api';
import { Glyph } from '../../lib/icons';
import { changedPaths, Diff, Json } from '../../lib/json';
import { Button, Refusal } from '../../lib/parts';
import { lookOf, stateOf, Status } from '../../lib/status';
import { nameOf } from '../../lib/steps';
import { t } from '../../lib/text';
import { between, clockWithMs, full, when } from '../../lib/time';
import { type ErrorInfo, type Execution, type Step, type StepDef, timeOf } from '../../lib/types';
import type { Bar } from './timeline';
import './inspector.css';

export type Tab = 'input' | 'output' | 'error' | 'context';

const useContext = (id: string, at: string | null) => useQuery({
    queryKey: ['context', id, at], enabled: at !== null, staleTime: Infinity, placeholderData: keepPreviousData,
    queryFn: () => call<Record<string, unknown>>(`/executions/${id}/context?at=${at}`),
});

function ContextTab({ x, rows, row, select }: { x: Execution; rows: Step[]; row: Step; select: (id: string) => void }) {
    const at = rows.findIndex((r) => r.id === row.id);
    const after = useContext(x.id, row.id);
    const before = useContext(x.id, at > 0 ? rows[at - 1]!.id : null);
    const start = { input: x.input, steps: {}, variables: {}, signals: [] };
    const from = at > 0 ? before.data : start;
    const paths = useMemo(() => (from && after.data ? changedPaths(from, after.data) : []), [from, after.data]);
    const dots = useRef<HTMLDivElement>(null);
    const go = (to: number) => { const next = rows[Math.max(0, Math.min(rows.length - 1, to))]; if (next) select(next.id); };
    useKeys({ ArrowLeft: (event) => { event.preventDefault(); go(at - 1); }, ArrowRight: (event) => { event.preventDefault(); go(at + 1); } });
    const shown = rows.length <= 40 ? rows.map((r, i) => ({ r, i })) : rows.map((r, i) => ({ r, i })).filter(({ i }) => i === at || i % Math.ceil(rows.length / 40) === 0);
    return (
        <>
            <div className="row travel">
                <Button square small kind="plain" icon="left" aria-label={t('Step before')} disabled={at <= 0} onClick={() => go(at - 1)} />
                <Button square small kind="plain" icon="right" aria-label={t('Next step')} disabled={at >= rows.length - 1} onClick={() => go(at + 1)} />
                <span className="cut">{t('Context after')} <b>{row.step}</b>{row.visit > 1 ? ` · ${t('visit {n}', { n: row.visit })}` : ''}</span>
                <span className="end t3 num nowrap">{t('{n} of {all}', { n: at + 1, all: rows.length })}</span>
            </div>
            <div className="dots" ref={dots}>
                {shown.map(({ r, i }) => <button type="button" key={r.id} className={`${i === at ? 'on' : ''} d-${lookOf(r.status).tone}`} aria-label={t('Context after {step}', { step: `${r.step} ${r.visit}` })} aria-pressed={i === at} onClick={() => select(r.id)} />)}
            </div>
            <Refusal error={after.error} />
            {after.data && from && (
                <>
                    <p className="meta changed">{paths.length === 0 ? t('Nothing changed.') : <>{t('{n} path changed:|{n} paths changed:', { n: paths.length })} <code>{paths.slice(0, 4).join(', ')}{paths.length > 4 ? ' …' : ''}</code></>}</p>
                    <Diff before={from} after={after.data} />
                </>
            )}
        </>
    );
}

function ErrorTab({ error, x }: { error: ErrorInfo | null; x: Execution }) {
    if (!error) return <p className="t3">{t('It did not fail.')}</p>;
    return (
        <>
            <p className="errmsg">{error.message}</p>
            <dl className="kv narrow">
                <dt>{t('Code')}</dt><dd className="mono">{error.code}</dd>
                <dt>{t('Class')}</dt><dd>{error.class ?? '–'} <span className="t3">· {error.retryable ? t('is tried again') : t('is not tried again')}</span></dd>
                {error.source && <><dt>{t('Raised at')}</dt><dd><Link to="/processes/$kind/$code" params={{ kind: `${x.kind}s`, code: x.code }} search={{ version: String(error.version ?? x.version), at: error.source } as never}><code>{error.source}</code></Link> <span className="t3">{t('of version {n}', { n: error.version ?? x.version })}</span></dd></>}
            </dl>
            {error.details !== null && error.details !== undefined && <div className="more"><h3 className="h">{t('Details')}</h3><Json value={error.details} /></div>}
        </>
    );
}

/** The execution itself: what went in, what it came to, what it failed with, what it knows. */
function Whole({ x, tab, turn }: { x: Execution; tab: Tab; turn: (to: Tab) => void }) {
    const tabs: [Tab, string][] = [['input', t('Input')], ['output', t('Result')], ...(x.error ? [['error', t('Error')] as [Tab, string]] : []), ['context', t('Context')]];
    return (
        <aside className="insp" aria-label={t('Details')}>
            <div className="hd"><div className="row"><b>{t('The execution')}</b><span className="end"><Status pill name={stateOf(x)} /></span></div></div>
            <div className="tabs" role="tablist">{tabs.map(([name, label]) => <button key={name} type="button" role="tab" aria-selected={tab === name} className={tab === name ? 'on' : ''} onClick={() => turn(name)}>{label}</button>)}</div>
            <div className="body" role="tabpanel">
                {tab === 'input' && <Json value={x.input} />}
                {tab === 'output' && (x.completedAt ? <Json value={x.result} /> : <p className="t3">{t('It has not ended yet; what it comes to will be here.')}</p>)}
                {tab === 'error' && <ErrorTab error={x.error} x={x} />}
                {tab === 'context' && <Json value={x.context} />}
            </div>
        </aside>
    );
}

export function Inspector({ x, bar, rows, steps, tab, turn, select }: { x: Execution; bar: Bar | null; rows: Step[]; steps: Map<string, StepDef>; tab: Tab; turn: (to: Tab) => void; select: (id: string) => void }) {
    const row = bar?.row ?? null;
    useKeys({ 1: () => turn('input'), 2: () => turn('output'), 3: () => turn('error'), 4: () => turn('context') });
    if (!bar) return <Whole x={x} tab={tab} turn={turn} />;
    const def = steps.get(bar.step);
    const undone = rows.filter((r) => r.kind === 'rollback' && r.status === 'compensated');
    const tabs: [Tab, string][] = [['input', t('Input')], ['output', t('Output')], ['error', t('Error')], ['context', t('Context')]];
    return (
        <aside className="insp" aria-label={t('Details')}>
            <div className="hd">
                <div className="row"><b className="cut">{def ? nameOf(def) : bar.step}</b><span className="tag mono">{bar.step}</span><span className="end"><Status pill name={bar.lane === 'back' && bar.state === 'completed' ? 'compensated' : bar.state} /></span></div>
                <div className="meta" title={row ? full(timeOf(row)) : undefined}>{row ? `${bar.lane === 'back' ? `${t('rollback')} · ` : ''}${t('visit {n}', { n: row.visit })} · ${t('attempt {n}', { n: row.attempt })} · ${clockWithMs(timeOf(row))} · ${between(timeOf(row), row.completedAt ?? Date.now())}` : t('since {when}', { when: when(bar.from, { seconds: true }) })}</div>
            </div>
            {row ? (
                <>
                    <div className="tabs" role="tablist">{tabs.map(([name, label]) => <button key={name} type="button" role="tab" aria-selected={tab === name} className={tab === name ? 'on' : ''} onClick={() => turn(name)}>{label}{name === 'error' && row.error && <Glyph name="failed" tone="bad" />}</button>)}</div>
                    <div className="body" role="tabpanel">
                        {tab === 'input' && (row.input === null ? <><p className="t3">{t('It takes no input of its own; it reads the context.')}</p><div className="more"><h3 className="h">{t('Input of the execution')}</h3><Json value={x.input} /></div></> : <Json value={row.input} />)}
                        {tab === 'output' && <Json value={row.output} />}
                        {tab === 'error' && <ErrorTab error={row.error} x={x} />}
                        {tab === 'context' && <ContextTab x={x} rows={rows} row={row} select={select} />}
                        {row.idempotencyKey && tab !== 'context' && <p className="meta idem">{t('Idempotency key')} <code>{row.idempotencyKey}</code></p>}
                    </div>
                    {tab === 'error' && undone.length > 0 && bar.state === 'failed' && (
                        <div className="sect"><h3>{t('What was undone')}<span className="end meta">{t('in this order')}</span></h3>
                            <div className="col undone">{undone.slice(0, 30).map((r, i) => <button type="button" key={r.id} className="row top" onClick={() => select(r.id)}><span className="ord">{i + 1}</span><span><b className="m5">{r.step}</b>{r.visit > 1 ? ` · ${t('visit {n}', { n: r.visit })}` : ''}<br /><span className="t3">{between(timeOf(r), r.completedAt ?? timeOf(r))}{r.attempt > 1 ? `, ${t('attempt {n}', { n: r.attempt })}` : ''}</span></span></button>)}</div>
                        </div>
                    )}
                </>
            ) : (
                <div className="body"><p className="t2">{bar.wait?.title ? `“${bar.wait.title}”` : t('It has not ended yet; what it answers will be here.')}</p>
                    {bar.wait?.error && <p className="t2">{bar.wait.error.message} <code>{bar.wait.error.code}</code></p>}
                    {bar.wait && <dl className="kv narrow waitfacts">
                        {bar.wait.since && <><dt>{t('Since')}</dt><dd>{when(bar.wait.since, { seconds: true })}</dd></>}
                        {bar.wait.until && <><dt>{t('Until')}</dt><dd>{when(bar.wait.until, { seconds: true })}</dd></>}
                        {bar.wait.signalType && <><dt>{t('Signal')}</dt><dd className="mono">{([] as string[]).concat(bar.wait.signalType).join(', ')}</dd></>}
                        {bar.wait.assignee && <><dt>{t('Asked')}</dt><dd>{bar.wait.assignee}</dd></>}
                    </dl>}
                    <div className="more"><h3 className="h">{t('Context now')}</h3><Json value={x.context} /></div>
                </div>
            )}
        </aside>
    );
}
