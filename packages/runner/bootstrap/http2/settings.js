// The settings of a session, in the array that Node's library shares (node_http2.cc,
// `Http2Settings`). The array has the standard settings by index, the bits of the settings that are
// set, and the number of custom settings with their pairs. Next: session.js.
'use strict';

// The identifiers of the standard settings in the order of a frame, and their indexes in the
// array.
const STANDARD = [
  { identifier: 1, index: 0, byDefault: 4096 },
  { identifier: 2, index: 1, byDefault: 1 },
  { identifier: 3, index: 4, byDefault: 0xffff_ffff },
  { identifier: 4, index: 2, byDefault: 65_535 },
  { identifier: 5, index: 3, byDefault: 16_384 },
  { identifier: 6, index: 5, byDefault: 65_535 },
  { identifier: 8, index: 6, byDefault: 0 },
];
const MAX_CONCURRENT_STREAMS = 3;
const MAX_HEADER_LIST_SIZE = 6;
const FLAGS = 7;
const CUSTOM_COUNT = 8;
const CUSTOM = 9;
const MAX_CUSTOM = 10;
// Node treats every identifier from this number on as a custom setting.
const FIRST_CUSTOM = 7;

// Returns the settings in the array as pairs of an identifier and a value.
function pairsIn(buffer) {
  const pairs = [];
  for (const { identifier, index } of STANDARD) if (buffer[FLAGS] & (1 << index)) pairs.push(identifier, buffer[index]);
  const count = Math.min(buffer[CUSTOM_COUNT], MAX_CUSTOM);
  for (let i = 0; i < count; i++) pairs.push(buffer[CUSTOM + 2 * i], buffer[CUSTOM + 2 * i + 1]);
  return pairs;
}

const asBytes = (pairs) => new Uint8Array(new Uint32Array(pairs).buffer);

// Returns the payload of a SETTINGS frame, or undefined if a value is invalid.
function pack(buffer) {
  const payload = native.h2PackSettings(asBytes(pairsIn(buffer)));
  return payload === undefined ? undefined : Buffer.from(payload);
}

function writeDefaults(buffer) {
  let flags = 0;
  for (const { index, byDefault } of STANDARD) {
    buffer[index] = byDefault;
    flags |= 1 << index;
  }
  buffer[FLAGS] = flags;
  buffer[CUSTOM_COUNT] = 0;
}

class SessionSettings {
  #state;
  #buffer;
  #localCustom = new Map();
  // The custom settings of the peer that the program wants; undefined until the peer has sent a
  // value.
  #remoteCustom = new Map();

  constructor(state, buffer) {
    this.#state = state;
    this.#buffer = buffer;
    const count = Math.min(buffer[CUSTOM_COUNT], MAX_CUSTOM);
    for (let i = 0; i < count; i++) this.#remoteCustom.set(buffer[CUSTOM + 2 * i] & 0xffff, undefined);
  }

  // Sends the settings in the array.
  send() {
    const pairs = pairsIn(this.#buffer);
    for (let i = 0; i < pairs.length; i += 2) {
      const isKnown = this.#localCustom.has(pairs[i]);
      if (pairs[i] >= FIRST_CUSTOM && (isKnown || this.#localCustom.size < MAX_CUSTOM))
        this.#localCustom.set(pairs[i], pairs[i + 1]);
    }
    return native.h2Settings(this.#state, asBytes(pairs));
  }
  // Keeps the custom settings of a received frame: pairs of an identifier and a value.
  receive(pairs) {
    for (let i = 0; i < pairs.length; i += 2) {
      if (pairs[i] >= FIRST_CUSTOM && this.#remoteCustom.has(pairs[i])) this.#remoteCustom.set(pairs[i], pairs[i + 1]);
    }
  }
  // Writes the settings of this side or of the peer to the array.
  read(isLocal) {
    const buffer = this.#buffer;
    for (const { identifier, index } of STANDARD) buffer[index] = native.h2GetSetting(this.#state, isLocal, identifier);
    let count = 0;
    for (const [identifier, value] of isLocal ? this.#localCustom : this.#remoteCustom) {
      if (value === undefined) continue;
      buffer[CUSTOM + 2 * count] = identifier;
      buffer[CUSTOM + 2 * count + 1] = value;
      count++;
    }
    buffer[CUSTOM_COUNT] = count;
  }
  // Returns the largest number of streams that this side permits the peer.
  maxConcurrentStreams() {
    return native.h2GetSetting(this.#state, true, MAX_CONCURRENT_STREAMS);
  }
  maxHeaderListBytes() {
    return native.h2GetSetting(this.#state, true, MAX_HEADER_LIST_SIZE);
  }
}

module.exports = { SessionSettings, pack, writeDefaults };
