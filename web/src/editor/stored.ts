// stored.ts - a definition as the server keeps it: its texts to the letter, which JSON.parse would not give.
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { callText } from '../lib/api';
import type { DefinitionKind } from './model';

/** `text` has the line ends of the editor; `isWindows`: the server has others. */
export interface StoredText { version: number; text: string; isWindows: boolean; createdAt: string; createdBy: string | null; changeSummary: string | null; name: string | null }
export interface Stored { published: StoredText | null; draft: StoredText | null }

export const pathOfKind = (kind: DefinitionKind) => `/${kind}s`;

/** The editor knows one kind of line end; what is saved has the kind that was read. */
export const readText = (raw: string) => ({ text: raw.replace(/\r\n?/g, '\n'), isWindows: /\r\n/.test(raw) && !/(^|[^\r])\n/.test(raw) });
export const writeText = (text: string, isWindows: boolean) => (isWindows ? text.replace(/\n/g, '\r\n') : text);

function versionIn(answer: string, node: Node | undefined): StoredText | null {
    const text = node && findNodeAtLocation(node, ['definition']);
    if (!node || !text) return null;
    const member = (name: string) => findNodeAtLocation(node, [name])?.value as never;
    return { version: member('version'), ...readText(answer.slice(text.offset, text.offset + text.length)), createdAt: member('createdAt'), createdBy: member('createdBy') ?? null, changeSummary: member('changeSummary') ?? null, name: member('name') ?? null };
}

export async function readStored(kind: DefinitionKind, code: string): Promise<Stored> {
    const answer = await callText(`${pathOfKind(kind)}/${code}`);
    const tree = parseTree(answer);
    const at = (name: string) => (tree ? versionIn(answer, findNodeAtLocation(tree, [name])) : null);
    return { published: at('published'), draft: at('draft') };
}

/** What one goes on from: the draft, or what is published, with the revision of the draft that there is not. */
export const latestOf = ({ draft, published }: Stored): StoredText | null => draft ?? (published && { ...published, version: 0 });

/** One version; `n` from 1 on. */
export async function readVersion(kind: DefinitionKind, code: string, n: number): Promise<StoredText> {
    const answer = await callText(`${pathOfKind(kind)}/${code}/versions/${n}`);
    return versionIn(answer, parseTree(answer))!;
}
