// Plain bytes that wait for a program that does not read. An attached session reads nothing while
// too many bytes wait. Next: session.js.
'use strict';

// The number of waiting bytes from which on an attached session reads nothing.
const MAX_WAITING = 64 << 10;

class PlainQueue {
  #views = [];
  #bytes = 0;
  #isPaused = false;

  get isEmpty() {
    return this.#views.length === 0;
  }
  // Appends bytes of the session.
  push(view, session) {
    this.#views.push(view);
    this.#bytes += view.length;
    if (session?.isAttached !== true || this.#isPaused || this.#bytes < MAX_WAITING) return;
    this.#isPaused = true;
    session.pause();
  }
  // Puts back the rest of the first view.
  putBack(view) {
    this.#views.unshift(view);
    this.#bytes += view.length;
  }
  take() {
    const view = this.#views.shift();
    this.#bytes -= view.length;
    return view;
  }
  // Lets the session read again if no bytes wait.
  resume(session) {
    if (!this.#isPaused || !this.isEmpty) return;
    this.#isPaused = false;
    session?.resume();
  }
  clear() {
    this.#views = [];
    this.#bytes = 0;
  }
}

module.exports = { PlainQueue };
