// What is sent for a program that is given as text.
//
// The engine takes a program as an ES module, which is the fast way. Text that is said to be something else goes through Node's own `--eval`
// in the guest instead, as an option of `node`.

import { invalidOption } from '../errors/make.js';
import { show } from '../options/show.js';
import type { RunOptions } from '../options/types.js';

const INPUT_TYPE = '--input-type=';

export function programOf(
  mode: 'exec' | 'run' | 'file',
  code: string,
  options: RunOptions,
): { text: string; execArgv: readonly string[] | undefined } {
  const given = options.execArgv;
  if (mode === 'file') return { text: code, execArgv: given };
  const isTypeScript = options.language === 'typescript';
  if (!isTypeScript && !given?.some((option) => option.startsWith(INPUT_TYPE))) return { text: code, execArgv: given };
  const type = isTypeScript ? [`${INPUT_TYPE}module-typescript`] : [];
  return { text: '', execArgv: [...(given ?? []), ...type, `--eval=${code}`] };
}

/** What a program reads, as bytes. */
export function bytesOf(input: string | Uint8Array | undefined): Uint8Array | undefined {
  return typeof input === 'string' ? Buffer.from(input) : input;
}

/** Throws unless `value` is text that can be handed to a program. */
export function checkText(call: string, option: string, value: unknown): void {
  if (typeof value !== 'string') throw invalidOption(call, { option, expected: 'text', received: show(value) });
}
