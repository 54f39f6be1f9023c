// One running program or snippet, with the abort signal and the output handlers of its caller.
//
// If the signal or a failing handler ends the call early, the caller gets the reason immediately.
// The program is cancelled without waiting, and its later outcome is dropped.

import type { OutputListener } from '../channel/channel.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { deferred } from '../deferred.js';
import type { EvaluationOptions } from '../options/programs.js';
import type { RequestId, Stream } from '../protocol/generated/messages.js';
import { OutputReader } from './output-reader.js';

/**
 * Starts a program or a snippet, or attaches to a restored program: `start`, `evaluate` or `attach`
 * of a connection.
 */
export type Begin = (
  id: RequestId,
  streams: Stream | undefined,
  onOutput: OutputListener | undefined,
  allowEarlier: (bytes: number) => void,
) => Outcome | Promise<Outcome>;

/**
 * Calls `begin` and returns the outcome of the program or snippet. Rejects with the signal's
 * reason, the error of a handler, or the connection's error.
 */
export function evaluate(connection: SidecarConnection, options: EvaluationOptions, begin: Begin): Outcome | Promise<Outcome> {
  const { signal, onStdout, onStderr } = options;
  signal?.throwIfAborted();
  const id = connection.nextId();
  const streaming = onStdout !== undefined || onStderr !== undefined;
  if (!streaming && signal === undefined) return begin(id, undefined, undefined, () => {});
  const early = deferred<never>();
  const stop = (reason: unknown): void => {
    reader.stop();
    early.reject(reason);
    connection.cancel(id);
  };
  const reader = new OutputReader({ onStdout, onStderr, credit: (bytes) => connection.credit(id, bytes), fail: stop });
  const onAbort = (): void => stop(signal?.reason);
  const streams = streaming ? { stdout: onStdout !== undefined, stderr: onStderr !== undefined } : undefined;
  signal?.addEventListener('abort', onAbort, { once: true });
  const complete = async (): Promise<Outcome> => {
    const outcome = await begin(id, streams, streaming ? reader.push : undefined, reader.allowEarlier);
    await reader.drained();
    return outcome;
  };
  return Promise.race([early.promise, complete()]).finally(() => signal?.removeEventListener('abort', onAbort));
}
