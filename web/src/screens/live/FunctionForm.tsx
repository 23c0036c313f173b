// FunctionForm.tsx - a function: its parameters, its expression, and what it makes of values before anybody uses it.
import { useEffect, useState } from 'react';
import { Problem, post } from '../../lib/api';
import { FormFields, type Values } from '../../lib/form';
import { Glyph } from '../../lib/icons';
import { Button, Field } from '../../lib/parts';
import { t } from '../../lib/text';
import type { Parameter, Work } from './kinds';

export interface FormProps { work: Work; change: (to: Work) => void; locked: boolean; errors: Record<string, string>; name: string; uses: { kind: string; code: string; name?: string; step: string | null }[] }

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'any'];

/** Values for the parameters, and the server's answer to them. */
function Try({ params, body }: { params: Parameter[]; body: string }) {
    const [values, fill] = useState<Values>({});
    const [outcome, say] = useState<{ value?: unknown; type?: string; error?: string; column?: number } | null>(null);
    const named = params.filter((p) => p.name !== '');
    const missing = named.filter((p) => values[p.name] === undefined).length;
    const context = JSON.stringify(Object.fromEntries(named.map((p) => [p.name, values[p.name]])));
    useEffect(() => {
        if (missing > 0 || body.trim() === '') return say(null);
        const stop = new AbortController();
        const timer = setTimeout(() => void post<{ value: unknown; type: string }>('/eval', `{"expression": ${JSON.stringify(body)}, "context": ${context}}`, { signal: stop.signal })
            .then(say, (why: unknown) => { if (why instanceof Problem) say({ error: why.body.errors?.[0]?.message ?? why.message, column: why.body.errors?.[0]?.column }); }), 250);
        return () => { clearTimeout(timer); stop.abort(); };
    }, [body, context, missing]);
    return (
        <section className="try" aria-label={t('Try it')}>
            <h3 className="h">{t('Try it')}</h3>
            {named.length > 0 && <FormFields key={named.map((p) => `${p.name}:${p.type}`).join()} plain still fields={named.map((p) => ({ name: p.name, label: p.name, type: p.type, required: true }))} values={values} change={fill} />}
            {outcome?.error !== undefined ? <p className="outcome bad" role="status"><Glyph name="error" tone="bad" /><span>{outcome.error}{outcome.column ? <span className="t3"> {t('at character {n}', { n: outcome.column })}</span> : ''}</span></p>
                : outcome ? <p className="outcome" role="status"><span className="t3">{t('gives')}</span> <code>{JSON.stringify(outcome.value)}</code> <span className="t3">{outcome.type}</span></p>
                    : <p className="t3" role="status">{missing > 0 ? t('Give values to the parameters, and what it makes of them stands here.') : t('looking…')}</p>}
        </section>
    );
}

export function FunctionForm({ work, change, locked, errors }: FormProps) {
    const params = work.params ?? [];
    const set = (to: Parameter[]) => change({ ...work, params: to });
    return (
        <>
            <div className="f"><span className="flabel">{t('Parameters')}</span>
                {params.map((p, i) => (
                    <div key={i} className="row"><input className="inp mono" aria-label={t('Name')} readOnly={locked} value={p.name} onChange={(event) => set(params.map((q, k) => (k === i ? { ...q, name: event.target.value } : q)))} />
                        <select className="inp" aria-label={t('Type')} disabled={locked} value={p.type} onChange={(event) => set(params.map((q, k) => (k === i ? { ...q, type: event.target.value } : q)))}>{[...new Set([p.type, ...TYPES])].map((type) => <option key={type}>{type}</option>)}</select>
                        {!locked && <Button kind="quiet" square small icon="x" aria-label={t('Remove')} onClick={() => set(params.filter((_, k) => k !== i))} />}</div>
                ))}
                {errors.params && <div className="err" role="alert"><Glyph name="error" tone="bad" /><span>{errors.params}</span></div>}
                {!locked && <div><Button small icon="plus" onClick={() => set([...params, { name: '', type: 'number' }])}>{t('Add a parameter')}</Button></div>}
            </div>
            <Field label={t('Expression')} id="live-body" help={t('CEL over the parameters.')} error={errors.body}><textarea id="live-body" className={`inp mono ${errors.body ? 'wrong' : ''}`} rows={5} spellCheck={false} readOnly={locked} value={work.body ?? ''} onChange={(event) => change({ ...work, body: event.target.value })} /></Field>
            <Try params={params} body={work.body ?? ''} />
        </>
    );
}
