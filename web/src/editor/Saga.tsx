// Saga.tsx - if this step fails, these run, in this order; these cannot be undone.
import { useMemo } from 'react';
import { Glyph, Icon } from '../lib/icons';
import type { Item, Node } from '../flow/layout';
import { Button } from '../lib/parts';
import { Status } from '../lib/status';
import { t } from '../lib/text';
import type { Dress } from '../flow/boxes';
import { Flow } from '../flow/Flow';
import { iconOf } from '../lib/steps';
import { undoAttempts, undoName } from './marks';
import { acts, useDesk } from './desk';
import { everyItem, samePath, titleOf } from './model';
import { sagaOf, type Undone } from './saga';

export function SagaView() {
    const { list, catalog, good, selected, select, doc, readOnly } = useDesk();
    const items = useMemo(() => [...everyItem(list)].map(({ item }) => item).filter((item) => !item.inside), [list]);
    const failing: Item | null = items.find((item) => samePath(item.at, selected)) ?? items.at(-1) ?? null;
    const saga = useMemo(() => (failing ? sagaOf(catalog, list, failing, good.value) : null), [catalog, list, failing, good]);
    const counts = useMemo(() => new Map(items.map((item) => { const own = sagaOf(catalog, list, item, good.value); return [item.code, own.how === 'compensate' ? own.undone.length : 0] as const; })), [catalog, items, list, good]);
    if (!failing || !saga) return <div className="pagehead"><p className="t3">{t('There are no steps yet.')}</p></div>;
    const runs = saga.how === 'compensate' ? saga.undone : [];
    const order = new Map(runs.map((one, i) => [one.item.code, i + 1]));
    const dress = (node: Node): Dress => {
        if (samePath(node.at, failing.at)) return { tone: 'bad', right: <Glyph name="failed" tone="bad" />, left: <span className="iffails">{t('if this fails')}</span> };
        if (order.has(node.code)) return { tone: 'undo' };
        if (saga.stays.some((one) => one.item.code === node.code)) return { right: <span className="lockmark" title={t('cannot be undone')}><Icon name="lock" small /></span> };
        return {};
    };
    const row = (one: Undone, extra: React.ReactNode) => <><b className="m5">{extra}</b>{one.perhaps && <span className="tag">{t('if it has run')}</span>}</>;
    return (
        <div className="edgrid saga">
            <nav className="parts sagalist" aria-label={t('If this step fails')}>
                <h2>{t('If this step fails')}</h2>
                <div className="pscroll">{items.map((item) => <button key={item.at.join('/')} type="button" aria-pressed={item === failing} className={`part ${item === failing ? 'on' : ''}`} onClick={() => select(item.at)}><Icon name={iconOf(item.step)} /><span className="cut">{titleOf(item)}</span><span className="end t3 num">{counts.get(item.code) || '–'}</span></button>)}
                    <p className="t3 meta sagahint">{t('The number says how many steps are undone.')}</p></div>
            </nav>
            <div className="edmid"><Flow label={t('Canvas')} list={list} selected={failing.at} select={(path) => { if (path && items.some((item) => samePath(item.at, path))) select(path); }} dress={dress} undo={(step) => undoName(step.rollback, catalog)} undoOrder={order} margin={132} /></div>
            <aside className="inspector" aria-label={t('Details')}>
                <header className="ihead"><div><h2>{t('If {name} fails', { name: titleOf(failing) })}</h2><p className="t3">{saga.attempts > 1 ? t('after {n} attempts', { n: saga.attempts }) : t('at the first attempt')}</p></div></header>
                {saga.how === 'compensate' && <section className="isect"><h3 className="h"><Icon name="undo" small />{t('These run, in this order')}</h3>
                    {runs.length === 0 ? <p className="t3">{t('Nothing before it has a rollback.')}</p> : <ol className="undolist">{runs.map((one, i) => <li key={one.item.at.join('/')}><span className="ord">{i + 1}</span><div>{row(one, undoName(one.item.step.rollback, catalog))}<p className="t3">{t('undoes {name}, up to {n} attempts', { name: titleOf(one.item), n: undoAttempts(one.item.step.rollback) })}</p></div></li>)}</ol>}</section>}
                {saga.stays.length > 0 && <section className="isect"><h3 className="h"><Icon name="lock" small />{t('These cannot be undone')}</h3>{saga.stays.map((one) => <div key={one.item.at.join('/')} className="row stayrow"><Icon name={iconOf(one.item.step)} small />{row(one, titleOf(one.item))}</div>)}</section>}
                {saga.nothing.length > 0 && <section className="isect"><h3 className="h t2">{t('Nothing to undo')}</h3><p className="t2">{saga.nothing.map(titleOf).join(', ')}</p></section>}
                <section className="isect"><h3 className="h">{t('How it ends')}</h3>
                    {saga.how === 'compensate' && <><p className="row"><Status name="failed" />{runs.length > 0 && <Status name="rolledBack" />}</p><p className="t2">{t('with the error of {name}. If an undo itself fails as often as it is tried, the others still run, and it becomes a dead letter.', { name: titleOf(failing) })}</p></>}
                    {saga.how === 'hold' && <><p className="row"><Status name="held" /></p><p className="t2">{t('It waits for an operator to retry, skip or cancel it. Nothing is undone until it is cancelled.')}</p></>}
                    {saga.how === 'continue' && <p className="t2">{t('It goes on with the next step; the failure is in the result of this one.')}</p>}
                    {(saga.how === 'retry' || saga.how === 'fail_fast') && <><p className="row"><Status name="failed" /></p><p className="t2">{t('Nothing is undone.')}</p></>}
                </section>
                {!readOnly && failing.step.onError !== 'continue' && <section className="isect"><Button onClick={() => acts(doc).set([...failing.at, 'onError'], 'continue', true)}>{t('Let it go on when it fails')}</Button></section>}
                {!readOnly && failing.step.onError === 'continue' && <section className="isect"><Button onClick={() => acts(doc).remove([...failing.at, 'onError'])}>{t('Let it fail as the others do')}</Button></section>}
            </aside>
        </div>
    );
}
