// An error with its code and its remedy as plain data, for the output of programs.

import { type ErrorJson, isColdframeError } from './error.js';
import { remedyFor } from './remedies.js';

/** An error with its remedy as plain data. */
export interface FailureJson extends ErrorJson {
  remedy: string;
}

/** Returns the error as plain data, or `undefined` for an error without a code. */
export function failureJson(error: unknown): FailureJson | undefined {
  if (isColdframeError(error)) return { ...error.toJSON(), remedy: remedyFor(error.code) };
  if (!(error instanceof Error) || typeof (error as NodeJS.ErrnoException).code !== 'string') return undefined;
  // Errors of `@coldframe/server` have their own remedy.
  const { name, message, code, remedy = remedyFor(code) } = error as Error & { code: string; remedy?: string };
  return { name, code, message, remedy };
}
