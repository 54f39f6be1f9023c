// Who listens in a runtime, and the wait for somebody who does not yet: answered by the guest's own call to listen, not by looking again and again.

import type { NetworkTarget, WireListener } from '../channel/messages.js';
import type { NetworkLink } from '../channel/network-link.js';
import { listenerTimeout } from '../errors/make.js';
import type { ListenerQuery } from '../options/network.js';

/** Somebody who listens in a runtime. */
export interface GuestListener {
  /** The process that began to listen. */
  readonly processId: number;
  /** The address that it is bound to, such as `127.0.0.1` or `::`. */
  readonly host?: string;
  /** Its TCP port. */
  readonly port?: number;
  /** The path of its Unix socket. */
  readonly path?: string;
}

/** As the caller sees it. */
export function listenerOf({ pid, host, port, path }: WireListener): GuestListener {
  return {
    processId: pid,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(path === undefined ? {} : { path }),
  };
}

/** How a wait may end early. */
export interface WaitEnds {
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** Has `end` called when the runtime is disposed; gives what takes that back. */
  onDispose(end: (error: Error) => void): () => void;
}

/** Waits for who is asked for. */
export function waitFor(link: NetworkLink, target: NetworkTarget, query: ListenerQuery, ends: WaitEnds): Promise<GuestListener> {
  const { timeoutMs, signal, onDispose } = ends;
  return new Promise((resolve, reject) => {
    const wait = link.wait(target);
    const fail = (error: unknown): void => {
      finish();
      wait.cancel();
      reject(error);
    };
    const timer = setTimeout(() => fail(listenerTimeout({ timeoutMs, ...query })), timeoutMs);
    const abort = (): void => fail(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const forget = onDispose(fail);
    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      forget();
    }
    wait.answer.then(
      (listener) => {
        finish();
        resolve(listenerOf(listener));
      },
      (error) => {
        finish();
        reject(error);
      },
    );
  });
}
