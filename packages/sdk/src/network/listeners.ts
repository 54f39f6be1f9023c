// Listeners in a runtime, and the wait for a listener. The sidecar replies when a guest calls
// listen, so that this process sends only one request.

import type { NetworkLink } from '../channel/network-link.js';
import { listenerTimeout } from '../errors/make.js';
import type { ListenerQuery } from '../options/network.js';
import type { Listener, NetworkTarget } from '../protocol/generated/messages.js';
import type { WaitEnd } from './program-exit.js';

/** A listener in a runtime. */
export interface GuestListener {
  /** The pid of the guest process that called listen. */
  readonly processId: number;
  /** The bound address, such as `127.0.0.1` or `::`. */
  readonly host?: string;
  /** The TCP port. */
  readonly port?: number;
  /** The path of the Unix socket. */
  readonly path?: string;
}

/** Converts the sidecar's message about a listener. Omits missing fields. */
export function listenerOf({ pid, host, port, path }: Listener): GuestListener {
  return {
    processId: pid,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(path === undefined ? {} : { path }),
  };
}

/** The events, other than a listener, that end a wait. */
export interface WaitEnds {
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /**
   * Registers a function that is called when the runtime is disposed, paused or rolled back.
   * Returns a function that removes the registration.
   */
  onEnd(end: (error: Error) => void): () => void;
  /** Registers a function that is called when no program is left that could listen. */
  onExit: WaitEnd;
}

/**
 * Waits for a listener at `target`. Rejects after `timeoutMs`, after an abort, when no program is
 * left that could listen, and when the runtime is disposed, paused or rolled back.
 */
export function waitFor(link: NetworkLink, target: NetworkTarget, query: ListenerQuery, ends: WaitEnds): Promise<GuestListener> {
  const { timeoutMs, signal, onEnd, onExit } = ends;
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
    const unregister = onEnd(fail);
    const removeExit = onExit(fail);
    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      unregister();
      removeExit();
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
