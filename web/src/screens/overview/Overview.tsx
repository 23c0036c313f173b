// Overview.tsx - is anything wrong, and where?
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { Bar } from '../../app/Shell';
import { type Message, useCounts, useStuckMessages } from '../../app/counts';
import { mayAct, useMe } from '../../app/session';
import { call, type Page } from '../../lib/api';
import { Glyph } from '../../lib/icons';
import { useLive } from '../../lib/live';
import { Bones, Empty, Segments, useNow } from '../../lib/parts';
import { Status } from '../../lib/status';
import { Say, t } from '../../lib/text';
import { between, duration, number, span } from '../../lib/time';
import type { Answers, Execution, Letter } from '../../lib/types';
import { waitingWord, WAITING } from '../executions/filters';
import { Spark, Throughput } from './charts';
import { type Alike, alike, Failures, filterOf } from './Failures';
import { type Series, useStats, type Window, WINDOWS } from './stats';
import './overview.css';

type Summary = Answers['summarizeExecutions'];
/** How long the oldest of each kind waits is asked for rarely: it grows by itself. */
const OLDEST_MS = 60000;

function useFigures(window: Window, todo: Answers['getCounts'] | undefined) {
    const status = useQuery({ queryKey: ['summary', 'status', ''], queryFn: () => call<Summary>('/executions/summary?by=status') });
    useLive(3000, () => true, () => void status.refetch());
    // The rest is read again when one of the counts says that it is another.
    const failed = status.data?.items.find((item) => item.value === 'failed')?.count ?? 0;
    const heldCount = todo?.executions?.held ?? 0;
    const isReady = Boolean(status.data && todo);
    const before = <T,>(data: T | undefined) => data;
    const errors = useQuery({ queryKey: ['summary', 'error', failed, heldCount], enabled: isReady, placeholderData: before, queryFn: () => call<Summary>('/executions/summary?by=error') });
    const held = useQuery({ queryKey: ['held', '', heldCount], enabled: isReady && heldCount > 0, queryFn: () => call<Page<Execution>>('/executions?waiting=incident&limit=100') });
    const letters = useQuery({ queryKey: ['dlq', 'open', todo?.deadLetters], enabled: (todo?.deadLetters ?? 0) > 0, queryFn: () => call<Page<Letter>>('/dlq?status=open&limit=100') });
    const recent = useQuery({ queryKey: ['recent-failures', window, failed], enabled: isReady, placeholderData: before, queryFn: () => call<Page<Execution>>(`/executions?status=failed&from=${window}&limit=500`) });
    const kinds = WAITING.filter((kind) => (kind === 'incident' ? heldCount : (todo?.executions?.waiting[kind] ?? 0)) > 0);
    const oldest = useQuery({
        queryKey: ['oldest-waits', kinds.join()], enabled: kinds.length > 0, refetchInterval: OLDEST_MS, staleTime: OLDEST_MS / 2, placeholderData: before,
        queryFn: async () => Object.fromEntries(await Promise.all(kinds.map(async (kind) => {
            const { items: [first] } = await call<Page<Execution>>(`/executions?waiting=${kind}&limit=1&order=oldest`);
            return [kind, first?.waitingFor?.since ?? first?.updatedAt ?? null] as const;
        }))) as Record<string, string | null>,
    });
    const waits = kinds.map((kind) => ({ kind, count: kind === 'incident' ? heldCount : (todo?.executions?.waiting[kind] ?? 0), oldest: oldest.data?.[kind] ?? null }));
    const ready = useQuery({ queryKey: ['ready'], refetchInterval: 60000, queryFn: () => call<Answers['listNodes']>('/nodes') });
    return { status, errors, held, letters, recent, waits, ready };
}

/** What has failed most: it needs nobody by itself, but somebody may want to know. */
function Failed({ groups, more, window }: { groups: Alike[]; more: boolean; window: Window }) {
    const n = groups.reduce((total, group) => total + group.items.length, 0);
    const worst = groups.reduce<Alike | null>((most, group) => (!most || group.items.length > most.items.length ? group : most), null);
    if (!worst) return null;
    return <div className="sub failed">{t('{n} failed in {window}, {most} of them in {code}:', { n: `${number(n)}${more ? '+' : ''}`, window: span(window), most: number(worst.items.length), code: worst.code })} <Link to="/executions" search={filterOf(worst, window)}>{worst.message || worst.error}</Link></div>;
}

function Needs({ held, letters, counts, failed, stuck, heldCount }: { held: Page<Execution> | undefined; letters: Page<Letter> | undefined; counts: Record<string, number>; failed: ReactNode; stuck: Message[]; heldCount: number }) {
    const heldItems = held?.items ?? [];
    const undo = (letters?.items ?? []).filter((letter) => letter.kind === 'compensation').length;
    const doubt = (letters?.items ?? []).filter((letter) => letter.kind === 'reconcile').length;
    const all = heldCount + undo + doubt;
    const undelivered = stuck.length > 0 && <div className="say"><b>{t('{n} message cannot be delivered:|{n} messages cannot be delivered:', { n: stuck.length })}</b> {stuck[0]!.error?.message} <Link to="/outbox" search={{ status: 'pending' } as Record<string, string>}>{t('Open the outbox')}</Link></div>;
    const rest = t('Everything else moves: {running} running, {waiting} waiting as they should.', { running: number(counts.running ?? 0), waiting: number(Math.max(0, (counts.waiting ?? 0) - heldCount)) });
    if (all === 0 && stuck.length > 0) return (
        <div className="why held"><Glyph name="held" tone="held" /><div className="grow">{undelivered}{failed}<div className="sub">{rest}</div></div></div>
    );
    if (all === 0) return (
        <div className="why ok"><Glyph name="completed" tone="ok" /><div className="grow"><div className="say"><Say text="**Nothing needs a person.**" /></div>{failed}<div className="sub">{rest}</div></div></div>
    );
    const first = heldItems[0];
    const same = heldItems.every((x) => x.waitingFor?.step === first?.waitingFor?.step && x.waitingFor?.error?.code === first?.waitingFor?.error?.code);
    return (
        <div className="why held">
            <Glyph name="held" tone="held" />
            <div className="grow">
                <div className="say"><b>{t('{n} thing needs a person.|{n} things need a person.', { n: all })}</b>{' '}
                    {heldItems.length > 0 && (same ? <Say text="{n} held at **{step}** with the same error: {error}." values={{ n: heldCount, step: first!.waitingFor!.step!, error: first!.waitingFor!.error?.message ?? '' }} /> : t('{n} is held.|{n} are held.', { n: heldCount }))}{' '}
                    {undo > 0 && t('{n} undo could not be finished.|{n} undos could not be finished.', { n: undo })}{' '}
                    {doubt > 0 && t('Of {n} step nobody knows whether it happened.|Of {n} steps nobody knows whether they happened.', { n: doubt })}
                </div>
                {undelivered}
                {failed}
                <div className="sub">{rest}</div>
            </div>
            <Link className="btn ink" to="/dlq">{t('Look at the {n}', { n: all })}</Link>
        </div>
    );
}

function Tile({ label, value, unit, note, series, tone = 'text-3' }: { label: string; value: string; unit?: string; note: string; series?: number[]; tone?: string }) {
    return <div className="card tile"><span className="l">{label}</span><span className="v">{value} {unit && <small>{unit}</small>}</span><span className="s">{note}</span>{series && series.length > 1 && <Spark values={series} tone={tone} />}</div>;
}

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
const last = <T,>(values: T[]) => values.at(-1);

function Tiles({ stats, counts, window }: { stats: Series | null; counts: Record<string, number>; window: Window }) {
    if (!stats) return (
        <div className="tiles">
            <Tile label={t('Running')} value={number(counts.running ?? 0)} note={t('steps under way now')} />
            <Tile label={t('Waiting')} value={number(counts.waiting ?? 0)} note={t('for a signal, a time, a person')} />
            <Tile label={t('Completed')} value={number(counts.completed ?? 0)} note={t('in all that is kept')} />
            <Tile label={t('Failed')} value={number(counts.failed ?? 0)} note={t('in all that is kept')} />
        </div>
    );
    const started = sum(stats.started);
    const failed = sum(stats.failed);
    const p95 = [...stats.p95].reverse().find((v) => v !== null) ?? null;
    const p50 = [...stats.p50].reverse().find((v) => v !== null) ?? null;
    const perMinute = (last(stats.started) ?? 0) / Math.max(1, stats.stepMs / 60000);
    return (
        <div className="tiles">
            <Tile label={t('Started')} value={number(perMinute, perMinute < 10 ? 1 : 0)} unit={t('/ min')} note={t('{n} in {window}', { n: number(started), window: span(window) })} series={stats.started} tone="accent" />
            <Tile label={t('Completed within, p95')} value={p95 === null ? '–' : duration(p95)} note={p50 === null ? t('waits included') : t('median {long}, waits included', { long: duration(p50) })} series={stats.p95.map((v) => v ?? 0)} />
            <Tile label={t('Failed')} value={number(failed)} unit={started > 0 && failed > 0 ? `${number((failed / started) * 100, 1)} %` : undefined} note={t('in {window}', { window: span(window) })} series={stats.failed} tone="bad-solid" />
            {stats.outboxLag ? <Tile label={t('Outbox lag')} value={duration(last(stats.outboxLag) ?? 0)} note={t('until messages leave')} series={stats.outboxLag} /> : <Tile label={t('Waiting')} value={number(counts.waiting ?? 0)} note={t('for a signal, a time, a person')} />}
        </div>
    );
}

export function Overview() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const window = ((WINDOWS as readonly string[]).includes(search.window ?? '') ? search.window : '1h') as Window;
    const go = useNavigate();
    const { me } = useMe();
    const now = useNow(5000);
    const stats = useStats(window);
    const todo = useCounts();
    const q = useFigures(window, todo);
    const stuck = useStuckMessages();
    const failures = useMemo(() => alike(q.recent.data?.items ?? []), [q.recent.data]);
    const counts = useMemo(() => Object.fromEntries((q.status.data?.items ?? []).map((item) => [item.value, item.count])), [q.status.data]);
    const total = Object.values(counts).reduce((a, b) => a + b, 0);
    const { waits } = q;
    const most = Math.max(1, ...waits.map((row) => row.count));
    const errors = new Map<string, number>();
    for (const item of q.errors.data?.items ?? []) if (item.value && item.value !== 'cancelled') errors.set(item.value, (errors.get(item.value) ?? 0) + item.count);
    const node = q.ready.data?.items.find((n) => n.self) ?? q.ready.data?.items[0];
    return (
        <>
            <Bar title={t('Overview')} busy={q.status.isLoading}>
                {stats.series && <Segments small label={t('Window')} value={window} onChange={(to) => void go({ to: '/', search: { window: to } as Record<string, string>, replace: true })} options={WINDOWS.map((value) => ({ value, label: span(value) }))} />}
            </Bar>
            {!q.status.data ? <Bones /> : total === 0 ? (
                <Empty title={t('Nothing has run yet')} action={mayAct(me) ? <Link className="btn ink" to="/executions" search={{ start: '1' } as Record<string, string>}>{t('Start an execution…')}</Link> : undefined}>{t('Publish a process and start it: here is then what runs, what waits and for what, and what needs you.')}</Empty>
            ) : (
                <div className="dash scroll">
                    <Needs held={(todo?.executions?.held ?? 0) > 0 ? q.held.data : undefined} letters={(todo?.deadLetters ?? 0) > 0 ? q.letters.data : undefined} counts={counts} stuck={stuck} heldCount={todo?.executions?.held ?? q.held.data?.items.length ?? 0} failed={<Failed groups={failures} more={Boolean(q.recent.data?.nextCursor)} window={window} />} />
                    <Tiles stats={stats.series} counts={counts} window={window} />
                    <div className="two">
                        {stats.series ? <div className="card"><h2>{t('Throughput')}<span className="meta">{stats.series.stepMs === 60000 ? t('per minute') : t('per {step}', { step: stats.series.stepMs >= 3600000 ? `${stats.series.stepMs / 3600000} ${t('h')}` : `${stats.series.stepMs / 60000} ${t('min')}` })}</span></h2><Throughput series={stats.series} /></div> : (
                            <div className="card"><h2>{t('By status')}<span className="meta num">{number(total)}</span></h2>
                                <div className="bystatus">{['running', 'waiting', 'compensating', 'completed', 'failed', 'cancelled'].filter((name) => counts[name]).map((name) => (
                                    <Link key={name} className="wr" to="/executions" search={{ status: name } as Record<string, string>}><Status quiet name={name} /><span className="track"><span className="b" style={{ width: `${Math.max(0.6, (100 * counts[name]!) / Math.max(...Object.values(counts)))}%`, background: `var(--${{ running: 'accent', waiting: 'wait-solid', compensating: 'undo-solid', completed: 'ok-solid', failed: 'bad-solid', cancelled: 'line-control' }[name]})` }} /></span><span className="n num">{number(counts[name]!)}</span></Link>
                                ))}</div>
                            </div>
                        )}
                        <div className="card waits"><h2>{t('What waits, and for what')}<span className="meta num">{number(counts.waiting ?? 0)}</span><span className="end micro">{t('oldest')}</span></h2>
                            {waits.length === 0 && <p className="t3 quiet">{t('Nothing waits.')}</p>}
                            {waits.map((row) => (
                                <Link key={row.kind} className="wr" to="/executions" search={{ waiting: row.kind } as Record<string, string>}>
                                    <span className="row"><Glyph name={row.kind === 'incident' ? 'held' : row.kind === 'paused' ? 'paused' : 'waiting'} tone={row.kind === 'incident' ? 'held' : 'wait'} /><span className="cut">{t(waitingWord('waiting', row.kind))}</span></span>
                                    <span className="track"><span className="b" style={{ width: `${Math.max(3, (100 * row.count) / most)}%`, ...(row.kind === 'incident' ? { background: 'var(--held-line)' } : {}) }} /></span>
                                    <span className="n num">{number(row.count)}</span><span className="o num">{row.oldest ? between(row.oldest, now) : ''}</span>
                                </Link>
                            ))}
                        </div>
                    </div>
                    <div className="two">
                        <Failures groups={failures} more={Boolean(q.recent.data?.nextCursor)} window={window} />
                        <div className="card"><h2>{t('Server')}<span className="end"><Status quiet name={node ? 'live' : 'pending'} /></span></h2>
                            <dl className="kv server">
                                <dt>{t('Runs since')}</dt><dd className="num b">{node ? between(node.startedAt, now) : '–'}</dd>
                                <dt>{t('Nodes')}</dt><dd className="num b">{q.ready.data?.items.length ?? '–'}</dd>
                                <dt>{t('Batches written')}</dt><dd className="num b">{node ? number(node.batches) : '–'}</dd>
                                <dt>{t('Dead letters')}</dt><dd className={`num b ${(todo?.deadLetters ?? 0) > 0 ? 'c-held' : ''}`}>{todo?.deadLetters ?? '–'} {(todo?.deadLetters ?? 0) > 0 && <Link to="/dlq" className="thin">{t('Look at them')}</Link>}</dd>
                                {[...errors].sort((a, b) => b[1] - a[1]).slice(0, 2).map(([code, n]) => <ErrorRow key={code} code={code} n={n} />)}
                            </dl>
                        </div>
                    </div>
                </div>
            )}
        </>
    );
}

const ErrorRow = ({ code, n }: { code: string; n: number }) => <><dt><Link to="/executions" search={{ error: code } as Record<string, string>} className="mono">{code}</Link></dt><dd className="num b">{number(n)} <span className="t3 thin">{t('times')}</span></dd></>;
