// App.tsx - signed in or not, in which language, light or dark; then the pages.
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Problem, Unreachable, watchCalls } from '../lib/api';
import { Sprite } from '../lib/icons';
import { ownDrafts } from '../lib/owner';
import { connect, disconnect } from '../lib/live';
import { LanguageContext, language as currentLanguage, loadWords, setLanguage, type Language } from '../lib/text';
import type { Me } from '../lib/types';
import { makeRouter } from './routes';
import { forgetAnswers, SessionContext, signIn, signOut, takeToken, whoAmI } from './session';
import { SignIn } from './SignIn';
import { theme } from './theme';

const client = new QueryClient({
    defaultOptions: { queries: { retry: (count, error) => !(error instanceof Problem) && count < 30, retryDelay: (count) => Math.min(500 * 2 ** count, 4000), staleTime: 2000, refetchOnWindowFocus: true } },
});

type Stage = { at: 'asking' } | { at: 'out'; error?: unknown } | { at: 'in'; me: Me };

function Pages({ me, leave }: { me: Me; leave: () => void }) {
    const router = useMemo(makeRouter, []);
    const value = useMemo(() => ({ me, leave }), [me, leave]);
    useEffect(() => connect(), []);
    ownDrafts(me.id);
    return <SessionContext.Provider value={value}><RouterProvider router={router} /></SessionContext.Provider>;
}

export function App({ token }: { token: string | null }) {
    const [stage, become] = useState<Stage>({ at: 'asking' });
    const [language, choose] = useState<Language>(currentLanguage);

    const ask = useCallback(async () => {
        try {
            become({ at: 'in', me: await whoAmI() });
        } catch (error) {
            if (error instanceof Unreachable) setTimeout(ask, 1000);
            else become({ at: 'out' });
        }
    }, []);

    const enter = useCallback(async (secret: string) => {
        await signIn(secret);
        await ask();
    }, [ask]);

    /** Nothing of who was signed in stays on the page: the next one may be another person. */
    const forget = useCallback(() => {
        disconnect();
        client.clear();
        forgetAnswers();
    }, []);

    const leave = useCallback(async () => {
        await signOut().catch(() => undefined);
        forget();
        become({ at: 'out' });
    }, [forget]);

    useEffect(() => {
        watchCalls(() => become((stage) => {
            if (stage.at !== 'in') return stage;
            forget();
            return { at: 'out' };
        }), () => undefined);
        if (token) enter(token).catch((error: unknown) => become({ at: 'out', error }));
        else void ask();
    }, [ask, enter, forget, token]);

    // The address of `pawl login` may be opened in a tab that shows this page already: only what stands behind # changes.
    useEffect(() => {
        const look = () => {
            const given = takeToken();
            if (given) enter(given).catch((error: unknown) => become({ at: 'out', error }));
        };
        addEventListener('hashchange', look);
        return () => removeEventListener('hashchange', look);
    }, [enter]);

    const chosen = useMemo(() => ({ language, choose: (to: Language) => void loadWords(to).then(() => { setLanguage(to); choose(to); void client.invalidateQueries(); }) }), [language]); // the server's words are asked for anew
    useEffect(() => { document.documentElement.lang = language; }, [language]);

    return (
        <MantineProvider theme={theme} withCssVariables={false} withGlobalClasses={false} withStaticClasses defaultColorScheme="auto">
            <LanguageContext.Provider value={chosen}>
                <QueryClientProvider client={client}>
                    <Sprite />
                    {stage.at === 'out' && <SignIn enter={enter} error={stage.error} />}
                    {stage.at === 'in' && <Pages key={language} me={stage.me} leave={leave} />}
                </QueryClientProvider>
            </LanguageContext.Provider>
        </MantineProvider>
    );
}
