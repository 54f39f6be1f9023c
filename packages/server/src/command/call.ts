// The call of a subcommand: what the command line of the package `coldframe` passes on after its
// checks of the options. Next: `index.ts`.

/** The words of the command line. */
export interface CommandCall {
  /** The name of the subcommand, such as `sandbox`. */
  readonly name: string;
  /** The positional arguments. */
  readonly operands: readonly string[];
  /** The values of each option. An option without a value has `true`. */
  readonly flags: ReadonlyMap<string, readonly (string | true)[]>;
}

/** Executes an action and returns the exit code. */
export type Action = (call: CommandCall) => Promise<number>;

/** A word of the command line that the command refuses, or a file that is wrong. */
export class CommandError extends Error {
  readonly code = 'ERR_INVALID_OPTION';
  /** One sentence that states what the user can do. */
  readonly remedy: string;

  constructor(message: string, remedy = 'Run the subcommand with `--help`.') {
    super(message);
    this.name = 'CommandError';
    this.remedy = remedy;
  }
}

/** Returns the last value of an option with a value. */
export function textOf({ flags }: CommandCall, name: string): string | undefined {
  const last = flags.get(name)?.at(-1);
  return typeof last === 'string' ? last : undefined;
}

/** Returns whether an option without a value is present. */
export const has = ({ flags }: CommandCall, name: string): boolean => flags.has(name);

/** Returns the whole number of an option. @throws {CommandError} outside `min` to `max` */
export function wholeOf(call: CommandCall, name: string, min: number, max: number): number | undefined {
  const text = textOf(call, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new CommandError(`--${name}: expected a whole number from ${min} to ${max}, received ${JSON.stringify(text)}`);
}

/** Returns the pairs of an option `NAME=VALUE`. @throws {CommandError} for text without `=` */
export function pairsOf({ flags }: CommandCall, name: string): Record<string, string> {
  const pairs = (flags.get(name) ?? []).map((value) => {
    const text = String(value);
    const at = text.indexOf('=');
    if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
    throw new CommandError(`--${name}: expected NAME=VALUE, received ${JSON.stringify(text)}`);
  });
  return Object.fromEntries(pairs);
}

/** Returns the operands after the action, which must be as many as `names`. */
export function operandsOf({ name, operands }: CommandCall, ...names: string[]): string[] {
  const [action, ...rest] = operands;
  if (rest.length === names.length) return rest;
  const expected = names.length === 0 ? 'no operands' : names.join(' ');
  throw new CommandError(`coldframe ${name} ${action}: expected ${expected}, received ${JSON.stringify(rest.join(' '))}`);
}
