// Defines the type of a case: an action of hostile code, and the expected result. Next: `run.ts`,
// which runs cases.

import type { NodeRuntime, NodeRuntimeOptions, RunOptions } from '../../../../src/index.js';
import type { CaseFolders } from './folders.js';
import type { Place } from './place.js';

/** A case. Its name is unique in the suite. */
export interface EscapeCase {
  name: string;
  /** Prepares the folders of the case before the program starts. */
  prepare?: (folders: CaseFolders) => void;
  /** Options of the program's runtime. */
  options?: NodeRuntimeOptions | ((folders: CaseFolders) => NodeRuntimeOptions);
  /** The hostile program, which runs after `prelude.ts`. */
  program?: string | ((folders: CaseFolders) => string);
  /** Whether the program runs without the prelude. */
  bare?: boolean;
  /** Options of `exec()`. The default timeout is 20 seconds. */
  execOptions?: RunOptions;
  /**
   * Calls of the app, made instead of a program. The harness compares the returned text as it
   * compares a program's output.
   */
  attack?: (runtime: NodeRuntime, folders: CaseFolders, place: Place) => Promise<string>;
  /** The expected result. */
  expected: Expected;
  /**
   * Checks the host machine after the program. Returns a sentence about a problem, or `undefined`.
   */
  after?: (folders: CaseFolders) => string | undefined;
  /**
   * The reason why the mode makes no difference for a case that takes long. The short form of the
   * tests runs the case in shared mode only.
   */
  once?: string;
  /**
   * The reason why a known vulnerability is not fixed. The case must fail, and the suite reports
   * when the case passes.
   */
  fails?: string;
}

/**
 * The expected end of a program. Text or a regular expression is compared with the trimmed stdout
 * of a program that succeeds. For an object, only the properties that are present are compared.
 */
export type Expected = string | RegExp | Ending;

export interface Ending {
  stdout?: string | RegExp;
  stderr?: RegExp;
  exitCode?: number;
  /** The code of `result.error`. */
  error?: string | RegExp;
}

/** The cases of a theme, in their order. */
export interface Theme {
  name: string;
  cases: readonly EscapeCase[];
}
