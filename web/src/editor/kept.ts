// kept.ts - what was typed and is not on the server yet, kept in this browser: in localStorage, which a crash cannot
// interrupt, and in IndexedDB when that has no room. Each tab keeps its own, and says so while it lives.
import { draftOwner } from '../lib/owner';
import type { DefinitionKind } from './model';

/** `sent`: texts on their way to the server, or whose answer was lost; the server may have any of them by now. */
export interface Kept { text: string; base: string; revision: number; at: number; sent?: string[] }

const PREFIX = 'pawl.draft:';
const ANSWER_MS = 150;

const tab = () => {
    const own = sessionStorage.getItem('pawl.tab') ?? Math.random().toString(36).slice(2, 10);
    sessionStorage.setItem('pawl.tab', own);
    return own;
};

const prefixOf = (kind: DefinitionKind, code: string) => `${PREFIX}${draftOwner()}/${kind}/${code}:`;
export const keyOf = (kind: DefinitionKind, code: string) => prefixOf(kind, code) + tab();

// --- IndexedDB ---

/** Something may be in there. */
let usesDatabase = false;

function withStore<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    return new Promise((done, failed) => {
        const opening = indexedDB.open('pawl', 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore('drafts');
        opening.onerror = () => failed(opening.error);
        opening.onsuccess = () => {
            const change = opening.result.transaction('drafts', mode);
            const refuse = (why: unknown) => { opening.result.close(); failed(why); };
            change.onerror = change.onabort = () => refuse(change.error);
            try {
                const asked = ask(change.objectStore('drafts'));
                change.oncomplete = () => { opening.result.close(); done(asked.result); };
            } catch (why) { refuse(why); }
        };
    });
}

async function readDatabase(prefix: string): Promise<{ key: string; kept: Kept }[]> {
    try {
        const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
        const [keys, all] = await Promise.all([withStore('readonly', (store) => store.getAllKeys(range)), withStore<Kept[]>('readonly', (store) => store.getAll(range))]);
        usesDatabase ||= all.length > 0;
        return all.map((kept, i) => ({ key: String(keys[i]), kept }));
    } catch { return []; }
}

const dropFromDatabase = (key: string) => withStore('readwrite', (store) => store.delete(key)).then(() => undefined, () => undefined);

// --- keeping ---

/** Keep it. False: there is no room for it anywhere. What localStorage takes is kept when this returns. */
export function keep(key: string, kept: Kept): true | Promise<boolean> {
    try {
        localStorage.setItem(key, JSON.stringify(kept));
        return true;
    } catch {
        usesDatabase = true;
        // An older text in the first place would hide this one.
        return withStore('readwrite', (store) => store.put(kept, key)).then(() => { localStorage.removeItem(key); return true; }, () => false);
    }
}

const readLocal = (key: string): Kept | null => {
    try {
        return JSON.parse(localStorage.getItem(key) ?? 'null') as Kept | null;
    } catch { return null; }
};

/** It has arrived, or is taken back. With `text` only that text is forgotten: a page that was opened since may keep another one under the key. */
export function forget(key: string, text: string | null = null) {
    if (text === null || readLocal(key)?.text === text) localStorage.removeItem(key);
    if (usesDatabase) void dropFromDatabase(key);
}

// --- tabs ---

/** Say that this tab holds what is kept under `key`, until the function that comes back is called. */
export function hold(key: string): () => void {
    let end: () => void = () => undefined;
    void navigator.locks?.request(key, () => new Promise<void>((done) => { end = done; })).catch(() => undefined);
    const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('pawl.drafts');
    if (channel) channel.onmessage = (event: MessageEvent<{ ask?: string }>) => { if (event.data.ask && key.startsWith(event.data.ask)) channel.postMessage({ held: key }); };
    return () => { end(); channel?.close(); };
}

/** What other tabs hold. There are no locks on a page that came by plain HTTP from another machine: the tabs are asked. */
async function heldKeys(prefix: string): Promise<Set<string>> {
    if (navigator.locks) return new Set((await navigator.locks.query()).held?.map((lock) => lock.name ?? ''));
    const held = new Set<string>();
    const channel = new BroadcastChannel('pawl.drafts');
    channel.onmessage = (event: MessageEvent<{ held?: string }>) => { if (event.data.held) held.add(event.data.held); };
    channel.postMessage({ ask: prefix });
    await new Promise((done) => setTimeout(done, ANSWER_MS));
    channel.close();
    return held;
}

/** What this browser kept of a draft and no tab holds any more: after a crash, or a window that was closed too early. It stays until `drop`, called when the server has it or this tab keeps it itself. */
export async function findKept(kind: DefinitionKind, code: string): Promise<{ kept: Kept; drop: (isArrived: boolean) => void } | null> {
    const prefix = prefixOf(kind, code);
    const own = keyOf(kind, code);
    const local = Object.keys(localStorage).filter((key) => key.startsWith(prefix)).flatMap((key) => { const kept = readLocal(key); return kept ? [{ key, kept }] : []; });
    const all = [...local, ...(await readDatabase(prefix))];
    if (all.length === 0) return null;
    const held = await heldKeys(prefix);
    const free = all.filter(({ key }) => key === own || !held.has(key)).sort((a, b) => b.kept.at - a.kept.at);
    const found = free.find(({ key }) => key === own) ?? free[0];
    if (!found) return null;
    return { kept: found.kept, drop: (isArrived) => { if (isArrived || found.key !== own) forget(found.key); } };
}
