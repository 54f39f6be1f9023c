// Converts the words of the command line to the options and operands of a subcommand, with
// `parseArgs` of Node. `parseArgs` accepts all options here. This module checks the names, because
// an error must name the nearest option.

import { parseArgs } from 'node:util';
import { invalidOption } from '../errors/make.js';
import { nearest } from '../options/hints.js';
import type { Flag } from './flags.js';
import type { Arguments, Subcommand } from './subcommand.js';

/** Returns the last value of an option with a value. */
export const textOf = ({ flags }: Arguments, name: string): string | undefined => {
  const last = flags.get(name)?.at(-1);
  return typeof last === 'string' ? last : undefined;
};

/** Returns all values of an option. */
export const textsOf = ({ flags }: Arguments, name: string): readonly string[] =>
  (flags.get(name) ?? []).filter((value) => value !== true);

/** Returns the words that name the call in an error message. */
export const nameOf = ({ name }: Subcommand): string => `\`coldframe ${name}\``;

const isPermission = (name: string): boolean => name.startsWith('allow-') || name.startsWith('deny-');

/** Parses the words after the name of the subcommand. */
export function parse(subcommand: Subcommand, words: readonly string[]): Arguments {
  const { flags: rows } = subcommand;
  const options = Object.fromEntries(
    rows
      .filter(({ optionalValue }) => !optionalValue)
      .map(({ name, short, value }) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: true, ...(short && { short }) },
      ]),
  );
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true });
  const flags = new Map<string, (string | true)[]>();
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'option') {
      const value = checked(subcommand, rows, token.name, token.rawName, token.value);
      flags.set(token.name, [...(flags.get(token.name) ?? []), value]);
    } else if (isLast(subcommand, operands, token.kind)) {
      // `-c COMMAND` and the arguments of the command need no separator.
      operands.push(...words.slice(token.kind === 'positional' ? token.index : token.index + 1));
      break;
    } else if (token.kind === 'positional') operands.push(token.value);
  }
  return { subcommand, flags, operands };
}

// Returns whether all words from a token on belong to the guest program.
function isLast({ passesOptionsAfter }: Subcommand, operands: readonly string[], kind: string): boolean {
  const after = typeof passesOptionsAfter === 'object' ? passesOptionsAfter[operands[0] ?? ''] : passesOptionsAfter;
  return after !== undefined && (kind === 'option-terminator' || operands.length + 1 === after);
}

function checked(
  subcommand: Subcommand,
  rows: readonly Flag[],
  name: string,
  written: string,
  value: string | undefined,
): string | true {
  const hasPermissions = rows.some(({ optionalValue }) => optionalValue);
  if (hasPermissions && isPermission(name)) return value ?? true;
  const row = rows.find((flag) => flag.name === name && !flag.optionalValue);
  const where = nameOf(subcommand);
  if (row === undefined) {
    const right = nearest(name, namesOf(rows));
    const hint = right === undefined ? undefined : `It is spelled \`--${right}\`.`;
    throw invalidOption(where, { option: written, expected: 'an option of this subcommand', received: written }, hint);
  }
  if (row.value === undefined && value !== undefined) {
    throw invalidOption(where, { option: written, expected: 'no value', received: JSON.stringify(value) });
  }
  if (row.value !== undefined && value === undefined) {
    throw invalidOption(where, { option: written, expected: `a value: ${written} ${row.value}`, received: 'nothing' });
  }
  return value ?? true;
}

const namesOf = (rows: readonly Flag[]): string[] => rows.filter(({ optionalValue }) => !optionalValue).map(({ name }) => name);

/** Throws an error that names the operands of the subcommand. */
export function wrongOperands({ subcommand, operands }: Arguments): never {
  const received = operands.length === 0 ? 'nothing' : JSON.stringify(operands.join(' '));
  throw invalidOption(nameOf(subcommand), { option: 'operands', expected: subcommand.operands || 'none', received });
}
