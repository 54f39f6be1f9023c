// The memory that a session may use, in bytes (`maxSessionMemory`). A session above the limit
// accepts no new streams and no headers. Existing streams may exceed the limit. Next: session.js.
'use strict';

class SessionMemory {
  #limit;
  #used = 0;

  constructor(limit) {
    this.#limit = limit;
  }
  add(bytes) {
    this.#used += bytes;
  }
  subtract(bytes) {
    this.#used -= bytes;
  }
  get left() {
    return Math.max(0, this.#limit - this.#used);
  }
}

module.exports = { SessionMemory };
