// Card.tsx - one record: what it holds, what can be started from it, and what was.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useMe } from '../../app/session';
import { call, type Page, Problem, post } from '../../lib/api';
import { errorsByField, FormFields, type Values } from '../../lib/form';
import { Glyph, Icon } from '../../lib/icons';
import { Json } from '../../lib/json';
import { useLive } from '../../lib/live';
import { Button, Dialog, Refusal } from '../../lib/parts';
import { stateOf, Status } from '../../lib/status';
import { nameOf } from '../../lib/steps';
import { t } from '../../lib/text';
import { full, number, shortly } from '../../lib/time';
import type { Execution, FormField } from '../../lib/types';
import { byExecution, type Change, didWhat } from './changes';

export type Row = Record<string, unknown> & { id: string; version: number };

interface Action { code: string; kind: string; version: number; name: string; label: string; input: FormField[]; given: Values }

/** What the trigger leaves to the person who presses the button. */
const asked = (action: Action) => action.input.filter((field) => !(field.name in action.given));

function ActionDialog({ action, address, close, started }: { action: Action; address: string; close: () => void; started: (made: Execution) => void }) {
    const [values, fill] = useState<Values>({});
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const given = action.input.filter((field) => field.name in action.given);
    const start = () => {
        work(true);
        refuse(null);
        post<Execution>(`${address}/actions/${action.code}`, { input: values }, { once: true }).then(started, refuse).finally(() => work(false));
    };
    return (
        <Dialog title={action.label} onClose={close} lead={t('{name}, version {n}.', { name: action.name, n: action.version })} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" icon="play" disabled={busy} onClick={start}>{action.label}</Button>
        </>}>
            {given.length > 0 && <dl className="facts">{given.map((field) => [<dt key="name" className="t3 cut">{field.label ?? nameOf({ code: field.name })}</dt>, <dd key="value" className="mono cut">{typeof action.given[field.name] === 'string' ? String(action.given[field.name]) : JSON.stringify(action.given[field.name])}</dd>])}</dl>}
            <FormFields fields={asked(action)} values={values} change={fill} errors={error instanceof Problem ? errorsByField(error.body.errors, '/input/') : {}} />
            <Refusal error={error} sentence={error ? t('It was not started.') : undefined} />
        </Dialog>
    );
}

function Actions({ address, actions, changed }: { address: string; actions: Action[]; changed: () => void }) {
    const [open, choose] = useState<Action | null>(null);
    const [made, say] = useState<Execution | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const started = (execution: Execution) => { choose(null); say(execution); changed(); };
    const press = (action: Action) => {
        say(null);
        refuse(null);
        if (asked(action).length > 0) return choose(action);
        work(true);
        post<Execution>(`${address}/actions/${action.code}`, {}, { once: true }).then(started, refuse).finally(() => work(false));
    };
    if (actions.length === 0 && !made && !error) return null;
    return (
        <div className="sect recordacts">
            {actions.length > 0 && <div className="row wrap">{actions.map((action) => <Button key={action.code} icon="play" disabled={busy} title={action.name} onClick={() => press(action)}>{action.label}{asked(action).length > 0 && '…'}</Button>)}</div>}
            {made && <p className="note" role="status"><Glyph name="completed" tone="ok" /><span>{t('Started:')} <Link to="/executions/$id" params={{ id: made.id }}>{made.key ?? made.code}</Link></span></p>}
            <Refusal error={error} sentence={error ? t('It was not started.') : undefined} />
            {open && <ActionDialog action={open} address={address} close={() => choose(null)} started={started} />}
        </div>
    );
}

const Runs = ({ items }: { items: Execution[] }) => (
    <>{items.map((x) => <Link key={x.id} className="line" to="/executions/$id" params={{ id: x.id }}><Status quiet name={stateOf(x)} /><span className="cut grow">{x.code}</span><span className="meta num">{shortly(x.createdAt)}</span></Link>)}</>
);

const SHOWN = 3; // changes of one execution; the rest is a number

/** An execution with what it did to the record; pressing a change opens its step. */
const Writer = ({ changes }: { changes: Change[] }) => {
    const x = changes[0]!;
    const state = stateOf({ status: x.status, waitingFor: x.waiting ? { kind: x.waiting } : null } as Execution);
    return (
        <div className="writer">
            <Link className="line" to="/executions/$id" params={{ id: x.executionId }}><Status quiet name={state} /><span className="cut grow"><span className="m5">{x.key ?? x.code}</span>{x.key && <span className="t3"> {x.code}</span>}</span><span className="meta num" title={full(x.at)}>{shortly(x.at)}</span></Link>
            {changes.slice(0, SHOWN).map((change) => (
                <Link key={change.recordVersion} className="did" to="/executions/$id" params={{ id: x.executionId }} search={{ step: change.step ?? '' } as Record<string, string>}>
                    <Icon name={change.stepKind === 'rollback' ? 'undo' : change.action === 'created' ? 'plus' : change.action === 'deleted' ? 'x' : 'wrench'} small /><span className="cut grow">{didWhat(change)}</span><span className="num">{t('version {n}', { n: change.recordVersion })}</span>
                </Link>
            ))}
            {changes.length > SHOWN && <span className="did">{t('and {n} changes before', { n: number(changes.length - SHOWN) })}</span>}
        </div>
    );
};

function Writers({ found }: { found: { data: Page<Change> | undefined; error: unknown } }) {
    const changes = found.data?.items ?? [];
    return (
        <div className="sect writers"><h3>{t('Executions that changed it')}</h3>
            <Refusal error={found.error} />
            {found.data && changes.length === 0 && <p className="t3">{t('None that is still kept. What people changed by hand is in the audit log.')}</p>}
            {byExecution(changes).map((group) => <Writer key={`${group[0]!.executionId}-${group[0]!.recordVersion}`} changes={group} />)}
            {found.data?.nextCursor && <p className="t3">{t('The newest {n} changes.', { n: number(changes.length) })}</p>}
        </div>
    );
}

export function Card({ object, id }: { object: string; id: string }) {
    const { me } = useMe();
    const address = `/records/${object}/${encodeURIComponent(id)}`;
    const found = useQuery({ queryKey: ['record', object, id], queryFn: () => call<Row>(address) });
    const actions = useQuery({ queryKey: ['record', object, id, 'actions'], enabled: mayAct(me), queryFn: () => call<{ items: Action[] }>(`${address}/actions`) });
    const started = useQuery({ queryKey: ['record', object, id, 'started'], queryFn: () => call<Page<Execution>>(`/executions?record=${encodeURIComponent(`${object}/${id}`)}&limit=20`) });
    const named = useQuery({ queryKey: ['record', object, id, 'named'], queryFn: () => call<Page<Execution>>(`/executions?key=${encodeURIComponent(id)}&limit=10`) });
    const changes = useQuery({ queryKey: ['record', object, id, 'changes'], queryFn: () => call<Page<Change>>(`${address}/executions?limit=50`) });
    const again = () => { for (const query of [found, started, named, changes]) void query.refetch(); if (mayAct(me)) void actions.refetch(); };
    useLive(3000, () => true, again);
    const own = started.data?.items ?? [];
    const others = (named.data?.items ?? []).filter((x) => own.every((mine) => mine.id !== x.id) && (changes.data?.items ?? []).every((change) => change.executionId !== x.id));
    return (
        <aside className="side" aria-label={t('Record')}>
            <div className="sidehead"><div className="row"><b className="cut">{id}</b><span className="tag mono">{object}</span><span className="end row"><Link className="btn quiet sm sq" to="/records/$object" params={{ object }} aria-label={t('Close')}><Icon name="x" /></Link></span></div>
                {found.data && <div className="meta">{t('version {n}', { n: found.data.version })}</div>}</div>
            <Actions address={address} actions={actions.data?.items ?? []} changed={again} />
            <div className="sect"><Refusal error={found.error} />{found.data && <Json value={Object.fromEntries(Object.entries(found.data).filter(([name]) => name !== 'version' && name !== 'id'))} />}</div>
            <Writers found={changes} />
            <div className="sect"><h3>{t('Started from this card')}</h3>
                {started.data && own.length === 0 && <p className="t3">{t('Nothing yet. A process with a trigger of type action puts a button here.')}</p>}
                <Runs items={own} />
            </div>
            {others.length > 0 && <div className="sect"><h3>{t('Executions under this key')}</h3><Runs items={others} /></div>}
        </aside>
    );
}
