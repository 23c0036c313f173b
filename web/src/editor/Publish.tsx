// Publish.tsx - a draft becomes the version that new executions run with; or the version before becomes it again.
import { useQuery } from '@tanstack/react-query';
import { findNodeAtLocation } from 'jsonc-parser';
import { useEffect, useMemo, useState } from 'react';
import { call, type Finding, Problem, post } from '../lib/api';
import { Glyph } from '../lib/icons';
import { Button, Dialog, Field, Refusal } from '../lib/parts';
import { t } from '../lib/text';
import type { Answers } from '../lib/types';
import { diffVersions } from './diff';
import { read } from './edits';
import type { DefinitionKind } from './model';
import { pathOfKind } from './stored';
import { bodyOf, type TestAnswer, TESTS } from './testing';

const CHANGES_SHOWN = 6;

interface PublishProps {
    kind: DefinitionKind; code: string; /** What is to be published, and what is published now. */ text: string; published: string | null; warnings: Finding[]; nameOfStep: (code: string) => string;
    /** Saves what is here, and answers the draft that it is on the server. */ saved: () => Promise<number | null>;
    close: () => void; done: (version: number) => void; /** Somebody else has changed the draft since. */ another: () => void;
}

/** What changes for executions that start from now on. */
function Changes({ published, text, nameOfStep }: Pick<PublishProps, 'published' | 'text' | 'nameOfStep'>) {
    const diff = useMemo(() => (published === null ? null : diffVersions(published, text)), [published, text]);
    if (published === null) return <p className="t2">{t('It is the first version.')}</p>;
    if (!diff) return null;
    const words = { add: t('added'), del: t('removed'), chg: t('changed') };
    const around = [...new Set(diff.around.map((change) => String(change.at[0])))];
    if (diff.steps.size === 0 && around.length === 0) return <p className="t2">{t('Nothing differs from what is published.')}</p>;
    return (
        <ul className="changes" aria-label={t('What changes')}>
            {[...diff.steps].slice(0, CHANGES_SHOWN).map(([step, { what }]) => <li key={step}><Glyph name={what} tone={what === 'add' ? 'ok' : what === 'del' ? 'bad' : undefined} />{nameOfStep(step)} <span className="t3">{words[what]}</span></li>)}
            {diff.steps.size > CHANGES_SHOWN && <li className="t3">{t('and {n} more', { n: diff.steps.size - CHANGES_SHOWN })}</li>}
            {around.length > 0 && <li className="t3">{t('Beside the steps: {what}.', { what: around.join(', ') })}</li>}
        </ul>
    );
}

/** The tests of the definition, run with what is to be published. */
function useTests({ kind, code, text }: Pick<PublishProps, 'kind' | 'code' | 'text'>) {
    const [answer, show] = useState<TestAnswer | 'running' | null>(null);
    useEffect(() => {
        const { tree } = read(text);
        const tests = tree && findNodeAtLocation(tree, TESTS as string[]);
        const all = (tests?.children ?? []).filter((one) => one.type === 'object').map((one) => text.slice(one.offset, one.offset + one.length));
        if (all.length === 0) return;
        const stop = new AbortController();
        show('running');
        post<TestAnswer>('/test', bodyOf(text, kind, code, all), { signal: stop.signal }).then(show, () => show(null));
        return () => stop.abort();
    }, [kind, code, text]);
    return answer;
}

export function PublishDialog({ kind, code, text, published, warnings, nameOfStep, saved, close, done, another }: PublishProps) {
    const [summary, say] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const tests = useTests({ kind, code, text });
    // The next number follows the newest version, which after a revert is not the one that is published.
    const versions = useQuery({ queryKey: ['versions', kind, code, 'newest'], gcTime: 0, queryFn: () => call<Answers['listScenarioVersions']>(`${pathOfKind(kind)}/${code}/versions?limit=50`) });
    const next = versions.data ? Math.max(0, ...versions.data.items.filter((one) => one.status !== 'draft').map((one) => one.version)) + 1 : null;
    const publish = async () => {
        work(true);
        try {
            const draft = await saved();
            if (draft === null) throw new Error(t('The draft is not saved yet.'));
            const { version } = await post<{ version: number }>(`${pathOfKind(kind)}/${code}/publish`, summary ? { changeSummary: summary } : {}, { once: true, headers: { 'If-Match': `"${draft}"` } });
            done(version);
        } catch (why) {
            if (why instanceof Problem && why.status === 412) return another();
            refuse(why);
            work(false);
        }
    };
    const failed = tests && tests !== 'running' ? tests.items.filter((one) => !one.ok) : [];
    return (
        <Dialog title={next === null ? t('Publish?') : t('Publish version {n}?', { n: next })} lead={t('Executions that start from now on run with it. Those that run now stay with theirs.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind={failed.length > 0 ? 'bad' : 'ink'} disabled={busy || tests === 'running'} onClick={() => void publish()}>{next === null ? t('Publish') : t('Publish version {n}', { n: next })}</Button>
        </>}>
            <Changes published={published} text={text} nameOfStep={nameOfStep} />
            {tests === 'running' && <p className="t3" role="status">{t('The tests run…')}</p>}
            {failed.slice(0, 5).map((one) => <div key={one.name} className="refuse"><Glyph name="failed" tone="bad" /><span><b className="m5">{t('The test “{name}” fails.', { name: one.name })}</b> {one.problems[0]}</span></div>)}
            {tests !== null && tests !== 'running' && failed.length === 0 && <p className="row"><Glyph name="completed" tone="ok" />{t('{n} test passes.|{n} tests pass.', { n: tests.passed })}</p>}
            {warnings.slice(0, 5).map((one) => <p key={one.pointer + one.code} className="said warning"><Glyph name="held" tone="held" /><span>{one.step && <b className="m5">{nameOfStep(one.step)}: </b>}{one.message}</span></p>)}
            {warnings.length > 5 && <p className="t3">{t('and {n} more', { n: warnings.length - 5 })}</p>}
            <Field label={t('What changes, and why')} note={t('optional')} id="summary"><input id="summary" autoFocus className="inp" value={summary} onChange={(event) => say(event.target.value)} onKeyDown={(event) => { if (event.key === 'Enter' && !busy && tests !== 'running') void publish(); }} /></Field>
            <Refusal error={error} sentence={error ? t('It was not published.') : undefined} />
        </Dialog>
    );
}

export function RevertDialog({ kind, code, to, close, done }: { kind: DefinitionKind; code: string; to: number; close: () => void; done: () => void }) {
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const revert = async () => {
        work(true);
        try {
            await post(`${pathOfKind(kind)}/${code}/revert`, {}, { once: true });
            done();
        } catch (why) {
            refuse(why);
            work(false);
        }
    };
    return (
        <Dialog title={t('Revert to version {n}?', { n: to })} lead={t('It is published again, under its own number. A draft stays as it is, and so do executions that run.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={busy} onClick={() => void revert()}>{t('Revert to version {n}', { n: to })}</Button>
        </>}><Refusal error={error} sentence={error ? t('It was not reverted.') : undefined} /></Dialog>
    );
}
