// Delivers the streamed output of one program to the caller's handlers.
//
// Handlers are called in order, one at a time. While a handler's promise is pending, chunks wait in
// the reader. Credit is returned only for chunks that a handler has finished. So the chunks that
// wait fit into the protocol's window, and a sidecar that sends more violates the protocol. For a
// handler that returns no promise, the reader makes no promise. Credit is returned in quarters of
// the window. A program then does not block while credit is withheld, and few messages are sent.

import { protocolError } from '../errors/make.js';
import type { OutputHandler } from '../options/programs.js';
import { STREAM_WINDOW_BYTES } from '../protocol/generated/tables.js';

const CREDIT_STEP_BYTES = STREAM_WINDOW_BYTES / 4;

/** The receivers of output, credit and failures. */
export interface OutputTarget {
  onStdout: OutputHandler | undefined;
  onStderr: OutputHandler | undefined;
  /** Returns credit for `bytes` bytes of output. */
  credit(bytes: number): void;
  /**
   * Receives the error of a handler, or the error for more output than there is credit. Called at
   * most once; no handler is called afterwards.
   */
  fail(error: unknown): void;
}

/** Delivers output to handlers. */
export class OutputReader {
  readonly #target: OutputTarget;
  readonly #queue: { fd: 1 | 2; data: Uint8Array }[] = [];
  #working: Promise<void> | undefined;
  #queuedBytes = 0;
  #uncredited = 0;
  #mostQueued = STREAM_WINDOW_BYTES;
  #stopped = false;

  constructor(target: OutputTarget) {
    this.#target = target;
  }

  /** Allows `bytes` bytes beyond the window, which were captured before the reader existed. */
  readonly allowEarlier = (bytes: number): void => {
    this.#mostQueued = STREAM_WINDOW_BYTES + bytes;
  };

  /** Receives one chunk and keeps its bytes. Never throws. */
  readonly push = (fd: 1 | 2, data: Uint8Array): void => {
    if (this.#stopped) return;
    if (this.#working !== undefined) {
      this.#queuedBytes += data.length;
      if (this.#queuedBytes > this.#mostQueued) this.#fail(protocolError('more output than it has credit for'));
      else this.#queue.push({ fd, data });
      return;
    }
    const pending = this.#deliver(fd, data);
    if (pending !== undefined) this.#working = this.#drain(pending, data.length);
  };

  /** Resolves when every chunk received so far has been handled. */
  async drained(): Promise<void> {
    await this.#working;
  }

  /** Stops calling handlers. */
  stop(): void {
    this.#stopped = true;
    this.#queue.length = 0;
  }

  // Calls the handler. Returns its promise, or `undefined` if the chunk is finished.
  #deliver(fd: 1 | 2, data: Uint8Array): PromiseLike<unknown> | undefined {
    const handler = fd === 1 ? this.#target.onStdout : this.#target.onStderr;
    try {
      const returned = handler?.(data);
      if (isThenable(returned)) return returned;
      this.#done(data.length);
    } catch (error) {
      this.#fail(error);
    }
    return undefined;
  }

  async #drain(first: PromiseLike<unknown>, firstBytes: number): Promise<void> {
    let pending: PromiseLike<unknown> | undefined = first;
    let bytes = firstBytes;
    for (;;) {
      try {
        if (pending !== undefined) {
          await pending;
          this.#done(bytes);
        }
      } catch (error) {
        this.#fail(error);
      }
      const next = this.#queue.shift();
      if (next === undefined) break;
      bytes = next.data.length;
      this.#queuedBytes -= bytes;
      pending = this.#deliver(next.fd, next.data);
    }
    this.#working = undefined;
  }

  #done(bytes: number): void {
    this.#uncredited += bytes;
    if (this.#uncredited < CREDIT_STEP_BYTES || this.#stopped) return;
    this.#target.credit(this.#uncredited);
    this.#uncredited = 0;
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#target.fail(error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
