// Frames: `u32 little-endian length N`, then N bytes, one MessagePack array `[kind, id, body]`. N is at most MAX_FRAME_BYTES.
//
// `FrameWriter` packs all frames of one tick into one buffer, because a socket write costs more than anything else on the way.
// `FrameReader` takes the bytes as they come, split anywhere. A frame that arrives whole, the usual case, is decoded where it lies;
// one that does not is put together in one buffer of exactly its size, made only after the size has been checked.
// The crate `protocol` has the same two in Rust. Next: `messages.ts`, what the bodies are.

import { frameTooLarge, protocolError } from '../errors/make.js';
import { DecodeError, decode } from './decode.js';
import { Encoder } from './encode.js';

/** The largest N of a frame, in bytes: 32 MiB. */
export const MAX_FRAME_BYTES = 33_554_432;

const HEADER_BYTES = 4;

/** One frame, taken apart. `body` is what the kind says, not checked yet. */
export interface Frame {
  kind: number;
  id: number;
  body: unknown;
}

/** Collects outgoing frames. */
export class FrameWriter {
  readonly #encoder = new Encoder();

  /** Bytes that wait to be taken. */
  get length(): number {
    return this.#encoder.length;
  }

  /** Appends one frame. Throws `ERR_FRAME_TOO_LARGE`, and appends nothing, when it would be larger than a frame may be. */
  add(kind: number, id: number, body: object | null): void {
    const encoder = this.#encoder;
    const start = encoder.reserveU32();
    try {
      encoder.write([kind, id, body]);
    } catch (error) {
      encoder.rewind(start);
      throw error;
    }
    const bytes = encoder.length - start - HEADER_BYTES;
    if (bytes > MAX_FRAME_BYTES) {
      encoder.rewind(start);
      throw frameTooLarge(bytes, MAX_FRAME_BYTES);
    }
    encoder.patchU32(start, bytes);
  }

  /** All frames added since the last time, back to back. */
  take(): Buffer {
    return this.#encoder.take();
  }
}

/** Takes bytes and gives frames. What throws leaves the reader unusable: the connection has to end. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #partial: Buffer | undefined;
  #partialBytes = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /** Bytes of memory that hold what has arrived of an unfinished frame. */
  get bufferedBytes(): number {
    return this.#partial?.length ?? 0;
  }

  /** Calls back for every frame that `chunk` completes. Throws `ERR_FRAME_TOO_LARGE` or `ERR_PROTOCOL`. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#partial !== undefined) {
        at += this.#fill(chunk, at);
      } else if (this.#headerBytes === 0 && chunk.length - at >= HEADER_BYTES) {
        at = this.#begin(checked(chunk.readUInt32LE(at)), chunk, at + HEADER_BYTES);
      } else {
        this.#header[this.#headerBytes++] = chunk[at++] as number;
        if (this.#headerBytes < HEADER_BYTES) continue;
        this.#headerBytes = 0;
        at = this.#begin(checked(this.#header.readUInt32LE(0)), chunk, at);
      }
    }
  }

  // A frame of `length` bytes begins at `at`: decoded in place when it is all there, else the rest is waited for.
  #begin(length: number, chunk: Buffer, at: number): number {
    if (chunk.length - at >= length) {
      this.#onFrame(parse(chunk, at, at + length));
      return at + length;
    }
    this.#partial = Buffer.allocUnsafeSlow(length);
    this.#partialBytes = chunk.copy(this.#partial, 0, at);
    return chunk.length;
  }

  #fill(chunk: Buffer, at: number): number {
    const partial = this.#partial as Buffer;
    const copied = chunk.copy(partial, this.#partialBytes, at);
    this.#partialBytes += copied;
    if (this.#partialBytes === partial.length) {
      this.#partial = undefined;
      this.#onFrame(parse(partial, 0, partial.length));
    }
    return copied;
  }
}

function checked(length: number): number {
  if (length > MAX_FRAME_BYTES) throw frameTooLarge(length, MAX_FRAME_BYTES);
  return length;
}

function parse(bytes: Buffer, start: number, end: number): Frame {
  try {
    const value = decode(bytes, start, end);
    if (!Array.isArray(value) || value.length !== 3) throw new DecodeError('a frame is not an array of kind, id and body');
    const [kind, id, body] = value as unknown[];
    if (!isU32(kind)) throw new DecodeError('the kind of a frame is not a small integer');
    if (!isU32(id)) throw new DecodeError('the id of a frame is not an unsigned 32-bit integer');
    return { kind, id, body };
  } catch (error) {
    throw error instanceof DecodeError ? protocolError(error.message) : error;
  }
}

function isU32(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 0xffffffff;
}
