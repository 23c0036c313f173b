// Settings.tsx - the frame of the pages under /settings: their list at the left.
import { Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Bar } from '../../app/Shell';
import { isAdmin, setsPolicy, useMe } from '../../app/session';
import { Icon } from '../../lib/icons';
import { t } from '../../lib/text';
import './settings.css';

const PAGES = [
    { to: '/settings/users', icon: 'users', label: 'Users and tokens', who: isAdmin },
    { to: '/settings/credentials', icon: 'key', label: 'Credentials', who: isAdmin },
    { to: '/settings/policy', icon: 'shield', label: 'Policy of the planner', who: setsPolicy },
];

export function SettingsFrame({ children, actions, busy }: { children: ReactNode; actions?: ReactNode; busy?: boolean }) {
    const { me } = useMe();
    return (
        <>
            <Bar title={t('Settings')} live={false} busy={busy}>{actions}</Bar>
            <div className="settings">
                <nav className="setnav" aria-label={t('Settings')}>{PAGES.filter((page) => page.who(me)).map((page) => <Link key={page.to} to={page.to} className="item"><Icon name={page.icon} />{t(page.label)}</Link>)}</nav>
                <div className="setpage">{children}</div>
            </div>
        </>
    );
}

/** /settings leads to the first page that is for the role. */
export function SettingsHome() {
    const { me } = useMe();
    return <Navigate to={PAGES.find((page) => page.who(me))?.to ?? '/'} replace />;
}
