// Live.tsx - functions, templates and configuration: saved is live, so saving asks first and says what depends on it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Bar } from '../../app/Shell';
import { isAdmin, useMe } from '../../app/session';
import { all, call, put, remove } from '../../lib/api';
import { Bones, Button, Dialog, Empty, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import '../screens.css';

interface Kind { path: string; title: string; one: string; lead: string; empty: string; first: unknown; id: (item: Record<string, unknown>) => string }

const KINDS: Record<string, Kind> = {
    functions: { path: 'functions', title: 'Functions', one: 'function', lead: 'Expressions with a name, for every process.', empty: 'A function is an expression with a name: fn.vat(sum) in one place instead of everywhere.', first: { params: [{ name: 'sum', type: 'number' }], body: 'sum * 0.19' }, id: (item) => String(item.name ?? item.code) },
    templates: { path: 'templates', title: 'Templates', one: 'template', lead: 'Texts of messages, with values filled in.', empty: 'A template is the text of a message, with places for values.', first: { subject: 'Your order {{ order }}', body: 'It is on its way.' }, id: (item) => String(item.code ?? item.name) },
    config: { path: 'config', title: 'Configuration', one: 'value', lead: 'Values that processes read as $.config.NAME.', empty: 'A value that is the same for all processes of this installation: an address, a limit, a switch.', first: { value: 100 }, id: (item) => String(item.name ?? item.code) },
};

function Editor({ kind, name, close }: { kind: Kind; name: string; close: () => void }) {
    const isNew = name === '';
    const client = useQueryClient();
    const { me } = useMe();
    const [called, call_] = useState(name);
    const found = useQuery({ queryKey: ['live', kind.path, name], enabled: !isNew, queryFn: () => call<Record<string, unknown>>(`/${kind.path}/${encodeURIComponent(name)}`) });
    const [text, write] = useState(isNew ? JSON.stringify(kind.first, null, 2) : '');
    const [error, refuse] = useState<unknown>(null);
    const [asking, ask] = useState<'save' | 'delete' | null>(null);
    useEffect(() => {
        if (!found.data) return;
        const { name: _n, code: _c, version: _v, createdAt: _a, createdBy: _b, updatedAt: _u, status: _s, kind: _k, definition, ...rest } = found.data as Record<string, unknown>;
        const body = (definition ?? rest) as Record<string, unknown>;
        const { code: _code, name: _name, kind: _kind, ...inner } = body;
        write(JSON.stringify(inner, null, 2));
    }, [found.data]);
    const act = async (what: () => Promise<unknown>) => {
        ask(null);
        try {
            await what();
            await client.invalidateQueries({ queryKey: ['live'] });
            close();
        } catch (why) {
            refuse(why instanceof SyntaxError ? t('The result is no JSON: {why}', { why: why.message }) : why);
        }
    };
    const may = isAdmin(me);
    return (
        <aside className="side" aria-label={t(kind.title)}>
            <div className="sidehead"><div className="row"><b className="cut">{isNew ? t('New {one}', { one: t(kind.one) }) : name}</b><span className="end row"><Button kind="quiet" small square icon="x" aria-label={t('Close')} onClick={close} /></span></div></div>
            <div className="sect scroll">
                {isNew && <Field label={t('Name')} id="live-name"><input id="live-name" className="inp mono" value={called} onChange={(event) => call_(event.target.value)} /></Field>}
                <Field label="JSON" id="live-text"><textarea id="live-text" className="inp mono" rows={16} spellCheck={false} readOnly={!may} value={text} onChange={(event) => write(event.target.value)} /></Field>
                <Refusal error={error ?? found.error} sentence={error ? t('Nothing was changed.') : undefined} />
            </div>
            {may && <div className="acts row">{!isNew && <Button kind="bad" onClick={() => ask('delete')}>{t('Delete…')}</Button>}<span className="grow" /><Button kind="ink" disabled={called.trim() === ''} onClick={() => ask('save')}>{t('Save…')}</Button></div>}
            {asking === 'save' && <Dialog title={t('Save {name}?', { name: called })} lead={t('It is live at once, for executions that run as well.')} onClose={() => ask(null)} actions={<><Button kind="quiet" onClick={() => ask(null)}>{t('Go back')}</Button><Button kind="ink" onClick={() => act(async () => put(`/${kind.path}/${encodeURIComponent(called.trim())}`, JSON.parse(text)))}>{t('Save {name}', { name: called })}</Button></>} />}
            {asking === 'delete' && <Dialog title={t('Delete {name}?', { name })} lead={t('The server refuses while a process uses it.')} onClose={() => ask(null)} actions={<><Button kind="quiet" onClick={() => ask(null)}>{t('Go back')}</Button><Button kind="bad solid" onClick={() => act(() => remove(`/${kind.path}/${encodeURIComponent(name)}`))}>{t('Delete {name}', { name })}</Button></>} />}
        </aside>
    );
}

function LivePage({ kind }: { kind: Kind }) {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const { me } = useMe();
    const found = useQuery({ queryKey: ['live', kind.path], queryFn: () => all<Record<string, unknown>>(`/${kind.path}`) });
    const open = (name: string | undefined) => void go({ to: `/${kind.path}`, search: (name === undefined ? {} : { name }) as Record<string, string>, replace: true });
    const isOpen = search.name !== undefined;
    const preview = (item: Record<string, unknown>) => { const { name: _n, code: _c, ...rest } = item; return JSON.stringify(rest.definition ?? rest.value ?? rest.body ?? rest); };
    return (
        <>
            <Bar title={t(kind.title)} live={false} busy={found.isLoading}>{isAdmin(me) && <Button icon="plus" onClick={() => open('')}>{t('New {one}…', { one: t(kind.one) })}</Button>}</Bar>
            <div className={`withside ${isOpen ? 'split' : ''}`}>
                <div className="col list">
                    <div className="pagehead"><h2>{t(kind.title)}</h2><p>{t(kind.lead)}</p></div>
                    <div className="thead live"><span>{t('Name')}</span><span>{t('What it is')}</span></div>
                    <div className="scroll">
                        {found.isLoading && <Bones />}
                        <Refusal error={found.error} />
                        {(found.data ?? []).map((item) => <div key={kind.id(item)} className={`trow live ${search.name === kind.id(item) ? 'sel cur' : ''}`}><span className="cut"><button type="button" className="rowlink" onClick={() => open(kind.id(item))}>{kind.id(item)}</button></span><span className="mono t2 cut">{preview(item)}</span></div>)}
                        {found.data?.length === 0 && <Empty title={t('There is none yet')} action={isAdmin(me) ? <Button kind="ink" icon="plus" onClick={() => open('')}>{t('New {one}…', { one: t(kind.one) })}</Button> : undefined}>{t(kind.empty)}</Empty>}
                    </div>
                </div>
                {isOpen && <Editor key={search.name} kind={kind} name={search.name!} close={() => open(undefined)} />}
            </div>
        </>
    );
}

export const Functions = () => <LivePage key="functions" kind={KINDS.functions!} />;
export const Templates = () => <LivePage key="templates" kind={KINDS.templates!} />;
export const Config = () => <LivePage key="config" kind={KINDS.config!} />;
