// The documents name every error code, every option of every call and every timing of the code.

import { expect, test } from 'vitest';
import { readText } from './tree.mjs';

const codesIn = (text) => [...new Set(text.match(/\bERR_[A-Z_]+\b/g))].sort();

test('docs/errors.md has exactly the codes of the SDK', () => {
  expect(codesIn(readText('docs/errors.md'))).toEqual(codesIn(readText('packages/sdk/src/errors/codes.ts')));
});

test('every code of the wire is a code of the SDK', () => {
  const known = codesIn(readText('packages/sdk/src/errors/codes.ts'));
  expect(codesIn(readText('docs/internals/protocol.md')).filter((code) => !known.includes(code))).toEqual([]);
});

test('the rows of docs/errors.md name the fields of each code', () => {
  const declared = [...readText('packages/sdk/src/errors/codes.ts').matchAll(/^ {2}(ERR_\w+): (.*);$/gm)];
  const rows = readText('docs/errors.md').split('\n');
  const wrong = declared.flatMap(([, code, type]) => {
    const fields = [...type.matchAll(/(\w+): /g)].map(([, name]) => name);
    const row = rows.find((line) => line.startsWith(`| \`${code}\` |`)) ?? '';
    const cell = row.split('|').find((part, index) => index > 1 && fields.every((field) => part.includes(`\`${field}\``)));
    return fields.length === 0 || cell ? [] : [`${code}: ${fields.join(', ')}`];
  });
  expect(declared.length).toBeGreaterThan(15);
  expect(wrong).toEqual([]);
});

test('docs/api.md names every option', () => {
  const types = readText('packages/sdk/src/options/types.ts');
  const options = [...types.matchAll(/^ {2}(\w+)\?: /gm)].map(([, name]) => name);
  const page = readText('docs/api.md');
  expect(options.length).toBeGreaterThan(10);
  expect(options.filter((name) => !new RegExp(`[\`.]${name}[\`.]`).test(page))).toEqual([]);
});

test('docs/api.md names every timing', () => {
  const [union = ''] = /export type BootPhase =[^;]+;/.exec(readText('packages/sdk/src/options/types.ts')) ?? [];
  const phases = [...union.matchAll(/'(\w+)'/g)].map(([, name]) => name);
  const page = readText('docs/api.md');
  expect(phases.length).toBeGreaterThan(5);
  expect(phases.filter((phase) => !page.includes(`| \`${phase}\` |`))).toEqual([]);
});
