// Keeps the last lines of a sidecar's stderr. Without a log, a sidecar writes to stderr only when
// it fails, and the lines explain the failure.

import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

const MAX_CHARACTERS = 4_096;

/** The stream of a child process is a socket, although its type is `Readable`. */
type ChildStream = Readable & Partial<Pick<Socket, 'ref' | 'unref'>>;

/**
 * Keeps the last `MAX_CHARACTERS` characters of a stream. Before `ref()`, the stream does not keep
 * the event loop alive.
 */
export class StderrTail {
  readonly #stream: ChildStream | null;
  #text = '';

  /** `copyTo` receives all data of the stream. */
  constructor(stream: Readable | null, copyTo?: Writable) {
    this.#stream = stream as ChildStream | null;
    if (stream === null) return;
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      this.#text = (this.#text + chunk).slice(-MAX_CHARACTERS);
      copyTo?.write(chunk);
    });
    stream.on('error', () => {});
    this.#stream?.unref?.();
  }

  /** Keeps the event loop alive until the stream has closed. */
  ref(): void {
    this.#stream?.ref?.();
  }

  /** The kept text without white space at its end. */
  get text(): string {
    return this.#text.trimEnd();
  }
}
