// Tests.tsx - what must hold of this process, run by the server: nothing is done. The tests stand in `meta.tests` of the definition.
// why: decision 0302
import { useState } from 'react';
import { isObject } from '../lib/exact';
import { Glyph, Icon } from '../lib/icons';
import { Button, Empty, Refusal } from '../lib/parts';
import { post } from '../lib/api';
import { t } from '../lib/text';
import { acts, useDesk, valueAt, writtenAt } from './desk';
import { Raw, read } from './edits';
import { bodyOf, type TestAnswer, TESTS } from './testing';

export function Tests({ answer, show }: { answer: TestAnswer | null; show: (to: TestAnswer | null) => void }) {
    const { good, doc, kind, code, readOnly } = useDesk();
    const [at, go] = useState(0);
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const value = valueAt(good, TESTS);
    const all = Array.isArray(value) ? (value as unknown[]).filter(isObject) : [];
    const [typing, type] = useState<{ at: number; text: string } | null>(null);
    const written = (i: number) => writtenAt(good, [...TESTS, i]);
    const nameAt = (i: number) => String(all[i]?.name ?? t('test {n}', { n: i + 1 }));
    const run = async () => {
        work(true);
        refuse(null);
        try {
            show(await post<TestAnswer>('/test', bodyOf(good.text, kind, code, all.map((_, i) => written(i)))));
        } catch (why) {
            refuse(why);
        }
        work(false);
    };
    const add = () => {
        acts(doc).add(TESTS, { name: t('a new test'), input: {}, expect: { status: 'completed' } });
        go(all.length);
        show(null);
    };
    const text = typing?.at === at ? typing.text : written(at);
    const isRead = read(text).tree !== null;
    const edit = (to: string) => {
        type({ at, text: to });
        if (!read(to).tree) return;
        acts(doc).set([...TESTS, at], new Raw(to), false);
        show(null);
    };
    if (all.length === 0) return <Empty title={t('There are no tests yet')} action={!readOnly && <Button kind="ink" onClick={add}>{t('Write a test')}</Button>}>{t('A test says what goes in and what must come out; the server tries it and does nothing. A dry-run can be kept as one.')}</Empty>;
    const result = (i: number) => answer?.items[i];
    return (
        <div className="tests">
            <nav className="plist vlist" aria-label={t('Tests')}>
                {all.map((_, i) => <button key={i} type="button" aria-pressed={i === at} className={`o ${i === at ? 'on' : ''}`} onClick={() => { go(i); type(null); }}><span className="row">{result(i) ? <Glyph name={result(i)!.ok ? 'completed' : 'failed'} tone={result(i)!.ok ? 'ok' : 'bad'} /> : <Glyph name="pending" tone="none" />}<span className="cut">{nameAt(i)}</span></span>{result(i) && !result(i)!.ok && <span className="meta">{result(i)!.problems[0]}</span>}</button>)}
                {!readOnly && <p className="vhint"><Button kind="quiet" small icon="plus" onClick={add}>{t('Write a test')}</Button></p>}
            </nav>
            <div className="vmain">
                <div className={`why ${answer ? (answer.failed ? 'bad' : 'ok') : 'none'} vsay`}>{answer && <Glyph name={answer.failed ? 'failed' : 'completed'} tone={answer.failed ? 'bad' : 'ok'} />}<div className="grow"><p className="say">{answer ? <b>{answer.failed ? t('{n} test fails.|{n} tests fail.', { n: answer.failed }) : t('{n} test passes.|{n} tests pass.', { n: answer.passed })}</b> : t('{n} test|{n} tests', { n: all.length })}</p><p className="sub">{t('They run on the server with the text as it stands here; nothing is done.')}</p></div><Button kind="ink" icon="play" disabled={busy} onClick={() => void run()}>{t('Run the tests')}</Button></div>
                <Refusal error={error} />
                <section className="isect"><h3 className="h">{nameAt(at)}{!readOnly && <span className="end row tools"><button type="button" className="btn quiet sm" onClick={() => { acts(doc).remove([...TESTS, at]); go(0); type(null); show(null); }}><Icon name="x" small />{t('Delete')}</button></span>}</h3>
                    {result(at)?.problems.map((problem) => <p key={problem} className="said error"><Glyph name="error" tone="bad" /><span>{problem}</span></p>)}
                    <textarea className={`inp mono testtext ${isRead ? '' : 'wrong'}`} aria-label={t('The test as JSON')} spellCheck={false} readOnly={readOnly} value={text} onChange={(event) => edit(event.target.value)} onBlur={() => { if (isRead) type(null); }} />
                    {!isRead && <p className="said error"><Glyph name="error" tone="bad" />{t('it is no JSON')}</p>}
                </section>
            </div>
        </div>
    );
}
