// Keeps the last lines of a sidecar's stderr. Without a log, a sidecar writes to stderr only when
// it fails, and the lines explain the failure.

import type { Readable, Writable } from 'node:stream';

const MAX_CHARACTERS = 4_096;

/** Keeps the last `MAX_CHARACTERS` characters of a stream without keeping the event loop alive. */
export class StderrTail {
  #text = '';

  /** `copyTo` receives all data of the stream. */
  constructor(stream: Readable | null, copyTo?: Writable) {
    if (stream === null) return;
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      this.#text = (this.#text + chunk).slice(-MAX_CHARACTERS);
      copyTo?.write(chunk);
    });
    stream.on('error', () => {});
    // The stream of a child process is a socket, which has `unref`.
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }

  /** The kept text without white space at its end. */
  get text(): string {
    return this.#text.trimEnd();
  }
}
