// Schemas as functions: one that a library brings (Standard Schema: zod and others), or JSON Schema, for which a validator is loaded when the first
// one comes. A problem is told in the words of the schema, with the place in the input. Next: `binding.ts`.

import type { Schema } from '@cfworker/json-schema';
import { BindingFailure } from './failure.js';
import { checkSchema } from './schema-check.js';
import type { JsonSchema, StandardIssue, StandardSchema } from './types.js';
import { asksForUnique, isComparable } from './unique.js';

/** Gives the input, which had so many bytes, as the handler gets it, or throws (or rejects with) `ERR_BINDING_INPUT`. */
export type Validate = (input: unknown, bytes: number) => unknown;

interface Issue {
  /** Where, such as `input.days[0]`. */
  path: string;
  message: string;
}

const MAX_ISSUES = 8;
const MAX_THOROUGH_BYTES = 16_384;

/** Whether a schema is a library's. */
export function isStandard(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') return false;
  const standard: unknown = (schema as Record<string, unknown>)['~standard'];
  return (
    typeof standard === 'object' && standard !== null && typeof (standard as Record<string, unknown>)['validate'] === 'function'
  );
}

/** Throws an error that says what is wrong with the schema. */
export async function validatorOf(name: string, schema: JsonSchema | StandardSchema): Promise<Validate> {
  return isStandard(schema) ? ofStandard(name, schema) : ofJsonSchema(name, schema);
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
  // A copy: the validator writes into it, and what the caller does with its own changes nothing here.
  const schema = JSON.parse(JSON.stringify(given)) as Schema;
  // Of a large input the first problem is enough: a hostile one may have a million.
  const make = (stops: boolean) => new library.Validator(schema, draftOf(given), stops);
  const [thorough, brief] = [make(false), make(true)];
  checkSchema(library, schema);
  const isDear = asksForUnique(schema);
  return (input, bytes) => {
    if (isDear && !isComparable(input))
      throw refusal(name, [{ path: 'input', message: 'the lists are too long to be compared' }]);
    const validator = bytes > MAX_THOROUGH_BYTES ? brief : thorough;
    let result: ReturnType<typeof validator.validate>;
    try {
      result = validator.validate(input);
    } catch {
      // A key that is no text, half a surrogate pair, has no address.
      throw refusal(name, [{ path: 'input', message: 'it cannot be held against the schema' }]);
    }
    if (result.valid) return input;
    const { errors } = result;
    // The innermost ones say what is wrong, those around them only that something is.
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
  const said = typeof schema === 'object' ? String(schema['$schema'] ?? '') : '';
  if (said.includes('draft-04')) return '4';
  if (said.includes('draft-06') || said.includes('draft-07')) return '7';
  return said.includes('2019-09') ? '2019-09' : '2020-12';
}

// A JSON pointer behind `#`.
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
  const said = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new BindingFailure('ERR_BINDING_INPUT', `The input of the binding '${name}' is not what it takes: ${said}`, { issues });
}
