// What a case of the escape suite is: something that hostile code tries, and what must come of it. Next: `run.ts`, which tries it.

import type { NodeRuntime, NodeRuntimeOptions, RunOptions } from '../../../../src/index.js';
import type { Place } from './place.js';

/** See the module. Names are unique in the whole suite. */
export interface EscapeCase {
  name: string;
  /** What lies on the host before the program starts. */
  prepare?: (place: Place) => void;
  /** The runtime that the program gets. */
  options?: NodeRuntimeOptions | ((place: Place) => NodeRuntimeOptions);
  /** The hostile program, with `prelude.ts` before it. */
  program?: string | ((place: Place) => string);
  /** The program stands alone, without the prelude. */
  bare?: boolean;
  /** How it is started; it has 20 seconds unless this says otherwise. */
  how?: RunOptions;
  /** What is done instead of running a program. The text is compared as a program's output would be. */
  attack?: (runtime: NodeRuntime, place: Place) => Promise<string>;
  /** What must come of it. */
  expected: Expected;
  /** What must be so on the host afterwards: a sentence about what is not, or nothing. */
  after?: (place: Place) => string | undefined;
  /**
   * A hole that is known and still open: why. The case then has to fail, and says so when it does not any more.
   */
  fails?: string;
}

/** A text: stdout, trimmed, from a program that ended well. An expression: the same, searched. Otherwise what is named, and nothing else. */
export type Expected = string | RegExp | Ending;

export interface Ending {
  stdout?: string | RegExp;
  stderr?: RegExp;
  exitCode?: number;
  /** The code of `result.error`. */
  error?: string | RegExp;
}

/** However the program ends: what counts is that nobody else notices, and that the engine did not break. */
export const CONTAINED: Ending = { error: /^(?!ERR_ENGINE_FAULT)/ };

/** A theme's cases in the order in which they run. */
export interface Theme {
  name: string;
  cases: readonly EscapeCase[];
}
