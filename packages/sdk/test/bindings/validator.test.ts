// Tests the validation of inputs against schemas. Some inputs would be expensive to validate
// without a bound. The validation of a hostile input must be fast, so a slow test means a defect in
// the validation.

import { expect, test } from 'vitest';
import { bindingOf } from '../../src/bindings/binding.js';
import { BindingFailure } from '../../src/bindings/failure.js';
import { validatorOf } from '../../src/bindings/validator.js';

async function refusal(
  schema: object | boolean,
  input: unknown,
): Promise<{ message: string; issues: { path: string }[] } | undefined> {
  const validate = await validatorOf('a', schema as never);
  try {
    await validate(input, JSON.stringify(input).length);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(BindingFailure);
    return (error as BindingFailure).fields as never;
  }
}

test.each([
  [{ type: 'object', required: ['a'] }, { a: 1 }, {}],
  [{ properties: { a: { type: 'number' } } }, { a: 1 }, { a: 'x' }],
  [{ $ref: '#/$defs/tree', $defs: { tree: { type: 'array', items: { $ref: '#/$defs/tree' } } } }, [[], [[]]], [[], [1]]],
  [JSON.parse('{ "if": { "required": ["a"] }, "then": { "required": ["b"] } }'), { a: 1, b: 1 }, { a: 1 }],
  [{ not: { type: 'string' } }, 1, 'x'],
  [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 1, null],
  [{ type: 'array', uniqueItems: true }, [1, '1', { a: 1 }], [{ a: 1 }, { a: 1 }]],
  [{ type: 'string', format: 'date' }, '2026-11-21', '2026-21-11'],
  [{ $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, ['x'], [1]],
  [{ minProperties: 1, additionalProperties: false, patternProperties: { '^x': {} } }, { x1: 1 }, { y: 1 }],
  [{ properties: { a: { type: 'string', example: { type: 'dog', $ref: '#/x', pattern: '(' } } } }, { a: 'x' }, { a: 1 }],
  [true, null, undefined],
])('schema %o accepts %o and refuses %o', async (schema, right, wrong) => {
  expect(await refusal(schema, right)).toBeUndefined();
  if (wrong !== undefined)
    expect((await refusal(schema, wrong))?.message).toMatch(/^The input of the binding 'a' does not match its schema: input/);
});

test('reports the path of a problem as a JavaScript expression', async () => {
  const schema = { properties: { 'a b': { items: { properties: { 'x/~y': { type: 'number' } } } } } };
  expect((await refusal(schema, { 'a b': [{}, { 'x/~y': 'z' }] }))?.issues.map(({ path }) => path)).toEqual([
    'input["a b"][1]["x/~y"]',
  ]);
});

test('refuses a key that has no JSON pointer', async () => {
  const schema = { additionalProperties: { type: 'number' } };
  expect((await refusal(schema, { '\ud800': 'x' }))?.message).toContain('it cannot be compared with the schema');
});

test('reports one problem of a large input and at most eight of any input', async () => {
  const schema = { type: 'array', items: { type: 'integer' } };
  expect((await refusal(schema, Array(200).fill('x')))?.issues).toHaveLength(8);
  expect((await refusal(schema, Array(300_000).fill('x')))?.issues).toHaveLength(1);
});

test('refuses lists whose comparison would take minutes', async () => {
  const schema = { type: 'array', items: { type: 'array', uniqueItems: true } };
  expect(await refusal(schema, [Array.from({ length: 1_500 }, (_, n) => n)])).toBeUndefined();
  expect((await refusal(schema, [Array.from({ length: 300_000 }, (_, n) => n)]))?.message).toContain('too long to be compared');
  const items = Array.from({ length: 1_000 }, (_, n) => [...Array(100).fill(0), n]);
  expect((await refusal({ properties: { a: { uniqueItems: true } } }, { a: items }))?.message).toContain(
    'too long to be compared',
  );
  expect(await refusal({ type: 'array' }, Array(300_000).fill(1))).toBeUndefined();
});

test.each([
  [{ $ref: '#/nowhere' }],
  [{ properties: { a: { $ref: 'other.json' } } }],
  [{ type: 'string', pattern: '(' }],
  [{ items: { patternProperties: { '[': {} } } }],
  [{ properties: { a: { type: 'text' } } }],
])('refuses the unusable schema %o at its registration', async (inputSchema) => {
  const made = bindingOf('registerBindings()', 'a', { description: '', inputSchema, handler: () => 1 });
  await expect(made).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'bindings.a.inputSchema' });
});
