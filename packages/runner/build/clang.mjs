// Compiles and links C with the clang of the npm package @yowasp/clang, which is wasm itself, so no
// system toolchain is needed. Every object is cached under the digest of its inputs, so a change in
// one file compiles one unit again. The modules of all guests are built here. Next:
// clang-worker.mjs runs clang; compile.mjs and packages/python/build/compile.mjs name the units.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { digest } from './digest.mjs';
import { cacheDir } from './paths.mjs';
import { say, step } from './progress.mjs';

/** The version of the pinned clang package, a part of every cache key. */
const clangVersion = findClangVersion();

function findClangVersion() {
  const entry = fileURLToPath(import.meta.resolve('@yowasp/clang'));
  return JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')).version;
}

/**
 * @typedef {object} Unit
 * @property {string} name  the name of the object, without a slash
 * @property {string[]} flags
 * @property {string} [source]  the path of the file to compile
 * @property {string[]} [args]  the arguments besides the flags; the default compiles `source`
 * @property {string} [compiler]  `clang` or `clang++`
 * @property {[path: string, text: string][]} inputs  the files that the compiler may read
 * @property {{ key: string, files: [path: string, text: string][] }} [shared]  more files that the
 *   compiler may read, which many units have in common, and the digest of these files
 */

/**
 * Compiles the units that the cache does not have, and links all units.
 * @param {string} title  the name of the module
 * @param {Unit[]} unkeyed
 * @param {{ link: string[], expected?: string }} options  the linker's flags, and the expected time
 * @returns {Promise<{ wasm: Buffer, key: string }>} the module, and the digest of all its inputs
 */
export async function buildModule(title, unkeyed, { link, expected }) {
  const units = unkeyed.map(withKey);
  const key = digest([['clang', clangVersion], ['link', link.join('\n')], ...units.map((unit) => [unit.name, unit.key])]);
  const cached = join(cacheDir, 'guests', `${title}-${key}.wasm`);
  if (existsSync(cached)) return { wasm: readFileSync(cached), key };

  const missing = units.filter((unit) => !existsSync(unit.path));
  if (missing.length) await step(titleOf(missing), expected, () => compileAll(missing));
  const wasm = await step(`linking ${title}.wasm`, undefined, () => linkAll(units, link));
  store(cached, wasm);
  return { wasm, key };
}

const MAX_NAMES = 20;

const titleOf = (units) =>
  units.length > MAX_NAMES ? `compiling ${units.length} units` : `compiling ${units.map((unit) => unit.name).join(', ')}`;

/** Returns a unit with the digest of its inputs, and the path of its object in the cache. */
function withKey(unit) {
  const shared = unit.shared ? [['shared', unit.shared.key]] : [];
  const key = digest([['clang', clangVersion], ['flags', unit.flags.join('\n')], ...shared, ...unit.inputs]);
  return { ...unit, path: join(cacheDir, 'objects', `${unit.name}-${key}.o`), key };
}

/** Compiles at most two units at a time, because each clang uses some 400 MB. */
async function compileAll(units) {
  const queue = [...units];
  const lane = async () => {
    const clang = new Clang();
    try {
      for (let unit = queue.shift(); unit; unit = queue.shift()) {
        const { path, compiler = 'clang', shared } = unit;
        const args = [compiler, ...unit.flags, ...(unit.args ?? ['-c', unit.source]), '-o', 'out.o'];
        store(path, await clang.run(args, tree([...(shared?.files ?? []), ...unit.inputs]), 'out.o'));
      }
    } finally {
      queue.length = 0;
      await clang.end();
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, units.length, availableParallelism()) }, lane));
}

async function linkAll(units, flags) {
  const objects = units.map((unit) => [`${unit.name}.o`, readFileSync(unit.path)]);
  const clang = new Clang();
  try {
    const args = ['clang++', ...objects.map(([name]) => name), ...flags, '-o', 'out.wasm'];
    return await clang.run(args, Object.fromEntries(objects), 'out.wasm');
  } finally {
    await clang.end();
  }
}

/** Returns files as clang's package expects them: an object for each folder. */
function tree(inputs) {
  const root = {};
  for (const [name, text] of inputs) {
    const folders = name.split('/');
    const file = folders.pop();
    let at = root;
    for (const folder of folders) at = at[folder] ??= {};
    at[file] = text;
  }
  return root;
}

/** A clang in a thread of its own, which runs one command at a time. */
class Clang {
  #worker = new Worker(new URL('clang-worker.mjs', import.meta.url));

  /** Runs a command. @returns {Promise<Buffer>} the named output */
  run(args, files, output) {
    return new Promise((resolve, reject) => {
      this.#worker.removeAllListeners();
      this.#worker.once('message', ({ bytes, text }) => {
        if (text) say(text.trimEnd());
        if (bytes) resolve(Buffer.from(bytes));
        else reject(new Error(`clang failed: ${args.join(' ')}\n${text}`));
      });
      this.#worker.once('error', reject);
      this.#worker.postMessage({ args, files, output });
    });
  }

  end() {
    return this.#worker.terminate();
  }
}

function store(path, bytes) {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, bytes);
  renameSync(temporary, path);
}
