// Watching files of a runtime: one request at a time that waits for what happens next, so that the sidecar keeps what nobody has asked for,
// up to a bound, and nothing piles up here.

import type { OpenedFiles } from '../channel/opened.js';
import { isColdframeError } from '../errors/error.js';

/** What has happened to a watched file. */
export interface FileChange {
  /**
   * `rename`: the name came, went or moved. `change`: what it names has other bytes or attributes. `overflow`: more happened than was
   * kept, and is lost; `path` is what is watched.
   */
  type: 'rename' | 'change' | 'overflow';
  /** The absolute guest path. */
  path: string;
}

/** Options of `runtime.watch()`. */
export interface WatchOptions {
  /** Whether everything below a directory is watched too; not in a folder of this machine unless it is an overlay. @default false */
  recursive?: boolean;
  /** Ends the watch when it aborts; the iteration then throws the signal's reason. */
  signal?: AbortSignal;
}

/** Changes in their order, until `return()`, the signal, or the end of the runtime. */
export class Watch implements AsyncIterableIterator<FileChange> {
  readonly #files: OpenedFiles;
  readonly #runtime: number;
  readonly #path: string;
  readonly #opening: Promise<{ handle: number; directory: boolean }>;
  readonly #known: FileChange[] = [];
  readonly #signal: AbortSignal | undefined;
  #asking: Promise<void> | undefined;
  #open = false;
  #ended = false;

  /** The watch begins at once; `ready` rejects when the options are wrong. */
  constructor(
    files: OpenedFiles,
    runtime: number,
    path: string,
    { recursive, signal }: WatchOptions,
    ready: Promise<void> | undefined,
  ) {
    this.#files = files;
    this.#runtime = runtime;
    this.#path = path;
    this.#signal = signal;
    const open = () => files.watch({ runtime, path, recursive });
    // Sent at once if possible: what the caller asks for next happens after it.
    this.#opening = ready === undefined ? open() : ready.then(open);
    // Who iterates hears of it; who does not need not.
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
      const change = this.#ended ? undefined : this.#known.shift();
      if (change !== undefined) return { done: false, value: change };
      if (this.#ended) return { done: true, value: undefined };
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined;
      });
      await this.#asking;
    }
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#end();
    return { done: true, value: undefined };
  }

  async #ask(): Promise<void> {
    try {
      const { handle, directory } = await this.#opening;
      if (this.#ended) return;
      // `ended` says no reason: asked once more, the sidecar gives the one for which it closed the watch.
      const { names, types, overflow } = await this.#files.changes({ runtime: this.#runtime, handle });
      const below = directory ? `${this.#path.replace(/\/+$/, '')}/` : '';
      names.forEach((name, index) => {
        const path = name === '' ? this.#path : below + name;
        this.#known.push({ type: types[index] as 'rename' | 'change', path });
      });
      if (overflow) this.#known.push({ type: 'overflow', path: this.#path });
    } catch (error) {
      const ended = this.#ended;
      await this.#end();
      // It had begun: its runtime is gone, and it ends with it.
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
      await this.#files.close({ runtime: this.#runtime, handle });
    } catch {
      // It had not begun, or its runtime is gone: there is nothing left to end.
    }
  };
}
