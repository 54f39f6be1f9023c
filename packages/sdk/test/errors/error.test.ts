// Tests `ColdframeError`, the class of all public errors.

import { expect, test, vi } from 'vitest';
import { ColdframeError, isColdframeError } from '../../src/errors/error.js';
import { frameTooLarge, fromWire, poolTimeout, responseInvalid, sidecarExited, sidecarSpawn } from '../../src/errors/make.js';

test('an error has its facts as fields and in its text', () => {
  const error = sidecarExited({ pid: 7, exitCode: null, signal: 'SIGKILL', stderr: 'thread panicked' });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: 'ColdframeError',
    code: 'ERR_SIDECAR_EXITED',
    signal: 'SIGKILL',
    stderr: 'thread panicked',
  });
  expect(error.message).toBe('The sidecar (process 7) ended by signal SIGKILL. Its last output:\nthread panicked');
  expect(String(error)).toMatch(/^ColdframeError: The sidecar/);
});

test('facts from the wire do not replace fields that every error has', () => {
  const details = { message: 'm', stack: 's', name: 'n', code: 'c', cause: 'x', toString: 't', fd: 1 };
  const error = fromWire('ERR_RESULT_LIMIT', 'too much', details);
  expect(error).toMatchObject({ name: 'ColdframeError', code: 'ERR_RESULT_LIMIT', message: 'too much', fd: 1 });
  expect(error.stack).toContain('ColdframeError: too much');
  expect(error.cause).toBeUndefined();
});

test('the JSON of an error has its name, code, message and facts', () => {
  const facts = { pid: 7, exitCode: null, signal: 'SIGKILL', stderr: 'thread panicked' };
  const error = sidecarExited(facts);
  const expected = { name: 'ColdframeError', code: 'ERR_SIDECAR_EXITED', message: error.message, ...facts };
  expect(JSON.parse(JSON.stringify({ error }))).toEqual({ error: expected });
  expect(structuredClone(error.toJSON())).toEqual(expected);
  expect(structuredClone(error).message).toBe(error.message);
});

test('the JSON of an error has the cause and no stack', () => {
  const causes: [unknown, unknown][] = [
    [frameTooLarge(2, 1), frameTooLarge(2, 1).toJSON()],
    [Object.assign(new RangeError('no'), { code: 'E_NO' }), { name: 'RangeError', code: 'E_NO', message: 'no' }],
    [new TypeError('why'), { name: 'TypeError', message: 'why' }],
    ['text', 'text'],
  ];
  for (const [cause, expected] of causes) {
    const json = JSON.parse(JSON.stringify(sidecarSpawn('/sidecar', 'no', cause)));
    expect(json).toMatchObject({ path: '/sidecar', reason: 'no', cause: expected });
    expect(json).not.toHaveProperty('stack');
    expect(json.cause).not.toHaveProperty('stack');
  }
  const nested = responseInvalid(1, 'a', poolTimeout({ timeoutMs: 5 }, new Error('b')));
  expect(structuredClone(nested.toJSON())).toMatchObject({ cause: { code: 'ERR_POOL_TIMEOUT', cause: { message: 'b' } } });
});

test('a fact from the wire does not replace toJSON()', () => {
  const error = fromWire('ERR_ENGINE_FAULT', 'fault', { toJSON: 'x', reason: 'r' });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'ColdframeError',
    code: 'ERR_ENGINE_FAULT',
    message: 'fault',
    reason: 'r',
  });
});

test('instanceof accepts errors of another copy of the package', async () => {
  vi.resetModules();
  const other = await import('../../src/errors/error.js');
  expect(other.ColdframeError).not.toBe(ColdframeError);
  expect(frameTooLarge(1, 0)).toBeInstanceOf(other.ColdframeError);
  expect(other.isColdframeError(frameTooLarge(1, 0), 'ERR_FRAME_TOO_LARGE')).toBe(true);
});

test.each([null, undefined, 'ERR_TIMEOUT', {}, new Error('x'), Object.assign(new Error('x'), { code: 'ERR_TIMEOUT' })])(
  '%s is not a ColdframeError',
  (value) => {
    expect(value instanceof ColdframeError).toBe(false);
    expect(isColdframeError(value)).toBe(false);
  },
);

test('isColdframeError() compares the code', () => {
  const error: unknown = frameTooLarge(9, 8);
  expect(isColdframeError(error)).toBe(true);
  expect(isColdframeError(error, 'ERR_TIMEOUT')).toBe(false);
  expect(isColdframeError(error, 'ERR_TIMEOUT', 'ERR_FRAME_TOO_LARGE') && error.code).toBe('ERR_FRAME_TOO_LARGE');
});
