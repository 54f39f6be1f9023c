// The dev host runs guest.wasm in Node's own WebAssembly, with the imports of
// docs/internals/guest-abi.md in JavaScript. Developers use the dev host in place of the sidecar,
// for experiments and for the guest's tests. The dev host isolates nothing.
//
//   node packages/runner/build/dev-host.mjs [--no-freeze] [--mode exec|run|resident] [--wasm FILE]
//     [--main FILE] [--stop-after MS] [--max-memory MIB] [--env KEY=VALUE] [--stats]
//     program.mjs [arguments] | --source TEXT
//
// `--main` replaces `bootstrap/main.js`. In resident mode every named file is one evaluation.
import { readFileSync, readSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread, Worker } from 'node:worker_threads';
import { CLOCK, EVENT, INFO_BLOCK, MODE, STATE_BLOCK } from './generated/abi.mjs';
import { inputsDir, testedGuestPath } from './paths.mjs';

const EAGAIN = -11;
const EBADF = -9;
const ENOENT = -2;
const ENOSYS = -38;
const WASI_ENOSYS = 52;

/** Reads a block of the ABI at `ptr`. Returns the block's fields as an object. */
function readBlock({ length, fields }, buffer, ptr) {
  const view = new DataView(buffer, ptr, length);
  const read = {
    u32: (at) => view.getUint32(at, true),
    i32: (at) => view.getInt32(at, true),
    f64: (at) => view.getFloat64(at, true),
  };
  return Object.fromEntries(Object.entries(fields).map(([name, { offset, kind }]) => [name, read[kind](offset)]));
}

export class GuestFatal extends Error {
  constructor(kind, text) {
    super(`the guest cannot continue (${kind}): ${text}`);
    this.kind = kind;
  }
}

/** A guest in Node's WebAssembly. `boot` boots and freezes the guest. */
export class DevGuest {
  constructor({
    wasm = readFileSync(testedGuestPath),
    module = new WebAssembly.Module(wasm),
    buildFile,
    write,
    read,
    poll,
    sys,
    wasi,
  } = {}) {
    this.module = module;
    this.sys = sys ?? (() => ENOSYS);
    this.wasi = wasi;
    this.write = write ?? ((fd, bytes) => writeSync(fd, bytes));
    this.read = read ?? ((fd, bytes) => (fd === 0 ? readSync(0, bytes) : EBADF));
    this.poll = poll ?? (() => false);
    this.buildFile = buildFile ?? ((name) => readFileSync(join(inputsDir, name)));
    this.building = true;
    this.instance = new WebAssembly.Instance(module, this.#imports());
    this.exports = this.instance.exports;
    this.memory = this.exports.memory;
  }

  /**
   * Calls `_initialize`, `cf_boot` and, unless `freeze` is false, `cf_freeze`. Then reads the info
   * block into this object.
   */
  boot({ freeze = true } = {}) {
    if (this.wasi) this.wasi.initialize(this.instance);
    else this.exports._initialize();
    if (this.exports.cf_boot() !== 0) throw new Error('cf_boot failed');
    if (freeze && this.exports.cf_freeze() !== 0) throw new Error('cf_freeze failed');
    this.building = false;
    return Object.assign(this, readBlock(INFO_BLOCK, this.memory.buffer, this.exports.cf_info()));
  }

  /** Returns a copy of the memory, for `restore`. */
  snapshot() {
    return new Uint8Array(this.memory.buffer).slice();
  }

  /** Restores a copy of the memory. Memory beyond the copy is zeroed, like a fresh mapping. */
  restore(image) {
    const bytes = new Uint8Array(this.memory.buffer);
    bytes.set(image);
    bytes.fill(0, image.length);
  }

  /** Delivers events and runs one turn of the guest. Returns whether the guest has exited. */
  turn(...events) {
    const bytes = Buffer.concat(events);
    const ptr = bytes.length > this.inboxLen ? this.exports.cf_inbox(bytes.length) : this.inboxPtr;
    if (bytes.length && ptr === 0) throw new Error('the guest has no memory for its events');
    new Uint8Array(this.memory.buffer).set(bytes, ptr);
    return this.exports.cf_turn(ptr, bytes.length) === 1;
  }

  get state() {
    const { valuePtr, valueLen, reserved, ...state } = readBlock(STATE_BLOCK, this.memory.buffer, this.statePtr);
    return { ...state, value: valuePtr ? Buffer.from(this.memory.buffer, valuePtr, valueLen).toString() : undefined };
  }

  /**
   * Runs turns until the guest exits, the evaluation ends, or no event can resume the guest.
   * Returns the guest's state.
   */
  async run(...events) {
    let exited = this.turn(...events);
    for (;;) {
      const { timerAt, evalDone } = this.state;
      if (exited || evalDone || timerAt < 0) return this.state;
      const delay = timerAt - performance.now();
      if (delay > 0) await new Promise((done) => setTimeout(done, delay));
      exited = this.turn(event(EVENT.timer, 0));
    }
  }

  #imports() {
    const bytes = (ptr, len) => new Uint8Array(this.memory.buffer, ptr, len);
    const coldframe = {
      write: (fd, ptr, len) => this.write(fd, bytes(ptr, len)),
      wait_writable: () => 0,
      read: (fd, ptr, len) => this.#read(fd, bytes(ptr, len)),
      wait_readable: () => 0,
      sys: (number, ...args) => BigInt(this.sys(number, args.map(Number))),
      sys_wait: (number, ...args) => BigInt(this.sys(number, args.map(Number))),
      poll: () => (this.poll() ? 1 : 0),
      clock: (id) => (id === CLOCK.wall ? BigInt(Date.now()) * 1_000_000n : BigInt(Math.round(performance.now() * 1e6))),
      random: (ptr, len) => {
        for (let at = 0; at < len; at += 65536) crypto.getRandomValues(bytes(ptr + at, Math.min(65536, len - at)));
      },
      mark: () => {},
      fatal: (kind, ptr, len) => {
        throw new GuestFatal(kind, Buffer.from(bytes(ptr, len)).toString());
      },
      build_file: (ptr, len, buf, cap) => this.#buildFile(Buffer.from(bytes(ptr, len)).toString(), buf, cap),
    };
    const wasi = this.wasi?.imports ?? new Proxy({}, { get: () => () => WASI_ENOSYS });
    return { coldframe, wasi_snapshot_preview1: wasi };
  }

  #read(fd, into) {
    try {
      return this.read(fd, into);
    } catch (error) {
      if (error.code === 'EAGAIN') return EAGAIN;
      if (error.code === 'EOF') return 0;
      return EBADF;
    }
  }

  #buildFile(name, buf, cap) {
    if (!this.building) return ENOSYS;
    let content;
    try {
      content = this.buildFile(name);
    } catch (error) {
      if (error.code === 'ENOENT') return ENOENT;
      throw error;
    }
    if (content === undefined) return ENOENT;
    const source = Buffer.from(content);
    new Uint8Array(this.memory.buffer).set(source.subarray(0, cap), buf);
    return source.length;
  }
}

/** Returns the module `wasm` with a maximum of `pages` for its memory. */
export function withMemoryLimit(wasm, pages) {
  const bytes = Buffer.from(wasm);
  let at = 8;
  const leb = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const id = bytes[at++];
    const size = leb();
    const end = at + size;
    if (id === 5) {
      leb();
      const flags = bytes[at++];
      const min = leb();
      const maxAt = at;
      if (flags & 1) leb();
      const encode = (value) => {
        const out = [];
        do {
          out.push((value & 127) | (value > 127 ? 128 : 0));
          value >>>= 7;
        } while (value);
        return out;
      };
      const body = [1, flags | 1, ...encode(min), ...encode(Math.max(min, pages))];
      const sectionStart = end - size - encode(size).length - 1;
      return Buffer.concat([
        bytes.subarray(0, sectionStart),
        Buffer.from([5, ...encode(body.length), ...body]),
        bytes.subarray(Math.max(end, maxAt)),
      ]);
    }
    at = end;
  }
  throw new Error('the module has no memory section');
}

/** Encodes an event: a header, and the payload padded to a multiple of 8 bytes. */
export function event(kind, id, payload = Buffer.alloc(0), result = 0) {
  const padded = Buffer.alloc(16 + Math.ceil(payload.length / 8) * 8);
  padded.writeUInt32LE(kind, 0);
  padded.writeUInt32LE(id, 4);
  padded.writeInt32LE(result, 8);
  padded.writeUInt32LE(payload.length, 12);
  padded.set(payload, 16);
  return padded;
}

/** Encodes the START event of a program. */
export function startEvent({
  mode = 'exec',
  source = '',
  url = 'file:///workspace/main.mjs',
  cwd = '/workspace',
  argv = ['node', '/workspace/main.mjs'],
  env = {},
  execArgv = [],
  pid = 2,
  ppid = 1,
}) {
  const strings = [cwd, url, source, ...argv, ...Object.entries(env).map(([key, value]) => `${key}=${value}`), ...execArgv];
  const head = Buffer.alloc(20);
  [pid, ppid, argv.length, Object.keys(env).length, execArgv.length].forEach((value, index) => {
    head.writeUInt32LE(value, index * 4);
  });
  const blocks = strings.map((text) => {
    const raw = Buffer.from(text);
    const block = Buffer.alloc(4 + Math.ceil((raw.length + 1) / 4) * 4);
    block.writeUInt32LE(raw.length, 0);
    raw.copy(block, 4);
    return block;
  });
  return event(EVENT.start, MODE[mode], Buffer.concat([head, ...blocks]));
}

/** Encodes an EVAL event, without an environment or a working directory of its own. */
export function evalEvent(id, source) {
  return event(EVENT.eval, id, Buffer.concat([Buffer.alloc(4), Buffer.from(source)]));
}

function readOptions(args) {
  const options = { freeze: true, mode: 'exec', env: {}, files: [] };
  const flags = {
    '--no-freeze': () => {
      options.freeze = false;
    },
    '--mode': () => {
      options.mode = args.shift();
    },
    '--wasm': () => {
      options.wasm = args.shift();
    },
    '--main': () => {
      options.main = args.shift();
    },
    '--stop-after': () => {
      options.stopAfter = Number(args.shift());
    },
    '--max-memory': () => {
      options.maxMemory = Number(args.shift());
    },
    '--stats': () => {
      options.stats = true;
    },
    '--source': () => {
      options.source = args.shift();
    },
    '--env': () => {
      const [key, ...value] = args.shift().split('=');
      options.env[key] = value.join('=');
    },
  };
  while (args.length && args[0].startsWith('--')) {
    const flag = args.shift();
    if (!flags[flag]) throw new Error(`unknown option ${flag}, expected one of ${Object.keys(flags).join(' ')}`);
    flags[flag]();
  }
  options.files = args;
  return options;
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  let wasm = readFileSync(options.wasm ?? testedGuestPath);
  if (options.maxMemory) wasm = withMemoryLimit(wasm, options.maxMemory * 16);
  let deadline = Infinity;
  const buildFile = (name) => readFileSync(name === 'bootstrap/main.js' && options.main ? options.main : join(inputsDir, name));
  const guest = new DevGuest({ wasm, buildFile, poll: () => performance.now() > deadline });
  const begin = performance.now();
  guest.boot({ freeze: options.freeze });
  if (options.stats)
    process.stderr.write(
      `boot ${(performance.now() - begin).toFixed(1)} ms, memory ${guest.memory.buffer.byteLength >> 10} KiB, ` +
        `frozen end ${guest.frozenEnd}\n`,
    );
  const [file, ...rest] = options.files;
  const start = (source) =>
    startEvent({
      mode: options.mode,
      source,
      url: file ? pathToFileURL(resolve(file)).href : undefined,
      cwd: process.cwd(),
      argv: ['node', resolve(file ?? ''), ...rest],
      env: options.env,
    });
  const before = performance.now();
  if (options.stopAfter) deadline = before + options.stopAfter;
  let state;
  if (options.mode === 'resident') {
    await guest.run(start(''));
    for (const [index, name] of options.files.entries()) {
      state = await guest.run(evalEvent(index + 1, readFileSync(name)));
      if (state.status) break;
    }
    process.exitCode = state?.status ? state.exitCode : state?.evalExitCode;
  } else {
    state = await guest.run(start(options.source ?? readFileSync(file)));
    process.exitCode = state.exitCode;
  }
  if (options.stats) process.stderr.write(`run ${(performance.now() - before).toFixed(3)} ms ${JSON.stringify(state)}\n`);
}

/**
 * The stack size of the guest's thread. The engine must reach its stack limit before Node reaches
 * Node's limit. The sidecar provides 32 MiB for WebAssembly.
 */
const HOST_STACK_MIB = Number(process.env.COLDFRAME_DEV_STACK_MIB ?? 200);

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (isMainThread) {
    const worker = new Worker(new URL(import.meta.url), {
      argv: process.argv.slice(2),
      resourceLimits: { stackSizeMb: HOST_STACK_MIB },
    });
    worker.on('exit', (code) => {
      process.exitCode = code;
    });
  } else {
    await main();
  }
}
