// TemplateForm.tsx - the text of a message, beside what it looks like: with values that one types, or those of an execution that was.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, type Page, Problem, post, query } from '../../lib/api';
import { Glyph } from '../../lib/icons';
import { Field } from '../../lib/parts';
import { t } from '../../lib/text';
import { when } from '../../lib/time';
import type { Execution } from '../../lib/types';
import type { FormProps } from './FunctionForm';
import type { Work } from './kinds';

interface Mail { subject: string; body: string; html: string | null }

/** The names that the text wants, as data to begin with. */
export function wantedBy(work: Work): Record<string, unknown> {
    const data: Record<string, unknown> = {};
    for (const match of `${work.subject ?? ''}\n${work.body ?? ''}\n${work.html ?? ''}`.matchAll(/\bdata\.(\w+)/g)) data[match[1]!] ??= `(${match[1]})`;
    return data;
}

/** What a step would give to the template, with the context of an execution; the server evaluates. */
async function valuesOf(data: unknown, context: unknown): Promise<unknown> {
    const { items: [got] } = await post<{ items: { value?: unknown; error?: { message: string } }[] }>('/eval', { items: [{ value: data }], context });
    if (got?.error) throw new Error(got.error.message);
    return got?.value;
}

/** The data of the step that sends it: somewhere in the definition, by its code. */
function dataOf(definition: unknown, step: string | null, template: string): unknown {
    let found: unknown;
    const walk = (value: unknown, at: string | null): void => {
        if (Array.isArray(value)) return value.forEach((inner) => walk(inner, at));
        if (typeof value !== 'object' || value === null) return;
        const node = value as Record<string, unknown>;
        const here = node !== definition && typeof node.code === 'string' ? node.code : at;
        if (node.template === template && here === step) found ??= node.data ?? {};
        Object.values(node).forEach((inner) => walk(inner, here));
    };
    walk(definition, null);
    return found;
}

/** Executions of the processes that send it; choosing one fills in what it would have been sent with. */
function FromExecution({ name, uses, take, refuse }: { name: string; uses: FormProps['uses']; take: (data: unknown) => void; refuse: (why: unknown) => void }) {
    const processes = uses.filter((use) => use.kind === 'scenario');
    const [id, choose] = useState('');
    const found = useQuery({
        queryKey: ['live', 'senders', name, processes.map((use) => use.code).join()], enabled: processes.length > 0,
        queryFn: async () => (await Promise.all([...new Set(processes.map((use) => use.code))].slice(0, 5).map((code) => call<Page<Execution>>(`/executions${query({ code, limit: 10 })}`)))).flatMap((page) => page.items).sort((a, b) => b.createdAt.localeCompare(a.createdAt)),
    });
    const fill = async (execution: string) => {
        choose(execution);
        const use = processes.find((one) => one.code === found.data?.find((x) => x.id === execution)?.code);
        if (!execution || !use) return;
        try {
            const [x, definition] = await Promise.all([call<Execution>(`/executions/${execution}`), call<{ published: { definition: unknown } }>(`/${use.kind}s/${use.code}`)]);
            take(await valuesOf(dataOf(definition.published.definition, use.step, name), x.context));
        } catch (why) {
            refuse(why);
        }
    };
    if (!found.data || found.data.length === 0) return null;
    return (
        <Field label={t('With the values of')} id="live-sample"><select id="live-sample" className="inp" value={id} onChange={(event) => void fill(event.target.value)}>
            <option value="">{t('what is written below')}</option>
            {found.data.map((x) => <option key={x.id} value={x.id}>{x.key ?? `…${x.id.slice(-6)}`} · {x.code} · {when(x.createdAt)}</option>)}
        </select></Field>
    );
}

function Preview({ work, name, uses }: { work: Work; name: string; uses: FormProps['uses'] }) {
    const [typed, write] = useState<string | null>(null);
    const [mail, show] = useState<Mail | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const wanted = JSON.stringify(wantedBy(work), null, 2);
    const text = typed ?? wanted;
    const body = JSON.stringify(work);
    useEffect(() => {
        const stop = new AbortController();
        const timer = setTimeout(() => {
            try {
                JSON.parse(text);
            } catch (why) {
                return refuse(t('This is no JSON yet: {why}', { why: (why as Error).message }));
            }
            void post<Mail>(`/templates/${encodeURIComponent(name || 'new')}/preview`, `{"data": ${text}, "template": ${body}}`, { signal: stop.signal }).then((answer) => { show(answer); refuse(null); }, (why: unknown) => { if (!stop.signal.aborted) refuse(why); });
        }, 250);
        return () => { clearTimeout(timer); stop.abort(); };
    }, [text, body, name]);
    const said = error instanceof Problem ? (error.body.errors?.[0]?.message ?? error.message) : typeof error === 'string' ? error : '';
    return (
        <section className="try" aria-label={t('Preview')}>
            <h3 className="h">{t('Preview')}</h3>
            <FromExecution name={name} uses={uses} take={(data) => write(JSON.stringify(data, null, 2))} refuse={refuse} />
            <Field label={t('Data')} note={t('as a step gives it')} id="live-data"><textarea id="live-data" className="inp mono" rows={Math.min(8, text.split('\n').length)} spellCheck={false} value={text} onChange={(event) => write(event.target.value)} /></Field>
            {said && <p className="outcome bad" role="status"><Glyph name="error" tone="bad" /><span>{said}</span></p>}
            {mail && <div className={`mail ${said ? 'stale' : ''}`}><p className="m5">{mail.subject}</p><p className="mailbody">{mail.body}</p>{mail.html && <><p className="t3">HTML</p><p className="mailbody mono">{mail.html}</p></>}</div>}
        </section>
    );
}

export function TemplateForm({ work, change, locked, errors, name, uses }: FormProps) {
    const set = (field: 'subject' | 'body' | 'html', value: string) => { const next = { ...work, [field]: value }; if (field === 'html' && value === '') delete next.html; change(next); };
    const look = (field: string) => (errors[field] ? 'wrong' : '');
    return (
        <>
            <Field label={t('Subject')} id="live-subject" error={errors.subject}><input id="live-subject" className={`inp ${look('subject')}`} readOnly={locked} value={work.subject ?? ''} onChange={(event) => set('subject', event.target.value)} /></Field>
            <Field label={t('Text')} id="live-body" help={t('Values stand as {{ data.name }}.')} error={errors.body}><textarea id="live-body" className={`inp ${look('body')}`} rows={Math.max(4, Math.min(14, (work.body ?? '').split('\n').length + 1))} readOnly={locked} value={work.body ?? ''} onChange={(event) => set('body', event.target.value)} /></Field>
            <Field label="HTML" note={t('optional')} id="live-html" error={errors.html}><textarea id="live-html" className={`inp mono ${look('html')}`} rows={work.html ? 6 : 2} spellCheck={false} readOnly={locked} value={work.html ?? ''} onChange={(event) => set('html', event.target.value)} /></Field>
            <Preview work={work} name={name} uses={uses} />
        </>
    );
}
