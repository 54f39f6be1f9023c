// Names the units of guest.wasm, and of the modules that tests compare with it. Next: clang.mjs
// compiles and links the units. The image builder (`packages/sidecar/crates/imager`) lowers and
// checks the linked module.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildModule } from './clang.mjs';
import { COMMON, LINK, SANITIZE, sanitizerUnit, UNITS } from './flags.mjs';
import { readHttpParser, readLibraries } from './libraries.mjs';
import { referencePath, shimDir } from './paths.mjs';

const BUILD = { link: LINK, expected: 'about 100 s for everything, once' };

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
  if (!sanitize) return buildModule('guest', units, BUILD);
  const sanitizer = sanitizerUnit(continues);
  const checks = { ...sanitizer, inputs: inputsOf(sanitizer, engine, shim, libraries, httpParser) };
  return buildModule('sanitized-guest', [...units.map(withChecks), checks], BUILD);
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
  return buildModule('reference', units, BUILD);
}

/**
 * Compiles `source` as `checked.c` with the checks of the sanitized guest, for the test of the
 * functions that the checks call. @returns {Promise<Buffer>} the module
 */
export async function compileChecked(source) {
  const shim = readShim();
  const shared = [...UNITS.filter(({ name }) => ['format', 'memory'].includes(name)), sanitizerUnit()];
  const headers = prefixed('shim', shim).filter(([name]) => HOST_HEADERS.includes(name));
  const units = [
    ...shared.map((unit) => ({ ...unit, inputs: inputsOf(unit, new Map(), shim, [], []) })),
    withChecks({ name: 'checked', source: 'checked.c', flags: [...COMMON, '-w'], inputs: [['checked.c', source], ...headers] }),
  ];
  const { wasm } = await buildModule('checked', units, BUILD);
  return wasm;
}
