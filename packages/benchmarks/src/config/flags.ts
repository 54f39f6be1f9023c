// Command-line flags of the form `--name value` or `--name=value`, and switches without a value; what is not a flag is a positional argument.
//
// `node:util`'s parseArgs does the work; its errors name the flag. `--help` is every command's.

import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.js';

export interface Flags {
  values: Record<string, string | undefined>;
  positionals: string[];
  /** Those of the flags without a value that were given. */
  switches: ReadonlySet<string>;
  help: boolean;
}

export function readFlags(
  args: readonly string[],
  names: readonly string[],
  positionals: { min: number; max: number },
  switches: readonly string[] = [],
): Flags {
  const options = Object.fromEntries<{ type: 'string' | 'boolean' }>([
    ...names.map((name) => [name, { type: 'string' as const }] as const),
    ...switches.map((name) => [name, { type: 'boolean' as const }] as const),
  ]);
  // A leading `--` comes from package managers that pass it on.
  const parsed = parseArgs({
    args: args[0] === '--' ? args.slice(1) : [...args],
    options: { ...options, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const { help, ...given } = parsed.values as Record<string, string | boolean | undefined>;
  const texts = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const values: Flags['values'] = Object.fromEntries(texts);
  const set = new Set(switches.filter((name) => given[name] === true));
  const count = parsed.positionals.length;
  if (!help && (count < positionals.min || count > positionals.max)) {
    const expected = positionals.min === positionals.max ? `${positionals.min}` : `${positionals.min} to ${positionals.max}`;
    throw new UsageError(`expected ${expected} arguments besides flags, got ${count}: ${JSON.stringify(parsed.positionals)}`);
  }
  return { values, positionals: parsed.positionals, switches: set, help: help === true };
}
