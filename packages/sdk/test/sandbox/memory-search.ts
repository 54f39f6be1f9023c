// Searches the memory of a process for a value. The tests of secrets use it.

import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const CHUNK = 1 << 20;

/** The forms of a value that a search finds. */
export function formsOf(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  // The digits of base64 depend on the place modulo 3. The outer digits depend on other bytes.
  const base64 = [0, 1, 2].map((skipped) => bytes.subarray(skipped).toString('base64').slice(0, 16));
  return [bytes, Buffer.from(bytes.toString('hex')), ...base64.map((text) => Buffer.from(text))];
}

/** Returns whether bytes have one of the forms. */
export const has = (bytes: Buffer, forms: readonly Buffer[]): boolean => forms.some((form) => bytes.includes(form));

/** Returns whether the memory of a process has one of the forms. */
export function memoryHas(pid: number, forms: readonly Buffer[]): boolean {
  const overlap = Math.max(...forms.map((form) => form.length));
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, begin, end, access] = /^([0-9a-f]+)-([0-9a-f]+) (\S+) /.exec(line) ?? [];
      // Only writable memory can have a value. Untouched memory reads as zeros.
      if (begin === undefined || !access?.startsWith('rw')) continue;
      const last = Number.parseInt(end as string, 16);
      for (let at = Number.parseInt(begin, 16); at < last; at += CHUNK - overlap) {
        const chunk = Buffer.alloc(Math.min(CHUNK, last - at));
        try {
          const count = readSync(memory, chunk, 0, chunk.length, at);
          if (has(chunk.subarray(0, count), forms)) return true;
        } catch {
          // The rest of the mapping cannot be read, for example beyond the end of a file.
          break;
        }
      }
    }
  } finally {
    closeSync(memory);
  }
  return false;
}
