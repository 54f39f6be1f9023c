// Open files, archives and watches of a runtime with an idle policy. Each is a use of the runtime
// until it is closed. A pause or a rollback ends the state of the runtime, and with it all open
// files.

import type { FileClose, FileHandle, HandleId } from '../protocol/generated/messages.js';
import type { Requests } from '../protocol/generated/tables.js';
import type { IdlePolicy } from './policy.js';

interface OpenFile {
  /** Missing until the sidecar has replied. */
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

  /** Sends a request, and follows it if it opens or closes a file. */
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

  /** Returns a function that releases the files that are open now, when their state has ended. */
  releaseOpenSoFar(): () => void {
    const files = [...this.#open];
    return () => {
      for (const file of files) this.#release(file);
    };
  }

  // The file is in use from the request, so that a state that ends before the reply releases it
  // too.
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
