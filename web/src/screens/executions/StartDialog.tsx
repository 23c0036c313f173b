// StartDialog.tsx - start an execution: the process, its input as a form, a key.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { all, call, Problem, post } from '../../lib/api';
import { errorsByField, FormFields, type Values } from '../../lib/form';
import { newId } from '../../lib/insecure';
import { Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import type { Definition, Execution, Process } from '../../lib/types';

export function StartDialog({ code: first, close }: { code?: string; close: () => void }) {
    const [code, choose] = useState(first && first !== '1' ? first : '');
    const [values, fill] = useState<Values>({});
    const [key, name] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const go = useNavigate();
    const processes = useQuery({ queryKey: ['processes'], queryFn: () => all<Process>('/processes') });
    const startable = (processes.data ?? []).filter((p) => p.published && p.kind !== 'procedure');
    const chosen = startable.find((p) => p.code === code);
    const definition = useQuery({
        queryKey: ['definition', chosen?.kind, code], enabled: Boolean(chosen),
        queryFn: () => call<{ published: { definition: Definition } }>(`/${chosen!.kind}s/${code}`),
    });
    const fields = definition.data?.published.definition.input ?? [];
    const start = async () => {
        work(true);
        try {
            const made = await post<Execution>('/executions', { code, input: values, ...(key ? { key } : {}) }, { headers: { 'Idempotency-Key': newId() } });
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
            lead={chosen ? t('Version {n}, as published.', { n: chosen.published!.version }) : t('Which process?')} actions={<>
                <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
                <Button kind="ink" icon="play" disabled={!chosen || busy || definition.isLoading} onClick={start}>{chosen ? t('Start {name}', { name: chosen.name ?? chosen.code }) : t('Start')}</Button>
            </>}>
            {!first || first === '1' ? (
                <Field label={t('Process')} id="process">
                    <select id="process" className="inp" value={code} onChange={(event) => { choose(event.target.value); fill({}); refuse(null); }}>
                        <option value="">{t('Choose')}</option>
                        {startable.map((p) => <option key={p.code} value={p.code}>{p.name ?? p.code}</option>)}
                    </select>
                </Field>
            ) : null}
            {definition.data && <FormFields key={code} fields={fields} values={values} change={fill} errors={errors} />}
            {definition.data && <Field label={t('Key')} note={t('optional')} id="key" help={t('The name of this execution among others, such as an order number. The process may make one by itself.')}><input id="key" className="inp" value={key} onChange={(event) => name(event.target.value)} /></Field>}
            <Refusal error={error} sentence={error ? t('It was not started.') : undefined} />
        </Dialog>
    );
}
