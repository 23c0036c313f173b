// live-worker.ts - the one stream of hints that all tabs of a browser share.
//
// A browser opens six connections to a server; a stream per tab would take them all.
/// <reference lib="webworker" />
interface SharedScope { onconnect: ((event: MessageEvent) => void) | null }

export type Hint = { type: 'execution'; id: string; code: string; status: string; currentStep: string | null; at: string };
export type News = { kind: 'hint'; hint: Hint } | { kind: 'reset' } | { kind: 'state'; connected: boolean; since: number };

const ports = new Set<MessagePort>();
let source: EventSource | null = null;
let state: News = { kind: 'state', connected: false, since: Date.now() };
let pause = 500;

const tell = (news: News) => ports.forEach((port) => port.postMessage(news));

function become(connected: boolean) {
    if (state.kind === 'state' && state.connected === connected) return;
    state = { kind: 'state', connected, since: Date.now() };
    tell(state);
}

function listen() {
    if (source || ports.size === 0) return;
    source = new EventSource('/api/v1/events');
    source.onopen = () => {
        pause = 500;
        become(true);
        tell({ kind: 'reset' });
    };
    source.addEventListener('execution', (event) => tell({ kind: 'hint', hint: JSON.parse((event as MessageEvent).data) }));
    source.addEventListener('reset', () => tell({ kind: 'reset' }));
    source.onerror = () => {
        become(false);
        // A refusal or a server that is away closes it for good: come back after a pause that grows.
        source?.close();
        source = null;
        setTimeout(listen, pause);
        pause = Math.min(pause * 2, 5000);
    };
}

(globalThis as unknown as SharedScope).onconnect = (event) => {
    const port = event.ports[0]!;
    ports.add(port);
    port.onmessage = (message: MessageEvent) => {
        if (message.data === 'bye') ports.delete(port);
        if (message.data === 'now') {
            pause = 500;
            listen();
        }
        if (ports.size === 0) {
            source?.close();
            source = null;
        }
    };
    port.start();
    port.postMessage(state);
    listen();
};
