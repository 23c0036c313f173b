// Process.tsx - one process: the constructor for scenarios and procedures, and for other kinds what can be read.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Bar } from '../../app/Shell';
import { isAdmin, mayAct, useMe } from '../../app/session';
import { isNet, readNet, sourceOf } from '../../flow/net';
import { call, type Page } from '../../lib/api';
import { Icon } from '../../lib/icons';
import { Json } from '../../lib/json';
import { Bones, Button, Refusal, Segments } from '../../lib/parts';
import { commandsOf, nameOf, stepsByCode } from '../../lib/steps';
import { t } from '../../lib/text';
import { when } from '../../lib/time';
import type { Definition } from '../../lib/types';
import { Graph, type StepState } from '../execution/Graph';
import '../screens.css';

interface Version { version: number; status: string; name: string | null; changeSummary: string | null; createdAt: string }

const NetGraph = lazy(() => import('../execution/NetGraph').then((m) => ({ default: m.NetGraph })));
const NONE = new Map<string, StepState>();
const Editor = lazy(() => import('../../editor/Editor').then((m) => ({ default: m.Editor })));

export function ProcessPage() {
    const { kind, code } = useParams({ strict: false }) as { kind: string; code: string };
    const { me } = useMe();
    if (kind !== 'scenarios' && kind !== 'procedures') return <ReadingPage />;
    return <Suspense fallback={<Bones />}><Editor kind={kind === 'scenarios' ? 'scenario' : 'procedure'} code={code} readOnly={!isAdmin(me)} /></Suspense>;
}

/** A draft that can be drawn; its words may be none. */
function draftOf(draft: unknown): Definition | undefined {
    if (!isNet(draft)) return undefined;
    const { name, description, ...rest } = draft as Record<string, unknown>;
    const words = { name: typeof name === 'string' ? name : undefined, description: typeof description === 'string' ? description : undefined };
    return { ...(rest as unknown as Definition), ...words };
}

function ReadingPage() {
    const { kind, code } = useParams({ strict: false }) as { kind: string; code: string };
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const { me } = useMe();
    const [view, turn] = useState<'step' | 'text'>('step');
    const [selected, select] = useState<string | null>(null);
    const versions = useQuery({ queryKey: ['versions', kind, code], queryFn: () => call<Page<Version>>(`/${kind}/${code}/versions?limit=100`) });
    const chosen = search.version ?? String(versions.data?.items.find((v) => v.status === 'published')?.version ?? versions.data?.items[0]?.version ?? '');
    const found = useQuery({ queryKey: ['version', kind, code, chosen], enabled: chosen !== '', queryFn: () => call<{ definition: Definition }>(`/${kind}/${code}/versions/${chosen}`) });
    // What was never published has no version: its draft is shown, whatever is in it.
    const known = useQuery({ queryKey: ['process', kind, code], enabled: versions.data?.items.length === 0, queryFn: () => call<{ draft: { definition: unknown } | null }>(`/${kind}/${code}`) });
    const definition = found.data?.definition ?? draftOf(known.data?.draft?.definition);
    const step = selected ? stepsByCode(definition).get(selected) : undefined;
    const net = useMemo(() => (isNet(definition) ? readNet(definition) : null), [definition]);
    const part = net && selected ? sourceOf(net, selected) : undefined;
    const choose = (to: string) => { select(to); turn('step'); };
    return (
        <>
            <Bar live={false} busy={found.isLoading} title={<nav className="crumb" aria-label={t('Where this is')}><Link to="/processes">{t('Processes')}</Link><Icon name="right" small /><h1 className="b cut">{definition?.name ?? code}</h1></nav>}>
                <Link className="btn" to="/executions" search={{ code } as Record<string, string>}>{t('Executions')}</Link>
                {mayAct(me) && kind !== 'procedures' && <Button kind="ink" icon="play" onClick={() => void go({ to: '/executions', search: { start: code } as Record<string, string> })}>{t('Start…')}</Button>}
            </Bar>
            <div className="process">
                <div className="plist" role="group" aria-label={t('Versions')}><h2>{t('Versions')}</h2>
                    {(versions.data?.items ?? []).map((v) => <button key={v.version} type="button" aria-pressed={String(v.version) === chosen} className={`o ${String(v.version) === chosen ? 'on' : ''}`} onClick={() => void go({ to: '/processes/$kind/$code', params: { kind, code }, search: { version: String(v.version) } as Record<string, string> })}><span className="row"><b className="m5">{t('version {n}', { n: v.version })}</b><span className="end meta">{v.status === 'published' ? t('published') : v.status === 'draft' ? t('draft') : ''}</span></span><span className="meta">{when(v.createdAt)}</span>{v.changeSummary && <span className="t2">{v.changeSummary}</span>}</button>)}
                    {!found.data && definition && <p className="o on"><b className="m5">{t('draft')}</b></p>}
                </div>
                {definition?.steps ? <Graph definition={definition} states={NONE} selected={selected} select={choose} /> : definition && net ? <Suspense fallback={<div className="canvas" />}><NetGraph definition={definition} states={NONE} selected={selected} select={choose} /></Suspense> : <div className="canvas">{found.isLoading ? <Bones /> : <div className="pagehead"><Refusal error={found.error ?? versions.error} /></div>}</div>}
                <aside className="side" aria-label={t('Details')}>
                    <div className="sidehead"><Segments small label={t('Show')} value={view} onChange={turn} options={[{ value: 'step', label: net ? t('What is chosen') : t('Step') }, { value: 'text', label: 'JSON' }]} /></div>
                    <div className="sect scroll">{view === 'text' || (definition && !definition.steps && !net) ? <Json value={definition} /> : part !== undefined ? <><h3><span className="tag mono">{selected}</span></h3><Json value={part} /></> : step ? <><h3>{nameOf(step)}<span className="tag mono">{step.code}</span></h3>{step.when && <p className="t2 stepwhen">{t('only when')} <code>{step.when}</code></p>}{commandsOf(step).map((command, i) => <div key={i} className="cmdjson"><p className="t2 mono">{String(command.type)}</p><Json value={Object.fromEntries(Object.entries(command).filter(([name]) => name !== 'type'))} /></div>)}{step.rollback ? <><h3 className="h">{t('Rollback')}</h3><Json value={step.rollback} /></> : null}</> : <p className="t3">{definition?.description ?? (net ? t('Choose a box to see what is in it.') : t('Choose a step to see what it does.'))}</p>}</div>
                </aside>
            </div>
        </>
    );
}
