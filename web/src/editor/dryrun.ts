// dryrun.ts - answers for a dry-run, taken from what really came back in a past execution. Pure.
import { isObject } from '../lib/exact';
import type { Item, List } from '../flow/layout';
import { commandsOf } from '../lib/steps';
import { type Step, type StepDef, timeOf } from '../lib/types';
import { type Command, everyItem } from './model';

/** One answer that is pinned: what would be asked, and what comes back in its place. */
export interface Pin { step: string; kind: 'signal' | 'http' | 'procedure'; what: string; answer: unknown; at: string; /** It answers what undoes the step. */ isUndo?: boolean }


/** The part of an address that is written as it is; what is computed in it may be anything. */
export const patternOf = (url: unknown): string => {
    if (typeof url !== 'string' || /^\$\.|^=/.test(url)) return '*';
    const hole = url.indexOf('{{');
    return hole < 0 ? url : `${url.slice(0, hole)}*`;
};

function pinOf(item: Item, row: Step): Pin | null {
    const output = row.output;
    const command = commandsOf(item.step)[0];
    const at = row.completedAt ?? timeOf(row);
    if (command?.type === 'wait.signal' && isObject(output) && typeof output.type === 'string') return { step: item.step.code, kind: 'signal', what: output.type, answer: output.payload ?? {}, at };
    if (command?.type === 'integration.http' && isObject(output)) return { step: item.step.code, kind: 'http', what: patternOf(command.url), answer: { status_code: output.status_code ?? 200, ...(output.body === undefined ? {} : { body: output.body }) }, at };
    if (typeof item.step.procedure === 'string' && item.step.procedure.includes('.')) return { step: item.step.code, kind: 'procedure', what: item.step.procedure, answer: output, at };
    return null;
}

export function pinsFrom(list: List, rows: Step[]): Pin[] {
    const items = new Map([...everyItem(list)].map(({ item }) => [item.step.code, item]));
    return rows.filter((row) => row.kind === 'forward' && row.status === 'completed').flatMap((row) => {
        const item = items.get(row.step ?? '');
        const pin = item && pinOf(item, row);
        return pin ? [pin] : [];
    });
}

/** The commands that undo a step: a rollback is a command, several, the name of a procedure, or `{procedure}` with one of these. */
export function undoOf(step: StepDef): { commands: Command[]; name: string | null } {
    const rollback = isObject(step.rollback) && !('type' in step.rollback) ? step.rollback.procedure : step.rollback;
    if (typeof rollback === 'string') return { commands: [], name: rollback };
    return { commands: (Array.isArray(rollback) ? rollback : [rollback]).filter(isObject) as Command[], name: null };
}

function undoBlank(step: StepDef): Pin[] {
    const { commands, name } = undoOf(step);
    const call = commands.find((one) => one.type === 'integration.http');
    if (call) return [{ step: step.code, kind: 'http', what: patternOf(call.url), answer: { status_code: 200, body: {} }, at: '', isUndo: true }];
    return name?.includes('.') ? [{ step: step.code, kind: 'procedure', what: name, answer: {}, at: '', isUndo: true }] : [];
}

const hasPin = (pins: Pin[], step: string, isUndo: boolean) => pins.some((pin) => pin.step === step && Boolean(pin.isUndo) === isUndo);

/** Steps that wait for others, or ask them, and have no answer pinned: what they might be answered with. Those that undo come last. */
export function blanksOf(list: List, pins: Pin[]): Pin[] {
    const forward = [...everyItem(list)].flatMap(({ item }): Pin[] => {
        if (hasPin(pins, item.step.code, false)) return [];
        const command = commandsOf(item.step)[0];
        const type = Array.isArray(command?.signalType) ? command.signalType[0] : command?.signalType;
        if (command?.type === 'wait.signal' && typeof type === 'string') {
            const form = Array.isArray(command.form) ? (command.form as { name?: string; type?: string }[]) : [];
            return [{ step: item.step.code, kind: 'signal', what: type, answer: Object.fromEntries(form.filter((f) => f?.name).map((f) => [f.name, f.type === 'boolean' ? true : f.type === 'number' || f.type === 'integer' ? 1 : ''])), at: '' }];
        }
        if (command?.type === 'integration.http') return [{ step: item.step.code, kind: 'http', what: patternOf(command.url), answer: { status_code: 200, body: {} }, at: '' }];
        if (typeof item.step.procedure === 'string' && item.step.procedure.includes('.')) return [{ step: item.step.code, kind: 'procedure', what: item.step.procedure, answer: {}, at: '' }];
        return [];
    });
    return [...forward, ...[...everyItem(list)].flatMap(({ item }) => (hasPin(pins, item.step.code, true) ? [] : undoBlank(item.step)))];
}

/** As `POST dry-run` takes them. */
export function mocksOf(pins: Pin[]): Record<string, unknown> {
    const signals: Record<string, unknown[]> = {};
    const procedures: Record<string, unknown> = {};
    for (const pin of pins) {
        if (pin.kind === 'signal') (signals[pin.what] ??= []).push(pin.answer);
        if (pin.kind === 'procedure') procedures[pin.what] = pin.answer;
    }
    const http = pins.filter((pin) => pin.kind === 'http').map((pin) => ({ url: pin.what, response: pin.answer }));
    return { ...(Object.keys(signals).length ? { signals } : {}), ...(Object.keys(procedures).length ? { procedures } : {}), ...(http.length ? { http } : {}) };
}

export interface Trial {
    status: string; result: unknown; error: { code: string; message: string; step?: string } | null; currentStep: string | null; waitingFor: { kind: string; [more: string]: unknown } | null;
    context?: unknown; steps: Step[]; records?: { object: string; id: string; version: number; data: unknown }[]; messages?: { kind: string; name: string | null; step: string | null; body: unknown }[]; commands?: { step: string; kind: string; type: string }[]; children?: { code: string; status: string }[]; startedAt?: string; endedAt?: string; warnings?: { message: string; pointer: string }[]; duration?: string; version: number | string;
}

/** The visits of each step, by their order: ask → [4, 5]. A loop or a branch is no visit of its own: what is in it is. */
export function visitsOf(trial: Trial, outer: Set<string> = new Set()): Map<string, number[]> {
    const result = new Map<string, number[]>();
    let n = 0;
    for (const row of trial.steps) {
        if (row.step === null || row.kind !== 'forward' || row.attempt > 1 || row.status === 'skipped' || outer.has(row.step)) continue;
        result.set(row.step, [...(result.get(row.step) ?? []), ++n]);
    }
    return result;
}

/** One thing that would be done outside: what kind of thing, to what, and what about it. */
export interface Outside { kind: 'call' | 'job' | 'record' | 'message' | 'process'; what: string; more: string; step: string; isUndo?: boolean; times?: number }

const lettersOf = (body: unknown): { to: string; about: string } => {
    const own = isObject(body) ? body : {};
    const to = Array.isArray(own.to) ? own.to.join(', ') : typeof own.to === 'string' ? own.to : '';
    const about = [own.subject, own.title, own.text, own.body].find((one) => typeof one === 'string' && one !== '');
    return { to, about: typeof about === 'string' ? about : '' };
};

/** The same call tried several times is one, with how often. */
function counted(calls: Outside[]): Outside[] {
    const result = new Map<string, Outside>();
    for (const call of calls) {
        const key = `${call.step} ${call.isUndo} ${call.what}`;
        result.set(key, { ...call, times: (result.get(key)?.times ?? 0) + 1 });
    }
    return [...result.values()];
}

/** What a trial would have done to others, in the order of a person's questions: who is called, what is written, who is told. */
export function outsideOf(trial: Trial, list: List): Outside[] {
    const items = new Map([...everyItem(list)].map(({ item }) => [item.step.code, item]));
    const calls = (trial.commands ?? []).filter((one) => one.type === 'integration.http').map((one): Outside => {
        const step = items.get(one.step)?.step;
        const isUndo = one.kind === 'rollback';
        const command = step && (isUndo ? undoOf(step).commands : commandsOf(step)).find((own) => own.type === 'integration.http');
        const at = command?.url ?? `${typeof command?.credential === 'string' ? `${command.credential}: ` : ''}${typeof command?.path === 'string' ? command.path : ''}`;
        return { kind: 'call', what: `${typeof command?.method === 'string' ? command.method : 'GET'} ${typeof at === 'string' ? at : ''}`.trim(), more: '', step: one.step, isUndo };
    });
    const jobs = trial.steps.filter((row) => row.kind === 'forward' && row.attempt === 1 && row.status !== 'skipped').flatMap((row): Outside[] => {
        const name = items.get(row.step ?? '')?.step.procedure;
        return typeof name === 'string' && name.includes('.') ? [{ kind: 'job', what: name, more: '', step: row.step ?? '' }] : [];
    });
    const records = (trial.records ?? []).map((one): Outside => ({ kind: 'record', what: `${one.object}/${one.id}`, more: one.data === null ? 'deleted' : one.version === 1 ? 'created' : 'written', step: '' }));
    const messages = (trial.messages ?? []).map((one): Outside => {
        const { to, about } = lettersOf(one.body);
        return { kind: 'message', what: [one.kind, to || one.name].filter(Boolean).join(' · '), more: about, step: one.step ?? '' };
    });
    return [...counted(calls), ...jobs, ...records, ...messages, ...(trial.children ?? []).map((one): Outside => ({ kind: 'process', what: one.code, more: one.status, step: '' }))];
}

/** What was tried, as a test that it stays so. */
export function testOf(name: string, input: unknown, pins: Pin[], trial: Trial): Record<string, unknown> {
    const { signals: _, ...mocks } = mocksOf(pins);
    const signals = pins.filter((pin) => pin.kind === 'signal').map((pin) => ({ type: pin.what, payload: pin.answer }));
    const steps = trial.steps.filter((row) => row.kind === 'forward' && row.attempt === 1).map((row) => (row.status === 'completed' ? row.step : `${row.step} ${row.status}`));
    return { name, input, ...(signals.length ? { signals } : {}), ...(Object.keys(mocks).length ? { mocks } : {}), expect: { status: trial.status, steps } };
}
