// Reports the ends of the programs that the app started, so that a wait for a listener can end with
// the program. Next: `network/listeners.ts`.

import type { Outcome } from '../channel/outcome.js';
import type { FailureCode } from '../errors/codes.js';
import { fromWire } from '../errors/make.js';
import type { PidRegistry } from './pid-registry.js';
import { signalName } from './signals.js';

/** The largest number of bytes of stderr that an end has. */
const TAIL_BYTES = 4_096;

/** Failures after which the runtime itself ends its waits. */
const RUNTIME_ENDS: ReadonlySet<string> = new Set<FailureCode>(['ERR_ROLLED_BACK', 'ERR_RUNTIME_DISPOSED']);

/** The end of a program. */
export interface ProgramEnd {
  exitCode: number;
  /** The last lines of stderr. */
  stderr: string;
  pid?: number;
  /** The signal that ended the program. */
  signal?: string;
  /** The error if the sandbox ended the program. */
  failure?: Error & { code: string };
}

/** Returns the end of a program with this outcome. */
export function endOf({ exitCode, signal: number, stderr, failure }: Outcome, pid?: number): ProgramEnd {
  const signal = failure === undefined && number !== undefined ? signalName(number) : undefined;
  return {
    exitCode,
    stderr: tailOf(stderr),
    ...(pid === undefined ? {} : { pid }),
    ...(signal === undefined ? {} : { signal }),
    ...(failure && { failure: fromWire(failure.code, failure.message, failure.details) }),
  };
}

/** The ends of one runtime's programs. */
export class ProgramEnds {
  readonly #pids: PidRegistry;
  readonly #listeners = new Set<(end: ProgramEnd) => void>();
  #starts = 0;
  #failures = 0;
  #latest: { end: ProgramEnd; generation: number } | undefined;

  constructor(pids: PidRegistry) {
    this.#pids = pids;
  }

  /** The number of programs that the app has started. */
  get starts(): number {
    return this.#starts;
  }

  /** The number of programs that have failed. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Returns the latest failure, unless the app has started a program or rolled the runtime back
   * since. A program without a handle counts only if it failed after the first `failures` failures,
   * because its caller has the result.
   */
  latestFailure(failures: number): ProgramEnd | undefined {
    if (this.#latest?.generation !== this.#pids.generation) return undefined;
    const { end } = this.#latest;
    return end.pid !== undefined || this.#failures > failures ? end : undefined;
  }

  /** Counts a program that the app starts. */
  started(): void {
    this.#starts++;
    this.#latest = undefined;
  }

  /** Notifies the listeners if the program failed. `pid` is missing for a call without a handle. */
  ended(outcome: Outcome, pid?: number): void {
    if (outcome.exitCode === 0 || RUNTIME_ENDS.has(outcome.failure?.code ?? '')) return;
    const end = endOf(outcome, pid);
    this.#failures++;
    this.#latest = { end, generation: this.#pids.generation };
    for (const listener of this.#listeners) listener(end);
  }

  /** Calls `listener` for every later failure. Returns a function that unsubscribes. */
  onFailure(listener: (end: ProgramEnd) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

// Returns the last lines of the output. Cuts longer output at the begin of a line, if possible.
function tailOf(output: Uint8Array | string): string {
  const bytes = typeof output === 'string' ? Buffer.from(output) : output;
  const tail = new TextDecoder().decode(bytes.subarray(-TAIL_BYTES)).trimEnd();
  return bytes.length <= TAIL_BYTES ? tail : tail.slice(tail.indexOf('\n') + 1);
}
