// The unpatched engine (build/reference.mjs) as a guest of a test: boots once, runs its prelude,
// and restores a copy of the memory before each program.
import { buildReference } from '../../build/reference.mjs';

const ROOM = 1 << 20;
const encoder = new TextEncoder();

let module;
const compiled = async () => (module ??= new WebAssembly.Module(await buildReference()));

export class ReferenceGuest {
  #module;
  #prelude;
  #files;
  #instance;
  #image;
  #out = '';

  /** `files` has the text of each file that modules and __loadFile may name. */
  static async create({ prelude = '', files = {} } = {}) {
    return new ReferenceGuest(await compiled(), prelude, files);
  }

  constructor(compiledModule, prelude, files) {
    this.#module = compiledModule;
    this.#prelude = prelude;
    this.#files = files;
  }

  /**
   * Runs a program. Returns whether the program failed, and the output. The output contains
   * `Uncaught …` for an exception, and ends with a line for a trap. `round` is a script for a turn
   * of an event loop, which runs `rounds` times when the jobs are done.
   */
  run(source, { name = 'program.mjs', isModule = true, rounds = 0, round = '' } = {}) {
    this.#restore();
    this.#out = '';
    try {
      let failed = this.#evaluate(source, name, isModule);
      for (let i = 0; i < rounds && !failed; i++) failed = this.#evaluate(round, 'round.js', false);
      return { failed, out: this.#out };
    } catch (error) {
      this.#instance = undefined;
      return { failed: 1, out: `${this.#out}trap: ${error.message}\n` };
    }
  }

  // Restores the memory from the copy, or makes a new instance. After a program that made the
  // memory grow, the allocator's state does not fit the copy. A new instance is cheaper than a
  // repair.
  #restore() {
    if (this.#instance && this.#instance.exports.memory.buffer.byteLength === this.#image.length) {
      new Uint8Array(this.#instance.exports.memory.buffer).set(this.#image);
      return;
    }
    this.#instance = new WebAssembly.Instance(this.#module, { coldframe: this.#imports() });
    const { exports } = this.#instance;
    exports._initialize();
    exports.ref_boot();
    if (this.#prelude && this.#evaluate(this.#prelude, 'prelude.js', false)) throw new Error(`the prelude failed: ${this.#out}`);
    exports.ref_free(exports.ref_alloc(ROOM));
    this.#image = new Uint8Array(exports.memory.buffer).slice();
  }

  #evaluate(source, name, isModule) {
    const { ref_run } = this.#instance.exports;
    const text = encoder.encode(source);
    const at = this.#put(text);
    return ref_run(at, text.length, this.#put(encoder.encode(name)), isModule ? 1 : 0);
  }

  #put(text) {
    const at = this.#instance.exports.ref_alloc(text.length + 1);
    const bytes = new Uint8Array(this.#instance.exports.memory.buffer, at, text.length + 1);
    bytes.set(text);
    bytes[text.length] = 0;
    return at;
  }

  #bytes(at, length) {
    return new Uint8Array(this.#instance.exports.memory.buffer, at, length);
  }

  #imports() {
    const known = {
      write: (_fd, at, length) => {
        this.#out += Buffer.from(this.#bytes(at, length)).toString();
        return length;
      },
      clock: (id) => (id === 0 ? BigInt(Date.now()) * 1_000_000n : BigInt(Math.round(performance.now() * 1e6))),
      load: (at, length, into, capacity) => {
        const text = this.#files[Buffer.from(this.#bytes(at, length)).toString()];
        if (text === undefined) return -1;
        const bytes = encoder.encode(text);
        if (bytes.length <= capacity) this.#bytes(into, bytes.length).set(bytes);
        return bytes.length;
      },
      fatal: (_kind, at, length) => {
        throw new Error(Buffer.from(this.#bytes(at, length)).toString());
      },
    };
    const wanted = WebAssembly.Module.imports(this.#module).map(({ name }) => name);
    return Object.fromEntries(wanted.map((name) => [name, known[name] ?? (() => 0)]));
  }
}
