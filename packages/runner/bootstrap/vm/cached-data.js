// The interface of V8's code cache on scripts and modules: `createCachedData`, `cachedData`,
// `cachedDataRejected`. The data has no code, because the engine compiles faster than such data
// could be checked. The data is a mark of the source text: the length and a hash. The engine
// accepts only the mark of the compiled text, as V8 accepts only the data of an equal source. Next:
// ../internal-bindings/contextify.js and module_wrap.js.
'use strict';

const context = require('../context.js');

const MAGIC = 0xc01df4a3;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const WORDS = 3;

function markOf(text) {
  const { StringPrototypeCharCodeAt } = context.primordials;
  let hash = FNV_OFFSET;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ StringPrototypeCharCodeAt(text, i), FNV_PRIME);
  return Uint32Array.of(MAGIC, text.length, hash);
}

function createCachedData(text) {
  const mark = markOf(text);
  return context.requireBuiltin('buffer').Buffer.from(mark.buffer);
}

/** Returns true if `data` differs from the mark of `text`. */
function isRejected(data, text) {
  const mark = new Uint8Array(markOf(text).buffer);
  const given = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return given.length !== WORDS * Uint32Array.BYTES_PER_ELEMENT || mark.some((byte, index) => byte !== given[index]);
}

module.exports = { createCachedData, isRejected };
