// The handle of a running program with the synchronous methods of secure-exec. The methods send
// their requests in the order of the calls.

import { notSupported } from '../errors/make.js';
import type { GuestProcess } from '../index.js';
import type { NodeRuntimeProcess } from './types.js';

// Callers of secure-exec ignore the results of these methods. A failure that no caller reads must
// not be an unhandled rejection.
function mayBeIgnored<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** A program that is starting or running. */
export class StartingProcess implements NodeRuntimeProcess {
  readonly #starting: Promise<GuestProcess>;
  #process: GuestProcess | undefined;

  constructor(starting: Promise<GuestProcess>) {
    this.#starting = mayBeIgnored(
      starting.then((process) => {
        this.#process = process;
        // Reading the result discards output that no handler receives, so that the program never
        // waits for a reader.
        mayBeIgnored(process.result);
        return process;
      }),
    );
  }

  /** Resolves with this handle when the program has started. */
  async started(): Promise<this> {
    await this.#starting;
    return this;
  }

  get pid(): number {
    if (this.#process !== undefined) return this.#process.pid;
    throw notSupported('`pid` of a program that is starting', 'await `wait()`, or start the program with `spawn()`');
  }

  get exitCode(): number | null {
    return this.#process?.exitCode ?? null;
  }

  writeStdin(data: string | Uint8Array): Promise<void> {
    return mayBeIgnored(this.#starting.then((process) => process.writeStdin(data)));
  }

  closeStdin(): Promise<void> {
    return mayBeIgnored(this.#starting.then((process) => process.closeStdin()));
  }

  kill(signal?: NodeJS.Signals | number): Promise<void> {
    return mayBeIgnored(this.#starting.then(async (process) => void (await process.kill(signal))));
  }

  async wait(): Promise<number> {
    return (await this.#starting).wait();
  }
}
