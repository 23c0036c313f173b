// api.ts - calls to this server. A refusal is thrown as the server's own words, in the language of the page.
import { readJson } from './exact';
import { newId } from './insecure';
import { language } from './text';

export interface Finding { pointer: string; step?: string; code: string; message: string; column?: number; severity: string; hint?: string }
export interface ProblemBody { title: string; status: number; code: string; detail?: string; errors?: Finding[]; requestId?: string; executionId?: string }

export class Problem extends Error {
    constructor(readonly status: number, readonly body: ProblemBody) {
        super(body.detail ?? body.title);
    }

    get code() { return this.body.code; }
}

/** The server was not reached at all. */
export class Unreachable extends Error {}

let onSignedOut: () => void = () => undefined;
let onReach: (reached: boolean) => void = () => undefined;

/** What to do when a session has ended, and when the server answers or does not. */
export function watchCalls(signedOut: () => void, reach: (reached: boolean) => void) {
    onSignedOut = signedOut;
    onReach = reach;
}

/** `once`: pressed again after an answer was lost, it happens once all the same. */
export interface CallOptions { method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal; once?: boolean }

async function send(path: string, { method = 'GET', body, headers = {}, signal }: CallOptions): Promise<Response> {
    try {
        const answer = await fetch(`/api/v1${path}`, {
            method,
            signal,
            credentials: 'same-origin',
            headers: { 'Accept-Language': language(), ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
            body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
        });
        onReach(true);
        return answer;
    } catch (error) {
        if (signal?.aborted) throw error;
        onReach(false);
        throw new Unreachable(String(error));
    }
}

async function problemOf(answer: Response): Promise<Problem> {
    try {
        return new Problem(answer.status, await answer.json());
    } catch {
        return new Problem(answer.status, { title: answer.statusText || `HTTP ${answer.status}`, status: answer.status, code: 'unknown' });
    }
}

/** The answer's text as it was sent. */
export async function callText(path: string, options: CallOptions = {}): Promise<string> {
    const answer = await send(path, options);
    if (!answer.ok) {
        const problem = await problemOf(answer);
        if (answer.status === 401 && path !== '/session') onSignedOut();
        throw problem;
    }
    return answer.text();
}

/** The answer's JSON; undefined when there is none. */
export async function call<T = unknown>(path: string, options: CallOptions = {}): Promise<T> {
    const text = await callText(path, options);
    return (text === '' ? undefined : readJson(text)) as T;
}

// Keys of requests whose answer was lost, by what they ask for: the same request is sent with the same key again.
const unanswered = new Map<string, string>();
const UNANSWERED_MOST = 100;

/** Whether the server has said what became of a request: success, or a refusal that is its own. */
const isAnswered = (error: unknown) => error instanceof Problem && error.status < 500;

async function callOnce<T>(path: string, options: CallOptions): Promise<T> {
    const body = typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
    const intent = [path, JSON.stringify(options.headers ?? {}), body].join('\n');
    const key = unanswered.get(intent) ?? newId();
    if (unanswered.size >= UNANSWERED_MOST) unanswered.delete(unanswered.keys().next().value!);
    unanswered.set(intent, key);
    try {
        const answer = await call<T>(path, { ...options, body, headers: { ...options.headers, 'Idempotency-Key': key } });
        unanswered.delete(intent);
        return answer;
    } catch (error) {
        if (isAnswered(error)) unanswered.delete(intent);
        throw error;
    }
}

export const post = <T = unknown>(path: string, body: unknown = {}, options: CallOptions = {}) => (options.once ? callOnce<T> : call<T>)(path, { ...options, method: 'POST', body });
export const put = <T = unknown>(path: string, body: unknown, options: CallOptions = {}) => call<T>(path, { ...options, method: 'PUT', body });
export const patch = <T = unknown>(path: string, body: unknown, options: CallOptions = {}) => call<T>(path, { ...options, method: 'PATCH', body });
export const remove = (path: string, options: CallOptions = {}) => call(path, { ...options, method: 'DELETE' });

export interface Page<T> { items: T[]; nextCursor: string | null }

/** All pages; for lists that are short by nature. */
export async function all<T>(path: string, most = 2000): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | null = null;
    do {
        const join: string = path.includes('?') ? '&' : '?';
        const page: Page<T> = await call(`${path}${join}limit=500${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
        items.push(...page.items);
        cursor = page.nextCursor;
    } while (cursor && items.length < most);
    return items;
}

export const query = (params: Record<string, string | number | undefined | null>) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
    const text = search.toString();
    return text ? `?${text}` : '';
};
