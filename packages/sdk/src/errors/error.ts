// The only public error class of this package. The facts of an error are fields of the error.
// `instanceof` must work across two copies of this package, because an app and one of its
// dependencies may each install a copy. Next: `make.ts`, the messages.

import type { ErrorCode, ErrorFacts, FailureCode } from './codes.js';

/** An error as a plain object. */
export interface ErrorJson {
  name: string;
  code: string;
  message: string;
  /** The facts of the code, and `cause`. */
  [fact: string]: unknown;
}

const BRAND = Symbol.for('coldframe.error');

/** Names of fields that facts from the sidecar must not replace. */
const RESERVED = new Set(['name', 'message', 'stack', 'code', 'cause', '__proto__', 'constructor', 'toString', 'toJSON']);

/**
 * The error of every operation of this package. The reason of an abort signal and errors that a
 * callback throws are passed on unchanged.
 */
export class ColdframeError<C extends ErrorCode = ErrorCode> extends Error {
  /** The stable code: see `ErrorFacts`. */
  readonly code: C;

  /** @internal */
  constructor(code: C, message: string, facts: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    for (const name of Object.keys(facts)) {
      if (!RESERVED.has(name)) (this as Record<string, unknown>)[name] = facts[name];
    }
  }

  /**
   * Returns a plain object with the name, the code, the message, the facts and the cause.
   * `JSON.stringify()` uses this form. `structuredClone()` of an error keeps only the message, the
   * stack and the cause, but `structuredClone()` of this form keeps every field. The form has no
   * stack, because a stack contains paths of the app's machine.
   */
  toJSON(): ErrorJson {
    const { name, code, message, cause } = this;
    return { name, code, message, ...(this as object), ...(cause === undefined ? {} : { cause: plainCause(cause) }) };
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

// Returns the cause in a form that JSON and `structuredClone()` keep.
function plainCause(cause: unknown): unknown {
  if (!(cause instanceof Error)) return String(cause);
  const { name, message, code } = cause as Error & { code?: unknown };
  if (isColdframeError(cause) && typeof cause.toJSON === 'function') return cause.toJSON();
  return typeof code === 'string' ? { name, code, message } : { name, message };
}

// Both properties are on the prototype, so that they do not appear when an error is printed or
// compared.
Object.defineProperty(ColdframeError.prototype, BRAND, { value: true });
Object.defineProperty(ColdframeError.prototype, 'name', { value: 'ColdframeError', writable: true, configurable: true });

/**
 * A `ColdframeError` with the facts of its code: `if (error.code === 'ERR_TIMEOUT')
 * error.timeoutMs`.
 */
export type ColdframeErrorOf<C extends ErrorCode> = C extends ErrorCode ? ColdframeError<C> & Readonly<ErrorFacts[C]> : never;

/** The reason why the sandbox ended a program: the type of `result.error`. */
export type Failure = ColdframeErrorOf<FailureCode>;

/**
 * Returns whether `value` is an error of this package with one of `codes`, or with any code if no
 * code is given. Narrows the type to the facts of the code.
 *
 * @example
 * if (isColdframeError(error, 'ERR_SIDECAR_EXITED')) console.error(error.stderr);
 */
export function isColdframeError<C extends ErrorCode = ErrorCode>(value: unknown, ...codes: C[]): value is ColdframeErrorOf<C> {
  return value instanceof ColdframeError && (codes.length === 0 || (codes as ErrorCode[]).includes(value.code));
}
