// fix.ts - a finding of the server that says itself how it is mended. Pure.
import type { Finding } from '../lib/api';
import type { Good } from './doc';
import { type Edit, narrow, nodeAt, pathOf } from './edits';

export interface Fix { label: string; edits: Edit[] }

/** "did you mean 'x'?" in either language, with the word it means in the message, at the place of the finding. */
export function fixOf(finding: Finding, { text, tree }: Good): Fix | null {
    const meant = /(?:did you mean|имелось в виду) ['"«]([^'"»]+)['"»]/.exec(`${finding.hint ?? ''} ${finding.message}`)?.[1];
    if (!meant) return null;
    const path = pathOf(tree, finding.pointer);
    const node = nodeAt(tree, path);
    if (!node) return null;
    if (finding.code === 'unknown_field') {
        const key = node.parent?.type === 'property' ? node.parent.children![0]! : null;
        return key ? { label: meant, edits: [{ from: key.offset, to: key.offset + key.length, insert: JSON.stringify(meant) }] } : null;
    }
    if (node.type !== 'string') return null;
    const raw = text.slice(node.offset, node.offset + node.length);
    const wrong = /['"«]([^'"»]+)['"»]/.exec(finding.message)?.[1];
    const after = wrong && raw.includes(wrong) && finding.code !== 'bad_duration' ? raw.replace(wrong, meant) : finding.column === undefined ? JSON.stringify(meant) : null;
    return after && after !== raw ? { label: meant, edits: [narrow(node.offset, raw, after)] } : null;
}
