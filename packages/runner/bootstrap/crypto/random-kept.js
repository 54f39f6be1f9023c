// What: the random bytes that Node's library draws in advance and keeps, so that a restore can draw them anew (restore.js).
// Why found here and not there: the library runs unmodified and its caches are variables of a closure. But every cache is filled through our
// binding: the one of `randomUUID` is the memory that `secureBuffer` makes, and the one of `randomInt` shows itself while the image is made.
// Next: random.js, restore.js.
'use strict';

const kept = [];

/** Node's binding: memory for secrets. Node makes it for `randomUUID` alone. */
function secureBuffer(length) {
  const bytes = new Uint8Array(length);
  kept.push(bytes);
  return bytes;
}

let learned;

/** Every target of random bytes comes by; outside of `learn` this is one comparison. */
function seen(target) {
  if (learned !== undefined) learned.push(target);
}

const BYTES_OF_ONE = 6;

/** While the image is made: `randomInt` fills its cache, and is left with an empty one, as it begins. */
function learn(randomInt) {
  learned = [];
  randomInt(2);
  const [cache] = learned;
  for (let drawn = BYTES_OF_ONE; drawn < cache.length; drawn += BYTES_OF_ONE) randomInt(2);
  if (learned.length !== 1 || cache.length % BYTES_OF_ONE !== 0) throw new Error("randomInt's cache is not what it was");
  learned = undefined;
  cache.fill(0);
  kept.push(cache);
}

/** Whatever is kept is drawn anew: what is left of a cache is as good as another's. What was never filled is filled before its first use anyway. */
function drawAnew() {
  for (const bytes of kept) if (wasDrawn(bytes)) native.random(bytes);
}

/** As many zeros do not come by chance. */
const PROBE = 32;

function wasDrawn(bytes) {
  for (let at = 0; at < PROBE && at < bytes.length; at++) if (bytes[at] !== 0) return true;
  return false;
}

module.exports = { secureBuffer, seen, learn, drawAnew };
