// types.ts - what the server answers: types made from docs/openapi.yaml, and what definitions are made of.
// why: decision 0511
import type * as Api from 'api-types';

export type { Answers } from 'api-types';
export type ErrorInfo = Api.ExecutionError;

export interface FormField { name: string; type: string; label?: string; required?: boolean | string; requiredWhen?: string; description?: string; enum?: unknown[]; default?: unknown; sensitive?: boolean; fields?: FormField[]; items?: Omit<FormField, 'name'>; min?: number; max?: number; minLength?: number; maxLength?: number; pattern?: string; multiline?: boolean }

/** The fields of an answer stand in the document as what a definition says. */
export type WaitingFor = Omit<Api.WaitingFor, 'form' | 'branches'> & { form?: FormField[]; branches?: WaitingFor[] };
/** One of a list has neither input nor context. */
export type Execution = Omit<Api.ExecutionHead, 'waitingFor'> & { waitingFor: WaitingFor | null } & Partial<Pick<Api.Execution, 'input' | 'context' | 'breakpoints'>>;
export type Action = Execution['actions'][number];
export const may = (x: Pick<Execution, 'actions'>, action: string) => (x.actions as string[]).includes(action);
export type Step = Api.Step;
/** When a row of history stands in time: an event that nobody began has its end only. */
export const timeOf = (row: Pick<Step, 'startedAt' | 'completedAt'>) => row.startedAt ?? row.completedAt ?? '';
export type Letter = Api.DeadLetter;
export type Process = Api.Process;
export type Me = Api.Answers['getMe'];

/** A step of a definition, whatever is in it. */
export interface StepDef {
    code: string; name?: string; when?: string; whenName?: string; procedure?: unknown; goto?: unknown; rollback?: unknown; onError?: string; reconcile?: unknown;
    branch?: { when?: string; name?: string; steps: StepDef[] }[];
    loop?: { for?: string; while?: string; as?: string; concurrency?: number; steps: StepDef[] };
    parallel?: { branches: StepDef[][]; join?: unknown };
}
export interface Definition { code: string; name?: string; description?: string; input?: FormField[]; triggers?: unknown[]; steps?: StepDef[] }
