// testing.ts - the tests of a definition as `POST /test` takes them. They stand in `meta.tests`. Pure.
import { type Path, read } from './edits';

export interface TestAnswer { items: { name: string; ok: boolean; tookMs: number; problems: string[] }[]; passed: number; failed: number }
export const TESTS: Path = ['meta', 'tests'];

/** The tests as the server takes them, each said to be of this definition. */
export function bodyOf(text: string, kind: string, code: string, tests: string[]): string {
    const named = tests.map((test) => (read(test).tree ? `{"${kind}":${JSON.stringify(code)},${test.trim().slice(1)}` : test).replace(/,\s*}$/, '}'));
    return `{"definitions":[${text}],"tests":[${named.join(',')}]}`;
}
