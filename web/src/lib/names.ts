// names.ts - codes for machines from names for people. Pure.

const LATIN: Record<string, string> = { а: 'a', б: 'b', в: 'v', г: 'g', д: 'd', е: 'e', ё: 'e', ж: 'zh', з: 'z', и: 'i', й: 'y', к: 'k', л: 'l', м: 'm', н: 'n', о: 'o', п: 'p', р: 'r', с: 's', т: 't', у: 'u', ф: 'f', х: 'kh', ц: 'ts', ч: 'ch', ш: 'sh', щ: 'sch', ъ: '', ы: 'y', ь: '', э: 'e', ю: 'yu', я: 'ya' };

/** "Discount approval" is discount_approval. */
export const codeOf = (name: string, most = 100) => {
    const code = [...name.toLowerCase()].map((c) => LATIN[c] ?? c).join('').replace(/[^a-z0-9]+/g, '_').replace(/^[^a-z]+|_+$/g, '');
    return code.length <= most ? code : code.slice(0, most).replace(/_[^_]*$/, '');
};
