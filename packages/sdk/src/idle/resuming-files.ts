// Open files, archives and watches of a runtime with an idle policy. Each is a use of the runtime
// until it is closed, or until a pause or a rollback has ended the state that it was opened in.

import type { OpenedFiles } from '../channel/opened.js';
import type { IdlePolicy } from './policy.js';

interface OpenFile {
  /** Missing until the sidecar has replied. */
  handle?: number;
  done(): void;
}

/** The open files of one runtime. */
export class ResumingFiles {
  /** The calls for open files, which resume the runtime. */
  readonly opened: OpenedFiles;
  readonly #open = new Set<OpenFile>();

  constructor(opened: OpenedFiles, policy: IdlePolicy) {
    const during = <T>(work: () => Promise<T>): Promise<T> => Promise.resolve(policy.during(work)) as Promise<T>;
    // In use from the request, so that a state that ends before the reply releases the file too.
    const open = async <T extends { handle: number }>(work: () => Promise<T>): Promise<T> => {
      const file: OpenFile = { done: policy.use() };
      this.#open.add(file);
      try {
        const reply = await work();
        file.handle = reply.handle;
        return reply;
      } catch (error) {
        this.#release(file);
        throw error;
      }
    };
    this.opened = {
      open: (request) => during(() => open(() => opened.open(request))),
      watch: (request) => during(() => open(() => opened.watch(request))),
      close: (request) =>
        during(() => {
          for (const file of this.#open) if (file.handle === request.handle) this.#release(file);
          return opened.close(request);
        }),
      pull: (request) => during(() => opened.pull(request)),
      push: (request) => during(() => opened.push(request)),
      changes: (request) => during(() => opened.changes(request)),
      set: (request) => during(() => opened.set(request)),
      link: (request) => during(() => opened.link(request)),
      readlink: (request) => during(() => opened.readlink(request)),
    };
  }

  /** Returns a function that releases the files that are open now, when their state has ended. */
  releaseOpenSoFar(): () => void {
    const files = [...this.#open];
    return () => {
      for (const file of files) this.#release(file);
    };
  }

  #release(file: OpenFile): void {
    this.#open.delete(file);
    file.done();
  }
}
