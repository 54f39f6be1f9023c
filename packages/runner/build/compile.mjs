// Compiles C to guest.wasm with the clang of the npm package @yowasp/clang, which is wasm itself,
// so no system toolchain is needed. Every object is cached under the digest of its inputs, so a
// change in the shim compiles only one unit again. The image builder
// (`packages/sidecar/crates/imager`) lowers and checks the linked module.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { digest } from './digest.mjs';
import { COMMON, LINK, SANITIZE, sanitizerUnit, UNITS } from './flags.mjs';
import { readHttpParser, readLibraries } from './libraries.mjs';
import { cacheDir, referencePath, shimDir } from './paths.mjs';
import { say, step } from './progress.mjs';

/** The version of the pinned clang package, a part of every cache key. */
const clangVersion = findClangVersion();

function findClangVersion() {
  const entry = fileURLToPath(import.meta.resolve('@yowasp/clang'));
  return JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')).version;
}

/**
 * The units that the reference module compiles exactly as the guest does. The other units of the
 * engine are compiled without patches.
 */
const REFERENCE_SHARES = new Set(['libregexp', 'libunicode', 'dtoa', 'format', 'libc', 'memory']);

/**
 * The headers that declare the sidecar's functions and the constants for the functions' arguments.
 */
const HOST_HEADERS = ['shim/host.h', 'shim/abi.h'];

/** Returns the shim's files: name → text. */
function readShim() {
  return new Map(
    readdirSync(shimDir)
      .filter((name) => /\.[ch]$/.test(name))
      .sort()
      .map((name) => [name, readFileSync(join(shimDir, name), 'utf8')]),
  );
}

/**
 * Returns the files that a unit may read: usually its own source and the headers. The unit that
 * contains the shim reads the engine's sources and the shim, without the files of other units.
 */
function inputsOf(unit, engine, shim, libraries, httpParser) {
  if (unit.files) return unit.files;
  if (unit.source === 'shim/engine.c') {
    const others = ['libraries.c', 'codecs.c', 'unicode.c', 'sanitizer.c'];
    const isOwn = ([name]) => !name.startsWith('library-') && !others.includes(name);
    return [...prefixed('src', engine), ...prefixed('shim', [...shim].filter(isOwn))];
  }
  if (unit.source.startsWith('src/')) {
    return prefixed('src', engine).filter(
      ([name]) => name === unit.source || (name.endsWith('.h') && !name.startsWith('src/builtin-')),
    );
  }
  if (unit.source !== 'shim/libraries.c') {
    return prefixed('shim', shim).filter(([name]) => name === unit.source || name.endsWith('.h'));
  }
  // The shim's files for libraries, and the headers of the libraries.
  const isHeader = ([name]) => name.endsWith('.h') && !name.startsWith('src/builtin-');
  return [
    ...prefixed('shim', shim).filter(([name]) => /^shim\/librar[^/]*$/.test(name) || HOST_HEADERS.includes(name)),
    ...prefixed('src', engine).filter(isHeader),
    ...libraries.flatMap((library) => library.files.filter(isHeader)),
    httpParser,
  ];
}

const prefixed = (dir, files) => [...files].map(([name, text]) => [`${dir}/${name}`, text]);

/**
 * Compiles and links the guest module. `key` is the digest of all inputs.
 * @param {Map<string, string>} engine  patched sources
 * @param {{ sanitize?: boolean, continues?: boolean }} options `sanitize` adds checks for undefined
 *   behaviour. With `continues`, the guest continues after an undefined behaviour.
 * @returns {Promise<{ wasm: Buffer, key: string }>}
 */
export async function compileGuest(engine, { sanitize = false, continues = false } = {}) {
  const shim = readShim();
  const libraries = readLibraries();
  const httpParser = await readHttpParser();
  const all = [...UNITS, ...libraries.map((library) => ({ ...library, flags: [...COMMON, ...library.flags] }))];
  const units = all.map((unit) => ({ ...unit, inputs: inputsOf(unit, engine, shim, libraries, httpParser) }));
  if (!sanitize) return buildModule('guest', units);
  const sanitizer = sanitizerUnit(continues);
  return buildModule('sanitized-guest', [
    ...units.map(withChecks),
    { ...sanitizer, inputs: inputsOf(sanitizer, engine, shim, libraries, httpParser) },
  ]);
}

/** Returns a unit with the checks of the sanitized guest. */
const withChecks = (unit) => ({ ...unit, flags: [...unit.flags, ...SANITIZE, ...(unit.sanitized ?? [])] });

/**
 * Compiles the unpatched engine with a shim of its own, for tests that compare the two engines.
 * @param {Map<string, string>} engine  unpatched sources
 */
export async function compileReference(engine) {
  const shim = readShim();
  const units = UNITS.filter(({ name }) => REFERENCE_SHARES.has(name)).map((unit) => ({
    ...unit,
    inputs: inputsOf(unit, engine, shim, [], []),
  }));
  const own = [
    ['src/quickjs.c', [...prefixed('src', engine)]],
    [
      'reference/reference.c',
      [
        ['reference/reference.c', readFileSync(referencePath, 'utf8')],
        ...prefixed('src', engine).filter(([name]) => name.endsWith('.h')),
        ...prefixed('shim', shim).filter(([name]) => HOST_HEADERS.includes(name)),
      ],
    ],
  ];
  for (const [source, inputs] of own)
    units.push({ name: source.replace(/.*\/|\.c$/g, ''), source, flags: [...COMMON, '-w'], inputs });
  return buildModule('reference', units);
}

/**
 * Compiles `source` as `checked.c` with the checks of the sanitized guest, for the test of the
 * functions that the checks call. @returns {Promise<Buffer>} the module
 */
export async function compileChecked(source) {
  const shim = readShim();
  const shared = [...UNITS.filter(({ name }) => ['format', 'memory'].includes(name)), sanitizerUnit()];
  const headers = prefixed('shim', shim).filter(([name]) => HOST_HEADERS.includes(name));
  const { wasm } = await buildModule('checked', [
    ...shared.map((unit) => ({ ...unit, inputs: inputsOf(unit, new Map(), shim, [], []) })),
    withChecks({ name: 'checked', source: 'checked.c', flags: [...COMMON, '-w'], inputs: [['checked.c', source], ...headers] }),
  ]);
  return wasm;
}

async function buildModule(title, unkeyed) {
  const units = unkeyed.map((unit) => {
    const key = digest([['clang', clangVersion], ['flags', unit.flags.join('\n')], ...unit.inputs]);
    return { ...unit, path: join(cacheDir, 'objects', `${unit.name}-${key}.o`), key };
  });
  const key = digest([['clang', clangVersion], ['link', LINK.join('\n')], ...units.map((unit) => [unit.name, unit.key])]);
  const cached = join(cacheDir, 'guests', `${title}-${key}.wasm`);
  if (existsSync(cached)) return { wasm: readFileSync(cached), key };

  const missing = units.filter((unit) => !existsSync(unit.path));
  if (missing.length) {
    await step(`compiling ${missing.map((unit) => unit.name).join(', ')}`, 'about 100 s for everything, once', () =>
      runAll(missing),
    );
  }
  const wasm = await step(`linking ${title}.wasm`, undefined, () => link(units));
  store(cached, wasm);
  return { wasm, key };
}

/**
 * Compiles at most two units at a time, because each clang uses some 400 MB. More units would save
 * little time: the engine's unit is most of the work.
 */
async function runAll(units) {
  const queue = [...units];
  const lane = async () => {
    for (let unit = queue.shift(); unit; unit = queue.shift()) {
      const { path, compiler = 'clang' } = unit;
      const args = [compiler, ...unit.flags, ...(unit.args ?? ['-c', unit.source]), '-o', 'out.o'];
      store(path, await runClang(args, tree(unit.inputs), 'out.o'));
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, lane));
}

function link(units) {
  const objects = units.map((unit) => [`${unit.name}.o`, readFileSync(unit.path)]);
  return runClang(
    ['clang++', ...objects.map(([name]) => name), ...LINK, '-o', 'out.wasm'],
    Object.fromEntries(objects),
    'out.wasm',
  );
}

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

/** Runs clang in a thread of its own. @returns {Promise<Buffer>} the named output */
function runClang(args, files, output) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('clang-worker.mjs', import.meta.url), { workerData: { args, files, output } });
    worker.once('message', ({ bytes, text }) => {
      if (text) say(text.trimEnd());
      if (bytes) resolve(Buffer.from(bytes));
      else reject(new Error(`clang failed: ${args.join(' ')}\n${text}`));
    });
    worker.once('error', reject);
  });
}

function store(path, bytes) {
  mkdirSync(join(path, '..'), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, bytes);
  renameSync(temporary, path);
}
