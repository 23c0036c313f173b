// condition.ts - conditions that can be built from pickers: comparisons that all hold. Pure; what it cannot read is
// left to be written. It reads the shape of a text and never computes a value: that is the server's.

export type Operator = '==' | '!=' | '>' | '>=' | '<' | '<=' | 'true' | 'false';
/** `right` is CEL as it is written: 100000, "text", $.input.limit. */
export interface Comparison { left: string; operator: Operator; right: string }

const PATH = /^\$?\.?[A-Za-z_][\w]*(?:\.\??[A-Za-z_]\w*|\[\d+\])*$/;
const LITERAL = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|true|false|null)$/;

/** Split at && outside of quotes and brackets; null when something else stands there that has a lower rank. */
function conjuncts(text: string): string[] | null {
    const parts: string[] = [];
    let depth = 0;
    let start = 0;
    for (let i = 0; i < text.length; i++) {
        const c = text[i]!;
        if (c === '"' || c === "'") {
            const end = text.slice(i + 1).search(new RegExp(`(?<!\\\\)${c}`));
            if (end < 0) return null;
            i += end + 1;
        } else if ('([{'.includes(c)) depth++;
        else if (')]}'.includes(c)) depth--;
        else if (depth === 0 && text.startsWith('||', i)) return null;
        else if (depth === 0 && c === '?' && text[i - 1] !== '.') return null;
        else if (depth === 0 && text.startsWith('&&', i)) {
            parts.push(text.slice(start, i));
            start = i + 2;
            i++;
        }
    }
    return depth === 0 ? [...parts, text.slice(start)].map((part) => part.trim()) : null;
}

function comparison(text: string): Comparison | null {
    const found = /^(.+?)\s*(==|!=|>=|<=|>|<)\s*(.+)$/.exec(text);
    if (found) {
        const [, left, operator, right] = found as unknown as [string, string, Operator, string];
        return PATH.test(left) && (PATH.test(right) || LITERAL.test(right)) ? { left, operator, right } : null;
    }
    if (PATH.test(text)) return { left: text, operator: 'true', right: '' };
    return text.startsWith('!') && PATH.test(text.slice(1)) ? { left: text.slice(1), operator: 'false', right: '' } : null;
}

/** The comparisons of a text, none for an empty one; null when it says more than that. */
export function readCondition(text: string): Comparison[] | null {
    if (text.trim() === '') return [];
    const parts = conjuncts(text.trim());
    const all = parts?.map(comparison);
    return all && all.every((one) => one !== null) ? (all as Comparison[]) : null;
}

export const writeCondition = (all: Comparison[]) => all.map(({ left, operator, right }) => (operator === 'true' ? left : operator === 'false' ? `!${left}` : `${left} ${operator} ${right || '""'}`)).join(' && ');

/** What a person types as a value, as CEL: numbers, true, false and paths are themselves, anything else is a text. */
export const literalOf = (typed: string) => (LITERAL.test(typed) || typed.startsWith('$.') ? typed : `"${typed.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
/** And back. */
export const typedOf = (cel: string) => {
    const found = /^"((?:[^"\\]|\\.)*)"$|^'((?:[^'\\]|\\.)*)'$/.exec(cel);
    if (!found) return cel;
    const inner = (found[1] ?? found[2] ?? '').replace(/\\(.)/g, '$1');
    return LITERAL.test(inner) || inner.startsWith('$.') ? cel : inner;
};
