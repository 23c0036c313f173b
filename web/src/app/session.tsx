// session.tsx - who is signed in. The token is exchanged for a cookie that scripts cannot read, and kept nowhere.
// why: decisions 0252, 0305
import { createContext, useContext } from 'react';
import { call, post, remove } from '../lib/api';
import type { Me } from '../lib/types';

/** The token that `pawl login` puts behind the #; the address loses it at once, in the history too. */
export function takeToken(): string | null {
    const token = new URLSearchParams(location.hash.slice(1)).get('token');
    if (token) history.replaceState(null, '', location.pathname + location.search);
    return token;
}

/** Answers that were typed and not sent, which the tab keeps for a reload. */
export function forgetAnswers() {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith('pawl.answer.')) sessionStorage.removeItem(key);
}

export const signIn = (token: string) => post('/session', { token });
export const signOut = () => remove('/session');
export const whoAmI = () => call<Me>('/me');

export const SessionContext = createContext<{ me: Me; leave: () => void } | null>(null);

export function useMe() {
    const session = useContext(SessionContext);
    if (!session) throw new Error('nobody is signed in');
    return session;
}

export const mayAct = (me: Me) => me.role === 'admin' || me.role === 'operator';
export const isAdmin = (me: Me) => me.role === 'admin';

// What the table of rights of the server (src/api/rights.def) lets a role read: so that nobody is led to a page that refuses.
const isOneOf = (...roles: string[]) => (me: Me) => roles.includes(me.role);
export const seesMonitor = isOneOf('admin', 'operator', 'viewer');
export const seesPlanner = isOneOf('admin', 'operator', 'viewer', 'supervisor', 'lead', 'executor', 'system');
export const seesInbox = isOneOf('admin', 'operator', 'viewer', 'member', 'supervisor', 'lead', 'executor');
export const leads = isOneOf('admin', 'supervisor', 'lead');
export const setsPolicy = isOneOf('admin', 'supervisor');
export const isExecutor = isOneOf('executor');
