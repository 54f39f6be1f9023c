// Tests the pattern that replaces the format `url` of JSON Schemas against the validator's own
// regular expression for this format.

import { format } from '@cfworker/json-schema';
import { expect, test } from 'vitest';
import { URL_PATTERN } from '../../src/bindings/formats.js';
import { validatorOf } from '../../src/bindings/validator.js';

/** The parts of the texts that the test compares. */
const PARTS = [
  ...['://', ':', '/', '//', '@', '.', '.', '.', '-', '--', '?', '#', ' ', ':80', ':123456'],
  ...['a', 'b1', 'é', 'Z', '1', '10', '127', '169', '254', '192', '168', '172', '16', '223', '224', '255', '256', '0', '00'],
  ...['com', 'c', 'a.com', '8.8.8.8', '10.0.0.1', '172.16.0.1', '192.168.0.1', '𝒳', '%20'],
];

const SCHEMES = ['', 'http', 'http://', 'https://', 'ftp://', 'HTTP://', 'mailto:'];

/** Returns pseudorandom numbers below 1. Each run has equal numbers. */
function* numbers(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

test('accepts the texts that the format accepts', () => {
  const random = numbers();
  const below = (limit: number): number => Math.floor(random.next().value * limit);
  const pattern = new RegExp(URL_PATTERN, 'u');
  const isUrl = format['url'] as (text: string) => boolean;
  let accepted = 0;
  for (let round = 0; round < 100_000; round++) {
    // Few short parts, because the format needs exponential time.
    const parts = Array.from({ length: below(6) }, () => PARTS[below(PARTS.length)]);
    const scheme = SCHEMES[below(SCHEMES.length)];
    const text = `${scheme}${parts.join('')}`;
    expect(pattern.test(text), text).toBe(isUrl(text));
    if (isUrl(text)) accepted++;
  }
  expect(accepted).toBeGreaterThan(1_000);
});

test('refuses a hostile text at once, in each part of a schema', async () => {
  const url = { format: 'url' };
  const schema = { properties: { one: url, list: { items: url }, either: { anyOf: [url, { type: 'number' }] } } };
  const validate = await validatorOf('b', schema);
  for (const hostile of [`http://${'a'.repeat(60)}!`, `http://${'a-'.repeat(500_000)}`, `http://${'a@'.repeat(100_000)}`]) {
    for (const input of [{ one: hostile }, { list: [hostile] }, { either: hostile }]) {
      expect(() => validate(input, 100)).toThrow('does not match');
    }
  }
  expect(validate({ one: 'https://example.com/path?query', list: [5], either: 7 }, 100)).toBeDefined();
});

test('leaves values that look like a part of a schema', async () => {
  const validate = await validatorOf('b', { const: { format: 'url' } });
  expect(validate({ format: 'url' }, 100)).toEqual({ format: 'url' });
});
