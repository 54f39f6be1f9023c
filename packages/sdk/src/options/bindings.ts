// The option `bindings`: functions of the app that guests can call. `bindings/binding.ts` converts
// the checked definitions.

import { CALLBACK, type Fault, FLAG, isObject, isPlain, listOf, mapOf, matching, type Rule, rule, TEXT, whole } from './rule.js';
import { known, type OptionTable, objectWith, required } from './table.js';

/** A JSON Schema of draft 2020-12, or of draft 4, 6, 7 or 2019-09 if `$schema` names that draft. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/**
 * A schema of a library that follows Standard Schema, such as zod 4. The handler receives the value
 * that the schema's validation returns.
 */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}

/** The result of a Standard Schema. */
export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem of an input, found by a Standard Schema. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The second argument of a handler. */
export interface BindingContext {
  /**
   * Aborts when `timeoutMs` has passed or the call is abandoned. A call is abandoned when its
   * process ends or aborts the call, and when the runtime is paused or disposed.
   */
  readonly signal: AbortSignal;
  /** The pid of the calling process. */
  readonly pid: number;
}

/**
 * An input that shows the use of a binding. `--help` of the binding's command prints the example.
 */
export interface BindingExample {
  readonly description?: string | undefined;
  readonly input: unknown;
}

/**
 * A function of this process that guests can call, with `await callBinding(name, input)` or through
 * a command of that name.
 */
export interface BindingDefinition {
  /** A description for people and models, which `--help` of the binding's command prints. */
  readonly description: string;
  /** The schema of the input, which is checked in this process before the handler runs. */
  readonly inputSchema: JsonSchema | StandardSchema;
  /**
   * Returns the result, which is sent as JSON; `undefined` becomes `null`. An error that the
   * handler throws rejects the call in the guest, with the error's name, message and code.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the schema says what the input is
  handler(input: any, context: BindingContext): unknown;
  /**
   * Milliseconds that a call may take, including the wait for a permit.
   * @default 30_000; at most 300_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Number of calls that run at a time. Further calls wait for a permit. @default 64; at most 1_024
   */
  readonly maxConcurrency?: number | undefined;
  /** The largest input in bytes of JSON. @default 1_048_576; at most 16_777_216 */
  readonly maxInputBytes?: number | undefined;
  /** The largest result in bytes of JSON. @default 1_048_576; at most 16_777_216 */
  readonly maxOutputBytes?: number | undefined;
  /** Inputs that show the use of the binding. */
  readonly examples?: readonly BindingExample[] | undefined;
  /**
   * Whether a command has the binding's name. Must be `false` if the sandbox has a command of that
   * name, such as `echo`.
   * @default true
   */
  readonly command?: boolean | undefined;
  /** Further names of the command. */
  readonly commandAliases?: readonly string[] | undefined;
}

/** Bindings by name: a letter, then letters, digits, `_`, `.` or `-`, at most 64 characters. */
export type Bindings = Readonly<Record<string, BindingDefinition>>;

/** The sidecar has the same rule for names of bindings and commands. */
const NAME_PATTERN = /^[A-Za-z][\w.-]{0,63}$/;
const NAME = matching(NAME_PATTERN, "a name: a letter, then letters, digits, '_', '.' or '-', 64 at most");
const MAX_ALIASES = 15;
/** The largest value of `maxInputBytes` and `maxOutputBytes`: half of a frame. */
const MAX_BYTES = 16_777_216;

/** Returns whether `schema` belongs to a library that follows Standard Schema. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') return false;
  const standard: unknown = (schema as Record<string, unknown>)['~standard'];
  return isObject(standard) && typeof standard['validate'] === 'function';
}

const isSchema = (value: unknown): boolean => typeof value === 'boolean' || isStandardSchema(value) || isPlain(value);

const EXAMPLES_EXPECTED = 'a list of examples: { description?, input }';
const isExample = (value: unknown): boolean =>
  isPlain(value) &&
  'input' in value &&
  Object.keys(value).every((key) => key === 'input' || key === 'description') &&
  (value['description'] === undefined || typeof value['description'] === 'string');

const ALIASES_EXPECTED = `a list of at most ${MAX_ALIASES} names`;
const ALIAS_LIST = listOf(NAME, ALIASES_EXPECTED);
const ALIASES: Rule = {
  expected: ALIASES_EXPECTED,
  fault: (value): Fault | undefined =>
    Array.isArray(value) && value.length > MAX_ALIASES
      ? { path: [], expected: ALIASES_EXPECTED, received: value }
      : ALIAS_LIST.fault(value),
};

const BINDING: OptionTable<BindingDefinition> = {
  description: required(TEXT),
  inputSchema: known(required(rule(isSchema, 'a JSON Schema or a schema of zod')), ['schema', 'parameters']),
  handler: known(required(CALLBACK), ['execute']),
  timeoutMs: whole(1, 300_000, 'milliseconds'),
  maxConcurrency: whole(1, 1_024, 'calls'),
  maxInputBytes: whole(1, MAX_BYTES, 'bytes'),
  maxOutputBytes: whole(1, MAX_BYTES, 'bytes'),
  command: FLAG,
  examples: listOf(rule(isExample, EXAMPLES_EXPECTED), EXAMPLES_EXPECTED),
  commandAliases: known(ALIASES, ['aliases']),
};

/** Accepts bindings. */
export const BINDINGS = mapOf(
  NAME_PATTERN,
  objectWith(BINDING, 'a binding: { description, inputSchema, handler, ... }'),
  'a map of names to bindings: { description, inputSchema, handler, ... }',
  NAME.expected,
);
/** The argument of `unregisterBindings()`. */
export const BINDING_NAMES = listOf(TEXT, 'a list of names');
