// insecure.ts - what browsers give only to pages that came over TLS or from this machine, made for all others: a phone in the
// shop opens http://192.168.… as well.

/** A random id. */
export function newId(): string {
    if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
    const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Put a text into the clipboard. */
export async function copyText(text: string): Promise<void> {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'vh';
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
}
