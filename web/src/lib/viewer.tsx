// viewer.tsx - a large text to read, in CodeMirror: a megabyte opens at once, because only what is in sight is drawn.
//
// It lives in a shadow root: there CodeMirror adopts its styles, which the policy of the pages allows, and needs no
// style element, which it does not.
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting, foldGutter } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

const colours = HighlightStyle.define([
    { tag: tags.propertyName, color: 'var(--syn-key)' }, { tag: tags.string, color: 'var(--syn-str)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--syn-num)' },
]);
const look = EditorView.theme({
    '&': { backgroundColor: 'var(--sunken)', color: 'var(--text)', borderRadius: '6px', fontSize: '12px', maxHeight: '60vh' },
    '&.cm-focused': { outline: '2px solid var(--accent)' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px' },
    '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--text-3)', border: '0' },
});

export default function Viewer({ text }: { text: string }) {
    const box = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const host = box.current!;
        const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
        const view = new EditorView({
            parent: root, root,
            state: EditorState.create({ doc: text, extensions: [lineNumbers(), foldGutter(), json(), syntaxHighlighting(colours), look, EditorState.readOnly.of(true), EditorView.contentAttributes.of({ 'aria-label': 'JSON' })] }),
        });
        return () => view.destroy();
    }, [text]);
    return <div ref={box} />;
}
