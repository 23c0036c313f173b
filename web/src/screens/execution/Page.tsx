// Page.tsx - why does it not go on, until when, and what can I do about it?
import { useMediaQuery } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { Bar as PageBar, useKeys } from '../../app/Shell';
import { useStuckMessages } from '../../app/counts';
import { mayAct, useMe } from '../../app/session';
import { isNet } from '../../flow/net';
import { call, Problem } from '../../lib/api';
import { isObject } from '../../lib/exact';
import { Glyph, Icon } from '../../lib/icons';
import { useConnection, useLive } from '../../lib/live';
import { Menu, MenuItem, MenuLink } from '../../lib/menu';
import { Bones, Button, CopyId, Empty, Refusal } from '../../lib/parts';
import { stateOf, Status, undoFailed, wasRolledBack } from '../../lib/status';
import { nameOf, stepsByCode } from '../../lib/steps';
import { t } from '../../lib/text';
import { full, number, when } from '../../lib/time';
import { type Definition, type Execution, may, type Step, timeOf, type WaitingFor } from '../../lib/types';
import { Children, Parents } from './Family';
import { ActionDialog, ICON, LABEL, waitsOf } from './Action';
import { codesOf, DebugBar } from './DebugBar';
import { Graph, statesOf } from './Graph';
import { useHistory } from './history';
import { Inspector, type Tab } from './Inspector';
import { Sentence } from './Sentence';
import { Timeline } from './Timeline';
import { barsOf, undoableOf } from './timeline';
import './page.css';

// It knows how to lay out what is no list, which takes a library.
const NetGraph = lazy(() => import('./NetGraph').then((m) => ({ default: m.NetGraph })));

const ORDER = ['retry', 'skip', 'continue', 'resume', 'signal', 'assign', 'again', 'pause', 'migrate', 'cancel', 'delete'];
const MAIN = (x: Execution) => (stateOf(x) === 'held' ? 'retry' : stateOf(x) === 'paused' ? 'resume' : x.status === 'waiting_debug' ? 'continue' : x.waitingFor?.kind === 'signal' ? 'signal' : x.status === 'failed' && x.actions.includes('retry') ? 'retry' : x.completedAt && x.status !== 'completed' ? 'again' : '');

function liveSteps(x: Execution): Map<string, string> {
    const result = new Map<string, string>();
    const put = (w: WaitingFor, paused: boolean) => { const step = w.kind === 'debug' ? w.next : w.step; if (step) result.set(step, w.kind === 'incident' ? 'held' : paused ? 'paused' : 'waiting'); };
    if (x.completedAt) return result;
    if (x.waitingFor) {
        put(x.waitingFor, x.waitingFor.kind === 'paused');
        for (const branch of x.waitingFor.branches ?? []) put(branch, x.waitingFor.kind === 'paused');
    }
    if (x.currentStep && !result.has(x.currentStep)) result.set(x.currentStep, x.status === 'compensating' ? 'compensating' : x.status === 'waiting' ? 'waiting' : 'running');
    return result;
}

interface Happened { at: string; icon: string; text: string; key: string }

interface LogLine { at: string; step: string | null; visit: number; kind: string; level: string; message: unknown }

function happenings(x: Execution, rows: Step[], lines: LogLine[], nameOfStep: (code: string | null) => string): Happened[] {
    const result: Happened[] = [{ at: x.startedAt ?? x.createdAt, icon: 'play', text: x.user ? t('{name} started it', { name: x.user.name }) : t('It was started'), key: 'start' }];
    const waiting = new Map<string, LogLine[]>(); // lines whose row is still to come
    const rowOf = (of: { step: string | null; visit: number; kind: string }, at: string | null) => `${of.step} ${of.visit} ${of.kind} ${at}`;
    for (const line of lines) waiting.set(rowOf(line, line.at), [...(waiting.get(rowOf(line, line.at)) ?? []), line]);
    const say = (line: LogLine) => result.push({ at: line.at, icon: line.level === 'error' || line.level === 'warn' ? 'warn' : 'log', text: `${nameOfStep(line.step)}: ${typeof line.message === 'string' ? line.message : JSON.stringify(line.message)}`, key: `log-${result.length}` });
    for (const row of rows) {
        for (const line of waiting.get(rowOf(row, row.completedAt)) ?? []) say(line);
        waiting.delete(rowOf(row, row.completedAt));
        if (row.kind === 'event') {
            const detail = row.output && typeof row.output === 'object' ? Object.entries(row.output as Record<string, unknown>).filter(([, v]) => v !== null && !Array.isArray(v) && !isObject(v)).map(([k, v]) => `${k} ${v}`).join(', ') : '';
            result.push({ at: timeOf(row), icon: row.status === 'cancelled' ? 'stop' : row.status === 'paused' ? 'pause' : 'user', text: `${t(`operator: ${row.status}`)}${detail ? `: ${detail.replace(/^reason /, '')}` : ''}`, key: row.id });
        } else if (row.kind === 'reminder') result.push({ at: timeOf(row), icon: 'bell', text: t('A reminder was sent at {step}', { step: nameOfStep(row.step) }), key: row.id });
        else if (row.status === 'failed') result.push({ at: row.completedAt ?? timeOf(row), icon: row.kind === 'rollback' ? 'undo' : 'warn', text: `${row.kind === 'rollback' ? t('Undoing {step}, attempt {n}', { step: nameOfStep(row.step), n: row.attempt }) : t('{step}, attempt {n}', { step: nameOfStep(row.step), n: row.attempt })}: ${row.error?.message ?? ''}`, key: row.id });
        else if (row.output && typeof row.output === 'object' && 'receivedAt' in row.output) {
            const signal = row.output as { type?: string; by?: { name?: string }; timedOut?: boolean };
            result.push({ at: row.completedAt ?? timeOf(row), icon: 'signal', text: signal.timedOut ? t('Nobody answered {step} in time', { step: nameOfStep(row.step) }) : t('{name} sent {type}', { name: signal.by?.name ?? t('somebody'), type: signal.type ?? '' }), key: row.id });
        }
    }
    for (const line of [...waiting.values()].flat()) say(line);
    if (x.completedAt) result.push({ at: x.completedAt, icon: x.status === 'completed' ? 'check' : x.status === 'failed' ? 'warn' : 'stop', text: x.status === 'completed' ? t('It completed') : x.status === 'failed' ? t('It failed') : t('It was cancelled'), key: 'end' });
    return result.reverse();
}

export function ExecutionPage() {
    const { id } = useParams({ strict: false }) as { id: string };
    const { step: asked } = useSearch({ strict: false }) as { step?: string };
    const { me } = useMe();
    const client = useQueryClient();
    const [selected, select] = useState<string | null>(null);
    const [tab, turn] = useState<Tab | null>(null);
    const [acting, act] = useState<string | null>(null);
    const [graphOpen, showGraph] = useState(false);
    const isNarrow = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false });
    // Hints say when it moves; asking by itself is for what they may have missed.
    const isHeard = useConnection().connected;
    const found = useQuery({ queryKey: ['execution', id], queryFn: () => call<Execution>(`/executions/${id}`), refetchInterval: (q) => (q.state.data && !q.state.data.completedAt ? (isHeard ? 30000 : 5000) : false) });
    const x = found.data;
    const history = useHistory(id, x?.rowVersion);
    const logs = useQuery({ queryKey: ['logs', id, x?.rowVersion], enabled: Boolean(x), placeholderData: (before) => before, queryFn: () => call<{ items: LogLine[] }>(`/executions/${id}/logs?limit=100`) });
    const definition = useQuery({ queryKey: ['version', x?.kind, x?.code, x?.version], enabled: Boolean(x), staleTime: Infinity, queryFn: () => call<{ definition: Definition }>(`/${x!.kind}s/${x!.code}/versions/${x!.version}`) });
    useLive(150, (hint) => hint.id === id, () => void client.invalidateQueries({ queryKey: ['execution', id] }));
    useEffect(() => { select(null); turn(null); }, [id]);
    useEffect(() => { if (x) document.title = `${x.key ?? x.id.slice(-8)} · Pawl`; return () => { document.title = 'Pawl'; }; }, [x]);

    const steps = useMemo(() => stepsByCode(definition.data?.definition), [definition.data]);
    const { rows } = history;
    const stuck = useStuckMessages(id, x?.rowVersion);
    const attempts = useMemo(() => rows.filter((row) => row.kind !== 'event' && row.kind !== 'reminder' && row.step), [rows]);
    const bars = useMemo(() => (x ? barsOf(x, rows, steps, Date.now()) : []), [x, rows, steps]);
    const happened = useMemo(() => (x ? happenings(x, rows, logs.data?.items ?? [], (code) => (code && steps.has(code) ? nameOf(steps.get(code)!) : (code ?? ''))).slice(0, 60) : []), [x, rows, logs.data, steps]);
    const live = useMemo(() => (x ? liveSteps(x) : new Map<string, string>()), [x]);
    const states = useMemo(() => statesOf(rows, live), [live, rows]);

    // What one came for is chosen at first: what failed, or where it stands.
    const failing = bars.findLast((bar) => bar.state === 'failed' && bar.lane === 'forward');
    const standing = bars.find((bar) => bar.open);
    const initial = x?.status === 'failed' || (x && stateOf(x) === 'held') ? (failing ?? bars.at(-1)) : (standing ?? bars.findLast((bar) => bar.lane === 'forward'));
    // '' is the execution itself, which is also what one wants to see first of one that has done what it should.
    const isWhole = selected === '' || (selected === null && !asked && x?.status === 'completed');
    const bar = isWhole ? null : (bars.find((b) => b.id === selected) ?? (asked ? bars.findLast((b) => b.step === asked) : undefined) ?? initial ?? null);
    const shownTab: Tab = tab ?? (!bar ? (x?.error ? 'error' : x?.completedAt ? 'output' : 'input') : bar?.row?.error ? 'error' : bar?.row?.output !== null && bar?.row ? 'output' : 'context');
    const move = (by: number) => {
        const i = bars.findIndex((b) => b.id === bar?.id) + by;
        if (i < 0) return select('');
        const next = bars[Math.min(bars.length - 1, i)];
        if (next) select(next.id);
    };
    useKeys({ j: () => move(1), k: () => move(-1) });

    if (found.error instanceof Problem && !x) return (
        <>
            <PageBar title={t('Executions')} />
            <Empty title={found.error.status === 404 ? t('There is no such execution') : t('It cannot be shown')} action={<Link className="btn ink" to="/executions">{t('Back to the list')}</Link>}>“{found.error.message}”</Empty>
        </>
    );
    if (!x) return <><PageBar title={t('Executions')} busy /><Bones /></>;

    const name = definition.data?.definition.name ?? x.code;
    const title = x.key ?? `…${x.id.slice(-8)}`;
    const mayDo = mayAct(me);
    // A wait that takes a signal can be given to somebody.
    const others = ORDER.filter((action) => (may(x, action) || (action === 'assign' && x.actions.includes('signal') && waitsOf(x).length > 0)) && action !== MAIN(x));
    const shown = others.filter((action) => ['pause', 'cancel', 'skip', 'again'].includes(action)).slice(0, 2);
    const rest = others.filter((action) => !shown.includes(action));
    // Of a state that was left it is the transition, when that alone is in the history.
    const stateIn = (code: string) => code.split(/[.#]/, 1)[0];
    const selectStep = (code: string) => { const target = bars.findLast((b) => b.step === code) ?? bars.findLast((b) => stateIn(b.step) === stateIn(code)); if (target) select(target.id); };
    const picture = { definition: definition.data?.definition as Definition, rows, live, states, selected: bar?.step ?? null, select: selectStep };
    return (
        <>
            <PageBar busy={found.isFetching && !found.data} title={
                <nav className="crumb" aria-label={t('Where this is')}>
                    <Link to="/executions" className="wide">{t('Executions')}</Link><Icon name="right" small className="wide" />
                    <Link to="/executions" search={{ code: x.code } as Record<string, string>} className="wide">{name}</Link><Icon name="right" small className="wide" />
                    <Link to="/executions" className="phone" aria-label={t('Back to the list')}><Icon name="left" /></Link>
                    <h1 className="b cut">{title}</h1>
                </nav>
            }>
                {mayDo && shown.map((action) => <Button key={action} className="wide" icon={action === 'pause' ? 'pause' : undefined} onClick={() => act(action)}>{t(LABEL[action]!)}</Button>)}
                <Menu target={<button type="button" className="btn quiet sq" aria-label={t('More actions')}><Icon name="dots" /></button>}>
                    {mayDo && [...(isNarrow ? shown : []), ...rest].map((action) => <MenuItem key={action} icon={ICON[action]!} isBad={action === 'delete' || action === 'cancel'} onClick={() => act(action)}>{t(LABEL[action]!)}</MenuItem>)}
                    {mayDo && rest.length > 0 && <hr />}
                    <MenuLink icon="flow" link={{ to: '/processes/$kind/$code', params: { kind: `${x.kind}s`, code: x.code }, search: { version: String(x.version) } as never }}>{t('Open version {n}', { n: x.version })}</MenuLink>
                    <MenuLink icon="list" link={{ to: '/executions', search: { parent: x.id } as never }}>{t('What it has started')}</MenuLink>
                </Menu>
            </PageBar>
            <div className="ttl">
                <div className="t">
                    <h2 className="wide">{title}</h2><Status pill name={stateOf(x)} />
                    {undoFailed(x) ? <Status name="undoFailed" /> : wasRolledBack(x) && x.completedAt && <Status name="rolledBack" />}
                    <span className="t3 cut" title={full(x.createdAt)}>{t('Version {n}', { n: x.version })} · {x.user ? t('started {when} by {name}', { when: when(x.startedAt ?? x.createdAt, { seconds: true }), name: x.user.name }) : t('started {when}', { when: when(x.startedAt ?? x.createdAt, { seconds: true }) })}{x.completedAt ? ` · ${t('ended {when}', { when: when(x.completedAt, { seconds: true }) })}` : x.deadlineAt ? ` · ${t('deadline {when}', { when: when(x.deadlineAt) })}` : ''}</span>
                    <span className="end row">
                        <Parents x={x} />
                        {x.againOf && <Link to="/executions/$id" params={{ id: x.againOf }}>{t('again of an earlier one')}</Link>}
                        {x.againAs && <Link to="/executions/$id" params={{ id: x.againAs }}>{t('was started again')}</Link>}
                        <span className="wide"><CopyId id={x.id} /></span>
                    </span>
                </div>
                {stuck.length > 0 && <div className="note held"><Glyph name="held" tone="held" /><span>{t('{n} message of it cannot be delivered:|{n} messages of it cannot be delivered:', { n: stuck.length })} {stuck[0]!.error?.message} <Link to="/outbox" search={{ execution: x.id } as Record<string, string>}>{t('Open the outbox')}</Link></span></div>}
                <Sentence x={x} steps={steps} act={act} mayAct={mayDo} />
                {mayDo && x.debug && !x.completedAt && <DebugBar x={x} codes={codesOf(definition.data?.definition)} nameOfStep={(code) => (steps.has(code) ? nameOf(steps.get(code)!) : code)} changed={() => void client.invalidateQueries({ queryKey: ['execution', id] })} />}
            </div>
            <div className={`cols ${graphOpen ? 'graph' : ''}`}>
                <div className="phonetabs"><button type="button" className={graphOpen ? '' : 'on'} onClick={() => showGraph(false)}>{t('Timeline')}</button><button type="button" className={graphOpen ? 'on' : ''} onClick={() => showGraph(true)}>{t('Graph')}</button></div>
                {definition.data?.definition.steps ? <Graph ended={x.completedAt ? x.status : undefined} {...picture} /> : isNet(definition.data?.definition) ? <Suspense fallback={<div className="canvas" />}><NetGraph {...picture} /></Suspense> : <div className="canvas">{definition.error ? <div className="pagehead"><Refusal error={definition.error} /></div> : null}</div>}
                <div className="middle">
                    <Refusal error={history.error} sentence={history.error ? t('The history could not be read: what is drawn is not all of it.') : undefined} />
                    {!history.loading && !history.error && !history.isWhole && <p className="note">{t('Only the newest {n} rows of the history are shown; earlier steps are not drawn.', { n: number(history.rows.length) })}</p>}
                    <Timeline x={x} bars={bars} steps={steps} selected={bar?.id ?? null} select={(to) => { select(to); }} loading={history.loading} />
                    <Children x={x} />
                    <section className="happened" tabIndex={0} aria-label={t('What happened')}>
                        <div className="row"><h3 className="h">{t('What happened')}</h3><span className="end meta">{t('newest first')}</span></div>
                        {happened.map((h) => <div key={h.key} className="ev"><span className="t3 num" title={full(h.at)}>{when(h.at).split(' ').at(-1)}</span><Icon name={h.icon} /><span>{h.text}</span></div>)}
                    </section>
                </div>
                <Inspector x={x} bar={bar} rows={attempts} steps={steps} tab={shownTab} turn={turn} select={select} />
            </div>
            {acting && <ActionDialog undo={undoableOf(bars, steps)} onError={String((definition.data?.definition as { onError?: string } | undefined)?.onError ?? 'compensate')} action={acting} x={x} steps={steps} input={definition.data?.definition.input ?? []} close={() => act(null)} changed={() => void client.invalidateQueries({ queryKey: ['execution', id] })} />}
        </>
    );
}
