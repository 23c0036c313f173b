// history.ts - the rows of an execution: the newest come first, so that a long history is there at once; the rest follows.
// why: decision 0306
//
// A row never changes, so what is known is kept and only what is newer is asked for.
import { useEffect, useRef, useState } from 'react';
import { call, type Page } from '../../lib/api';
import type { Step } from '../../lib/types';

const PAGE = 500;
const ROWS_MOST = 20000;

export interface History { rows: Step[]; loading: boolean; error: unknown; isWhole: boolean }
interface Known extends History { id: string; seqs: Set<number> }

const empty = (id: string): Known => ({ id, rows: [], seqs: new Set(), loading: true, error: null, isWhole: false });

/** The rows of `id`; read on whenever `version` has moved. */
export function useHistory(id: string, version: number | undefined): History {
    const [shown, show] = useState<Known>(() => empty(id));
    const known = useRef<Known>(shown);
    useEffect(() => {
        if (version === undefined) return;
        const stop = new AbortController();
        if (known.current.id !== id) known.current = empty(id);
        const put = (change: Partial<Known>) => {
            known.current = { ...known.current, ...change };
            show(known.current);
        };
        const read = async (cursor: string | null) => call<Page<Step>>(`/executions/${id}/steps?events=true&order=newest&limit=${PAGE}${cursor ? `&cursor=${cursor}` : ''}`, { signal: stop.signal });
        const follow = async () => {
            put({ loading: true });
            let cursor: string | null = null;
            const wasWhole = known.current.isWhole;
            // What was known before this reading: it goes back until it meets it, or to the beginning.
            const before = known.current.seqs;
            for (;;) {
                const page: Page<Step> = await read(cursor);
                const fresh = page.items.filter((row) => !known.current.seqs.has(row.seq));
                if (fresh.length > 0) {
                    const seqs = new Set(known.current.seqs);
                    for (const row of fresh) seqs.add(row.seq);
                    const rows = [...known.current.rows, ...fresh].sort((a, b) => a.seq - b.seq);
                    put({ rows, seqs });
                }
                cursor = page.nextCursor;
                const met = wasWhole && page.items.some((row) => before.has(row.seq));
                if (!cursor || met) return put({ loading: false, error: null, isWhole: true });
                if (known.current.rows.length >= ROWS_MOST) return put({ loading: false, error: null, isWhole: false });
                // Let the page breathe between two pages of rows.
                await new Promise((done) => setTimeout(done, 30));
                if (stop.signal.aborted) return;
            }
        };
        follow().catch((error: unknown) => { if (!stop.signal.aborted) put({ loading: false, error }); });
        return () => stop.abort();
    }, [id, version]);
    return shown.id === id ? shown : empty(id);
}
