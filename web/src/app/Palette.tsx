// Palette.tsx - everything by typing: executions, processes, pages, and what can be done.
import { Modal, useMantineColorScheme } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { all, call, type Page } from '../lib/api';
import { Glyph, Icon } from '../lib/icons';
import { lookOf, stateOf } from '../lib/status';
import { t, useLanguage } from '../lib/text';
import { shortly } from '../lib/time';
import type { Execution, Process } from '../lib/types';
import { whereAndWhy } from '../lib/why';
import { mayAct, seesMonitor, useMe } from './session';
import { usePlaces } from './Shell';

interface Entry { group: string; key: string; icon: ReactNode; label: ReactNode; words: string; note?: ReactNode; act: () => void }

const marked = (text: string, typed: string): ReactNode => {
    const at = typed ? text.toLowerCase().indexOf(typed.toLowerCase()) : -1;
    return at < 0 ? text : <>{text.slice(0, at)}<span className="hit">{text.slice(at, at + typed.length)}</span>{text.slice(at + typed.length)}</>;
};

function useSlowly(value: string, ms = 120) {
    const [slow, set] = useState(value);
    useEffect(() => {
        const timer = setTimeout(() => set(value), ms);
        return () => clearTimeout(timer);
    }, [value, ms]);
    return slow;
}

export function Palette({ close, openKeys }: { close: () => void; openKeys: () => void }) {
    const [typed, type] = useState('');
    const [at, move] = useState(0);
    const go = useNavigate();
    const { me, leave } = useMe();
    const places = usePlaces();
    const { language, choose } = useLanguage();
    const { setColorScheme } = useMantineColorScheme();
    const list = useRef<HTMLDivElement>(null);
    const sought = useSlowly(typed.trim());
    const found = useQuery({
        queryKey: ['palette', sought], enabled: sought.length > 1 && seesMonitor(me), placeholderData: keepPreviousData,
        queryFn: () => call<Page<Execution>>(`/executions?limit=5&q=${encodeURIComponent(sought)}`),
    });
    const processes = useQuery({ queryKey: ['processes'], enabled: seesMonitor(me), queryFn: () => all<Process>('/processes') });

    const entries = useMemo(() => {
        const to = (path: string, search: Record<string, string> = {}) => () => { close(); void go({ to: path, search }); };
        const fits = (words: string) => words.toLowerCase().includes(typed.trim().toLowerCase());
        const result: Entry[] = [];
        if (sought.length > 1) for (const x of (found.data?.items ?? []).slice(0, 4)) {
            const look = lookOf(stateOf(x));
            result.push({ group: t('Executions'), key: x.id, icon: <Glyph name={look.glyph} tone={look.tone} />, words: '',
                label: <>{marked(x.key ?? `…${x.id.slice(-8)}`, sought)} <span className="t3">{whereAndWhy(x).text || x.code}</span></>,
                note: <span className="num">{shortly(x.createdAt)}</span>, act: () => { close(); void go({ to: '/executions/$id', params: { id: x.id } }); } });
        }
        const doing: Entry[] = [];
        if (mayAct(me)) for (const p of processes.data ?? []) if (p.published)
            doing.push({ group: t('Do'), key: `start-${p.code}`, icon: <Icon name="play" />, words: `start ${t('Start {name}…', { name: p.name ?? p.code })} ${p.code}`, label: marked(t('Start {name}…', { name: p.name ?? p.code }), typed.trim()), note: t('published version {n}', { n: p.published.version }), act: to('/executions', { start: p.code }) });
        doing.push({ group: t('Do'), key: 'dark', icon: <Icon name="moon" />, words: `theme dark ${t('Dark')}`, label: t('Dark'), act: () => { setColorScheme('dark'); close(); } });
        doing.push({ group: t('Do'), key: 'light', icon: <Icon name="moon" />, words: `theme light ${t('Light')}`, label: t('Light'), act: () => { setColorScheme('light'); close(); } });
        doing.push({ group: t('Do'), key: 'lang', icon: <Icon name="globe" />, words: 'language русский english', label: language === 'en' ? 'Русский' : 'English', act: () => { close(); choose(language === 'en' ? 'ru' : 'en'); } });
        doing.push({ group: t('Do'), key: 'keys', icon: <Icon name="help" />, words: `keys shortcuts ${t('Keys and statuses')}`, label: t('Keys and statuses'), note: <kbd>?</kbd>, act: openKeys });
        doing.push({ group: t('Do'), key: 'out', icon: <Icon name="out" />, words: `sign out ${t('Sign out')}`, label: t('Sign out'), act: leave });
        const going: Entry[] = places.map((place) => ({ group: t('Go to'), key: place.to, icon: <Icon name={place.icon} />, words: `${place.label} ${t(place.label)}`, label: marked(t(place.label), typed.trim()), note: place.key && <span className="row" style={{ gap: 3 }}><kbd>g</kbd><kbd>{place.key}</kbd></span>, act: to(place.to) }));
        for (const p of processes.data ?? []) going.push({ group: t('Go to'), key: `p-${p.kind}-${p.code}`, icon: <Icon name="flow" />, words: `${p.code} ${p.name ?? ''}`, label: marked(p.name ?? p.code, typed.trim()), note: t('process'), act: () => { close(); void go({ to: '/processes/$kind/$code', params: { kind: `${p.kind}s`, code: p.code } }); } });
        if (typed.trim() === '') result.push(...going.slice(0, places.length), ...doing.slice(-5));
        else {
            result.push(...doing.filter((e) => fits(e.words)).slice(0, 4), ...going.filter((e) => fits(e.words)).slice(0, 4));
            if (seesMonitor(me)) result.push({ group: t('Go to'), key: 'search', icon: <Icon name="list" />, words: '', label: t('Executions with “{text}”', { text: typed.trim() }), act: to('/executions', { q: typed.trim() }) });
        }
        return result;
    }, [typed, sought, found.data, processes.data, places, me, language, go, close, choose, leave, openKeys, setColorScheme]);

    useEffect(() => move(0), [typed]);
    useEffect(() => { list.current?.querySelector('.on')?.scrollIntoView({ block: 'nearest' }); }, [at]);
    let group = '';
    return (
        <Modal opened lockScroll={false} onClose={close} withCloseButton={false} size={640} padding={0} radius={12} yOffset={112} transitionProps={{ duration: 0 }} aria-label={t('Search or jump to')}>
            <div className="cmd">
                <div className="q">
                    <Icon name="search" />
                    <input autoFocus data-autofocus role="combobox" aria-expanded="true" aria-controls="cmd-list" aria-activedescendant={`cmd-${at}`} aria-label={t('Search or jump to')}
                        value={typed} placeholder={t('A key, an id, a process, a page…')} onChange={(event) => type(event.target.value)}
                        onKeyDown={(event) => {
                            if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                                event.preventDefault();
                                move((i) => (i + (event.key === 'ArrowDown' ? 1 : -1) + entries.length) % Math.max(entries.length, 1));
                            }
                            if (event.key === 'Enter') entries[at]?.act();
                        }} />
                    <kbd>esc</kbd>
                </div>
                <div className="list" id="cmd-list" role="listbox" aria-label={t('Search or jump to')} ref={list}>
                    {entries.map((entry, i) => {
                        const head = entry.group !== group ? (group = entry.group) : null;
                        return (
                            <div key={entry.key} role="presentation">
                                {head && <h3 role="presentation">{head}</h3>}
                                <button type="button" id={`cmd-${i}`} role="option" aria-selected={i === at} tabIndex={-1} className={`o ${i === at ? 'on' : ''}`} onMouseMove={() => move(i)} onClick={entry.act}>
                                    {entry.icon}<span className="cut grow">{entry.label}</span><span className="t3">{entry.note}</span>{i === at && <kbd>↵</kbd>}
                                </button>
                            </div>
                        );
                    })}
                </div>
                <div className="ft"><span><kbd>↑</kbd> <kbd>↓</kbd> {t('choose')}</span><span><kbd>↵</kbd> {t('open')}</span><span className="end"><kbd>?</kbd> {t('all keys')}</span></div>
            </div>
        </Modal>
    );
}
