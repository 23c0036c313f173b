// where.ts - what the catalog says about a place in the text: the table its object is of, the field it is. Pure.
import type { Node } from 'jsonc-parser';
import { type Catalog, type CatalogField, commandOf, fits, type Kind, kindsOf, tableOf } from './catalog';
import { nodeAt, type Path } from './edits';
import type { DefinitionKind } from './model';
import { getNodeValue } from 'jsonc-parser';

/** The fields that the object at a place may have, and the field that the place itself is. */
export interface Spot { fields: CatalogField[] | null; field: CatalogField | null; of: string }

const commandFields = (catalog: Catalog, value: unknown) => {
    const spec = commandOf(catalog, (value as { type?: unknown } | null)?.type);
    const common = catalog.fields.command ?? [];
    return { fields: spec ? [...common.filter((field) => !spec.fields.some((own) => own.name === field.name)), ...spec.fields] : common, of: spec?.name ?? 'command' };
};

export function spotAt(catalog: Catalog, kind: DefinitionKind, tree: Node, path: Path): Spot {
    let fields: CatalogField[] | null = catalog.fields[kind] ?? null;
    let of: string = kind;
    let field: CatalogField | null = null;
    let kinds: Kind[] | null = null; // of the value that the walk is at
    for (let i = 0; i < path.length; i++) {
        const part = path[i]!;
        const node = nodeAt(tree, path.slice(0, i + 1));
        const value: unknown = node ? getNodeValue(node) : undefined;
        if (typeof part === 'string' && fields) {
            field = fields.find((one) => one.name === part) ?? null;
            kinds = field ? kindsOf(field.kind) : null;
        } else if (kinds) {
            const inner: Kind[] = kinds.flatMap((one): Kind[] => (one.is === (typeof part === 'number' ? 'list' : 'map') ? [one.of] : one.is === 'word' && (one.word === 'run' || one.word === 'commands') && typeof part === 'number' ? [one] : one.is === 'word' && (one.word === 'value' || one.word === 'any') ? [one] : []));
            kinds = inner.length ? inner : null;
        }
        fields = null;
        if (value === null || typeof value !== 'object' || Array.isArray(value)) continue;
        const meant = kinds?.find((one) => fits(catalog, one, field, value));
        if (meant?.is !== 'word') continue;
        if (meant.word === 'run' || meant.word === 'commands') ({ fields, of } = commandFields(catalog, value));
        else if (tableOf(catalog, meant.word)) {
            fields = tableOf(catalog, meant.word)!;
            of = meant.word;
        }
    }
    return { fields, field, of };
}
