// The last lines of a sidecar's stderr. A sidecar writes there only before it fails badly.

import type { Readable } from 'node:stream';

const MAX_CHARACTERS = 4_096;

/** Keeps the end of a stream, bounded, without keeping the event loop alive. */
export class StderrTail {
  #text = '';

  constructor(stream: Readable | null) {
    if (stream === null) return;
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      this.#text = (this.#text + chunk).slice(-MAX_CHARACTERS);
    });
    stream.on('error', () => {});
    // Streams of child processes are sockets.
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }

  /** The text without the last line end. */
  get text(): string {
    return this.#text.trimEnd();
  }
}
