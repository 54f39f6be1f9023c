// What a program leaves behind, as the caller sees it.
//
// Output arrives as bytes and is nearly always wanted as text, so it is decoded once and the bytes are let go. They can be had back by
// encoding the text, except where they were not UTF-8 to begin with: only then are they kept.

import type { Outcome } from '../channel/outcome.js';
import type { Failure } from '../errors/error.js';
import { fromWire } from '../errors/make.js';

/** How a program ended. */
export class ExecResult {
  /** What it wrote to stdout, decoded as UTF-8; what is not UTF-8 is U+FFFD here and as it was in `stdoutBytes`. */
  readonly stdout: string;
  /** The same for stderr. */
  readonly stderr: string;
  /** Its exit code. When the sandbox ended it: 124 for time and CPU, 134 for memory, 137 for any other reason. */
  readonly exitCode: number;
  /** Why the sandbox ended it; absent when the program ended by itself, with whatever exit code. */
  declare readonly error?: Failure;
  /** Whether the program wrote more than `stdout` holds (see `limits.outputBytes`). */
  declare readonly stdoutTruncated?: boolean;
  /** The same for stderr. */
  declare readonly stderrTruncated?: boolean;

  readonly #stdoutBytes: Buffer | undefined;
  readonly #stderrBytes: Buffer | undefined;

  /** @internal */
  constructor(outcome: Outcome) {
    this.stdout = decode(outcome.stdout);
    this.stderr = decode(outcome.stderr);
    this.exitCode = outcome.exitCode;
    this.#stdoutBytes = kept(outcome.stdout, this.stdout);
    this.#stderrBytes = kept(outcome.stderr, this.stderr);
    if (outcome.failure !== undefined) {
      const { code, message, details } = outcome.failure;
      this.error = fromWire(code, message, details) as Failure;
    }
    if (outcome.stdoutTruncated === true) this.stdoutTruncated = true;
    if (outcome.stderrTruncated === true) this.stderrTruncated = true;
  }

  /** What it wrote to stdout, byte for byte. Made when asked for. */
  get stdoutBytes(): Uint8Array {
    return this.#stdoutBytes ?? Buffer.from(this.stdout, 'utf8');
  }

  /** What it wrote to stderr, byte for byte. Made when asked for. */
  get stderrBytes(): Uint8Array {
    return this.#stderrBytes ?? Buffer.from(this.stderr, 'utf8');
  }
}

/** How a program ended that was started by `run()`. */
export class RunResult<T = unknown> extends ExecResult {
  /** What the program gave to `__return(value)`, by way of JSON; absent when it gave nothing. */
  declare readonly value?: T;

  /** @internal */
  constructor(outcome: Outcome) {
    const parsed = outcome.value === undefined ? undefined : parse(outcome.value);
    super(parsed === BROKEN ? broken(outcome) : outcome);
    if (parsed !== undefined && parsed !== BROKEN) this.value = parsed as T;
  }
}

const BROKEN = Symbol('no JSON');

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return BROKEN;
  }
}

// The guest's own code writes the text; a program that has got hold of the engine writes any.
function broken(outcome: Outcome): Outcome {
  const reason = 'the value that the program gave back is no JSON';
  const failure = { code: 'ERR_ENGINE_FAULT', message: `the engine faulted: ${reason}`, details: { reason } };
  return { ...outcome, exitCode: 137, failure: outcome.failure ?? failure };
}

function decode(output: Uint8Array | string): string {
  if (typeof output === 'string') return output;
  if (output.length === 0) return '';
  const buffer = Buffer.isBuffer(output) ? output : Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  return buffer.toString('utf8');
}

// The replacement character may also have been written as such; then the copy is not needed, but right.
function kept(output: Uint8Array | string, text: string): Buffer | undefined {
  return typeof output !== 'string' && text.includes('\ufffd') ? Buffer.from(output) : undefined;
}
