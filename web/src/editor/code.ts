// code.ts - how CodeMirror looks here. It lives in shadow roots, where it may adopt its styles: see lib/viewer.tsx.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colours = HighlightStyle.define([
    { tag: tags.propertyName, color: 'var(--syn-key)' }, { tag: tags.string, color: 'var(--syn-str)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--syn-num)' },
]);

const theme = EditorView.theme({
    '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '12px', height: '100%' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
    '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
    '.cm-cursor': { borderLeftColor: 'var(--text)' },
    '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-3)', border: '0' },
    '.cm-lineNumbers .cm-gutterElement': { minWidth: '36px', padding: '0 8px 0 4px' },
    '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selected)' },
    '.cm-foldPlaceholder': { backgroundColor: 'var(--sunken)', border: '0', color: 'var(--text-3)', padding: '0 6px' },
    '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line-strong)', borderRadius: '8px', boxShadow: 'var(--sh3)', color: 'var(--text)', overflow: 'hidden' },
    '.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px', fontFamily: 'var(--mono)' },
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--selected)', color: 'var(--text)' },
    '.cm-completionDetail': { color: 'var(--text-3)', fontStyle: 'normal', fontFamily: 'var(--font)' },
    '.cm-completionInfo': { maxWidth: '320px', padding: '6px 10px', fontFamily: 'var(--font)' },
    '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
    '.cm-insertedLine, .cm-changedLine.cm-insertedLine': { backgroundColor: 'var(--add-bg)' },
    '.cm-deletedChunk, .cm-deletedLine': { backgroundColor: 'var(--del-bg)' },
    '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--add-bg)' },
    '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--del-bg)' },
    '&.cm-merge-b .cm-changedText, .cm-changedText': { background: 'color-mix(in srgb, var(--ok-solid) 20%, transparent)' },
    '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': { background: 'color-mix(in srgb, var(--bad-solid) 15%, transparent)', textDecoration: 'none' },
    '.cm-collapsedLines': { background: 'var(--sunken)', color: 'var(--text-3)', fontFamily: 'var(--font)', padding: '4px 12px', '&:before, &:after': { content: '"⋯"' } },
    '.said': { display: 'flex', gap: '10px', alignItems: 'center', minHeight: '30px', padding: '3px 8px 3px 10px', borderRadius: '6px', fontFamily: 'var(--font)', backgroundColor: 'var(--bad-soft)', whiteSpace: 'normal' },
    // A margin would not be counted by the gutter: its numbers would leave their lines.
    '.saidrow': { padding: '1px 12px 3px 0' },
    '.said.warning': { backgroundColor: 'var(--held-soft)' },
    '.said .sign': { fontWeight: '700', color: 'var(--bad)' }, '.said.warning .sign': { color: 'var(--held)' },
    '.said .hint': { color: 'var(--text-2)' },
    '.said button': { marginLeft: 'auto', height: '24px', padding: '0 8px', border: '1px solid var(--line-strong)', borderRadius: '6px', background: 'var(--raised)', color: 'var(--text)', font: '500 12px/16px var(--font)', cursor: 'pointer', flex: 'none' },
    '.hole': { border: '1px dashed var(--held-line)', borderRadius: '4px', padding: '0 6px', backgroundColor: 'var(--raised)', color: 'var(--text)' }, '.holeline': { backgroundColor: 'var(--held-soft)' },
    '.wavy': { textDecoration: 'underline wavy var(--bad-solid)', textUnderlineOffset: '3px', textDecorationSkipInk: 'none' }, '.wavy.warning': { textDecorationColor: 'var(--held-line)' },
});

export const look = [theme, syntaxHighlighting(colours)];

/** A shadow root of its own for each editor. */
export const rootIn = (host: HTMLElement): ShadowRoot => {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    return root;
};
