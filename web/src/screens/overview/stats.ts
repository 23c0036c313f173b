// stats.ts - the series of GET /stats. A server that has none yet answers 404; the page then draws what it can count.
import { useQuery } from '@tanstack/react-query';
import { call, Problem } from '../../lib/api';

export interface Series { at: number[]; stepMs: number; started: number[]; completed: number[]; failed: number[]; p50: (number | null)[]; p95: (number | null)[]; outboxLag: number[] | null }

const STEP = { '1h': '1m', '24h': '15m', '7d': '2h' };

/* eslint-disable @typescript-eslint/no-explicit-any */
function read(answer: any): Series | null {
    const points: any[] = answer?.points ?? answer?.items ?? answer?.series ?? [];
    if (!Array.isArray(points) || points.length === 0) return null;
    const at = points.map((p) => Date.parse(p.at ?? p.from ?? p.time));
    const numbers = (pick: (p: any) => unknown) => points.map((p) => Number(pick(p) ?? 0));
    const maybe = (pick: (p: any) => unknown) => points.map((p) => { const v = pick(p); return v === null || v === undefined ? null : Number(v); });
    const stepMs = at.length > 1 ? at[1]! - at[0]! : 60000;
    return {
        at, stepMs,
        started: numbers((p) => p.started ?? p.executions?.started), completed: numbers((p) => p.completed ?? p.executions?.completed), failed: numbers((p) => p.failed ?? p.executions?.failed),
        p50: maybe((p) => p.latencyMs?.p50 ?? p.latency?.p50), p95: maybe((p) => p.latencyMs?.p95 ?? p.latency?.p95),
        outboxLag: points.some((p) => p.outboxLagMs !== undefined) ? numbers((p) => p.outboxLagMs) : null,
    };
}

export function useStats(window: '1h' | '24h' | '7d') {
    const found = useQuery({
        queryKey: ['stats', window], refetchInterval: 15000, retry: false,
        queryFn: async () => {
            try {
                return read(await call(`/stats?window=${window}&step=${STEP[window]}`));
            } catch (error) {
                if (error instanceof Problem) return null;
                throw error;
            }
        },
    });
    return { series: found.data ?? null };
}
