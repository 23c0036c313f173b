// routes.tsx - the pages by address. src/api/serve/ui_pages.def has the same list, and a test holds the two together.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Broken, NotFound, Shell } from './Shell';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, validateSearch: (search: Record<string, unknown>) => search as Record<string, string> });
const page = <P extends string>(path: P, load: () => Promise<Record<string, unknown>>, name: string) =>
    createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name) });

const tree = root.addChildren([
    page('/', () => import('./Home'), 'Home'),
    page('/executions', () => import('../screens/executions/List'), 'ExecutionsPage'),
    page('/executions/$id', () => import('../screens/execution/Page'), 'ExecutionPage'),
    page('/inbox', () => import('../screens/inbox/Inbox'), 'Inbox'),
    page('/dlq', () => import('../screens/dlq/DeadLetters'), 'DeadLetters'),
    page('/outbox', () => import('../screens/outbox/Outbox'), 'Outbox'),
    page('/schedules', () => import('../screens/schedules/Schedules'), 'Schedules'),
    page('/records', () => import('../screens/records/Records'), 'Records'),
    page('/records/$object', () => import('../screens/records/Records'), 'Records'),
    page('/records/$object/$id', () => import('../screens/records/Records'), 'Records'),
    page('/audit', () => import('../screens/audit/Audit'), 'Audit'),
    page('/server', () => import('../screens/server/Server'), 'Server'),
    page('/processes', () => import('../screens/processes/Processes'), 'Processes'),
    page('/processes/$kind/$code', () => import('../screens/processes/Process'), 'ProcessPage'),
    page('/functions', () => import('../screens/live/Live'), 'Functions'),
    page('/templates', () => import('../screens/live/Live'), 'Templates'),
    page('/config', () => import('../screens/live/Live'), 'Config'),
    page('/planner', () => import('../screens/planner/Planner'), 'PlannerPage'),
    page('/planner/shifts', () => import('../screens/planner/Shifts'), 'Shifts'),
    page('/tasks/$id', () => import('../screens/planner/Task'), 'TaskPage'),
    page('/settings', () => import('../screens/settings/Settings'), 'SettingsHome'),
    page('/settings/users', () => import('../screens/settings/Users'), 'Users'),
    page('/settings/credentials', () => import('../screens/settings/Credentials'), 'Credentials'),
    page('/settings/policy', () => import('../screens/settings/Policy'), 'PolicyPage'),
]);

// Words stay words: ?key=1043 is text, not a number.
const parseSearch = (text: string) => Object.fromEntries(new URLSearchParams(text));
const stringifySearch = (search: Record<string, unknown>) => {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(search)) if (value !== undefined && value !== null && value !== '') params.set(name, String(value));
    const text = params.toString();
    return text ? `?${text}` : '';
};

export const makeRouter = () => createRouter({ routeTree: tree, parseSearch, stringifySearch, defaultPreload: false, scrollRestoration: false, defaultErrorComponent: Broken });

declare module '@tanstack/react-router' {
    interface Register { router: ReturnType<typeof makeRouter> }
}
