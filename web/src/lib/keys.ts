// keys.ts - keys as a Latin layout has them, so that shortcuts work on a Russian one too.

/** "j" where a Russian layout writes "о"; otherwise the key itself. */
export function keyOf({ key, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>): string {
    const letter = /^Key([A-Z])$/.exec(code)?.[1];
    if (letter && key.length === 1 && key > '~') return shiftKey ? letter : letter.toLowerCase();
    if (code === 'Slash' && (key === '.' || key === ',')) return shiftKey ? '?' : '/';
    return key;
}
