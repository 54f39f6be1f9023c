// The newest output of one program that no client has read, until a client attaches.

import type { OutputSource } from './programs.js';

/** Bytes of unread output that a program keeps. Older bytes are dropped. */
export const BACKLOG_BYTES = 64 << 10;
/** Pieces of unread output that a program keeps. Small pieces of one source are joined. */
const MOST_PIECES = 1_024;
const JOINED_BYTES = 4 << 10;

/** Output of one source. */
export interface Output {
  source: OutputSource;
  bytes: Uint8Array;
}

/** The newest unread output of a program, in its order. */
export class Backlog {
  #pieces: Output[] = [];
  #size = 0;

  /** Adds output behind the present output. Drops the oldest bytes beyond the bound. */
  add({ source, bytes }: Output): void {
    if (bytes.length === 0) return;
    // The bytes may be a part of a larger buffer, which must not stay in memory.
    const own = Buffer.from(bytes.subarray(-BACKLOG_BYTES));
    const last = this.#pieces.at(-1);
    if (last?.source === source && last.bytes.length + own.length <= JOINED_BYTES) last.bytes = Buffer.concat([last.bytes, own]);
    else this.#pieces.push({ source, bytes: own });
    this.#size += own.length;
    while (this.#size > BACKLOG_BYTES || this.#pieces.length > MOST_PIECES) this.#dropOldest();
  }

  /** Removes and returns all output. */
  take(): Output[] {
    const taken = this.#pieces;
    this.#pieces = [];
    this.#size = 0;
    return taken;
  }

  #dropOldest(): void {
    const [oldest] = this.#pieces as [Output];
    const excess = this.#size - BACKLOG_BYTES;
    if (excess > 0 && excess < oldest.bytes.length) {
      oldest.bytes = oldest.bytes.subarray(excess);
      this.#size -= excess;
    } else {
      this.#pieces.shift();
      this.#size -= oldest.bytes.length;
    }
  }
}
