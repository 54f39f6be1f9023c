// Tests `ColdframeError`, the class of all public errors.

import { expect, test, vi } from 'vitest';
import { ColdframeError, isColdframeError } from '../../src/errors/error.js';
import { frameTooLarge, fromWire, sidecarExited } from '../../src/errors/make.js';

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
