// Home.tsx - what stands at "/": the overview, or for whom it is not made the first page that is.
import { Navigate } from '@tanstack/react-router';
import { Overview } from '../screens/overview/Overview';
import { seesMonitor, seesPlanner, useMe } from './session';

export function Home() {
    const { me } = useMe();
    if (seesMonitor(me)) return <Overview />;
    return <Navigate to={seesPlanner(me) ? '/planner' : '/inbox'} replace />;
}
