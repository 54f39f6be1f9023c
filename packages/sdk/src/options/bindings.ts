// What `bindings` may be: the test that accepts what is certainly correct. `binding-schemas.ts` says what is wrong with the rest.

import { isStandard } from '../bindings/validator.js';

type Test = (value: unknown) => boolean;

/** The name of a binding, and of a command that calls one: the sidecar has the same rule. */
export const BINDING_NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** Bounds of a definition's numbers. */
export const BINDING_WHOLE = {
  /** Milliseconds; the largest is five minutes. */
  timeoutMs: { min: 1, max: 300_000 },
  /** Calls; the largest is what a runtime may have under way. */
  maxConcurrency: { min: 1, max: 1_024 },
  /** Bytes; the largest is half of what a frame holds. */
  maxInputBytes: { min: 1, max: 16_777_216 },
  maxOutputBytes: { min: 1, max: 16_777_216 },
} as const;

/** Commands besides the name. */
export const MAX_ALIASES = 15;

const isText: Test = (value) => typeof value === 'string';
const isName: Test = (value) => typeof value === 'string' && BINDING_NAME.test(value);
const isWhole =
  (option: keyof typeof BINDING_WHOLE): Test =>
  (value) =>
    Number.isInteger(value) && (value as number) >= BINDING_WHOLE[option].min && (value as number) <= BINDING_WHOLE[option].max;

/** A JSON Schema, as far as one can see from here, or a library's. */
export const isSchema: Test = (value) => typeof value === 'boolean' || isStandard(value) || isPlain(value);

/** `{ description?, input }` */
export const isExample: Test = (value) =>
  isPlain(value) &&
  'input' in value &&
  Object.keys(value).every((key) => key === 'input' || key === 'description') &&
  (value['description'] === undefined || isText(value['description']));

const TESTS: Readonly<Record<string, Test>> = {
  __proto__: null as never,
  description: isText,
  inputSchema: isSchema,
  handler: (value) => typeof value === 'function',
  timeoutMs: isWhole('timeoutMs'),
  maxConcurrency: isWhole('maxConcurrency'),
  maxInputBytes: isWhole('maxInputBytes'),
  maxOutputBytes: isWhole('maxOutputBytes'),
  command: (value) => typeof value === 'boolean',
  examples: (value) => Array.isArray(value) && value.every(isExample),
  commandAliases: (value) => Array.isArray(value) && value.length <= MAX_ALIASES && value.every(isName),
};

/** Whether `value` is certainly a map of bindings. */
export const isBindings: Test = (value) =>
  isPlain(value) && Object.keys(value).every((name) => BINDING_NAME.test(name) && isDefinition(value[name]));

function isDefinition(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const definition = value as Record<string, unknown>;
  for (const name in definition) {
    const test = TESTS[name];
    if (test === undefined) return false;
    if (definition[name] !== undefined && !test(definition[name])) return false;
  }
  return ['description', 'inputSchema', 'handler'].every((name) => definition[name] !== undefined);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
