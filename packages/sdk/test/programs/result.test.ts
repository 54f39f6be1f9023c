// Tests the results that are made from outcomes.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../src/channel/outcome.js';
import { ExecResult, RunResult } from '../../src/programs/result.js';

const timings = { memoryMapNs: 0, instantiateNs: 0, guestStartNs: 0, guestRunNs: 0 };
const outcome = (given: Partial<Outcome>): Outcome => ({
  exitCode: 0,
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  timings,
  ...given,
});

test('reports a value that is not JSON as a fault of the engine', () => {
  const result = new RunResult(outcome({ value: '{' }));
  expect(result).toMatchObject({ exitCode: 137, error: { code: 'ERR_ENGINE_FAULT' } });
  expect('value' in result).toBe(false);
});

test('has five fields for a program that exited', () => {
  const result = new ExecResult(outcome({ stdout: Buffer.from('ä\n'), exitCode: 3 }));
  expect(Object.keys(result)).toEqual(['stdout', 'stderr', 'exitCode', 'signal', 'timings']);
  expect(result).toMatchObject({ stdout: 'ä\n', stderr: '', exitCode: 3, signal: null });
  expect(new ExecResult(outcome({ exitCode: 168, signal: 40 })).signal).toBe('SIG40');
});

test('restores the exact bytes of any output', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const memory = Buffer.concat([Buffer.from(bytes), Buffer.from('!')]);
        const view = memory.subarray(0, bytes.length);
        const result = new ExecResult(outcome({ stdout: view, stderr: new Uint8Array(bytes) }));
        memory.fill(0); // a transport may reuse its buffer
        expect(Buffer.from(result.stdoutBytes)).toEqual(Buffer.from(bytes));
        expect(Buffer.from(result.stderrBytes)).toEqual(Buffer.from(bytes));
      },
    ),
  );
});

test('keeps a byte order mark and U+FFFD', () => {
  const bytes = Buffer.from('\ufeffa\ufffd');
  const result = new ExecResult(outcome({ stdout: bytes }));
  expect(result.stdout).toBe('\ufeffa\ufffd');
  expect(Buffer.from(result.stdoutBytes)).toEqual(bytes);
});

test('converts a failure to an error with its facts', () => {
  const failure = { code: 'ERR_TIMEOUT', message: 'too long', details: { timeoutMs: 5 } };
  const { error, exitCode } = new ExecResult(outcome({ exitCode: 124, failure, stdoutTruncated: true }));
  expect(exitCode).toBe(124);
  expect(error).toMatchObject({ code: 'ERR_TIMEOUT', message: 'too long', timeoutMs: 5 });
});

test('reports truncation of each descriptor', () => {
  const result = new ExecResult(outcome({ stderrTruncated: true, stdoutTruncated: false }));
  expect(result.stderrTruncated).toBe(true);
  expect('stdoutTruncated' in result).toBe(false);
});

test('parses a value, and has no field `value` without a value', () => {
  expect(new RunResult(outcome({ value: '{"a":[1,null]}' })).value).toEqual({ a: [1, null] });
  expect('value' in new RunResult(outcome({}))).toBe(false);
});
