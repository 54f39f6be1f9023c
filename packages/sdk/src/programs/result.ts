// The result of a program.
//
// Output that arrives as bytes is nearly always used as text. So the output is decoded once, and
// the bytes are dropped. If the output is UTF-8, encoding the text restores the bytes. Output that
// is not UTF-8 is kept as bytes too, in a field of the result, so that `structuredClone()` copies
// the bytes.

import type { Outcome } from '../channel/outcome.js';
import type { Failure } from '../errors/error.js';
import { fromWire, programFailed, resultRefused } from '../errors/make.js';
import { base64Field, bytesBeyond } from '../exact-bytes.js';
import type { EvaluationOptions, SignalName } from '../options/programs.js';
import { hasProtoKey } from '../proto-key.js';
import { signalName } from './signals.js';

/** The durations of a program, in milliseconds, as the sidecar measured them. */
export interface ExecTimings {
  /**
   * The start of the process, up to the program's first instruction: mapping the memory, making the
   * VM and starting Node. Waiting for a worker is not included. 0 for an evaluation in a resident
   * runner.
   */
  readonly startMs: number;
  /** From the first instruction to the end of the program or the evaluation. */
  readonly runMs: number;
}

/** The result of a program. */
export class ExecResult {
  /**
   * The program's stdout, decoded as UTF-8. Bytes that are not UTF-8 become U+FFFD here and are
   * unchanged in `stdoutBytes`.
   */
  readonly stdout: string;
  /** The program's stderr, decoded as `stdout` is. */
  readonly stderr: string;
  /**
   * The exit code. If the sandbox ended the program: 124 for time and CPU, 134 for memory, else
   * 137. If a signal ended the program: 128 plus the number of the signal.
   */
  readonly exitCode: number;
  /**
   * The signal that ended the program, or `null` if the program exited. If the sandbox ended the
   * program: SIGKILL, or SIGABRT for memory.
   */
  readonly signal: SignalName | null;
  /** The durations of the program's start and run. Both are 0 if the program never ran. */
  readonly timings: ExecTimings;
  /** The reason why the sandbox ended the program. Absent if the program ended by itself. */
  declare readonly error?: Failure;
  /** Whether the program wrote more to stdout than was captured (`limits.outputBytes`). */
  declare readonly stdoutTruncated?: boolean;
  /** Whether the program wrote more to stderr than was captured. */
  declare readonly stderrTruncated?: boolean;

  /** @internal */
  constructor(outcome: Outcome) {
    this.stdout = decode(outcome.stdout);
    this.stderr = decode(outcome.stderr);
    this.exitCode = outcome.exitCode;
    this.signal = outcome.signal === undefined ? null : signalName(outcome.signal);
    this.timings = timingsOf(outcome.timings);
    if (outcome.failure !== undefined) {
      const { code, message, details } = outcome.failure;
      this.error = fromWire(code, message, details) as Failure;
    }
    if (outcome.stdoutTruncated === true) this.stdoutTruncated = true;
    if (outcome.stderrTruncated === true) this.stderrTruncated = true;
    this.#keep('stdoutBytes', this.stdout, outcome.stdout);
    this.#keep('stderrBytes', this.stderr, outcome.stderr);
  }

  /** The exact bytes of stdout. Output that is UTF-8 is encoded again at each access. */
  get stdoutBytes(): Uint8Array {
    return Buffer.from(this.stdout, 'utf8');
  }

  /** The exact bytes of stderr. Output that is UTF-8 is encoded again at each access. */
  get stderrBytes(): Uint8Array {
    return Buffer.from(this.stderr, 'utf8');
  }

  /**
   * Returns the result as a plain object, which `JSON.stringify()` uses. Output that is not UTF-8
   * is also in `stdoutBase64` or `stderrBase64`. The object has no `timings`, so that equal runs
   * have equal texts, for example in the prompt of a model.
   */
  toJSON(): Record<string, unknown> {
    const { stdoutBytes, stderrBytes, error, timings: _, ...fields }: Partial<ExecResult> = { ...this };
    return {
      ...fields,
      ...(error && { error: error.toJSON() }),
      ...base64Field('stdoutBase64', stdoutBytes),
      ...base64Field('stderrBase64', stderrBytes),
    };
  }

  // Stores output that is not UTF-8 in a field, which replaces the accessor of the class.
  #keep(name: 'stdoutBytes' | 'stderrBytes', text: string, output: Uint8Array | string): void {
    const bytes = typeof output === 'string' ? undefined : bytesBeyond(text, output);
    if (bytes !== undefined) Object.defineProperty(this, name, { value: bytes, enumerable: true });
  }
}

/** The result of a program that `run()` started. */
export class RunResult<T = unknown> extends ExecResult {
  /**
   * The value that the program passed to `__return(value)`, through JSON. Absent if the program did
   * not call `__return`. No object in the value has an own property `__proto__`.
   */
  declare readonly value?: T;

  /** @internal */
  constructor(given: Outcome) {
    const { outcome, value } = returnedBy(given);
    super(outcome);
    if (value !== undefined) this.value = value as T;
  }
}

/** An outcome and the value that its program returned. */
export interface Returned {
  /** The outcome, with a failure if the value was refused. */
  outcome: Outcome;
  /** The value, or `undefined` without an accepted value. */
  value: unknown;
}

/** Parses the value of an outcome. */
export function returnedBy(outcome: Outcome): Returned {
  const value = outcome.value === undefined ? undefined : parse(outcome.value);
  if (value === BROKEN)
    return { outcome: withFault(outcome, 'the value that the program returned is not JSON'), value: undefined };
  if (value === REFUSED) return { outcome: withRefusal(outcome), value: undefined };
  return { outcome, value };
}

/**
 * Returns the result. With the option `throwOnError`, throws `ERR_PROGRAM_FAILED` if the program
 * has failed.
 */
export function finished<R extends ExecResult>(result: R, options: EvaluationOptions | undefined): R {
  const { exitCode, signal, error, stdout, stderr } = result;
  if (options?.throwOnError !== true || (exitCode === 0 && error === undefined)) return result;
  throw programFailed({ exitCode, stdout, stderr, ...(signal && { signal }), ...(error && { reason: error.code }) }, error);
}

function timingsOf({ memoryMapNs, instantiateNs, guestStartNs, guestRunNs }: Outcome['timings']): ExecTimings {
  return { startMs: (memoryMapNs + instantiateNs + guestStartNs) / 1e6, runMs: guestRunNs / 1e6 };
}

const BROKEN = Symbol('not JSON');
const REFUSED = Symbol('a key __proto__');

// An own property `__proto__` would change the prototype of every object that the app copies the
// value to, property by property.
function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return BROKEN;
  }
  return hasProtoKey(text, value) ? REFUSED : value;
}

/**
 * Returns the outcome with an engine fault instead of a value. The guest's own code writes the
 * value. Only a program that controls the engine can write text that is not JSON.
 */
export function withFault(outcome: Outcome, reason: string): Outcome {
  const failure = { code: 'ERR_ENGINE_FAULT', message: `the engine faulted: ${reason}`, details: { reason } };
  return { ...outcome, exitCode: 137, failure: outcome.failure ?? failure };
}

// Returns the outcome with the refusal of a value that has a key `__proto__`.
function withRefusal(outcome: Outcome): Outcome {
  const { code, message, ...details } = resultRefused('__proto__');
  return { ...outcome, exitCode: 137, failure: outcome.failure ?? { code, message, details } };
}

function decode(output: Uint8Array | string): string {
  if (typeof output === 'string') return output;
  if (output.length === 0) return '';
  const buffer = Buffer.isBuffer(output) ? output : Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  return buffer.toString('utf8');
}
