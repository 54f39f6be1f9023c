// Watches files of a runtime. One request at a time waits for the next changes. The sidecar keeps
// unread changes, up to a bound, so that this process keeps no list that grows.

import type { Requester } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import type { WatchOptions } from '../options/files.js';
import { assertSameLength } from '../protocol/check.js';
import type { FileHandle, RuntimeId } from '../protocol/generated/messages.js';

/** A change of a watched file. */
export interface FileChange {
  /**
   * `rename`: a name was added, removed or moved. `change`: content or attributes changed.
   * `overflow`: more changes happened than the sidecar keeps, and some were lost; `path` is the
   * watched path.
   */
  type: 'rename' | 'change' | 'overflow';
  /** The absolute guest path. */
  path: string;
}

/** Iterates over changes in order, until `return()`, the signal, or the end of the runtime. */
export class Watch implements AsyncIterableIterator<FileChange> {
  readonly #sidecar: Requester;
  readonly #runtime: RuntimeId;
  readonly #path: string;
  readonly #opening: Promise<FileHandle>;
  readonly #received: FileChange[] = [];
  readonly #signal: AbortSignal | undefined;
  #pending: Promise<void> | undefined;
  #open = false;
  #ended = false;

  /**
   * Starts the watch without waiting for `next()`. `ready` rejects if an argument of the call is
   * wrong.
   */
  constructor(
    sidecar: Requester,
    runtime: RuntimeId,
    path: string,
    { recursive, signal }: WatchOptions,
    ready: Promise<void> | undefined,
  ) {
    this.#sidecar = sidecar;
    this.#runtime = runtime;
    this.#path = path;
    this.#signal = signal;
    const open = () => sidecar.request('file.watch', { runtime, path, recursive });
    // Without `ready`, the request is sent in this turn. The sidecar then opens the watch before it
    // handles later requests of the caller.
    this.#opening = ready === undefined ? open() : ready.then(open);
    // `next()` reports a failed opening. If the app never calls `next()`, the rejection needs no
    // other handler.
    this.#opening.then(
      () => {
        this.#open = true;
      },
      () => {},
    );
    signal?.addEventListener('abort', this.#end, { once: true });
    if (signal?.aborted) this.#end();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<FileChange, undefined>> {
    for (;;) {
      if (this.#signal?.aborted) throw this.#signal.reason;
      const change = this.#ended ? undefined : this.#received.shift();
      if (change !== undefined) return { done: false, value: change };
      if (this.#ended) return { done: true, value: undefined };
      this.#pending ??= this.#receive().finally(() => {
        this.#pending = undefined;
      });
      await this.#pending;
    }
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#end();
    return { done: true, value: undefined };
  }

  async #receive(): Promise<void> {
    try {
      const { handle, directory } = await this.#opening;
      if (this.#ended) return;
      // The reply's `ended` contains no reason. The next request fails with the reason.
      const { names, types, overflow } = await this.#sidecar.request('file.changes', { runtime: this.#runtime, handle });
      assertSameLength(names, types);
      const below = directory ? `${this.#path.replace(/\/+$/, '')}/` : '';
      names.forEach((name, index) => {
        const path = name === '' ? this.#path : below + name;
        this.#received.push({ type: types[index] as 'rename' | 'change', path });
      });
      if (overflow) this.#received.push({ type: 'overflow', path: this.#path });
    } catch (error) {
      const ended = this.#ended;
      await this.#end();
      // The disposal of the runtime or the sidecar ends an open watch without an error.
      const isEnd = ended || (this.#open && isColdframeError(error, 'ERR_RUNTIME_DISPOSED', 'ERR_SIDECAR_DISPOSED'));
      if (!isEnd) throw error;
    }
  }

  readonly #end = async (): Promise<void> => {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal?.removeEventListener('abort', this.#end);
    try {
      const { handle } = await this.#opening;
      await this.#sidecar.request('file.close', { runtime: this.#runtime, handle });
    } catch {
      // The watch never opened, or its runtime has ended.
    }
  };
}
