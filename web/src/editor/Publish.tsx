// Publish.tsx - a draft becomes the version that new executions run with; or the version before becomes it again.
import { useState } from 'react';
import { Problem, post } from '../lib/api';
import { Button, Dialog, Field, Refusal } from '../lib/parts';
import { t } from '../lib/text';
import type { DefinitionKind } from './model';
import { pathOfKind } from './stored';

/** `saved` saves what is here, and answers the draft that it is on the server; `another` is for a draft that somebody else has changed since. */
export function PublishDialog({ kind, code, next, saved, close, done, another }: { kind: DefinitionKind; code: string; next: number; saved: () => Promise<number | null>; close: () => void; done: (version: number) => void; another: () => void }) {
    const [summary, say] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const publish = async () => {
        work(true);
        try {
            const draft = await saved();
            if (draft === null) throw new Error(t('The draft is not saved yet.'));
            const { version } = await post<{ version: number }>(`${pathOfKind(kind)}/${code}/publish`, summary ? { changeSummary: summary } : {}, { once: true, headers: { 'If-Match': `"${draft}"` } });
            done(version);
        } catch (why) {
            if (why instanceof Problem && why.status === 412) return another();
            refuse(why);
            work(false);
        }
    };
    return (
        <Dialog title={t('Publish version {n}?', { n: next })} lead={t('Executions that start from now on run with it. Those that run now stay with theirs.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={busy} onClick={() => void publish()}>{t('Publish version {n}', { n: next })}</Button>
        </>}>
            <Field label={t('What changes, and why')} note={t('optional')} id="summary"><input id="summary" autoFocus className="inp" value={summary} onChange={(event) => say(event.target.value)} onKeyDown={(event) => { if (event.key === 'Enter' && !busy) void publish(); }} /></Field>
            <Refusal error={error} sentence={error ? t('It was not published.') : undefined} />
        </Dialog>
    );
}

export function RevertDialog({ kind, code, to, close, done }: { kind: DefinitionKind; code: string; to: number; close: () => void; done: () => void }) {
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const revert = async () => {
        work(true);
        try {
            await post(`${pathOfKind(kind)}/${code}/revert`, {}, { once: true });
            done();
        } catch (why) {
            refuse(why);
            work(false);
        }
    };
    return (
        <Dialog title={t('Revert to version {n}?', { n: to })} lead={t('It is published again, under its own number. A draft stays as it is, and so do executions that run.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={busy} onClick={() => void revert()}>{t('Revert to version {n}', { n: to })}</Button>
        </>}><Refusal error={error} sentence={error ? t('It was not reverted.') : undefined} /></Dialog>
    );
}
