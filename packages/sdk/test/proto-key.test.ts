// Tests the search for the key `__proto__` in parsed JSON.

import { expect, test } from 'vitest';
import { hasProtoKey } from '../src/proto-key.js';

const has = (text: string): boolean => hasProtoKey(text, JSON.parse(text));

test('finds the key at any depth, and the key with an escape', () => {
  const deep = `${'['.repeat(50_000)}{"__proto__":1}${']'.repeat(50_000)}`;
  for (const text of [
    '{"__proto__":null}',
    '[1,{"a":[{"__proto__":{}}]}]',
    '{"\\u005f_proto__":1}',
    '{"__prot\\u006f__":1}',
    deep,
  ]) {
    expect(has(text), text.slice(0, 40)).toBe(true);
  }
});

test('accepts the text in values, and other keys', () => {
  for (const text of [
    '"__proto__"',
    '["__proto__"]',
    '{"a":"__proto__"}',
    '{"proto":1,"constructor":2}',
    '"\\u005f"',
    'null',
    '{}',
  ]) {
    expect(has(text), text).toBe(false);
  }
});
