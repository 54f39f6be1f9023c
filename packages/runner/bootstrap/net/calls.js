// What: the kernel's socket calls by name (docs/internals/guest-abi.md, 0x200), and waiting for a socket.
// Next: stream-base.js, what Node's library sees of a stream; socket-stream.js, a stream over a socket of the kernel.
'use strict';

const operations = require('../event-loop/operations.js');

const NUMBERS = {
  socket: 0x200,
  close: 0x201,
  bind: 0x202,
  listen: 0x203,
  accept: 0x204,
  connect: 0x205,
  read: 0x206,
  write: 0x207,
  shutdown: 0x208,
  name: 0x209,
  send: 0x20b,
  receive: 0x20c,
  arm: 0x20d,
  disarm: 0x20e,
  error: 0x20f,
  pair: 0x210,
  offer: 0x211,
  collect: 0x212,
  lookUp: 0x213,
};

// Linux's numbers, and libuv's end of file.
const ERRNO = {
  EBADF: -9,
  EAGAIN: -11,
  EBUSY: -16,
  EINVAL: -22,
  EPIPE: -32,
  EPROTO: -71,
  EAFNOSUPPORT: -97,
  EADDRINUSE: -98,
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
const UDP_KIND = 2;
const FILE_KIND = 3;
const PIPE_KIND = 4;
const INVALID_KIND = 6;

const STREAM = 1;
const DATAGRAM = 2;
const IN = 1;
const OUT = 4;

const { sys } = native;

// Waits, once, for one kind of readiness. The handle or request counts for the loop, not the waiting.
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

// Two descriptors that are connected with each other, or a negative errno.
function pair() {
  const ends = new Uint32Array(2);
  const status = sys(NUMBERS.pair, ends);
  return status < 0 ? status : ends;
}

// [family, port, text], or a negative errno.
function nameOf(socket, ofPeer) {
  const bytes = new Uint8Array(NAME_SIZE);
  const length = sys(NUMBERS.name, socket, ofPeer ? 1 : 0, bytes);
  if (length < 0) return length;
  return readName(bytes, length);
}

function readName(bytes, length) {
  const text = native.decode(bytes, 4, Math.min(length, bytes.length), native.encodings.utf8);
  return [bytes[0] | (bytes[1] << 8), bytes[2] | (bytes[3] << 8), text];
}

// As Node's AddressToJS.
function putName(name, target) {
  if (typeof name === 'number') return name;
  target.address = name[2];
  target.family = name[0] === INET6 ? 'IPv6' : 'IPv4';
  target.port = name[1];
  return 0;
}

// The part of a text before its first NUL, as C reads it.
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
  UDP_KIND,
  FILE_KIND,
  PIPE_KIND,
  INVALID_KIND,
  IN,
  OUT,
  NAME_SIZE,
  sys,
  Waiting,
  nameOf,
  pair,
  readName,
  putName,
  bare,
};
