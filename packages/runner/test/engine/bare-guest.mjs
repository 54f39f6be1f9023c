// A guest with the smallest bootstrap (bare.js), for tests of only the engine and the shim.
// `dist/guest.wasm` must exist.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DevGuest, startEvent } from '../../build/dev-host.mjs';
import { testedGuestPath } from '../../build/paths.mjs';

const BARE = fileURLToPath(new URL('bare.js', import.meta.url));
const DEV_HOST = fileURLToPath(new URL('../../build/dev-host.mjs', import.meta.url));

let module;
const compiled = () => (module ??= new WebAssembly.Module(readFileSync(testedGuestPath)));

/**
 * A guest whose output is collected in `out`, frozen unless `freeze` is false. Each program starts
 * from the image. `polls` counts the polls of the program.
 */
export class BareGuest {
  out = '';
  polls = 0;
  #image;
  #stopAt = Infinity;

  constructor({ freeze = true, main = readFileSync(BARE), inputs = {}, onText } = {}) {
    const write = (_fd, bytes) => {
      const text = Buffer.from(bytes).toString();
      this.out += text;
      onText?.(text);
      return bytes.length;
    };
    const buildFile = (name) => (name === 'bootstrap/main.js' ? main : inputs[name]);
    const poll = () => {
      this.polls++;
      return performance.now() > this.#stopAt;
    };
    this.guest = new DevGuest({ module: compiled(), buildFile, write, poll });
    this.guest.boot({ freeze });
    this.#image = this.guest.snapshot();
  }

  /** Requests a stop of the guest after `ms`. */
  stopAfter(ms) {
    this.#stopAt = performance.now() + ms;
    return this.#stopAt;
  }

  async run(source, options = {}) {
    this.guest.restore(this.#image);
    this.out = '';
    this.polls = 0;
    this.#stopAt = Infinity;
    const state = await this.guest.run(startEvent({ source, ...options }));
    return { ...state, out: this.out };
  }
}

/** The wasm stack that the sandbox provides (crates/vm, WASM_STACK). */
const SANDBOX_STACK_MIB = '32';

/**
 * Runs a program in a new process of Node, with the sandbox's stack and at most `maxMemoryMiB` of
 * memory.
 */
export function runInProcess(source, { maxMemoryMiB, timeoutMs = 120_000 } = {}) {
  const args = [DEV_HOST, '--main', BARE, ...(maxMemoryMiB ? ['--max-memory', String(maxMemoryMiB)] : []), '--source', source];
  const env = { ...process.env, COLDFRAME_DEV_STACK_MIB: SANDBOX_STACK_MIB };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    const text = { stdout: '', stderr: '' };
    for (const name of Object.keys(text))
      child[name].setEncoding('utf8').on('data', (part) => {
        text[name] += part;
      });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...text }));
  });
}
