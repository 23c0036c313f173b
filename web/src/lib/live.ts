// live.ts - what moves on the server, as it moves.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Hint, News } from './live-worker';

type Listener = (news: News) => void;

const listeners = new Set<Listener>();
let port: MessagePort | null = null;
let state = { connected: false, since: Date.now(), everConnected: false };
const stateListeners = new Set<() => void>();

function hear(news: News) {
    if (news.kind === 'state') {
        state = { connected: news.connected, since: news.since, everConnected: state.everConnected || news.connected };
        stateListeners.forEach((listener) => listener());
    }
    listeners.forEach((listener) => listener(news));
}

/** Begin to listen; after signing in. */
export function connect() {
    if (port) return;
    const worker = new SharedWorker(new URL('./live-worker.ts', import.meta.url), { type: 'module', name: 'pawl-live' });
    port = worker.port;
    port.onmessage = (event) => hear(event.data as News);
    port.start();
    addEventListener('pagehide', () => port?.postMessage('bye'));
}

/** Try at once. */
export const connectNow = () => port?.postMessage('now');

export function disconnect() {
    port?.postMessage('bye');
    port = null;
    state = { connected: false, since: Date.now(), everConnected: false };
}

/**
 * Called for hints of executions that `wants`, and when everything may have changed; at most once in
 * `every` ms, with the ids that were hinted at since.
 */
export function useLive(every: number, wants: (hint: Hint) => boolean, act: (ids: Set<string> | 'all') => void) {
    const current = useRef({ wants, act });
    current.current = { wants, act };
    useEffect(() => {
        let ids = new Set<string>();
        let all = false;
        let timer: ReturnType<typeof setTimeout> | undefined;
        const flush = () => {
            timer = undefined;
            const what = all ? 'all' : ids;
            ids = new Set();
            all = false;
            current.current.act(what);
        };
        const listener: Listener = (news) => {
            if (news.kind === 'state') return;
            if (news.kind === 'reset') all = true;
            else if (current.current.wants(news.hint)) ids.add(news.hint.id);
            else return;
            timer ??= setTimeout(flush, every);
        };
        listeners.add(listener);
        return () => {
            listeners.delete(listener);
            clearTimeout(timer);
        };
    }, [every]);
}

export const useConnection = () => useSyncExternalStore(
    (changed) => {
        stateListeners.add(changed);
        return () => stateListeners.delete(changed);
    },
    () => state,
);
