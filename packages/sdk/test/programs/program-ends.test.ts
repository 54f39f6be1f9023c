// Tests the record of failed programs, with which a wait for a listener ends.

import { expect, test, vi } from 'vitest';
import type { Outcome } from '../../src/channel/outcome.js';
import { PidRegistry } from '../../src/programs/pid-registry.js';
import { endOf, ProgramEnds } from '../../src/programs/program-ends.js';

const timings = { memoryMapNs: 0, instantiateNs: 0, guestStartNs: 0, guestRunNs: 0 };
const outcome = (given: Partial<Outcome>): Outcome => ({ exitCode: 1, stdout: '', stderr: '', timings, ...given });
const failureOf = (code: string) => ({ code, message: 'over', details: {} });

test('an end has the last lines of stderr', () => {
  const lines = Array.from({ length: 1_000 }, (_, n) => `line ${n} ö`);
  for (const text of [`${lines.join('\n')}\n\n`, lines.join('\n')]) {
    const fromBytes = endOf(outcome({ stderr: Buffer.from(text) }));
    expect(fromBytes.stderr.split('\n')).toEqual(lines.slice(-fromBytes.stderr.split('\n').length));
    expect(Buffer.byteLength(fromBytes.stderr)).toBeGreaterThan(4_000);
    expect(Buffer.byteLength(fromBytes.stderr)).toBeLessThanOrEqual(4_096);
    expect(endOf(outcome({ stderr: text }))).toEqual(fromBytes);
  }
  expect(endOf(outcome({ stderr: 'x'.repeat(5_000) })).stderr).toBe('x'.repeat(4_096));
  expect(endOf(outcome({ stderr: `${'x'.repeat(5_000)}\n` })).stderr).toBe('x'.repeat(4_095));
  expect(endOf(outcome({ stderr: '' })).stderr).toBe('');
});

test.each([
  [undefined, undefined],
  [9, 'SIGKILL'],
  [15, 'SIGTERM'],
])('an end by the signal %s has the name %s', (signal, name) => {
  expect(endOf(outcome({ exitCode: 137, signal }), 7)).toEqual({
    exitCode: 137,
    stderr: '',
    pid: 7,
    ...(name && { signal: name }),
  });
});

test('an end has the failure and no signal if the sandbox ended the program', () => {
  const end = endOf(outcome({ exitCode: 137, signal: 9, failure: failureOf('ERR_CANCELED') }));
  expect(end).toEqual({ exitCode: 137, stderr: '', failure: expect.objectContaining({ code: 'ERR_CANCELED' }) });
});

test('listeners receive failures until they unsubscribe', () => {
  const ends = new ProgramEnds(new PidRegistry());
  const listener = vi.fn();
  const stop = ends.onFailure(listener);
  ends.ended(outcome({ exitCode: 0 }), 7);
  ends.ended(outcome({ failure: failureOf('ERR_ROLLED_BACK') }), 7);
  ends.ended(outcome({ failure: failureOf('ERR_RUNTIME_DISPOSED') }), 7);
  expect(listener).not.toHaveBeenCalled();
  ends.ended(outcome({}), 7);
  ends.ended(outcome({ exitCode: 2 }));
  stop();
  ends.ended(outcome({ exitCode: 3 }));
  expect(listener.mock.calls.map(([{ exitCode, pid }]) => [exitCode, pid])).toEqual([
    [1, 7],
    [2, undefined],
  ]);
});

test('the latest failure lasts until the next start or rollback', () => {
  const pids = new PidRegistry();
  const ends = new ProgramEnds(pids);
  const latest = (): number | undefined => ends.latestFailure(ends.failures)?.exitCode;
  expect(latest()).toBeUndefined();
  ends.ended(outcome({ exitCode: 4 }), 7);
  expect(latest()).toBe(4);
  pids.rolledBack([]);
  expect(latest()).toBeUndefined();
  ends.ended(outcome({ exitCode: 5 }), 7);
  expect([latest(), ends.starts]).toEqual([5, 0]);
  ends.started();
  expect([latest(), ends.starts]).toEqual([undefined, 1]);
});

test('a failure without a handle counts only for waits that began before the failure', () => {
  const ends = new ProgramEnds(new PidRegistry());
  const before = ends.failures;
  ends.ended(outcome({ exitCode: 6 }));
  expect(ends.latestFailure(before)?.exitCode).toBe(6);
  expect(ends.latestFailure(ends.failures)).toBeUndefined();
});
