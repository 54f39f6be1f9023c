// A suite as people write them for mocha; one test fails when it is told to.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Stack } from '../lib/stack.js';

describe('Stack', () => {
  let stack;
  beforeEach(() => {
    stack = new Stack();
  });

  it('gives back the last first', () => {
    stack.push(1).push(2);
    assert.deepEqual([stack.pop(), stack.pop()], [2, 1]);
  });

  it('refuses to give what it has not', () => {
    assert.throws(() => stack.pop(), { name: 'RangeError', message: 'the stack is empty' });
  });

  it('waits for files', async () => {
    const { name } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
    assert.equal(name, 'stack');
  });

  if (process.env.WITH_FAILURE) {
    it('fails', () => assert.equal(stack.push(1).pop(), 2));
  }
});
