// Rules: the requirement on a value, and the words that complete "expected ..." in an error
// message.
//
// A rule checks a value and returns the first fault, or nothing. A check of a correct value
// allocates no memory, so the check of a call's correct options needs well below a microsecond.
// Next: `table.ts`, rules for objects with named options.

import { Hidden } from './show.js';

/** The largest number of milliseconds that a timer of Node accepts: 24 days. */
export const MAX_TIMER_MS = 2_147_483_647;

/** A wrong value and the reason. */
export interface Fault {
  /** The names and indexes that lead from the checked value to the wrong value. */
  readonly path: readonly PropertyKey[];
  /** The words after "expected". */
  readonly expected: string;
  /** The wrong value. */
  readonly received: unknown;
  /** A sentence that names the right option. */
  readonly hint?: string | undefined;
}

/** A requirement on a value. */
export interface Rule {
  /** The words after "expected". */
  readonly expected: string;
  /** Returns the first fault of `value`, or `undefined` for a correct value. */
  fault(value: unknown): Fault | undefined;
  /** The options inside a correct value, for hints. */
  readonly inner?: InnerOptions | undefined;
}

/**
 * The options inside a value. `prefix` is the text between the value's name and the name of an
 * option, such as `.` or `[].`.
 */
export interface InnerOptions {
  readonly prefix: string;
  readonly options: Readonly<Record<string, Rule>>;
}

/** Makes a rule from a test. */
export function rule(test: (value: unknown) => boolean, expected: string): Rule {
  return { expected, fault: (value) => (test(value) ? undefined : { path: [], expected, received: value }) };
}

/** Makes a rule from a test. A fault does not show the value, which may be secret. */
export const hidden = (test: (value: unknown) => boolean, expected: string): Rule => ({
  expected,
  fault: (value) => (test(value) ? undefined : { path: [], expected, received: new Hidden(value) }),
});

/** Returns `fault` with `name` in front of its path. */
export const faultBelow = (name: PropertyKey, fault: Fault): Fault => ({ ...fault, path: [name, ...fault.path] });

/** Accepts whole numbers from `min` to `max`. */
export function whole(min: number, max: number, unit?: string): Rule {
  const test = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  return rule(test, `a whole number${unit === undefined ? '' : ` of ${unit}`} from ${min} to ${max}`);
}

/** Accepts text that matches `pattern`. */
export const matching = (pattern: RegExp, expected: string): Rule =>
  rule((value) => typeof value === 'string' && pattern.test(value), expected);

/** Accepts one of `values`. */
export const oneOf = (values: readonly unknown[], expected: string): Rule => rule((value) => values.includes(value), expected);

/** Accepts a list whose items follow `item`. */
export function listOf(item: Rule, expected: string): Rule {
  return {
    expected,
    inner: innerOf(item, '[]'),
    fault(value) {
      if (!Array.isArray(value)) return { path: [], expected, received: value };
      for (let at = 0; at < value.length; at++) {
        const fault = item.fault(value[at]);
        if (fault !== undefined) return faultBelow(at, fault);
      }
      return undefined;
    },
  };
}

/** Accepts a plain object whose names match `pattern` and whose values follow `item`. */
export function mapOf(pattern: RegExp, item: Rule, expected: string, expectedName = expected): Rule {
  return {
    expected,
    inner: innerOf(item, '.NAME'),
    fault(value) {
      // A `Map`, for example, has no properties of its own, and without this check would be
      // accepted as an empty object.
      if (!isPlain(value)) return { path: [], expected, received: value };
      for (const name in value) {
        if (!pattern.test(name)) return { path: [name], expected: expectedName, received: value[name] };
        const fault = item.fault(value[name]);
        if (fault !== undefined) return faultBelow(name, fault);
      }
      return undefined;
    },
  };
}

function innerOf({ inner }: Rule, step: string): InnerOptions | undefined {
  return inner && { prefix: step + inner.prefix, options: inner.options };
}

/** Returns whether `value` is an object and not an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns whether `value` is an object that is no instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const isCallable = (value: unknown): boolean => typeof value === 'function';

/** Accepts `true` and `false`. */
export const FLAG = rule((value) => typeof value === 'boolean', 'true or false');
/** Accepts functions. */
export const CALLBACK = rule(isCallable, 'a function');
/** Accepts abort signals. */
export const SIGNAL = rule((value) => value instanceof AbortSignal, 'an AbortSignal');
/** Accepts any text. */
export const TEXT = rule((value) => typeof value === 'string', 'text');
/** Accepts text without NUL, which can be passed to a program. */
export const PROGRAM_TEXT = rule((value) => typeof value === 'string' && !value.includes('\0'), 'text without NUL');
/** Accepts the content of a file or of stdin. */
export const CONTENT = rule((value) => typeof value === 'string' || value instanceof Uint8Array, 'text or a Uint8Array');
/** Accepts milliseconds of a timer. */
export const TIMEOUT_MS = whole(1, MAX_TIMER_MS, 'milliseconds');
/** Accepts the path of a folder of the host machine. */
export const HOST_FOLDER = rule(isHostPath, 'a folder of this machine');
/** Accepts the path of a file of the host machine. */
export const HOST_FILE = rule(isHostPath, 'a file of this machine');

function isHostPath(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

const ABSOLUTE = /^\/[^\0]*$/s;

/** Accepts an absolute guest path. `example` appears in the message. */
export const guestPath = (example: string): Rule => matching(ABSOLUTE, `an absolute guest path such as ${example}`);
/** The pattern of absolute guest paths. */
export const GUEST_PATH = ABSOLUTE;

const ENV_EXPECTED = 'a map of names without "=" and NUL to text without NUL';
/** Accepts environment variables. */
export const ENV = mapOf(/^[^=\0]+$/s, PROGRAM_TEXT, ENV_EXPECTED);
/** Accepts a working directory. */
export const CWD = guestPath('/workspace');
/** Accepts command-line arguments. */
export const ARGUMENTS = listOf(PROGRAM_TEXT, 'a list of text');
