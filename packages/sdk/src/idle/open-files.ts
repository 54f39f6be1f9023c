// Records the open files, archives and watches of a runtime with an idle policy. Each of these
// handles counts as use of the runtime until the handle is closed. A pause or a rollback closes all
// handles, because they belong to the runtime's previous state.

import type { FileClose, FileHandle, HandleId } from '../protocol/generated/messages.js';
import type { Requests } from '../protocol/generated/tables.js';
import type { IdlePolicy } from './policy.js';

interface OpenFile {
  /** The handle. Missing until the sidecar has replied to the request that opens the file. */
  handle?: HandleId;
  done(): void;
}

/** The open files of one runtime. */
export class OpenFiles {
  readonly #policy: IdlePolicy;
  readonly #open = new Set<OpenFile>();

  constructor(policy: IdlePolicy) {
    this.#policy = policy;
  }

  /** Sends a request. If the request opens or closes a file, updates the open files. */
  follow<N extends keyof Requests>(
    name: N,
    body: Requests[N]['body'],
    send: () => Promise<Requests[N]['reply']>,
  ): Promise<Requests[N]['reply']> {
    if (name === 'file.open' || name === 'file.watch') return this.#opening(send as () => Promise<FileHandle>) as never;
    if (name === 'file.close') {
      const { handle } = body as FileClose;
      for (const file of this.#open) if (file.handle === handle) this.#release(file);
    }
    return send();
  }

  /**
   * Returns a function that releases the files that are open now. The caller calls the function
   * when the state of these files has ended.
   */
  releaseOpenSoFar(): () => void {
    const files = [...this.#open];
    return () => {
      for (const file of files) this.#release(file);
    };
  }

  // The use begins with the request, so that a pause or a rollback before the reply releases the
  // file too.
  async #opening(send: () => Promise<FileHandle>): Promise<FileHandle> {
    const file: OpenFile = { done: this.#policy.use() };
    this.#open.add(file);
    try {
      const reply = await send();
      file.handle = reply.handle;
      return reply;
    } catch (error) {
      this.#release(file);
      throw error;
    }
  }

  #release(file: OpenFile): void {
    this.#open.delete(file);
    file.done();
  }
}
