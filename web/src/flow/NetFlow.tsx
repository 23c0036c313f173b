// NetFlow.tsx - the picture of a schema or a machine, to be read: the canvas, its boxes and lines; what they mean is net.ts.
import { memo, useEffect, useId, useMemo, useRef, useState } from 'react';
import { Icon } from '../lib/icons';
import { nameOf } from '../lib/steps';
import { t } from '../lib/text';
import { type Dress, Heads, PillBox } from './boxes';
import './flow.css';
import { type Layout, PILL_W } from './layout';
import { byKey, type Link, type Net, type NetWay, STAYS_MOST } from './net';
import './net.css';
import { type Line, type PlacedBox, place } from './place';
import { matches, Overview, Search, ZoomBar } from './Tools';
import { useViewport } from './useViewport';

export interface NetProps {
    net: Net; label: string;
    /** The code of a box, or of a transition. */ selected: string | null; select: (code: string | null) => void;
    dress?: (box: PlacedBox) => Dress; /** What was taken; without it every line is only there. */ way?: NetWay | null;
}

const MARGIN = 24;
const FAR = 0.69; // from here on names alone are legible
const LEGIBLE = 0.45; // and to here they are
const SAID_MOST = 12;

type Tone = (code: string) => string;

function Path({ id, line, tone }: { id: string; line: Line; tone: string }) {
    const late = line.isTime ? 'late' : '';
    const head = tone === 'done' || tone === 'live' ? tone : late || 'wire';
    return (
        <path className={`wire ${tone} ${late} ${line.branch === 'error' ? 'onerror' : ''}`}
            data-code={line.code} data-from={line.from} data-to={line.to} d={line.d} markerEnd={`url(#${id}-${head})`} />
    );
}

/** A word on a line. That of a transition leads to what it does. */
interface WordProps { line: Line; tone: string; isSelected: boolean; select?: (code: string) => void }
function LineWord({ line, tone, isSelected, select }: WordProps) {
    if (line.label === undefined) return null;
    const className = `elab ${line.isTime ? 'late' : ''} ${tone} ${isSelected ? 'sel' : ''}`;
    const style = { left: line.labelAt.x, top: line.labelAt.y };
    const common = { className, style, title: line.title ?? line.label, 'data-code': line.code };
    const inside = <>{line.isTime && <Icon name="clock" small />}{line.label}</>;
    if (!select) return <span {...common}>{inside}</span>;
    return <button type="button" {...common} aria-pressed={isSelected} onClick={() => select(line.code)}>{inside}</button>;
}

function Stays({ box, tone }: { box: PlacedBox; tone: Tone }) {
    if (box.stays.length === 0) return null;
    const more = box.stays.length - STAYS_MOST;
    return (
        <span className="stays">
            {box.stays.slice(0, STAYS_MOST).map((stay) => (
                <span key={stay.code} className={`stay ${tone(stay.code)}`} data-code={stay.code} title={stay.title}>
                    <Icon name={stay.isTime ? 'clock' : 'loop'} small /><span className="cut">{stay.label}</span>
                </span>
            ))}
            {more > 0 && <span className="stay t3">{t('and {n} more', { n: more })}</span>}
        </span>
    );
}

interface NetBoxProps {
    box: PlacedBox; dress: Dress; links: Link[]; names: Map<string, string>; isSelected: boolean; isHit: boolean;
    tone: Tone; select: (code: string) => void;
}

function NetBox({ box, dress, links, names, isSelected, isHit, tone, select }: NetBoxProps) {
    const marks = `${box.isFinal ? 'final' : ''} ${box.isInitial ? 'initial' : ''} ${isSelected ? 'sel' : ''} ${isHit ? 'hit' : ''}`;
    const wayOf = (link: Link) => `${link.label ? `${link.label}: ` : ''}${t('goes to {name}', { name: names.get(link.to) ?? link.to })}`;
    const place = [box.isInitial ? t('begins here') : '', box.isFinal ? t('ends here') : '', dress.said ?? ''];
    const said = [...place, ...links.slice(0, SAID_MOST).map(wayOf)].filter(Boolean).join('; ');
    return (
        <div className="nodewrap" style={{ left: box.x, top: box.y, width: box.w, height: box.h }}>
            <button type="button" data-code={box.code} title={nameOf(box.step)} aria-pressed={isSelected} onClick={() => select(box.code)}
                className={`node netbox t-none ${dress.className ?? ''} ${marks}`}>
                <span className="top">
                    <span className="k"><Icon name={box.icon} /></span>
                    <span className="grow cut">
                        <span className="nm cut">{nameOf(box.step)}</span><span className="cd cut">{box.sub}{dress.note}</span>
                    </span>
                    {dress.right}
                </span>
                <Stays box={box} tone={tone} />
                {said && <span className="vh">{said}</span>}
            </button>
        </div>
    );
}

/** As the overview and the search know a picture. */
function asLayout(boxes: PlacedBox[], w: number, h: number): Layout {
    return { nodes: boxes, lanes: [], edges: [], slots: [], pills: [], w, h };
}

interface LinesProps { id: string; lines: Line[]; tone: Tone; start: string | null; isBegun: boolean | null }
const Lines = memo(function Lines({ id, lines, tone, start, isBegun }: LinesProps) {
    const first = isBegun === null ? '' : isBegun ? 'done' : 'no';
    return (
        <>
            {start && <path className={`wire ${first}`} d={start} markerEnd={`url(#${id}-${isBegun ? 'done' : 'wire'})`} />}
            {lines.map((line) => <Path key={line.code} id={id} line={line} tone={tone(line.code)} />)}
        </>
    );
});

export function NetFlow({ net, label, selected, select, dress, way }: NetProps) {
    const drawn = useMemo(() => place(net), [net]);
    const { w, h } = drawn;
    const layout = useMemo(() => asLayout(drawn.boxes, w, h), [drawn]);
    const links = useMemo(() => byKey(net.links, (link) => link.from), [net]);
    const names = useMemo(() => new Map(net.boxes.map((box) => [box.code, nameOf(box.step)])), [net]);
    const tone = useMemo((): Tone => (code) => (!way ? '' : way.under.has(code) ? 'live' : way.taken.has(code) ? 'done' : 'no'), [way]);
    const [sought, seek] = useState<string | null>(null);
    const id = useId().replaceAll(':', '');
    const box = useRef<HTMLDivElement>(null);
    const sheet = useRef<HTMLDivElement>(null);
    const view = useViewport(box, sheet, { w, h, margin: MARGIN });
    const { zoom } = view;
    // What is all in sight with its names legible is shown so: a net is as often wide as it is high.
    useEffect(() => {
        const whole = view.zoomFor(w, h);
        if (whole >= LEGIBLE && whole < FAR) view.fit(w, h);
    }, [w, h]);
    useEffect(() => {
        box.current?.querySelector('.node.sel, .node.live, .node.held, .node.bad')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }, [selected, drawn]);
    const isBegun = way ? drawn.start !== null && way.visited.has(drawn.start) : null;
    const initial = drawn.boxes.find((one) => one.code === drawn.start);
    const start = drawn.pill && initial ? `M${drawn.pill.x} ${drawn.pill.y + 26}L${initial.x + initial.w / 2} ${initial.y}` : null;
    const common = (one: PlacedBox) => ({
        box: one, dress: dress?.(one) ?? {}, links: links.get(one.code) ?? [], names, tone, select,
        isSelected: selected === one.code, isHit: sought !== null && matches(one, sought),
    });
    const pill = drawn.pill && { ...drawn.pill, kind: 'start' as const, label: t('start'), w: PILL_W, claim: { enter: '' } };
    // An edge says nothing more than its word does; a transition has a step.
    const chooseLine = net.kind === 'machine' ? select : undefined;
    const show = (code: string) => {
        select(code);
        requestAnimationFrame(() => box.current?.querySelector('.node.sel')?.scrollIntoView({ block: 'center', inline: 'center' }));
    };
    return (
        <div className={`graphbox ed-canvas net ${way ? '' : 'plain'} ${zoom < FAR ? 'far' : ''}`} onKeyDown={(event) => {
            if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') {
                event.preventDefault();
                seek(sought ?? '');
            }
        }}>
            <div className="canvas" ref={box} tabIndex={0} role="group" aria-label={label} {...view.drag}
                onClick={(event) => { if (!view.wasDragged() && !(event.target as HTMLElement).closest('button')) select(null); }}>
                {net.boxes.length === 0 && <p className="t3 hollow">{t('There is nothing in it that can be drawn.')}</p>}
                <div className="paper" style={{ width: w * zoom + MARGIN + 32, height: h * zoom + 48 }}>
                    <div className="sheet" ref={sheet} style={{ transform: `scale(${zoom})`, width: w, height: h, left: MARGIN }}>
                        <svg className="wires" width={w} height={h} aria-hidden="true">
                            <Heads id={id} /><Lines id={id} lines={drawn.lines} tone={tone} start={start} isBegun={isBegun} />
                        </svg>
                        {pill && <PillBox pill={pill} tone={isBegun === false ? 'later' : isBegun ? 'done' : ''} />}
                        {drawn.boxes.map((one) => <NetBox key={one.code} {...common(one)} />)}
                        {drawn.lines.map((line) => (
                            <LineWord key={line.code} line={line} tone={tone(line.code)} select={chooseLine}
                                isSelected={selected === line.code} />
                        ))}
                    </div>
                </div>
            </div>
            {net.left > 0 && (
                <p className="notdrawn note">{t('{n} part of it cannot be drawn.|{n} parts of it cannot be drawn.', { n: net.left })}</p>
            )}
            <Overview drawn={layout} box={box} zoom={zoom} size={{ w: w + MARGIN, h }} />
            {sought !== null && (
                <Search drawn={layout} sought={sought} seek={seek} go={(node) => show(node.code)} close={() => seek(null)} />
            )}
            <ZoomBar view={view} openSearch={() => seek(sought ?? '')} fit={() => view.fit(w, h)} reset={() => view.to(1)} />
        </div>
    );
}
