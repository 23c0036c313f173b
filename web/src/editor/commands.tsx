// commands.tsx - what runs: one command with its fields, several in a row, a procedure that has a name, and the steps that a step has inside.
import { useId, useState } from 'react';
import { isObject } from '../lib/exact';
import { Glyph, Icon } from '../lib/icons';
import { Button, Segments } from '../lib/parts';
import { t } from '../lib/text';
import { type Catalog, type CatalogField, commandOf, kindsOf } from './catalog';
import { useOpen } from './collections';
import { type ControlProps, TextControl } from './controls';
import { acts, findingsIn, useDesk, valueAt, writtenAt } from './desk';
import { type Path, pointerOf, Raw } from './edits';
import { FieldList, Said } from './fields';
import { iconOfCommand } from '../lib/steps';
import type { Command } from './model';

/** The fields of a command: its own, then those that every command has, without those in `leave` that are not set. */
export function fieldsOfCommand(catalog: Catalog, command: Command | undefined, leave: string[]): CatalogField[] {
    const spec = commandOf(catalog, command?.type);
    const shared = (catalog.fields.command ?? []).filter((field) => field.name !== 'type' && (!leave.includes(field.name) || (command && field.name in command)) && !(spec?.standsAlone && /Not for waits|Не для ожиданий/.test(field.help)) && !spec?.fields.some((own) => own.name === field.name));
    return [...(spec?.fields ?? []), ...shared];
}

const CommandOptions = ({ catalog }: { catalog: Catalog }) => <>{catalog.groups.map((group) => <optgroup key={group.name} label={group.label}>{catalog.commands.filter((c) => c.group === group.name).map((c) => <option key={c.name} value={c.name}>{c.label}</option>)}</optgroup>)}</>;

/** One command, with its type as the head of its fields. */
export function CommandForm({ path, bare, leave = [], section }: { path: Path; bare?: boolean; leave?: string[]; section?: 'request' | 'answer' }) {
    const { good, catalog, doc, readOnly } = useDesk();
    const command = valueAt(good, path) as Command | undefined;
    const spec = commandOf(catalog, command?.type);
    const id = useId();
    const fields = fieldsOfCommand(catalog, command, leave);
    return (
        <div className="command">
            {!bare && (
                <div className="fld" data-at={pointerOf([...path, 'type'])}>
                    <label htmlFor={id}>{t('Command')}</label>
                    <select id={id} className="inp" disabled={readOnly} value={spec?.name ?? String(command?.type ?? '')} onChange={(event) => acts(doc).set([...path, 'type'], event.target.value, true)}>
                        {!spec && <option value={String(command?.type ?? '')}>{String(command?.type ?? t('Choose'))}</option>}
                        <CommandOptions catalog={catalog} />
                    </select>
                    <Said path={[...path, 'type']} />
                </div>
            )}
            {spec && section !== 'answer' && <p className="help what">{spec.help}</p>}
            {bare && section !== 'answer' && <Said path={[...path, 'type']} />}
            <FieldList fields={section ? fields.filter((field) => field.section === section) : fields} path={path} />
        </div>
    );
}

/** One command, or several in a row, each folded to a line. */
export function CommandsControl({ path }: ControlProps) {
    const { good, doc, readOnly, catalog, findings } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const [open, toggle] = useOpen(path);
    const isList = Array.isArray(value);
    const commands = isList ? (value as Command[]) : isObject(value) ? [value as Command] : [];
    const choose = (type: string) => {
        if (type === '') return;
        if (value === undefined || typeof value === 'string') act.set(path, { type }, true);
        else act.insert(path, commands.length, { type });
        toggle(commands.length);
    };
    const more = !readOnly && (
        <select className="inp addcmd" aria-label={t('Add a command')} value="" onChange={(event) => choose(event.target.value)}>
            <option value="">{t('Add a command')}…</option>
            <CommandOptions catalog={catalog} />
        </select>
    );
    if (!isList && commands.length === 1) return <div className="one"><CommandForm path={path} />{more}</div>;
    return (
        <div className="list">
            {commands.map((command, i) => {
                const own = [...path, i];
                const spec = commandOf(catalog, command?.type);
                const isOpen = open === i || (open === null && commands.length === 1);
                return (
                    <div key={i} className={`titem ${isOpen ? 'open' : ''}`}>
                        <div className="thd">
                            <button type="button" className="fold" aria-expanded={isOpen} onClick={() => toggle(isOpen ? -1 : i)}><Icon name={isOpen ? 'down' : 'right'} small /><Icon name={iconOfCommand(String(command?.type))} small /><span className="cut m5">{spec?.label ?? String(command?.type)}</span>{typeof command?.as === 'string' && <code className="t3">{command.as}</code>}{findingsIn(findings, own).length > 0 && <Glyph name="error" tone="bad" />}</button>
                            {!readOnly && <span className="row tools">{i > 0 && <button type="button" className="btn quiet sm sq" aria-label={t('Move {n} up', { n: i + 1 })} onClick={() => { act.move(own, path, i - 1); toggle(null); }}><Icon name="up" small /></button>}<button type="button" className="btn quiet sm sq" aria-label={t('Remove {name}', { name: spec?.label ?? String(i + 1) })} onClick={() => { act.remove(own); toggle(null); }}><Icon name="x" small /></button></span>}
                        </div>
                        {isOpen && <div className="tbody"><CommandForm path={own} /></div>}
                    </div>
                );
            })}
            {more}
        </div>
    );
}

/**
 * What runs: a procedure that has a name, or commands. `call` is the table of what may go with it (its input, how
 * often): as soon as one of these is asked for, the value becomes an object that has `procedure` in it.
 */
export function RunControl({ call, ...props }: ControlProps & { call?: string }) {
    const { good, doc, readOnly, catalog } = useDesk();
    const whole = valueAt(good, props.path);
    const isCall = call !== undefined && isObject(whole) && !('type' in whole);
    const path = isCall ? [...props.path, 'procedure'] : props.path;
    const value = valueAt(good, path);
    const [asked, ask] = useState<'name' | 'commands'>(typeof value === 'string' ? 'name' : 'commands');
    const [wanted, want] = useState('');
    const shown = typeof value === 'string' ? 'name' : value === undefined ? asked : 'commands';
    const rest = call ? (catalog.fields[call] ?? []).filter((field) => field.name !== 'procedure' && field.state === 'now') : [];
    return (
        <div className="run">
            {!readOnly && <Segments small label={t('What runs')} value={shown} options={[{ value: 'commands', label: t('Commands') }, { value: 'name', label: t('A procedure') }]} onChange={(to) => {
                if (to === shown) return;
                ask(to);
                if (value !== undefined) acts(doc).set(path, to === 'name' ? '' : [], true);
            }} />}
            {shown === 'name' ? <TextControl {...props} path={path} kinds={kindsOf('procedureName')} field={{ ...props.field, example: '' }} inList={value !== undefined} /> : <CommandsControl {...props} path={path} />}
            {isCall ? <FieldList fields={rest} path={props.path} open={wanted} /> : rest.length > 0 && value !== undefined && !readOnly && (
                <div className="more">{rest.map((field) => <button key={field.name} type="button" className="addf" title={field.help} onClick={() => { want(field.name); acts(doc).set(props.path, { procedure: new Raw(writtenAt(good, props.path)) }, true); }}><Icon name="plus" small />{field.label}</button>)}</div>
            )}
        </div>
    );
}

const countOf = (steps: unknown) => (Array.isArray(steps) ? steps.length : 0);

/** What a step or a lane has inside is put together on the canvas; branches that run at once are added here. */
export function StepsControl({ path, kinds }: ControlProps) {
    const { good, select, doc, readOnly } = useDesk();
    const value = valueAt(good, path);
    const isBranches = kinds.some((kind) => kind.is === 'list' && kind.of.is === 'list');
    const open = (at: Path) => <button type="button" className="btn link" onClick={() => select(at)}>{t('Open the first')}</button>;
    if (!isBranches) return <p className="t3 stepsline">{t('{n} step, on the canvas|{n} steps, on the canvas', { n: countOf(value) })} {countOf(value) > 0 && open([...path, 0])}</p>;
    const branches = Array.isArray(value) ? value : [];
    return (
        <div className="list">
            {branches.map((branch, i) => (
                <div key={i} className="litem"><p className="t3 stepsline val">{t('Branch {n}', { n: i + 1 })}: {t('{n} step, on the canvas|{n} steps, on the canvas', { n: countOf(branch) })} {countOf(branch) > 0 && open([...path, i, 0])}</p>
                    {!readOnly && branches.length > 1 && <button type="button" className="btn quiet sm sq" aria-label={t('Remove {name}', { name: t('Branch {n}', { n: i + 1 }) })} onClick={() => acts(doc).remove([...path, i])}><Icon name="x" small /></button>}</div>
            ))}
            {!readOnly && <Button kind="quiet" small icon="plus" onClick={() => acts(doc).add(path, [])}>{t('Add a branch')}</Button>}
        </div>
    );
}
