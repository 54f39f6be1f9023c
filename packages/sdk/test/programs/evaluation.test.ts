// Tests the evaluation of programs: the events that end a call early, and the wait for the end.

import { expect, test, vi } from 'vitest';
import type { OutputListener } from '../../src/channel/channel.js';
import type { Outcome } from '../../src/channel/outcome.js';
import type { SidecarConnection } from '../../src/channel/sidecar-connection.js';
import { type Deferred, deferred } from '../../src/deferred.js';
import type { EvaluationOptions } from '../../src/options/programs.js';
import { evaluate } from '../../src/programs/evaluation.js';
import type { Stream } from '../../src/protocol/generated/messages.js';

const OUTCOME = { exitCode: 0 } as Outcome;

function open(options: EvaluationOptions) {
  const cancel = vi.fn();
  const connection = { nextId: () => 5, cancel, credit: vi.fn() } as unknown as SidecarConnection;
  const started: { streams: Stream | undefined; onOutput: OutputListener | undefined; outcome: Deferred<Outcome> }[] = [];
  const result = (async () =>
    evaluate(connection, options, (_id, streams, onOutput) => {
      const outcome = deferred<Outcome>();
      started.push({ streams, onOutput, outcome });
      return outcome.promise;
    }))();
  return { cancel, started, result };
}

test('starts no program for a signal that has aborted', async () => {
  const { started, result } = open({ signal: AbortSignal.abort('stop') });
  await expect(result).rejects.toBe('stop');
  expect(started).toEqual([]);
});

test('rejects with the reason of an aborted signal and cancels the program', async () => {
  const controller = new AbortController();
  const { started, result, cancel } = open({ signal: controller.signal });
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(result).rejects.toBe(reason);
  expect(cancel.mock.calls).toEqual([[5]]);
  started[0]?.outcome.reject(new Error('a late failure'));
});

test('removes its listener from the signal when the program ends', async () => {
  const controller = new AbortController();
  const remove = vi.spyOn(controller.signal, 'removeEventListener');
  const { started, result, cancel } = open({ signal: controller.signal });
  started[0]?.outcome.resolve(OUTCOME);
  expect(await result).toBe(OUTCOME);
  expect(remove).toHaveBeenCalledOnce();
  controller.abort();
  expect(cancel).not.toHaveBeenCalled();
});

test('streams only descriptors with a handler', () => {
  expect(open({ onStderr: () => {} }).started[0]?.streams).toEqual({ stdout: false, stderr: true });
  expect(open({ timeout: 5 }).started[0]).toMatchObject({ streams: undefined, onOutput: undefined });
});

test('resolves after the last handler has finished', async () => {
  const gate = deferred<void>();
  const { started, result } = open({ onStdout: () => gate.promise });
  started[0]?.onOutput?.(1, Buffer.from('a'));
  started[0]?.outcome.resolve(OUTCOME);
  const winner = await Promise.race([result, new Promise((resolve) => setImmediate(resolve, 'still waiting'))]);
  expect(winner).toBe('still waiting');
  gate.resolve();
  expect(await result).toBe(OUTCOME);
});

test('rejects with the error of a handler and cancels the program', async () => {
  const thrown = { not: 'an Error' };
  const { started, result, cancel } = open({
    onStdout: () => {
      throw thrown;
    },
  });
  started[0]?.onOutput?.(1, Buffer.from('a'));
  await expect(result).rejects.toBe(thrown);
  expect(cancel.mock.calls).toEqual([[5]]);
});
