// Live.tsx - the lists of functions, templates and values of the configuration, and the one that is open.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Bar } from '../../app/Shell';
import { isAdmin, useMe } from '../../app/session';
import { all } from '../../lib/api';
import { Bones, Button, Empty, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { full, shortly } from '../../lib/time';
import { Editor } from './Editor';
import { type Kind, KINDS, keptOf, type Parameter } from './kinds';
import '../screens.css';
import './live.css';

type Item = Record<string, unknown> & { updatedAt: string };
const FOLLOW_MS = 15000;

function preview(item: Item): string {
    if (Array.isArray(item.params)) return `(${(item.params as Parameter[]).map((p) => p.name).join(', ')}) ${String(item.body)}`;
    if (typeof item.subject === 'string') return item.subject;
    return JSON.stringify(item.value);
}

function LivePage({ kind }: { kind: Kind }) {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const { me } = useMe();
    const found = useQuery({ queryKey: ['live', kind.path], refetchInterval: FOLLOW_MS, queryFn: () => all<Item>(`/${kind.path}`) });
    const open = (name: string | undefined) => void go({ to: `/${kind.path}`, search: (name === undefined ? {} : name === '' ? { new: '1' } : { name }) as Record<string, string>, replace: true });
    const isOpen = search.name !== undefined || search.new !== undefined;
    const list = found.data ?? [];
    const make = isAdmin(me) ? <Button icon="plus" onClick={() => open('')}>{t(kind.one.label)}</Button> : undefined;
    return (
        <>
            <Bar title={t(kind.title)} live={false} busy={found.isLoading}>{list.length > 0 || isOpen ? make : undefined}</Bar>
            <div className={`withside live ${isOpen ? 'split' : ''}`}>
                <div className="col list">
                    <div className="pagehead"><p>{t(kind.lead.help)}</p></div>
                    {list.length > 0 && <div className="thead live"><span>{t('Name')}</span><span>{t('What it is')}</span><span className="r">{t('Changed')}</span></div>}
                    <div className="scroll">
                        {found.isLoading && <Bones />}
                        <Refusal error={found.error} />
                        {list.map((item) => {
                            const name = String(item[kind.key]);
                            return <div key={name} className={`trow live ${search.name === name ? 'sel cur' : ''}`}><span className="row"><button type="button" className="rowlink mono cut" onClick={() => open(name)}>{name}</button>{keptOf(kind, name) && <span className="tag">{t('not saved')}</span>}</span><span className="mono t2 cut">{preview(item)}</span><span className="r t2 num" title={full(item.updatedAt)}>{shortly(item.updatedAt)}</span></div>;
                        })}
                        {found.data?.length === 0 && !isOpen && <Empty title={t('There is none yet')} action={isAdmin(me) ? <Button kind="ink" icon="plus" onClick={() => open('')}>{t(kind.one.label)}</Button> : undefined}>{t(kind.empty.help)}</Empty>}
                    </div>
                </div>
                {isOpen && <Editor key={`${kind.path}/${search.name ?? ''}`} kind={kind} name={search.name ?? ''} close={(saved) => open(saved)} />}
            </div>
        </>
    );
}

export const Functions = () => <LivePage key="functions" kind={KINDS.functions} />;
export const Templates = () => <LivePage key="templates" kind={KINDS.templates} />;
export const Config = () => <LivePage key="config" kind={KINDS.config} />;
