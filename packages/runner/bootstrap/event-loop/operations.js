// The operations of the kernel that are pending for this process: the callback of each, and whether
// the operation keeps the event loop alive. There is one table because the shim delivers a
// completion as a number. Everything that waits for the kernel (sockets, pipes, watchers, long
// computations) has an entry, so `ref` and `unref` work equally for all handles. Next: the
// bindings that start operations; hooks.js registers `complete`.
'use strict';

const pending = new Map();

// Registers the callback of operation `number`, which a system call returned. The operation keeps
// the event loop alive unless `ref` is false.
function expect(number, callback, ref = true) {
  pending.set(number, { callback, ref });
  if (ref) native.loop.keepAlive[0]++;
}

// Removes an operation that the kernel has cancelled and that will not complete.
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

// The shim's `complete` hook. `result` is a value or a negative errno; `bytes` is a Uint8Array or
// undefined.
function complete(number, result, bytes) {
  const operation = pending.get(number);
  if (operation === undefined) return;
  forget(number);
  operation.callback(result, bytes);
}

module.exports = { expect, forget, setRef, complete };
