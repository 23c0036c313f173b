// inbox.ts - what waits for the answer of who is signed in; the navigation counts it, the inbox shows it.
import { useQuery } from '@tanstack/react-query';
import { seesInbox, seesMonitor, useMe } from './session';
import { all } from '../lib/api';
import { useLive } from '../lib/live';
import type { FormField } from '../lib/types';

export interface InboxItem { id: string; executionId: string; code: string; version: number; step: string; visit: number; title: string | null; form: FormField[] | null; signalType: string | string[]; assignee: string[]; since: string; until: string | null; name: string | null; show: { label: string; value: unknown }[] | null; then: { label: string; text: string }[] | null; timeUp: { action: string; to?: string; name?: string } | null; startedBy: { id: string | null; name: string | null } | null; answeredBefore: { by: { name?: string; callback?: boolean }; step: string; answeredAt: string }[] }

/** Asked for again by itself, too: members hear no hints about executions. */
export function useInbox() {
    const { me } = useMe();
    const found = useQuery({ queryKey: ['inbox'], enabled: seesInbox(me), queryFn: () => all<InboxItem>('/inbox', 500), refetchInterval: seesMonitor(me) ? 60000 : 5000 });
    // What waits may be for me; what was for me may have gone on.
    useLive(1000, (hint) => hint.status === 'waiting' || Boolean(found.data?.some((item) => item.executionId === hint.id)), () => void found.refetch(), 'execution', seesMonitor(me));
    return found;
}
