// List.tsx - which ones need me, and why?
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Bar, useKeys } from '../../app/Shell';
import { useCounts } from '../../app/counts';
import { mayAct, useMe } from '../../app/session';
import { call, type Page } from '../../lib/api';
import { Glyph, Icon } from '../../lib/icons';
import { Menu, MenuItem } from '../../lib/menu';
import { useLive } from '../../lib/live';
import { Bones, Button, Dialog, Empty, Field, Refusal, useNow } from '../../lib/parts';
import { lookOf, stateOf, Status } from '../../lib/status';
import { t } from '../../lib/text';
import { between, full, number, shortly } from '../../lib/time';
import type { Answers, Execution } from '../../lib/types';
import { whereAndWhy } from '../../lib/why';
import { type Action, BulkBar, BulkDialog, type Chosen } from './Bulk';
import { FilterBar } from './FilterBar';
import { builtInViews, type Filter, FIELDS, filterOf, inWords, type Order, sameFilter, savedViews, saveViews, type View } from './filters';
import { OneLess } from './OneLess';
import { useRows } from './rows';
import { StartDialog } from './StartDialog';
import './list.css';

type Summary = Answers['summarizeExecutions'];

/** A number that leaves something out has a plus behind it. */
const atLeast = (n: number, partial: boolean) => `${number(n)}${partial ? '+' : ''}`;
const LIVES = ['pending', 'running', 'waiting', 'waiting_debug', 'compensating'];

function useSummary(code: string | undefined) {
    const found = useQuery({ queryKey: ['summary', 'status', code ?? ''], queryFn: () => call<Summary>(`/executions/summary?by=status${code ? `&code=${encodeURIComponent(code)}` : ''}`) });
    const todo = useCounts();
    // Of all of them the server has counted those that are held; of one process they are looked for.
    const held = useQuery({ queryKey: ['held', code ?? ''], enabled: code !== undefined, queryFn: () => call<Page<Execution>>(`/executions?waiting=incident&limit=100${code ? `&code=${encodeURIComponent(code)}` : ''}`) });
    useLive(3000, (hint) => !code || hint.code === code, () => { void found.refetch(); if (code) void held.refetch(); });
    const counts = Object.fromEntries((found.data?.items ?? []).map((item) => [item.value, item.count]));
    const heldCount = code === undefined ? (todo?.executions?.held ?? 0) : (held.data?.items.length ?? 0);
    return { counts, held: heldCount, heldMore: code !== undefined && Boolean(held.data?.nextCursor), total: Object.values(counts).reduce((a, b) => a + b, 0), loaded: Boolean(found.data), partial: found.data?.partial ?? false };
}

const OVERSCAN = 12; // rows above and below what is in sight

function Cells({ x, now, narrow, open }: { x: Execution; now: number; narrow: boolean; open: (id: string) => void }) {
    const line = whereAndWhy(x);
    const name = x.key ?? `…${x.id.slice(-12)}`;
    // A plain anchor: a row is drawn many times a second while one scrolls.
    const link = <a className={`key cut ${x.key ? '' : 'mono'}`} href={`/executions/${x.id}`} onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        open(x.id);
    }}>{name}</a>;
    const why = (
        <span className="cut" role="cell">
            {line.step && <span className="tag mono at">{line.step}</span>}
            <span className={line.strong ? 'm5' : ''}>{line.text}</span>
            {line.quiet && <span className="t3"> · {line.quiet}</span>}
        </span>
    );
    const took = x.status === 'pending' ? '–' : between(x.startedAt ?? x.createdAt, x.completedAt ?? now);
    if (narrow) return (
        <>
            <span className="one" role="cell"><span className="cut">{link}</span><Status name={stateOf(x)} /><span className="t3 num end">{shortly(x.createdAt)}</span></span>
            {why}
            <span className="t3 cut" role="cell">{x.code} v{x.version}, {took}</span>
        </>
    );
    return (
        <>
            <span role="cell"><Status name={stateOf(x)} /></span>
            <span role="cell" className="cut">{link}</span>
            <span role="cell" className="t2 cut">{x.code} <span className="t3 num">v{x.version}</span></span>
            {why}
            <span role="cell" className="r t2 num" title={full(x.createdAt)}>{shortly(x.createdAt)}</span>
            <span role="cell" className="r t2 num">{took}</span>
        </>
    );
}

const Row = memo(function Row({ x, index, top, width, narrow, now, chosen, current, flash, toggle, open }:
    { x: Execution; index: number; top: number; width: string | undefined; narrow: boolean; now: number; chosen: boolean; current: boolean; flash: boolean; toggle: (id: string) => void; open: (id: string) => void }) {
    return (
        <div role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)`, gridTemplateColumns: width }} className={`trow ${chosen ? 'sel' : ''} ${current ? 'cur' : ''} ${flash ? 'flash' : ''}`}>
            {!narrow && <span role="cell"><input type="checkbox" className="box" aria-label={t('Choose {name}', { name: x.key ?? x.id })} checked={chosen} onChange={() => toggle(x.id)} /></span>}
            <Cells x={x} narrow={narrow} now={now} open={open} />
        </div>
    );
});

const useNarrow = () => {
    const [narrow, set] = useState(() => matchMedia('(max-width: 640px)').matches);
    useEffect(() => {
        const media = matchMedia('(max-width: 640px)');
        const change = () => set(media.matches);
        media.addEventListener('change', change);
        return () => media.removeEventListener('change', change);
    }, []);
    return narrow;
};

const Views = memo(function Views({ filter, choose, held, total, partly }: { filter: Filter; choose: (to: Filter) => void; held: string; total: string; partly: boolean }) {
    const [saved, set] = useState<View[]>(savedViews);
    const [naming, name] = useState<string | null>(null);
    const views = [...builtInViews(), ...saved];
    const isKnown = views.some((view) => sameFilter(view.filter, filter));
    const mine = saved.find((view) => sameFilter(view.filter, filter));
    const keep = (next: View[]) => { saveViews(next); set(next); };
    return (
        <div className="views" role="toolbar" aria-label={t('Views')}>
            {views.map((view) => (
                <button key={view.name} type="button" aria-pressed={sameFilter(view.filter, filter)} className={sameFilter(view.filter, filter) ? 'on' : ''} onClick={() => choose(view.filter)}>
                    {view.glyph && <Glyph name={view.glyph} tone="held" />}{view.name}
                    {view.glyph === 'held' && <span className="num">{held}</span>}
                    {Object.keys(view.filter).length === 0 && <span className="num" title={partly ? t('Of those that have ended only the last day is counted.') : undefined}>{total}</span>}
                </button>
            ))}
            {!isKnown && <button type="button" className="t3" onClick={() => name('')}><Icon name="plus" small />{t('Save view')}</button>}
            {mine && <button type="button" className="t3" onClick={() => name(mine.name)}>{t('Rename…')}</button>}
            {mine && <button type="button" className="t3" onClick={() => keep(saved.filter((view) => !sameFilter(view.filter, filter)))}><Icon name="x" small />{t('Forget this view')}</button>}
            {naming !== null && (
                <Dialog title={mine ? t('Rename the view') : t('Save view')} onClose={() => name(null)} lead={t('It is kept in this browser, with the filters that are set now.')} actions={<>
                    <Button kind="quiet" onClick={() => name(null)}>{t('Go back')}</Button>
                    <Button kind="ink" disabled={naming.trim() === ''} onClick={() => { const others = saved.filter((view) => view.name !== naming.trim() || view === mine); keep(mine ? others.map((view) => (view === mine ? { name: naming.trim(), filter } : view)) : [...others, { name: naming.trim(), filter }]); name(null); }}>{mine ? t('Rename the view') : t('Save view')}</Button>
                </>}>
                    <Field label={t('Name')} id="view-name"><input id="view-name" data-autofocus className="inp" value={naming} onChange={(event) => name(event.target.value)} /></Field>
                </Dialog>
            )}
        </div>
    );
});

const OrderMenu = memo(function OrderMenu({ order, choose }: { order: Order; choose: (to: Order) => void }) {
    return (
        <Menu target={<button type="button" className="btn quiet order">{order === 'newest' ? t('Newest first') : t('Oldest first')}<Icon name="down" small /></button>}>
            <MenuItem onClick={() => choose('newest')}>{t('Newest first')}</MenuItem>
            <MenuItem onClick={() => choose('oldest')}>{t('Oldest first')}</MenuItem>
        </Menu>
    );
});

const FACETS = ['failed', 'compensating', 'running', 'waiting', 'pending', 'completed', 'cancelled'];

export function ExecutionsPage() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const { me } = useMe();
    const narrow = useNarrow();
    const height = narrow ? 92 : 36;
    const filter = useMemo(() => filterOf(search), [search]);
    const order: Order = search.order === 'oldest' ? 'oldest' : 'newest';
    const scroller = useRef<HTMLDivElement>(null);
    const input = useRef<HTMLInputElement>(null);
    const [view, look] = useState({ top: 0, size: 900 });
    const visibleIds = useRef(new Set<string>());
    const holding = useRef(false);
    const list = useRows(filter, order, () => visibleIds.current, () => holding.current);
    const summary = useSummary(filter.code?.includes(',') ? undefined : filter.code);
    const whole = useSummary(undefined); // of a view, whatever is chosen now
    const [chosen, choose] = useState<Set<string>>(new Set());
    const [everything, chooseEverything] = useState(false);
    holding.current = chosen.size > 0;
    const [at, move] = useState(-1);
    const [acting, act] = useState<Action | null>(null);
    const now = useNow(1000);

    const change = useCallback((to: Filter, more: Record<string, string | undefined> = {}) => {
        choose(new Set());
        chooseEverything(false);
        move(-1);
        void go({ to: '/executions', search: { ...to, order: order === 'oldest' ? 'oldest' : undefined, ...more } as Record<string, string>, replace: true });
    }, [go, order]);

    const turn = useCallback((to: Order) => change(filter, { order: to === 'oldest' ? to : undefined }), [change, filter]);
    const first = Math.max(0, Math.floor(view.top / height) - OVERSCAN);
    const last = Math.min(list.items.length, Math.ceil((view.top + view.size) / height) + OVERSCAN);
    const shown = list.items.slice(first, last);
    visibleIds.current = new Set(shown.map((x) => x.id));

    useLayoutEffect(() => {
        const el = scroller.current;
        if (!el) return;
        // Drawn anew every few rows, not with every pixel.
        const measure = () => {
            const top = Math.floor(el.scrollTop / (height * 4)) * height * 4;
            look((before) => (before.top === top && before.size === el.clientHeight ? before : { top, size: el.clientHeight }));
        };
        measure();
        const watcher = new ResizeObserver(measure);
        watcher.observe(el);
        el.addEventListener('scroll', measure, { passive: true });
        return () => {
            watcher.disconnect();
            el.removeEventListener('scroll', measure);
        };
    }, [height]);
    // What comes on top does not push away what one reads.
    useLayoutEffect(() => {
        const el = scroller.current;
        if (el && list.shift > 0 && el.scrollTop > height) el.scrollTop += list.shift * height;
    }, [list.stamp, list.shift, height]);
    useEffect(() => { if (last + 60 > list.items.length && list.cursor) void list.more(); }, [last, list]);
    useEffect(() => { if (scroller.current) scroller.current.scrollTop = 0; }, [filter, order]);

    const reveal = (i: number) => {
        const el = scroller.current;
        if (!el) return;
        if (i * height < el.scrollTop) el.scrollTop = i * height;
        if ((i + 1) * height > el.scrollTop + el.clientHeight) el.scrollTop = (i + 1) * height - el.clientHeight;
    };
    const step = (by: number) => move((i) => {
        const next = Math.max(0, Math.min(list.items.length - 1, i + by));
        reveal(next);
        return next;
    });
    const toggle = useCallback((id: string) => { chooseEverything(false); choose((before) => { const next = new Set(before); if (!next.delete(id)) next.add(id); return next; }); }, []);
    const open = useCallback((id: string) => void go({ to: '/executions/$id', params: { id } }), [go]);
    useKeys({
        j: () => step(1), k: () => step(-1), ArrowDown: (event) => { event.preventDefault(); step(1); }, ArrowUp: (event) => { event.preventDefault(); step(-1); },
        x: () => { const x = list.items[at]; if (x) toggle(x.id); },
        Enter: (event) => { const x = list.items[at]; if (x && !(event.target instanceof HTMLButtonElement) && !(event.target instanceof HTMLAnchorElement)) void go({ to: '/executions/$id', params: { id: x.id } }); },
        '/': (event) => { event.preventDefault(); input.current?.focus(); },
        Escape: () => { choose(new Set()); chooseEverything(false); },
    });

    // Not with every frame: there may be a hundred thousand.
    const rows = useMemo(() => (chosen.size === 0 ? [] : list.items.filter((x) => chosen.has(x.id))), [chosen, list.items]);
    const picked: Chosen | null = everything ? { by: 'filter', filter, order } : rows.length > 0 ? { by: 'ids', rows } : null;
    const plainFilter = FIELDS.every((name) => !filter[name] || name === 'code' || name === 'status') && !filter.q;
    const isCounted = plainFilter && (!summary.partial || filter.status?.split(',').every((name) => LIVES.includes(name)));
    const matching = !list.cursor ? list.items.length : isCounted ? (filter.status ? filter.status.split(',').reduce((sum, name) => sum + (summary.counts[name] ?? 0), 0) : summary.total) : null;
    const isFiltered = Object.keys(filter).length > 0;
    const width = narrow ? undefined : '16px 124px minmax(110px, 148px) 164px minmax(0, 1fr) 60px 96px';

    return (
        <>
            <Bar title={t('Executions')} busy={list.busy}>
                {mayAct(me) && <Button icon="play" onClick={() => void go({ to: '/executions', search: { ...search, start: '1' } })}>{t('Start…')}</Button>}
            </Bar>
            <Views filter={filter} choose={change} held={whole.loaded ? `${whole.held}${whole.heldMore ? '+' : ''}` : ''} total={whole.loaded ? atLeast(whole.total, whole.partial) : ''} partly={whole.partial} />
            <div className="row filterrow">
                <div className="grow"><FilterBar filter={filter} change={change} input={input} /></div>
                <OrderMenu order={order} choose={turn} />
            </div>
            <div className="facets" role="toolbar" aria-label={t('By status')}>
                {summary.held > 0 && <button type="button" onClick={() => change({ ...filter, status: undefined, waiting: 'incident' })}><span className="st held flat"><Glyph name="held" tone="held" /><span className="num">{summary.held}{summary.heldMore ? '+' : ''}</span>{t('held')}</span></button>}
                {FACETS.filter((name) => (summary.counts[name] ?? 0) > (name === 'waiting' ? summary.held : 0)).map((name) => {
                    const look = lookOf(name);
                    return <button key={name} type="button" aria-pressed={filter.status === name} onClick={() => change({ ...filter, waiting: undefined, status: filter.status === name ? undefined : name })}><span className={`st ${look.tone} flat`}><Glyph name={look.glyph} tone={look.tone} /><span className="num">{atLeast((summary.counts[name] ?? 0) - (name === 'waiting' ? summary.held : 0), summary.partial && !LIVES.includes(name))}</span>{t(look.word)}</span></button>;
                })}
                <span className="meta num end nowrap">{matching !== null ? t('{n} match', { n: number(matching) }) : list.loaded ? t('{n} and more', { n: number(list.items.length) }) : ''}</span>
            </div>
            <div className={`executions ${narrow ? 'narrow' : ''}`} role="table" aria-label={t('Executions')} aria-rowcount={list.cursor ? -1 : list.items.length + 1}>
                <div className="thead" role="row" style={{ gridTemplateColumns: width }}>
                    <span role="columnheader"><input type="checkbox" className="box" aria-label={t('Choose all rows that are loaded')} checked={rows.length > 0 && rows.length === list.items.length} ref={(el) => { if (el) el.indeterminate = rows.length > 0 && rows.length < list.items.length; }}
                        onChange={(event) => { chooseEverything(false); choose(event.target.checked ? new Set(list.items.map((x) => x.id)) : new Set()); }} /></span>
                    <span role="columnheader" className="in">{t('Status')}</span><span role="columnheader">{t('Key')}</span><span role="columnheader">{t('Process')}</span><span role="columnheader">{t('Where, and why')}</span>
                    <span role="columnheader" className="r">{t('Started')} {order === 'newest' ? '↓' : '↑'}</span><span role="columnheader" className="r">{t('For')}</span>
                </div>
                <div className="scroll rows" role="rowgroup" ref={scroller} tabIndex={-1}>
                    {!list.loaded && <Bones rows={14} />}
                    <div style={{ height: list.items.length * height, position: 'relative' }} role="presentation">
                        {shown.map((x, i) => (
                            <Row key={x.id} x={x} index={first + i} top={(first + i) * height} width={width} narrow={narrow} now={x.completedAt ? 0 : now}
                                chosen={chosen.has(x.id) || everything} current={first + i === at} flash={list.changed.has(x.id)} toggle={toggle} open={open} />
                        ))}
                    </div>
                    {list.loaded && Boolean(list.error) && <div className="pagehead"><Refusal error={list.error} /></div>}
                    {list.loaded && !list.error && list.items.length === 0 && !list.cursor && <div role="row"><div role="cell">{isFiltered
                        ? <Empty title={t('Nothing matches')} action={<Button kind="ink" onClick={() => change({})}>{t('Clear filters')}</Button>}>
                            {t('No execution with')} {FIELDS.filter((name) => filter[name]).map((name) => inWords(name, filter[name]!).filter(Boolean).join(' ')).join(', ')}{filter.q ? ` “${filter.q}”` : ''}.
                            <OneLess filter={filter} change={change} />
                        </Empty>
                        : <Empty title={t('Nothing has run yet')} action={mayAct(me) ? <Button kind="ink" icon="play" onClick={() => void go({ to: '/executions', search: { start: '1' } })}>{t('Start…')}</Button> : undefined}>
                            {t('An execution is one run of a process: an order, an approval, a report. Start one here, by the API, or by a trigger.')}
                        </Empty>}</div></div>}
                </div>
            </div>
            {picked && <BulkBar chosen={picked} total={matching !== null ? number(matching) : ''} act={act} chooseAll={() => chooseEverything(true)} clear={() => { choose(new Set()); chooseEverything(false); }} />}
            {picked && acting && <BulkDialog action={acting} chosen={picked} close={() => act(null)} done={() => { choose(new Set()); chooseEverything(false); void list.reload(); }} />}
            {search.start && <StartDialog code={search.start} close={() => void go({ to: '/executions', search: { ...search, start: undefined } as unknown as Record<string, string>, replace: true })} />}
        </>
    );
}
