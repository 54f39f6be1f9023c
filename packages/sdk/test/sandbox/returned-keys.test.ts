// Tests that no value of a program has an own property `__proto__`. Such a property sets the
// prototype of every object that the app copies the value to.

import { describe, expect, test } from 'vitest';
import { NodeRuntime } from '../../src/index.js';
import { NodeRuntime as SecureExec } from '../../src/secure-exec/index.js';
import { MODES, withRuntime } from './modes.js';

const HOSTILE = [
  `__return(JSON.parse('{"__proto__":{"isAdmin":true}}'))`,
  `__return([{ deep: [JSON.parse('{"a":1,"__proto__":null}')] }])`,
];
const REFUSED = { code: 'ERR_RESULT_REFUSED', key: '__proto__' };

describe.each(MODES)('$name', (mode) => {
  test('refuses a value with a key __proto__', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      for (const code of HOSTILE) {
        for (const result of [await runtime.run(code), await runner.run(code)]) {
          expect([code, result.exitCode, result.error, 'value' in result]).toEqual([
            code,
            137,
            expect.objectContaining(REFUSED),
            false,
          ]);
        }
      }
      // The name is allowed in texts, and the runner continues.
      const { value } = await runner.run(`__return({ text: '__proto__ and \\u005f_proto__', deep: [[{ constructor: 1 }]] })`);
      expect(value).toEqual({ text: '__proto__ and __proto__', deep: [[{ constructor: 1 }]] });
    }));
});

test('an argument with a key __proto__ sets no prototype in the program', async () => {
  const runtime = await NodeRuntime.create();
  const given = JSON.stringify('{"__proto__":{"isAdmin":true}}');
  const { value } = await runtime.run(
    `const given = JSON.parse(${given}); __return([given.isAdmin ?? 'none', Object.keys(given)])`,
  );
  expect(value).toEqual(['none', ['__proto__']]);
  await runtime.dispose();
});

test('the layer of secure-exec refuses such a value too', async () => {
  const runtime = await SecureExec.create();
  const result = await runtime.run(HOSTILE[0] as string);
  expect(result).not.toHaveProperty('value');
  await runtime.dispose();
});
