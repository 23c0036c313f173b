// icons.tsx - the one set of icons (16 px grid, `i-`) and status glyphs (14 px, `g-`). Made once by hand: no font, no second set.
const SPRITE = `
<symbol id="g-add" viewBox="0 0 14 14"><circle cx="7" cy="7" r="6" fill="var(--ok-solid)"/><path d="M7 4.200v5.600M4.200 7h5.600" stroke="var(--surface)" stroke-width="1.600" stroke-linecap="round"/></symbol>
<symbol id="g-cancelled" viewBox="0 0 14 14"><circle cx="7" cy="7" r="5.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M3.600 10.400l6.800-6.800" stroke="currentColor" stroke-width="1.500"/></symbol>
<symbol id="g-chg" viewBox="0 0 14 14"><circle cx="7" cy="7" r="6" fill="var(--ink)"/><path d="M4.300 7.800c.9-1.700 1.900-1.700 2.700-.8s1.800.9 2.700-.8" fill="none" stroke="var(--on-ink)" stroke-width="1.500" stroke-linecap="round"/></symbol>
<symbol id="g-completed" viewBox="0 0 14 14"><circle cx="7" cy="7" r="5.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M4.700 7.200l1.600 1.600 3-3.400" fill="none" stroke="currentColor" stroke-width="1.500" stroke-linecap="round" stroke-linejoin="round"/></symbol>
<symbol id="g-debug" viewBox="0 0 14 14"><path d="M7 1.200 12.800 7 7 12.800 1.200 7z" fill="none" stroke="currentColor" stroke-width="1.500" stroke-linejoin="round"/><path d="M7 4.600 9.400 7 7 9.400 4.600 7z" fill="currentColor"/></symbol>
<symbol id="g-del" viewBox="0 0 14 14"><circle cx="7" cy="7" r="6" fill="var(--bad-solid)"/><path d="M4.200 7h5.600" stroke="var(--on-bad)" stroke-width="1.600" stroke-linecap="round"/></symbol>
<symbol id="g-error" viewBox="0 0 14 14"><circle cx="7" cy="7" r="6" fill="var(--bad-solid)"/><path d="M7 3.800v3.600" stroke="var(--on-bad)" stroke-width="1.600" stroke-linecap="round"/><circle cx="7" cy="9.900" r=".95" fill="var(--on-bad)"/></symbol>
<symbol id="g-failed" viewBox="0 0 14 14"><circle cx="7" cy="7" r="6" fill="var(--bad-solid)"/><path d="M4.900 4.900l4.200 4.200M9.100 4.900 4.900 9.100" stroke="var(--on-bad)" stroke-width="1.500" stroke-linecap="round"/></symbol>
<symbol id="g-held" viewBox="0 0 14 14"><path d="M7 .9c.5 0 .9.2 1.1.7l5 9c.5.9-.1 2-1.100 2H2c-1 0-1.600-1.100-1.100-2l5-9c.2-.5.6-.7 1.100-.7z" fill="var(--held-solid)" stroke="var(--held-line)" stroke-width=".8"/><path d="M7 5v3" stroke="var(--on-held)" stroke-width="1.6" stroke-linecap="round"/><circle cx="7" cy="10.300" r=".95" fill="var(--on-held)"/></symbol>
<symbol id="g-paused" viewBox="0 0 14 14"><circle cx="7" cy="7" r="5.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M5.6 5v4M8.4 5v4" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/></symbol>
<symbol id="g-pending" viewBox="0 0 14 14"><circle cx="7" cy="7" r="5.25" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2.2 1.9"/></symbol>
<symbol id="g-running" viewBox="0 0 14 14"><circle cx="7" cy="7" r="5.25" fill="none" stroke="currentColor" stroke-width="1.5" opacity=".3"/><path d="M7 1.75A5.25 5.25 0 0 1 12.25 7" fill="none" stroke="currentColor" stroke-width="1.9" stroke-linecap="round"/><circle cx="7" cy="7" r="1.9" fill="currentColor"/></symbol>
<symbol id="g-undofail" viewBox="0 0 14 14"><circle cx="7" cy="7" r="6" fill="var(--undo-solid)"/><path d="M7 3.800v3.600" stroke="var(--surface)" stroke-width="1.600" stroke-linecap="round"/><circle cx="7" cy="9.900" r=".95" fill="var(--surface)"/></symbol>
<symbol id="g-undoing" viewBox="0 0 14 14"><circle cx="7" cy="7" r="5.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M9.600 7H4.600M6.600 4.800 4.400 7l2.200 2.200" fill="none" stroke="currentColor" stroke-width="1.500" stroke-linecap="round" stroke-linejoin="round"/></symbol>
<symbol id="g-undone" viewBox="0 0 14 14"><circle cx="7" cy="7" r="6" fill="var(--undo-solid)"/><path d="M9.400 7H4.800M6.600 5 4.600 7l2 2" fill="none" stroke="var(--surface)" stroke-width="1.500" stroke-linecap="round" stroke-linejoin="round"/></symbol>
<symbol id="g-unknown" viewBox="0 0 14 14"><path d="M7 .9c.5 0 .9.2 1.1.7l5 9c.5.9-.1 2-1.100 2H2c-1 0-1.600-1.100-1.100-2l5-9c.2-.5.6-.7 1.100-.7z" fill="var(--held-solid)" stroke="var(--held-line)" stroke-width=".8"/><path d="M5.600 6.200a1.400 1.400 0 1 1 2.100 1.200c-.5.3-.7.5-.7.9" fill="none" stroke="var(--on-held)" stroke-width="1.300" stroke-linecap="round"/><circle cx="7" cy="10.600" r=".8" fill="var(--on-held)"/></symbol>
<symbol id="g-waiting" viewBox="0 0 14 14"><circle cx="7" cy="7" r="5.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M7 4.2V7l1.9 1.2" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/></symbol>
<symbol id="i-arrow" viewBox="0 0 16 16"><path d="M3 8h10M9 4l4 4-4 4"/></symbol>
<symbol id="i-audit" viewBox="0 0 16 16"><path d="M8 4.5V8l2.4 1.4M2.8 6.2A5.5 5.5 0 1 1 2.5 8M2.5 3.2v3h3"/></symbol>
<symbol id="i-bell" viewBox="0 0 16 16"><path d="M4 11V7.3a4 4 0 0 1 8 0V11l1.2 1.2H2.8zM6.8 13.8h2.4"/></symbol>
<symbol id="i-board" viewBox="0 0 16 16"><path d="M2.5 3h3v10h-3zM6.7 3h3v6h-3zM10.8 3h3v8h-3z"/></symbol>
<symbol id="i-bolt" viewBox="0 0 16 16"><path d="M9 2.3 3.8 9h3.7L7 13.7 12.2 7H8.5z"/></symbol>
<symbol id="i-branch" viewBox="0 0 16 16"><path d="M4.5 2.5v11M4.5 8.5c5 0 7-1 7-4.5M9.5 5.8l2-2.3 2 2.3"/></symbol>
<symbol id="i-brush" viewBox="0 0 16 16"><path d="M9.5 6.5l4-4M6.8 7.2l2 2M3 13.3c2.6.3 4.6-.3 5.2-2a2 2 0 1 0-3.5-1.8c-.2 1.4-.3 2.6-1.7 3.8z"/></symbol>
<symbol id="i-calc" viewBox="0 0 16 16"><path d="M3.5 4.5h4M5.5 2.5v4M9.5 4.5h4M3.8 10.2l3.4 3.4M7.2 10.2l-3.4 3.4M9.5 10.5h4M9.5 13.3h4"/></symbol>
<symbol id="i-check" viewBox="0 0 16 16"><path d="M3.5 8.5l3 3 6-7"/></symbol>
<symbol id="i-clock" viewBox="0 0 16 16"><path d="M8 2.3a5.7 5.7 0 1 0 0 11.4A5.7 5.7 0 0 0 8 2.3zM8 5v3.2l2 1.3"/></symbol>
<symbol id="i-code" viewBox="0 0 16 16"><path d="M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5"/></symbol>
<symbol id="i-copy" viewBox="0 0 16 16"><path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z"/></symbol>
<symbol id="i-db" viewBox="0 0 16 16"><path d="M3 4.2c0-1 2.2-1.7 5-1.7s5 .7 5 1.7-2.2 1.7-5 1.7-5-.7-5-1.7zM3 4.2v7.6c0 1 2.2 1.7 5 1.7s5-.7 5-1.7V4.2M3 8c0 1 2.2 1.7 5 1.7S13 9 13 8"/></symbol>
<symbol id="i-dots" viewBox="0 0 16 16"><g fill="currentColor" stroke="none"><circle cx="3.500" cy="8" r="1.200"/><circle cx="8" cy="8" r="1.200"/><circle cx="12.500" cy="8" r="1.200"/></g></symbol>
<symbol id="i-down" viewBox="0 0 16 16"><path d="M4.5 6.3 8 9.8l3.5-3.5"/></symbol>
<symbol id="i-drop" viewBox="0 0 16 16"><path d="M8 2.5c2.4 3 3.7 4.9 3.7 6.9a3.7 3.7 0 0 1-7.4 0c0-2 1.3-3.9 3.7-6.9z"/></symbol>
<symbol id="i-end" viewBox="0 0 16 16"><path d="M2.5 4v8L7 8zM7.5 4v8L12 8zM13.5 4v8"/></symbol>
<symbol id="i-eye" viewBox="0 0 16 16"><path d="M1.8 8c1.4-2.6 3.5-4 6.2-4s4.8 1.4 6.2 4c-1.4 2.6-3.5 4-6.2 4S3.2 10.6 1.8 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z"/></symbol>
<symbol id="i-file" viewBox="0 0 16 16"><path d="M4 2.3h5l3 3v8.4H4zM9 2.3v3h3"/></symbol>
<symbol id="i-fit" viewBox="0 0 16 16"><path d="M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3"/></symbol>
<symbol id="i-flag" viewBox="0 0 16 16"><path d="M4 13.5V3M4 3.3h8l-1.8 2.6L12 8.5H4"/></symbol>
<symbol id="i-flow" viewBox="0 0 16 16"><path d="M2.5 2.8h4.4v3.4H2.5zM9.1 9.8h4.4v3.4H9.1zM4.7 6.2v5.3h4.4"/></symbol>
<symbol id="i-fn" viewBox="0 0 16 16"><path d="M9.8 3.2c-1.6-.7-2.6.2-2.8 1.7L6 11.4c-.2 1.4-1.2 2-2.5 1.4M4.8 7h4.4M10.2 9l3 4M13.2 9l-3 4"/></symbol>
<symbol id="i-gauge" viewBox="0 0 16 16"><path d="M2.5 11.5a5.5 5.5 0 1 1 11 0M8 11.5l2.6-3.9"/></symbol>
<symbol id="i-globe" viewBox="0 0 16 16"><path d="M8 2.3a5.7 5.7 0 1 0 0 11.4A5.7 5.7 0 0 0 8 2.3zM2.5 8h11M8 2.3c2 2 2.6 3.8 2.6 5.7S10 11.7 8 13.7M8 2.3C6 4.3 5.4 6.1 5.4 8S6 11.7 8 13.7"/></symbol>
<symbol id="i-help" viewBox="0 0 16 16"><path d="M8 2.3a5.7 5.7 0 1 0 0 11.4A5.7 5.7 0 0 0 8 2.3zM6.3 6.4a1.7 1.7 0 1 1 2.5 1.5c-.6.3-.8.6-.8 1.2M8 11.2v.01"/></symbol>
<symbol id="i-hold" viewBox="0 0 16 16"><path d="M8 2.3a5.7 5.7 0 1 0 0 11.4A5.7 5.7 0 0 0 8 2.3zM4 4l8 8"/></symbol>
<symbol id="i-inbox" viewBox="0 0 16 16"><path d="M2.5 9.5l2-6h7l2 6v3.3h-11zM2.5 9.5h3.2c.2 1.2 1.1 2 2.3 2s2.1-.8 2.3-2h3.2"/></symbol>
<symbol id="i-key" viewBox="0 0 16 16"><path d="M5.2 7.6a2.9 2.9 0 1 0 0 5.8 2.900 2.900 0 0 0 0-5.800zM7.300 8.500l5.700-5.700M10.500 5.300l2.200 2.200"/></symbol>
<symbol id="i-left" viewBox="0 0 16 16"><path d="M9.7 4.5 6.2 8l3.5 3.5"/></symbol>
<symbol id="i-link" viewBox="0 0 16 16"><path d="M6.7 9.3a2.4 2.4 0 0 0 3.4 0l2.2-2.2a2.4 2.4 0 0 0-3.4-3.4l-.9.9M9.3 6.7a2.4 2.4 0 0 0-3.4 0L3.7 8.9a2.4 2.4 0 0 0 3.4 3.4l.9-.9"/></symbol>
<symbol id="i-list" viewBox="0 0 16 16"><path d="M6 4h7.5M6 8h7.5M6 12h7.5M2.7 4h.01M2.7 8h.01M2.7 12h.01"/></symbol>
<symbol id="i-lock" viewBox="0 0 16 16"><path d="M4 7.2h8v6H4zM5.6 7.2V5.1a2.4 2.4 0 0 1 4.8 0v2.1"/></symbol>
<symbol id="i-log" viewBox="0 0 16 16"><path d="M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2.5"/></symbol>
<symbol id="i-loop" viewBox="0 0 16 16"><path d="M12.8 6.5A5 5 0 0 0 3.5 5.6M3.2 9.5a5 5 0 0 0 9.3.9M3.3 2.8v3h3M12.7 13.2v-3h-3"/></symbol>
<symbol id="i-mail" viewBox="0 0 16 16"><path d="M2.5 3.8h11v8.4h-11zM2.5 4.6 8 8.8l5.5-4.2"/></symbol>
<symbol id="i-moon" viewBox="0 0 16 16"><path d="M12.9 9.7A5.3 5.3 0 1 1 6.3 3.1a4.3 4.3 0 0 0 6.6 6.6z"/></symbol>
<symbol id="i-out" viewBox="0 0 16 16"><path d="M8 10V2.8M5.2 5.5 8 2.8l2.8 2.7M2.5 9.5v3.7h11V9.5"/></symbol>
<symbol id="i-par" viewBox="0 0 16 16"><path d="M8 2.5v2.7M3.5 13.5V5.2h9v8.3"/></symbol>
<symbol id="i-pause" viewBox="0 0 16 16"><path d="M5.5 3.5v9M10.5 3.5v9"/></symbol>
<symbol id="i-pin" viewBox="0 0 16 16"><path d="M5.500 2.500h5M6.300 2.500v4.300L4 9.300h8L9.700 6.800V2.500M8 9.300v4.200"/></symbol>
<symbol id="i-play" viewBox="0 0 16 16"><path d="M4.5 3v10l8-5z"/></symbol>
<symbol id="i-plus" viewBox="0 0 16 16"><path d="M8 3v10M3 8h10"/></symbol>
<symbol id="i-redo" viewBox="0 0 16 16"><path d="M10.5 3l3 3-3 3M13.5 6h-7a3.5 3.5 0 0 0 0 7H10"/></symbol>
<symbol id="i-right" viewBox="0 0 16 16"><path d="M6.3 4.5 9.8 8l-3.5 3.5"/></symbol>
<symbol id="i-search" viewBox="0 0 16 16"><path d="M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3.3 3.3"/></symbol>
<symbol id="i-send" viewBox="0 0 16 16"><path d="M13.5 2.5 7 9M13.5 2.5 9.3 13.5 7 9 2.5 6.7z"/></symbol>
<symbol id="i-shield" viewBox="0 0 16 16"><path d="M8 2.3l5 1.8v3.7c0 3-2 5-5 6-3-1-5-3-5-6V4.1zM5.8 8l1.6 1.6 2.9-3.1"/></symbol>
<symbol id="i-signal" viewBox="0 0 16 16"><path d="M8 9.2a1.2 1.2 0 1 0 0-2.4 1.2 1.2 0 0 0 0 2.4zM5 11.2a4.3 4.3 0 0 1 0-6.4M11 4.8a4.3 4.3 0 0 1 0 6.4M3 13.2a7.2 7.2 0 0 1 0-10.4M13 2.8a7.2 7.2 0 0 1 0 10.4"/></symbol>
<symbol id="i-sliders" viewBox="0 0 16 16"><path d="M2.5 4.5h5.2M12.3 4.5h1.2M2.5 11.5h1.2M8.3 11.5h5.2M10 2.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM6 9.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z"/></symbol>
<symbol id="i-step" viewBox="0 0 16 16"><path d="M3 3.5v9l6-4.5zM12.5 3.5v9"/></symbol>
<symbol id="i-stop" viewBox="0 0 16 16"><path d="M4 4h8v8H4z"/></symbol>
<symbol id="i-undo" viewBox="0 0 16 16"><path d="M5.5 3 2.5 6l3 3M2.5 6h7a3.5 3.5 0 0 1 0 7H6"/></symbol>
<symbol id="i-up" viewBox="0 0 16 16"><path d="M4.5 9.7 8 6.2l3.5 3.5"/></symbol>
<symbol id="i-user" viewBox="0 0 16 16"><path d="M8 8.2a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4zM2.8 13.5c.6-2.2 2.6-3.4 5.2-3.4s4.6 1.2 5.2 3.4"/></symbol>
<symbol id="i-users" viewBox="0 0 16 16"><path d="M6 8a2.4 2.4 0 1 0 0-4.8A2.4 2.4 0 0 0 6 8zM1.8 13c.4-2 2-3.1 4.2-3.1s3.8 1.1 4.2 3.1M10.6 3.4a2.4 2.4 0 0 1 0 4.4M12 10.2c1.2.4 2 1.4 2.3 2.8"/></symbol>
<symbol id="i-warn" viewBox="0 0 16 16"><path d="M8 2.8 14 13H2zM8 6.8v2.6M8 11.2v.01"/></symbol>
<symbol id="i-wrench" viewBox="0 0 16 16"><path d="M13 4.2 10.8 6.4 9.6 5.2l2.2-2.2a3.3 3.3 0 0 0-4.4 4L2.8 11.6l1.6 1.6L9 8.6a3.3 3.3 0 0 0 4-4.4z"/></symbol>
<symbol id="i-x" viewBox="0 0 16 16"><path d="M4 4l8 8M12 4l-8 8"/></symbol>
`;

/** Every symbol, once in the document; it is our own text. */
export const Sprite = () => <svg className="sprite" aria-hidden="true" dangerouslySetInnerHTML={{ __html: SPRITE }} />;

export const Icon = ({ name, small, className = '' }: { name: string; small?: boolean; className?: string }) => (
    <svg className={`ic ${small ? 's ' : ''}${className}`} aria-hidden="true"><use href={`#i-${name}`} /></svg>
);

export const Glyph = ({ name, tone = '', className = '' }: { name: string; tone?: string; className?: string }) => (
    <svg className={`gl ${tone && `c-${tone}`} ${className}`} aria-hidden="true"><use href={`#g-${name}`} /></svg>
);

export const Mark = ({ size = 20 }: { size?: number }) => (
    <svg className="mark" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true">
        <path d="M2 17.5v-3.600l7.600-5.600v5.600L17.5 8.200v9.300z" fill="var(--ink)" stroke="var(--ink)" strokeLinejoin="round" />
        <path d="M3.600 3.200l7.800 5" stroke="var(--accent)" strokeWidth="2.800" strokeLinecap="round" />
    </svg>
);
