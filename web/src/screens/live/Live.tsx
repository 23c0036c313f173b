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
    templates: { path: 'templates', title: 'Templates', one: 'template', lead: 'Texts of messages, with values filled in.', empty: 'A template is the text of a message, with places for values.', first: { subject: 'Your order {{ data.order }}', body: 'It is on its way.' }, id: (item) => String(item.code ?? item.name) },
    config: { path: 'config', title: 'Configuration', one: 'value', lead: 'Values that processes read as $.config.NAME.', empty: 'A value that is the same for all processes of this installation: an address, a limit, a switch.', first: { value: 100 }, id: (item) => String(item.name ?? item.code) },
};

type Body = Record<string, unknown>;
interface Parameter { name: string; type: string }
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'any'];
const META = new Set(['name', 'code', 'kind', 'version', 'updatedBy', 'updatedAt', 'createdBy', 'createdAt']);
const bodyOf = (item: Body): Body => Object.fromEntries(Object.entries(item).filter(([name]) => !META.has(name)));

function FunctionForm({ body, change, locked }: { body: Body; change: (to: Body) => void; locked: boolean }) {
    const params = (body.params ?? []) as Parameter[];
    const set = (to: Parameter[]) => change({ ...body, params: to });
    return (
        <>
            <div className="f"><span className="flabel">{t('Parameters')}</span>
                {params.map((p, i) => (
                    <div key={i} className="row"><input className="inp mono" aria-label={t('Name')} readOnly={locked} value={p.name} onChange={(event) => set(params.map((q, k) => (k === i ? { ...q, name: event.target.value } : q)))} />
                        <select className="inp" aria-label={t('Type')} disabled={locked} value={p.type} onChange={(event) => set(params.map((q, k) => (k === i ? { ...q, type: event.target.value } : q)))}>{[...new Set([p.type, ...TYPES])].map((type) => <option key={type}>{type}</option>)}</select>
                        {!locked && <Button kind="quiet" square small icon="x" aria-label={t('Remove')} onClick={() => set(params.filter((_, k) => k !== i))} />}</div>
                ))}
                {!locked && <div><Button small icon="plus" onClick={() => set([...params, { name: '', type: 'number' }])}>{t('Add a parameter')}</Button></div>}
            </div>
            <Field label={t('Expression')} id="live-body" help={t('CEL over the parameters.')}><textarea id="live-body" className="inp mono" rows={5} spellCheck={false} readOnly={locked} value={String(body.body ?? '')} onChange={(event) => change({ ...body, body: event.target.value })} /></Field>
        </>
    );
}

function TemplateForm({ body, change, locked }: { body: Body; change: (to: Body) => void; locked: boolean }) {
    const set = (name: string, value: string) => { const next = { ...body, [name]: value }; if (name === 'html' && value === '') delete next.html; change(next); };
    return (
        <>
            <Field label={t('Subject')} id="live-subject"><input id="live-subject" className="inp" readOnly={locked} value={String(body.subject ?? '')} onChange={(event) => set('subject', event.target.value)} /></Field>
            <Field label={t('Text')} id="live-body" help={t('Values stand as {{ data.name }}.')}><textarea id="live-body" className="inp" rows={8} readOnly={locked} value={String(body.body ?? '')} onChange={(event) => set('body', event.target.value)} /></Field>
            <Field label="HTML" note={t('optional')} id="live-html"><textarea id="live-html" className="inp mono" rows={6} spellCheck={false} readOnly={locked} value={String(body.html ?? '')} onChange={(event) => set('html', event.target.value)} /></Field>
        </>
    );
}

function ValueForm({ body, change, locked }: { body: Body; change: (to: Body) => void; locked: boolean }) {
    const [text, write] = useState(JSON.stringify(body.value, null, 2) ?? '');
    const [broken, say] = useState('');
    return <Field label={t('Value')} id="live-value" help={t('JSON: a number, “text” in quotes, true, a list, an object.')} error={broken}><textarea id="live-value" className="inp mono" rows={6} spellCheck={false} readOnly={locked} value={text} onChange={(event) => { write(event.target.value); try { change({ ...body, value: JSON.parse(event.target.value) }); say(''); } catch (why) { say((why as Error).message); } }} /></Field>;
}

const FORMS: Record<string, typeof FunctionForm> = { functions: FunctionForm, templates: TemplateForm, config: ValueForm };

function Editor({ kind, name, close }: { kind: Kind; name: string; close: () => void }) {
    const isNew = name === '';
    const client = useQueryClient();
    const { me } = useMe();
    const [called, call_] = useState(name);
    const found = useQuery({ queryKey: ['live', kind.path, name], enabled: !isNew, queryFn: () => call<Body>(`/${kind.path}/${encodeURIComponent(name)}`) });
    const [body, write] = useState<Body | null>(isNew ? (kind.first as Body) : null);
    const [error, refuse] = useState<unknown>(null);
    const [asking, ask] = useState<'save' | 'delete' | null>(null);
    useEffect(() => { if (found.data) write(bodyOf(found.data)); }, [found.data]);
    const act = async (what: () => Promise<unknown>) => {
        ask(null);
        try {
            await what();
            await client.invalidateQueries({ queryKey: ['live'] });
            close();
        } catch (why) {
            refuse(why);
        }
    };
    const may = isAdmin(me);
    const Form = FORMS[kind.path]!;
    return (
        <aside className="side" aria-label={t(kind.title)}>
            <div className="sidehead"><div className="row"><b className="cut">{isNew ? t('New {one}', { one: t(kind.one) }) : name}</b>{found.data && <span className="tag">{t('version {n}', { n: Number(found.data.version) })}</span>}<span className="end row"><Button kind="quiet" small square icon="x" aria-label={t('Close')} onClick={close} /></span></div></div>
            <div className="sect scroll">
                {isNew && <Field label={t('Name')} id="live-name"><input id="live-name" autoFocus className="inp mono" value={called} onChange={(event) => call_(event.target.value)} /></Field>}
                {body && <Form key={found.dataUpdatedAt} body={body} change={write} locked={!may} />}
                <Refusal error={error ?? found.error} sentence={error ? t('Nothing was changed.') : undefined} />
            </div>
            {may && <div className="acts row">{!isNew && <Button kind="bad" onClick={() => ask('delete')}>{t('Delete…')}</Button>}<span className="grow" /><Button kind="ink" disabled={called.trim() === '' || !body} onClick={() => ask('save')}>{t('Save…')}</Button></div>}
            {asking === 'save' && <Dialog title={t('Save {name}?', { name: called })} lead={t('It is live at once, for executions that run as well.')} onClose={() => ask(null)} actions={<><Button kind="quiet" onClick={() => ask(null)}>{t('Go back')}</Button><Button kind="ink" onClick={() => act(async () => put(`/${kind.path}/${encodeURIComponent(called.trim())}`, body))}>{t('Save {name}', { name: called })}</Button></>} />}
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
    const preview = (item: Body) => (typeof item.body === 'string' ? `${Array.isArray(item.params) ? `(${(item.params as Parameter[]).map((p) => p.name).join(', ')}) ` : ''}${item.body}` : JSON.stringify(item.value ?? bodyOf(item)));
    return (
        <>
            <Bar title={t(kind.title)} live={false} busy={found.isLoading}>{isAdmin(me) && <Button icon="plus" onClick={() => open('')}>{t('New {one}…', { one: t(kind.one) })}</Button>}</Bar>
            <div className={`withside ${isOpen ? 'split' : ''}`}>
                <div className="col list">
                    <div className="pagehead"><p>{t(kind.lead)}</p></div>
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
