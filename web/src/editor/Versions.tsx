// Versions.tsx - what was published when, what differs between two versions, and what to do about it.
import { json } from '@codemirror/lang-json';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { call, type Page } from '../lib/api';
import { Glyph } from '../lib/icons';
import type { Node } from '../lib/layout';
import { Bones, Button, Refusal, Segments } from '../lib/parts';
import { t } from '../lib/text';
import { when } from '../lib/time';
import { Canvas, type Dress } from './Canvas';
import { look, rootIn } from './code';
import { useDesk } from './desk';
import { diffVersions, sayChange } from './diff';
import { read } from './edits';
import { getNodeValue } from 'jsonc-parser';
import { listOf } from './model';
import { RevertDialog } from './Publish';
import { pathOfKind, readVersion } from './stored';

interface Version { version: number; status: string; changeSummary: string | null; createdAt: string; createdBy: string | null }

function TextDiff({ from, to, two }: { from: string; to: string; two: boolean }) {
    const host = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const root = rootIn(host.current!);
        const base = [lineNumbers(), json(), look, EditorState.readOnly.of(true), EditorState.phrases.of({ '$ unchanged lines': t('$ unchanged lines') }), EditorView.contentAttributes.of({ 'aria-label': t('Text'), tabindex: '0' })];
        if (two) {
            const view = new MergeView({ parent: root, root, a: { doc: from, extensions: base }, b: { doc: to, extensions: base }, collapseUnchanged: { margin: 3 }, gutter: true });
            return () => view.destroy();
        }
        const view = new EditorView({ parent: root, root, state: EditorState.create({ doc: to, extensions: [base, unifiedMergeView({ original: from, mergeControls: false, collapseUnchanged: { margin: 3 } })] }) });
        return () => view.destroy();
    }, [from, to, two]);
    return <div ref={host} className="cmhost" />;
}

export function Versions({ hasDraft, take, publish, reverted }: { hasDraft: boolean; take: (text: string, version: number) => void; publish: () => void; reverted: () => void }) {
    const { kind, code, doc, catalog, readOnly } = useDesk();
    const { text } = doc.snapshot();
    const versions = useQuery({ queryKey: ['versions', kind, code], queryFn: () => call<Page<Version>>(`${pathOfKind(kind)}/${code}/versions?limit=100`) });
    const users = useQuery({ queryKey: ['users', 'names'], queryFn: () => call<{ items: { id: string; name: string }[] }>('/users?limit=100').catch(() => ({ items: [] })) });
    const all = (versions.data?.items ?? []).filter((v) => v.status !== 'draft');
    const published = all.find((v) => v.status === 'published')?.version ?? all[0]?.version ?? 0;
    const [chosen, choose] = useState<{ from: number; to: number } | null>(null);
    const [two, turn] = useState<'one' | 'two'>('one');
    const [reverting, revert] = useState(false);
    const [selected, select] = useState<(string | number)[] | null>(null);
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
                {all.map((v) => <button key={v.version} type="button" aria-pressed={pair.to === v.version} className={`o ${pair.to === v.version ? 'on' : ''}`} onClick={() => choose({ from: before(v.version), to: v.version })}><span className="row"><b className="m5">{t('version {n}', { n: v.version })}</b>{v.status === 'published' && <span className="tag okt">{t('published')}</span>}<span className="end meta">{when(v.createdAt)}</span></span>{v.changeSummary && <span className="t2">{v.changeSummary}</span>}<span className="meta">{who(v.createdBy)}</span></button>)}
                <p className="t3 meta vhint">{t('Every execution ends with the version it began with. A version in use is never deleted.')}</p>
            </nav>
            <div className="vmain">
                <div className="why none vsay"><div className="grow"><p className="say">{diff === null ? t('One of the texts is no JSON.') : diff.steps.size === 0 && diff.around.length === 0 ? t('Nothing differs.') : diff.steps.size > 0 && <b>{t('{n} step differs.|{n} steps differ.', { n: diff.steps.size })}</b>} {diff && diff.around.length > 0 && t('Beside the steps: {what}.', { what: [...new Set(diff.around.map((change) => String(change.at[0])))].join(', ') })}</p><p className="sub">{pair.to === 0 ? t('Executions that run now stay with their version.') : ''}</p></div>
                    {!readOnly && pair.to === 0 && <Button kind="ink" onClick={publish}>{t('Publish…')}</Button>}
                    {!readOnly && pair.to !== 0 && pair.to !== published && to !== undefined && <Button onClick={() => take(to, pair.to)}>{t('Take version {n} as the draft', { n: pair.to })}</Button>}
                    {!readOnly && pair.to === published && before(published) !== published && <Button onClick={() => revert(true)}>{t('Revert to version {n}…', { n: before(published) })}</Button>}
                </div>
                <div className="vbar"><span className="t3">{t('Compare')}</span>
                    {(['from', 'to'] as const).map((end, i) => <span key={end} className="row">{i === 1 && <span className="t3">→</span>}<select className="inp sm" aria-label={end === 'from' ? t('From') : t('To')} value={pair[end]} onChange={(event) => choose({ ...pair, [end]: Number(event.target.value) })}>{[...(hasDraft ? [0] : []), ...all.map((v) => v.version)].map((n) => <option key={n} value={n}>{name(n)}</option>)}</select></span>)}
                    <span className="end row counts"><span className="row"><Glyph name="add" tone="ok" />{t('{n} came', { n: count('add') })}</span><span className="row"><Glyph name="del" tone="bad" />{t('{n} went', { n: count('del') })}</span><span className="row"><Glyph name="chg" />{t('{n} changed', { n: count('chg') })}</span></span>
                </div>
                <Refusal error={a.error ?? b.error} />
                <div className={`vtwo ${two === 'two' ? 'wide' : ''}`}>
                    {list && <Canvas label={t('Canvas')} catalog={catalog} list={list} selected={selected} select={select} dress={dress} />}
                    <div className="vtext"><header className="mhead"><h2>{t('Text')}</h2><span className="end"><Segments small label={t('How the text is shown')} value={two} onChange={turn} options={[{ value: 'one', label: t('One column') }, { value: 'two', label: t('Two') }]} /></span></header>{from !== undefined && to !== undefined && <TextDiff key={two} from={from} to={to} two={two === 'two'} />}</div>
                </div>
            </div>
            {reverting && <RevertDialog kind={kind} code={code} to={before(published)} close={() => revert(false)} done={() => { revert(false); choose(null); reverted(); }} />}
        </div>
    );
}
