// Shell.tsx - navigation at the left, one page, and what is everywhere: palette, keys, the band when the server is away.
import { useMantineColorScheme } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Glyph, Icon, Mark } from '../lib/icons';
import { useLiveCounts, useStuckMessages } from './counts';
import { keyOf } from '../lib/keys';
import { connectNow, useConnection, useLive } from '../lib/live';
import { Menu, MenuItem } from '../lib/menu';
import { Button, Empty, useNow } from '../lib/parts';
import { t, useLanguage } from '../lib/text';
import { when } from '../lib/time';
import type { Me } from '../lib/types';
import { KeysDialog } from './Keys';
import { Palette } from './Palette';
import { isAdmin, isExecutor, seesInbox, seesMonitor, seesPlanner, setsPolicy, useMe } from './session';

export interface Place { to: string; search?: Record<string, string>; icon: string; label: string; key?: string; who: (me: Me) => boolean; group: string }
export const PLACES: Place[] = [
    { to: '/', icon: 'gauge', label: 'Overview', key: 'o', group: '', who: seesMonitor },
    { to: '/inbox', icon: 'inbox', label: 'Inbox', key: 'i', group: '', who: seesInbox },
    { to: '/executions', icon: 'list', label: 'Executions', key: 'e', group: 'Monitor', who: seesMonitor },
    { to: '/dlq', icon: 'warn', label: 'Dead letters', key: 'd', group: 'Monitor', who: seesMonitor },
    { to: '/records', icon: 'db', label: 'Records', key: 'r', group: 'Monitor', who: seesMonitor },
    { to: '/audit', icon: 'audit', label: 'Audit', key: 'a', group: 'Monitor', who: isAdmin },
    { to: '/processes', icon: 'flow', label: 'Processes', key: 'p', group: 'Build', who: seesMonitor },
    { to: '/functions', icon: 'fn', label: 'Functions', group: 'Build', who: seesMonitor },
    { to: '/templates', icon: 'file', label: 'Templates', group: 'Build', who: seesMonitor },
    { to: '/config', icon: 'sliders', label: 'Configuration', group: 'Build', who: seesMonitor },
    { to: '/planner', icon: 'board', label: 'Planner', key: 'b', group: 'Work', who: seesPlanner },
    { to: '/planner/shifts', icon: 'users', label: 'Shifts', group: 'Work', who: seesPlanner },
    { to: '/outbox', icon: 'out', label: 'Outbox', group: 'System', who: seesMonitor },
    { to: '/schedules', icon: 'clock', label: 'Schedules', group: 'System', who: seesMonitor },
    { to: '/server', icon: 'shield', label: 'Server', key: 's', group: 'System', who: seesMonitor },
    { to: '/settings', icon: 'key', label: 'Settings', key: 'u', group: 'System', who: setsPolicy },
];
// What stands at the bottom of a phone; one more opens the rest.
const EXECUTOR_TABS: Place[] = [
    { to: '/planner', search: { view: 'pool' }, icon: 'board', label: 'Pool', group: '', who: isExecutor },
    { to: '/planner', search: { view: 'mine' }, icon: 'wrench', label: 'My task', group: '', who: isExecutor },
    { to: '/inbox', icon: 'inbox', label: 'Inbox', group: '', who: isExecutor },
    { to: '/planner/shifts', icon: 'clock', label: 'Shift', group: '', who: isExecutor },
];

/** Whether the page at `path` belongs to a place of the navigation: that of a task to the planner. */
export function isHere(to: string, path: string): boolean {
    if (to === '/') return path === '/';
    if (to === '/planner') return path === '/planner' || path.startsWith('/tasks/');
    return path === to || path.startsWith(`${to}/`);
}

/** Editors, the board and its tasks keep the width of the page: the navigation is icons there, however wide the window is. */
const NEEDS_WIDTH = /^\/(processes\/.+|schemas\/.+|planner|tasks\/.+)$/;

export const usePlaces = () => {
    const { me } = useMe();
    return useMemo(() => PLACES.filter((place) => place.who(me)), [me]);
};

/** What stands beside a place of the navigation: how much there is to do. */
function useBadges(): Record<string, { n: number; isLoud: boolean } | undefined> {
    const { me } = useMe();
    const counts = useLiveCounts();
    const stuck = useStuckMessages().length;
    // Whoever sees no executions hears of tasks, so that it is known whether the server is there.
    useLive(2000, () => false, () => undefined, 'task', !seesMonitor(me) && seesPlanner(me));
    return { '/inbox': { n: counts?.inbox ?? 0, isLoud: false }, '/dlq': { n: counts?.deadLetters ?? 0, isLoud: true }, '/outbox': { n: stuck, isLoud: true } };
}

function UserMenu({ openKeys }: { openKeys: () => void }) {
    const { me, leave } = useMe();
    const { language, choose } = useLanguage();
    const { colorScheme, setColorScheme } = useMantineColorScheme();
    const dark = colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
    return (
        <div className="foot">
            <Menu position="top-start" width={220} target={
                <button type="button" className="who" title={t('You and settings')}>
                    <span className="ava">{me.name.slice(0, 1)}</span><span className="cut">{me.name}<span className="t3"> · {me.role}</span></span>
                </button>
            }>
                <MenuItem icon="globe" onClick={() => choose(language === 'en' ? 'ru' : 'en')}>{language === 'en' ? 'Русский' : 'English'}</MenuItem>
                <MenuItem icon="moon" onClick={() => setColorScheme(dark ? 'light' : 'dark')}>{dark ? t('Light') : t('Dark')}</MenuItem>
                <MenuItem icon="help" kbd="?" onClick={openKeys}>{t('Keys and statuses')}</MenuItem>
                <hr />
                <MenuItem icon="out" onClick={leave}>{t('Sign out')}</MenuItem>
            </Menu>
            <button type="button" className="btn quiet sq sm end" title={dark ? t('Light') : t('Dark')} aria-label={dark ? t('Light') : t('Dark')} onClick={() => setColorScheme(dark ? 'light' : 'dark')}><Icon name="moon" /></button>
        </div>
    );
}

const PINNED = 'pawl.navigation';

/** Whether the navigation has words: as somebody has chosen in this browser, else by the room that the page needs. */
function usePinned(isTight: boolean) {
    const [chosen, choose] = useState(() => localStorage.getItem(PINNED));
    const isOpen = chosen === 'open' || (chosen !== 'small' && !isTight);
    const toggle = () => {
        const to = isOpen ? 'small' : 'open';
        localStorage.setItem(PINNED, to);
        choose(to);
    };
    return { isOpen, toggle };
}

function Navigation({ openPalette, openKeys, isOpen, toggle }: { openPalette: () => void; openKeys: () => void; isOpen: boolean; toggle: () => void }) {
    const places = usePlaces();
    const badges = useBadges();
    const groups = [...new Set(places.map((place) => place.group))];
    const { pathname } = useLocation();
    return (
        <nav className="nav" aria-label={t('Main')}>
            <Link to="/" className="brand"><Mark />Pawl</Link>
            <button type="button" className="jump" onClick={openPalette} title={t('Search or jump to')}>
                <Icon name="search" small /><span className="cut">{t('Search or jump to')}</span><kbd className="end">{navigator.platform.startsWith('Mac') ? '⌘K' : 'Ctrl K'}</kbd>
            </button>
            {groups.map((group) => (
                <div key={group} role="presentation">
                    {group && <h2>{t(group)}</h2>}
                    {places.filter((place) => place.group === group).map((place) => (
                        <Link key={place.to} to={place.to} className={`item ${isHere(place.to, pathname) ? 'active' : ''}`} activeProps={{}} aria-current={isHere(place.to, pathname) ? 'page' : undefined} title={t(place.label)}>
                            <Icon name={place.icon} /><span className="cut">{t(place.label)}</span>
                            {(badges[place.to]?.n ?? 0) > 0 && <span className={`n ${badges[place.to]!.isLoud ? 'loud' : ''}`}>{badges[place.to]!.n > 99 ? '99+' : badges[place.to]!.n}</span>}
                        </Link>
                    ))}
                </div>
            ))}
            <button type="button" className="item pin" aria-expanded={isOpen} title={isOpen ? t('Only icons') : t('With words')} onClick={toggle}><Icon name={isOpen ? 'left' : 'right'} /><span className="cut">{t('Only icons')}</span></button>
            <UserMenu openKeys={openKeys} />
        </nav>
    );
}

function TabBar({ openPalette }: { openPalette: () => void }) {
    const { me } = useMe();
    const places = usePlaces();
    const tabs = isExecutor(me) ? EXECUTOR_TABS : places.slice(0, 3);
    const { pathname, search } = useLocation();
    const view = (search as Record<string, string>).view ?? 'pool';
    const isOn = (place: Place) => isHere(place.to, pathname) && (!place.search || pathname !== '/planner' || place.search.view === view);
    return (
        <nav className="tabbar" aria-label={t('Main')}>
            {tabs.map((place) => (
                <Link key={place.label} to={place.to} search={place.search ?? {}} className={isOn(place) ? 'active' : ''} activeProps={{}} aria-current={isOn(place) ? 'page' : undefined}><Icon name={place.icon} />{t(place.label)}</Link>
            ))}
            <button type="button" onClick={openPalette}><Icon name="dots" />{t('More')}</button>
        </nav>
    );
}

/** The band under the bar; data stays, and nothing is lost. */
function OffAir() {
    const connection = useConnection();
    const now = useNow(1000);
    if (!connection.isMissed || now - connection.since < 1500) return null;
    return (
        <div className="offair" role="status">
            <Glyph name="held" tone="held" />
            <span className="grow"><b className="m5">{t('No answer from the server since {when}.', { when: when(connection.since, { seconds: true }) })}</b> {t('What runs there goes on.')}</span>
            <Button small onClick={connectNow}>{t('Try now')}</Button>
        </div>
    );
}

export function OnAir() {
    const connection = useConnection();
    if (!connection.connected && !connection.isMissed) return null;
    return connection.connected
        ? <span className="onair"><i /><span>{t('Live')}</span></span>
        : <span className="onair off"><i /><span>{t('Reconnecting, last news {when}', { when: when(connection.since, { seconds: true }) })}</span></span>;
}

/** The head of a page; `busy` draws the line of loading under it. */
export function Bar({ title, children, busy, live = true }: { title: ReactNode; children?: ReactNode; busy?: boolean; live?: boolean }) {
    const [slow, show] = useState(false);
    useEffect(() => {
        if (!busy) return show(false);
        const timer = setTimeout(() => show(true), 300);
        return () => clearTimeout(timer);
    }, [busy]);
    return (
        <>
            <header className="bar">
                {typeof title === 'string' ? <h1>{title}</h1> : title}
                {live && <OnAir />}
                <span className="end row">{children}</span>
                {slow && <i className="load" />}
            </header>
            <OffAir />
        </>
    );
}

const isTyping = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('.cm-editor') !== null);

export function useKeys(keys: Record<string, (event: KeyboardEvent) => void>) {
    const current = useRef(keys);
    current.current = keys;
    useEffect(() => {
        const press = (event: KeyboardEvent) => {
            if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector('[role=dialog]')) return;
            const act = current.current[keyOf(event)];
            if (act) act(event);
        };
        addEventListener('keydown', press);
        return () => removeEventListener('keydown', press);
    }, []);
}

export function Shell() {
    const [palette, showPalette] = useState(false);
    const [keys, showKeys] = useState(false);
    const go = useNavigate();
    const places = usePlaces();
    const going = useRef(0);
    const { pathname } = useLocation();
    const narrow = useMediaQuery('(max-width: 1360px)', undefined, { getInitialValueInEffect: false });
    useEffect(() => {
        const press = (event: KeyboardEvent) => {
            if ((event.metaKey || event.ctrlKey) && keyOf(event).toLowerCase() === 'k') {
                event.preventDefault();
                showPalette((open) => !open);
                return;
            }
            if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector('[role=dialog]')) return;
            const key = keyOf(event);
            if (key === '?') showKeys(true);
            else if (key === 'g') going.current = Date.now();
            else if (Date.now() - going.current < 1000) {
                going.current = 0;
                const place = places.find((p) => p.key === key);
                if (place) {
                    event.preventDefault();
                    event.stopImmediatePropagation();
                    void go({ to: place.to });
                }
            }
        };
        addEventListener('keydown', press, true);
        return () => removeEventListener('keydown', press, true);
    }, [go, places]);
    const pinned = usePinned(narrow || NEEDS_WIDTH.test(pathname));
    return (
        <div className={`shell ${pinned.isOpen ? '' : 'tight'}`}>
            <Navigation {...pinned} openPalette={() => showPalette(true)} openKeys={() => showKeys(true)} />
            <main className="main"><Outlet /></main>
            <TabBar openPalette={() => showPalette(true)} />
            {palette && <Palette close={() => showPalette(false)} openKeys={() => { showPalette(false); showKeys(true); }} />}
            {keys && <KeysDialog close={() => showKeys(false)} />}
        </div>
    );
}

/** A page that could not be drawn: said in its place, the others go on. */
export const Broken = ({ error, reset }: { error: unknown; reset: () => void }) => (
    <>
        <Bar title={t('This page could not be shown')} live={false} />
        <Empty title={t('This page could not be shown')} action={<Button kind="ink" onClick={reset}>{t('Show it again')}</Button>}>
            {t('Nothing was changed on the server. If it happens again, tell your administrator what stands here:')} <code>{error instanceof Error ? error.message : String(error)}</code>
        </Empty>
    </>
);

export const NotFound = () => (
    <>
        <Bar title={t('Nothing here')} live={false} />
        <Empty title={t('There is nothing at this address')} action={<Link className="btn ink" to="/">{t('Go to the overview')}</Link>}>
            {t('The address may be mistyped, or what was here is deleted.')}
        </Empty>
    </>
);
