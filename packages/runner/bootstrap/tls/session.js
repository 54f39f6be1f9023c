// A session of TLS: a socket of the kernel whose bytes are records (crate `edge`, tls/records.rs).
// The session is in the edge process, and this class moves the records. The edge also moves the
// encrypted bytes of a session that is attached to a connection to the outside (tls/attached.rs).
// Next: ../internal-bindings/tls_wrap.js.
'use strict';

const { EACCES } = require('../errors/denials.js');
const { ERRNO, IN, NUMBERS, OUT, Waiting, explanationOf, sys } = require('../net/calls.js');
const { NUMBERS: PROCESSES, sysWait } = require('../processes/calls.js');

// The kinds of records to the session.
const START = 1;
const ENCRYPTED = 2;
const PLAIN = 3;
const PLAIN_END = 4;
const CONTINUE = 5;
const ENCRYPTED_END = 6;
const PAUSE = 7;
const RESUME = 8;
const ASK = 9;
const FRAGMENT = 70;
// The kinds of records from the session.
const TO_PEER = 129;
const TO_PROGRAM = 130;
const ENDED = 131;
const EVENT = 132;
const WRITTEN = 133;
const HANDLED = 134;

const HEAD_SIZE = 4;
const READ_SIZE = 64 << 10;
const MAX_PAYLOAD = 1 << 20;
// The most bytes of one record of the program's bytes.
const PIECE = 64 << 10;
// The most bytes of a payload that is copied behind its head, which saves a call of the kernel.
const COPIED = 4 << 10;

const { utf8 } = native.encodings;
const NONE = -1;
const FOREVER = -1;
const NOTHING = new Uint8Array(0);
let scratch;

class Session {
  #socket;
  #owner;
  #input = new Waiting(IN, () => this.#read());
  #output = new Waiting(OUT, () => this.#flush());
  // Bytes for the session that the kernel has not accepted.
  #queue = [];
  #failure = ERRNO.ECONNRESET;
  // The number of records that the session has not handled. The loop stays alive for them.
  #unhandled = 0;
  // The settings, the first record, are handled.
  #isStarted = false;
  // The record that is being read.
  #head = new Uint8Array(HEAD_SIZE);
  #connection;
  #headLength = 0;
  #left = 0;
  #parts = [];
  // Bytes of the session that wait because a callback has thrown.
  #rest = NOTHING;
  // While a request waits for its reply, other records wait here.
  #isAsking = false;
  #reply;
  #deferred = [];

  // `owner` has the methods toPeer(view), toProgram(view), ended(), event(event), written(count),
  // failed(errno, explanation), drained() and handled(). `connection` is the socket of an attached
  // session.
  constructor(socket, owner, connection) {
    this.#socket = socket;
    this.#connection = connection;
    this.#owner = owner;
    this.#input.start(socket);
  }

  // Opens a session, which is attached if `connection` is the socket of a connection to the
  // outside. Returns a negative errno if the kernel refuses.
  static open(owner, connection) {
    if (connection >= 0) {
      const attached = sys(NUMBERS.attachTls, connection);
      if (attached >= 0) return new Session(attached, owner, connection);
    }
    const socket = sys(NUMBERS.openTls, 0);
    return socket < 0 ? socket : new Session(socket, owner, NONE);
  }

  /** Whether the edge moves the encrypted bytes. */
  get isAttached() {
    return this.#connection >= 0;
  }

  /** Whether the session has encrypted bytes of the peer whose results are missing. */
  get isDecrypting() {
    return this.#unhandled > (this.#isStarted ? 0 : 1);
  }

  /** Whether the kernel has accepted all records. */
  get isDrained() {
    return this.#queue.length === 0;
  }

  start(settings) {
    this.#sendJson(START, settings);
  }
  go(choices) {
    this.#sendJson(CONTINUE, choices);
  }
  // The views belong to the session from now on.
  encrypted(view) {
    this.#sendBytes(ENCRYPTED, view);
  }
  plain(view) {
    this.#sendBytes(PLAIN, view);
  }
  plainEnd() {
    this.#send(PLAIN_END, undefined);
  }
  encryptedEnd() {
    this.#send(ENCRYPTED_END, undefined);
  }
  // Limits the plain bytes of each record of TLS that the session makes from now on.
  limitFragment(size) {
    this.#send(FRAGMENT, new Uint8Array([size & 255, size >> 8]));
  }
  // Ends the program's own bytes of the connection. The session writes after these bytes.
  takeConnection() {
    sys(NUMBERS.shutdown, this.#connection);
  }
  pause() {
    this.#send(PAUSE, undefined);
  }
  resume() {
    this.#send(RESUME, undefined);
  }

  // Returns the reply to a request, and suspends the process until then. Returns undefined if the
  // session has ended.
  ask(request) {
    this.#isAsking = true;
    this.#reply = undefined;
    this.#sendJson(ASK, request);
    this.#suspend(() => this.#reply !== undefined);
    this.#isAsking = false;
    native.enqueueTask(() => this.#catchUp());
    return this.#reply;
  }
  // Suspends the process until `isDone()` is true or the session has ended. The owner receives the
  // records that arrive. Only the edge may decide when `isDone()` is true, and never the peer.
  settle(isDone) {
    this.#catchUp();
    this.#suspend(isDone);
  }
  #suspend(isDone) {
    while (!isDone() && this.#socket !== NONE) {
      const mask = IN | (this.isDrained ? 0 : OUT);
      sys(PROCESSES.watch, new Uint32Array([this.#socket, mask]));
      sysWait(PROCESSES.waitForWatched, FOREVER);
      this.#write();
      this.#read();
    }
  }
  #catchUp() {
    while (this.#deferred.length > 0 && !this.#isAsking) {
      const call = this.#deferred[0];
      let isDone = false;
      try {
        call();
        isDone = true;
      } finally {
        this.#deferred.shift();
        if (!isDone) native.enqueueTask(() => this.#catchUp());
      }
    }
  }
  // Calls the owner now, or after earlier calls that wait.
  #tell(call) {
    if (this.#isAsking || this.#deferred.length > 0) this.#deferred.push(call);
    else call();
  }

  close() {
    if (this.#socket === NONE) return;
    if (this.#unhandled > 0) native.loop.keepAlive[0]--;
    this.#unhandled = 0;
    this.#input.stop();
    this.#output.stop();
    sys(NUMBERS.close, this.#socket, 0);
    this.#socket = NONE;
    this.#queue = [];
    this.#parts = [];
    this.#rest = NOTHING;
  }

  #sendJson(kind, value) {
    this.#send(kind, new Uint8Array(native.encode(JSON.stringify(value), utf8)));
  }
  #sendBytes(kind, view) {
    for (let at = 0; at < view.length; at += PIECE) this.#send(kind, view.subarray(at, at + PIECE));
  }
  #send(kind, payload) {
    if (this.#socket === NONE) return;
    if ((kind === START || kind === ENCRYPTED || kind === CONTINUE) && this.#unhandled++ === 0) native.loop.keepAlive[0]++;
    const length = payload?.length ?? 0;
    const isCopied = length <= COPIED;
    const head = new Uint8Array(HEAD_SIZE + (isCopied ? length : 0));
    head[0] = kind;
    head[1] = length;
    head[2] = length >> 8;
    head[3] = length >> 16;
    this.#queue.push(head);
    if (!isCopied) this.#queue.push(payload);
    else if (length > 0) head.set(payload, HEAD_SIZE);
    this.#write();
  }
  #write() {
    while (this.#queue.length > 0) {
      const view = this.#queue[0];
      const taken = sys(NUMBERS.write, this.#socket, view);
      if (taken < 0 && taken !== ERRNO.EAGAIN) {
        // The next read of the socket reports the failure, and returns 0.
        this.#queue = [];
        this.#failure = taken;
        return;
      }
      if (taken === ERRNO.EAGAIN || taken < view.length) {
        if (taken > 0) this.#queue[0] = view.subarray(taken);
        this.#output.start(this.#socket);
        return;
      }
      this.#queue.shift();
    }
  }
  #flush() {
    if (this.#socket === NONE) return;
    this.#write();
    if (this.isDrained) this.#owner.drained();
  }

  #read() {
    scratch ??= new Uint8Array(READ_SIZE);
    if (this.#rest.length > 0) this.#take(this.#rest);
    if (this.#socket === NONE) return;
    const target = scratch;
    const count = sys(NUMBERS.read, this.#socket, target);
    if (count !== ERRNO.EAGAIN && count <= 0) {
      const status = count < 0 ? count : this.#failure;
      const explanation = status === EACCES ? explanationOf(this.#socket) : undefined;
      this.close();
      this.#tell(() => this.#owner.failed(status, explanation));
      return;
    }
    // Waits before the callbacks run, because a callback may throw.
    this.#input.start(this.#socket);
    if (count > 0) this.#take(target.slice(0, count));
  }
  // Handles bytes of the session. If a callback throws, the bytes behind its record wait for a
  // task.
  #take(bytes) {
    this.#rest = bytes;
    let isDone = false;
    try {
      while (this.#rest.length > 0 && this.#socket !== NONE) this.#takePiece();
      isDone = true;
    } finally {
      if (!isDone) native.enqueueTask(() => this.#take(this.#rest));
    }
  }
  #takePiece() {
    if (this.#headLength < HEAD_SIZE) {
      const part = this.#next(HEAD_SIZE - this.#headLength);
      this.#head.set(part, this.#headLength);
      this.#headLength += part.length;
      if (this.#headLength < HEAD_SIZE) return;
      this.#left = this.#head[1] | (this.#head[2] << 8) | (this.#head[3] << 16);
      if (this.#left > MAX_PAYLOAD) {
        this.close();
        this.#tell(() => this.#owner.failed(ERRNO.EPROTO));
        return;
      }
    }
    const piece = this.#next(this.#left);
    this.#left -= piece.length;
    if (this.#left === 0) this.#headLength = 0;
    this.#payload(this.#head[0], piece);
  }
  // Takes at most `count` of the bytes that wait.
  #next(count) {
    const piece = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
  // Handles a part of a payload, the last part if `#left` is 0.
  #payload(kind, piece) {
    if (kind === TO_PEER) this.#tell(() => this.#owner.toPeer(piece));
    else if (kind === TO_PROGRAM) this.#tell(() => this.#owner.toProgram(piece));
    else {
      this.#parts.push(piece);
      if (this.#left === 0) this.#whole(kind, joined(this.#parts.splice(0)));
    }
  }
  #whole(kind, payload) {
    if (kind === HANDLED) {
      this.#isStarted = true;
      if (this.#unhandled === 0 || --this.#unhandled > 0) return;
      native.loop.keepAlive[0]--;
      this.#tell(() => this.#owner.handled());
    } else if (kind === ENDED) this.#tell(() => this.#owner.ended());
    else if (kind === WRITTEN) {
      const count = new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
      this.#tell(() => this.#owner.written(count));
    } else if (kind === EVENT) {
      const event = JSON.parse(native.decode(payload, 0, payload.length, utf8));
      if (event.type === 'reply') this.#reply = event;
      else this.#tell(() => this.#owner.event(event));
    }
  }
}

function joined(parts) {
  if (parts.length === 1) return parts[0];
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// OpenSSL's limits of the plain bytes of a record of TLS.
const isFragmentSize = (size) => size >= 512 && size <= 16 << 10;

module.exports = { Session, isFragmentSize };
