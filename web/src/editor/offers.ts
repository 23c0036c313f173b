// offers.ts - values that a field is picked from: what the server keeps under names, and durations that people mean most.
import { useQuery } from '@tanstack/react-query';
import { all } from '../lib/api';
import { t } from '../lib/text';
import type { Process } from '../lib/types';
import { useDesk } from './desk';

export interface Offer { label: string; note: string }

interface Person { name?: string; email?: string | null; groups?: string[] }

const ROLES = ['viewer', 'operator', 'admin', 'executor', 'lead', 'supervisor'];

async function read(picks: string): Promise<Offer[]> {
    switch (picks) {
        case 'credentials': return (await all<{ code: string; base_url?: string; type?: string }>('/credentials')).map((one) => ({ label: one.code, note: one.base_url ?? one.type ?? '' }));
        case 'templates': return (await all<{ code: string; definition?: { subject?: string } }>('/templates')).map((one) => ({ label: one.code, note: one.definition?.subject ?? '' }));
        case 'processes': return (await all<Process>('/processes')).map((one) => ({ label: one.code, note: one.name ?? '' }));
        case 'people': case 'roles': {
            const people = await all<Person>('/users');
            const groups = [...new Set(people.flatMap((one) => one.groups ?? []))].sort().map((name) => ({ label: `group:${name}`, note: people.filter((one) => one.groups?.includes(name)).map((one) => one.name ?? one.email ?? '').join(', ') }));
            if (picks === 'roles') return [...ROLES.map((label) => ({ label, note: '' })), ...groups];
            return [...groups, ...people.filter((one) => one.email).map((one) => ({ label: one.email!, note: one.name ?? '' }))];
        }
        default: return [];
    }
}

/** Names of records that the definition speaks of itself. */
const objectsIn = (text: string): Offer[] => [...new Set([...text.matchAll(/"object"\s*:\s*"([A-Za-z]\w*)"/g)].map((found) => found[1]!))].map((label) => ({ label, note: '' }));

/** What a field is picked from; undefined: it is not picked. Who may not read the list types the value. */
export function useOffers(picks: string | undefined): Offer[] | undefined {
    const { procedures, good } = useDesk();
    const isLocal = picks === 'procedures' || picks === 'objects';
    const list = useQuery({ queryKey: ['offers', picks], enabled: picks !== undefined && !isLocal, staleTime: 30000, retry: false, queryFn: () => read(picks!).catch(() => []) });
    if (picks === undefined) return undefined;
    if (picks === 'procedures') return procedures.map((one) => ({ label: one.code, note: one.name ?? '' }));
    return picks === 'objects' ? objectsIn(good.text) : (list.data ?? []);
}

const UNIT: [RegExp, (n: number) => string][] = [
    [/^(\d+)ms$/, (n) => t('{n} millisecond|{n} milliseconds', { n })],
    [/^(\d+)s$/, (n) => t('{n} second|{n} seconds', { n })],
    [/^(\d+)m$/, (n) => t('{n} minute|{n} minutes', { n })],
    [/^(\d+)h$/, (n) => t('{n} hour|{n} hours', { n })],
    [/^(\d+)d$/, (n) => t('{n} day|{n} days', { n })],
    [/^(\d+)bd$/, (n) => t('{n} working day|{n} working days', { n })],
];

/** "1h30m" is "1 hour 30 minutes"; nothing for what is no duration. */
export function durationWords(text: string): string {
    const parts = /^(?:\d+(?:ms|bd|[smhd]))+$/.test(text) ? text.match(/\d+(?:ms|bd|[smhd])/g)! : [];
    return parts.map((part) => UNIT.flatMap(([shape, say]) => (shape.exec(part) ? [say(Number(shape.exec(part)![1]))] : []))[0]).join(' ');
}

export const durationsToOffer = (): Offer[] => ['30s', '5m', '1h', '24h', '3d', '3bd', '30d'].map((label) => ({ label, note: durationWords(label) }));
