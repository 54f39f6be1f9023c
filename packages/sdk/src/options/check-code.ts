// Options of `check()`, which checks the syntax and the types of code.

import { fileURLToPath } from 'node:url';
import { FLAG, HOST_FILE, oneOf, rule, TIMEOUT_MS } from './rule.js';
import { type OptionTable, objectWith } from './table.js';

/** Options of `check()`. */
export interface CheckOptions {
  /** The language of the code. @default 'typescript' */
  language?: 'javascript' | 'typescript' | undefined;
  /** Whether types are checked too, and not only the syntax. @default true */
  types?: boolean | undefined;
  /**
   * A file of the app. The packages `typescript` and `@types/node` are found as imports of this
   * file.
   * @default the file that started the app
   */
  from?: string | URL | undefined;
  /** Wall-clock limit in milliseconds. @default 30_000 */
  timeout?: number | undefined;
}

const SCHEME = /^[a-z][a-z\d+.-]+:/i;
const FILE = rule(isFile, 'a file of the app, as a path or a URL with file:');

function isFile(value: unknown): boolean {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== 'string' || !SCHEME.test(text)) return HOST_FILE.fault(text) === undefined;
  try {
    return fileURLToPath(text) !== '';
  } catch {
    return false;
  }
}

/** The option table of `check()`. */
const CHECK: OptionTable<CheckOptions> = {
  language: oneOf(['javascript', 'typescript'], "'javascript' or 'typescript'"),
  types: FLAG,
  from: FILE,
  timeout: TIMEOUT_MS,
};

/** Accepts the options of `check()`. */
export const CHECK_OPTIONS = objectWith(CHECK);
