// live-worker.ts - the streams of hints that all tabs of a browser share.
//
// A browser opens six connections to a server; streams of each tab would take them all. There is one about
// executions and one about tasks, each open as long as a tab wants it.
//
// Where a browser has no shared workers (phones), this runs as the worker of one tab.
/// <reference lib="webworker" />
type Port = Pick<MessagePort, 'postMessage' | 'onmessage'>;
interface SharedScope { onconnect: ((event: MessageEvent) => void) | null }

export type StreamName = 'execution' | 'task';
export type Hint = { type: StreamName; id: string; status: string; at: string; code?: string; currentStep?: string | null; project_id?: string | null };
type State = { kind: 'state'; connected: boolean; away: boolean; since: number };
export type News = { kind: 'hint'; hint: Hint } | { kind: 'reset'; stream: StreamName } | State;
export type Ask = { ask: 'want' | 'drop'; stream: StreamName } | { ask: 'now' } | { ask: 'bye' };

const ADDRESS: Record<StreamName, string> = { execution: '/api/v1/events', task: '/api/v1/tasks/events' };
const wants = new Map<Port, Set<StreamName>>();
let state: State = { kind: 'state', connected: false, away: false, since: Date.now() };
let isAway = false;

const isWanted = (name: StreamName) => [...wants.values()].some((names) => names.has(name));
const tell = (news: News, stream: StreamName) => wants.forEach((names, port) => { if (names.has(stream)) port.postMessage(news); });

class Stream {
    private source: EventSource | null = null;
    private pause = 500;
    isOpen = false;

    constructor(private readonly name: StreamName) {}

    /** Open it when somebody wants it, close it when nobody does. */
    settle() {
        if (!isWanted(this.name)) return this.close();
        if (this.source) return;
        const source = new EventSource(ADDRESS[this.name]);
        this.source = source;
        source.onopen = () => {
            this.pause = 500;
            this.isOpen = true;
            isAway = false;
            become();
            tell({ kind: 'reset', stream: this.name }, this.name);
        };
        source.addEventListener(this.name, (event) => tell({ kind: 'hint', hint: JSON.parse((event as MessageEvent).data) }, this.name));
        source.addEventListener('reset', () => tell({ kind: 'reset', stream: this.name }, this.name));
        source.onerror = () => {
            // A refusal or a server that is away closes it for good: come back after a pause that grows.
            this.close();
            become();
            void probe();
            setTimeout(() => this.settle(), this.pause);
            this.pause = Math.min(this.pause * 2, 5000);
        };
    }

    now() {
        this.pause = 500;
        this.settle();
    }

    private close() {
        this.source?.close();
        this.source = null;
        this.isOpen = false;
    }
}

const streams: Record<StreamName, Stream> = { execution: new Stream('execution'), task: new Stream('task') };
const NAMES = Object.keys(streams) as StreamName[];

/** A stream that fails does not say why: ask whether the server answers at all. A refusal is an answer. */
async function probe() {
    isAway = await fetch('/healthz', { cache: 'no-store' }).then(() => false, () => true);
    become();
}

/** Connected: what is wanted is open. */
function become() {
    const wanted = NAMES.filter(isWanted);
    if (wanted.length === 0) {
        state = { kind: 'state', connected: false, away: false, since: Date.now() };
        return;
    }
    const connected = wanted.every((name) => streams[name].isOpen);
    const away = isAway && !connected;
    if (state.connected === connected && state.away === away) return;
    state = { kind: 'state', connected, away, since: state.connected === connected ? state.since : Date.now() };
    wants.forEach((_, port) => port.postMessage(state));
}

function serve(port: Port) {
    const names = new Set<StreamName>();
    wants.set(port, names);
    port.onmessage = (message: MessageEvent) => {
        const asked = message.data as Ask;
        if (asked.ask === 'want') {
            wants.set(port, names); // it may have said good-bye
            names.add(asked.stream);
            // Another tab may have it open already: what this one knows may be older.
            if (streams[asked.stream].isOpen) port.postMessage({ kind: 'reset', stream: asked.stream });
        }
        if (asked.ask === 'drop') names.delete(asked.stream);
        if (asked.ask === 'bye') {
            wants.delete(port);
            names.clear();
        }
        for (const name of NAMES) {
            if (asked.ask === 'now') streams[name].now();
            else streams[name].settle();
        }
        if (asked.ask === 'drop' || asked.ask === 'bye') become();
    };
    port.postMessage(state);
}

if ('onconnect' in globalThis) (globalThis as unknown as SharedScope).onconnect = (event) => serve(event.ports[0]!);
else serve(globalThis as unknown as Port);
