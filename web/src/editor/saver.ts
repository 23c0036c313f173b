// saver.ts - the draft goes to the server by itself, and stays in this browser until it has got there.
//
// Every save says what it rests on. When someone else has saved meanwhile the server refuses, and both texts are
// there to be merged: nothing is written over. A text that is no JSON stays in the browser alone.
import { Problem, Unreachable, put } from '../lib/api';
import type { Doc } from './doc';
import type { DefinitionKind } from './model';
import { pathOfKind, readStored, type StoredText } from './stored';

export interface Conflict { base: string; theirs: StoredText }
export type SaveState = { is: 'same' } | { is: 'waiting' | 'saving' | 'broken' } | { is: 'saved'; at: number } | { is: 'away' } | { is: 'refused'; error: unknown } | { is: 'conflict'; conflict: Conflict };

interface Kept { text: string; base: string; revision: number; at: number }

const PREFIX = 'pawl.draft:';
const PAUSE = 700;
const AGAIN = 3000;

const tab = () => {
    const own = sessionStorage.getItem('pawl.tab') ?? Math.random().toString(36).slice(2, 10);
    sessionStorage.setItem('pawl.tab', own);
    return own;
};

/** What this browser kept of a draft and no tab holds any more: after a crash, or a window that was closed too early. */
export async function takeKept(kind: DefinitionKind, code: string): Promise<Kept | null> {
    const prefix = `${PREFIX}${kind}/${code}:`;
    const held = new Set((await navigator.locks?.query())?.held?.map((lock) => lock.name) ?? []);
    const own = prefix + tab();
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix) && (key === own || !held.has(key)));
    const all = keys.map((key) => ({ key, kept: JSON.parse(localStorage.getItem(key)!) as Kept })).sort((a, b) => b.kept.at - a.kept.at);
    const found = all.find(({ key }) => key === own) ?? all.find(({ kept }) => navigator.locks !== undefined || Date.now() - kept.at > 60000);
    if (found) localStorage.removeItem(found.key);
    return found?.kept ?? null;
}

export class Saver {
    private revision: number;
    private base: string;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private busy = false;
    private ended = false;
    private state: SaveState = { is: 'same' };
    private readonly key: string;
    private readonly listeners = new Set<() => void>();
    private readonly stop: () => void;
    private release: () => void = () => undefined;

    /** `base` is what the server has: the draft of that revision, or the published text with revision 0. */
    constructor(private readonly doc: Doc, private readonly kind: DefinitionKind, private readonly code: string, base: string, revision: number) {
        this.base = base;
        this.revision = revision;
        this.key = `${PREFIX}${kind}/${code}:${tab()}`;
        void navigator.locks?.request(this.key, () => new Promise<void>((done) => { this.release = done; if (this.ended) done(); })).catch(() => undefined);
        this.stop = doc.subscribe(() => this.changed());
        if (doc.text !== base) this.changed();
    }

    subscribe = (listener: () => void) => {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
    };

    snapshot = () => this.state;

    private say(state: SaveState) {
        this.state = state;
        for (const listener of this.listeners) listener();
    }

    private keep() {
        if (this.doc.text === this.base) localStorage.removeItem(this.key);
        else localStorage.setItem(this.key, JSON.stringify({ text: this.doc.text, base: this.base, revision: this.revision, at: Date.now() } satisfies Kept));
    }

    private changed() {
        this.keep();
        if (this.state.is === 'conflict') return;
        if (this.doc.text === this.base) {
            clearTimeout(this.timer);
            if (!this.busy && this.state.is !== 'saved') this.say({ is: 'same' });
            return;
        }
        this.say({ is: this.doc.snapshot().broken ? 'broken' : 'waiting' });
        this.later(PAUSE);
    }

    private later(pause: number) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.save(), pause);
    }

    /** Save now. True: what is on the server is what is here. */
    async save(): Promise<boolean> {
        clearTimeout(this.timer);
        if (this.doc.text === this.base) return true;
        if (this.busy || this.ended || this.state.is === 'conflict' || this.doc.snapshot().broken) return false;
        const text = this.doc.text;
        this.busy = true;
        this.say({ is: 'saving' });
        try {
            const headers: Record<string, string> = this.revision > 0 ? { 'If-Match': `"${this.revision}"` } : { 'If-None-Match': '*' };
            const saved = await put<{ version: number }>(`${pathOfKind(this.kind)}/${this.code}/draft`, text, { headers });
            this.busy = false;
            this.settle(text, saved.version);
            return this.doc.text === text;
        } catch (error) {
            this.busy = false;
            await this.refused(error);
            return false;
        }
    }

    private settle(text: string, revision: number) {
        this.base = text;
        this.revision = revision;
        this.keep();
        if (this.doc.text === text) this.say({ is: 'saved', at: Date.now() });
        else this.changed();
    }

    private async refused(error: unknown) {
        if (error instanceof Unreachable) {
            this.say({ is: 'away' });
            if (!this.ended) this.later(AGAIN);
        } else if (error instanceof Problem && error.status === 412) {
            const stored = await readStored(this.kind, this.code).catch(() => null);
            const theirs = stored?.draft ?? stored?.published;
            if (!theirs) return this.say({ is: 'refused', error });
            // It was this very text that got there, and the answer that was lost.
            if (stored?.draft && theirs.text === this.doc.text) return this.settle(theirs.text, theirs.version);
            if (!stored?.draft) {
                this.revision = 0;
                return this.later(0);
            }
            this.say({ is: 'conflict', conflict: { base: this.base, theirs } });
        } else this.say({ is: 'refused', error });
    }

    /** The server's draft is another one than what this one began from. */
    meet(base: string, theirs: StoredText) {
        this.say({ is: 'conflict', conflict: { base, theirs } });
    }

    /** What was merged rests on what the server has. */
    merged(theirs: StoredText) {
        this.state = { is: 'waiting' };
        this.base = theirs.text;
        this.revision = theirs.version;
        this.changed();
        void this.save();
    }

    /** The draft is published or given up: the server has none. */
    began(text: string) {
        this.base = text;
        this.revision = 0;
        this.keep();
        this.say({ is: 'same' });
    }

    end() {
        this.ended = true;
        clearTimeout(this.timer);
        this.stop();
        this.release();
        // Leaving the page is no reason to wait: what is not there yet goes now, and is kept until it has arrived.
        if (this.doc.text !== this.base && this.state.is !== 'conflict' && !this.doc.snapshot().broken && !this.busy) {
            this.ended = false;
            void this.save().finally(() => { this.ended = true; });
        }
    }

    get rests() { return { base: this.base, revision: this.revision }; }
}
