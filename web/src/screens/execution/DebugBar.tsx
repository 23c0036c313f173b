// DebugBar.tsx - stepping through an execution that is debugged: the next step, up to one, to the end; where it stops; variables for what comes.
import { useState } from 'react';
import { Problem, post } from '../../lib/api';
import { readJson } from '../../lib/exact';
import { Button, Refusal } from '../../lib/parts';
import { stepsByCode } from '../../lib/steps';
import { t } from '../../lib/text';
import type { Definition, Execution } from '../../lib/types';
import './debug.css';

/** Where it may stop: steps, or nodes of a graph, in the order in which they are written. */
export function codesOf(definition: Definition | undefined): string[] {
    const nodes = (definition as { nodes?: { id: string }[] } | undefined)?.nodes;
    return nodes ? nodes.map((node) => node.id) : [...stepsByCode(definition).keys()];
}

interface Props { x: Execution; codes: string[]; nameOfStep: (code: string) => string; changed: () => void }

export function DebugBar({ x, codes, nameOfStep, changed }: Props) {
    const [chosen, choose] = useState('');
    const [variable, name] = useState('');
    const [value, write] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const isStopped = x.status === 'waiting_debug';
    const breakpoints = x.breakpoints ?? [];
    const code = codes.includes(chosen) ? chosen : (x.waitingFor?.next ?? codes[0] ?? '');

    const ask = async (action: string, body: () => unknown) => {
        work(true);
        refuse(null);
        try {
            await post(`/executions/${x.id}/${action}`, body(), { once: true });
            if (action === 'continue') { name(''); write(''); }
        } catch (why) {
            refuse(why instanceof SyntaxError ? t('The value is no JSON: {why}', { why: why.message }) : why);
        } finally {
            changed();
            work(false);
        }
    };
    const goOn = (how: Record<string, unknown>) => void ask('continue', () => ({ ...how, ...(variable.trim() ? { set: { variables: { [variable.trim()]: readJson(value) } } } : {}) }));
    const toggle = () => void ask('breakpoints', () => ({ nodes: breakpoints.includes(code) ? breakpoints.filter((one) => one !== code) : [...breakpoints, code] }));
    const moved = error instanceof Problem && error.status === 409;
    return (
        <section className="debugbar" aria-label={t('Debugger')}>
            <div className="row">
                <Button kind="ink" icon="step" disabled={!isStopped || busy} onClick={() => goOn({})}>{t('Next step')}</Button>
                <Button icon="play" disabled={!isStopped || busy} onClick={() => goOn({ to: 'end' })}>{t('To the end')}</Button>
                <select className="inp" aria-label={t('Step')} value={code} onChange={(event) => choose(event.target.value)}>{codes.map((one) => <option key={one} value={one}>{nameOfStep(one)}{breakpoints.includes(one) ? ` · ${t('stops here')}` : ''}</option>)}</select>
                <Button disabled={!isStopped || busy || !code} onClick={() => goOn({ to: code })}>{t('Up to this step')}</Button>
                <Button disabled={busy || !code} aria-pressed={breakpoints.includes(code)} onClick={toggle}>{breakpoints.includes(code) ? t('Do not stop here') : t('Stop here')}</Button>
            </div>
            <div className="row">
                <input className="inp mono" aria-label={t('Variable')} placeholder={t('Variable')} value={variable} onChange={(event) => name(event.target.value)} />
                <input className="inp mono" aria-label={t('Its value, JSON')} placeholder={t('Its value, JSON')} value={value} onChange={(event) => write(event.target.value)} />
                <span className="t3">{breakpoints.length > 0 ? t('Stops before {names}.', { names: breakpoints.map(nameOfStep).join(', ') }) : t('No breakpoints.')}</span>
            </div>
            <Refusal error={error} sentence={moved ? t('It has gone on in the meantime. Nothing was changed.') : error ? t('Nothing was changed.') : undefined} />
        </section>
    );
}
