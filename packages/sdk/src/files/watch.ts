// Watches files of a runtime. One request at a time waits for the next changes. The sidecar keeps
// unread changes, up to a bound, so that this process keeps no list that grows.

import type { Requester } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import type { WatchOptions } from '../options/files.js';
import { assertSameLength } from '../protocol/check.js';
import type { ChangeList, FileHandle, RuntimeId } from '../protocol/generated/messages.js';

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

/** A typed change of a watched file. */
export interface FileEvent {
  /**
   * `create`: a name was added, or a file was moved into the watched directory. `write`: the
   * content changed. `remove`: a name was removed. `rename`: a file was moved from `path`. `chmod`:
   * mode, owner, times, links or user attributes changed. `overflow`: as in `FileChange`.
   */
  type: 'create' | 'write' | 'remove' | 'rename' | 'chmod' | 'overflow';
  /** The absolute guest path. */
  path: string;
  /** The new path of a `rename`, absent outside the watched directory. */
  to?: string;
}

/** An iterator over the changes of a file or a directory. */
export interface FileWatch<T> extends AsyncIterableIterator<T> {
  /**
   * Resolves when the watch has started. Rejects as the first `next()` if the watch cannot start.
   */
  readonly ready: Promise<void>;
  /**
   * Returns all changes that happened before this call and that the iteration has not returned. In
   * a mounted folder, these are the changes that the host machine has reported.
   */
  drain(): Promise<T[]>;
}

/** Iterates over changes in order, until `return()`, the signal, or the end of the runtime. */
export class Watch<T extends FileChange | FileEvent> implements FileWatch<T> {
  readonly ready: Promise<void>;
  readonly #sidecar: Requester;
  readonly #runtime: RuntimeId;
  readonly #path: string;
  readonly #opening: Promise<FileHandle>;
  readonly #received: T[] = [];
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
    { recursive, typed, signal }: WatchOptions,
    ready: Promise<void> | undefined,
  ) {
    this.#sidecar = sidecar;
    this.#runtime = runtime;
    this.#path = path;
    this.#signal = signal;
    const open = () => sidecar.request('file.watch', { runtime, path, recursive, typed });
    // Without `ready`, the request is sent in this turn. The sidecar then opens the watch before it
    // handles later requests of the caller.
    this.#opening = ready === undefined ? open() : ready.then(open);
    this.ready = this.#opening.then(() => {
      this.#open = true;
    });
    // `next()` reports a failed opening. If the app never calls `next()`, the rejection needs no
    // other handler.
    this.ready.catch(() => {});
    signal?.addEventListener('abort', this.#end, { once: true });
    if (signal?.aborted) this.#end();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
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

  async drain(): Promise<T[]> {
    if (this.#signal?.aborted) throw this.#signal.reason;
    await this.#attempt('file.drain');
    return this.#ended ? [] : this.#received.splice(0);
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#end();
    return { done: true, value: undefined };
  }

  readonly #receive = (): Promise<void> => this.#attempt('file.changes');

  // Adds the changes of a reply to the received changes. Replies arrive in the order in which the
  // changes happened, because the sidecar sends the reply of a waiting request with the change.
  async #attempt(request: 'file.changes' | 'file.drain'): Promise<void> {
    try {
      const { handle, directory } = await this.#opening;
      if (this.#ended) return;
      // The reply's `ended` contains no reason. The next request fails with the reason.
      this.#take(await this.#sidecar.request(request, { runtime: this.#runtime, handle }), directory);
    } catch (error) {
      const ended = this.#ended;
      await this.#end();
      // The disposal of the runtime or the sidecar ends an open watch without an error.
      const isEnd = ended || (this.#open && isColdframeError(error, 'ERR_RUNTIME_DISPOSED', 'ERR_SIDECAR_DISPOSED'));
      if (!isEnd) throw error;
    }
  }

  #take({ names, types, targets, overflow }: ChangeList, directory: boolean): void {
    assertSameLength(names, types, targets ?? names);
    const below = directory ? `${this.#path.replace(/\/+$/, '')}/` : '';
    names.forEach((name, index) => {
      const change = { type: types[index], path: name === '' ? this.#path : below + name } as T;
      const target = targets?.[index];
      if (target) (change as FileEvent).to = below + target;
      this.#received.push(change);
    });
    if (overflow) this.#received.push({ type: 'overflow', path: this.#path } as T);
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
