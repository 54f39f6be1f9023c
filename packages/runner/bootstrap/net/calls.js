// The kernel's socket calls, their constants, and waiting for a socket. Next: stream-base.js, the
// streams of Node's library; socket-stream.js, a stream over a socket of the kernel.
'use strict';

const operations = require('../event-loop/operations.js');
const { sockets: NUMBERS } = require('../generated/system-calls.js');

// Linux's error numbers, and libuv's end of file.
const ERRNO = {
  EBADF: -9,
  EAGAIN: -11,
  EBUSY: -16,
  EINVAL: -22,
  EPIPE: -32,
  EPROTO: -71,
  EAFNOSUPPORT: -97,
  EADDRINUSE: -98,
  ECONNRESET: -104,
  ENOBUFS: -105,
  EISCONN: -106,
  ENOTCONN: -107,
  ECONNREFUSED: -111,
  EALREADY: -114,
  EINPROGRESS: -115,
  ECANCELED: -125,
  ENOTSOCK: -88,
  EOF: -4095,
};

const UNIX = 1;
const INET = 2;
const INET6 = 10;
// libuv's kinds of descriptors, in the order of Node's `guessHandleType`.
const TCP_KIND = 0;
const TTY_KIND = 1;
const UDP_KIND = 2;
const FILE_KIND = 3;
const PIPE_KIND = 4;
const INVALID_KIND = 6;

const STREAM = 1;
const DATAGRAM = 2;
const IN = 1;
const OUT = 4;

const { sys } = native;

// Waits once for one kind of readiness. The wait does not keep the event loop alive; the handle or
// request does.
class Waiting {
  #mask;
  #callback;
  #operation = 0;
  #socket = 0;

  constructor(mask, callback) {
    this.#mask = mask;
    this.#callback = callback;
  }
  start(socket) {
    if (this.#operation !== 0) return 0;
    const operation = sys(NUMBERS.arm, socket, this.#mask);
    if (operation < 0) return operation;
    this.#operation = operation;
    this.#socket = socket;
    operations.expect(
      operation,
      () => {
        this.#operation = 0;
        this.#callback();
      },
      false,
    );
    return 0;
  }
  stop() {
    if (this.#operation === 0) return;
    sys(NUMBERS.disarm, this.#socket, this.#operation);
    operations.forget(this.#operation);
    this.#operation = 0;
  }
}

const NAME_SIZE = 256;
const EXPLANATION_SIZE = 1024;

// Makes two connected sockets. Returns their descriptors, or a negative errno.
function pair() {
  const ends = new Uint32Array(2);
  const status = sys(NUMBERS.pair, ends);
  return status < 0 ? status : ends;
}

// Returns the address of a socket or its peer as [family, port, text], or a negative errno.
function nameOf(socket, ofPeer) {
  const bytes = new Uint8Array(NAME_SIZE);
  const length = sys(NUMBERS.name, socket, ofPeer ? 1 : 0, bytes);
  if (length < 0) return length;
  return readName(bytes, length);
}

// Returns the explanation of a failed connection to the outside, in the form of denials.js, and
// removes the explanation. Returns undefined without an explanation.
function explanationOf(socket) {
  const bytes = new Uint8Array(EXPLANATION_SIZE);
  const length = sys(NUMBERS.explain, socket, bytes);
  return length > 0 ? native.decode(bytes, 0, Math.min(length, bytes.length), native.encodings.utf8) : undefined;
}

function readName(bytes, length) {
  const text = native.decode(bytes, 4, Math.min(length, bytes.length), native.encodings.utf8);
  return [bytes[0] | (bytes[1] << 8), bytes[2] | (bytes[3] << 8), text];
}

// Writes the result of `nameOf` to `target`, as Node's AddressToJS. Returns 0, or the result itself
// if the result is a negative errno.
function putName(name, target) {
  if (typeof name === 'number') return name;
  target.address = name[2];
  target.family = name[0] === INET6 ? 'IPv6' : 'IPv4';
  target.port = name[1];
  return 0;
}

// Returns the part of a text before the first NUL, as C reads the text.
const bare = (text) => `${text}`.split('\0', 1)[0];

module.exports = {
  NUMBERS,
  ERRNO,
  UNIX,
  INET,
  INET6,
  STREAM,
  DATAGRAM,
  TCP_KIND,
  TTY_KIND,
  UDP_KIND,
  FILE_KIND,
  PIPE_KIND,
  INVALID_KIND,
  IN,
  OUT,
  NAME_SIZE,
  sys,
  Waiting,
  explanationOf,
  nameOf,
  pair,
  readName,
  putName,
  bare,
};
