// A stream over a socket of the kernel, as in libuv (uv-unix stream.c, connection_wrap.cc). The
// stream reads while data is available, keeps a queue of writes, shuts down after the last write,
// connects, and listens. The order of all callbacks is libuv's, because programs depend on the
// order of reports at the end of a connection. Next: ../internal-bindings/tcp_wrap.js and
// pipe_wrap.js, which add the functions of each kind of socket.
'use strict';

const { reasonOf, reportWith } = require('../errors/denials.js');
const { NUMBERS: FILES } = require('../fs/calls.js');
const { ERRNO, IN, INVALID_KIND, NUMBERS, OUT, STREAM, Waiting, explanationOf, nameOf, putName, sys } = require('./calls.js');
const { StreamBase } = require('./stream-base.js');

const NONE = -1;
const READ_SIZE = 65_536;
// The number of reads of one stream before other streams are served (libuv's number).
const READS_IN_A_ROW = 32;

// One buffer for all streams: the bytes of a read are copied out. The buffer is made at the first
// read, so that the image contains no buffer.
let scratch;

class SocketStream extends StreamBase {
  #socket = NONE;
  #domain = 0;
  #reading = false;
  #listening = false;
  #connecting;
  #connected = false;
  #delayedError = 0;
  #writes = [];
  #shutdown;
  #shut = false;
  #abort = false;
  #input = new Waiting(IN, () => this.#onInput());
  #output = new Waiting(OUT, () => this.#onOutput());

  get fd() {
    return this.#socket;
  }
  get writeQueueSize() {
    let size = 0;
    for (const { views } of this.#writes) for (const view of views) size += view.byteLength;
    return size;
  }
  get socket() {
    return this.#socket;
  }
  setBlocking() {
    return 0;
  }

  get domain() {
    return this.#domain;
  }
  // Uses a descriptor of the process as this stream's socket if the descriptor is of the kind
  // `kind`. Returns 0 or a negative errno.
  takeOver(fd, kind) {
    if (this.#socket !== NONE) return ERRNO.EBUSY;
    const found = sys(FILES.kind, fd);
    if (found !== kind) return found === INVALID_KIND ? ERRNO.EBADF : ERRNO.EINVAL;
    const name = nameOf(fd, false);
    if (typeof name === 'number') return name;
    this.#socket = fd;
    this.#domain = name[0];
    this.#connected = typeof nameOf(fd, true) !== 'number';
    return 0;
  }

  // Makes the socket unless the stream already has a socket. Returns 0 or a negative errno.
  make(domain) {
    if (this.#socket !== NONE) return this.#domain === domain ? 0 : ERRNO.EINVAL;
    const socket = sys(NUMBERS.socket, domain, STREAM);
    if (socket < 0) return socket;
    this.#socket = socket;
    this.#domain = domain;
    return 0;
  }
  // Uses an accepted connection as this stream's socket.
  adopt(socket, domain) {
    this.#socket = socket;
    this.#domain = domain;
    this.#connected = true;
  }
  // Keeps an error of `bind`. `connect`, `listen` and queries of the address report the error
  // later, as in libuv for an address in use.
  delay(errno) {
    this.#delayedError = errno;
    return 0;
  }
  get delayedError() {
    return this.#delayedError;
  }
  putName(ofPeer, target) {
    if (this.#delayedError !== 0) return this.#delayedError;
    if (this.#socket === NONE) return ERRNO.EBADF;
    return putName(nameOf(this.#socket, ofPeer), target);
  }

  startListening(backlog) {
    if (this.#delayedError !== 0) return this.#delayedError;
    const status = sys(NUMBERS.listen, this.#socket, backlog);
    if (status < 0) return status;
    this.#listening = true;
    this.setActive(true);
    return this.#input.start(this.#socket);
  }

  // Starts connecting; `address` is in the kernel's form. The request is completed in a later
  // round, also after a refusal.
  startConnecting(req, address, port) {
    if (this.#connecting !== undefined) return ERRNO.EALREADY;
    let status = this.#delayedError;
    if (status === 0) status = sys(NUMBERS.connect, this.#socket, address, port);
    if (status < 0 && status !== ERRNO.EINPROGRESS && !this.reportsThroughRequest(status)) return status;
    this.#connecting = req;
    req.dispatch();
    if (status < 0 && status !== ERRNO.EINPROGRESS) {
      const reason = reasonOf(status);
      native.enqueueTask(() => reportWith(reason, () => this.#finishConnecting(req, status)));
      return 0;
    }
    return this.#output.start(this.#socket);
  }
  // Returns whether libuv reports a failure of `connect` through the request. Other failures are
  // the call's own result.
  reportsThroughRequest(status) {
    return status === ERRNO.EADDRINUSE || status === ERRNO.ECONNREFUSED;
  }
  #finishConnecting(req, status) {
    if (this.#connecting !== req) return;
    this.#connecting = undefined;
    this.#connected = status === 0;
    req.finish(status, this, req, status === 0, status === 0);
    if (status === 0 && !this.closing) this.#flush();
  }

  startReading() {
    if (this.closing) return ERRNO.EINVAL;
    if (!this.#connected) return ERRNO.ENOTCONN;
    this.#reading = true;
    this.setActive(true);
    return this.#input.start(this.#socket);
  }
  stopReading() {
    if (!this.#reading) return 0;
    this.#reading = false;
    this.#input.stop();
    this.setActive(this.#listening);
    return 0;
  }

  #onInput() {
    if (this.#listening) this.#accept();
    else this.#read();
  }
  #accept() {
    // Waits for the next connection before the callbacks run, because a callback may throw.
    const status = this.#input.start(this.#socket);
    // Another part of the program has closed the descriptor.
    if (status === ERRNO.EBADF) this.setActive(false);
    const accepted = status < 0 ? status : sys(NUMBERS.accept, this.#socket);
    if (accepted === ERRNO.EAGAIN) return;
    if (accepted < 0) {
      this.makeCallback(this.onconnection, accepted, undefined);
      return;
    }
    const client = this.newConnection();
    client.adopt(accepted, this.#domain);
    this.makeCallback(this.onconnection, 0, client);
  }
  #read() {
    for (let i = 0; i < READS_IN_A_ROW && this.#reading; i++) {
      scratch ??= new Uint8Array(READ_SIZE);
      const target = this.userBuffer ?? scratch;
      const count = sys(NUMBERS.read, this.#socket, target);
      if (count === ERRNO.EAGAIN) break;
      if (count <= 0) {
        this.stopReading();
        this.emitRead(count === 0 ? ERRNO.EOF : count, undefined);
        return;
      }
      const more = count === target.byteLength;
      if (!more && this.#reading) this.#input.start(this.#socket);
      let delivered = false;
      try {
        this.emitRead(count, target);
        delivered = true;
      } finally {
        // If the program's callback threw, reading continues.
        if (!delivered && this.#reading) this.#input.start(this.#socket);
      }
      if (!more) return;
    }
    if (this.#reading) this.#input.start(this.#socket);
  }

  tryWrite(view) {
    if (this.#writes.length > 0 || this.#connecting !== undefined) return ERRNO.EAGAIN;
    if (this.#socket === NONE) return ERRNO.EBADF;
    return sys(NUMBERS.write, this.#socket, view);
  }
  queueWrite(req, views) {
    if (this.#socket === NONE) return ERRNO.EBADF;
    req.dispatch();
    this.#writes.push({ req, views });
    return this.#connecting === undefined ? this.#output.start(this.#socket) : 0;
  }
  queueShutdown(req) {
    if ((!this.#connected && this.#connecting === undefined) || this.#shut || this.#shutdown !== undefined || this.closing) {
      return ERRNO.ENOTCONN;
    }
    this.#shutdown = req;
    req.dispatch();
    if (this.#writes.length === 0 && this.#connecting === undefined) native.enqueueTask(() => this.#flush());
    return 0;
  }

  #onOutput() {
    const req = this.#connecting;
    if (req === undefined) {
      this.#flush();
      return;
    }
    const status = sys(NUMBERS.error, this.#socket);
    const reason = status < 0 ? explanationOf(this.#socket) : undefined;
    reportWith(reason, () => this.#finishConnecting(req, status), status);
  }
  #flush() {
    const done = [];
    while (this.#writes.length > 0) {
      const { req, views } = this.#writes[0];
      const status = this.#drain(views);
      if (status === ERRNO.EAGAIN) break;
      this.#writes.shift();
      done.push([req, status]);
    }
    if (this.#writes.length > 0) this.#output.start(this.#socket);
    for (const [req, status] of done) req.finish(status, this, undefined);
    const shutdown = this.#shutdown;
    if (this.#writes.length > 0 || shutdown === undefined || this.closing) return;
    this.#shutdown = undefined;
    this.#shut = true;
    shutdown.finish(sys(NUMBERS.shutdown, this.#socket), this, undefined);
  }
  #drain(views) {
    while (views.length > 0) {
      const taken = sys(NUMBERS.write, this.#socket, views[0]);
      if (taken < 0) return taken;
      if (taken < views[0].byteLength) views[0] = views[0].subarray(taken);
      else views.shift();
    }
    return 0;
  }

  // Closes with a reset: the peer's next read fails with an error.
  reset(callback) {
    if (this.closing) return 0;
    if (this.#shutdown !== undefined) return ERRNO.EINVAL;
    this.#abort = true;
    this.close(callback);
    return 0;
  }

  release() {
    this.#reading = false;
    this.#input.stop();
    this.#output.stop();
    if (this.#socket !== NONE) sys(NUMBERS.close, this.#socket, this.#abort ? 1 : 0);
    this.#socket = NONE;
    const connecting = this.#connecting;
    const writes = this.#writes.splice(0);
    const shutdown = this.#shutdown;
    this.#connecting = undefined;
    this.#shutdown = undefined;
    if (connecting === undefined && writes.length === 0 && shutdown === undefined) return;
    // This task runs before the handle's own callback, which is queued next.
    native.enqueueTask(() => {
      connecting?.finish(ERRNO.ECANCELED, this, connecting, false, false);
      for (const { req } of writes) req.finish(ERRNO.ECANCELED, this, undefined);
      shutdown?.finish(ERRNO.ECANCELED, this, undefined);
    });
  }
}

module.exports = { SocketStream };
