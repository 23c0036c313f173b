// New.tsx - a new process: what it is, what it is called; the draft is made at once, and the constructor opens.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Problem, put } from '../../lib/api';
import { codeOf } from '../../lib/names';
import { Button, Dialog, Field, Refusal, Segments } from '../../lib/parts';
import { t } from '../../lib/text';

export function NewProcess({ close }: { close: () => void }) {
    const [kind, turn] = useState<'scenario' | 'procedure'>('scenario');
    const [name, call] = useState('');
    const [own, write] = useState<string | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const go = useNavigate();
    const code = own ?? codeOf(name);
    const make = async () => {
        work(true);
        try {
            const text = `${JSON.stringify({ code, name: name || undefined, [kind === 'scenario' ? 'steps' : 'commands']: [] }, null, 2)}\n`;
            await put(`/${kind}s/${code}/draft`, text, { headers: { 'If-None-Match': '*' } });
            void go({ to: '/processes/$kind/$code', params: { kind: `${kind}s`, code } });
        } catch (why) {
            refuse(why instanceof Problem && why.status === 412 ? new Problem(412, { ...why.body, detail: t('There is a draft of this code already. Choose another code, or open that one.') }) : why);
            work(false);
        }
    };
    return (
        <Dialog title={t('New process')} onClose={close} lead={kind === 'scenario' ? t('A scenario is steps that are taken one after the other; it can wait for days.') : t('A procedure is a chain of commands that steps of several processes share.')} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={busy || code === ''} onClick={() => void make()}>{kind === 'scenario' ? t('Make the scenario') : t('Make the procedure')}</Button>
        </>}>
            <div className="f"><Segments label={t('Kind')} value={kind} onChange={turn} options={[{ value: 'scenario', label: t('Scenario') }, { value: 'procedure', label: t('Procedure') }]} /></div>
            <Field label={t('Name')} id="new-name" help={t('What people call it.')}><input id="new-name" autoFocus className="inp" value={name} onChange={(event) => call(event.target.value)} onKeyDown={(event) => { if (event.key === 'Enter' && code && !busy) void make(); }} /></Field>
            <Field label={t('Code')} id="new-code" help={t('What machines call it: small letters, digits and _. It stays.')}><input id="new-code" className="inp mono" value={code} spellCheck={false} onChange={(event) => write(event.target.value)} /></Field>
            <Refusal error={error} sentence={error ? t('It was not made.') : undefined} />
        </Dialog>
    );
}
