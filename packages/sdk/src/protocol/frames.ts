// Frames: `u32 little-endian length N`, then N bytes, one MessagePack array `[kind, id, body]`. N
// is at most MAX_FRAME_BYTES.
//
// `FrameWriter` collects all frames of one tick in one buffer, because a write to the socket is the
// most expensive step. `FrameReader` accepts bytes that are split anywhere. A frame that arrives
// whole, the usual case, is decoded in place. Any other frame is assembled in one buffer of its
// exact size, which is allocated after the size has been checked. The crate `protocol` is the
// implementation in Rust. Next: `generated/tables.ts`, the messages.

import { frameTooLarge, protocolError } from '../errors/make.js';
import { DecodeError, decode } from './decode.js';
import { Encoder } from './encode.js';
import { MAX_FRAME_BYTES } from './generated/tables.js';

const HEADER_BYTES = 4;

/** One frame with an unchecked body. */
export interface Frame {
  kind: number;
  id: number;
  body: unknown;
}

/** Collects outgoing frames. */
export class FrameWriter {
  readonly #encoder = new Encoder();

  /** The number of bytes since the last `take()`. */
  get length(): number {
    return this.#encoder.length;
  }

  /**
   * Appends one frame. If the frame is too large, throws `ERR_FRAME_TOO_LARGE` and appends nothing.
   */
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

  /** Returns all frames since the last `take()`. */
  take(): Buffer {
    return this.#encoder.take();
  }
}

/** Splits bytes into frames. After an error the reader is unusable, and the connection must end. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #partial: Buffer | undefined;
  #partialBytes = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /** The number of bytes of memory for an incomplete frame. */
  get bufferedBytes(): number {
    return this.#partial?.length ?? 0;
  }

  /**
   * Processes received bytes. Passes every frame that `chunk` completes to `onFrame`. Throws
   * `ERR_FRAME_TOO_LARGE` or `ERR_PROTOCOL`.
   */
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

  // Starts a frame of `length` bytes at `at`: decodes a complete frame in place, or keeps its first
  // part.
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
