// Merge.tsx - someone else has saved this draft: what fits is merged, what does not is chosen, and nothing is lost until then.
import { json } from '@codemirror/lang-json';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers, WidgetType } from '@codemirror/view';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { useQuery } from '@tanstack/react-query';
import { getNodeValue } from 'jsonc-parser';
import { useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../lib/api';
import { Glyph, Icon } from '../lib/icons';
import { Button, Dialog } from '../lib/parts';
import { Say, t } from '../lib/text';
import { when } from '../lib/time';
import { look, rootIn } from './code';
import { nodeAt, read } from './edits';
import { canKeepBoth, type Change, type Choice, compare, freeName, locate, merged, nameOfPlace, type Part } from './merge';
import type { Conflict } from './saver';

const short = (text: string | undefined) => (text === undefined ? t('removed') : text.length > 22 ? `${text.slice(0, 21)}…` : text);
const says = (changes: Change[]) => (changes.length === 1 ? short(changes[0]!.after) : t('{n} change|{n} changes', { n: changes.length }));

const describe = (change: Change) => (change.kind === 'add' ? t('new') : change.kind === 'remove' ? t('removed') : change.before === undefined ? t('new') : t('was {what}', { what: short(change.before) }));

/** The names of steps by their codes. */
function namesIn(text: string): [string, string][] {
    const found: [string, string][] = [];
    const walk = (value: unknown) => {
        if (Array.isArray(value)) value.forEach(walk);
        else if (value && typeof value === 'object') {
            const own = value as { code?: unknown; name?: unknown };
            if (typeof own.code === 'string' && typeof own.name === 'string') found.push([own.code, own.name]);
            Object.values(value).forEach(walk);
        }
    };
    const { tree } = read(text);
    if (tree) walk(getNodeValue(tree));
    return found;
}

/** A place in the text that is not chosen yet, and what there is to choose from. */
interface Hole { at: Part[]; says: string }

class HoleWidget extends WidgetType {
    constructor(private readonly says: string) { super(); }

    override eq(other: HoleWidget) { return other.says === this.says; }

    toDOM() {
        const box = document.createElement('span');
        box.className = 'hole';
        box.textContent = this.says;
        return box;
    }
}

const setHoles = StateEffect.define<Hole[]>();

const holesField = StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(set, tr) {
        let now = set.map(tr.changes);
        for (const effect of tr.effects) {
            if (!effect.is(setHoles)) continue;
            const { tree } = read(tr.newDoc.toString());
            const all = effect.value.flatMap(({ at, says }) => {
                const path = tree && locate(tree, at);
                const node = path && nodeAt(tree, path);
                if (!node) return [];
                const line = tr.newDoc.lineAt(node.offset);
                const mark = Decoration.line({ class: 'holeline' }).range(line.from);
                return node.offset + node.length > line.to ? [mark] : [mark, Decoration.replace({ widget: new HoleWidget(says) }).range(node.offset, node.offset + node.length)];
            });
            now = Decoration.set(all, true);
        }
        return now;
    },
    provide: (field) => EditorView.decorations.from(field),
});

/** What will be saved, held against what the other one saved; it can be typed in. */
function Result({ theirs, text, holes, at, change }: { theirs: string; text: string; holes: Hole[]; /** The place that is chosen now: it is in sight. */ at: Part[] | null; change: (to: string) => void }) {
    const host = useRef<HTMLDivElement>(null);
    const view = useRef<EditorView | null>(null);
    const quiet = useRef(false);
    useEffect(() => {
        const root = rootIn(host.current!);
        view.current = new EditorView({
            parent: root, root,
            state: EditorState.create({ doc: text, extensions: [lineNumbers(), history(), keymap.of([...historyKeymap, ...defaultKeymap]), json(), look, holesField, unifiedMergeView({ original: theirs, mergeControls: false, gutter: false }), EditorView.contentAttributes.of({ 'aria-label': t('What will be saved'), tabindex: '0' }), EditorView.updateListener.of((update) => { if (update.docChanged && !quiet.current) change(update.state.doc.toString()); })] }),
        });
        return () => view.current?.destroy();
    }, [theirs]);
    useEffect(() => {
        const now = view.current;
        if (!now || now.state.doc.toString() === text) return;
        quiet.current = true;
        now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: text } });
        quiet.current = false;
    }, [text]);
    useEffect(() => { view.current?.dispatch({ effects: setHoles.of(holes) }); }, [text, holes]);
    useEffect(() => {
        const { tree } = read(text);
        const path = tree && at && locate(tree, at);
        const node = path && nodeAt(tree, path);
        if (node && view.current) view.current.dispatch({ effects: EditorView.scrollIntoView(Math.min(node.offset, view.current.state.doc.length), { y: 'center' }) });
    }, [at, theirs]);
    return <div ref={host} className="cmhost" />;
}

export function Merge({ conflict, mine, save, discard }: { conflict: Conflict; mine: string; save: (text: string) => void; discard: () => void }) {
    const { base, theirs, isPublished } = conflict;
    const merge = useMemo(() => compare(base, mine, theirs.text), [base, mine, theirs.text]);
    const [chosen, choose] = useState<Map<Choice, 'mine' | 'theirs' | 'both'>>(new Map());
    const [typed, type] = useState<string | null>(null);
    const [asking, ask] = useState(false);
    const [at, go] = useState(0);
    const users = useQuery({ queryKey: ['users', 'names'], queryFn: () => call<{ items: { id: string; name: string }[] }>('/users?limit=100').catch(() => ({ items: [] })) });
    const who = users.data?.items.find((user) => user.id === theirs.createdBy)?.name ?? t('Somebody');
    const choices = useMemo(() => merge?.choices ?? [], [merge]);
    const left = choices.filter((choice) => !chosen.has(choice)).length;
    const made = useMemo(() => (merge ? merged(mine, theirs.text, merge, new Set(choices.filter((choice) => chosen.get(choice) === 'mine')), new Set(choices.filter((choice) => chosen.get(choice) === 'both'))) : mine), [merge, mine, theirs.text, chosen]);
    const text = typed ?? made;
    const isRead = read(text).tree !== null;
    const one = choices[at];
    const holes = useMemo(() => choices.filter((choice) => !chosen.has(choice)).map((choice): Hole => ({ at: choice.theirs[0]!.at, says: t('choose: {mine} or {theirs}', { mine: says(choice.mine), theirs: says(choice.theirs) }) })), [choices, chosen]);
    const names = useMemo(() => new Map([base, theirs.text, mine].flatMap((source) => namesIn(source))), [base, theirs.text, mine]);
    const place = (where: Part[]) => nameOfPlace(where.map((part) => (typeof part === 'string' ? part : { id: names.get(part.id) ?? part.id })));
    const take = (choice: Choice, side: 'mine' | 'theirs' | 'both') => { type(null); choose(new Map(chosen).set(choice, side)); };
    return (
        <div className="merge">
            <div className="why held msay"><Glyph name="held" tone="held" /><div className="grow">
                <p className="say"><b>{isPublished ? t('{who} published this at {when}, while you were changing it.', { who, when: when(theirs.createdAt, { seconds: true }) }) : t('{who} saved this draft at {when}, while you were changing it.', { who, when: when(theirs.createdAt, { seconds: true }) })}</b> {merge ? t('{n} change fits together.|{n} changes fit together.', { n: merge.fits.length }) : t('One of the texts is no JSON: put them together by hand.')} {choices.length > 0 && <b>{t('{n} is for you to choose.|{n} are for you to choose.', { n: left })}</b>}</p>
                <p className="sub">{t('Nothing is lost: both drafts are kept until you save.')}</p></div>
                <Button kind="bad" onClick={() => ask(true)}>{t('Discard yours…')}</Button>
                {left > 0 ? <Button onClick={() => go(choices.findIndex((choice) => !chosen.has(choice)))}><Glyph name="held" tone="held" />{t('{n} choice before saving|{n} choices before saving', { n: left })}</Button>
                    : <Button kind="ink" disabled={!isRead} onClick={() => save(text)}>{t('Save what was merged')}</Button>}
            </div>
            <div className="mbody">
                <nav className="mlist" aria-label={t('Changes')}>
                    {choices.length > 0 && <h2>{left > 0 ? t('To choose, {left} left of {n}', { left, n: choices.length }) : t('To choose, all is chosen')}</h2>}
                    {choices.map((choice, i) => <button key={i} type="button" className={`o ${i === at ? 'on' : ''}`} onClick={() => go(i)}><Glyph name={chosen.has(choice) ? 'completed' : 'held'} tone={chosen.has(choice) ? 'ok' : 'held'} /><span className="grow cut"><b className="m5">{place(choice.at)}</b><span className="meta cut">{chosen.get(choice) === 'mine' ? t('yours was taken') : chosen.get(choice) === 'both' ? t('both are kept') : chosen.get(choice) === 'theirs' ? t('theirs was taken') : t('both changed it')}</span></span></button>)}
                    {merge && merge.fits.length > 0 && <h2>{t('Fit together, {n}', { n: merge.fits.length })}</h2>}
                    {merge?.fits.map((fit, i) => <div key={i} className="o flat"><Glyph name="completed" tone="ok" /><span className="grow cut"><span className="cut">{place(fit.change.at)}</span><span className="meta cut">{describe(fit.change)}</span></span><span className="meta nowrap">{fit.by === 'mine' ? t('you') : fit.by === 'theirs' ? who : t('both')}</span></div>)}
                </nav>
                <div className="mmain">
                    {one && (
                        <div className="mchoice">
                            <h2><b>{place(one.at)}</b> {one.mine[0]?.before && <span className="t3">{t('was {what}', { what: short(one.mine[0].before) })}</span>}<span className="end row">{canKeepBoth(one) && <Button small aria-pressed={chosen.get(one) === 'both'} onClick={() => take(one, 'both')}>{t('Keep both, yours as {name}', { name: freeName((one.at.at(-1) as { id: string }).id, mine, theirs.text) })}</Button>}{choices.length > 1 && <><button type="button" className="btn quiet sq sm" aria-label={t('The choice before')} onClick={() => go((at + choices.length - 1) % choices.length)}><Icon name="up" small /></button><button type="button" className="btn quiet sq sm" aria-label={t('The next choice')} onClick={() => go((at + 1) % choices.length)}><Icon name="down" small /></button></>}</span></h2>
                            <div className="mtwo">
                                {([['mine', t('You'), one.mine, t('Take yours: {what}', { what: says(one.mine) })], ['theirs', who, one.theirs, t('Take theirs: {what}', { what: says(one.theirs) })]] as const).map(([side, name, changes, label]) => (
                                    <section key={side} className={chosen.get(one) === side ? 'on' : ''}><header><b className="m5">{name}</b><Button small className="end" aria-pressed={chosen.get(one) === side} onClick={() => take(one, side)}>{label}</Button></header><pre className="mono" tabIndex={0}>{changes.map((change) => change.after ?? t('removed')).join('\n')}</pre></section>
                                ))}
                            </div>
                        </div>
                    )}
                    <header className="mhead"><h2>{t('What will be saved')}</h2><span className="t3">{t('can be typed in')}</span><span className="end row">{left > 0 && <><Glyph name="held" tone="held" />{t('{n} to choose', { n: left })}</>}{isRead ? <><Glyph name="completed" tone="ok" />{t('it is JSON')}</> : <><Glyph name="error" tone="bad" />{t('it is no JSON')}</>}</span></header>
                    <Result theirs={theirs.text} text={text} holes={holes} at={one?.at ?? null} change={type} />
                </div>
            </div>
            {asking && <Dialog title={t('Discard your draft?')} lead={<Say text="What **{who}** saved stays; what you changed since is gone." values={{ who }} />} onClose={() => ask(false)} actions={<><Button kind="quiet" onClick={() => ask(false)}>{t('Go back')}</Button><Button kind="bad solid" onClick={discard}>{t('Discard yours')}</Button></>} />}
        </div>
    );
}
