// Finds the random bytes that Node's library draws in advance and keeps, so that a restore can draw
// them again (../start-up/restore.js). The library runs unmodified, and its caches are variables of
// a closure. But every cache is filled through our binding. The cache of `randomUUID` is the memory
// that `secureBuffer` makes. The cache of `randomInt` is found while the image is made. Next:
// random.js, ../start-up/restore.js.
'use strict';

const kept = [];

/** Implements `secureBuffer` of Node's binding, which Node calls only for `randomUUID`. */
function secureBuffer(length) {
  const bytes = new Uint8Array(length);
  kept.push(bytes);
  return bytes;
}

let learned;

/**
 * Records a buffer of random bytes while `learn` runs. At other times a call costs one comparison.
 */
function seen(target) {
  if (learned !== undefined) learned.push(target);
}

const BYTES_OF_ONE = 6;

/**
 * Finds the cache of `randomInt` while the image is made: calls `randomInt` until the cache is used
 * up, records the cache and clears its bytes.
 */
function learn(randomInt) {
  learned = [];
  randomInt(2);
  const [cache] = learned;
  for (let drawn = BYTES_OF_ONE; drawn < cache.length; drawn += BYTES_OF_ONE) randomInt(2);
  if (learned.length !== 1 || cache.length % BYTES_OF_ONE !== 0) throw new Error("randomInt's cache has another form");
  learned = undefined;
  cache.fill(0);
  kept.push(cache);
}

/**
 * Draws all kept bytes again. Fresh bytes also replace the part of a cache that is not used yet. A
 * cache that was never filled is skipped, because Node fills a cache before its first use.
 */
function drawAnew() {
  for (const bytes of kept) if (wasDrawn(bytes)) native.random(bytes);
}

/** A cache that begins with this many zeros was never filled. */
const PROBE = 32;

function wasDrawn(bytes) {
  for (let at = 0; at < PROBE && at < bytes.length; at++) if (bytes[at] !== 0) return true;
  return false;
}

module.exports = { secureBuffer, seen, learn, drawAnew };
