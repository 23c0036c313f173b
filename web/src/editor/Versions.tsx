// Versions.tsx - what was published when, what differs between two versions, and what to do about it.
import { json } from '@codemirror/lang-json';
import { getChunks, MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { call, type Page } from '../lib/api';
import { Glyph, Icon } from '../lib/icons';
import type { Node } from '../flow/layout';
import { Bones, Button, Dialog, Refusal, Segments } from '../lib/parts';
import { t } from '../lib/text';
import { when } from '../lib/time';
import type { Dress } from '../flow/boxes';
import { Flow } from '../flow/Flow';
import { look, rootIn } from './code';
import { useDesk } from './desk';
import { diffVersions, sayChange } from './diff';
import { nodeAt, read } from './edits';
import { getLocation, getNodeValue } from 'jsonc-parser';
import { everyItem, itemAt, listOf } from './model';
import { RevertDialog } from './Publish';
import { pathOfKind, readVersion } from './stored';

interface Version { version: number; status: string; changeSummary: string | null; createdAt: string; createdBy: string | null }

/** The text of a comparison, to be moved in: the next change, a place in the new text. */
interface TextHandle { next: (by: 1 | -1) => void; show: (offset: number) => void }

function TextDiff({ from, to, two, handle, onMove }: { from: string; to: string; two: boolean; handle: React.RefObject<TextHandle | null>; /** The change that the cursor stands at, and the offset in the new text that is in sight. */ onMove: (at: { change: number; changes: number; offset: number; isChosen: boolean }) => void }) {
    const host = useRef<HTMLDivElement>(null);
    const tell = useRef(onMove);
    tell.current = onMove;
    useEffect(() => {
        const root = rootIn(host.current!);
        const base = [lineNumbers(), json(), look, EditorState.readOnly.of(true), EditorState.phrases.of({ '$ unchanged lines': t('$ unchanged lines') }), EditorView.contentAttributes.of({ 'aria-label': t('Text'), tabindex: '0' })];
        const both = two ? new MergeView({ parent: root, root, a: { doc: from, extensions: base }, b: { doc: to, extensions: base }, collapseUnchanged: { margin: 3 }, gutter: true }) : null;
        const view = both?.b ?? new EditorView({ parent: root, root, state: EditorState.create({ doc: to, extensions: [base, unifiedMergeView({ original: from, mergeControls: false, collapseUnchanged: { margin: 3 } })] }) });
        const scroller = both?.dom ?? view.scrollDOM;
        const chunks = () => getChunks(view.state)?.chunks ?? [];
        let at = -1;
        const reach = (offset: number) => view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) }, effects: EditorView.scrollIntoView(Math.min(offset, view.state.doc.length), { y: 'center' }) });
        const say = (offset: number, isChosen: boolean) => tell.current({ change: at + 1, changes: chunks().length, offset, isChosen });
        handle.current = {
            next: (by) => {
                const all = chunks();
                if (all.length === 0) return;
                at = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
                reach(all[at]!.fromB);
                say(all[at]!.fromB, true);
            },
            show: (offset) => reach(offset),
        };
        // Canvas and text go together: what is scrolled to here is in sight there.
        let isWaiting = false;
        const scrolled = () => {
            if (isWaiting) return;
            isWaiting = true;
            requestAnimationFrame(() => {
                isWaiting = false;
                const middle = scroller.getBoundingClientRect();
                const pos = view.posAtCoords({ x: view.contentDOM.getBoundingClientRect().left + 4, y: middle.top + middle.height / 2 }, false);
                say(pos, false);
            });
        };
        scroller.addEventListener('scroll', scrolled, { passive: true });
        say(chunks()[0]?.fromB ?? 0, false);
        return () => {
            handle.current = null;
            scroller.removeEventListener('scroll', scrolled);
            if (both) both.destroy();
            else view.destroy();
        };
    }, [from, to, two]);
    return <div ref={host} className="cmhost" />;
}

function DiscardDialog({ published, discard, close }: { published: number; discard: () => Promise<void>; close: () => void }) {
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const run = () => {
        work(true);
        discard().then(close, (why: unknown) => { refuse(why); work(false); });
    };
    return (
        <Dialog title={t('Discard the draft?')} lead={t('Version {n} stands here again. Undo brings the draft back while this page is open.', { n: published })} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="bad solid" disabled={busy} onClick={run}>{t('Discard the draft')}</Button>
        </>}><Refusal error={error} sentence={error ? t('The draft was not discarded.') : undefined} /></Dialog>
    );
}

export function Versions({ hasDraft, take, publish, reverted, discard }: { hasDraft: boolean; take: (text: string, version: number) => void; publish: () => void; reverted: () => void; discard: () => Promise<void> }) {
    const { kind, code, doc, catalog, readOnly } = useDesk();
    const { text } = doc.snapshot();
    const versions = useQuery({ queryKey: ['versions', kind, code], queryFn: () => call<Page<Version>>(`${pathOfKind(kind)}/${code}/versions?limit=100`) });
    const users = useQuery({ queryKey: ['users', 'names'], queryFn: () => call<{ items: { id: string; name: string }[] }>('/users?limit=100').catch(() => ({ items: [] })) });
    // Live ones only: what has ended needs no version any more.
    const live = useQuery({ queryKey: ['versions', 'live', kind, code], enabled: kind === 'scenario', queryFn: () => call<{ items: { value: string; count: number }[] }>(`/executions/summary?by=version&code=${encodeURIComponent(code)}`) });
    const liveWith = (n: number) => (live.data?.items ?? []).filter((one) => one.value === String(n)).reduce((sum, one) => sum + one.count, 0);
    const all = (versions.data?.items ?? []).filter((v) => v.status !== 'draft');
    const published = all.find((v) => v.status === 'published')?.version ?? all[0]?.version ?? 0;
    const [chosen, choose] = useState<{ from: number; to: number } | null>(null);
    const [two, turn] = useState<'one' | 'two'>('one');
    const [reverting, revert] = useState(false);
    const [selected, select] = useState<(string | number)[] | null>(null);
    const [place, move] = useState({ change: 0, changes: 0 });
    const handle = useRef<TextHandle>(null);
    const [discarding, askDiscard] = useState(false);
    // 0 is the draft.
    const before = (n: number) => all.map((v) => v.version).filter((v) => v < n).sort((a, b) => b - a)[0] ?? n;
    const pair = chosen ?? (hasDraft ? { from: published, to: 0 } : { from: before(published), to: published });
    const useText = (n: number) => useQuery({ queryKey: ['version', 'text', kind, code, n], enabled: n > 0, queryFn: async () => (await readVersion(kind, code, n)).text });
    const [a, b] = [useText(pair.from), useText(pair.to)];
    const from = pair.from === 0 ? text : a.data;
    const to = pair.to === 0 ? text : b.data;
    const diff = useMemo(() => (from !== undefined && to !== undefined ? diffVersions(from, to) : null), [from, to]);
    const list = useMemo(() => {
        const tree = diff ? read(diff.union).tree : null;
        return tree ? listOf(catalog, kind, getNodeValue(tree), t('otherwise')) : null;
    }, [diff, catalog, kind]);
    const newTree = useMemo(() => (to === undefined ? null : read(to).tree), [to]);
    const newList = useMemo(() => (newTree ? listOf(catalog, kind, getNodeValue(newTree), t('otherwise')) : null), [newTree, catalog, kind]);
    /** The step of the canvas at a place in the new text. */
    const stepAt = (offset: number) => {
        const found = newTree && newList ? itemAt(newList, getLocation(to!, offset).path) : null;
        return found && list ? ([...everyItem(list)].find(({ item }) => item.step.code === found.step.code && item.step.code !== undefined)?.item ?? null) : null;
    };
    const moved = ({ change, changes, offset, isChosen }: { change: number; changes: number; offset: number; isChosen: boolean }) => {
        if (change !== place.change || changes !== place.changes) move({ change, changes });
        const step = stepAt(offset);
        if (isChosen) select(step?.at ?? null);
        else if (step) document.querySelector(`.versions .node[data-code="${step.step.code}"]`)?.scrollIntoView({ block: 'nearest' });
    };
    const choosePlace = (path: (string | number)[] | null) => {
        select(path);
        const item = path && list ? itemAt(list, path) : null;
        const there = item && newList ? [...everyItem(newList)].find((one) => one.item.step.code === item.step.code)?.item : null;
        const node = there && newTree ? nodeAt(newTree, there.at) : null;
        if (node) handle.current?.show(node.offset);
    };
    useEffect(() => {
        const press = (event: KeyboardEvent) => {
            if (event.key !== 'F7' || document.querySelector('[role=dialog]')) return;
            event.preventDefault();
            handle.current?.next(event.shiftKey ? -1 : 1);
        };
        addEventListener('keydown', press);
        return () => removeEventListener('keydown', press);
    }, []);
    const sameCount = list ? [...everyItem(list)].length - (diff?.steps.size ?? 0) : 0;
    const name = (n: number) => (n === 0 ? t('Draft') : t('version {n}', { n }));
    const who = (id: string | null) => users.data?.items.find((user) => user.id === id)?.name ?? '';
    const count = (what: string) => [...(diff?.steps.values() ?? [])].filter((one) => one.what === what).length;
    const dress = (node: Node): Dress => {
        const own = diff?.steps.get(node.step.code);
        if (!own) return { tone: 'same' };
        const glyph = own.what === 'add' ? 'add' : own.what === 'del' ? 'del' : 'chg';
        return {
            tone: own.what, mark: <span className="mark2"><Glyph name={glyph} tone={own.what === 'add' ? 'ok' : own.what === 'del' ? 'bad' : ''} /></span>,
            left: own.what === 'chg' ? <span className="beside">{own.changes.slice(0, 2).map((change) => { const said = sayChange(change); return <span key={said.name} className="cut">{said.name} <s>{said.before}</s> → <b>{said.after}</b></span>; })}</span> : undefined,
        };
    };
    if (versions.isLoading) return <Bones />;
    return (
        <div className="versions">
            <nav className="plist vlist" aria-label={t('Versions')}>
                {hasDraft && <button type="button" aria-pressed={pair.to === 0} className={`o ${pair.to === 0 ? 'on' : ''}`} onClick={() => choose({ from: published, to: 0 })}><b className="m5">{t('Draft')}</b><span className="t2">{t('not published')}</span></button>}
                {all.map((v) => <button key={v.version} type="button" aria-pressed={pair.to === v.version} className={`o ${pair.to === v.version ? 'on' : ''}`} onClick={() => choose({ from: before(v.version), to: v.version })}><span className="row"><b className="m5">{t('version {n}', { n: v.version })}</b>{v.status === 'published' && <span className="tag okt">{t('published')}</span>}<span className="end meta">{when(v.createdAt)}</span></span>{v.changeSummary && <span className="t2">{v.changeSummary}</span>}<span className="meta">{[who(v.createdBy), kind === 'scenario' && live.data ? (liveWith(v.version) > 0 ? t('{n} runs with it|{n} run with it', { n: liveWith(v.version) }) : t('none left')) : ''].filter(Boolean).join(' · ')}</span></button>)}
                <p className="t3 meta vhint">{t('Every execution ends with the version it began with. A version in use is never deleted.')}</p>
            </nav>
            <div className="vmain">
                <div className="why none vsay"><div className="grow"><p className="say">{diff === null ? t('One of the texts is no JSON.') : diff.steps.size === 0 && diff.around.length === 0 ? t('Nothing differs.') : diff.steps.size > 0 && <b>{t('{n} step differs.|{n} steps differ.', { n: diff.steps.size })}</b>} {diff && diff.around.length > 0 && t('Beside the steps: {what}.', { what: [...new Set(diff.around.map((change) => String(change.at[0])))].join(', ') })}</p><p className="sub">{pair.to !== 0 ? '' : kind === 'scenario' && liveWith(published) > 0 ? t('{n} execution that runs with version {v} stays with it.|{n} executions that run with version {v} stay with it.', { n: liveWith(published), v: published }) : t('Executions that run now stay with their version.')}</p></div>
                    {!readOnly && hasDraft && pair.to === 0 && published > 0 && <Button kind="quiet" onClick={() => askDiscard(true)}>{t('Discard the draft…')}</Button>}
                    {!readOnly && pair.to === 0 && <Button kind="ink" onClick={publish}>{t('Publish…')}</Button>}
                    {!readOnly && pair.to !== 0 && pair.to !== published && to !== undefined && <Button onClick={() => take(to, pair.to)}>{t('Take version {n} as the draft', { n: pair.to })}</Button>}
                    {!readOnly && pair.to === published && before(published) !== published && <Button onClick={() => revert(true)}>{t('Revert to version {n}…', { n: before(published) })}</Button>}
                </div>
                <div className="vbar"><span className="t3">{t('Compare')}</span>
                    {(['from', 'to'] as const).map((end, i) => <span key={end} className="row">{i === 1 && <span className="t3">→</span>}<select className="inp sm" aria-label={end === 'from' ? t('From') : t('To')} value={pair[end]} onChange={(event) => choose({ ...pair, [end]: Number(event.target.value) })}>{[...(hasDraft ? [0] : []), ...all.map((v) => v.version)].map((n) => <option key={n} value={n}>{name(n)}</option>)}</select></span>)}
                    <span className="end row counts"><span className="row"><Glyph name="add" tone="ok" />{t('{n} came', { n: count('add') })}</span><span className="row"><Glyph name="del" tone="bad" />{t('{n} went', { n: count('del') })}</span><span className="row"><Glyph name="chg" />{t('{n} changed', { n: count('chg') })}</span><span className="t3">{t('{n} the same', { n: sameCount })}</span></span>
                </div>
                <Refusal error={a.error ?? b.error} />
                <div className={`vtwo ${two === 'two' ? 'wide' : ''}`}>
                    {list && <Flow label={t('Canvas')} list={list} selected={selected} select={choosePlace} dress={dress} />}
                    <div className="vtext"><header className="mhead"><h2>{t('Text')}</h2><span className="t3 nowrap" role="status">{place.changes === 0 ? '' : place.change === 0 ? t('{n} change|{n} changes', { n: place.changes }) : t('{i} of {n}', { i: place.change, n: place.changes })}</span><span className="end row"><Segments small label={t('How the text is shown')} value={two} onChange={turn} options={[{ value: 'one', label: t('One column') }, { value: 'two', label: t('Two') }]} /><button type="button" className="btn quiet sq sm" disabled={place.changes === 0} aria-label={t('The change before')} title={`${t('The change before')} (Shift F7)`} onClick={() => handle.current?.next(-1)}><Icon name="up" small /></button><button type="button" className="btn quiet sq sm" disabled={place.changes === 0} aria-label={t('The next change')} title={`${t('The next change')} (F7)`} onClick={() => handle.current?.next(1)}><Icon name="down" small /></button></span></header>{from !== undefined && to !== undefined && <TextDiff key={two} from={from} to={to} two={two === 'two'} handle={handle} onMove={moved} />}</div>
                </div>
            </div>
            {discarding && <DiscardDialog published={published} discard={discard} close={() => { askDiscard(false); choose(null); }} />}
            {reverting && <RevertDialog kind={kind} code={code} to={before(published)} close={() => revert(false)} done={() => { revert(false); choose(null); reverted(); }} />}
        </div>
    );
}
