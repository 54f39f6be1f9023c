// The object that undici uses in place of WebAssembly. Node's `fetch` is undici, and the object
// serves Node's copy and the npm package. The guest has no WebAssembly, so only undici's own file
// sees this object. The package undici contains llhttp as a WebAssembly module and uses the module
// through a memory and a few exports. The llhttp in the guest, which is C
// (engine/shim/library-llhttp.c), implements these exports. Next: undici-package.js, which finds
// the npm package's file; parser.js, which uses this parser for `http`.
'use strict';

const { replaceBuiltin, sourceOf, MODULE } = require('../start-up/builtins.js');
const { edit } = require('./undici-edits.js');

const UNDICI = 'internal/deps/undici/undici';

// The callbacks of undici by the number of the shim's event (engine/shim/library-llhttp.c), and
// whether the event has a piece of the input.
const EVENTS = [
  ['wasm_on_message_begin', false],
  undefined,
  ['wasm_on_headers_complete', false],
  ['wasm_on_body', true],
  ['wasm_on_message_complete', false],
  ['wasm_on_status', true],
  ['wasm_on_header_field', true],
  ['wasm_on_header_value', true],
];

// The offsets in the memory that undici reads: the text of an error's reason, and the single buffer
// that undici requests.
const REASON_AT = 8;
const INPUT_AT = 512;
// llhttp needs no limit for the header bytes of a response, because undici counts the bytes.
const NO_LIMIT = 0xffffffff;

class Instance {
  #parsers = new Map();
  #lastParser = 0;
  #callbacks;
  #result = new Uint32Array(3);

  constructor(_module, { env }) {
    this.#callbacks = env;
    const memory = { buffer: new ArrayBuffer(INPUT_AT) };
    this.exports = {
      memory,
      malloc: (size) => {
        memory.buffer = new ArrayBuffer(INPUT_AT + size);
        return INPUT_AT;
      },
      free: () => {},
      llhttp_alloc: (type) => this.#open(type),
      llhttp_free: (parser) => this.#parsers.delete(parser),
      llhttp_execute: (parser, at, length) => this.#run(parser, new Uint8Array(memory.buffer, at, length), length),
      llhttp_finish: (parser) => this.#run(parser, undefined, 0),
      llhttp_resume: (parser) => native.httpPause(this.#stateOf(parser), false),
      llhttp_get_error_pos: () => INPUT_AT + this.#result[1],
      llhttp_get_error_reason: (parser) => this.#reason(parser, memory),
    };
  }

  #stateOf(parser) {
    return this.#parsers.get(parser);
  }

  #open(type) {
    const state = native.httpNew();
    if (!native.httpInit(state, type, NO_LIMIT, 0, true)) throw new Error('Too many HTTP parsers');
    this.#parsers.set(++this.#lastParser, state);
    return this.#lastParser;
  }

  #run(parser, bytes, length) {
    const handler = (event, a, b, c) => {
      const [name, isPiece] = EVENTS[event];
      const callback = this.#callbacks[name];
      return isPiece ? callback(parser, INPUT_AT + a, b) : callback(parser, a, Number(b), Number(c));
    };
    native.httpRun(this.#stateOf(parser), handler, bytes, 0, length, new Uint8Array(this.#result.buffer));
    return this.#result[0];
  }

  #reason(parser, memory) {
    const [, reason] = native.httpReason(this.#stateOf(parser), this.#result[0]);
    const text = new TextEncoder().encode(reason).subarray(0, INPUT_AT - REASON_AT - 1);
    const place = new Uint8Array(memory.buffer, REASON_AT);
    place.set(text);
    place[text.length] = 0;
    return REASON_AT;
  }
}

class Module {}

// undici before version 7 compiles the module with `compile` and `instantiate`.
const webAssembly = {
  __proto__: null,
  Module,
  Instance,
  compile: async () => new Module(),
  instantiate: async (module, imports) => new Instance(module, imports),
};

function install() {
  const compiled = native.compileFunction(edit(sourceOf(UNDICI)), `node:${UNDICI}`, [...MODULE, 'WebAssembly']);
  replaceBuiltin(UNDICI, (...given) => compiled(...given.slice(0, MODULE.length), webAssembly));
}

module.exports = { install, webAssembly };
