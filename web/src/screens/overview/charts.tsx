// charts.tsx - lines over time, in the roles of the pages: started is the accent, completed green and dashed, failed red bars.
import { useLayoutEffect, useRef, useState } from 'react';
import { t } from '../../lib/text';
import { number, when } from '../../lib/time';
import type { Series } from './stats';

export function Spark({ values, tone }: { values: number[]; tone: string }) {
    const shown = values.slice(-24);
    const most = Math.max(1, ...shown);
    const points = shown.map((v, i) => [2 + (i * 84) / Math.max(1, shown.length - 1), 27 - (v / most) * 24] as const);
    const end = points.at(-1)!;
    return (
        <svg className="spark" width="88" height="30" aria-hidden="true">
            <polyline points={points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')} fill="none" stroke={`var(--${tone})`} strokeWidth="1.5" strokeLinejoin="round" />
            <circle cx={end[0]} cy={end[1]} r="2.5" fill={`var(--${tone})`} />
        </svg>
    );
}

/** The next number above that four lines divide evenly. */
const nice = (n: number) => {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, n / 4)));
    return 4 * ([1, 2, 3, 5, 10].map((f) => f * power).find((v) => v * 4 >= n) ?? 10 * power);
};

interface Mark { at: number; className: string; words: string }

/** Words beside a line, each at its height or, where they would touch, above the one below; none below `lowest`. */
export function stacked(marks: Mark[], lowest: number): Mark[] {
    let free = lowest;
    return [...marks].sort((a, b) => b.at - a.at).map((mark) => {
        const at = Math.min(mark.at + 4, free);
        free = at - 15;
        return { ...mark, at };
    });
}

export function Throughput({ series, height = 300 }: { series: Series; height?: number }) {
    const box = useRef<HTMLDivElement>(null);
    const [width, measure] = useState(640);
    const [over, hover] = useState<number | null>(null);
    useLayoutEffect(() => {
        const watcher = new ResizeObserver(() => measure((box.current?.clientWidth ?? 664) - 24));
        if (box.current) watcher.observe(box.current);
        return () => watcher.disconnect();
    }, []);
    const left = 40, right = 96, top = 12, bottom = 24;
    const most = nice(Math.max(4, ...series.started, ...series.completed));
    const n = series.at.length;
    const x = (i: number) => left + (i * (width - left - right)) / Math.max(1, n - 1);
    const y = (v: number) => top + (1 - v / most) * (height - top - bottom);
    const line = (values: number[]) => values.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(' ');
    const at = over ?? n - 1;
    const ys = y(series.started[at] ?? 0);
    const yc = y(series.completed[at] ?? 0);
    const counts = stacked([
        { at: ys, className: 'c-run', words: t('{n} started', { n: number(series.started[at] ?? 0) }) },
        { at: yc, className: 'c-ok', words: t('{n} completed', { n: number(series.completed[at] ?? 0) }) },
        ...((series.failed[at] ?? 0) > 0 ? [{ at: y(series.failed[at]!), className: 'c-bad', words: t('{n} failed', { n: number(series.failed[at]!) }) }] : []),
    ], y(0) + 2);
    const labels = [0, 0.25, 0.5, 0.75].map((f) => Math.round(f * (n - 1)));
    return (
        <div ref={box} className="chart">
            <svg width={width} height={height} role="img" aria-label={t('Started, completed and failed over time')} onMouseLeave={() => hover(null)}
                onMouseMove={(event) => { const i = Math.round(((event.nativeEvent.offsetX - left) / (width - left - right)) * (n - 1)); hover(Math.max(0, Math.min(n - 1, i))); }}>
                {[0, 0.25, 0.5, 0.75, 1].map((f) => <g key={f}><line x1={left} x2={width - right} y1={y(most * f)} y2={y(most * f)} stroke="var(--line)" /><text x={left - 8} y={y(most * f) + 4} textAnchor="end">{number(most * f)}</text></g>)}
                {labels.map((i) => <text key={i} x={x(i)} y={height - 6} textAnchor={i === 0 ? 'start' : 'middle'}>{when(series.at[i]!).split(' ').at(-1)}</text>)}
                <text x={x(n - 1)} y={height - 6} textAnchor="middle">{t('now')}</text>
                <polygon points={`${x(0)},${y(0)} ${line(series.started)} ${x(n - 1)},${y(0)}`} fill="var(--accent-soft)" opacity=".6" />
                <polyline points={line(series.completed)} fill="none" stroke="var(--ok-solid)" strokeWidth="1.5" strokeDasharray="4 3" strokeLinejoin="round" />
                <polyline points={line(series.started)} fill="none" stroke="var(--accent)" strokeWidth="1.75" strokeLinejoin="round" />
                {series.failed.map((v, i) => v > 0 && <rect key={i} x={x(i) - 2} y={y(v)} width="4" height={Math.max(4, y(0) - y(v))} rx="1" fill="var(--bad-solid)" />)}
                {over !== null && <line x1={x(over)} x2={x(over)} y1={top} y2={y(0)} stroke="var(--line-control)" strokeDasharray="2 3" />}
                <circle cx={x(at)} cy={ys} r="3" fill="var(--accent)" /><circle cx={x(at)} cy={yc} r="3" fill="var(--ok-solid)" />
                {counts.map((one) => <text key={one.className} x={width - right + 10} y={one.at} className={one.className}>{one.words}</text>)}
            </svg>
        </div>
    );
}
