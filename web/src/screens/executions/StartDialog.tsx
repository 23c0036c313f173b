// StartDialog.tsx - start an execution: the process, its input as a form, a key.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { all, call, type Page, Problem, post, query } from '../../lib/api';
import { errorsByField, FormFields, missingOf, unreadableOf, type Values, withDefaults } from '../../lib/form';
import { Glyph } from '../../lib/icons';
import { Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import type { Definition, Execution, Process } from '../../lib/types';

/** The execution of this process that was started last, with what it was given. */
const useEarlier = (code: string) => useQuery({
    queryKey: ['executions', 'earlier', code], enabled: code !== '',
    queryFn: async () => {
        const last = (await call<Page<Execution>>(`/executions${query({ code, limit: 1 })}`)).items[0];
        return last ? await call<Execution>(`/executions/${last.id}`) : null;
    },
});

export function StartDialog({ code: first, close }: { code?: string; close: () => void }) {
    const [code, choose] = useState(first && first !== '1' ? first : '');
    const [given, fill] = useState<Values | null>(null);
    const [round, again] = useState(0);
    const [key, name] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const go = useNavigate();
    const processes = useQuery({ queryKey: ['processes'], queryFn: () => all<Process>('/processes') });
    const startable = (processes.data ?? []).filter((p) => p.published);
    const chosen = startable.find((p) => p.code === code);
    const definition = useQuery({
        queryKey: ['definition', chosen?.kind, code], enabled: Boolean(chosen),
        queryFn: () => call<{ published: { definition: Definition } }>(`/${chosen!.kind}s/${code}`),
    });
    const fields = definition.data?.published.definition.input ?? [];
    const values = given ?? withDefaults(fields);
    const earlier = useEarlier(chosen ? code : '').data;
    const missing = missingOf(fields, values);
    const wrong = missing.length + unreadableOf(values);
    const about = definition.data?.published.definition.description;
    /** What the execution before was given; what is secret was masked, and is asked for again. */
    const fillFromEarlier = () => {
        const known = new Set(fields.filter((field) => !field.sensitive).map((field) => field.name));
        const input = Object.entries((earlier?.input ?? {}) as Values);
        const both: Values = { ...values, ...Object.fromEntries(input.filter(([field]) => known.has(field))) };
        fill(fields.length === 0 ? Object.fromEntries(input) : Object.fromEntries(fields.filter((field) => field.name in both).map((field) => [field.name, both[field.name]])));
        again(round + 1);
    };
    const start = async () => {
        work(true);
        try {
            const made = await post<Execution>('/executions', { code, input: values, ...(key ? { key } : {}) }, { once: true });
            close();
            void go({ to: '/executions/$id', params: { id: made.id } });
        } catch (why) {
            refuse(why);
            work(false);
        }
    };
    const errors = error instanceof Problem ? errorsByField(error.body.errors, '/input/') : {};
    return (
        <Dialog title={chosen ? t('Start {name}', { name: chosen.name ?? chosen.code }) : t('Start an execution')} onClose={close}
            lead={chosen ? <>{fields.length > 0 ? <>{t('Version {n}.', { n: chosen.published!.version })} {t('It asks for {n} thing.|It asks for {n} things.', { n: fields.length })}</> : t('Version {n}, as published.', { n: chosen.published!.version })} {about}</> : t('Which process?')} actions={<>
                {earlier && <Button kind="quiet" icon="redo" className="fillfrom" onClick={fillFromEarlier}>{t('Fill from {name}', { name: earlier.key ?? `…${earlier.id.slice(-6)}` })}</Button>}
                <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
                {chosen && wrong > 0 ? <Button onClick={() => document.getElementById(`field-${missing[0]?.name ?? ''}`)?.focus()}><Glyph name="error" tone="bad" />{t('{n} field before starting|{n} fields before starting', { n: wrong })}</Button> : <Button kind="ink" icon="play" disabled={!chosen || busy || definition.isLoading} onClick={start}>{chosen ? t('Start {name}', { name: chosen.name ?? chosen.code }) : t('Start')}</Button>}
            </>}>
            {!first || first === '1' ? (
                <Field label={t('Process')} id="process">
                    <select id="process" className="inp" value={code} onChange={(event) => { choose(event.target.value); fill(null); refuse(null); }}>
                        <option value="">{t('Choose')}</option>
                        {startable.map((p) => <option key={p.code} value={p.code}>{p.name ?? p.code}</option>)}
                    </select>
                </Field>
            ) : null}
            {definition.data && <FormFields key={`${code}${round}`} fields={fields} values={values} change={fill} errors={errors} />}
            {definition.data && <Field label={t('Key')} note={t('optional')} id="key" help={t('The name of this execution among others, such as an order number. The process may make one by itself.')}><input id="key" className="inp" value={key} onChange={(event) => name(event.target.value)} /></Field>}
            <Refusal error={error} sentence={error ? t('It was not started.') : undefined} />
        </Dialog>
    );
}
