// JsonTab.tsx - the text itself. It may be left broken and come back to; what is found is said below its line.
import { autocompletion, closeBrackets, closeBracketsKeymap, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap } from '@codemirror/language';
import { EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, WidgetType } from '@codemirror/view';
import { format, getLocation, parseTree } from 'jsonc-parser';
import { useEffect, useRef, useState } from 'react';
import type { Finding } from '../lib/api';
import { Glyph, Icon } from '../lib/icons';
import { t } from '../lib/text';
import { number } from '../lib/time';
import type { Catalog } from './catalog';
import { look, rootIn } from './code';
import { useDesk } from './desk';
import { type Broken, nodeAt, type Path, pathOf } from './edits';
import { type Fix, fixOf } from './fix';
import { brief } from './known';
import { type DefinitionKind, everyItem, samePath, titleOf } from './model';
import { iconOf } from '../lib/steps';
import { type Spot, spotAt } from './where';

interface Note { from: number; to: number; message: string; hint?: string; severity: string; fix: Fix | null }

class SaidRow extends WidgetType {
    constructor(private readonly note: Note, private readonly use: (fix: Fix) => void) { super(); }

    override eq(other: SaidRow) { return other.note.message === this.note.message && other.note.from === this.note.from && other.note.severity === this.note.severity; }

    toDOM() {
        const row = document.createElement('div');
        row.className = `said ${this.note.severity}`;
        const sign = document.createElement('span');
        sign.className = 'sign';
        sign.textContent = this.note.severity === 'error' ? '!' : '△';
        const words = document.createElement('span');
        words.textContent = this.note.message;
        row.append(sign, words);
        const fix = this.note.fix;
        if (fix) {
            const button = document.createElement('button');
            button.type = 'button';
            button.textContent = t('Use {what}', { what: fix.label });
            button.onclick = () => this.use(fix);
            row.append(button);
        } else if (this.note.hint) {
            const hint = document.createElement('span');
            hint.className = 'hint';
            hint.textContent = this.note.hint;
            row.append(hint);
        }
        const whole = document.createElement('div');
        whole.className = 'saidrow';
        whole.append(row);
        return whole;
    }
}

const setNotes = StateEffect.define<Note[]>();

const notesField = (use: (fix: Fix) => void) => StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(set, tr) {
        let now = set.map(tr.changes);
        for (const effect of tr.effects) {
            if (!effect.is(setNotes)) continue;
            const all: { at: number; to: number; deco: Decoration }[] = [];
            for (const note of effect.value) {
                const from = Math.min(note.from, tr.newDoc.length);
                const to = Math.max(from, Math.min(note.to, tr.newDoc.length));
                if (to > from) all.push({ at: from, to, deco: Decoration.mark({ class: `wavy ${note.severity}` }) });
                const end = tr.newDoc.lineAt(Math.min(from, tr.newDoc.length)).to;
                all.push({ at: end, to: end, deco: Decoration.widget({ widget: new SaidRow(note, use), block: true, side: 1 }) });
            }
            now = Decoration.set(all.map(({ at, to, deco }) => deco.range(at, to)), true);
        }
        return now;
    },
    provide: (field) => EditorView.decorations.from(field),
});

/** Names of fields and words of choices, from the catalog. */
const completion = (catalog: Catalog, kind: DefinitionKind) => (context: CompletionContext) => {
    const text = context.state.doc.toString();
    const tree = parseTree(text);
    if (!tree) return null;
    const location = getLocation(text, context.pos);
    const before = context.matchBefore(/"[^"\n]*/) ?? context.matchBefore(/\w*/);
    if (!before || (before.from === before.to && !context.explicit)) return null;
    const quoted = before.text.startsWith('"');
    const from = quoted ? before.from + 1 : before.from;
    if (location.isAtPropertyKey) {
        const spot = spotAt(catalog, kind, tree, location.path.slice(0, -1));
        const there = new Set((nodeAt(tree, location.path.slice(0, -1) as Path)?.children ?? []).map((child) => String(child.children?.[0]?.value)));
        return { from, options: (spot.fields ?? []).filter((field) => field.state === 'now' && !there.has(field.name)).map((field) => ({ label: field.name, detail: field.label, info: field.help, apply: quoted ? field.name : `"${field.name}": ` })) };
    }
    const spot = spotAt(catalog, kind, tree, location.path);
    const words = spot.field?.name === 'type' && spot.field.kind === 'string' ? catalog.commands.map((c) => ({ label: c.name, detail: c.label, info: c.help })) : (spot.field?.options ?? []).map((label) => ({ label }));
    return words.length ? { from, options: words.map((word) => ({ ...word, apply: quoted ? word.label : `"${word.label}"` })) } : null;
};

function notesOf(text: string, findings: Finding[], broken: Broken | null, good: Parameters<typeof fixOf>[1]): Note[] {
    if (broken) return [{ from: broken.offset, to: broken.offset + Math.max(1, broken.length), message: t('This is no JSON: {what}', { what: broken.message.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase() }), severity: 'error', fix: null }];
    if (good.text !== text) return [];
    return findings.map((finding) => {
        const path = pathOf(good.tree, finding.pointer);
        let node = nodeAt(good.tree, path);
        for (let up = path; !node && up.length > 0; up = up.slice(0, -1)) node = nodeAt(good.tree, up.slice(0, -1));
        const isWhole = node && node.length > 120;
        return { from: node?.offset ?? 0, to: node ? (isWhole ? node.offset + 1 : node.offset + node.length) : 0, message: finding.message, hint: finding.hint, severity: finding.severity, fix: fixOf(finding, good) };
    });
}

export function JsonTab({ goTo, readOnly }: { goTo: { pointer: string; n: number } | null; readOnly: boolean }) {
    const { doc, good, catalog, kind, findings, list, known } = useDesk();
    const { text, broken } = doc.snapshot();
    const host = useRef<HTMLDivElement>(null);
    const view = useRef<EditorView | null>(null);
    const [at, move] = useState<{ line: number; column: number; spot: Spot | null; path: Path }>({ line: 1, column: 1, spot: null, path: [] });
    useEffect(() => {
        const extensions: Extension = [
            lineNumbers(), foldGutter(), highlightActiveLine(), highlightActiveLineGutter(), drawSelection(), bracketMatching(), closeBrackets(), json(), look,
            autocompletion({ override: [completion(catalog, kind)] }), keymap.of([...closeBracketsKeymap, ...completionKeymap, ...foldKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
            notesField((fix) => doc.apply(fix.edits)), EditorState.readOnly.of(readOnly), EditorView.contentAttributes.of({ 'aria-label': t('The text of the definition'), tabindex: '0' }),
            EditorView.updateListener.of((update) => {
                if (!update.selectionSet && !update.docChanged) return;
                const pos = update.state.selection.main.head;
                const line = update.state.doc.lineAt(pos);
                const source = update.state.doc.toString();
                const tree = parseTree(source);
                const path = tree ? (getLocation(source, pos).path as Path) : [];
                move({ line: line.number, column: pos - line.from + 1, path, spot: tree ? spotAt(catalog, kind, tree, path) : null });
            }),
        ];
        const root = rootIn(host.current!);
        const close = doc.show(extensions, (state, take) => (view.current = new EditorView({ state, parent: root, root, dispatchTransactions: take })));
        view.current?.focus();
        return () => {
            close();
            view.current = null;
        };
    }, [doc, catalog, kind, readOnly]);
    useEffect(() => {
        view.current?.dispatch({ effects: setNotes.of(notesOf(text, findings, broken, good)) });
    }, [text, findings, broken, good]);
    const goPath = (path: Path) => {
        const node = nodeAt(good.tree, path) ?? nodeAt(good.tree, path.slice(0, -1));
        if (!node || !view.current) return;
        view.current.dispatch({ selection: { anchor: Math.min(node.offset, view.current.state.doc.length) }, effects: EditorView.scrollIntoView(Math.min(node.offset, view.current.state.doc.length), { y: 'center' }) });
        view.current.focus();
    };
    useEffect(() => {
        if (goTo) goPath(pathOf(good.tree, goTo.pointer));
    }, [goTo]);
    // F8 goes round through what is wrong, from the cursor on.
    useEffect(() => {
        const press = (event: KeyboardEvent) => {
            const now = view.current;
            if (event.key !== 'F8' || !now) return;
            event.preventDefault();
            const all = notesOf(text, findings, broken, good).map((note) => note.from).sort((a, b) => a - b);
            const pos = now.state.selection.main.head;
            const next = event.shiftKey ? (all.filter((from) => from < pos).at(-1) ?? all.at(-1)) : (all.find((from) => from > pos) ?? all[0]);
            if (next === undefined) return;
            now.dispatch({ selection: { anchor: Math.min(next, now.state.doc.length) }, effects: EditorView.scrollIntoView(Math.min(next, now.state.doc.length), { y: 'center' }) });
            now.focus();
        };
        addEventListener('keydown', press);
        return () => removeEventListener('keydown', press);
    }, [text, findings, broken, good]);
    const errors = findings.filter((finding) => finding.severity === 'error').length;
    const here = [...everyItem(list)].filter(({ item }) => item.at.every((part, i) => part === at.path[i])).at(-1)?.item ?? null;
    const about = known.filter((one) => one.has && one.group !== 'Functions').slice(0, 8);
    return (
        <div className="jsontab">
            <div className="jtext"><div ref={host} className="cmhost" /><footer className="jfoot">{errors > 0 && <span className="nerr"><Glyph name="error" tone="bad" />{t('{n} error|{n} errors', { n: errors })}</span>}{findings.length > errors && <span className="nwarn"><Glyph name="held" tone="held" />{t('{n} warning|{n} warnings', { n: findings.length - errors })}</span>}{findings.length > 0 && <span className="t3">{t('F8: next')}</span>}<span>{t('line {line}, column {column}', { line: at.line, column: at.column })}</span><span>{t('{n} line|{n} lines', { n: text.split('\n').length })} · {t('{n} of 64 kB', { n: number(new TextEncoder().encode(text).length / 1024, 1) })}</span>{!readOnly && !broken && <button type="button" className="btn link" title={t('Break the text into lines, one member a line where it is long')} onClick={() => doc.apply(format(text, undefined, { tabSize: 2, insertSpaces: true }).map((edit) => ({ from: edit.offset, to: edit.offset + edit.length, insert: edit.content })))}>{t('Lay it out')}</button>}<span className="end">{broken ? <b className="c-bad">{t('the canvas shows what it said last')}</b> : t('the canvas shows the same text')}</span></footer></div>
            <aside className="inspector" aria-label={t('Steps')}>
                <header className="ihead"><div><h2>{kind === 'scenario' ? t('Steps') : t('Commands')}</h2><p className="t3">{t('as the text says now; pressing one goes there')}</p></div></header>
                <div className="jsteps">
                    {[...everyItem(list)].map(({ item, within }) => {
                        const node = nodeAt(good.tree, item.at);
                        const n = findings.filter((f) => f.severity === 'error' && pathOf(good.tree, f.pointer).slice(0, item.at.length).join('/') === item.at.join('/') ).length;
                        return <button key={item.at.join('/')} type="button" className={`jstep d${Math.min(within.length, 4)} ${here && samePath(here.at, item.at) ? 'on' : ''}`} onClick={() => goPath(item.at)}><Icon name={iconOf(item.step)} small /><span className="cut">{titleOf(item)}</span>{n > 0 && <Glyph name="error" tone="bad" />}<span className="end t3 num">{node ? doc.lineOf(node.offset) : ''}</span></button>;
                    })}
                </div>
                {at.spot?.field && <section className="isect"><h3 className="h">{at.spot.field.label}<span className="tag mono">{at.spot.field.name}</span></h3><p className="t2">{at.spot.field.help}</p><dl className="kv"><dt>{t('Of')}</dt><dd className="mono">{at.spot.of}</dd><dt>{t('Kind')}</dt><dd>{at.spot.field.kind}</dd><dt>{t('Needed')}</dt><dd>{at.spot.field.required ? t('yes') : t('no')}</dd>{at.spot.field.options && <><dt>{t('Words')}</dt><dd className="mono">{at.spot.field.options.join(', ')}</dd></>}</dl></section>}
                {about.length > 0 && <section className="isect"><h3 className="h">{t('Known here')}</h3>{about.map((one) => <div key={one.label} className="row knownrow"><code className="cut">{one.label}</code><code className="end t3 cut">{brief(one.value)}</code></div>)}</section>}
            </aside>
        </div>
    );
}

