// What: operations that the kernel has under way for this process: who is told when one completes, and whether it holds the loop.
// Why one table: the shim delivers a completion as a number; everything that waits for the kernel (sockets, pipes, watchers, long
// computations) stands in it, so that a handle's `ref` and `unref` work alike everywhere.
// Next: the bindings that start operations; entry.js registers `complete`.
'use strict';

const pending = new Map();

// Remembers who is told about `number`, which a system call has returned. It holds the loop unless `ref` is false.
function expect(number, callback, ref = true) {
  pending.set(number, { callback, ref });
  if (ref) native.loop.keepAlive[0]++;
}

// The operation will not complete: the kernel has cancelled it.
function forget(number) {
  const operation = pending.get(number);
  if (operation === undefined) return;
  pending.delete(number);
  if (operation.ref) native.loop.keepAlive[0]--;
}

function setRef(number, ref) {
  const operation = pending.get(number);
  if (operation === undefined || operation.ref === ref) return;
  operation.ref = ref;
  native.loop.keepAlive[0] += ref ? 1 : -1;
}

// The shim's `complete` hook. `result` is a value or a negative errno; `bytes` a Uint8Array, or undefined.
function complete(number, result, bytes) {
  const operation = pending.get(number);
  if (operation === undefined) return;
  forget(number);
  operation.callback(result, bytes);
}

module.exports = { expect, forget, setRef, complete };
