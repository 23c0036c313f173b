// Inspector.tsx - the form of what is chosen: a step, a command, or the process itself.
import { useEffect, useRef, useState } from 'react';
import { Glyph, Icon } from '../lib/icons';
import type { Item } from '../flow/layout';
import { Menu, MenuItem } from '../lib/menu';
import { commandsOf, iconOf, nameOf } from '../lib/steps';
import { t } from '../lib/text';
import { commandOf } from './catalog';
import { acts, findingsIn, useDesk, valueAt } from './desk';
import type { Path } from './edits';
import { pointerOf } from './edits';
import { CommandForm, fieldsOfCommand } from './commands';
import { FieldBox, FieldList, Said } from './fields';
import { codeAfterName, codesOf, type Command } from './model';
import { SamplePicker } from './Sample';

/** What a step is about, and what follows when it does not work; any field that is neither is under "Advanced". */
const BODY = ['procedure', 'branch', 'loop', 'parallel'];
const FAILING = ['onError', 'retry', 'timeout', 'rollback', 'reconcile'];
const HEAD = ['code', 'name'];

function Section({ title, note, children, folded, within }: { title: string; note?: string; children: React.ReactNode; folded?: boolean; within?: string[] }) {
    const { aimed } = useDesk();
    const [open, toggle] = useState(!folded);
    useEffect(() => {
        if (within?.some((pointer) => aimed === pointer || aimed.startsWith(`${pointer}/`))) toggle(true);
    }, [aimed]);
    return (
        <section className="isect">
            <h3><button type="button" aria-expanded={open} onClick={() => toggle(!open)}><Icon name={open ? 'down' : 'right'} small />{title}</button>{note && !open && <span className="t3 cut">{note}</span>}</h3>
            {open && children}
        </section>
    );
}

function Errors({ path }: { path: Path }) {
    const { findings } = useDesk();
    const n = findingsIn(findings, path).filter((finding) => finding.severity === 'error').length;
    return n === 0 ? null : <span className="nerr nowrap"><Glyph name="error" tone="bad" />{t('{n} error|{n} errors', { n })}</span>;
}

function StepHead({ item, copy }: { item: Item; copy: (path: Path) => void }) {
    const { catalog, kind, doc, readOnly, select } = useDesk();
    const step = item.step;
    const command = commandsOf(step)[0];
    const what = step.branch ? t('branch: the first way that fits is taken') : step.loop ? t('loop') : step.parallel ? t('side by side') : command ? (commandOf(catalog, command.type)?.label ?? String(command.type)) : t('a procedure');
    const act = acts(doc);
    const list = item.at.slice(0, -1);
    const index = Number(item.at.at(-1));
    const canMove = typeof item.at.at(-1) === 'number';
    return (
        <header className="ihead">
            <span className="k"><Icon name={iconOf(step)} /></span>
            <div className="grow"><h2 className="cut">{kind === 'scenario' ? nameOf(step) : (commandOf(catalog, command?.type)?.label ?? String(command?.type ?? ''))}</h2><p className="t3 cut">{kind === 'scenario' ? <>{what}{step.code && <> · <code>{step.code}</code></>}</> : <code>{String(command?.type ?? '')}</code>}</p></div>
            <Errors path={item.at} />
            {!readOnly && (
                <Menu width={210} target={<button type="button" className="btn quiet sq sm" aria-label={t('What to do with it')}><Icon name="dots" /></button>}>
                    {canMove && index > 0 && <MenuItem icon="up" kbd="Alt ↑" onClick={() => { act.move(item.at, list, index - 1); select([...list, index - 1]); }}>{t('Move up')}</MenuItem>}
                    {canMove && <MenuItem icon="down" kbd="Alt ↓" onClick={() => { act.move(item.at, list, index + 2); select([...list, index + 1]); }}>{t('Move down')}</MenuItem>}
                    {canMove && <MenuItem icon="copy" kbd="Ctrl D" onClick={() => copy(item.at)}>{t('Duplicate')}</MenuItem>}
                    <MenuItem icon="x" isBad kbd="Del" onClick={() => { select(null); act.remove(item.at); }}>{t('Delete')}</MenuItem>
                </Menu>
            )}
        </header>
    );
}

/** The code of a step: changing it changes it wherever it is spoken of. */
function CodeField({ path }: { path: Path }) {
    const { good, doc, readOnly, catalog } = useDesk();
    const spec = catalog.fields.step?.find((field) => field.name === 'code');
    const value = valueAt(good, [...path, 'code']);
    const [typing, type] = useState<string | null>(null);
    const own = useRef('');
    const shown = typing ?? (typeof value === 'string' ? value : '');
    if (!spec) return null;
    // It is renamed once, when it is finished: half a name is nobody's.
    const finish = () => {
        if (typing !== null && typing !== own.current) acts(doc).renameStep(path, typing);
        type(null);
    };
    return (
        <FieldBox field={spec} path={[...path, 'code']}>
            <input className="inp mono" aria-label={spec.label} readOnly={readOnly} spellCheck={false} value={shown} onFocus={() => { own.current = typeof value === 'string' ? value : ''; }} onChange={(event) => type(event.target.value)} onBlur={finish} onKeyDown={(event) => { if (event.key === 'Enter') finish(); if (event.key === 'Escape') type(null); }} />
        </FieldBox>
    );
}

/** The name of a step; its code goes with it until somebody has chosen one. */
function NameField({ item }: { item: Item }) {
    const { good, doc, readOnly, catalog, list } = useDesk();
    const spec = catalog.fields.step?.find((field) => field.name === 'name');
    const value = valueAt(good, [...item.at, 'name']);
    const before = useRef<string | null>(null);
    if (!spec) return null;
    const shown = typeof value === 'string' ? value : '';
    const finish = () => {
        const code = before.current !== null && before.current !== shown ? codeAfterName(item.step, before.current, shown, codesOf(list)) : null;
        before.current = shown;
        if (code) acts(doc).renameStep(item.at, code);
    };
    return (
        <FieldBox field={spec} path={[...item.at, 'name']}>
            <textarea rows={1} className="inp grows" aria-label={spec.label} readOnly={readOnly} value={shown} onFocus={(event) => { before.current = shown; event.target.select(); }} onBlur={finish}
                onChange={(event) => (event.target.value === '' ? acts(doc).drop([...item.at, 'name']) : acts(doc).set([...item.at, 'name'], event.target.value))} onKeyDown={(event) => { if (event.key === 'Enter') { event.preventDefault(); finish(); } }} />
        </FieldBox>
    );
}

function StepForm({ item }: { item: Item }) {
    const { catalog, good } = useDesk();
    const all = (catalog.fields.step ?? []).filter((field) => field.state === 'now');
    const value = valueAt(good, item.at) as Record<string, unknown> | undefined;
    const body = BODY.find((name) => value && name in value) ?? 'procedure';
    const rest = all.filter((field) => !HEAD.includes(field.name) && !BODY.includes(field.name) && !FAILING.includes(field.name));
    const set = (names: string[]) => names.filter((name) => value && name in value);
    const spec = all.find((field) => field.name === body);
    const run = value?.[body];
    const isOneCommand = body === 'procedure' && run !== null && typeof run === 'object' && !Array.isArray(run) && 'type' in run;
    const failing = all.filter((field) => FAILING.includes(field.name));
    const labels = (fields: { label: string }[]) => fields.map((field) => field.label).join(', ');
    const leave = all.map((field) => field.name).concat('as', 'optional');
    const path = [...item.at, body];
    const answer = isOneCommand ? fieldsOfCommand(catalog, run as Command, leave).filter((field) => field.section === 'answer') : [];
    const answered = answer.filter((field) => field.name in (run as object)).length;
    const inside = (fields: { name: string }[], at: Path) => fields.map((field) => pointerOf([...at, field.name]));
    return (
        <>
            <section className="isect two"><NameField item={item} /><CodeField path={item.at} /></section>
            <Section title={t('What it does')}>
                {spec && (isOneCommand ? <CommandForm path={path} bare section="request" leave={leave} /> : <FieldBox field={spec} path={path} />)}
                <Said path={item.at} />
            </Section>
            {answer.length > 0 && <Section title={t('Answer')} note={answered ? t('{n} set', { n: answered }) : labels(answer)} folded={answered === 0 && !answer.some((field) => field.shownFirst)} within={inside(answer, path)}><CommandForm path={path} bare section="answer" leave={leave} /></Section>}
            <Section title={t('If it fails')} note={set(FAILING).length ? t('{n} set', { n: set(FAILING).length }) : labels(failing)} folded={set(FAILING).length === 0} within={inside(failing, item.at)}><FieldList fields={failing} path={item.at} /></Section>
            <Section title={t('Advanced')} note={set(rest.map((field) => field.name)).length ? t('{n} set', { n: set(rest.map((field) => field.name)).length }) : labels(rest)} folded={set(rest.map((field) => field.name)).length === 0} within={inside(rest, item.at)}><FieldList fields={rest} path={item.at} /></Section>
        </>
    );
}

function Whole() {
    const { catalog, kind, code, good } = useDesk();
    const all = (catalog.fields[kind] ?? []).filter((field) => field.state === 'now' && !['code', 'steps', 'commands'].includes(field.name));
    const first = all.filter((field) => ['name', 'description', 'input'].includes(field.name));
    const rest = all.filter((field) => !first.includes(field));
    const value = good.value;
    return (
        <>
            <header className="ihead"><span className="k"><Icon name="flow" /></span><div className="grow"><h2 className="cut">{value.name ?? code}</h2><p className="t3"><code>{code}</code> · {kind === 'scenario' ? t('scenario') : t('procedure')}</p></div><Errors path={[]} /></header>
            <section className="isect">{first.map((field) => <FieldBox key={field.name} field={field} path={[field.name]} drop={field.name in value && field.name !== 'name'} />)}<Said path={[]} /></section>
            <Section title={t('Advanced')}><FieldList fields={rest} path={[]} /></Section>
        </>
    );
}

/** `focus` is where to put the cursor, with a number that makes it new each time. */
export function Inspector({ item, focus, copy }: { item: Item | null; focus: { pointer: string; n: number } | null; copy: (path: Path) => void }) {
    const { kind } = useDesk();
    const box = useRef<HTMLElement>(null);
    const [help, say] = useState<{ label: string; text: string } | null>(null);
    useEffect(() => {
        if (!focus) return;
        // What is folded around it opens first.
        const timer = setTimeout(() => {
            const boxes = [...(box.current?.querySelectorAll<HTMLElement>('[data-at]') ?? [])].filter((el) => focus.pointer === el.dataset.at || focus.pointer.startsWith(`${el.dataset.at}/`));
            const nearest = boxes.sort((a, b) => b.dataset.at!.length - a.dataset.at!.length)[0];
            const control = nearest?.querySelector<HTMLElement>('input, textarea, select, .pickfield, button:not(.flh *)');
            nearest?.scrollIntoView({ block: 'center' });
            control?.focus();
        }, 60);
        return () => clearTimeout(timer);
    }, [focus]);
    return (
        <aside className="inspector" ref={box} aria-label={t('Details')} key={item ? pointerOf(item.at) : 'all'} onFocus={(event) => {
            const own = (event.target as HTMLElement).closest<HTMLElement>('[data-help]');
            if (own) say({ label: own.dataset.label!, text: own.dataset.help! });
        }}>
            <div className="ilive"><SamplePicker /></div>
            {item === null ? <Whole /> : <><StepHead item={item} copy={copy} />{kind === 'scenario' ? <StepForm item={item} /> : <section className="isect"><CommandForm path={item.at} bare /></section>}</>}
            {/* Of one height, and always there: what is pressed does not move away under the pointer when the words change. */}
            <footer className="ihelp" aria-live="polite">{help && <><b className="m5">{help.label}</b> {help.text}</>}</footer>
        </aside>
    );
}
