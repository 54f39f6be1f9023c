// From outcomes to results.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../src/channel/messages.js';
import { ExecResult, RunResult } from '../../src/runtime/result.js';

const timings = { memoryMapNs: 0, instantiateNs: 0, guestStartNs: 0, guestRunNs: 0 };
const outcome = (given: Partial<Outcome>): Outcome => ({
  exitCode: 0,
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  timings,
  ...given,
});

test('a value that is no JSON is a fault of the engine, and no error of the host', () => {
  const result = new RunResult(outcome({ value: '{' }));
  expect(result).toMatchObject({ exitCode: 137, error: { code: 'ERR_ENGINE_FAULT' } });
  expect('value' in result).toBe(false);
});

test('a plain outcome has the three fields and no others', () => {
  const result = new ExecResult(outcome({ stdout: Buffer.from('ä\n'), exitCode: 3 }));
  expect(Object.keys(result)).toEqual(['stdout', 'stderr', 'exitCode']);
  expect(result).toMatchObject({ stdout: 'ä\n', stderr: '', exitCode: 3 });
});

test('the bytes can be had back exactly, whatever they are', () => {
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
        memory.fill(0); // what the socket read is used again
        expect(Buffer.from(result.stdoutBytes)).toEqual(Buffer.from(bytes));
        expect(Buffer.from(result.stderrBytes)).toEqual(Buffer.from(bytes));
      },
    ),
  );
});

test('a byte order mark and U+FFFD itself survive', () => {
  const bytes = Buffer.from('\ufeffa\ufffd');
  const result = new ExecResult(outcome({ stdout: bytes }));
  expect(result.stdout).toBe('\ufeffa\ufffd');
  expect(Buffer.from(result.stdoutBytes)).toEqual(bytes);
});

test('a failure becomes an error with its facts', () => {
  const failure = { code: 'ERR_TIMEOUT', message: 'too long', details: { timeoutMs: 5 } };
  const { error, exitCode } = new ExecResult(outcome({ exitCode: 124, failure, stdoutTruncated: true }));
  expect(exitCode).toBe(124);
  expect(error).toMatchObject({ code: 'ERR_TIMEOUT', message: 'too long', timeoutMs: 5 });
});

test('truncation is told for each descriptor', () => {
  const result = new ExecResult(outcome({ stderrTruncated: true, stdoutTruncated: false }));
  expect(result.stderrTruncated).toBe(true);
  expect('stdoutTruncated' in result).toBe(false);
});

test('a value is parsed; no value is no field', () => {
  expect(new RunResult(outcome({ value: '{"a":[1,null]}' })).value).toEqual({ a: [1, null] });
  expect('value' in new RunResult(outcome({}))).toBe(false);
});
