// Editor.tsx - the constructor: one text, and the tabs that show it. It owns what is chosen and what is checked.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { Bar } from '../app/Shell';
import { all as allOf, call, type Finding, post } from '../lib/api';
import { Glyph, Icon } from '../lib/icons';
import { keyOf } from '../lib/keys';
import type { Node, Slot } from '../flow/layout';
import { Bones, Button, Refusal } from '../lib/parts';
import { language, t } from '../lib/text';
import { when } from '../lib/time';
import type { Process } from '../lib/types';
import { StartDialog } from '../screens/executions/StartDialog';
import type { Dress } from '../flow/boxes';
import { Flow } from '../flow/Flow';
import { ErrorMark, undoName } from './marks';
import type { Catalog } from './catalog';
import { acts, type Desk, DeskContext, findingsIn, type Sample } from './desk';
import { Doc } from './doc';
import { DryRun, trialView } from './DryRun';
import type { Pin, Trial } from './dryrun';
import { type Path, pathOf } from './edits';
import { Inspector } from './Inspector';
import { knownAt } from './known';
import { codesOf, type DefinitionKind, everyItem, itemAt, listOf, newItem, rootOf, samePath, titleOf } from './model';
import { clipOf, duplicateOf, keepClip, pasteOf } from './clip';
import { entriesOf, type Entry, PartsPalette } from './PartsPalette';
import { errorsFirst, Problems } from './Problems';
import { PublishDialog } from './Publish';
import { nameOfExecution, SampleContext, useExecutions, useWhole } from './Sample';
import { findKept } from './kept';
import { Saver, type SaveState } from './saver';
import { latestOf, readStored, readVersion, type Stored } from './stored';
import type { TestAnswer } from './testing';
import './editor.css';
import './views.css';

const JsonTab = lazy(() => import('./JsonTab').then((m) => ({ default: m.JsonTab })));
const SagaView = lazy(() => import('./Saga').then((m) => ({ default: m.SagaView })));
const Tests = lazy(() => import('./Tests').then((m) => ({ default: m.Tests })));
const Versions = lazy(() => import('./Versions').then((m) => ({ default: m.Versions })));
const Merge = lazy(() => import('./Merge').then((m) => ({ default: m.Merge })));

export const useCatalog = () => useQuery({ queryKey: ['catalog', language()], staleTime: 300000, queryFn: () => call<Catalog>(`/catalog?lang=${language()}`) });

/** What the server finds wrong with the text, a moment after the last letter. */
function useFindings(kind: DefinitionKind, text: string, isBroken: boolean): { findings: Finding[]; checked: boolean } {
    const [found, say] = useState<{ findings: Finding[]; of: string }>({ findings: [], of: '' });
    useEffect(() => {
        if (isBroken) return;
        const stop = new AbortController();
        const timer = setTimeout(() => void post<{ errors: Finding[] }>('/validate', `{"kind":"${kind}","definition":${text}}`, { signal: stop.signal }).then((answer) => say({ findings: answer.errors, of: text }), () => undefined), 350);
        return () => {
            clearTimeout(timer);
            stop.abort();
        };
    }, [kind, text, isBroken]);
    return { findings: isBroken ? [] : found.findings, checked: found.of === text };
}

function SavedWord({ state }: { state: SaveState }) {
    switch (state.is) {
        case 'saved': return <span className="t3">{t('saved {when}', { when: when(state.at, { seconds: true }) })}</span>;
        case 'saving': case 'waiting': return <span className="t3">{t('saving…')}</span>;
        case 'broken': return <span className="nwarn"><Glyph name="held" tone="held" />{t('kept here only: it is no JSON')}</span>;
        case 'away': return <span className="nwarn"><Glyph name="held" tone="held" />{t('kept here: the server does not answer')}</span>;
        case 'refused': return <span className="nerr"><Glyph name="error" tone="bad" />{t('not saved')}</span>;
        default: return null;
    }
}

const tabWords = (kind: DefinitionKind): Record<string, string> => ({ steps: t('Steps'), ...(kind === 'scenario' ? { saga: t('Saga') } : {}), json: 'JSON', tests: t('Tests'), versions: t('Versions') });

interface Opened { doc: Doc; saver: Saver; stored: Stored; restored: boolean }

/** One version as it was published: to be read, and saved nowhere. */
async function openVersion(kind: DefinitionKind, code: string, version: number): Promise<Opened> {
    const [stored, shown] = await Promise.all([readStored(kind, code), readVersion(kind, code, version)]);
    const doc = new Doc(shown.text, shown.text);
    return { doc, saver: new Saver(doc, kind, code, shown.text, 0, version, shown.isWindows), stored, restored: false };
}

async function openDraft(kind: DefinitionKind, code: string): Promise<Opened> {
    const found = await findKept(kind, code);
    const stored = await readStored(kind, code);
    const there = latestOf(stored)!;
    const published = stored.published?.version ?? 0;
    const kept = found && found.kept.text !== there.text ? found.kept : null;
    const isFresh = kept !== null && [kept.base, ...(kept.sent ?? [])].includes(there.text);
    const doc = new Doc(kept ? kept.text : there.text, there.text);
    const saver = new Saver(doc, kind, code, kept && !isFresh ? kept.base : there.text, there.version, published, there.isWindows);
    if (kept && !isFresh) saver.meet(kept.base, stored);
    found?.drop(kept === null);
    return { doc, saver, stored, restored: isFresh };
}

export function Editor({ kind, code, readOnly }: { kind: DefinitionKind; code: string; readOnly: boolean }) {
    const [opened, open] = useState<Opened | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const catalog = useCatalog();
    const { version, at } = useSearch({ strict: false }) as { version?: string; at?: string };
    const fixed = version && /^\d+$/.test(version) ? Number(version) : null;
    useEffect(() => {
        let isOver = false;
        let mine: Opened | null = null;
        open(null);
        refuse(null);
        (fixed === null ? openDraft(kind, code) : openVersion(kind, code, fixed)).then((one) => {
            mine = one;
            if (isOver) one.saver.end();
            else open(one);
        }, refuse);
        return () => {
            isOver = true;
            mine?.saver.end();
        };
    }, [kind, code, fixed]);
    if (!opened || !catalog.data) return (
        <>
            <Bar live={false} busy={!error && !catalog.error} title={<Crumb name={code} />} />
            {error || catalog.error ? <div className="pagehead"><Refusal error={error ?? catalog.error} /></div> : <Bones />}
        </>
    );
    return <Desktop key={`${kind}/${code}/${fixed}`} kind={kind} code={code} readOnly={readOnly || fixed !== null} version={fixed} at={at} catalog={catalog.data} opened={opened} />;
}

const Crumb = ({ name, children }: { name: string; children?: ReactNode }) => <nav className="crumb" aria-label={t('Where this is')}><Link to="/processes">{t('Processes')}</Link><Icon name="right" small /><h1 className="b cut">{name}</h1>{children}</nav>;

/** `version`: the one that is read, null while a draft is written; `at`: what to show first, a pointer. */
function Desktop({ kind, code, readOnly, version, at, catalog, opened }: { kind: DefinitionKind; code: string; readOnly: boolean; version: number | null; at?: string; catalog: Catalog; opened: Opened }) {
    const { doc, saver } = opened;
    const shown = useSyncExternalStore(doc.subscribe, doc.snapshot);
    const saving = useSyncExternalStore(saver.subscribe, saver.snapshot);
    const [tab, turn] = useState('steps');
    const [selected, choose] = useState<Path | null>(null);
    const [slot, chooseSlot] = useState<Slot | null>(null);
    const [focus, aim] = useState<{ pointer: string; n: number } | null>(null);
    const [dialog, show] = useState<'publish' | 'start' | null>(null);
    const [trying, tryIt] = useState(false);
    const [trial, showTrial] = useState<Trial | null>(null);
    const [pins, pin] = useState<Pin[]>([]);
    const [tested, showTests] = useState<TestAnswer | null>(null);
    const [stored, restore] = useState<Stored>(opened.stored);
    const [told, tell] = useState(opened.restored ? t('What you had not saved is here again.') : '');
    const search = useRef<HTMLInputElement>(null);
    const client = useQueryClient();
    const procedures = useQuery({ queryKey: ['procedures'], queryFn: () => allOf<Process>('/procedures') });
    const functions = useQuery({ queryKey: ['functions', 'known'], queryFn: () => allOf<{ name: string; code?: string; definition?: { params?: { name: string }[] } }>('/functions') });
    const good = shown.good;
    const list = useMemo(() => (good ? listOf(catalog, kind, good.value, t('otherwise'), t('no condition yet')) : { at: rootOf(kind), items: [] }), [good, catalog, kind]);
    const { findings, checked } = useFindings(kind, shown.text, shown.broken !== null);
    const item = useMemo(() => (selected ? itemAt(list, selected) : null), [list, selected]);
    const select = useCallback((path: Path | null) => { choose(path); chooseSlot(null); }, []);

    // The step that is meant stays the one that is meant, wherever it goes.
    const meant = useRef<string | null>(null);
    useEffect(() => {
        if (!selected) return void (meant.current = null);
        const there = [...everyItem(list)].find(({ item: one }) => samePath(one.at, selected))?.item;
        const own = there?.step.code ?? null;
        if (kind === 'scenario' && meant.current !== null && own !== meant.current) {
            const moved = [...everyItem(list)].find(({ item: one }) => one.step.code === meant.current)?.item;
            if (moved) return choose(moved.at);
        }
        if (!there) return choose(null);
        meant.current = own;
    }, [list]);
    useEffect(() => { meant.current = item?.step.code ?? null; }, [selected]);

    const samples = useExecutions(code, kind === 'scenario');
    const [sampleId, chooseSample] = useState('');
    const whole = useWhole(sampleId);
    useEffect(() => { if (!sampleId && samples.data?.[0]) chooseSample(samples.data[0].id); }, [samples.data]);
    const sample: Sample | null = useMemo(() => (whole.data ? { id: whole.data.id, name: nameOfExecution(whole.data), context: whole.data.context ?? { input: whole.data.input } } : null), [whole.data]);
    const known = useMemo(() => knownAt(catalog, kind, list, item?.at ?? null, Array.isArray(good?.value.input) ? good.value.input : [], sample?.context, (functions.data ?? []).map((f) => ({ name: f.name ?? f.code ?? '', params: f.definition?.params }))), [catalog, kind, list, item, good, sample, functions.data]);

    const placeFor = (where: Slot | null): { list: Path; index: number } => {
        const fallback: { list: Path; index: number } = item && typeof item.at.at(-1) === 'number' ? { list: item.at.slice(0, -1), index: Number(item.at.at(-1)) + 1 } : { list: rootOf(kind), index: list.items.length };
        return where ?? fallback;
    };
    const put = (value: unknown, at: { list: Path; index: number }) => {
        acts(doc).insert(at.list, at.index, value);
        const path = [...at.list, at.index];
        meant.current = null;
        select(path);
        return path;
    };
    const add = (entry: Entry, where: Slot | null = slot) => {
        if (readOnly || !good) return;
        const path = put(newItem(catalog, kind, entry.part, codesOf(list), entry.label), placeFor(where));
        setTimeout(() => aim({ pointer: `${path.map((p) => `/${p}`).join('')}/${kind === 'scenario' ? 'name' : ''}`, n: Date.now() }), 30);
        if (tab !== 'steps') turn('steps');
    };
    const dropOn = (where: Slot, event: React.DragEvent) => {
        const part = event.dataTransfer.getData('text/pawl-part');
        const moved = event.dataTransfer.getData('text/pawl-move');
        if (part) {
            const entry = entriesOf(catalog, kind).find((one) => one.key === part);
            if (entry) add(entry, where);
        } else if (moved) acts(doc).move(JSON.parse(moved) as Path, where.list, where.index);
    };
    const go = (finding: Finding) => {
        if (tab === 'json') return aim({ pointer: finding.pointer, n: Date.now() });
        turn('steps');
        const found = good ? itemAt(list, pathOf(good.tree, finding.pointer)) : null;
        select(found?.at ?? null);
        setTimeout(() => aim({ pointer: finding.pointer, n: Date.now() }), 30);
    };
    useEffect(() => { if (at) go({ pointer: at, code: '', message: '', severity: 'error' }); }, [at]);
    const remove = (path: Path) => {
        select(null);
        acts(doc).remove(path);
    };
    const move = (path: Path, by: number) => {
        const index = Number(path.at(-1));
        const target = path.slice(0, -1);
        if (!Number.isInteger(index) || index + by < 0) return;
        meant.current = null;
        acts(doc).move(path, target, by > 0 ? index + 2 : index - 1);
        choose([...target, Math.max(0, index + by)]);
    };
    const showChosen = () => requestAnimationFrame(() => document.querySelector<HTMLElement>('.node.sel, .lane.sel > .hd')?.focus());
    const copy = (path: Path) => {
        if (readOnly || !good || typeof path.at(-1) !== 'number') return;
        put(duplicateOf(good, path, kind, codesOf(list)), { list: path.slice(0, -1), index: Number(path.at(-1)) + 1 });
        showChosen();
    };
    const paste = () => {
        const raw = good && !readOnly ? pasteOf(kind, codesOf(list)) : null;
        if (!raw) return;
        put(raw, placeFor(slot));
        showChosen();
    };
    const keys = (event: React.KeyboardEvent, node: Node) => {
        const held = event.ctrlKey || event.metaKey;
        const key = event.key.toLowerCase();
        const order = [...everyItem(list)].map(({ item: one }) => one);
        const i = order.findIndex((one) => samePath(one.at, node.at));
        const step = (to: number) => { const next = order[to]; if (next) { event.preventDefault(); select(next.at); requestAnimationFrame(() => document.querySelector<HTMLElement>('.node.sel, .lane.sel > .hd')?.focus()); } };
        if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
            event.preventDefault();
            move(node.at, event.key === 'ArrowUp' ? -1 : 1);
        } else if (event.key === 'ArrowDown') step(i + 1);
        else if (event.key === 'ArrowUp') step(i - 1);
        else if (event.key === 'Delete' || event.key === 'Backspace') {
            step(i + 1 < order.length ? i + 1 : i - 1);
            remove(node.at);
        } else if (held && key === 'd') {
            event.preventDefault();
            copy(node.at);
        } else if (held && (key === 'c' || key === 'x') && good) {
            event.preventDefault();
            keepClip(clipOf(good, node.at, kind));
            if (key === 'x') remove(node.at);
        } else if (event.key === 'Enter' && samePath(node.at, selected)) {
            event.preventDefault();
            document.querySelector<HTMLElement>('.inspector .isect :is(input, textarea, select)')?.focus();
        }
    };
    // Undo and redo are the history's, wherever the cursor stands: the fields show the same text.
    useEffect(() => {
        const press = (event: KeyboardEvent) => {
            const key = keyOf(event).toLowerCase();
            if ((event.ctrlKey || event.metaKey) && (key === 'z' || key === 'y')) {
                if ((event.target as HTMLElement).shadowRoot) return; // CodeMirror has the same history
                if (document.querySelector('[role=dialog]')) return;
                event.preventDefault();
                if (key === 'y' || event.shiftKey) doc.redo();
                else doc.undo();
            } else if ((event.ctrlKey || event.metaKey) && key === 's') {
                event.preventDefault();
                void saver.save();
            } else if ((event.ctrlKey || event.metaKey) && key === 'v' && (event.target as HTMLElement).closest('.ed-canvas')) {
                event.preventDefault();
                paste();
            } else if (key === 'escape' && (event.target as HTMLElement).closest('.inspector') && !document.querySelector('[role=dialog]')) {
                showChosen();
            } else if (key === 'a' && !event.ctrlKey && !event.metaKey && !event.altKey && !(event.target as HTMLElement).closest('input, textarea, select') && !(event.target as HTMLElement).shadowRoot && !document.querySelector('[role=dialog]')) {
                event.preventDefault();
                search.current?.focus();
            }
        };
        addEventListener('keydown', press);
        return () => removeEventListener('keydown', press);
    });

    const desk: Desk | null = good ? { doc, good, catalog, kind, code, list, findings, readOnly: readOnly || shown.broken !== null, selected, select, known, sample, aimed: focus?.pointer ?? '', procedures: [...Object.keys((good.value.procedures as object) ?? {}).map((name) => ({ code: name, name: null })), ...(procedures.data ?? []).map((p) => ({ code: p.code, name: p.name }))] } : null;
    const errors = findings.filter((finding) => finding.severity === 'error');
    const hasDraft = version === null && (saver.draft > 0 || saving.is !== 'same');
    const nextVersion = (stored.published?.version ?? 0) + 1;
    const reload = async () => {
        restore(await readStored(kind, code));
        void client.invalidateQueries({ queryKey: ['processes'] });
        void client.invalidateQueries({ queryKey: ['versions'] });
    };
    const dress = (node: Node): Dress => {
        const own = findingsIn(findings, node.at);
        const inner = node.step.branch || node.step.loop || node.step.parallel ? own.filter((f) => !/\/(steps|branches)\/\d/.test(f.pointer.slice(node.at.join('/').length))) : own;
        return { mark: <ErrorMark errors={inner.filter((f) => f.severity === 'error').length} warnings={inner.filter((f) => f.severity !== 'error').length} /> };
    };

    const way = useMemo(() => (trying ? trialView(trial, pins, list) : null), [trying, trial, pins, list]);
    if (saving.is === 'conflict') return (
        <div className="ed"><Bar live={false} title={<Crumb name={good?.value.name ?? code}><span className="tag">{t('merging two drafts')}</span></Crumb>} />
            <Suspense fallback={<Bones />}><Merge conflict={saving.conflict} mine={shown.text} save={(text) => { doc.replace(text); saver.merged(saving.conflict.theirs); }} discard={() => { doc.replace(saving.conflict.theirs.text); saver.merged(saving.conflict.theirs); }} /></Suspense></div>
    );
    const words = tabWords(kind);
    return (
        <div className="ed">
            <Bar live={false} title={<Crumb name={good?.value.name ?? code}><span className="tag nowrap">{version !== null ? t('version {n}', { n: version }) : hasDraft ? t('draft of {n}', { n: nextVersion }) : stored.published ? t('version {n}', { n: stored.published.version }) : t('draft')}</span><span className="savedword nowrap"><SavedWord state={saving} /></span></Crumb>}>
                <div className="seg tabsbar" role="tablist" aria-label={t('Views')}>{Object.entries(words).map(([name, label]) => <button key={name} type="button" role="tab" aria-selected={tab === name} className={tab === name ? 'on' : ''} onClick={() => turn(name)}>{label}</button>)}</div>
                {!readOnly && <><button type="button" className="btn quiet sq" aria-label={t('Undo')} title={`${t('Undo')} (Ctrl Z)`} disabled={!shown.canUndo} onClick={doc.undo}><Icon name="undo" /></button>
                    <button type="button" className="btn quiet sq" aria-label={t('Redo')} title={`${t('Redo')} (Ctrl Y)`} disabled={!shown.canRedo} onClick={doc.redo}><Icon name="redo" /></button><i className="sep" /></>}
                {tab === 'steps' && <Button icon="step" aria-pressed={trying} onClick={() => { tryIt(!trying); showTrial(null); }}>{t('Dry-run')}</Button>}
                {kind === 'scenario' && stored.published && <Button icon="play" onClick={() => show('start')}>{t('Start…')}</Button>}
                {!readOnly && (errors.length > 0 || shown.broken
                    ? <Button onClick={() => (errors[0] ? go(errorsFirst(findings)[0]!) : turn('json'))}><Glyph name="error" tone="bad" />{shown.broken ? t('The text is no JSON') : t('{n} error before publishing|{n} errors before publishing', { n: errors.length })}</Button>
                    : hasDraft && tab !== 'versions' && <Button kind="ink" onClick={() => show('publish')}>{t('Publish…')}</Button>)}
            </Bar>
            {saving.is === 'refused' && <div className="pagehead"><Refusal error={saving.error} sentence={t('The draft was not saved; it is kept in this browser.')} /></div>}
            {saver.isUnkept && saving.is !== 'saved' && saving.is !== 'same' && <div className="edtold held" role="status"><Glyph name="held" tone="held" /><span className="grow">{t('This browser has no room to keep what is not saved yet. Leave this page only when it is saved.')}</span></div>}
            {version !== null && <div className="edtold" role="status"><Glyph name="completed" tone="none" /><span className="grow">{t('This is version {n} as it was published. Nothing in it can be changed.', { n: version })}</span><Link className="btn sm" to="/processes/$kind/$code" params={{ kind: `${kind}s`, code }} search={{} as never}>{t('Open what is edited')}</Link></div>}
            {told && <div className="edtold" role="status"><Glyph name="completed" tone="ok" /><span className="grow">{told}</span><button type="button" className="btn quiet sm sq" aria-label={t('Close')} onClick={() => tell('')}><Icon name="x" small /></button></div>}
            {desk && <DeskContext value={desk}><SampleContext value={{ id: sampleId, choose: chooseSample, all: samples.data ?? [] }}>
                {tab === 'saga' ? <Suspense fallback={<Bones />}><SagaView /></Suspense> : tab === 'tests' ? <Suspense fallback={<Bones />}><Tests answer={tested} show={showTests} /></Suspense> : tab === 'versions' ? <Suspense fallback={<Bones />}><Versions hasDraft={hasDraft} publish={() => (errors.length > 0 ? go(errorsFirst(findings)[0]!) : show('publish'))} take={(text, version) => { doc.replace(text); turn('steps'); tell(t('The draft is what version {n} was. Undo brings back what it was before.', { n: version })); }} reverted={() => { tell(t('The version before is published again.')); void reload(); }} discard={async () => { await saver.discard(); tell(t('The draft is discarded. Undo brings it back.')); await reload(); }} /></Suspense> : tab === 'json' ? <Suspense fallback={<Bones />}><JsonTab goTo={focus} readOnly={readOnly} /></Suspense> : (
                    <div className={`edgrid ${readOnly ? 'reading' : ''}`}>
                        {!readOnly && <PartsPalette catalog={catalog} kind={kind} add={add} search={search} />}
                        <div className="edmid">
                            <Flow label={t('Canvas')} list={list} selected={selected} select={select} dress={way ? way.dress : dress} way={way?.way} wayTone="way" margin={way ? 64 : 32} undo={way ? undefined : (step) => undoName(step.rollback, catalog)} edit={desk.readOnly ? undefined : { chosen: slot, choose: (to) => { chooseSlot(to); if (to) search.current?.focus(); }, drop: dropOn, keys }} />
                            <Problems doc={doc} good={good!} catalog={catalog} list={list} findings={findings} broken={shown.broken ? { line: doc.lineOf(shown.broken.offset) } : null} go={go} checked={checked} />
                        </div>
                        {trying ? <DryRun pins={pins} pin={pin} trial={trial} show={showTrial} close={() => tryIt(false)} saved={() => saver.save()} hasDraft={hasDraft} keepAsTest={(test) => { acts(doc).add(['meta', 'tests'], test); showTests(null); turn('tests'); tryIt(false); }} /> : <Inspector item={item} focus={focus} copy={copy} />}
                    </div>
                )}
            </SampleContext></DeskContext>}
            {!desk && <Suspense fallback={<Bones />}><Refusal error={t('The text is no JSON')} /></Suspense>}
            {dialog === 'publish' && <PublishDialog kind={kind} code={code} text={shown.text} published={stored.published?.text ?? null} warnings={findings.filter((finding) => finding.severity !== 'error')} nameOfStep={(own) => { const found = [...everyItem(list)].find(({ item: one }) => one.step.code === own); return found ? titleOf(found.item) : own; }} saved={async () => ((await saver.save()) ? saver.draft : null)} close={() => show(null)} another={() => { show(null); void saver.lookAgain(); }} done={(version) => { show(null); saver.began(shown.text, version); tell(t('Version {n} is published.', { n: version })); void reload(); }} />}
            {dialog === 'start' && <StartDialog code={code} close={() => show(null)} />}
        </div>
    );
}
