// Tests which host names name a port of a runtime.

import { expect, test } from 'vitest';
import { targetOf } from '../../src/gateway/host-name.js';

const DOMAIN = 'sandbox.test';

test.each([
  ['3000-abc.sandbox.test', 3000, 'abc'],
  ['1-0.sandbox.test:8080', 1, '0'],
  ['65535-I9Z.Sandbox.TEST', 65_535, 'i9z'],
])('%s names a port and an id', (host, port, id) => {
  expect(targetOf(host, DOMAIN)).toEqual({ port, id });
});

test.each([
  '',
  'sandbox.test',
  '.sandbox.test',
  '3000-abc',
  '3000-abc.sandbox.test.',
  '3000-abc.sandbox.test.other.test',
  '3000-abc.othersandbox.test',
  '3000-abc.x.sandbox.test',
  'user@3000-abc.sandbox.test',
  '3000-abc.sandbox.test:',
  '3000-abc.sandbox.test:123456',
  '3000-abc.sandbox.test:80:80',
  '3000-abc .sandbox.test',
  '3000-.sandbox.test',
  '-abc.sandbox.test',
  '0-abc.sandbox.test',
  '03000-abc.sandbox.test',
  '65536-abc.sandbox.test',
  '300000-abc.sandbox.test',
  '3000-a_c.sandbox.test',
  '3000-a-c.sandbox.test',
  `3000-${'a'.repeat(58)}.sandbox.test`,
  '３０００-abc.sandbox.test',
  '3000-abc.sandbox。test',
  'localhost',
  '127.0.0.1:80',
  '[::1]',
])('%j names nothing', (host) => {
  expect(targetOf(host, DOMAIN)).toBeUndefined();
});
