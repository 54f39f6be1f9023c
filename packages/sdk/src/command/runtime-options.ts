// Converts the options of the command line to options of the SDK, and checks them with the SDK's
// own tables. An error names the option of the command line. Next: `program.ts`.

import { invalidOption } from '../errors/make.js';
import { CALLS, type OptionCall } from '../options/check.js';
import { hintFor } from '../options/hints.js';
import { show } from '../options/show.js';
import { isUnknownName } from '../options/table.js';
import type { NodeRuntimeOptions } from '../runtime/options.js';
import { nameOf, textOf, textsOf } from './parse.js';
import { policyOf } from './permission-options.js';
import type { Arguments, Subcommand } from './subcommand.js';

/** The option of the command line for each option of the SDK with another name. */
const FLAG_NAMES: Readonly<Record<string, string>> = {
  limits: 'limit',
  mounts: 'mount',
  nodeModules: 'node-modules',
  permissions: 'allow-... and --deny-...',
  snapshots: 'store',
  maxSessions: 'max-sessions',
};

const UNITS: Readonly<Record<string, number>> = { KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 };
const MOUNT = /^(.+?):(\/[^:]*)(?::(ro|rw|overlay))?$/s;

/** Converts a whole number, with a unit of bytes or without. Other text is returned unchanged. */
export function numberOf(text: string): number | string {
  const [, digits, unit] = /^(\d+)(KiB|MiB|GiB)?$/.exec(text) ?? [];
  return digits === undefined ? text : Number(digits) * (unit === undefined ? 1 : (UNITS[unit] as number));
}

/** Returns the checked options of `NodeRuntime.create()`. */
export function runtimeOptions(args: Arguments): NodeRuntimeOptions {
  const { subcommand } = args;
  const options = withoutAbsent({
    env: pairsOf(args, 'env', (name) => process.env[name]),
    cwd: textOf(args, 'cwd'),
    limits: limitsOf(args),
    mounts: mountsOf(args),
    nodeModules: textOf(args, 'node-modules'),
    snapshot: textOf(args, 'snapshot'),
    tenant: textOf(args, 'tenant'),
    permissions: policyOf(args),
  });
  checkFlags(subcommand, 'NodeRuntime.create()', options);
  return options as NodeRuntimeOptions;
}

/** Returns the checked `timeout` of a program. */
export function timeoutOf(args: Arguments): { timeout?: number } {
  const text = textOf(args, 'timeout');
  if (text === undefined) return {};
  const options = { timeout: numberOf(text) };
  checkFlags(args.subcommand, 'exec()', options);
  return options as { timeout: number };
}

/** Throws `ERR_INVALID_OPTION` for the first option that the table of `call` refuses. */
export function checkFlags(subcommand: Subcommand, call: OptionCall, options: Readonly<Record<string, unknown>>): void {
  const fault = CALLS[call].fault(options);
  if (fault === undefined) return;
  const [first, ...rest] = fault.path.map(String);
  const flag = `--${FLAG_NAMES[first as string] ?? first}`;
  // The index of a mount is no part of the command line.
  const names = rest.filter((name) => !/^\d+$/.test(name));
  const option = names.length === 0 ? flag : `${flag} ${names.join('.')}`;
  const { expected, received } = fault;
  const hint = fault.hint ?? (isUnknownName(fault) ? hintFor(String(fault.path.at(-1)), fault.options, call, CALLS) : undefined);
  throw invalidOption(nameOf(subcommand), { option, expected, received: show(received) }, hint);
}

function limitsOf(args: Arguments): Record<string, number | string> | undefined {
  const pairs = pairsOf(args, 'limit', () => undefined);
  return pairs && Object.fromEntries(Object.entries(pairs).map(([name, value]) => [name, numberOf(value)]));
}

// Returns the pairs of `NAME=VALUE`. `fallback` returns the value of a name without a value.
function pairsOf(
  args: Arguments,
  flag: string,
  fallback: (name: string) => string | undefined,
): Record<string, string> | undefined {
  const values = textsOf(args, flag);
  if (values.length === 0) return undefined;
  return Object.fromEntries(
    values.flatMap((pair) => {
      const at = pair.indexOf('=');
      if (at > 0) return [[pair.slice(0, at), pair.slice(at + 1)]];
      const value = at === 0 ? undefined : fallback(pair);
      if (value !== undefined) return [[pair, value]];
      const expected = flag === 'env' ? 'NAME=VALUE, or the name of a variable of this environment' : 'NAME=VALUE';
      throw invalidOption(nameOf(args.subcommand), { option: `--${flag}`, expected, received: show(pair) });
    }),
  );
}

function mountsOf(args: Arguments) {
  const values = textsOf(args, 'mount');
  if (values.length === 0) return undefined;
  return values.map((value) => {
    const [, hostPath, guestPath, mode] = MOUNT.exec(value) ?? [];
    if (hostPath !== undefined) return { hostPath, guestPath, readOnly: mode === 'ro', overlay: mode === 'overlay' };
    const expected = 'HOST:GUEST[:ro], where GUEST is an absolute guest path such as /workspace';
    throw invalidOption(nameOf(args.subcommand), { option: '--mount', expected, received: show(value) });
  });
}

/** Returns the options that are not `undefined`. */
export const withoutAbsent = (options: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
