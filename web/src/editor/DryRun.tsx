// DryRun.tsx - which way it would go, and what it would do outside: nothing is done. Answers are pinned, from a past run or typed.
import { Fragment, useContext, useEffect, useMemo, useState } from 'react';
import { all, call, post } from '../lib/api';
import { readJson } from '../lib/exact';
import { FormFields, type Values } from '../lib/form';
import { Glyph, Icon } from '../lib/icons';
import { Json } from '../lib/json';
import type { Dress } from '../flow/boxes';
import type { List, Node } from '../flow/layout';
import { type Way, wayOf } from '../flow/way';
import { Button, Refusal } from '../lib/parts';
import { lookOf } from '../lib/status';
import { Say, t } from '../lib/text';
import { between, shortly, when } from '../lib/time';
import type { Execution, FormField, Step } from '../lib/types';
import { useDesk } from './desk';
import { blanksOf, mocksOf, type Outside, outsideOf, type Pin, pinsFrom, testOf, type Trial, visitsOf } from './dryrun';
import { everyItem, titleOf } from './model';
import { nameOfExecution, SampleContext } from './Sample';
import { pathOfKind } from './stored';

const RESOLVED_MOST = 100;

/** How the canvas shows the way that was taken. */
export function trialView(trial: Trial | null, pins: Pin[], list: List): { dress: (node: Node) => Dress; way: Way } | null {
    if (!trial) return null;
    const outer = new Set([...everyItem(list)].filter(({ item }) => item.inside).map(({ item }) => item.step.code));
    const visits = visitsOf(trial, outer);
    const undone = new Set(trial.steps.filter((row) => row.kind === 'rollback' && row.status === 'compensated').map((row) => row.step));
    const last = new Map(trial.steps.filter((row) => row.kind === 'forward').map((row) => [row.step, row]));
    // Where it would stand is no row of a history yet.
    const stands = trial.currentStep !== null && trial.status !== 'compensating' ? [{ step: trial.currentStep, kind: 'forward', visit: Infinity, attempt: 1, status: 'waiting' }] : [];
    const way = wayOf(list, [...trial.steps, ...stands], trial.status === 'completed');
    return {
        way,
        dress: (node) => {
            const code = node.step.code;
            const isIn = way.visited.has(code);
            const state = last.get(code)?.status ?? (trial.currentStep === code ? 'waiting' : '');
            const own = state ? lookOf(state) : null;
            const n = visits.get(code);
            return {
                tone: state === 'failed' ? 'bad' : undone.has(code) ? 'undo' : isIn ? 'way' : 'off', right: undone.has(code) ? <Glyph name="undone" tone="undo" /> : isIn && own ? <Glyph name={own.glyph} tone={own.tone} /> : undefined,
                left: n ? <span className="visit">{n.length > 3 ? `${n[0]}–${n.at(-1)}` : n.join(', ')}</span> : undefined,
                mark: pins.some((pin) => pin.step === code && !pin.isUndo) ? <span className="pinmark" title={t('answers itself with a pinned value')}><Icon name="pin" small /></span> : undefined,
            };
        },
    };
}

function PinRow({ pin, name, round, change, remove }: { pin: Pin; name: string; /** Which of several answers of one step it is; 0 when it is the only one. */ round: number; change: (to: Pin) => void; remove: () => void }) {
    const [text, write] = useState(() => JSON.stringify(pin.answer, null, 1));
    const [broken, say] = useState(false);
    return (
        <div className="pinrow">
            <div className="row"><Icon name="pin" small className="c-debug" /><b className="m5 cut">{name}</b><span className="tag mono cut">{pin.what}</span>{round > 0 && <span className="tag nowrap">{t('round {n}', { n: round })}</span>}<span className="end meta nowrap">{pin.at ? when(pin.at) : t('typed')}</span><button type="button" className="btn quiet sm sq" aria-label={t('Remove {name}', { name })} onClick={remove}><Icon name="x" small /></button></div>
            <textarea className={`inp mono grows ${broken ? 'wrong' : ''}`} aria-label={t('What {name} answers', { name })} spellCheck={false} value={text} onChange={(event) => {
                write(event.target.value);
                try {
                    change({ ...pin, answer: readJson(event.target.value), at: '' });
                    say(false);
                } catch { say(true); }
            }} />
        </div>
    );
}

const outsideWord = (kind: Outside['kind']) => ({ call: t('call'), job: t('job'), record: t('record'), message: t('message'), process: t('process') })[kind];
const recordWord = (what: string) => (what === 'created' ? t('created') : what === 'deleted' ? t('deleted') : t('written'));

/** The sentence of a trial: how it would end. */
function Verdict({ trial, nameOfStep }: { trial: Trial; nameOfStep: (code: string) => string }) {
    const fails = trial.error !== null && trial.status !== 'completed';
    const look = lookOf(fails ? 'failed' : trial.status);
    const undone = trial.steps.filter((row) => row.kind === 'rollback' && row.status === 'compensated');
    const tail = [
        trial.version === 'draft' ? t('with the draft') : t('with version {n}', { n: trial.version }),
        trial.startedAt && trial.endedAt && (trial.startedAt === trial.endedAt ? t('at once') : t('after {long}', { long: between(trial.startedAt, trial.endedAt) })),
        undone.length > 0 && t('undone: {names}', { names: undone.map((row) => nameOfStep(row.step ?? '')).join(', ') }),
    ];
    return (
        <div className={`why ${trial.status === 'completed' ? 'ok' : fails ? 'bad' : 'wait'} verdict`}><Glyph name={look.glyph} tone={look.tone} /><div className="grow"><p className="say">
            {trial.status === 'completed' ? <Say text="It would **complete**." />
                : fails ? <Say text="It would **fail** at **{step}**: {message}" values={{ step: nameOfStep(trial.error?.step ?? ''), message: trial.error?.message ?? '' }} />
                    : <Say text="It would **wait** at **{step}**." values={{ step: nameOfStep(trial.currentStep ?? '') }} />}
        </p>
        {trial.status === 'compensating' && trial.currentStep && <p className="sub">{t('The undo of {name} asks somebody outside: pin its answer to see what follows.', { name: nameOfStep(trial.currentStep) })}</p>}
        <p className="sub">{tail.filter(Boolean).join(' · ')}</p></div></div>
    );
}

/** What stands in `{{ }}`, with the context that the trial ended with; what cannot be told any more is left out. */
function useResolved(trial: Trial | null, outside: Outside[]): Map<string, string> {
    const [resolved, show] = useState<Map<string, string>>(new Map());
    useEffect(() => {
        const texts = [...new Set(outside.map((one) => one.what).filter((what) => what.includes('{{')))].slice(0, RESOLVED_MOST);
        show(new Map());
        if (!trial || texts.length === 0) return;
        const stop = new AbortController();
        post<{ items: { value?: unknown }[] }>('/eval', { items: texts.map((value) => ({ value })), context: trial.context ?? {} }, { signal: stop.signal })
            .then(({ items }) => show(new Map(texts.flatMap((text, i) => (typeof items[i]?.value === 'string' ? [[text, items[i].value as string] as const] : [])))), () => undefined);
        return () => stop.abort();
    }, [trial]);
    return resolved;
}

export function DryRun({ pins, pin, trial, show, close, saved, hasDraft, keepAsTest }: { pins: Pin[]; pin: (to: Pin[]) => void; trial: Trial | null; show: (to: Trial | null) => void; close: () => void; saved: () => Promise<boolean>; hasDraft: boolean; keepAsTest?: (test: unknown) => void }) {
    const { kind, code, list, good, readOnly } = useDesk();
    const { all: executions } = useContext(SampleContext);
    const [values, fill] = useState<Values>({});
    const [from, choose] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const [round, again] = useState(0);
    const fields: FormField[] = Array.isArray(good.value.input) ? good.value.input : [];
    const names = useMemo(() => new Map([...everyItem(list)].map(({ item }) => [item.step.code, titleOf(item)])), [list]);
    const nameOfStep = (own: string) => names.get(own) ?? own;
    const nameOfPin = (one: Pin) => (one.isUndo ? t('Undo of {name}', { name: nameOfStep(one.step) }) : nameOfStep(one.step));
    const isLike = (a: Pin, b: Pin) => a.step === b.step && Boolean(a.isUndo) === Boolean(b.isUndo);
    const blanks = blanksOf(list, pins);
    const takeFrom = async (id: string) => {
        choose(id);
        if (!id) return;
        const [execution, rows] = await Promise.all([call<Execution>(`/executions/${id}`), all<Step>(`/executions/${id}/steps`)]);
        if (execution.input && typeof execution.input === 'object') fill(execution.input as Values);
        pin(pinsFrom(list, rows));
        again((n) => n + 1);
    };
    const run = async () => {
        work(true);
        refuse(null);
        try {
            const isSaved = readOnly || (await saved());
            if (!isSaved) throw new Error(t('The draft is not saved yet.'));
            show(await post<Trial>(`${pathOfKind(kind)}/${code}/dry-run`, { input: values, mocks: mocksOf(pins), ...(hasDraft ? { version: 'draft' } : {}) }));
        } catch (why) {
            show(null);
            refuse(why);
        }
        work(false);
    };
    useEffect(() => () => show(null), []);
    const outside = trial ? outsideOf(trial, list) : [];
    const resolved = useResolved(trial, outside);
    return (
        <aside className="inspector dryrun" aria-label={t('Dry-run')}>
            <header className="ihead"><div className="grow"><h2>{t('Dry-run')}</h2><p className="t3">{t('which way it would go; nothing is done')}</p></div><button type="button" className="btn quiet sq sm" aria-label={t('Close')} onClick={close}><Icon name="x" /></button></header>
            {trial && <section className="isect"><Verdict trial={trial} nameOfStep={nameOfStep} />{(trial.warnings ?? []).map((warning) => <p key={warning.message} className="said warning"><Glyph name="held" tone="held" />{warning.message}</p>)}</section>}
            <Refusal error={error} sentence={error ? t('It could not be tried.') : undefined} />
            <section className="isect"><h3 className="h">{t('Input')}</h3><FormFields key={`i${round}`} fields={fields} values={values} change={fill} /></section>
            <section className="isect"><h3 className="h">{t('Pinned answers')}
                {executions.length > 0 && <select className="inp sm" aria-label={t('Take answers from')} value={from} onChange={(event) => void takeFrom(event.target.value)}><option value="">{t('take them from…')}</option>{executions.map((one) => <option key={one.id} value={one.id}>{nameOfExecution(one)} · {shortly(one.createdAt)}</option>)}</select>}</h3>
                {pins.map((one, i) => <PinRow key={`${round}${one.step}${i}`} round={pins.filter((other) => isLike(other, one)).length > 1 ? pins.slice(0, i + 1).filter((other) => isLike(other, one)).length : 0} pin={one} name={nameOfPin(one)} change={(to) => pin(pins.map((old, n) => (n === i ? to : old)))} remove={() => { pin(pins.filter((_, n) => n !== i)); again((n) => n + 1); }} />)}
                <div className="more">{blanks.map((blank) => <button key={`${blank.step}${blank.isUndo}`} type="button" className="addf" onClick={() => { pin([...pins, blank]); again((n) => n + 1); }}><Icon name="pin" small />{nameOfPin(blank)}</button>)}</div>
                {pins.length === 0 && blanks.length === 0 && <p className="t3">{t('No step asks anybody.')}</p>}
            </section>
            {trial && <section className="isect"><h3 className="h">{t('Would be done outside')}</h3>
                {outside.length === 0 ? <p className="t3">{t('Nothing.')}</p> : <dl className="kv outside">{outside.map((one, i) => <Fragment key={i}><dt>{one.isUndo ? t('undo') : outsideWord(one.kind)}</dt><dd><code>{resolved.get(one.what) ?? one.what.replace(/\{\{.*?\}\}/gs, '…')}</code> {(one.times ?? 1) > 1 && <span className="t3">× {one.times} </span>}<span className="t2">{one.kind === 'record' ? recordWord(one.more) : one.kind === 'message' && one.more ? `“${one.more}”` : one.more}</span></dd></Fragment>)}</dl>}</section>}
            {trial && trial.result !== null && trial.result !== undefined && <section className="isect"><h3 className="h">{t('Result')}</h3><Json value={trial.result} /></section>}
            <footer className="drfoot">{trial && keepAsTest && !readOnly && <Button icon="shield" onClick={() => keepAsTest(testOf(t('as {name} went', { name: String(Object.values(values)[0] ?? code) }), values, pins, trial))}>{t('Keep as a test')}</Button>}<Button kind="ink" icon="play" disabled={busy} className="end" onClick={() => void run()}>{trial ? t('Run again') : t('Try it')}</Button></footer>
        </aside>
    );
}
