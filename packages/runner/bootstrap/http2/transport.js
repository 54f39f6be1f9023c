// The bytes between the library nghttp2 and the stream below a session: reads, writes and the end
// (in node_http2.cc `OnStreamRead`, `SendPendingData` and `Close`). The library must not run inside
// its own callbacks, so output waits while input is processed. Next: session.js, which owns the
// transport; frames.js, which handles the events.
'use strict';

const { ERRNO } = require('../net/calls.js');
const events = require('./events.js');
const { piecesOf } = require('./pieces.js');
const { call, inEvent, inTask } = require('./scopes.js');

// A write that the stream has not finished. The interface is that of the requests of
// ../net/requests.js, without an event of async_hooks.
class PendingWrite {
  #done;
  #ref = false;

  constructor(done) {
    this.#done = done;
  }
  dispatch(ref = true) {
    this.#ref = ref;
    if (ref) native.loop.keepAlive[0]++;
  }
  finish(status) {
    if (this.#ref) native.loop.keepAlive[0]--;
    this.#done(status);
  }
}

class Transport {
  #session;
  #state;
  #handle;
  #stream;
  // Whether reads of the stream are events of the loop. A stream in JavaScript is read in calls of
  // the program.
  #isOfLoop = false;
  #inScope = false;
  #writeScheduled = false;
  #writing = false;
  #sending = false;
  #receiving = false;
  #readingStopped = false;
  #closing = false;
  #destroyed = false;
  #pendingClose;
  #goawayByLibrary = false;
  // The writes of streams whose bytes are in the present output, as [request, stream].
  #outgoing = [];
  #pendingResets = new Set();
  #laterInput = [];
  // The first error of the program in a callback during a call of the program.
  #thrown;
  // The code of Node's error for a session that the bindings have stopped.
  customError;
  received = 0;
  sent = 0;
  chunksSent = 0;

  constructor(session, state, handle) {
    this.#session = session;
    this.#state = state;
    this.#handle = (...args) => {
      try {
        return handle(...args);
      } catch (error) {
        this.#thrown ??= { error };
        return 0;
      }
    };
  }

  get isReceiving() {
    return this.#receiving;
  }
  get isInScope() {
    return this.#inScope;
  }
  get isClosing() {
    return this.#closing;
  }
  get isDestroyed() {
    return this.#destroyed;
  }
  // The stream, unless the program has closed the stream.
  get #io() {
    return this.#stream === undefined || this.#stream.closing ? undefined : this.#stream;
  }

  consume(stream) {
    this.#stream = stream;
    this.#isOfLoop = stream.providerName !== 'JSSTREAM';
    stream.setReadListener((count, bytes) => this.#read(count, bytes));
  }
  #read(count, bytes) {
    if (count < 0) {
      // The stream's own listener receives the stream's end or error.
      const stream = this.#stream;
      stream.setReadListener(undefined);
      stream.emitRead(count, undefined);
      if (this.#stream !== undefined) stream.setReadListener((n, more) => this.#read(n, more));
      return;
    }
    if (count === 0) return;
    if (this.#isOfLoop) inEvent(() => this.receive(bytes, count));
    else this.receive(bytes, count);
  }

  // Feeds input, and sends what follows from the input.
  receive(bytes, count) {
    if (this.#receiving) {
      if (native.h2IsBusy(this.#state)) {
        this.#laterInput.push(bytes.slice(0, count));
        return;
      }
      // The sandbox has ended an evaluation in a callback. The native now reports an error, which
      // ends the session.
      this.#receiving = this.#sending = this.#inScope = false;
    }
    this.scoped(() => {
      this.received += count;
      this.#feed(bytes, count);
      for (let more = this.#laterInput.shift(); more !== undefined; more = this.#laterInput.shift()) {
        this.received += more.length;
        this.#feed(more, more.length);
      }
      this.#stopReadingIfDone();
    });
  }
  #feed(bytes, count) {
    const { memory } = this.#session;
    memory.add(count);
    this.customError = undefined;
    this.#receiving = true;
    let result;
    try {
      result = native.h2Receive(this.#state, this.#handle, bytes, count);
    } catch (error) {
      throw this.#firstError(error);
    } finally {
      this.#receiving = false;
      memory.subtract(count);
    }
    this.#finishPendingClose();
    if (result >= 0 && !this.#destroyed) this.send();
    if (result < 0) this.#session.notifyError(result, this.customError ?? null);
    this.#rethrow();
  }
  #rethrow() {
    if (this.#thrown !== undefined) throw this.#firstError();
  }
  // Returns the first error of the callbacks, else `otherwise`.
  #firstError(otherwise) {
    const thrown = this.#thrown ?? { error: otherwise };
    this.#thrown = undefined;
    return thrown.error;
  }
  #stopReadingIfDone() {
    if (this.#readingStopped || this.#closing || native.h2WantsRead(this.#state)) return;
    this.#readingStopped = true;
    this.#io?.readStop();
  }
  #readAgain() {
    this.#readingStopped = false;
    this.#io?.readStart();
  }

  // Runs a change of the session. Frames that the change queues are sent in the loop's next round.
  scoped(run) {
    if (this.#inScope || this.#writeScheduled) return run();
    this.#inScope = true;
    try {
      return run();
    } finally {
      this.#inScope = false;
      if (!this.#writeScheduled) this.#scheduleWrite();
    }
  }
  #scheduleWrite() {
    if (!native.h2WantsWrite(this.#state)) return;
    this.#writeScheduled = true;
    native.enqueueTask(() => {
      if (this.#writeScheduled) inTask(() => this.#session.makeCallback(() => this.send()));
    });
  }

  // Collects output and writes it. Returns false, or true if the output must wait for the end of
  // another step.
  send() {
    if (this.#destroyed) return false;
    this.#writeScheduled = false;
    if (this.#sending || this.#receiving) return true;
    for (let more = true; more && !this.#destroyed && !this.#sending; ) {
      this.#sending = true;
      const bytes = this.#collect();
      if (bytes === undefined) {
        this.#finishOutgoing();
        this.#rethrow();
        return false;
      }
      more = this.#write(bytes) && bytes.length >= events.OUTPUT_BYTES;
    }
    this.#stopReadingIfDone();
    if (this.#goawayByLibrary) {
      this.#goawayByLibrary = false;
      if (!this.#closing && !this.#destroyed) this.#session.notifyError(events.ERR_PROTO);
    }
    this.#rethrow();
    return false;
  }
  // Returns the next output, or undefined without output or without a stream.
  #collect() {
    let bytes;
    try {
      bytes = native.h2Send(this.#state, this.#handle);
    } catch (error) {
      this.#sending = false;
      throw this.#firstError(error);
    }
    return this.#io === undefined ? undefined : bytes;
  }
  // Writes an output. Returns whether the write has finished.
  #write(bytes) {
    const stream = this.#io;
    this.sent += bytes.length;
    this.chunksSent++;
    stream.bytesWritten += bytes.length;
    this.#writing = true;
    let rest = bytes;
    while (rest.length > 0) {
      const taken = stream.tryWrite(rest);
      if (taken === ERRNO.EAGAIN && this.#queue(stream, rest) === 0) return false;
      if (taken < 0) break;
      rest = rest.subarray(taken);
    }
    this.#writing = false;
    this.#finishOutgoing();
    this.#session.notifyGracefulClose();
    return true;
  }
  // Leaves bytes to the stream, which completes the write later. Returns 0 or a negative errno.
  #queue(stream, bytes) {
    const pieces = this.#isOfLoop ? [bytes] : piecesOf(bytes);
    return stream.queueWrite(new PendingWrite(() => this.#written()), pieces);
  }
  #written() {
    if (this.#isOfLoop) inEvent(() => this.#afterWrite());
    else this.#afterWrite();
  }
  #afterWrite() {
    this.#session.notifyGracefulClose();
    this.#writing = false;
    this.#finishOutgoing();
    if (this.#readingStopped && !this.#writing && native.h2WantsRead(this.#state)) this.#readAgain();
    if (this.#destroyed) this.#done();
    else if (!this.#writeScheduled) this.#scheduleWrite();
  }
  // Completes the writes of streams, and sends the resets that have waited for the output.
  #finishOutgoing() {
    this.#sending = false;
    const outgoing = this.#outgoing;
    if (outgoing.length > 0) {
      this.#outgoing = [];
      for (const [request, stream] of outgoing) call(() => request.finish(0, stream, undefined));
    }
    if (this.#pendingResets.size === 0) return;
    const resets = [...this.#pendingResets];
    this.#pendingResets.clear();
    this.send();
    for (const id of resets) this.#session.streams.get(id)?.flushReset();
  }

  // Registers a write of a stream whose last byte is in the present output.
  finishAfterOutput(request, stream) {
    this.#outgoing.push([request, stream]);
  }
  hasOutgoing(stream) {
    return this.#outgoing.some(([, owner]) => owner === stream);
  }
  addPendingReset(id) {
    this.#pendingResets.add(id);
  }
  // Removes a reset that waits. Returns whether the reset was waiting.
  removePendingReset(id) {
    return this.#pendingResets.delete(id);
  }
  hasPendingReset(id) {
    return this.#pendingResets.has(id);
  }
  // nghttp2 has sent a GOAWAY. A GOAWAY that neither the program nor `close` has requested means
  // that nghttp2 has ended the session because of the peer.
  goawaySent() {
    if (!this.#closing && !this.#destroyed && !this.#session.hasSentGoaway) this.#goawayByLibrary = true;
  }

  // Ends the session: sends GOAWAY unless the socket is closed, and calls `ondone`.
  close(code, isSocketClosed) {
    if (this.#closing) return;
    this.#closing = true;
    if (this.#receiving) this.#pendingClose = [code, isSocketClosed];
    else this.#finishClose(code, isSocketClosed);
  }
  #finishPendingClose() {
    const pending = this.#pendingClose;
    if (pending === undefined || this.#destroyed) return;
    this.#pendingClose = undefined;
    this.#finishClose(...pending);
  }
  #finishClose(code, isSocketClosed) {
    const stream = this.#io;
    if (stream !== undefined) {
      this.#readingStopped = true;
      stream.readStop();
    }
    if (!isSocketClosed) {
      native.h2Terminate(this.#state, code);
      this.send();
    } else if (this.#stream !== undefined) {
      this.#stream.setReadListener(undefined);
    }
    this.#destroyed = true;
    if (!this.#writing || this.#io === undefined) this.#done();
    this.#session.afterClose();
  }
  #done() {
    this.#session.notifyDone();
    // Reading continues, so that the end of the other side is noticed.
    if (this.#io !== undefined) this.#readAgain();
  }
}

module.exports = { Transport };
