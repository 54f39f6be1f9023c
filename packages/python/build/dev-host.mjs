// The dev host runs python.wasm in Node's own WebAssembly, with Node's WASI and the imports of
// docs/internals/guest-abi.md in JavaScript. The build compiles the standard library with it, and
// the guest's tests run in it. The dev host isolates nothing. It has no kernel, so sockets, pipes
// and children do not exist.
//
//   node packages/python/build/dev-host.mjs [ARGUMENT ...]     a command line of `python3`

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread, Worker } from 'node:worker_threads';
import { DevGuest, startEvent } from '../../runner/build/dev-host.mjs';
import { pythonPath, rootDir } from './paths.mjs';
import { WASI } from './wasi.mjs';

/** The numbers of shim/calls.h. */
const ROOT = 0x7fff0000;
const WORKING_DIRECTORY = 0x7fff0001;
const CHDIR = 0x11a;
const GETCWD = 0x11b;
const ENOSYS = -38;
const WASI_ENOSYS = 52;

/** The folder of the guest in which programs run. */
export const WORKSPACE = '/workspace';
/** The descriptors of Node for the folders of the host. */
const PREOPENED = { '/': 3, [WORKSPACE]: 4 };
/**
 * The places of a descriptor of a folder, and of the path below the folder, among the arguments of
 * WASI's calls.
 */
const PATH_ARGUMENTS = {
  path_filestat_get: [[0, 2]],
  path_filestat_set_times: [[0, 2]],
  path_link: [
    [0, 2],
    [4, 5],
  ],
  path_open: [[0, 2]],
  path_rename: [
    [0, 1],
    [3, 4],
  ],
  path_symlink: [[2, 3]],
};
const WASI_CLOCK = 0;

/**
 * Node's WASI, with the descriptors by which the guest names the root and its working directory.
 */
class DevWasi {
  constructor(wasi) {
    this.wasi = wasi;
    this.directory = '/';
    const calls = wasi.getImportObject().wasi_snapshot_preview1;
    this.imports = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, this.#wrap(name, call)]));
    this.imports.poll_oneoff = (...args) => this.#sleep(...args);
  }

  initialize(instance) {
    this.memory = instance.exports.memory;
    this.wasi.initialize(instance);
  }

  #wrap(name, call) {
    if (name === 'fd_fdstat_get') return (fd, at) => call(fd === ROOT || fd === WORKING_DIRECTORY ? PREOPENED['/'] : fd, at);
    if (!name.startsWith('path_')) return call;
    const places = PATH_ARGUMENTS[name] ?? [[0, 1]];
    return (...args) => {
      for (const [folder, path] of places) this.#place(args, folder, path);
      return call(...args);
    };
  }

  /**
   * Replaces a descriptor of the guest, and skips the part of the path that Node's descriptor has.
   */
  #place(args, folder, path) {
    if (args[folder] === WORKING_DIRECTORY) args[folder] = PREOPENED[this.directory];
    if (args[folder] !== ROOT) return;
    const text = `/${Buffer.from(this.memory.buffer, args[path], args[path + 1])}`;
    args[folder] = PREOPENED['/'];
    if (text.startsWith(`${WORKSPACE}/`)) {
      args[folder] = PREOPENED[WORKSPACE];
      args[path] += WORKSPACE.length;
      args[path + 1] -= WORKSPACE.length;
    }
  }

  /**
   * Waits for the first of the subscriptions, which must be a clock. Node's own call waits forever
   * for an absolute time.
   */
  #sleep(subscriptions, events, _count, eventCount) {
    const view = new DataView(this.memory.buffer);
    if (view.getUint8(subscriptions + 8) !== WASI_CLOCK) return WASI_ENOSYS;
    const isAbsolute = view.getUint16(subscriptions + 40, true) & 1;
    const clock = view.getUint32(subscriptions + 16, true);
    const now = clock === 0 ? Date.now() : Number(process.hrtime.bigint()) / 1e6;
    const time = Number(view.getBigUint64(subscriptions + 24, true)) / 1e6;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.max(0, isAbsolute ? time - now : time));
    new Uint8Array(this.memory.buffer).fill(0, events, events + 32);
    view.setBigUint64(events, view.getBigUint64(subscriptions, true), true);
    view.setUint32(eventCount, 1, true);
    return 0;
  }

  /** The kernel's calls for the working directory. */
  sys(number, [address, length]) {
    const bytes = Buffer.from(this.memory.buffer, address, length);
    if (number === GETCWD) return bytes.write(this.directory);
    if (number !== CHDIR) return ENOSYS;
    const path = resolve(this.directory, bytes.toString());
    if (PREOPENED[path] === undefined) return -2;
    this.directory = path;
    return 0;
  }
}

/**
 * Returns a guest that has not booted. `root` and `workspace` are folders of the host. The other
 * options `stdin`, `stdout` and `stderr` are descriptors of the host.
 */
export async function makeGuest({ wasm, module, root = rootDir, workspace = process.cwd(), poll, ...streams } = {}) {
  const wasi = new DevWasi(
    new WASI({ version: 'preview1', preopens: { '/': root, [WORKSPACE]: workspace }, returnOnExit: false, ...streams }),
  );
  const compiled = module ?? (await WebAssembly.compile(wasm ?? readFileSync(pythonPath)));
  return new DevGuest({ module: compiled, poll, wasi, sys: (number, args) => wasi.sys(number, args) });
}

/** Boots a guest in the workspace. */
export function bootGuest(guest) {
  guest.boot();
  guest.wasi.directory = WORKSPACE;
  return guest;
}

/** The START event of a program of Python. */
export const startPython = ({ argv = ['python3'], ...options }) => startEvent({ mode: 'file', cwd: WORKSPACE, argv, ...options });

/** The stack of the thread, which must be longer than the guest's own stack. */
const STACK_MIB = 200;

async function main() {
  const guest = bootGuest(await makeGuest({ stdin: 0, stdout: 1, stderr: 2 }));
  const { exitCode } = await guest.run(startPython({ argv: ['python3', ...process.argv.slice(2)], env: process.env }));
  process.exitCode = exitCode;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (isMainThread) {
    const worker = new Worker(new URL(import.meta.url), {
      argv: process.argv.slice(2),
      resourceLimits: { stackSizeMb: STACK_MIB },
    });
    worker.on('exit', (code) => {
      process.exitCode = code;
    });
  } else {
    await main();
  }
}
