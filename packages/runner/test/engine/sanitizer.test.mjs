// Tests the functions that the checks of the sanitized guest call. Each undefined behaviour of
// sanitizer.c must end the program with a message that has the kind and the line.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { compileChecked } from '../../build/compile.mjs';

const source = readFileSync(new URL('sanitizer.c', import.meta.url), 'utf8');
const lines = source.split('\n');
const lineOf = (name) => lines.findIndex((line) => line.startsWith(`EXPORT(${name})`)) + 1;

const MIN = -(2 ** 31);
const MAX = 2 ** 31 - 1;

/** The function, arguments with undefined behaviour, other arguments, and the kind. */
const CASES = [
  ['add', [MAX, 1], [MAX, 0], 'overflow of +'],
  ['sub', [MIN, 1], [MIN, 0], 'overflow of -'],
  ['mul', [MAX, 2], [MAX, 1], 'overflow of *'],
  ['negate', [MIN, 0], [MAX, 0], 'overflow of a negation'],
  ['divide', [MIN, -1], [MIN, 1], 'a division'],
  ['divide', [1, 0], [0, 1], 'a division'],
  ['shift', [1, 32], [1, 30], 'a shift'],
  ['shift', [-1, 1], [1, 1], 'a shift'],
  ['at', [4, 0], [3, 0], 'an index out of bounds'],
  ['load', [0, 0], [1, 0], 'a null pointer'],
  ['load', [1, 1], [1, 4], 'a misaligned pointer'],
  ['truth', [2, 0], [1, 0], 'an invalid value'],
  ['zeros', [0, 0], [1, 0], 'an argument of a builtin'],
  ['array', [0, 0], [1, 0], 'the length of an array'],
  ['offset', [-16, 32], [16, 32], 'overflow of a pointer'],
  ['unreachable', [1, 0], [0, 0], 'unreachable code'],
];

let module;
beforeAll(async () => {
  module = await WebAssembly.compile(await compileChecked(source));
}, 600_000);

/** Calls a function in a new instance. Returns the message of the end, or undefined. */
function call(name, args) {
  const text = (at, length) => Buffer.from(instance.exports.memory.buffer, at, length).toString();
  let written = '';
  const coldframe = {
    write: (_fd, at, length) => {
      written += text(at, length);
      return length;
    },
    fatal: (_kind, at, length) => {
      throw new Error(text(at, length));
    },
  };
  const instance = new WebAssembly.Instance(module, { coldframe });
  instance.exports._initialize();
  try {
    instance.exports[name](...args);
  } catch (error) {
    expect(written).toBe(`${error.message}\n`);
    return error.message;
  }
  return undefined;
}

test.each(CASES)('%s reports %j and not %j', (name, undefinedArgs, otherArgs, kind) => {
  expect(call(name, otherArgs)).toBeUndefined();
  expect(call(name, undefinedArgs)).toMatch(
    new RegExp(`^undefined behaviour: ${kind.replace(/[+*]/, '\\$&')} at checked\\.c:${lineOf(name)}:\\d+$`),
  );
});
