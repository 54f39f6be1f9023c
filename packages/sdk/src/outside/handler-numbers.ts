// The numbers of functions that respond to requests. A message to the sidecar has the number of a
// function. This module is loaded with the options, so it is apart from `handlers.ts`, which needs
// streams of Node.

import type { RequestHandler } from '../options/outside.js';

const numbers = new WeakMap<RequestHandler, number>();
let last = 0;

/** Returns the number of a function, which never changes. */
export function handlerNumber(handle: RequestHandler): number {
  let number = numbers.get(handle);
  if (number === undefined) {
    number = ++last;
    numbers.set(handle, number);
  }
  return number;
}
