// The documents name every error code, every option of every call with its range, and every timing
// of the code.

import { expect, test } from 'vitest';
import { CALLS } from '../../packages/sdk/src/options/check.ts';
import { OPERATIONS } from '../../packages/sdk/src/options/permissions.ts';
import { readText, trackedFiles } from './tree.mjs';

const codesIn = (text) => [...new Set(text.match(/\bERR_[A-Z_]+\b/g))].sort();

/** Codes of Node that the errors of guests have, and not of this package. */
const OF_NODE = ['ERR_FEATURE_UNAVAILABLE_ON_PLATFORM'];

test('docs/errors.md has exactly the codes of the SDK', () => {
  const documented = codesIn(readText('docs/errors.md')).filter((code) => !OF_NODE.includes(code));
  expect(documented).toEqual(codesIn(readText('packages/sdk/src/errors/codes.ts')));
});

test('the sidecar uses only documented codes, and ERR_SIGNAL in its log', () => {
  const documented = [...codesIn(readText('docs/errors.md')), 'ERR_SIGNAL'];
  const source = readText('packages/sidecar/crates/error/src/error.rs');
  expect(codesIn(source).filter((code) => !documented.includes(code))).toEqual([]);
  expect(codesIn(source).length).toBeGreaterThan(15);
  expect(codesIn(readText('CONTRIBUTING.md'))).toContain('ERR_SIGNAL');
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

/** The sections of all pages of the API, by heading. */
const sections = trackedFiles()
  .filter((path) => path.startsWith('docs/api/'))
  .flatMap((path) => readText(path).split(/^(?=#+ )/m))
  .map((text) => ({ text, rows: text.split('\n').filter((line) => line.startsWith('| `')) }));

/** Converts the name of a call in messages to its form in the documents. */
const written = (call) => call.replace('ResidentRunner.', 'runner.').replace('RuntimePool.', 'pool.').slice(0, -2);
const sectionsOf = (call) => {
  const code = new RegExp(`\`([a-z]+\\.)?${written(call).replaceAll('.', '\\.')}(<\\w+>)?\\(`);
  return sections.filter(({ text }) => code.test(text));
};

/**
 * Returns the sections that describe the options of a call: the call's own sections, and the
 * sections of calls that these sections refer to.
 */
function describing(call, seen = [call]) {
  const own = sectionsOf(call);
  const referred = own.flatMap(({ text }) => [...text.matchAll(/options of\s`([\w.]+\(\))`/g)].map(([, other]) => other));
  const others = referred.filter((other) => !seen.includes(other));
  return [...own, ...others.flatMap((other) => describing(other, [...seen, ...others]))];
}

/** Returns the table rows whose first cell is the option. */
const rowsFor = (name, places) =>
  places
    .flatMap(({ rows }) => rows)
    .filter((row) =>
      row
        .split('|')[1]
        .split(',')
        .some((cell) => cell.trim() === `\`${name}\``),
    );

/** Returns the range in the words after "expected", in the form of the documents. */
function rangeOf({ expected }) {
  const [, min, max] = /from (\d+) to (\d+)$/.exec(expected) ?? [];
  return min && `${Number(min).toLocaleString('en-US')} to ${Number(max).toLocaleString('en-US')}`;
}

const undocumented = (name, option, places) => {
  const range = rangeOf(option);
  return !rowsFor(name, places).some((row) => range === undefined || row.includes(range));
};

/**
 * Returns the options inside an option as [name, option]. A name has a prefix, as in
 * `limits.memoryBytes`, except in lists and maps.
 */
function innerOf(name, { inner }) {
  if (inner === undefined) return [];
  const prefix = inner.prefix === '.' ? `${name}.` : '';
  return Object.entries(inner.options).map(([key, option]) => [prefix + key, option]);
}

/** A policy has no table: its options are the scopes. */
const SCOPES = Object.fromEntries(Object.keys(OPERATIONS).map((scope) => [scope, { expected: '' }]));

test.each(Object.entries(CALLS))('docs/api describes every option of %s, with its range', (call, { inner }) => {
  expect(sectionsOf(call)).not.toEqual([]);
  const options = Object.entries(inner?.options ?? (call === 'setPermissions()' ? SCOPES : {}));
  expect(options.length).toBeGreaterThan(0);
  const missing = options.filter(([name, option]) => {
    // An option that has options of its own has a separate table.
    const parts = innerOf(name, option).filter(
      ([part, rule]) => undocumented(part, rule, sections) && undocumented(part.split('.').at(-1), rule, describing(call)),
    );
    return parts.length > 0 || (innerOf(name, option).length === 0 && undocumented(name, option, describing(call)));
  });
  expect(missing.map(([name, option]) => [name, rangeOf(option)])).toEqual([]);
});

test('docs/api/timings.md has every timing', () => {
  const [union = ''] = /export type BootPhase =[^;]+;/.exec(readText('packages/sdk/src/options/boot-timing.ts')) ?? [];
  const phases = [...union.matchAll(/'(\w+)'/g)].map(([, name]) => name);
  const page = readText('docs/api/timings.md');
  expect(phases.length).toBeGreaterThan(5);
  expect(phases.filter((phase) => !page.includes(`| \`${phase}\` |`))).toEqual([]);
});

test('no line of the pages of the API is wider than 160 characters', () => {
  const wide = sections.flatMap(({ text }) => text.split('\n')).filter((line) => line.length > 160);
  expect(wide).toEqual([]);
});
