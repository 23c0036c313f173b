// Merge.tsx - someone else has saved this draft: what fits is merged, what does not is chosen, and nothing is lost until then.
import { json } from '@codemirror/lang-json';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../lib/api';
import { Glyph } from '../lib/icons';
import { Button, Dialog } from '../lib/parts';
import { Say, t } from '../lib/text';
import { when } from '../lib/time';
import { look, rootIn } from './code';
import { read } from './edits';
import { type Change, type Choice, compare, merged, nameOfPlace } from './merge';
import type { Conflict } from './saver';

const short = (text: string | undefined) => (text === undefined ? t('removed') : text.length > 22 ? `${text.slice(0, 21)}…` : text);
const says = (changes: Change[]) => (changes.length === 1 ? short(changes[0]!.after) : t('{n} change|{n} changes', { n: changes.length }));

const describe = (change: Change) => (change.kind === 'add' ? t('new') : change.kind === 'remove' ? t('removed') : change.before === undefined ? t('new') : t('was {what}', { what: short(change.before) }));

/** What will be saved, held against what the other one saved; it can be typed in. */
function Result({ theirs, text, change }: { theirs: string; text: string; change: (to: string) => void }) {
    const host = useRef<HTMLDivElement>(null);
    const view = useRef<EditorView | null>(null);
    const quiet = useRef(false);
    useEffect(() => {
        const root = rootIn(host.current!);
        view.current = new EditorView({
            parent: root, root,
            state: EditorState.create({ doc: text, extensions: [lineNumbers(), history(), keymap.of([...historyKeymap, ...defaultKeymap]), json(), look, unifiedMergeView({ original: theirs, mergeControls: false, gutter: false }), EditorView.contentAttributes.of({ 'aria-label': t('What will be saved'), tabindex: '0' }), EditorView.updateListener.of((update) => { if (update.docChanged && !quiet.current) change(update.state.doc.toString()); })] }),
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
    return <div ref={host} className="cmhost" />;
}

export function Merge({ conflict, mine, save, discard }: { conflict: Conflict; mine: string; save: (text: string) => void; discard: () => void }) {
    const { base, theirs, isPublished } = conflict;
    const merge = useMemo(() => compare(base, mine, theirs.text), [base, mine, theirs.text]);
    const [chosen, choose] = useState<Map<Choice, 'mine' | 'theirs'>>(new Map());
    const [typed, type] = useState<string | null>(null);
    const [asking, ask] = useState(false);
    const [at, go] = useState(0);
    const users = useQuery({ queryKey: ['users', 'names'], queryFn: () => call<{ items: { id: string; name: string }[] }>('/users?limit=100').catch(() => ({ items: [] })) });
    const who = users.data?.items.find((user) => user.id === theirs.createdBy)?.name ?? t('Somebody');
    const choices = merge?.choices ?? [];
    const left = choices.filter((choice) => !chosen.has(choice)).length;
    const made = useMemo(() => (merge ? merged(mine, theirs.text, merge, new Set(choices.filter((choice) => chosen.get(choice) === 'mine'))) : mine), [merge, mine, theirs.text, chosen]);
    const text = typed ?? made;
    const isRead = read(text).tree !== null;
    const one = choices[at];
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
                    {choices.length > 0 && <h2>{t('To choose')}</h2>}
                    {choices.map((choice, i) => <button key={i} type="button" className={`o ${i === at ? 'on' : ''}`} onClick={() => go(i)}><Glyph name={chosen.has(choice) ? 'completed' : 'held'} tone={chosen.has(choice) ? 'ok' : 'held'} /><span className="grow cut"><b className="m5">{nameOfPlace(choice.at)}</b><span className="meta cut">{chosen.get(choice) === 'mine' ? t('yours was taken') : chosen.get(choice) === 'theirs' ? t('theirs was taken') : t('both changed it')}</span></span></button>)}
                    {merge && merge.fits.length > 0 && <h2>{t('Fit together')}</h2>}
                    {merge?.fits.map((fit, i) => <div key={i} className="o flat"><Glyph name="completed" tone="ok" /><span className="grow cut"><span className="cut">{nameOfPlace(fit.change.at)}</span><span className="meta cut">{describe(fit.change)}</span></span><span className="meta nowrap">{fit.by === 'mine' ? t('you') : fit.by === 'theirs' ? who : t('both')}</span></div>)}
                </nav>
                <div className="mmain">
                    {one && (
                        <div className="mchoice">
                            <h2><b>{nameOfPlace(one.at)}</b> {one.mine[0]?.before && <span className="t3">{t('was {what}', { what: short(one.mine[0].before) })}</span>}</h2>
                            <div className="mtwo">
                                {([['mine', t('You'), one.mine, t('Take yours: {what}', { what: says(one.mine) })], ['theirs', who, one.theirs, t('Take theirs: {what}', { what: says(one.theirs) })]] as const).map(([side, name, changes, label]) => (
                                    <section key={side} className={chosen.get(one) === side ? 'on' : ''}><header><b className="m5">{name}</b><Button small className="end" onClick={() => { type(null); choose(new Map(chosen).set(one, side)); }}>{label}</Button></header><pre className="mono" tabIndex={0}>{changes.map((change) => change.after ?? t('removed')).join('\n')}</pre></section>
                                ))}
                            </div>
                        </div>
                    )}
                    <header className="mhead"><h2>{t('What will be saved')}</h2><span className="t3">{t('can be typed in')}</span><span className="end row">{isRead ? <><Glyph name="completed" tone="ok" />{t('it is JSON')}</> : <><Glyph name="error" tone="bad" />{t('it is no JSON')}</>}</span></header>
                    <Result theirs={theirs.text} text={text} change={type} />
                </div>
            </div>
            {asking && <Dialog title={t('Discard your draft?')} lead={<Say text="What **{who}** saved stays; what you changed since is gone." values={{ who }} />} onClose={() => ask(false)} actions={<><Button kind="quiet" onClick={() => ask(false)}>{t('Go back')}</Button><Button kind="bad solid" onClick={discard}>{t('Discard yours')}</Button></>} />}
        </div>
    );
}
