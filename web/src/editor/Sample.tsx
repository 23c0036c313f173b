// Sample.tsx - the execution whose values stand beside expressions; one for the whole page.
import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { call, type Page, query } from '../lib/api';
import { t } from '../lib/text';
import { shortly } from '../lib/time';
import type { Execution } from '../lib/types';

export interface SampleChoice { id: string; choose: (id: string) => void; all: Execution[] }
export const SampleContext = createContext<SampleChoice>({ id: '', choose: () => undefined, all: [] });

export const nameOfExecution = (execution: Execution) => execution.key ?? `…${execution.id.slice(-6)}`;

/** The last executions of a process, the newest first. */
export const useExecutions = (code: string, enabled: boolean) => useQuery({ queryKey: ['executions', 'samples', code], enabled, queryFn: async () => (await call<Page<Execution>>(`/executions${query({ code, limit: 20 })}`)).items });

/** One execution with its context. */
export const useWhole = (id: string) => useQuery({ queryKey: ['execution', 'whole', id], enabled: id !== '', queryFn: () => call<Execution>(`/executions/${id}`) });

export function SamplePicker() {
    const { id, choose, all } = useContext(SampleContext);
    if (all.length === 0) return null;
    return (
        <label className="sample"><span className="t3 nowrap">{t('Values of')}</span>
            <select className="inp sm" value={id} onChange={(event) => choose(event.target.value)}>
                <option value="">{t('no execution')}</option>
                {all.map((one) => <option key={one.id} value={one.id}>{nameOfExecution(one)} · {t(one.status)} · {shortly(one.createdAt)}</option>)}
            </select>
        </label>
    );
}
