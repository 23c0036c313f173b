// stats.ts - the series of GET /stats. A server that has none answers 404; the page then draws what it can count.
import { useQuery } from '@tanstack/react-query';
import { call, Problem } from '../../lib/api';

/** How far back the page looks, as the server takes it. */
export const WINDOWS = ['1h', '24h', '7d'] as const;
export type Window = (typeof WINDOWS)[number];

interface Stats {
    from: string; to: string; stepSeconds: number;
    points: { at: string; started: number; completed: number; failed: number; cancelled: number; latencyMs: { p50: number; p95: number; p99: number } | null; waiting: Record<string, number> | null; outboxLagMs?: number | null }[];
}

export interface Series { at: number[]; stepMs: number; started: number[]; completed: number[]; failed: number[]; p50: (number | null)[]; p95: (number | null)[]; waiting: Record<string, number> | null; outboxLag: number[] | null }

const STEP = { '1h': '1m', '24h': '15m', '7d': '2h' };

function series({ stepSeconds, points }: Stats): Series | null {
    if (points.length === 0) return null;
    return {
        at: points.map((p) => Date.parse(p.at)), stepMs: stepSeconds * 1000,
        started: points.map((p) => p.started), completed: points.map((p) => p.completed), failed: points.map((p) => p.failed),
        p50: points.map((p) => p.latencyMs?.p50 ?? null), p95: points.map((p) => p.latencyMs?.p95 ?? null),
        waiting: points.findLast((p) => p.waiting !== null)?.waiting ?? null,
        outboxLag: points.some((p) => typeof p.outboxLagMs === 'number') ? points.map((p) => p.outboxLagMs ?? 0) : null,
    };
}

export function useStats(window: Window) {
    const found = useQuery({
        queryKey: ['stats', window], refetchInterval: 30000, retry: false,
        queryFn: async () => {
            try {
                return series(await call<Stats>(`/stats?window=${window}&step=${STEP[window]}`));
            } catch (error) {
                if (error instanceof Problem) return null;
                throw error;
            }
        },
    });
    return { series: found.data ?? null };
}
