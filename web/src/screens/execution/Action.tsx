// Action.tsx - doing something with one execution: what follows from it, what is asked first, and the server's own words when it refuses.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, Problem, post, remove } from '../../lib/api';
import { readJson } from '../../lib/exact';
import { errorsByField, FormFields, type Values } from '../../lib/form';
import { Button, Dialog, Field, Refusal, Segments } from '../../lib/parts';
import { nameOf } from '../../lib/steps';
import { t } from '../../lib/text';
import type { Definition, Execution, FormField, StepDef, WaitingFor } from '../../lib/types';
import type { Undoable } from './timeline';

const TITLE: Record<string, string> = { retry: 'Retry {name}?', skip: 'Skip the step of {name}?', again: 'Start {name} again?', cancel: 'Cancel {name}?', pause: 'Pause {name}?', resume: 'Resume {name}?', continue: 'Let {name} go on?', migrate: 'Move {name} to another version?', delete: 'Delete {name}?', signal: 'Send a signal to {name}', assign: 'Who answers for {name}?' };
const VERB: Record<string, string> = { retry: 'Retry it', skip: 'Skip the step', again: 'Start it again', cancel: 'Cancel the execution', pause: 'Pause it', resume: 'Resume it', continue: 'Let it go on', migrate: 'Move it', delete: 'Delete it', signal: 'Send the signal', assign: 'Give it to them' };
export const LABEL: Record<string, string> = { retry: 'Retry…', skip: 'Skip…', again: 'Start again…', cancel: 'Cancel…', pause: 'Pause…', resume: 'Resume…', continue: 'Let it go on…', migrate: 'Migrate…', delete: 'Delete…', signal: 'Signal…', assign: 'Assign…' };
export const ICON: Record<string, string> = { retry: 'redo', skip: 'step', again: 'redo', cancel: 'stop', pause: 'pause', resume: 'play', continue: 'play', migrate: 'up', delete: 'x', signal: 'send', assign: 'user' };
const MEANS: Record<string, string> = {
    retry: 'It goes on at the step that failed. Nothing that is completed runs again.',
    skip: 'The step where it is held counts as skipped; with a result, as done with it. The next one follows.',
    again: 'A new execution begins, with the same input. This one stays as it is.',
    cancel: 'It is stopped, and what it has done is undone, the last first.',
    pause: 'No step begins and no wait ends until it is resumed. Its deadline goes on.',
    resume: 'It goes on where it was paused; what has become due meanwhile happens at once.',
    continue: 'It goes on from where the debugger stopped it, to the next breakpoint or to its end.',
    migrate: 'It waits on where it waits, with the steps of the other version from there on.',
    delete: 'The execution and its history are erased for good.',
    signal: 'What waits for it takes it; otherwise it is kept for a later wait.',
    assign: 'It leaves the inboxes where it is now. Who had it before cannot answer it any more.',
};

const UNDO_SHOWN = 8;

interface Versions { items: { version: number; status?: string; changeSummary?: string | null; createdAt: string }[] }

export function waitsOf(x: Execution): WaitingFor[] {
    if (!x.waitingFor) return [];
    return [x.waitingFor, ...(x.waitingFor.branches ?? [])].filter((w) => w.kind === 'signal');
}

/** What follows, with what is chosen in the dialog. */
function meaningOf(action: string, chosen: { from: StepDef | undefined; undoes: boolean; compensate: string }): string {
    if (action === 'retry' && chosen.from) return t('It goes on at {name}: that step and those behind it run, also those that have run before.', { name: nameOf(chosen.from) });
    if (action === 'cancel' && !chosen.undoes) return chosen.compensate === 'no' ? t('It is stopped. What it has done stays as it is; nothing is undone.') : t('It is stopped. The process says that what it has done stays as it is; nothing is undone.');
    return t(MEANS[action] ?? '');
}

interface DialogProps { action: string; x: Execution; steps: Map<string, StepDef>; input: FormField[]; /** What cancelling would undo, and whether the process says so. */ undo: Undoable[]; onError: string; close: () => void; changed: () => void }

export function ActionDialog({ action, x, steps, input, undo: undoable, onError, close, changed }: DialogProps) {
    const waits = waitsOf(x);
    const types = [...new Set(waits.flatMap((w) => w.signalType ?? []))];
    const [type, chooseType] = useState(types[0] ?? '');
    const form: FormField[] = waits.find((w) => ([] as string[]).concat(w.signalType ?? []).includes(type))?.form ?? [];
    const [payload, fill] = useState<Values>({});
    const [reason, explain] = useState('');
    const [compensate, undo] = useState<'default' | 'yes' | 'no'>('default');
    const [version, chooseVersion] = useState('');
    const [from, chooseFrom] = useState('');
    const [output, write] = useState('');
    const [corrected, correct] = useState<Values | null>(null);
    const [assignee, give] = useState('');
    const [step, chooseStep] = useState(waits[0]?.step ?? '');
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const go = useNavigate();
    const wantsVersion = action === 'retry' || action === 'again' || action === 'migrate';
    const versions = useQuery({ queryKey: ['versions', x.kind, x.code], enabled: wantsVersion, queryFn: () => call<Versions>(`/${x.kind}s/${x.code}/versions?limit=50`) });
    const name = x.key ?? `…${x.id.slice(-8)}`;
    const undoes = compensate === 'yes' || (compensate === 'default' && onError === 'compensate');

    const body = (): unknown => {
        const chosen = version ? { version: Number(version) } : {};
        switch (action) {
            case 'signal': return { type, payload };
            case 'cancel': return { ...(reason ? { reason } : {}), ...(compensate === 'default' ? {} : { compensate: compensate === 'yes' }) };
            case 'pause': return reason ? { reason } : {};
            case 'retry': return { ...chosen, ...(from ? { from } : {}), ...(corrected ? { input: corrected } : {}) };
            case 'assign': return { assignee: assignee.includes(',') ? assignee.split(',').map((one) => one.trim()).filter(Boolean) : assignee.trim(), ...(step ? { step } : {}) };
            case 'continue': return { to: 'end' };
            case 'skip': return output.trim() ? { output: readJson(output) } : {};
            default: return chosen;
        }
    };

    const run = async () => {
        work(true);
        refuse(null);
        try {
            if (action === 'delete') {
                await remove(`/executions/${x.id}`);
                close();
                return void go({ to: '/executions' });
            }
            const answer = await post<Execution | undefined>(`/executions/${x.id}/${action}`, body(), { once: true });
            close();
            changed();
            if (action === 'again' && answer?.id) void go({ to: '/executions/$id', params: { id: answer.id } });
        } catch (why) {
            refuse(why instanceof SyntaxError ? t('The result is no JSON: {why}', { why: why.message }) : why);
            // It has gone on in the meantime: show how it stands now, and keep what was typed.
            if (why instanceof Problem && why.status === 409) changed();
        } finally {
            work(false);
        }
    };

    const moved = error instanceof Problem && error.status === 409;
    const errors = error instanceof Problem ? errorsByField(error.body.errors, action === 'retry' ? '/input/' : '/payload/') : {};
    // The fields of the version that it will run with; another one may ask for other input.
    const other = useQuery({ queryKey: ['version', x.kind, x.code, Number(version)], enabled: action === 'retry' && version !== '', staleTime: Infinity, queryFn: () => call<{ definition: Definition }>(`/${x.kind}s/${x.code}/versions/${version}`) });
    const fields = (version ? other.data?.definition.input : undefined) ?? input;
    return (
        <Dialog title={t(TITLE[action] ?? action, { name })} lead={action === 'signal' && waits[0]?.title ? `“${waits[0].title}”` : meaningOf(action, { from: steps.get(from), undoes, compensate })} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind={action === 'delete' || action === 'cancel' ? 'bad solid' : 'ink'} disabled={busy || (action === 'signal' && !type) || (action === 'migrate' && !version) || (action === 'assign' && assignee.trim() === '')} onClick={run}>{action === 'signal' && type ? t('Send {type}', { type }) : t(VERB[action] ?? action)}</Button>
        </>}>
            {action === 'signal' && (types.length > 1
                ? <Field label={t('Signal')}><Segments label={t('Signal')} value={type} onChange={chooseType} options={types.map((value) => ({ value, label: value }))} /></Field>
                : types.length === 0 && <Field label={t('Signal')} id="signal-type"><input id="signal-type" className="inp mono" value={type} onChange={(event) => chooseType(event.target.value)} /></Field>)}
            {action === 'signal' && <FormFields key={type} fields={form} values={payload} change={fill} errors={errors} />}
            {(action === 'cancel' || action === 'pause') && <Field label={t('Reason')} note={t('optional, for history and audit')} id="reason"><input id="reason" data-autofocus className="inp" value={reason} onChange={(event) => explain(event.target.value)} /></Field>}
            {action === 'cancel' && <Field label={t('What was done')}><Segments label={t('What was done')} value={compensate} onChange={undo} options={[{ value: 'default', label: t('As the process says') }, { value: 'yes', label: t('Undo it') }, { value: 'no', label: t('Leave it') }]} /></Field>}
            {action === 'cancel' && undoes && (undoable.length === 0 ? <p className="t3">{t('Nothing that it has done has a rollback.')}</p> : <ol className="undolist" aria-label={t('What is undone')}>{undoable.slice(0, UNDO_SHOWN).map((one, i) => <li key={one.code}><span className="ord">{i + 1}</span><span>{nameOf(steps.get(one.code)!)}{one.visits > 1 && <span className="t3"> × {one.visits}</span>}</span></li>)}{undoable.length > UNDO_SHOWN && <li className="t3">{t('and {n} more', { n: undoable.length - UNDO_SHOWN })}</li>}</ol>)}
            {action === 'skip' && <Field label={t('Result of the step')} note={t('optional')} id="output" help={t('JSON that later steps will see as its result.')}><textarea id="output" className="inp mono" spellCheck={false} value={output} placeholder="{ }" onChange={(event) => write(event.target.value)} /></Field>}
            {action === 'retry' && <Field label={t('From')} id="from"><select id="from" className="inp" value={from} onChange={(event) => chooseFrom(event.target.value)}><option value="">{t('the step that failed')}</option>{[...steps.values()].map((one) => <option key={one.code} value={one.code}>{nameOf(one)}</option>)}</select></Field>}
            {wantsVersion && <Field label={action === 'migrate' ? t('Version') : t('Run with')} id="version"><select id="version" className="inp" value={version} onChange={(event) => chooseVersion(event.target.value)}>
                <option value="">{action === 'retry' ? t('the version it began with') : action === 'again' ? t('the published version') : t('Choose')}</option>
                {(versions.data?.items ?? []).filter((v) => v.version !== (action === 'migrate' ? x.version : -1) && v.status !== 'draft').map((v) => <option key={v.version} value={v.version}>{t('version {n}', { n: v.version })}{v.changeSummary ? `: ${v.changeSummary}` : ''}</option>)}
            </select></Field>}
            {action === 'retry' && <div className="f"><label className="row"><input type="checkbox" className="box" checked={corrected !== null} onChange={(event) => correct(event.target.checked ? ((x.input as Values | undefined) ?? {}) : null)} />{t('Correct the input, too')}</label></div>}
            {action === 'retry' && corrected && <FormFields key={`${version}-${fields.length}`} fields={fields} values={corrected} change={correct} errors={errors} />}
            {action === 'assign' && waits.length > 1 && <Field label={t('Step')}><Segments label={t('Step')} value={step} onChange={chooseStep} options={[...new Set(waits.map((w) => w.step ?? ''))].map((value) => ({ value, label: value }))} /></Field>}
            {action === 'assign' && <Field label={t('Who answers')} id="assignee" help={t('An e-mail address, group:name, or several with commas between.')}><input id="assignee" data-autofocus className="inp" value={assignee} placeholder="group:directors" onChange={(event) => give(event.target.value)} /></Field>}
            <Refusal error={error} sentence={moved ? t('It has gone on in the meantime. Nothing was changed.') : error ? t('Nothing was changed.') : undefined} />
        </Dialog>
    );
}
