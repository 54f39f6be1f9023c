// Reads the options of a benchmark, from flags or from environment variables.
//
// An option is declared once, in the table of its benchmark: its name, its help text, its default
// and its check. Names that begin with `--` are flags. Names that begin with `BENCH_` are
// environment variables. An unknown flag is an error, because a misspelt option would silently
// change the measurement. So is an unknown `BENCH_` variable, for a benchmark with variables. Each
// error of a value names the option, the expected value and the received value.

import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.js';

export interface Option<Value> {
  /** The flag or environment variable. */
  readonly name: string;
  /** The text that represents the value in the help text. */
  readonly placeholder: string;
  readonly help: string;
  readonly fallback: Value;
  /** The default of the `--quick` form. @default the ordinary default */
  readonly quick?: Value;
  /** Whether the flag has no value. A given flag has the value `true`. */
  readonly isSwitch?: true;
  parse(text: string): Value;
}

export type OptionTable<Options> = { readonly [Key in keyof Options]: Option<Options[Key]> };

type Declaration<Value> = Omit<Option<Value>, 'parse'>;

interface Range {
  from: number;
  to: number;
}

export const numberOption = <Fallback extends number | undefined>(
  option: Declaration<Fallback> & Range,
): Option<Fallback | number> => ({
  ...option,
  parse: (text) => wholeNumber(option.name, text, option.from, option.to),
});

export const numbersOption = (option: Declaration<readonly number[]> & Range): Option<readonly number[]> => ({
  ...option,
  parse: (text) => list(option.name, text, (item) => wholeNumber(option.name, item, option.from, option.to)),
});

/** Declares an option that lists some of the known names. The default is all known names. */
export const namesOption = <Name extends string>(
  option: Pick<Declaration<Name>, 'name' | 'help'>,
  known: readonly Name[],
): Option<readonly Name[]> => ({
  ...option,
  placeholder: 'NAMES',
  fallback: known,
  parse: (text) =>
    list(option.name, text, (item) => {
      const name = known.find((each) => each === item);
      if (name !== undefined) return name;
      throw new UsageError(`${option.name}: expected names out of ${known.join(', ')}, got ${JSON.stringify(item)}`);
    }),
});

export const textOption = (option: Declaration<string>): Option<string> => ({ ...option, parse: (text) => text });

/** Declares a flag without a value. */
export const switchOption = (option: Pick<Declaration<boolean>, 'name' | 'help'>): Option<boolean> => ({
  ...option,
  placeholder: '',
  fallback: false,
  isSwitch: true,
  parse: (text) => text === 'true',
});

export function wholeNumber(name: string, text: string, from: number, to: number): number {
  const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= from && value <= to) return value;
  throw new UsageError(`${name}: expected a whole number from ${from} to ${to}, got ${JSON.stringify(text)}`);
}

export function positiveNumber(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${name}: expected a number above 0, got ${JSON.stringify(text)}`);
}

/** Parses a comma-separated list. Refuses repeated items. */
function list<Item>(name: string, text: string, parse: (item: string) => Item): Item[] {
  const values = text.split(',').map((item) => parse(item.trim()));
  if (new Set(values).size < values.length) {
    throw new UsageError(`${name}: expected each value once, got ${JSON.stringify(text)}`);
  }
  return values;
}

export interface Flags {
  values: Record<string, string | undefined>;
  positionals: string[];
  /** The flags without a value that the command line contains. */
  switches: ReadonlySet<string>;
  help: boolean;
}

/** Reads flags of the form `--name value` or `--name=value`, switches, and positional arguments. */
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
  const parsed = parseArgs({
    // Package managers forward a leading `--`.
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

const isFlag = (name: string): boolean => name.startsWith('--');

/** Returns the flags of a table that have a value, without their dashes. */
export const flagNames = (table: object): string[] =>
  optionsOf(table).flatMap(({ name, isSwitch }) => (isFlag(name) && !isSwitch ? [name.slice(2)] : []));

/** Returns the flags of a table that have no value, without their dashes. */
export const switchNames = (table: object): string[] =>
  optionsOf(table).flatMap(({ name, isSwitch }) => (isSwitch ? [name.slice(2)] : []));

const optionsOf = (table: object): Option<unknown>[] => Object.values(table);

/** Returns the value of every option of a table: the given text, checked, or the default. */
export function readOptions<Options>(
  table: OptionTable<Options>,
  given: {
    flags: Flags['values'];
    switches?: Flags['switches'];
    env: Readonly<Record<string, string | undefined>>;
    isQuick?: boolean;
  },
): Options {
  const variables = optionsOf(table).flatMap(({ name }) => (isFlag(name) ? [] : [name]));
  if (variables.length > 0) refuseUnknown(variables, given.env);
  const read = ({ name, fallback, quick = fallback, parse, isSwitch }: Option<unknown>): unknown => {
    if (isSwitch) return given.switches?.has(name.slice(2)) ?? fallback;
    // An empty environment variable counts as not set.
    const text = isFlag(name) ? given.flags[name.slice(2)] : given.env[name] || undefined;
    return text === undefined ? (given.isQuick ? quick : fallback) : parse(text);
  };
  const entries = Object.entries<Option<unknown>>(table).map(([key, option]) => [key, read(option)] as const);
  return Object.fromEntries(entries) as Options;
}

function refuseUnknown(known: readonly string[], env: Readonly<Record<string, string | undefined>>): void {
  const unknown = Object.keys(env).filter((name) => name.startsWith('BENCH_') && !known.includes(name));
  if (unknown.length > 0) throw new UsageError(`unknown knob ${unknown.join(', ')}; known are ${known.join(', ')}`);
}

/** Returns the lines of `--help` for the options of a table. */
export function describeOptions(table: object, hasQuickForm: boolean): string[] {
  const lines = optionsOf(table).map(({ name, placeholder, help, fallback }) => {
    const text = defaultText(fallback);
    return [isFlag(name) ? `${name} ${placeholder}`.trimEnd() : name, text === '' ? help : `${help} (default ${text})`] as const;
  });
  if (hasQuickForm) lines.push(['--quick', 'few and small rows: shows that everything works, measures nothing']);
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, help]) => `${name.padEnd(width)}  ${help}`);
}

const defaultText = (fallback: unknown): string =>
  Array.isArray(fallback) ? fallback.join(',') : fallback === undefined || fallback === false ? '' : String(fallback);
