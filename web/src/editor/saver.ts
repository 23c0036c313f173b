// saver.ts - the draft goes to the server by itself, and stays in this browser until it has got there.
//
// Every save says what it rests on: the draft that was read, or the version that was published when there was none.
// When someone else has saved or published meanwhile, both texts are there to be merged: nothing is written over. A
// text that is no JSON stays in the browser alone.
//
// why: decision 0301
import { Problem, Unreachable, put, remove } from '../lib/api';
import type { Doc } from './doc';
import { forget, hold, keep, keyOf } from './kept';
import type { DefinitionKind } from './model';
import { latestOf, pathOfKind, readStored, type Stored, type StoredText, writeText } from './stored';

/** Two texts that began from `base`. `theirs` has the revision of the draft, 0 when it is published and there is none. */
export interface Conflict { base: string; theirs: StoredText; isPublished: boolean }
export type SaveState = { is: 'same' } | { is: 'waiting' | 'saving' | 'broken' } | { is: 'saved'; at: number } | { is: 'away' } | { is: 'refused'; error: unknown } | { is: 'conflict'; conflict: Conflict };

const PAUSE = 700;
const AGAIN = 3000;
const SENT_KEPT = 3;

const isMissing = (error: unknown) => error instanceof Problem && error.status === 404;
const isSignedOut = (error: unknown) => error instanceof Problem && error.status === 401;

export class Saver {
    private timer: ReturnType<typeof setTimeout> | undefined;
    private running: Promise<boolean> | null = null;
    private ended = false;
    private state: SaveState = { is: 'same' };
    /** Texts that were sent since the last answer: what this page sent is no one else's change. */
    private sent: string[] = [];
    private readonly key: string;
    private readonly listeners = new Set<() => void>();
    private readonly stop: () => void;
    private readonly release: () => void;
    /** There is no room in this browser: what is not saved is nowhere else than on this page. */
    isUnkept = false;

    /** `base` is what the server has: the draft of that revision, or the published text with revision 0. */
    constructor(private readonly doc: Doc, private readonly kind: DefinitionKind, private readonly code: string, private base: string, private revision: number, private published: number, private isWindows: boolean) {
        this.key = keyOf(kind, code);
        this.release = hold(this.key);
        this.stop = doc.subscribe(() => this.changed());
        addEventListener('beforeunload', this.warn);
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

    private warn = (event: BeforeUnloadEvent) => {
        if (this.isUnkept && this.doc.text !== this.base) event.preventDefault();
    };

    private keep() {
        if (this.doc.text === this.base) {
            this.isUnkept = false;
            forget(this.key, this.ended ? this.doc.text : null);
            return;
        }
        const { text } = this.doc;
        const kept = keep(this.key, { text, base: this.base, revision: this.revision, at: Date.now(), sent: this.sent });
        if (kept === true) {
            this.isUnkept = false;
            return;
        }
        void kept.then((isKept) => {
            if (this.doc.text !== text || this.isUnkept === !isKept) return;
            this.isUnkept = !isKept;
            this.say({ ...this.state });
            if (this.isUnkept && this.state.is === 'waiting') this.later(0);
        });
    }

    private changed() {
        this.keep();
        if (this.state.is === 'conflict') return;
        if (this.doc.text === this.base) {
            clearTimeout(this.timer);
            if (!this.running && this.state.is !== 'saved') this.say({ is: 'same' });
            return;
        }
        this.say({ is: this.doc.snapshot().broken ? 'broken' : 'waiting' });
        this.later(PAUSE);
    }

    private later(pause: number) {
        clearTimeout(this.timer);
        if (!this.ended) this.timer = setTimeout(() => void this.save(), pause);
    }

    /** Save now. True: what is on the server is what is here. */
    async save(): Promise<boolean> {
        clearTimeout(this.timer);
        while (this.running) await this.running;
        if (this.doc.text === this.base) return true;
        if (this.state.is === 'conflict' || this.doc.snapshot().broken) return false;
        this.running = this.send().finally(() => { this.running = null; });
        return this.running;
    }

    private async send(): Promise<boolean> {
        const text = this.doc.text;
        this.say({ is: 'saving' });
        try {
            // No draft that the server could compare: what was published since would be written over unseen.
            if (this.revision === 0 && !this.isMetWith(await this.readStored())) return this.doc.text === this.base;
            const headers: Record<string, string> = this.revision > 0 ? { 'If-Match': `"${this.revision}"` } : { 'If-None-Match': '*' };
            this.sent = [...this.sent.slice(1 - SENT_KEPT), text];
            this.keep();
            const saved = await put<{ version: number }>(`${pathOfKind(this.kind)}/${this.code}/draft`, writeText(text, this.isWindows), { headers });
            this.settle(text, saved.version);
            return this.doc.text === text;
        } catch (error) {
            await this.refused(error).catch((why: unknown) => this.fail(why));
            return false;
        }
    }

    private settle(text: string, revision: number) {
        this.base = text;
        this.revision = revision;
        this.sent = [];
        this.keep();
        if (this.doc.text === text) this.say({ is: 'saved', at: Date.now() });
        else this.changed();
    }

    private readStored = (): Promise<Stored> => readStored(this.kind, this.code).catch((error: unknown) => {
        if (isMissing(error)) return { published: null, draft: null };
        throw error;
    });

    /** Hold what the server has against what this one rests on. True: it can be saved as the draft of `revision`. */
    private isMetWith(stored: Stored): boolean {
        const { draft, published } = stored;
        const version = published?.version ?? 0;
        if (draft) {
            // It was this very text that got there, and the answer that was lost.
            if (draft.text === this.doc.text) return this.settle(draft.text, draft.version), false;
            if (draft.text !== this.base && !this.sent.includes(draft.text)) return this.meet(this.base, stored), false;
            this.base = draft.text;
            this.revision = draft.version;
        } else if (published && version !== this.published && published.text !== this.base) {
            this.published = version;
            if (published.text === this.doc.text) return this.began(published.text, version), false;
            return this.meet(this.base, stored), false;
        } else this.revision = 0;
        this.published = version;
        return true;
    }

    private async refused(error: unknown) {
        if (!(error instanceof Problem && error.status === 412)) return this.fail(error);
        if (this.isMetWith(await this.readStored())) this.later(0);
    }

    private fail(error: unknown) {
        if (!(error instanceof Unreachable)) return this.say({ is: 'refused', error });
        this.say({ is: 'away' });
        this.later(AGAIN);
    }

    /** The server has another text than what this one began from. */
    meet(base: string, stored: Stored) {
        this.published = stored.published?.version ?? 0;
        this.say({ is: 'conflict', conflict: { base, theirs: latestOf(stored)!, isPublished: stored.draft === null } });
    }

    /** Hold what is here against what the server has now, though nothing is to be saved. */
    async lookAgain() {
        const stored = await this.readStored();
        if ((latestOf(stored)?.text ?? this.base) !== this.base) this.meet(this.base, stored);
    }

    /** What was merged rests on what the server has. */
    merged(theirs: StoredText) {
        this.state = { is: 'waiting' };
        this.base = theirs.text;
        this.revision = theirs.version;
        this.isWindows = theirs.isWindows;
        this.changed();
        void this.save();
    }

    /** The draft is published or given up: the server has none. */
    began(text: string, published: number) {
        this.base = text;
        this.revision = 0;
        this.published = published;
        this.keep();
        this.say({ is: 'same' });
    }

    /** Give the draft up: the server drops it, and what is published stands here again. Undo brings it back. */
    async discard() {
        clearTimeout(this.timer);
        while (this.running) await this.running;
        const stored = await this.readStored();
        if (!stored.published) return;
        if (stored.draft && stored.draft.version !== this.revision) return this.meet(this.base, stored);
        if (stored.draft) await remove(`${pathOfKind(this.kind)}/${this.code}/draft`, { headers: { 'If-Match': `"${this.revision}"` } });
        this.began(stored.published.text, stored.published.version);
        this.isWindows = stored.published.isWindows;
        this.doc.replace(stored.published.text);
    }

    end() {
        this.ended = true;
        clearTimeout(this.timer);
        removeEventListener('beforeunload', this.warn);
        this.stop();
        this.release();
        // Leaving the page is no reason to wait: what is not there yet goes now, and is kept until it has arrived.
        if (this.state.is === 'refused' && isSignedOut(this.state.error)) return;
        if (this.doc.text !== this.base) void this.save();
    }

    /** The draft on the server that this one rests on; 0 when there is none. */
    get draft() { return this.revision; }
}
