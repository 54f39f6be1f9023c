// Sends a file through a stream of the bindings (stream_pipe.cc): reads the next part of the file
// whenever the stream has sent the previous part. Only the streams of HTTP/2 are such sinks. Next:
// ../http2/stream.js, which calls `wantsWrite` and `sinkDestroyed`.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');
const { ERRNO, IN, Waiting } = require('../net/calls.js');
const { streamBaseState } = require('../net/stream-base.js');

const READ_BYTES_OR_ERROR = 0;

class StreamPipe extends AsyncWrap {
  #isClosed = true;
  #isScheduled = false;
  #pendingWrites = 0;
  #waiting = new Waiting(IN, () => this.#step());

  constructor(source, sink) {
    super('STREAMPIPE');
    this.source = source;
    this.sink = sink;
  }
  start() {
    this.#isClosed = false;
    this.sink.attachPipe(this);
    this.wantsWrite();
  }
  isClosed() {
    return this.#isClosed;
  }
  pendingWrites() {
    return this.#pendingWrites;
  }

  // Reads the next part in the loop's next round. Called when the sink has nothing left to send.
  wantsWrite() {
    if (this.#isClosed || this.#isScheduled || this.#pendingWrites > 0) return;
    this.#isScheduled = true;
    native.enqueueTask(() => {
      this.#isScheduled = false;
      this.#step();
    });
  }
  sinkDestroyed() {
    this.unpipe();
  }
  #step() {
    if (this.#isClosed) return;
    const part = this.source.readPart();
    if (part === ERRNO.EAGAIN) {
      if (this.#waiting.start(this.source.fd) < 0) this.unpipe();
    } else if (typeof part === 'number') this.#finish(part);
    else this.#write(part);
  }
  #write(part) {
    this.#pendingWrites++;
    const request = { dispatch() {}, finish: (status) => this.#written(status) };
    const status = this.sink.queueWrite(request, [part]);
    if (status < 0) this.#written(status);
  }
  #written(status) {
    this.#pendingWrites--;
    if (status < 0) this.unpipe();
    else this.wantsWrite();
  }
  // Ends the pipe at the file's end or at an error of the file. The program's library decides first
  // whether an error resets the stream.
  #finish(result) {
    const { sink, source } = this;
    if (typeof source.onread === 'function') {
      source.makeCallback(() => {
        streamBaseState[READ_BYTES_OR_ERROR] = result;
        source.onread(undefined);
      });
    }
    sink.queueShutdown();
    this.unpipe();
  }
  // Ends the pipe. `onunpipe` is called in the loop's next round.
  unpipe() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting.stop();
    this.sink.attachPipe(undefined);
    native.enqueueTask(() => {
      if (typeof this.onunpipe === 'function') this.makeCallback(this.onunpipe);
      this.source = this.sink = null;
      this.emitDestroy();
    });
  }
}

module.exports = { StreamPipe };
