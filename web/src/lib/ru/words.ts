// words.ts - the Russian of sentences; the key is the English one. Forms by number stand as one|few|many.
export type Words = Record<string, string>;
