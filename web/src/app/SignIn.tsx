import { type FormEvent, useState } from 'react';
import { Problem } from '../lib/api';
import { Glyph, Mark } from '../lib/icons';
import { Say, t } from '../lib/text';
import './sign-in.css';

export function SignIn({ enter, error: first }: { enter: (token: string) => Promise<void>; error?: unknown }) {
    const [token, type] = useState('');
    const [error, refuse] = useState<unknown>(first);
    const [busy, work] = useState(false);
    const submit = async (event: FormEvent) => {
        event.preventDefault();
        work(true);
        try {
            await enter(token.trim());
        } catch (why) {
            refuse(why);
            work(false);
        }
    };
    const said = error instanceof Problem ? error.message : error ? t('The server does not answer. What you typed is kept.') : '';
    return (
        <main className="sign-in">
            <form onSubmit={submit}>
                <div className="brand"><Mark size={30} /><span>Pawl</span></div>
                <h1>{t('Sign in')}</h1>
                <p className="t2">{location.host}</p>
                <div className="f">
                    <label htmlFor="token">{t('Token')}</label>
                    <input id="token" className={`inp big ${said ? 'wrong' : ''}`} type="password" autoComplete="off" spellCheck={false} autoFocus
                        value={token} onChange={(event) => { type(event.target.value); refuse(undefined); }} placeholder="pawl_…" aria-invalid={Boolean(said)} />
                    {said && <div className="err" role="alert"><Glyph name="error" tone="bad" /><span>{said}</span></div>}
                </div>
                <button className="btn ink big" type="submit" disabled={busy || token.trim() === ''}>{t('Sign in')}</button>
                <div className="note big"><span><Say text="On the machine where Pawl runs, `pawl login` prints an address that signs you in at once." /></span></div>
                <p className="meta">{t('The token is exchanged for a session of this browser and is not kept in it.')}</p>
            </form>
        </main>
    );
}
