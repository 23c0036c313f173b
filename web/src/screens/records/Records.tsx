// Records.tsx - what processes have stored: the objects, and the records of one.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Bar } from '../../app/Shell';
import { call, type Page } from '../../lib/api';
import { isObject } from '../../lib/exact';
import { Icon } from '../../lib/icons';
import { useLive } from '../../lib/live';
import { Bones, Button, Empty, Refusal } from '../../lib/parts';
import { stepsByCode } from '../../lib/steps';
import { t } from '../../lib/text';
import { number } from '../../lib/time';
import type { Definition, Process } from '../../lib/types';
import { Card, type Row } from './Card';
import '../screens.css';

/** The objects that published processes name; the server keeps no list of them. */
function useObjects() {
    return useQuery({
        queryKey: ['objects'], staleTime: 30000,
        queryFn: async () => {
            const { items } = await call<Page<Process>>('/processes?limit=200');
            const names = new Set<string>();
            await Promise.all(items.filter((p) => p.published).map(async (p) => {
                const found = await call<{ published: { definition: Definition } }>(`/${p.kind}s/${p.code}`).catch(() => null);
                const definition = found?.published.definition;
                const text = JSON.stringify([[...stepsByCode(definition).values()].map((s) => [s.procedure, s.rollback]), definition?.triggers]);
                for (const match of text.matchAll(/"object":"([A-Za-z_]\w*)"/g)) names.add(match[1]!);
            }));
            return [...names].sort();
        },
    });
}

const cell = (value: unknown) => (value === null || value === undefined ? '–' : Array.isArray(value) ? `[ ${value.length} ]` : isObject(value) ? '{ … }' : String(value));

export function Records() {
    const { object, id } = useParams({ strict: false }) as { object?: string; id?: string };
    const go = useNavigate();
    const objects = useObjects();
    const [typed, type] = useState('');
    const [where, filter] = useState('');
    const [applied, apply] = useState('');
    const found = useQuery({ queryKey: ['records', object, applied], enabled: Boolean(object), queryFn: () => call<Page<Row>>(`/records/${object}?limit=200${applied ? `&where=${encodeURIComponent(applied)}` : ''}`) });
    useLive(2000, () => true, () => { if (object) void found.refetch(); });
    const rows = found.data?.items ?? [];
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'id' && name !== 'version').slice(0, 5);
    const open = (event: FormEvent) => { event.preventDefault(); if (typed.trim()) void go({ to: '/records/$object', params: { object: typed.trim() } }); };
    return (
        <>
            <Bar title={object ? <nav className="crumb" aria-label={t('Where this is')}><Link to="/records">{t('Records')}</Link><Icon name="right" small /><h1 className="b">{object}</h1></nav> : t('Records')} busy={found.isFetching && !found.data && Boolean(object)} />
            {!object ? (
                <div className="scroll">
                    <div className="pagehead"><h2>{t('Records')}</h2><p>{t('What processes have stored, by object. These are the objects that published processes name.')}</p></div>
                    <div className="cards">{(objects.data ?? []).map((name) => <Link key={name} className="card pick" to="/records/$object" params={{ object: name }}><Icon name="db" /><span className="m5">{name}</span></Link>)}</div>
                    {objects.isLoading && <Bones rows={3} />}
                    {objects.data?.length === 0 && <Empty title={t('No process stores records yet')}>{t('A step with record.create keeps what others read: an order, an account, a stock.')}</Empty>}
                    <form className="row other" onSubmit={open}><label className="t3" htmlFor="object">{t('Another object')}</label><input id="object" className="inp mono" value={typed} onChange={(event) => type(event.target.value)} /><Button type="submit">{t('Open')}</Button></form>
                </div>
            ) : (
                <div className={`withside ${id ? 'split' : ''}`}>
                    <div className="col list">
                        <form onSubmit={(event) => { event.preventDefault(); apply(where.trim()); }}><div className="filter"><Icon name="search" small /><input value={where} aria-label={t('Condition')} placeholder={t('A condition in CEL: record.left < 10 && record.status == "ready"')} onChange={(event) => filter(event.target.value)} /></div></form>
                        <div className="thead" style={{ gridTemplateColumns: `minmax(120px, 200px) repeat(${Math.max(1, columns.length)}, minmax(0, 1fr)) 60px`, marginTop: 12 }}><span>{t('Id')}</span>{columns.map((name) => <span key={name} className="mono">{name}</span>)}{columns.length === 0 && <span />}<span className="r">{t('Version')}</span></div>
                        <div className="scroll">
                            {found.isLoading && <Bones />}
                            {Boolean(found.error) && <div className="pagehead"><Refusal error={found.error} /></div>}
                            {rows.map((row) => (
                                <div key={row.id} className={`trow ${row.id === id ? 'sel cur' : ''}`} style={{ gridTemplateColumns: `minmax(120px, 200px) repeat(${Math.max(1, columns.length)}, minmax(0, 1fr)) 60px` }}>
                                    <span className="cut"><Link className="key" to="/records/$object/$id" params={{ object, id: row.id }}>{row.id}</Link></span>
                                    {columns.map((name) => <span key={name} className="t2 cut num">{cell(row[name])}</span>)}{columns.length === 0 && <span />}
                                    <span className="r t3 num">{row.version}</span>
                                </div>
                            ))}
                            {found.data && rows.length === 0 && <Empty title={applied ? t('Nothing matches') : t('There are no records of {name}', { name: object })}>{applied ? t('No record holds {where}.', { where: applied }) : t('A step with record.create makes the first.')}</Empty>}
                            {found.data?.nextCursor && <p className="t3 pagehead">{t('The first {n}; a condition finds the others.', { n: number(rows.length) })}</p>}
                        </div>
                    </div>
                    {id && <Card key={`${object}/${id}`} object={object} id={id} />}
                </div>
            )}
        </>
    );
}
