// The option `idle` of a runtime.

import { CALLBACK, oneOf, TIMEOUT_MS } from './rule.js';
import { type OptionTable, objectWith, required } from './table.js';

/** The policy for an unused runtime: pause or disposal. */
export interface IdleOptions {
  /**
   * Milliseconds without use until the action, 1 to 2,147,483,647. Pending calls, running programs
   * and open streams, watches and connections count as use.
   */
  afterMs: number;
  /**
   * `'pause'`: the runtime is paused on disk and its memory is freed. The next call resumes the
   * runtime and then runs. `'dispose'`: the runtime is disposed, and the next call fails with
   * `ERR_RUNTIME_DISPOSED`.
   */
  action: 'pause' | 'dispose';
  /**
   * Receives an error that no call can report: a failed pause or disposal, or a failed deletion of
   * an earlier pause's snapshot. After a failed pause the runtime stays running, and the next
   * attempt waits twice as long. An error that the handler throws is an uncaught exception.
   * @default a warning of the process
   */
  onError?: ((error: unknown) => void) | undefined;
}

const IDLE: OptionTable<IdleOptions> = {
  afterMs: required(TIMEOUT_MS),
  action: required(oneOf(['pause', 'dispose'], "'pause' or 'dispose'")),
  onError: CALLBACK,
};

/** Accepts an idle policy. */
export const IDLE_POLICY = objectWith(IDLE, "{ afterMs, action: 'pause' | 'dispose', onError? }");
