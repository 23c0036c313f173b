// Tools.tsx - what stands in the corners of a canvas: zoom, search, and the whole of it in small.
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Icon } from '../lib/icons';
import { nameOf } from '../lib/steps';
import { t } from '../lib/text';
import type { Layout, Node } from './layout';
import type { Viewport } from './useViewport';

const SMALL_W = 120;
const SMALL_H = 150;

/** The whole sheet in small, with what is in sight; pressing leads there. Only where the sheet is much larger than its window. */
export function Overview({ drawn, box, zoom, size }: { drawn: Layout; box: RefObject<HTMLElement | null>; zoom: number; size: { w: number; h: number } }) {
    const [view, look] = useState({ x: 0, y: 0, w: 0, h: 0 });
    useEffect(() => {
        const el = box.current;
        if (!el) return;
        const measure = () => look({ x: el.scrollLeft, y: el.scrollTop, w: el.clientWidth, h: el.clientHeight });
        measure();
        const watcher = new ResizeObserver(measure);
        watcher.observe(el);
        el.addEventListener('scroll', measure, { passive: true });
        return () => {
            watcher.disconnect();
            el.removeEventListener('scroll', measure);
        };
    }, [box, zoom]);
    const isLarge = size.h * zoom > view.h * 1.6 || size.w * zoom > view.w * 1.6;
    if (!isLarge || view.h === 0) return null;
    const k = Math.min(SMALL_W / size.w, SMALL_H / size.h);
    const go = (event: React.PointerEvent<SVGSVGElement>) => {
        if (event.buttons !== 1 || !box.current) return;
        const rect = event.currentTarget.getBoundingClientRect();
        box.current.scrollLeft = ((event.clientX - rect.left) / k) * zoom - view.w / 2;
        box.current.scrollTop = ((event.clientY - rect.top) / k) * zoom - view.h / 2;
    };
    return (
        <div className="small" aria-hidden="true"><svg width={Math.max(24, size.w * k)} height={size.h * k} onPointerDown={go} onPointerMove={go}>
            {drawn.lanes.map((lane) => <rect key={lane.at.join('/')} className="slane" x={lane.x * k} y={lane.y * k} width={lane.w * k} height={lane.h * k} />)}
            {drawn.nodes.map((node) => <rect key={node.at.join('/')} className="snode" x={node.x * k} y={node.y * k} width={node.w * k} height={Math.max(1.5, node.h * k)} />)}
            <rect className="sview" x={(view.x / zoom) * k} y={(view.y / zoom) * k} width={Math.min(size.w * k, (view.w / zoom) * k)} height={Math.min(size.h * k, (view.h / zoom) * k)} />
        </svg></div>
    );
}

export const matches = (node: Node, sought: string) => sought.trim() !== '' && `${nameOf(node.step)} ${node.step.code}`.toLowerCase().includes(sought.trim().toLowerCase());

/** Enter goes from one that matches to the next. */
export function Search({ drawn, sought, seek, go, close }: { drawn: Layout; sought: string; seek: (to: string) => void; go: (node: Node) => void; close: () => void }) {
    const at = useRef(-1);
    const found = [...drawn.nodes, ...drawn.lanes].filter((node) => matches(node, sought)).sort((a, b) => a.y - b.y);
    return (
        <div className="seek" role="search"><Icon name="search" small />
            <input autoFocus aria-label={t('Find a step')} placeholder={t('Find a step')} value={sought} onChange={(event) => { at.current = -1; seek(event.target.value); }} onKeyDown={(event) => {
                if (event.key === 'Escape') close();
                if (event.key !== 'Enter' || found.length === 0) return;
                at.current = (at.current + (event.shiftKey ? found.length - 1 : 1)) % found.length;
                go(found[at.current]!);
            }} />
            <span className="t3 num nowrap" role="status">{sought.trim() ? t('{n} found', { n: found.length }) : ''}</span>
            <button type="button" aria-label={t('Close')} onClick={close}><Icon name="x" small /></button>
        </div>
    );
}

export function ZoomBar({ view, openSearch, fit, reset }: { view: Viewport; openSearch: () => void; fit: () => void; reset: () => void }) {
    return (
        <div className="zoom">
            <button type="button" aria-label={t('Find a step')} title={`${t('Find a step')} (Ctrl F)`} onClick={openSearch}><Icon name="search" small /></button>
            <button type="button" aria-label={t('Smaller')} onClick={() => view.by(1 / 1.15)}>−</button>
            <button type="button" className="pct num" aria-label={t('{n} %, back to 100 %', { n: Math.round(view.zoom * 100) })} title={t('Back to 100 %')} onClick={reset}>{Math.round(view.zoom * 100)} %</button>
            <button type="button" aria-label={t('Larger')} onClick={() => view.by(1.15)}>+</button>
            <button type="button" aria-label={t('Fit')} title={t('Fit')} onClick={fit}><Icon name="fit" /></button>
        </div>
    );
}
