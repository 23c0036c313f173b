// inbox.ts - what waits for the answer of who is signed in; the navigation counts it, the inbox shows it.
import { useQuery } from '@tanstack/react-query';
import { seesInbox, seesMonitor, useMe } from './session';
import { all } from '../lib/api';
import { useLive } from '../lib/live';
import type { FormField } from '../lib/types';

export interface InboxItem { id: string; executionId: string; code: string; version: number; step: string; visit: number; title: string | null; form: FormField[] | null; signalType: string | string[]; assignee: string[]; since: string; until: string | null }

/** Asked for again by itself, too: members hear no hints about executions. */
export function useInbox() {
    const { me } = useMe();
    const found = useQuery({ queryKey: ['inbox'], enabled: seesInbox(me), queryFn: () => all<InboxItem>('/inbox', 500), refetchInterval: seesMonitor(me) ? 30000 : 5000 });
    useLive(1000, () => true, () => void found.refetch(), 'execution', seesMonitor(me));
    return found;
}
