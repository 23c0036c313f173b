// tasks.ts - tasks, people and shifts as the planner's calls answer them, and how the pages ask for them.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { all, call, type Page, query } from '../../lib/api';
import { useLiveTasks } from '../../lib/live';
import type { FormField } from '../../lib/types';

export type TaskStatus = 'blocked' | 'available' | 'assigned' | 'in_progress' | 'submitted' | 'done' | 'canceled';

export interface Task {
    id: string; project_id: string | null; title: string; description: string | null; required_trade: string | null; min_skill: number; priority: number;
    deliverable_id: string | null; due_at: string | null; status: TaskStatus; row_version: number; assigned_to: string | null; assigned_at: string | null;
    started_at: string | null; submitted_at: string | null; reviewed_by: string | null; reviewed_at: string | null; self_checked: boolean; reject_reason: string | null;
    recall_reason: string | null; cancel_reason: string | null; handover_note: string | null; needs_attention: boolean; fix_of_task_id: string | null;
    parent_task_id: string | null; execution_id: string | null; form?: FormField[] | null; result?: unknown; depends_on: string[]; contributors: string[]; unmet_dependencies: number; open_holds: number;
    created_by: string | null; created_at: string; updated_at: string; actions: string[];
}
export interface Person { id: string; name: string; role: string; skill_level: number | null; specializations: string[]; active: boolean }
export interface Transition { id: string; action: string; from_status: TaskStatus; to_status: TaskStatus; actor_id: string | null; actor_role: string; payload: Record<string, unknown>; created_at: string }
export interface Hold { id: string; type: string; reason: string | null; until: string | null; created_by: string | null; created_at: string; released_by: string | null; released_at: string | null }
export interface Escalation { id: string; kind: string; message: string | null; created_by: string | null; created_at: string; acknowledged_by: string | null; acknowledged_at: string | null }
export interface Defect { id: string; task_id: string | null; fix_task_id: string | null; description: string; what_to_fix: string | null; how_fixed: string | null; status: string; reported_by: string | null; created_at: string; fixed_by: string | null; fixed_at: string | null }
export interface Comment { id: string; body: string; created_by: string | null; created_at: string }
export interface Shift { id: string; name: string; starts_at: string | null; ends_at: string | null; ended_at: string | null; created_at: string; members: string[] }

export const STATUSES: TaskStatus[] = ['blocked', 'available', 'assigned', 'in_progress', 'submitted', 'done'];

/** What is at hand of tasks, by address of the page; `null` is any. */
export interface Filter { project_id?: string; required_trade?: string; assigned_to?: string; overdue?: string; needs_attention?: string; q?: string }
const FILTER_NAMES = ['project_id', 'required_trade', 'assigned_to', 'overdue', 'needs_attention', 'q'] as const;
export const filterOf = (search: Record<string, string>): Filter => Object.fromEntries(FILTER_NAMES.filter((name) => search[name]).map((name) => [name, search[name]]));

/** Names by id; everyone of the organisation. */
export function usePeople() {
    const found = useQuery({ queryKey: ['people'], staleTime: 60000, queryFn: () => all<Person>('/planner/people') });
    return useMemo(() => {
        const byId = new Map((found.data ?? []).map((person) => [person.id, person]));
        return { list: found.data ?? [], byId, name: (id: string | null | undefined) => (id ? (byId.get(id)?.name ?? `…${id.slice(-6)}`) : '') };
    }, [found.data]);
}

const COLUMN_MOST = 100;

/** What is available comes in the order of the pool, so that the most urgent are there however many wait; the others the newest first. */
export function useColumn(status: TaskStatus, filter: Filter, poolOfAll: boolean) {
    const asPool = status === 'available' && poolOfAll && Object.keys(filter).every((name) => name === 'project_id');
    return useQuery({ queryKey: ['tasks', 'column', status, filter], placeholderData: (before: Page<Task> | undefined) => before,
        queryFn: () => call<Page<Task>>(asPool ? `/tasks/pool${query({ ...filter, limit: COLUMN_MOST })}` : `/tasks${query({ status, ...filter, limit: COLUMN_MOST })}`) });
}

export const usePool = (project: string | undefined) =>
    useQuery({ queryKey: ['tasks', 'pool', project ?? ''], queryFn: () => call<Page<Task>>(`/tasks/pool${query({ project_id: project, limit: 500 })}`) });

/** The tasks that somebody has in hand: one each, at most. */
export const useInHand = (enabled: boolean) => useQuery({
    queryKey: ['tasks', 'in-hand'], enabled,
    queryFn: async () => (await Promise.all((['assigned', 'in_progress', 'submitted'] as const).map((status) => all<Task>(`/tasks?status=${status}`)))).flat(),
});

export const useShifts = () => useQuery({ queryKey: ['tasks', 'shifts'], queryFn: () => call<Page<Shift>>('/shifts?limit=100') });
export const isOpen = (shift: Shift) => shift.ended_at === null;

/** Everything about tasks is read again when one has changed. */
export function useFollowTasks() {
    const client = useQueryClient();
    useLiveTasks(400, () => void client.invalidateQueries({ queryKey: ['tasks'] }));
    return () => client.invalidateQueries({ queryKey: ['tasks'] });
}

export const isOverdue = (task: Task, now = Date.now()) => task.due_at !== null && task.status !== 'done' && task.status !== 'canceled' && Date.parse(task.due_at) < now;
