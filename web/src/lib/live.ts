// live.ts - what moves on the server, as it moves.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Ask, Hint, News, StreamName } from './live-worker';

type Listener = (news: News) => void;

const AGAIN_MS = 2000;
const HINTS_MOST = 1000; // from here on it is everything
const listeners = new Set<Listener>();
let port: MessagePort | Worker | null = null;
const wanted = new Map<StreamName, number>();
const ask = (what: Ask) => port?.postMessage(what);
let state = { connected: false, since: Date.now(), isMissed: false };
const stateListeners = new Set<() => void>();

function hear(news: News) {
    if (news.kind === 'state') {
        // Missed: a stream that was open, or a server that does not answer; not a stream that is about to open.
        state = { connected: news.connected, since: news.since, isMissed: !news.connected && (state.connected || state.isMissed || news.away) };
        stateListeners.forEach((listener) => listener());
    }
    listeners.forEach((listener) => listener(news));
}

/** Begin to listen; after signing in. */
export function connect() {
    if (port) return;
    const worker = typeof SharedWorker === 'undefined'
        ? new Worker(new URL('./live-worker.ts', import.meta.url), { type: 'module', name: 'pawl-live' })
        : new SharedWorker(new URL('./live-worker.ts', import.meta.url), { type: 'module', name: 'pawl-live' });
    port = worker instanceof Worker ? worker : worker.port;
    // Its script could not be read, because the server has gone in that moment: try again.
    worker.onerror = () => {
        port = null;
        hear({ kind: 'state', connected: false, away: true, since: state.isMissed ? state.since : Date.now() });
        setTimeout(connect, AGAIN_MS);
    };
    port.onmessage = (event: MessageEvent) => hear(event.data as News); // which starts a port
    wantAll();
}

const wantAll = () => wanted.forEach((_, stream) => ask({ ask: 'want', stream }));
// A page that the browser keeps for the back button says good-bye all the same: it must say again what it wants.
addEventListener('pagehide', () => ask({ ask: 'bye' }));
addEventListener('pageshow', (event) => { if ((event as PageTransitionEvent).persisted) wantAll(); });

/** Keep a stream open until what is answered is called. */
function want(stream: StreamName) {
    wanted.set(stream, (wanted.get(stream) ?? 0) + 1);
    if (wanted.get(stream) === 1) ask({ ask: 'want', stream });
    return () => {
        const left = wanted.get(stream)! - 1;
        if (left > 0) return void wanted.set(stream, left);
        wanted.delete(stream);
        ask({ ask: 'drop', stream });
    };
}

/** Try at once. */
export const connectNow = () => ask({ ask: 'now' });

export function disconnect() {
    ask({ ask: 'bye' });
    port = null;
    state = { connected: false, since: Date.now(), isMissed: false };
}

// While hints come without a pause, what they lead to is read less and less often, down to this much of it.
const BACK_OFF_MOST = 8;
const BACK_OFF_BY = 1.5;

/**
 * Called for hints of executions (or tasks) that `wants`, and when everything may have changed; at most once in
 * `every` ms, less often while they keep coming, with the ids that were hinted at since. Never while the tab is hidden:
 * what has come meanwhile is told when it is seen again. why: decision 0513
 */
export function useLive(every: number, wants: (hint: Hint) => boolean, act: (ids: Set<string> | 'all') => void, stream: StreamName = 'execution', enabled = true) {
    const current = useRef({ wants, act });
    current.current = { wants, act };
    useEffect(() => {
        if (!enabled) return;
        const drop = want(stream);
        let ids = new Set<string>();
        let all = false;
        let timer: ReturnType<typeof setTimeout> | undefined;
        let pause = every;
        let flushedAt = 0;
        const plan = () => {
            if (document.hidden) return;
            pause = Date.now() - flushedAt < 2 * pause ? Math.min(pause * BACK_OFF_BY, every * BACK_OFF_MOST) : every;
            timer ??= setTimeout(flush, pause);
        };
        const seen = () => { if (!document.hidden && (all || ids.size > 0)) plan(); };
        const flush = () => {
            timer = undefined;
            if (document.hidden) return;
            flushedAt = Date.now();
            const what = all ? 'all' : ids;
            ids = new Set();
            all = false;
            current.current.act(what);
        };
        const listener: Listener = (news) => {
            if (news.kind === 'state') return;
            if (news.kind === 'reset') {
                if (news.stream !== stream) return;
                all = true;
            } else if (news.hint.type === stream && current.current.wants(news.hint)) ids.add(news.hint.id);
            else return;
            if (ids.size > HINTS_MOST) all = true;
            plan();
        };
        listeners.add(listener);
        document.addEventListener('visibilitychange', seen);
        return () => {
            listeners.delete(listener);
            document.removeEventListener('visibilitychange', seen);
            clearTimeout(timer);
            drop();
        };
    }, [every, stream, enabled]);
}

/** The same for tasks. */
export const useLiveTasks = (every: number, act: (ids: Set<string> | 'all') => void) => useLive(every, () => true, act, 'task');

export const useConnection = () => useSyncExternalStore(
    (changed) => {
        stateListeners.add(changed);
        return () => stateListeners.delete(changed);
    },
    () => state,
);
