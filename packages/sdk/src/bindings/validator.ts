// Converts schemas to functions that validate an input. A schema is a Standard Schema of a library,
// such as zod, or a JSON Schema. The validator of JSON Schema is loaded with the first JSON Schema.
// An error message names the place in the input and the requirement that the input breaks. Next:
// `binding.ts`.

import type { Schema } from '@cfworker/json-schema';
import { isStandardSchema, type JsonSchema, type StandardIssue, type StandardSchema } from '../options/bindings.js';
import { BindingFailure } from './failure.js';
import { replaceSlowFormats } from './formats.js';
import { checkSchema } from './schema-check.js';
import { asksForUnique, isComparable } from './unique-items.js';

/**
 * Validates an input. Returns the input for the handler, or a promise of that input. Throws or
 * rejects with `ERR_BINDING_INPUT`. `bytes` is the size of the input's JSON.
 */
export type Validate = (input: unknown, bytes: number) => unknown;

interface Issue {
  /** The place in the input, such as `input.days[0]`. */
  path: string;
  message: string;
}

const MAX_ISSUES = 8;
const MAX_THOROUGH_BYTES = 16_384;

/** Makes a validator. Rejects with an error that names the first invalid part of a JSON Schema. */
export async function validatorOf(name: string, schema: JsonSchema | StandardSchema): Promise<Validate> {
  return isStandardSchema(schema) ? ofStandard(name, schema) : ofJsonSchema(name, schema);
}

function ofStandard(name: string, schema: StandardSchema): Validate {
  const settle = (result: Awaited<ReturnType<StandardSchema['~standard']['validate']>>): unknown => {
    if (result.issues === undefined) return result.value;
    throw refusal(name, result.issues.map(issueOf));
  };
  return (input) => {
    const result = schema['~standard'].validate(input);
    return result instanceof Promise ? result.then(settle) : settle(result);
  };
}

function issueOf({ path = [], message }: StandardIssue): Issue {
  const keys = path.map((step) => (typeof step === 'object' ? step.key : step));
  return { path: pathOf(keys), message };
}

async function ofJsonSchema(name: string, given: JsonSchema): Promise<Validate> {
  const library = await import('@cfworker/json-schema');
  // The schema is copied, because the validator writes into the schema, and the caller may change
  // the original.
  const schema = JSON.parse(JSON.stringify(given)) as Schema;
  replaceSlowFormats(library, schema);
  // For a large input only the first problem is reported, because a hostile input may have a
  // million problems.
  const make = (stops: boolean) => new library.Validator(schema, draftOf(given), stops);
  const [thorough, firstOnly] = [make(false), make(true)];
  checkSchema(library, schema);
  const isExpensive = asksForUnique(schema);
  return (input, bytes) => {
    if (isExpensive && !isComparable(input))
      throw refusal(name, [{ path: 'input', message: 'the lists are too long to be compared' }]);
    const validator = bytes > MAX_THOROUGH_BYTES ? firstOnly : thorough;
    let result: ReturnType<typeof validator.validate>;
    try {
      result = validator.validate(input);
    } catch {
      // The validator throws for a key with a lone surrogate, because such a key has no JSON
      // pointer.
      throw refusal(name, [{ path: 'input', message: 'it cannot be compared with the schema' }]);
    }
    if (result.valid) return input;
    const { errors } = result;
    // The innermost errors name the problem. The errors of outer keywords contain no further fact.
    const inner = errors.filter(({ keyword }) => !OUTER.has(keyword));
    const issues = (inner.length > 0 ? inner : errors).map(({ instanceLocation, error }) => ({
      path: pathOf(instanceLocation.split('/').slice(1).map(unescaped)),
      message: error,
    }));
    throw refusal(name, issues);
  };
}

const OUTER = new Set([
  'properties',
  'items',
  'additionalItems',
  'prefixItems',
  'patternProperties',
  'allOf',
  '$ref',
  '$dynamicRef',
]);

function draftOf(schema: JsonSchema): '4' | '7' | '2019-09' | '2020-12' {
  const draft = typeof schema === 'object' ? String(schema['$schema'] ?? '') : '';
  if (draft.includes('draft-04')) return '4';
  if (draft.includes('draft-06') || draft.includes('draft-07')) return '7';
  return draft.includes('2019-09') ? '2019-09' : '2020-12';
}

// Decodes one step of a JSON pointer that is a URL's fragment.
const unescaped = (step: string): string => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');

function pathOf(keys: readonly PropertyKey[]): string {
  const step = (key: PropertyKey): string => {
    if (/^\d+$/.test(String(key))) return `[${String(key)}]`;
    return /^[A-Za-z_$][\w$]*$/.test(String(key)) ? `.${String(key)}` : `[${JSON.stringify(String(key).slice(0, 100))}]`;
  };
  return `input${keys.map(step).join('')}`;
}

function refusal(name: string, all: readonly Issue[]): BindingFailure {
  const issues = all
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => ({ path: path.slice(0, 500), message: message.slice(0, 500) }));
  const list = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new BindingFailure('ERR_BINDING_INPUT', `The input of the binding '${name}' does not match its schema: ${list}`, {
    issues,
  });
}
