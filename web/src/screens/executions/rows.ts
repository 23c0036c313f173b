// rows.ts - the rows of the list: pages as one scrolls, single rows as they change, new ones on top.
import { useCallback, useEffect, useRef, useState } from 'react';
import { call, type Page, query } from '../../lib/api';
import { useLive } from '../../lib/live';
import type { Execution } from '../../lib/types';
import type { Filter, Order } from './filters';

const PAGE = 200;
const KEPT_MOST = 2000; // rows that stay while one looks at the top of a list that grows there
const REFRESH_MOST = 40; // rows that are asked for one by one; beyond that the first page is read anew

interface Rows { items: Execution[]; cursor: string | null; loaded: boolean; error: unknown; changed: Set<string>; shift: number; stamp: number }

const EMPTY: Rows = { items: [], cursor: null, loaded: false, error: null, changed: new Set(), shift: 0, stamp: 0 };

// What rows do not show is not kept: a hundred thousand of them stay small.
const slim = (x: Execution): Execution => ({ ...x, input: undefined, context: undefined, waitingFor: x.waitingFor ? { ...x.waitingFor, form: undefined } : null });

/** `visible`: the ids in sight. `holds`: rows are chosen, so none may go. */
export function useRows(filter: Filter, order: Order, visible: () => Set<string>, holds: () => boolean) {
    const [rows, set] = useState<Rows>(EMPTY);
    const [busy, work] = useState(false);
    const known = useRef(new Map<string, number>());
    const loading = useRef<AbortController | null>(null);
    const current = useRef(rows);
    current.current = rows;
    const key = JSON.stringify([filter, order]);

    const put = useCallback((items: Execution[], rest: Partial<Rows>) => {
        known.current = new Map(items.map((x, i) => [x.id, i]));
        set((before) => ({ ...before, changed: new Set(), shift: 0, ...rest, items, loaded: true, stamp: before.stamp + 1 }));
    }, []);

    const page = useCallback((cursor: string | null, limit: number, signal: AbortSignal) =>
        call<Page<Execution>>(`/executions${query({ ...filter, order: order === 'oldest' ? 'oldest' : undefined, limit, cursor })}`, { signal }),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [key]);

    const first = useCallback(async () => {
        loading.current?.abort();
        const control = new AbortController();
        loading.current = control;
        work(true);
        try {
            let got = await page(null, PAGE, control.signal);
            // Where conditions throw much away, a page may be empty and not the last.
            while (got.items.length === 0 && got.nextCursor) got = await page(got.nextCursor, PAGE, control.signal);
            put(got.items.map(slim), { cursor: got.nextCursor, error: null });
        } catch (error) {
            if (!control.signal.aborted) set((before) => ({ ...before, error, loaded: true }));
        } finally {
            if (loading.current === control) {
                loading.current = null;
                work(false);
            }
        }
    }, [page, put]);

    useEffect(() => {
        set(EMPTY);
        known.current = new Map();
        void first();
        return () => loading.current?.abort();
    }, [first]);

    const more = useCallback(async () => {
        if (loading.current || !current.current.cursor) return;
        const control = new AbortController();
        loading.current = control;
        work(true);
        try {
            const got = await page(current.current.cursor, 500, control.signal);
            const fresh = got.items.filter((x) => !known.current.has(x.id)).map(slim);
            put([...current.current.items, ...fresh], { cursor: got.nextCursor });
        } catch (error) {
            if (!control.signal.aborted) set((before) => ({ ...before, error }));
        } finally {
            if (loading.current === control) {
                loading.current = null;
                work(false);
            }
        }
    }, [page, put]);

    /** New ones on top; those that are there, as they are now. */
    const refreshTop = useCallback(async () => {
        if (loading.current) return;
        try {
            const got = await page(null, PAGE, new AbortController().signal);
            const items = got.items.map(slim);
            const before = current.current.items;
            const changed = new Set(items.filter((x) => before[known.current.get(x.id) ?? -1]?.rowVersion !== x.rowVersion).map((x) => x.id));
            if (changed.size === 0 && (got.nextCursor || items.length === before.length)) return;
            if (!got.nextCursor) return put(items, { cursor: null, changed });
            const fresh = items.filter((x) => !known.current.has(x.id)).length;
            const atTop = [...visible()].some((id) => (known.current.get(id) ?? PAGE) < PAGE / 4);
            if (before.length > KEPT_MOST && atTop && !holds()) return put(items, { changed, cursor: got.nextCursor, shift: order === 'newest' ? fresh : 0 });
            const seen = new Set(items.map((x) => x.id));
            const rest = before.filter((x) => !seen.has(x.id));
            // What stood among the first and is not there any more has left the filter.
            const last = items.at(-1)!;
            const kept = rest.filter((x) => (order === 'oldest' ? x.id > last.id : x.id < last.id));
            put([...items, ...kept], { changed, cursor: before.length > items.length ? current.current.cursor : got.nextCursor, shift: order === 'newest' ? fresh : 0 });
        } catch {
            // The band says that the server is away.
        }
    // `visible` and `holds` read what is now.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    }, [page, put, order]);

    const refreshSome = useCallback(async (ids: string[]) => {
        const got = await Promise.all(ids.map((id) => call<Execution>(`/executions/${id}`).catch(() => null)));
        const items = [...current.current.items];
        const changed = new Set<string>();
        for (const x of got) {
            const at = x ? known.current.get(x.id) : undefined;
            if (!x || at === undefined || items[at]?.rowVersion === x.rowVersion) continue;
            items[at] = slim(x);
            changed.add(x.id);
        }
        if (changed.size) put(items, { changed });
    }, [put]);

    useLive(700, (hint) => !filter.code || filter.code.split(',').includes(hint.code ?? ''), (ids) => {
        if (ids === 'all') return void refreshTop();
        const here = [...ids].filter((id) => known.current.has(id));
        const onScreen = here.filter((id) => visible().has(id));
        if (here.length < ids.size || onScreen.length > REFRESH_MOST || filter.status || filter.waiting || filter.step) void refreshTop();
        else if (onScreen.length) void refreshSome(onScreen);
    });

    return { ...rows, busy, more, reload: first };
}
