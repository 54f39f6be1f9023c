// Command-line flags of the form `--name value` or `--name=value`; what is not a flag is a positional argument.
//
// `node:util`'s parseArgs does the work; its errors name the flag. `--help` is every command's.

import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.js';

export interface Flags {
  values: Record<string, string | undefined>;
  positionals: string[];
  help: boolean;
}

export function readFlags(args: readonly string[], names: readonly string[], positionals: { min: number; max: number }): Flags {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  // A leading `--` comes from package managers that pass it on.
  const parsed = parseArgs({
    args: args[0] === '--' ? args.slice(1) : [...args],
    options: { ...options, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const { help, ...values } = parsed.values as Record<string, string | undefined> & { help?: boolean };
  const count = parsed.positionals.length;
  if (!help && (count < positionals.min || count > positionals.max)) {
    const expected = positionals.min === positionals.max ? `${positionals.min}` : `${positionals.min} to ${positionals.max}`;
    throw new UsageError(`expected ${expected} arguments besides flags, got ${count}: ${JSON.stringify(parsed.positionals)}`);
  }
  return { values, positionals: parsed.positionals, help: help === true };
}
