// The two directions of a pipe to a child that this process waits for. This process writes the
// child's input and reads the child's output. Next: ../internal-bindings/spawn_sync.js.
'use strict';

const { ERRNO, NUMBERS, sys } = require('../net/calls.js');

const PIECE = 65_536;

class Input {
  #fd;
  #rest;
  isOpen = true;
  // The negative errno of the failed write, or 0 if no write has failed.
  error = 0;

  constructor(fd, input) {
    this.#fd = fd;
    this.#rest = input === undefined || input === null ? new Uint8Array(0) : bytesOf(input);
  }
  // Writes as much as possible. Returns false if the child receives no more input.
  feed() {
    while (this.isOpen) {
      const taken = this.#rest.byteLength === 0 ? 0 : sys(NUMBERS.write, this.#fd, this.#rest);
      if (taken === ERRNO.EAGAIN) return true;
      if (taken > 0) this.#rest = this.#rest.subarray(taken);
      if (taken < 0) this.error = taken;
      if (taken < 0 || this.#rest.byteLength === 0) {
        this.isOpen = false;
        sys(NUMBERS.shutdown, this.#fd);
      }
    }
    return false;
  }
}

const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

class Output {
  #fd;
  #pieces = [];
  length = 0;
  isOpen = true;

  constructor(fd) {
    this.#fd = fd;
  }
  // Reads the available bytes. Returns false at the end of the output.
  collect() {
    while (this.isOpen) {
      const piece = new Uint8Array(PIECE);
      const count = sys(NUMBERS.read, this.#fd, piece);
      if (count === ERRNO.EAGAIN) return true;
      if (count > 0) {
        this.#pieces.push(count === PIECE ? piece : piece.slice(0, count));
        this.length += count;
      } else {
        this.isOpen = false;
      }
    }
    return false;
  }
  take(Buffer) {
    return Buffer.concat(this.#pieces, this.length);
  }
}

module.exports = { Input, Output };
