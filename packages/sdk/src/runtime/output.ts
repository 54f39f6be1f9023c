// Streamed output of one program on its way to the caller's handlers.
//
// Handlers are called in order, one at a time; while one has a promise out, chunks wait here, and since credit is only given for what a
// handler is done with, no more than the protocol's window can ever wait: a sidecar that sends more is not to be trusted. A plain handler costs no promise. Credit goes back in
// quarters of the window: often enough that a program is never stopped by credit that is merely held back, seldom enough to be cheap.

import { STREAM_WINDOW_BYTES } from '../channel/messages.js';
import { protocolError } from '../errors/make.js';
import type { OutputHandler } from '../options/types.js';

const CREDIT_STEP_BYTES = STREAM_WINDOW_BYTES / 4;

/** What to do with output. */
export interface OutputSink {
  onStdout: OutputHandler | undefined;
  onStderr: OutputHandler | undefined;
  /** Gives credit for so many bytes. */
  credit(bytes: number): void;
  /** A handler has failed; called once, and no handler is called afterwards. */
  fail(error: unknown): void;
}

/** Delivers output to handlers. */
export class OutputReader {
  readonly #sink: OutputSink;
  readonly #queue: { fd: 1 | 2; data: Uint8Array }[] = [];
  #working: Promise<void> | undefined;
  #queuedBytes = 0;
  #uncredited = 0;
  #stopped = false;

  constructor(sink: OutputSink) {
    this.#sink = sink;
  }

  /** Takes one chunk, for good. Never throws. */
  readonly push = (fd: 1 | 2, data: Uint8Array): void => {
    if (this.#stopped) return;
    if (this.#working !== undefined) {
      this.#queuedBytes += data.length;
      if (this.#queuedBytes > STREAM_WINDOW_BYTES) this.#fail(protocolError('more output than it has credit for'));
      else this.#queue.push({ fd, data });
      return;
    }
    const pending = this.#deliver(fd, data);
    if (pending !== undefined) this.#working = this.#drain(pending, data.length);
  };

  /** Resolves when every chunk so far has been handled. */
  async drained(): Promise<void> {
    await this.#working;
  }

  /** Calls no handler any more. */
  stop(): void {
    this.#stopped = true;
    this.#queue.length = 0;
  }

  // Calls the handler. A promise, if it returned one; otherwise the chunk is done with.
  #deliver(fd: 1 | 2, data: Uint8Array): PromiseLike<unknown> | undefined {
    const handler = fd === 1 ? this.#sink.onStdout : this.#sink.onStderr;
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
    this.#sink.credit(this.#uncredited);
    this.#uncredited = 0;
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#sink.fail(error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
