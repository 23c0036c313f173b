// desk.tsx - what every part of the constructor works on: the text, the catalog, what is wrong, what is chosen.
import { createContext, useContext } from 'react';
import type { Finding } from '../lib/api';
import type { List } from '../flow/layout';
import type { Catalog } from './catalog';
import type { Doc, Good } from './doc';
import { insert, move, nodeAt, type Path, pointerOf, remove, renameMember, renameStep, set } from './edits';
import type { Known } from './known';
import { type DefinitionKind, insertItem } from './model';

/** An execution whose values are shown. */
export interface Sample { id: string; name: string; context: unknown }

export interface Desk {
    doc: Doc; good: Good; catalog: Catalog; kind: DefinitionKind; code: string; list: List; findings: Finding[]; readOnly: boolean;
    selected: Path | null; select: (path: Path | null) => void; known: Known[]; sample: Sample | null; procedures: { code: string; name: string | null }[];
    /** Where a problem leads to: what is folded around it opens. */
    aimed: string;
}

export const DeskContext = createContext<Desk | null>(null);

export function useDesk(): Desk {
    const desk = useContext(DeskContext);
    if (!desk) throw new Error('there is no desk');
    return desk;
}

/** What can be done to the text; each is one step of the history, but typing, which goes on. */
export const acts = (doc: Doc) => ({
    set: (path: Path, value: unknown, apart = false) => doc.change(({ text, tree }) => set(text, tree, path, value), apart),
    /** Take a member away; an object that is empty then goes with it. */
    drop: (path: Path) => doc.change(({ text, tree }) => {
        let whole = path;
        while (whole.length > 1 && typeof whole.at(-2) === 'string' && (nodeAt(tree, whole.slice(0, -1))?.children?.length ?? 2) === 1 && nodeAt(tree, whole.slice(0, -1))?.type === 'object' && whole.length > 2) whole = whole.slice(0, -1);
        return remove(text, tree, whole);
    }),
    remove: (path: Path) => doc.change(({ text, tree }) => remove(text, tree, path)),
    insert: (list: Path, index: number, value: unknown) => doc.change((good) => insertItem(good, list, index, value)),
    add: (list: Path, value: unknown) => doc.change(({ text, tree }) => insert(text, tree, list, nodeAt(tree, list)?.children?.length ?? 0, value)),
    move: (from: Path, list: Path, index: number) => doc.change(({ text, tree }) => move(text, tree, from, list, index)),
    renameStep: (step: Path, to: string) => doc.change(({ text, tree }) => renameStep(text, tree, step, to), false),
    renameMember: (object: Path, name: string, to: string) => doc.change(({ tree }) => renameMember(tree, object, name, to), false),
});

export function valueAt(good: Good, path: Path): unknown {
    let value: unknown = good.value;
    for (const part of path) {
        if (value === null || typeof value !== 'object') return undefined;
        value = (value as Record<string | number, unknown>)[part];
    }
    return value;
}

/** Numbers as they are written. */
export const writtenAt = (good: Good, path: Path): string => {
    const node = nodeAt(good.tree, path);
    return node ? good.text.slice(node.offset, node.offset + node.length) : '';
};

/** What is wrong at this very place. */
export const findingsAt = (findings: Finding[], path: Path) => findings.filter((finding) => finding.pointer === pointerOf(path));
/** What is wrong there or below it. */
export const findingsIn = (findings: Finding[], path: Path) => {
    const pointer = pointerOf(path);
    return findings.filter((finding) => finding.pointer === pointer || finding.pointer.startsWith(`${pointer}/`));
};
