// doc.ts - the definition that is edited: its text with one history, and what the text says. Everything that is
// shown is read from here; everything that changes it goes through here.
//
// why: decision 0300
import { history, isolateHistory, redo, redoDepth, undo, undoDepth } from '@codemirror/commands';
import { Compartment, EditorState, type Extension, Transaction, type TransactionSpec } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { getNodeValue, type Node } from 'jsonc-parser';
import { type Broken, type Edit, type Path, read } from './edits';
import type { Definition } from '../lib/types';

/** A text that could be read. */
export interface Good { text: string; tree: Node; value: Definition & Record<string, unknown> }

/** What is drawn: the text as it stands, the last one that could be read, and what is wrong with this one. */
export interface Snapshot { text: string; good: Good | null; broken: Broken | null; canUndo: boolean; canRedo: boolean }

export class Doc {
    private readonly shown = new Compartment();
    private state: EditorState;
    private view: EditorView | null = null;
    private readonly listeners = new Set<() => void>();
    private now: Snapshot;

    /** `before` is what could be read last, for a text that cannot. */
    constructor(text: string, before = text) {
        this.state = EditorState.create({ doc: text, extensions: [history({ newGroupDelay: 600 }), this.shown.of([])] });
        const { tree } = read(before);
        this.now = this.look(tree ? { text: before, tree, value: getNodeValue(tree) as Good['value'] } : null);
    }

    subscribe = (listener: () => void) => {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
    };

    snapshot = () => this.now;

    get text() { return this.now.text; }

    private look(before: Good | null): Snapshot {
        const text = this.state.doc.toString();
        const { tree, broken } = before?.text === text ? { tree: before.tree, broken: null } : read(text);
        const good = tree ? (before?.text === text ? before : { text, tree, value: getNodeValue(tree) as Good['value'] }) : before;
        return { text, good, broken, canUndo: undoDepth(this.state) > 0, canRedo: redoDepth(this.state) > 0 };
    }

    private take(state: EditorState) {
        const same = state.doc.eq(this.state.doc);
        this.state = state;
        if (same && undoDepth(state) > 0 === this.now.canUndo && redoDepth(state) > 0 === this.now.canRedo) return;
        this.now = this.look(this.now.good);
        for (const listener of this.listeners) listener();
    }

    private dispatch(spec: TransactionSpec) {
        if (this.view) this.view.dispatch(spec);
        else this.take(this.state.update(spec).state);
    }

    /** One change, one step of the history; typing on in one place is one step, too. */
    apply(edits: Edit[], apart = true) {
        if (edits.length === 0) return;
        this.dispatch({ changes: edits, annotations: [Transaction.userEvent.of(apart ? 'input.form' : 'input.type.form'), ...(apart ? [isolateHistory.of('full')] : [])] });
    }

    /** A change of what could be read last. Nothing happens while the text is broken. */
    change(make: (good: Good) => Edit[], apart = true) {
        const { good, broken } = this.now;
        if (good && !broken) this.apply(make(good), apart);
    }

    /** Another text in place of this one, as one step that can be undone. */
    replace(text: string) {
        const before = this.text;
        let start = 0;
        while (start < Math.min(before.length, text.length) && before[start] === text[start]) start++;
        let end = 0;
        while (end < Math.min(before.length, text.length) - start && before[before.length - 1 - end] === text[text.length - 1 - end]) end++;
        this.apply([{ from: start, to: before.length - end, insert: text.slice(start, text.length - end) }]);
    }

    undo = () => undo({ state: this.state, dispatch: (tr) => this.send(tr) });
    redo = () => redo({ state: this.state, dispatch: (tr) => this.send(tr) });

    private send(tr: Transaction) {
        if (this.view) this.view.dispatch(tr);
        else this.take(tr.state);
    }

    /** The editor of the JSON tab is a view of this very state. */
    show(extensions: Extension, make: (state: EditorState, take: (trs: readonly Transaction[], view: EditorView) => void) => EditorView): () => void {
        this.take(this.state.update({ effects: this.shown.reconfigure(extensions) }).state);
        const view = make(this.state, (trs, v) => {
            v.update(trs);
            this.take(v.state);
        });
        this.view = view;
        return () => {
            this.view = null;
            view.destroy();
            this.take(this.state.update({ effects: this.shown.reconfigure([]) }).state);
        };
    }

    /** Lines from 1 on. */
    lineOf = (offset: number) => this.state.doc.lineAt(Math.min(offset, this.state.doc.length)).number;
}

export type { Path };
