// test_walk.mjs - claims about every screen and dialog there is: its words, what axe finds, phones. `make test` takes some of them, `make test-full` all.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { complaintsOf, openBrowser, openPage, signInUrl } from '../lib/browser.mjs';
import { share } from '../lib/budget.mjs';
import { claim, end, equal } from '../lib/claims.mjs';
import { SCREENS, server } from './screenshots.mjs';

const browser = await openBrowser();
const ONLY = process.argv.slice(2); // names of screens; all of them when there are none
const SOME = ONLY.length > 0 ? SCREENS.filter(([name]) => ONLY.includes(name)) : share('walk.screens', SCREENS);

/** What the pages say in English and in another way in Russian. */
const keys = new Set(readdirSync('web/src/lib/ru').flatMap((name) => [...readFileSync(join('web/src/lib/ru', name), 'utf8').matchAll(/^ {4}'((?:[^'\\]|\\.)*)': '((?:[^'\\]|\\.)*)',$/gm)].filter((m) => m[1] !== m[2]).map((m) => m[1])));
/** Latin words that Russian has as well, or that are the same everywhere. */
const COMMON = new Set('Pawl JSON CEL HTTP HTTPS URL API UTC ID UUID Esc Enter Ctrl Alt Shift Tab Space Delete SSE POST GET PUT PATCH ETag id fx JSON cron en ru English Home End PageUp PageDown SMS push OAuth metrics NAME schedule'.split(' '));

/** Texts on the page, and what assistive technology reads out, outside code. */
const textsOf = (page) => page.evaluate(() => {
    const found = [];
    const isCode = (element) => element.closest('code, pre, .mono, .cm-editor, kbd, .code, textarea, input, script, style, [data-code], option, .cmhost') !== null;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
        if (node.textContent.trim() && !isCode(node.parentElement) && node.parentElement.getClientRects().length > 0) found.push(node.textContent.trim());
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]'))
        for (const name of ['aria-label', 'title', 'placeholder']) {
            const text = element.getAttribute(name);
            if (text && element.getClientRects().length > 0) found.push(text);
        }
    return [...new Set(found)];
});

/** A word of the data, or what is left of one where a text is cut. */
const isData = (page, word) => (word.endsWith('…') ? [...page.data].some((one) => one.startsWith(word.slice(0, -1))) : page.data.has(word));

async function walk({ language, scheme, width, height = 800 }, look) {
    const pages = new Map();
    const phone = width < 640;
    const pageOf = async (token) => {
        if (pages.has(token)) return pages.get(token);
        const page = await openPage(browser, server, { viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' });
        page.data = new Set();
        page.texts = new Set();
        page.reading = [];
        // What the page has read and sent are data: words of people, in whatever language they speak.
        const takeWords = (text) => {
            for (const word of text.replace(/\\[nrt"]/g, ' ').match(/[A-Za-z][A-Za-z]+/g) ?? []) page.data.add(word.toLowerCase());
            for (const one of text.match(/"(?:[^"\\]|\\.)*"/g) ?? []) page.texts.add(one.slice(1, -1).toLowerCase());
        };
        page.on('request', (request) => takeWords(request.postData() ?? ''));
        page.on('response', (answer) => {
            if (answer.url().includes('/api/v1/')) page.reading.push(answer.text().then(takeWords, () => {}));
        });
        pages.set(token, page);
        await page.addInitScript((to) => { if (location.protocol !== 'about:') localStorage.setItem('pawl.language', to); }, language);
        await page.goto(signInUrl(server, '/', token));
        await page.waitForSelector('.main');
        return page;
    };
    for (const [name, path, ready, act, only, token = server.token] of SOME) {
        if (only === 'wide' && phone) continue;
        const page = await pageOf(token);
        await page.goto(server.url + path);
        await page.waitForSelector(ready).catch((error) => { throw new Error(`${name}: ${error.message}`); });
        if (act) await act(page);
        await Promise.all(page.reading.splice(0));
        await look(page, name, act !== undefined);
        await page.mouse.up();
    }
    for (const page of pages.values()) await page.context().close();
}

await claim('in Russian nothing is left in English, and axe finds nothing in what is open', async () => {
    const left = [], found = [];
    await walk({ language: 'ru', scheme: 'light', width: 1280 }, async (page, name, isOpen) => {
        for (const text of await textsOf(page)) {
            const words = (text.match(/[A-Za-z][A-Za-z]+…?/g) ?? []).filter((word) => !COMMON.has(word) && !isData(page, word.toLowerCase()));
            if (words.length > 0 || (keys.has(text) && !page.texts.has(text.toLowerCase()))) left.push(`${name}: ${text.slice(0, 120)}`);
        }
        if (isOpen) found.push(...(await complaintsOf(page)).map((one) => `${name}: ${one}`));
    });
    equal({ left: [...new Set(left)], axe: found }, { left: [], axe: [] });
});

await claim('on a phone nothing scrolls sideways, everything can be hit with a finger, and axe finds nothing in the dark', async () => {
    const wide = [], small = [], found = [];
    await walk({ language: 'ru', scheme: 'dark', width: 390, height: 844 }, async (page, name, isOpen) => {
        const across = await page.evaluate(() => document.scrollingElement.scrollWidth);
        if (across > 390) wide.push(`${name}: ${across}`);
        if (!/^(constructor|process|planner|pool|task|my-task|shift)/.test(name)) small.push(...(await page.evaluate(() => {
            const bad = [];
            for (const element of document.querySelectorAll('button, a[href], select, input, textarea, [role=tab], [role=radio], [role=checkbox], summary')) {
                const box = element.getBoundingClientRect(), style = getComputedStyle(element);
                if (box.width === 0 || style.visibility === 'hidden' || element.closest('[aria-hidden=true], .cm-editor, .react-flow') || element.disabled) continue;
                const name = `${element.tagName.toLowerCase()}.${element.className || ''} «${(element.textContent || element.getAttribute('aria-label') || '').trim().slice(0, 30)}»`;
                if (/^(INPUT|SELECT|TEXTAREA)$/.test(element.tagName) && !/checkbox|radio|range/.test(element.type) && parseFloat(style.fontSize) < 16) bad.push(`${name} ${style.fontSize}`);
                // A link within a sentence may be as high as its line. What is hit is a label's box, or a larger area around a small control.
                if (element.tagName === 'A' && (style.display === 'inline' || element.classList.contains('cut'))) continue;
                const grown = ['::before', '::after'].map((part) => getComputedStyle(element, part)).filter((one) => one.content !== 'none' && one.position === 'absolute').map((one) => parseFloat(one.height) || 0);
                if (Math.max((element.closest('label') ?? element).getBoundingClientRect().height, ...grown) < 43.5) bad.push(`${name} ${Math.round(box.width)}×${Math.round(box.height)}`);
            }
            return [...new Set(bad)];
        })).map((one) => `${name}: ${one}`));
        if (isOpen) found.push(...(await complaintsOf(page)).map((one) => `${name}: ${one}`));
    });
    equal({ wide, small, axe: found }, { wide: [], small: [], axe: [] });
});

await browser.close();
await server.stop();
end();
