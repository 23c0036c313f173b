// Sentence.tsx - why it does not go on, since when, until when; and the one button that does something about it.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Glyph } from '../../lib/icons';
import { Button, useNow } from '../../lib/parts';
import { lookOf, stateOf, undoFailed, wasRolledBack } from '../../lib/status';
import { nameOf, timeoutTo } from '../../lib/steps';
import { Say, t } from '../../lib/text';
import { between, when } from '../../lib/time';
import { type Execution, type StepDef, type WaitingFor, may } from '../../lib/types';
import { listed, whom } from '../../lib/why';
import { Awaited } from './Family';

interface Said { tone: string; glyph: string; say: ReactNode; sub?: ReactNode; action?: string; label?: string; icon?: string }

const WORKER_LATE_MS = 60000;

const Letters = ({ of }: { of: Execution }) => <Link to="/dlq" search={{ execution: of.id } as Record<string, string>}>{t('Open the dead letter')}</Link>;

const since = (x: WaitingFor, now: number) => (x.since ? t('since {when} ({long})', { when: when(x.since), long: between(x.since, now) }) : '');

function waiting(x: Execution, w: WaitingFor, steps: Map<string, StepDef>, now: number): Said {
    const step = (w.kind === 'debug' ? w.next : w.step) ?? x.currentStep ?? '';
    const def = steps.get(step);
    const at = def ? nameOf(def) : step;
    const late = def ? timeoutTo(def) : null;
    const gives = w.until ? (late ? <Say text=" Gives up **{when}**, then goes to `{to}`." values={{ when: when(w.until), to: late }} /> : <Say text=" Gives up **{when}**." values={{ when: when(w.until) }} />) : '';
    const first = Array.isArray(w.signalType) ? w.signalType[0] : w.signalType;
    const many = w.branchCount ?? w.branches?.length ?? 0;
    const others = many > 1 ? t('{n} other branch waits as well.|{n} other branches wait as well.', { n: many - 1 }) : undefined;
    const base = { tone: 'wait', glyph: 'waiting' };
    switch (w.kind) {
        case 'signal':
            return w.assignee
                ? { ...base, say: <><Say text="Waits at **{at}** for **{whom}** to answer, {since}." values={{ at, whom: whom(w.assignee), since: since(w, now) }} />{gives}</>, sub: w.title ? `“${w.title}”` : others, action: 'signal', label: t('Send {type}…', { type: first ?? '' }), icon: 'send' }
                : { ...base, say: <><Say text="Waits at **{at}** for the signal **{type}**, {since}." values={{ at, type: listed(w.signalType), since: since(w, now) }} />{gives}</>, sub: w.correlation ? t('It is found by the correlation {name}.', { name: w.correlation }) : others, action: 'signal', label: t('Send {type}…', { type: first ?? '' }), icon: 'send' };
        case 'timer':
            return { ...base, say: w.until ? <Say text="Waits at **{at}** until **{when}**, in {long}." values={{ at, when: when(w.until, { seconds: true }), long: between(new Date(now).toISOString(), w.until) }} /> : <Say text="Waits at **{at}** for its time." values={{ at }} />, sub: others };
        case 'retry': {
            const next = w.until;
            return { ...base, say: <Say text="Tries **{at}** again {when}: **{message}**." values={{ at, when: next ? t('at {when}', { when: when(next, { seconds: true }) }) : t('soon'), message: w.error?.message ?? t('the last attempt failed') }} />, sub: t('It goes on by itself; nothing needs to be done.') };
        }
        case 'incident':
            return { tone: 'held', glyph: 'held', say: <><Say text="Held at **{at}**, {since}: **{message}**" values={{ at, since: since(w, now), message: w.error?.message ?? '' }} /> <code>{w.error?.code}</code></>, sub: t('Nothing was undone. Mend the cause and retry, skip the step with a result of your own, or cancel.'), action: 'retry', label: t('Retry…'), icon: 'redo' };
        case 'paused':
            return { tone: 'none', glyph: 'paused', say: <Say text="Paused at **{at}** by **{name}**, {since}." values={{ at, name: w.by?.name ?? t('somebody'), since: since(w, now) }} />, sub: w.reason ? `“${w.reason}”` : t('No step begins and no wait ends until it is resumed; its deadline goes on.'), action: 'resume', label: t('Resume…'), icon: 'play' };
        case 'reconcile':
            return { tone: w.until ? 'wait' : 'held', glyph: w.until ? 'waiting' : 'unknown', say: <Say text="Nobody knows whether **{at}** has happened: **{message}**." values={{ at, message: w.error?.message ?? '' }} />, sub: w.until ? t('It asks again at {when}.', { when: when(w.until, { seconds: true }) }) : <>{t('Find out, and say so in its dead letter. It is not sent a second time until then.')} <Letters of={x} /></> };
        case 'child':
            return { ...base, say: w.code ? <Say text="Waits at **{at}** for **{code}**, which it has started, {since}." values={{ at, code: w.code, since: since(w, now) }} /> : <Say text="Waits at **{at}** for what it has started, {since}." values={{ at, since: since(w, now) }} />, sub: w.executionId ? <Awaited x={x} /> : others };
        case 'call': return { ...base, say: w.url ? <Say text="Waits at **{at}** for the answer of **{url}**, {since}." values={{ at, url: `${w.method ?? ''} ${w.url}`.trim(), since: since(w, now) }} /> : <Say text="Waits at **{at}** for the answer of a call, {since}." values={{ at, since: since(w, now) }} />, sub: w.queued ? t('It has not been sent yet: as many calls as may be are under way to this host.') : others };
        case 'job': {
            const what = w.procedure ?? '';
            const seen = <>{w.reason && <>“{w.reason}” </>}<Link to="/server">{t('See what workers have to do')}</Link></>;
            if (w.leaseUntil) return { ...base, say: <Say text="Waits at **{at}** for a worker to end **{what}**, {since}." values={{ at, what, since: since(w, now) }} />, sub: seen };
            // A worker that runs takes a job at once. Only a person can start one: amber, as everything that waits for somebody.
            const isLate = w.since !== undefined && now - Date.parse(w.since) > WORKER_LATE_MS;
            return isLate ? { tone: 'held', glyph: 'waiting', say: <Say text="No worker takes **{what}**, which **{at}** needs, {since}." values={{ what, at, since: since(w, now) }} />, sub: <>{t('Start the worker that does it, and it goes on by itself.')} {seen}</> }
                : { ...base, say: <Say text="Waits at **{at}** for a worker to take **{what}**, {since}." values={{ at, what, since: since(w, now) }} />, sub: seen };
        }
        case 'debug': return { tone: 'debug', glyph: 'debug', say: <Say text="Stopped by a debugger before **{at}**, {since}." values={{ at, since: since(w, now) }} />, sub: t('It goes on when somebody lets it.'), action: 'continue', label: t('Let it go on…'), icon: 'play' };
        default: return { ...base, say: <Say text="Waits at **{at}**, {since}." values={{ at, since: since(w, now) }} />, sub: others };
    }
}

export function sentenceOf(x: Execution, steps: Map<string, StepDef>, now: number): Said {
    const start = x.startedAt ?? x.createdAt;
    const undone = x.error?.compensation?.compensated.length ?? 0;
    const notUndone = x.error?.compensation?.failed ?? [];
    if (x.status === 'failed') {
        const step = x.error?.step;
        const at = step ? (steps.get(step) ? nameOf(steps.get(step)!) : step) : '';
        const sub = notUndone.length ? <>{t('{n} step could not be undone: {names}.|{n} steps could not be undone: {names}.', { n: notUndone.length, names: notUndone.join(', ') })} <Letters of={x} /></>
            : undone ? t('What had been done was undone, the last first: {n} step. It cannot be retried; the same input can be started anew.|What had been done was undone, the last first: {n} steps. It cannot be retried; the same input can be started anew.', { n: undone })
            : x.actions.includes('retry') ? t('Nothing was undone. It can be retried at the step that failed.') : t('It is over; the same input can be started anew.');
        return { tone: 'bad', glyph: 'failed', say: <>{at ? <Say text="Failed at **{at}** after {long}: **{message}**" values={{ at, long: between(start, x.completedAt ?? now), message: x.error?.message ?? '' }} /> : <Say text="Failed after {long}: **{message}**" values={{ long: between(start, x.completedAt ?? now), message: x.error?.message ?? '' }} />} <code>{x.error?.code}</code></>, sub, ...(x.actions.includes('retry') ? { action: 'retry', label: t('Retry…'), icon: 'redo' } : { action: 'again', label: t('Start again…'), icon: 'redo' }) };
    }
    if (x.status === 'cancelled') return { tone: 'none', glyph: 'cancelled', say: <Say text="Cancelled after {long}: **{message}**" values={{ long: between(start, x.completedAt ?? now), message: x.error?.message ?? t('no reason was given') }} />, sub: undone ? t('{n} step undone|{n} steps undone', { n: undone }) : t('nothing was undone'), action: 'again', label: t('Start again…'), icon: 'redo' };
    if (x.status === 'completed') return { tone: 'ok', glyph: 'completed', say: <Say text="Completed in **{long}**." values={{ long: between(start, x.completedAt ?? now) }} /> };
    if (x.status === 'compensating') return { tone: 'undo', glyph: 'undoing', say: <Say text="Goes back: **{message}**" values={{ message: x.error?.message ?? t('what was done is undone, the last first') }} />, sub: x.waitingFor?.error?.message };
    if (x.status === 'running') return { tone: 'run', glyph: 'running', say: x.currentStep ? <Say text="Runs at **{at}**." values={{ at: steps.get(x.currentStep) ? nameOf(steps.get(x.currentStep)!) : x.currentStep }} /> : t('It runs.') };
    if (x.status === 'pending') return { tone: 'none', glyph: 'pending', say: t('It has not begun yet.') };
    if (x.waitingFor) {
        const held = stateOf(x) === 'held' && x.waitingFor.kind !== 'incident' ? x.waitingFor.branches?.find((b) => b.kind === 'incident') : undefined;
        return waiting(x, held ?? x.waitingFor, steps, now);
    }
    return { tone: lookOf(x.status).tone, glyph: lookOf(x.status).glyph, say: t(lookOf(x.status).word) };
}

export function Sentence({ x, steps, act, mayAct }: { x: Execution; steps: Map<string, StepDef>; act: (action: string) => void; mayAct: boolean }) {
    const now = useNow(x.completedAt ? null : 1000);
    const said = sentenceOf(x, steps, now);
    return (
        <div className={`why ${said.tone}`}>
            <Glyph name={said.glyph} tone={said.tone} className={said.glyph === 'running' ? 'turn' : ''} />
            <div className="grow"><div className="say">{said.say}</div>{said.sub && <div className="sub">{said.sub}</div>}</div>
            {said.action && mayAct && may(x, said.action) && <Button kind="ink" icon={said.icon} onClick={() => act(said.action!)}>{said.label}</Button>}
        </div>
    );
}

export { undoFailed, wasRolledBack };
