// counts.ts - how much there is to do: one cheap answer that navigation, overview and lists share.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { call, type Page, query } from '../lib/api';
import { useLive } from '../lib/live';
import type { Answers } from '../lib/types';
import { seesInbox, seesMonitor, useMe } from './session';

export type Message = Answers['listOutbox']['items'][number];

const ASK_MS = 60000;
const ASK_UNHEARD_MS = 10000; // for those who hear no hints about executions

function useAsked() {
    const { me } = useMe();
    const hears = seesMonitor(me);
    return useQuery({ queryKey: ['counts'], enabled: hears || seesInbox(me), queryFn: () => call<Answers['getCounts']>('/counts'), staleTime: 1000, refetchInterval: hears ? ASK_MS : ASK_UNHEARD_MS });
}

export const useCounts = () => useAsked().data;

/** Keep them as they are now: once, in the frame of all pages. */
export function useLiveCounts() {
    const { me } = useMe();
    const found = useAsked();
    useLive(2000, () => true, () => void found.refetch(), 'execution', seesMonitor(me));
    return found.data;
}

/** Call `act` when one of the counts has changed: lists are read again by that, and not with every hint. */
export function useCountChange(value: number | undefined, act: () => void) {
    const before = useRef(value);
    useEffect(() => {
        if (before.current !== undefined && value !== before.current) act();
        before.current = value;
    }, [value]);
}

/** Messages that stay where they are until somebody changes the server: what they need is not set up. */
export const isStuck = (message: Message) => message.error?.code === 'not_configured';

/** Those of the newest hundred, of one execution or of all. Asked for only while something waits to be delivered. */
export function useStuckMessages(execution?: string, version?: number): Message[] {
    const { me } = useMe();
    const waiting = useCounts()?.outboxWaiting ?? 0;
    const found = useQuery({
        queryKey: ['outbox', 'stuck', execution ?? '', waiting, version], enabled: seesMonitor(me) && waiting > 0, placeholderData: (before) => before,
        queryFn: () => call<Page<Message>>(`/outbox${query({ status: 'pending', execution, limit: 100 })}`),
    });
    return waiting > 0 ? (found.data?.items ?? []).filter(isStuck) : [];
}
