// One program or snippet under way, with what the caller may have attached to it: an abort signal and output handlers.
//
// Whatever ends the call early (the signal, a handler that throws) is answered to the caller at once, and the program is canceled
// behind it; its outcome, which still comes, is then nobody's.

import type { OutputListener } from '../channel/channel.js';
import type { Streams } from '../channel/messages.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { deferred } from '../deferred.js';
import type { EvaluationOptions } from '../options/types.js';
import { OutputReader } from './output.js';

/** Begins the program: `start` or `evaluate` of a connection. */
export type Begin = (
  id: number,
  streams: Streams | undefined,
  onOutput: OutputListener | undefined,
) => Outcome | Promise<Outcome>;

/** Begins and sees it through. Rejects with the signal's reason, what a handler threw, or the connection's error. */
export function evaluate(connection: SidecarConnection, options: EvaluationOptions, begin: Begin): Outcome | Promise<Outcome> {
  const { signal, onStdout, onStderr } = options;
  signal?.throwIfAborted();
  const id = connection.nextId();
  const streaming = onStdout !== undefined || onStderr !== undefined;
  if (!streaming && signal === undefined) return begin(id, undefined, undefined);
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
  const whole = async (): Promise<Outcome> => {
    const outcome = await begin(id, streams, streaming ? reader.push : undefined);
    await reader.drained();
    return outcome;
  };
  return Promise.race([early.promise, whole()]).finally(() => signal?.removeEventListener('abort', onAbort));
}
