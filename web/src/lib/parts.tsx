// parts.tsx - small parts that every screen has: buttons, refusals, empty states, dialogs.
import { Modal } from '@mantine/core';
import { type ButtonHTMLAttributes, type ReactNode, useEffect, useState } from 'react';
import { Problem, Unreachable } from './api';
import { Glyph, Icon } from './icons';
import { copyText } from './insecure';
import { t } from './text';

type Kind = 'plain' | 'ink' | 'quiet' | 'bad' | 'bad solid' | 'link';

export function Button({ kind = 'plain', icon, small, square, children, className = '', ...rest }:
    ButtonHTMLAttributes<HTMLButtonElement> & { kind?: Kind; icon?: string; small?: boolean; square?: boolean }) {
    return (
        <button type="button" className={`btn ${kind} ${small ? 'sm' : ''} ${square ? 'sq' : ''} ${className}`} {...rest}>
            {icon && <Icon name={icon} small={!square} />}
            {children}
        </button>
    );
}

/** What the server said no with: our sentence, its words, its code. */
export function Refusal({ error, sentence }: { error: unknown; sentence?: string }) {
    if (!error) return null;
    const isProblem = error instanceof Problem;
    const said = isProblem ? error.message : error instanceof Unreachable ? t('The server does not answer. What you typed is kept.') : String(error);
    return (
        <div className="refuse" role="alert">
            <Glyph name="failed" tone="bad" />
            <div className="grow">
                {sentence && <div className="m5">{sentence}</div>}
                <div className="t2">
                    {isProblem ? `“${said}” ` : said}
                    {isProblem && <code className="t3">{error.status} {error.code}</code>}
                </div>
                {isProblem && error.body.errors?.filter((finding) => finding.message !== said).map((finding) => (
                    <div key={finding.pointer + finding.code} className="t2"><code>{finding.pointer}</code> {finding.message}{finding.hint ? `; ${finding.hint}` : ''}</div>
                ))}
            </div>
        </div>
    );
}

export const Empty = ({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) => (
    <div className="empty">
        <h2>{title}</h2>
        {children && <p>{children}</p>}
        {action}
    </div>
);

/** Bones stand where words will; only on the first load, and not before 300 ms. */
export function Bones({ rows = 8 }: { rows?: number }) {
    const [shown, show] = useState(false);
    useEffect(() => {
        const timer = setTimeout(() => show(true), 300);
        return () => clearTimeout(timer);
    }, []);
    if (!shown) return null;
    return (
        <div aria-hidden="true">
            {Array.from({ length: rows }, (_, i) => (
                <div key={i} className="bonerow"><i className="bone dot" /><i className="bone a" /><i className="bone b" /><i className="bone c" /><i className="bone d" /></div>
            ))}
        </div>
    );
}

export function Dialog({ title, onClose, children, actions, wide, lead }:
    { title: string; onClose: () => void; children?: ReactNode; actions: ReactNode; wide?: boolean; lead?: ReactNode }) {
    return (
        <Modal opened lockScroll={false} onClose={onClose} withCloseButton={false} size={wide ? 720 : 520} centered padding={0} radius={12}
            overlayProps={{ className: 'scrim' }} transitionProps={{ duration: 0 }} aria-label={title} returnFocus>
            <div className="dialog">
                <div className="in">
                    <h2>{title}</h2>
                    {lead && <p className="t2 lead">{lead}</p>}
                    {children}
                </div>
                <div className="acts">{actions}</div>
            </div>
        </Modal>
    );
}

export function Field({ label, note, help, error, errorId, children, id }: { label: string; note?: string; help?: string; error?: string; errorId?: string; children: ReactNode; id?: string }) {
    return (
        <div className="f">
            <label htmlFor={id}>{label}{note && <span className="t3">{note}</span>}</label>
            {children}
            {help && <div className="help">{help}</div>}
            {error && <div className="err" role="alert" id={errorId}><Glyph name="error" tone="bad" /><span>{error}</span></div>}
        </div>
    );
}

export function Segments<T extends string>({ value, options, onChange, label, small }:
    { value: T; options: { value: T; label: string }[]; onChange: (to: T) => void; label: string; small?: boolean }) {
    return (
        <div className={`seg ${small ? 'sm' : ''}`} role="radiogroup" aria-label={label}>
            {options.map((option) => (
                <button key={option.value} type="button" role="radio" aria-checked={option.value === value}
                    className={option.value === value ? 'on' : ''} onClick={() => onChange(option.value)}>{option.label}</button>
            ))}
        </div>
    );
}

export function CopyId({ id }: { id: string }) {
    const [done, say] = useState(false);
    return (
        <button type="button" className="copyid mono" title={id} onClick={() => {
            void copyText(id).then(() => {
                say(true);
                setTimeout(() => say(false), 1200);
            });
        }}>
            …{id.slice(-8)}<Icon name={done ? 'check' : 'copy'} small /><span className="vh">{t('Copy the id')}</span>
        </button>
    );
}

/** The time now, again every `every` ms; null: it stands. For leaves: all that is below is drawn again. */
export function useNow(every: number | null = 1000) {
    const [now, tick] = useState(Date.now);
    useEffect(() => {
        if (every === null) return;
        const timer = setInterval(() => tick(Date.now()), every);
        return () => clearInterval(timer);
    }, [every]);
    return now;
}
