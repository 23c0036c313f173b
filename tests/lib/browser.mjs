// browser.mjs - Debian's chromium for the tests of the web UI, and what every page of them must not do.
import { readFileSync } from 'node:fs';

import { chromium } from 'playwright-core';

import './program.mjs';

const axe = readFileSync('tests/node_modules/axe-core/axe.min.js', 'utf8');

const LAUNCH = {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--font-render-hinting=none'],
};

/** A browser that several processes use. */
export const launchServer = () => chromium.launchServer({ ...LAUNCH, host: '127.0.0.1' });

/**
 * A browser, closed by its caller: that of the run, whose address is in PAWL_TEST_BROWSER, or one of this process.
 * With `args` it is always one of this process.
 */
export function openBrowser(args = []) {
    const shared = process.env.PAWL_TEST_BROWSER;
    if (shared && args.length === 0) return chromium.connect(shared);
    return chromium.launch({ ...LAUNCH, args: [...LAUNCH.args, ...args] });
}

/** The address that `pawl login` prints. */
export const signInUrl = (server, path = '/', token = server.token) => `${server.url}${path}#token=${token}`;

/**
 * A page of its own, with `wrong`: what it complained about in the console, and what it asked others for. Answers that
 * say no are the server's to give; whether they are shown is another claim.
 */
export async function openPage(browser, server, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', timezoneId: 'UTC', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20000);
    page.wrong = [];
    page.on('console', (message) => {
        if (message.type() === 'error' && !/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE/.test(message.text())) page.wrong.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => page.wrong.push(`error: ${error.message}`));
    context.on('request', (request) => {
        if (!request.url().startsWith(server.url)) page.wrong.push(`request to ${request.url()}`);
    });
    return page;
}

/** What axe has against the page as it stands. */
export async function complaintsOf(page) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
    return violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(' ')} (${(n.any[0] ?? n.all[0] ?? n.none[0])?.message ?? ''})`).join('; ')}`);
}
