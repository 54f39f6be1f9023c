// The interfaces between the table of subcommands, the parser and the modules of the subcommands.

import type { Flag } from './flags.js';

/** A subcommand. */
export interface Subcommand {
  readonly name: string;
  /** The positional arguments in the help. */
  readonly operands: string;
  /** One sentence, which begins with a verb. */
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** The actions of the first positional argument, with their operands and a sentence each. */
  readonly actions?: readonly (readonly [usage: string, summary: string])[];
  /** The words that complete the first positional argument. Without words, files complete it. */
  readonly words?: readonly string[];
  /**
   * The number of positional arguments after which all words belong to the guest program, or the
   * number for each first positional argument. Without a number, options may follow positional
   * arguments.
   */
  readonly passesOptionsAfter?: number | Readonly<Record<string, number>>;
  /** Whether the help lists the names of the limits and the permissions. */
  readonly makesRuntime?: true;
  readonly examples: readonly string[];
}

/** The parsed words of a subcommand. */
export interface Arguments {
  readonly subcommand: Subcommand;
  /** The values of each option. An option without a value has `true`. */
  readonly flags: ReadonlyMap<string, readonly (string | true)[]>;
  /** The positional arguments. */
  readonly operands: readonly string[];
}

/** Executes a subcommand and returns the exit code. */
export type Execute = (args: Arguments, subcommands: readonly Subcommand[]) => Promise<number>;
