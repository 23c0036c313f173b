// Timeline.tsx - what happened when, and how long it took: real lengths, waits hatched, what goes back apart.
import { useMediaQuery } from '@mantine/hooks';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Glyph, Icon } from '../../lib/icons';
import { Segments, useNow } from '../../lib/parts';
import { lookOf, stateOf } from '../../lib/status';
import { nameOf } from '../../lib/steps';
import { t } from '../../lib/text';
import { duration, when } from '../../lib/time';
import type { Execution, StepDef } from '../../lib/types';
import { type Bar, readable, scaleOf, undoableOf } from './timeline';
import './timeline.css';

/** A row is higher on a phone, as touch.css has it. */
const useRowHeight = () => (useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false }) ? 44 : 30);

const kindOf = (bar: Bar) => {
    if (bar.state === 'failed') return bar.lane === 'back' ? 'badx' : 'bad';
    if (bar.lane === 'back') return 'undo';
    if (bar.waits) return 'wait';
    if (bar.state === 'skipped') return 'skip';
    return bar.open ? 'run' : '';
};

function noteIn(note: string) {
    return note.split(', ').filter(Boolean).map((part) => {
        const [, word, n] = part.match(/^(attempt|visit) (\d+)$/) ?? [];
        return word ? t(`${word} {n}`, { n: n! }) : t(part);
    }).join(', ');
}

function Row({ bar, name, at, selected, select, width }: { bar: Bar; name: string; at: (ms: number) => number; selected: boolean; select: () => void; width: number }) {
    const look = lookOf(bar.lane === 'back' && bar.state === 'completed' ? 'compensated' : bar.state);
    const left = Math.min(at(bar.from), width - 4);
    const size = Math.max(4, Math.min(at(bar.to), width) - left);
    return (
        <button type="button" className={`tr ${selected ? 'sel' : ''}`} onClick={select} aria-pressed={selected}>
            <span className="nm"><Glyph name={look.glyph} tone={look.tone} className={look.glyph === 'running' ? 'turn' : ''} /><span className="vh">{t(look.word)}</span><span className="cut" title={bar.step}>{name} {bar.note && <i>{noteIn(bar.note)}</i>}</span></span>
            <span className="lane2">
                {bar.retryFrom !== null && <i className="tb retry" style={{ left: at(bar.retryFrom), width: Math.max(0, left - at(bar.retryFrom)) }} />}
                <i className={`tb ${kindOf(bar)} ${bar.open ? 'open' : ''}`} style={{ left, width: size }} />
                {bar.marks?.slice(-20).map((mark) => <i key={`${mark.kind}${mark.at}`} className={`tmark ${mark.kind}`} style={{ left: Math.max(left, Math.min(at(mark.at), left + size)) }} title={mark.kind === 'reminder' ? t('A reminder was sent, {when}', { when: when(mark.at, { seconds: true }) }) : t('The signal came, {when}', { when: when(mark.at, { seconds: true }) })} />)}
            </span>
            <span className="d">{duration(bar.to - bar.from)}</span>
        </button>
    );
}

export function Timeline({ x, bars: known, steps, selected, select, loading }:
    { x: Execution; bars: Bar[]; steps: Map<string, StepDef>; selected: string | null; select: (id: string) => void; loading: boolean }) {
    const now = useNow(x.completedAt ? null : 1000);
    // Only what is open grows with the clock.
    const bars = useMemo(() => (known.some((bar) => bar.open) ? known.map((bar) => (bar.open ? { ...bar, to: Math.max(bar.from, now) } : bar)) : known), [known, now]);
    const [mode, turn] = useState<'real' | 'fold' | ''>('');
    const scroller = useRef<HTMLDivElement>(null);
    const [box, measure] = useState({ width: 220, top: 0, size: 900 });
    useLayoutEffect(() => {
        const el = scroller.current;
        if (!el) return;
        const look = () => measure({ width: matchMedia('(max-width: 640px)').matches ? 74 : Math.max(60, el.clientWidth - 148 - 92 - 32 - 16), top: el.scrollTop, size: el.clientHeight });
        look();
        const watcher = new ResizeObserver(look);
        watcher.observe(el);
        el.addEventListener('scroll', look, { passive: true });
        return () => {
            watcher.disconnect();
            el.removeEventListener('scroll', look);
        };
    }, []);

    const row = useRowHeight();
    const isOver = Boolean(x.completedAt);
    const start = Date.parse(x.startedAt ?? x.createdAt);
    const end = isOver ? Date.parse(x.completedAt!) : Math.max(now, start + 1);
    const work = bars.filter((bar) => !bar.waits).reduce((sum, bar) => sum + bar.to - bar.from, 0);
    const folds = mode === '' ? end - start > 120000 && work > 1000 && work < (end - start) / 10 : mode === 'fold';
    const scale = useMemo(() => scaleOf(bars, start, end, box.width, folds), [bars, start, end, box.width, folds]);
    const forward = bars.filter((bar) => bar.lane === 'forward');
    const back = bars.filter((bar) => bar.lane === 'back');
    const undoable = useMemo(() => undoableOf(bars, steps), [bars, steps]);
    const undoCount = undoable.reduce((sum, one) => sum + one.visits, 0);
    const failedBack = back.filter((bar) => bar.state === 'failed').length;
    const ticks = readable(scale.ticks, 62);

    // Only what is in sight is drawn: a history has ten thousand rows.
    const windowed = (list: Bar[], offset: number) => {
        const first = Math.max(0, Math.floor((box.top - offset) / row) - 8);
        const last = Math.min(list.length, Math.ceil((box.top + box.size - offset) / row) + 8);
        return (
            <div style={{ height: list.length * row, position: 'relative' }}>
                {list.slice(first, Math.max(first, last)).map((bar, i) => (
                    <div key={bar.id} style={{ position: 'absolute', top: (first + i) * row, left: 0, right: 0 }}><Row bar={bar} name={steps.has(bar.step) ? nameOf(steps.get(bar.step)!) : bar.step} at={scale.at} width={box.width} selected={selected === bar.id} select={() => select(bar.id)} /></div>
                ))}
            </div>
        );
    };

    return (
        <section className="tl" aria-label={t('Timeline')}>
            <div className="row tlhead">
                <h3 className="h">{t('Timeline')}</h3><span className="meta num">{duration(end - start)}{loading ? ` · ${t('reading…')}` : ''}</span>
                <span className="end"><Segments small label={t('How time is drawn')} value={folds ? 'fold' : 'real'} onChange={turn} options={[{ value: 'real', label: t('Real time') }, { value: 'fold', label: t('Fold waits') }]} /></span>
            </div>
            <div className="axis" aria-hidden="true"><div className="ax" style={{ left: 164, width: box.width }}>
                {ticks.map((tick, i) => {
                    const last = i === ticks.length - 1;
                    return <span key={tick.ms} className={last && !isOver ? 'now' : ''} style={last && ticks.length > 1 ? { right: box.width - Math.min(tick.at, box.width) } : { left: tick.at }}>{last && !isOver ? t('now {when}', { when: when(now) }) : when(tick.ms, { seconds: end - start < 3600000 })}</span>;
                })}
            </div></div>
            <button type="button" className={`trwhole ${selected === null ? 'sel' : ''}`} aria-pressed={selected === null} onClick={() => select('')}>
                <Glyph name={lookOf(stateOf(x)).glyph} tone={lookOf(stateOf(x)).tone} /><span className="m5">{t('The execution')}</span><span className="t3 cut">{x.completedAt ? t('its input and what it came to') : t('its input and what it knows now')}</span>
            </button>
            <div className="tlrows" ref={scroller} tabIndex={0} role="group" aria-label={t('Timeline')}>
                <div className="lh"><Icon name="arrow" small />{t('Forward')}</div>
                <div style={{ position: 'relative' }}>
                    <div className="marks" style={{ left: 164, width: box.width }} aria-hidden="true">
                        {scale.folds.map((f) => <i key={f.at} className="fold" style={{ left: f.at, width: f.width }} />)}
                        {!isOver && <i className="nowl" style={{ left: Math.min(scale.at(now), box.width) }} />}
                    </div>
                    {windowed(forward, row)}
                </div>
                <div className={`lh undo ${back.length > 0 ? 'on' : ''}`}>
                    <Icon name="undo" small />{t('Compensation')}
                    <span className={`${back.length > 0 ? 'end' : 't3'} thin`}>{back.length > 0
                        ? `${duration(Math.max(...back.map((b) => b.to)) - Math.min(...back.map((b) => b.from)))}${isOver ? `, ${x.error?.compensation?.failed.length ? t('{n} not undone', { n: x.error.compensation.failed.length }) : t('all undone')}` : ''}${failedBack ? `, ${t('{n} failed attempt|{n} failed attempts', { n: failedBack })}` : ''}`
                        : isOver ? t('nothing went back') : undoCount > 0 ? t('nothing goes back. If it failed now, this would be undone: {n}', { n: undoCount }) : t('nothing to undo yet')}</span>
                </div>
                {back.length > 0 && windowed(back, row * (forward.length + 2))}
                {back.length === 0 && !isOver && undoable.slice(0, 8).map(({ code, visits }, i) => <div key={code} className="tr would"><span className="nm"><span className="ord">{i + 1}</span><span className="cut">{steps.get(code)?.name ?? code} {steps.get(code)?.name && <i>{code}</i>}{visits > 1 && ` × ${visits}`}</span></span></div>)}
            </div>
        </section>
    );
}
