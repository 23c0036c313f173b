// counts.ts - how much there is to do: one cheap answer that navigation, overview and lists share.
import { useQuery } from '@tanstack/react-query';
import { call, type Page, query } from '../lib/api';
import { useLive } from '../lib/live';
import type { Answers } from '../lib/types';
import { seesInbox, seesMonitor, useMe } from './session';

export type Message = Answers['listOutbox']['items'][number];

/** Asked for when something has moved, and by itself for those who hear no hints about executions. */
export function useCounts() {
    const { me } = useMe();
    const hears = seesMonitor(me);
    const found = useQuery({ queryKey: ['counts'], enabled: hears || seesInbox(me), queryFn: () => call<Answers['getCounts']>('/counts'), refetchInterval: hears ? 60000 : 10000 });
    useLive(2000, () => true, () => void found.refetch(), 'execution', hears);
    return found.data;
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
