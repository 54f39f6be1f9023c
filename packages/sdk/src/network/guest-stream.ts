// A connection to a listener in a runtime, as a Duplex of Node: like the result of `net.connect()`,
// without a network.
//
// A window bounds the bytes in each direction. Written bytes wait in the stream until the guest's
// end has accepted the bytes before them. Bytes beyond the window that the guest sends wait in the
// guest until this stream is read. Next: `runtime-network.ts`.

import { Duplex } from 'node:stream';
import type { OpenStream, StreamListener } from '../channel/network-link.js';
import { holdEventLoop, releaseEventLoop } from '../event-loop.js';
import { STREAM_WINDOW_BYTES } from '../protocol/generated/tables.js';

/** The largest number of bytes in one message. */
const PIECE_BYTES = 65_536;
/**
 * The number of bytes that are read before credit is returned. The guest still has most of its
 * window when the credit is returned.
 */
const CREDIT_BYTES = STREAM_WINDOW_BYTES / 4;

type Done = (error?: Error | null) => void;

/**
 * A connection into a runtime. Emits `connect`, or `error` with `ECONNREFUSED` if no process
 * listens at the target.
 */
export class GuestStream extends Duplex {
  /** Whether the connection is not established yet. */
  connecting = true;
  /** The number of bytes received from the guest, unread bytes included. */
  bytesRead = 0;
  /** The number of bytes sent to the guest. */
  bytesWritten = 0;
  readonly #stream: OpenStream;
  readonly #incoming: Uint8Array[] = [];
  #wanted = false;
  #consumed = 0;
  #room = STREAM_WINDOW_BYTES;
  #outgoing: { bytes: Uint8Array; done: Done } | undefined;
  #ended = false;
  /** Whether the reader has received all bytes, and has asked for more bytes. */
  #isDrained = true;
  #isEndPassed = false;
  #over = false;
  #failure: Error | undefined;
  #reset = false;
  #timeoutMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @internal */
  constructor(open: (listener: StreamListener) => OpenStream, allowHalfOpen: boolean) {
    super({ allowHalfOpen, readableHighWaterMark: PIECE_BYTES, writableHighWaterMark: PIECE_BYTES });
    // An open stream keeps Node's event loop alive, as an open socket does, over any transport.
    holdEventLoop(this);
    const listener: StreamListener = {
      data: (bytes) => this.#receive(bytes),
      credit: (bytes) => this.#send(bytes),
      ended: () => this.#end(),
      closed: (error) => this.#close(error),
    };
    this.#stream = open(listener);
    this.#stream.opened.then(
      () => this.#connected(),
      (error) => this.destroy(error),
    );
  }

  /** Keeps Node's event loop alive while the stream is open, which is the default. */
  ref(): this {
    if (!this.destroyed && !this.#over) holdEventLoop(this);
    return this;
  }

  /** Lets the process end although the stream is open. */
  unref(): this {
    releaseEventLoop(this);
    return this;
  }

  /** Resets the connection, so that the guest gets `ECONNRESET` instead of an end. */
  resetAndDestroy(): this {
    this.#reset = true;
    return this.destroy();
  }

  /**
   * Emits `timeout` after `ms` milliseconds without a read or a write. 0 disables the event, and
   * removes the listener.
   */
  setTimeout(ms: number, listener?: () => void): this {
    this.#timeoutMs = ms;
    if (listener !== undefined) this[ms > 0 ? 'once' : 'off']('timeout', listener);
    this.#touch();
    return this;
  }

  /** Does nothing, because small writes are never delayed. */
  setNoDelay(): this {
    return this;
  }

  /** Does nothing, because the sidecar reports every lost connection. */
  setKeepAlive(): this {
    return this;
  }

  override _read(): void {
    this.#wanted = true;
    this.#deliver();
  }

  /** Reads as `Readable.read()`. The end follows a read that finds no bytes. */
  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    if (chunk === null && size !== 0 && this.readableLength === 0) {
      this.#isDrained = true;
      if (this.#ended) queueMicrotask(() => this.#deliver());
    }
    return chunk;
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done): void {
    this.#outgoing = { bytes: chunk, done };
    this.#send(0);
  }

  override _final(done: Done): void {
    this.#stream.end();
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    releaseEventLoop(this);
    clearTimeout(this.#timer);
    this.#incoming.length = 0;
    // After both directions have ended, bytes may still be in transit to the guest. The connection
    // then closes without a `stream.close`.
    const endsItself = this.#over || (this.#ended && this.writableFinished && !this.#reset);
    if (!endsItself) this.#stream.close(this.#reset);
    done(error);
  }

  #connected(): void {
    this.connecting = false;
    if (this.destroyed) return;
    this.emit('connect');
    this.emit('ready');
  }

  #receive(bytes: Uint8Array): void {
    if (this.destroyed) return;
    this.bytesRead += bytes.length;
    this.#incoming.push(bytes);
    this.#touch();
    this.#deliver();
  }

  #end(): void {
    this.#ended = true;
    this.#deliver();
  }

  #close(error: Error | undefined): void {
    this.#over = true;
    this.#failure = error;
    // A closed connection does not keep the process alive, even if bytes are unread.
    releaseEventLoop(this);
    // After the connection has closed, a pending write never gets credit.
    if (error !== undefined && this.#outgoing !== undefined) this.destroy(error);
    else this.#deliver();
  }

  // Passes received bytes to the reader until the reader's buffer is full.
  #deliver(): void {
    if (this.destroyed) return;
    while (this.#wanted && this.#incoming.length > 0) {
      const bytes = this.#incoming.shift() as Uint8Array;
      this.#consumed += bytes.length;
      this.#wanted = this.push(bytes);
      this.#isDrained = this.readableLength === 0; // a listener of `data` has received the bytes
    }
    if (this.#consumed >= CREDIT_BYTES && !this.#over) {
      this.#stream.credit(this.#consumed);
      this.#consumed = 0;
    }
    if (this.#incoming.length > 0) return;
    if (this.#failure !== undefined) this.#fail(this.#failure);
    // The read that returns the last bytes must not also cause the event `end`. undici may pause
    // its parser for these bytes. A paused parser would then throw into the app's event loop.
    else if (this.#ended && this.#isDrained && this.readableLength === 0 && !this.#isEndPassed) {
      this.#isEndPassed = true;
      this.push(null);
    }
  }

  // Destroys the stream with `error`. If events or bytes must reach the reader first, destroys the
  // stream in the next turn.
  #fail(error: Error): void {
    if (this.connecting || this.readableLength > 0) setImmediate(() => this.destroy(error));
    else this.destroy(error);
  }

  // Adds `credit` to the window and sends as many waiting bytes as the window allows.
  #send(credit: number): void {
    this.#room += credit;
    const outgoing = this.#outgoing;
    if (outgoing === undefined) return;
    while (outgoing.bytes.length > 0 && this.#room > 0) {
      const piece = outgoing.bytes.subarray(0, Math.min(this.#room, PIECE_BYTES));
      outgoing.bytes = outgoing.bytes.subarray(piece.length);
      this.#room -= piece.length;
      this.bytesWritten += piece.length;
      this.#stream.write(piece);
    }
    this.#touch();
    if (outgoing.bytes.length > 0) return;
    this.#outgoing = undefined;
    outgoing.done();
  }

  #touch(): void {
    clearTimeout(this.#timer);
    if (this.#timeoutMs > 0 && !this.destroyed) {
      this.#timer = setTimeout(() => this.emit('timeout'), this.#timeoutMs).unref();
    }
  }
}
