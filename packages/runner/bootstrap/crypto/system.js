// The kernel's calls for cryptography (docs/internals/guest-abi.md), as functions over views. The
// kernel accepts at most 64 KiB per call, because a call cannot be stopped. `update` splits longer
// data; callers of other functions check the length. Next: faults.js, which converts negative
// results to errors; hash.js and jobs.js, which make most of the calls.
'use strict';

const { nameOf } = require('../errors/errno.js');
const { cryptography: NUMBERS } = require('../generated/system-calls.js');

const ENFILE = -23;
const MAX_CHUNK = 65_536;

// Throws if `result` is a negative errno. The usual cause is a limit of the kernel.
function checked(result) {
  if (result >= 0) return result;
  const error = new Error(`the kernel refused a computation: ${nameOf(result)}`);
  error.code = nameOf(result);
  throw error;
}

// The contexts and their owners. Contexts whose owner is garbage are closed when there are many,
// and when the kernel refuses to open more. A FinalizationRegistry or WeakRefs would wait until the
// program is idle. A loop that makes a hundred thousand digests is never idle. The tables are made
// in the process, because all processes would share tables of the image.
let owners;
let handles;
let many = 256;

function sweep() {
  const [entries] = native.previewEntries(owners);
  const alive = new Set();
  for (let i = 1; i < entries.length; i += 2) alive.add(entries[i]);
  for (const handle of handles) {
    if (alive.has(handle)) continue;
    native.sys(NUMBERS.close, handle);
    handles.delete(handle);
  }
  many = Math.max(256, 2 * handles.size);
}

function open(owner, ...call) {
  owners ??= new WeakMap();
  handles ??= new Set();
  if (handles.size >= many) sweep();
  let result = native.sys(...call);
  if (result === ENFILE) {
    native.gc();
    sweep();
    result = native.sys(...call);
  }
  handles.add(checked(result));
  owners.set(owner, result);
  return result;
}

function closed(handle) {
  handles.delete(handle);
}

const system = {
  MAX_CHUNK,

  /** Returns a digest of `data`: a view, or a string (as UTF-8), of at most MAX_CHUNK bytes. */
  digest(id, data, length) {
    const out = new Uint8Array(length);
    checked(native.sys(NUMBERS.digest, id, data, out));
    return out;
  },

  hmac(id, key, data, length) {
    const out = new Uint8Array(length);
    checked(native.sys(NUMBERS.hmac, id, key, data, out));
    return out;
  },

  /** Opens a context. A later sweep closes the context if `owner` is garbage. */
  openHash(owner, id) {
    return open(owner, NUMBERS.hashOpen, id);
  },

  openHmac(owner, id, key) {
    return open(owner, NUMBERS.hmacOpen, id, key);
  },

  copy(owner, handle) {
    return open(owner, NUMBERS.copy, handle);
  },

  update(handle, view) {
    for (let at = 0; at < view.byteLength; at += MAX_CHUNK) {
      checked(native.sys(NUMBERS.update, handle, part(view, at, MAX_CHUNK)));
    }
  },

  finish(handle, length) {
    closed(handle);
    const out = new Uint8Array(length);
    checked(native.sys(NUMBERS.finish, handle, out));
    return out;
  },

  /** Runs a quick command. Returns its result, or a fault (a negative number). */
  run(command, request) {
    let out = new Uint8Array(1_024);
    let length = native.sys(NUMBERS.run, command, request, out);
    if (length > out.length) {
      out = new Uint8Array(length);
      length = native.sys(NUMBERS.run, command, request, out);
    }
    return length < 0 ? length : out.subarray(0, length);
  },
};

function part(view, at, most) {
  if (at === 0 && view.byteLength <= most) return view;
  return new Uint8Array(view.buffer, view.byteOffset + at, Math.min(most, view.byteLength - at));
}

module.exports = { ...system, open, closed, part, checked };
