// A connection to who listens in a runtime, as a Duplex of Node: what `net.connect()` gives, without a network.
//
// Bytes in both directions are bounded by a window: what is written waits in the stream until the guest's end has taken what came before, and what
// the guest sends waits in the guest until it has been read here. Next:
// `runtime-network.ts`, what an app does with them.

import { Duplex } from 'node:stream';
import { type NetworkTarget, STREAM_WINDOW_BYTES } from '../channel/messages.js';
import type { NetworkLink, OpenStream, StreamListener } from '../channel/network-link.js';

// The largest piece that is sent at once.
const PIECE_BYTES = 65_536;
// Credit is given when so much has been read: the guest still has most of its window then.
const CREDIT_BYTES = STREAM_WINDOW_BYTES / 4;

const FOREVER_MS = 2_147_483_647;

type Done = (error?: Error | null) => void;

// Those that keep Node's event loop alive, as an open socket does, whatever carries their bytes; and what they keep it alive with.
const used = new Set<GuestStream>();
let timer: NodeJS.Timeout | undefined;

function keep(stream: GuestStream): void {
  used.add(stream);
  timer ??= setInterval(() => {}, FOREVER_MS);
}

function letGo(stream: GuestStream): void {
  if (!used.delete(stream) || used.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** A connection into a runtime. Emits `connect` when somebody listens there, and `error` with `ECONNREFUSED` when nobody does. */
export class GuestStream extends Duplex {
  /** Whether it is not yet known that somebody listens. */
  connecting = true;
  /** Bytes that have been received and sent. */
  bytesRead = 0;
  bytesWritten = 0;
  readonly #stream: OpenStream;
  readonly #incoming: Uint8Array[] = [];
  #wanted = false;
  #consumed = 0;
  #room = STREAM_WINDOW_BYTES;
  #outgoing: { bytes: Uint8Array; done: Done } | undefined;
  #ended = false;
  #over = false;
  #failure: Error | undefined;
  #reset = false;
  #timeoutMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @internal */
  constructor(link: NetworkLink, target: NetworkTarget, allowHalfOpen: boolean) {
    super({ allowHalfOpen, readableHighWaterMark: PIECE_BYTES, writableHighWaterMark: PIECE_BYTES });
    keep(this);
    const listener: StreamListener = {
      data: (bytes) => this.#take(bytes),
      credit: (bytes) => this.#send(bytes),
      ended: () => this.#end(),
      closed: (error) => this.#close(error),
    };
    this.#stream = link.open(target, listener);
    this.#stream.opened.then(
      () => this.#connected(),
      (error) => this.destroy(error),
    );
  }

  /** It keeps the process alive, as it does from its beginning. */
  ref(): this {
    if (!this.destroyed && !this.#over) keep(this);
    return this;
  }

  /** It does not keep the process alive. */
  unref(): this {
    letGo(this);
    return this;
  }

  /** Closes the connection so that the guest sees `ECONNRESET` and not its end. */
  resetAndDestroy(): this {
    this.#reset = true;
    return this.destroy();
  }

  /** Emits `timeout` after so many milliseconds in which nothing was read or written; 0 never does. */
  setTimeout(ms: number, listener?: () => void): this {
    this.#timeoutMs = ms;
    if (listener !== undefined) this.once('timeout', listener);
    this.#touch();
    return this;
  }

  /** Nothing waits here to be sent together with more. */
  setNoDelay(): this {
    return this;
  }

  /** Nothing between here and the guest can be lost unnoticed. */
  setKeepAlive(): this {
    return this;
  }

  override _read(): void {
    this.#wanted = true;
    this.#hand();
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
    letGo(this);
    clearTimeout(this.#timer);
    this.#incoming.length = 0;
    // What was sent before both ends is still on its way into the guest, and the connection ends by itself.
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

  #take(bytes: Uint8Array): void {
    if (this.destroyed) return;
    this.bytesRead += bytes.length;
    this.#incoming.push(bytes);
    this.#touch();
    this.#hand();
  }

  #end(): void {
    this.#ended = true;
    this.#hand();
  }

  #close(error: Error | undefined): void {
    this.#over = true;
    this.#failure = error;
    // What lies here unread is nothing to stay alive for.
    letGo(this);
    // A write that waits for room will never get it.
    if (error !== undefined && this.#outgoing !== undefined) this.destroy(error);
    else this.#hand();
  }

  // Hands on what is wanted and there.
  #hand(): void {
    if (this.destroyed) return;
    while (this.#wanted && this.#incoming.length > 0) {
      const bytes = this.#incoming.shift() as Uint8Array;
      this.#consumed += bytes.length;
      this.#wanted = this.push(bytes);
    }
    if (this.#consumed >= CREDIT_BYTES && !this.#over) {
      this.#stream.credit(this.#consumed);
      this.#consumed = 0;
    }
    if (this.#incoming.length > 0) return;
    if (this.#failure !== undefined) this.#fail(this.#failure);
    else if (this.#ended && !this.readableEnded) this.push(null);
  }

  // At once, so that nobody takes it for one that is alive. Where something is to be heard first, a turn later: who reads along has then heard it.
  #fail(error: Error): void {
    if (this.connecting || this.readableLength > 0) setImmediate(() => this.destroy(error));
    else this.destroy(error);
  }

  // The guest's end has taken `credit` bytes: sends what there is room for.
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
