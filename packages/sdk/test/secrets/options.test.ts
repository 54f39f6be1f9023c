// Tests the checks of the option `secrets`. No message contains a value.

import { describe, expect, test } from 'vitest';
import { checkArgument, checkOptions } from '../../src/options/check.js';
import { SECRET_SOURCE } from '../../src/options/secrets.js';
import { declare } from '../../src/secrets/declare.js';

const VALUE = 'a-value-that-no-message-has';
const secret = { value: VALUE, hosts: ['api.example.com'] };
const create = (options: object) => () => checkOptions('NodeRuntime.create()', options);

function messageOf(call: () => void): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('the option `secrets`', () => {
  test('accepts every field', () => {
    const full = { ...secret, in: ['header:x-token', 'query:key'], insecure: true, placeholder: { prefix: 'sk-', length: 20 } };
    const secrets = { A: full, B: { ...secret, value: new Uint8Array([65]), env: false }, _C1: { ...secret, value: () => 'x' } };
    expect(create({ secrets, env: { B: 'the placeholder is not in the environment' } })).not.toThrow();
  });

  test.each([
    [{ 'A-B': secret }, /`secrets\.A-B`.*letters, digits and underscores/],
    [{ A: VALUE }, /`secrets\.A`.*expected an object: \{ value, hosts/],
    [VALUE, /`secrets`.*expected a map/],
    [{ A: { ...secret, value: `${VALUE}\n` } }, /`secrets\.A\.value`.*received text of 28 characters/],
    [{ A: { ...secret, value: 'short\0' } }, /`secrets\.A\.value`.*received text of 6 characters/],
    [{ A: { ...secret, value: ' a' } }, /`secrets\.A\.value`/],
    [{ A: { ...secret, value: '' } }, /`secrets\.A\.value`/],
    [{ A: { ...secret, value: 'a'.repeat(16_385) } }, /`secrets\.A\.value`/],
    [{ A: { ...secret, value: 77_123 } }, /`secrets\.A\.value`.*received a number/],
    [{ A: { value: VALUE } }, /`secrets\.A\.hosts`/],
    [{ A: { ...secret, hosts: [] } }, /`secrets\.A\.hosts`.*a list of 1 to 64/],
    [{ A: { ...secret, in: ['authorization'] } }, /`secrets\.A\.in\.0`.*header:authorization/],
    [{ A: { ...secret, env: true } }, /`secrets\.A\.env`/],
    [{ A: { ...secret, placeholder: { length: 8 } } }, /`secrets\.A\.placeholder\.length`/],
    [{ A: { ...secret, placeholder: { prefix: 'a b' } } }, /`secrets\.A\.placeholder\.prefix`/],
  ])('refuses %o', (secrets, expected) => {
    const message = messageOf(create({ secrets }));
    expect(message).toMatch(expected);
    for (const hidden of [VALUE, 'short', '77123']) expect(message).not.toContain(hidden);
  });

  test('refuses a variable with the name of a secret', () => {
    const message = messageOf(create({ secrets: { A: secret }, env: { A: VALUE } }));
    expect(message).toMatch(/`env\.A`.*expected nothing, because `secrets\.A` sets the variable/);
    expect(message).not.toContain(VALUE);
    expect(messageOf(() => checkArgument('secrets.set()', 'value', SECRET_SOURCE, `${VALUE}\n`))).not.toContain(VALUE);
  });
});

describe('placeholders', () => {
  const one = (placeholder: object | undefined) => declare([['A', { hosts: ['a.test'], placeholder }]])[0]?.placeholder ?? '';

  test('have a prefix and random characters', () => {
    expect(one(undefined)).toMatch(/^cfs_[A-Za-z0-9]{32}$/);
    expect(one({ prefix: 'sk-', length: 200 })).toMatch(/^sk-[A-Za-z0-9]{200}$/);
    expect(new Set(Array.from({ length: 100 }, () => one(undefined))).size).toBe(100);
    expect(declare([['A', { hosts: ['a.test'], env: false }]])[0]?.placeholder).toBeUndefined();
  });
});

describe('keys that sign requests', () => {
  const credentials = { accessKeyId: 'an-id-of-a-key', secretAccessKey: VALUE };
  const signer = { sign: 'aws4', value: credentials, hosts: ['*.amazonaws.com'] };
  const one = (change: object) => create({ secrets: { S3: { ...signer, ...change } } });

  test('have credentials and a scope', () => {
    for (const change of [
      {},
      { region: 'eu-central-1', service: 's3', env: false, insecure: true },
      { value: () => credentials },
    ]) {
      expect(one(change)).not.toThrow();
    }
    expect(one({ value: { ...credentials, sessionToken: 'token' } })).not.toThrow();
    const [declared] = declare([['S3', { hosts: ['a.test'], sign: 'aws4', region: 'eu-central-1' }]]);
    expect(declared).toMatchObject({ name: 'S3', sign: { region: 'eu-central-1' } });
  });

  test.each([
    [{ value: VALUE }, /`secrets\.S3\.value`.*\{ accessKeyId, secretAccessKey, sessionToken\? \}/],
    [{ value: { accessKeyId: VALUE } }, /`secrets\.S3\.value`/],
    [{ value: { ...credentials, other: VALUE } }, /`secrets\.S3\.value`/],
    [{ sign: 'aws2' }, /`secrets\.S3\.sign`.*'aws4'/],
    [{ region: 'EU' }, /`secrets\.S3\.region`/],
    [{ in: ['header:x'] }, /`secrets\.S3\.in`/],
  ])('refuse %o', (change, expected) => {
    const message = messageOf(one(change));
    expect(message).toMatch(expected);
    expect(message).not.toContain(VALUE);
  });

  test('are no values of other secrets', () => {
    expect(messageOf(create({ secrets: { A: { ...secret, value: credentials } } }))).toMatch(/`secrets\.A\.value`/);
    expect(messageOf(create({ secrets: { A: { ...secret, region: 'eu-central-1' } } }))).toMatch(/`secrets\.A\.region`/);
  });
});
