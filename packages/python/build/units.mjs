// Makes the list of units of the Python guest: the interpreter, its built-in modules, the C
// libraries of the modules, and the shim. Next: compile.mjs compiles and links the units.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digest } from '../../runner/build/digest.mjs';
import { PYTHON, SHIM, UNIT_FLAGS, UNIT_HEADERS } from './flags.mjs';
import { MODULES } from './modules.mjs';
import { configDir, includeDir, packageDir, runnerShimDir, shimDir } from './paths.mjs';

/** The files that other files of CPython include, besides the headers. */
const INCLUDED =
  /^(?:Objects\/(?:mimalloc\/|typeslots\.inc)|Modules\/(?:expat\/(?:xmltok_impl|xmltok_ns|xcsinc)|get(?:addr|name)info|_blake2\/impl\/[\w-]+)\.c)/;

/** The files of the JavaScript guest's shim that this guest shares. */
const RUNNER_FILES = ['abi.h', 'host.h', 'memory.c'];

/** Returns the headers that every unit may read, with their digest. */
export function readHeaders(source, libraries) {
  const isHeader = ([path]) => (path.endsWith('.h') && !path.startsWith('Lib/')) || INCLUDED.test(path);
  const files = [
    ['pyconfig.h', readFileSync(join(configDir, 'pyconfig.h'), 'utf8')],
    ...[...source].filter(isHeader),
    ...libraries.flatMap((library) => library.inputs.filter(([path]) => path.endsWith('.h'))),
  ];
  return { key: digest(files), files };
}

/**
 * Replaces `#include "../x.h"` by the path from the root of the source. The file system of the
 * clang package has no `..`.
 */
export const withoutParents = (path, text) =>
  text.replace(/^(\s*#\s*include\s+")(\.\.\/[^"]+)"/gm, (_, begin, name) => `${begin}${join(dirname(path), name)}"`);

/** Returns the shim's files: [path, text]. */
function readShim() {
  const read = (folder, names) => names.map((name) => [`shim/${name}`, readFileSync(join(folder, name), 'utf8')]);
  const own = readdirSync(shimDir).filter((name) => /\.[ch]$/.test(name));
  return [...read(runnerShimDir, RUNNER_FILES), ...read(shimDir, own.sort())];
}

/** Returns the headers that replace headers of libc: [path, text]. */
const readInclude = () =>
  readdirSync(includeDir, { recursive: true })
    .filter((name) => name.endsWith('.h'))
    .sort()
    .map((name) => [`include/${name}`, readFileSync(join(includeDir, name), 'utf8')]);

/** Returns the units of the interpreter without its table of modules. */
export function coreUnits(source, headers) {
  const names = readFileSync(join(configDir, 'core-units.txt'), 'utf8').trim().split('\n');
  return names.map((path) => unit(path, source, headers));
}

/** Returns the units of all built-in modules. */
export const moduleUnits = (source, headers) =>
  MODULES.flatMap(({ name, units = [name], flags }) => units.map((path) => unit(`Modules/${path}.c`, source, headers, flags)));

/** Returns a unit of CPython. `source` is a map of all files, also of made files. */
export function unit(path, source, headers, flags = []) {
  const text = source.get(path);
  if (text === undefined) throw new Error(`the source of CPython has no file ${path}`);
  const own = (UNIT_HEADERS[path] ?? []).map((name) => `include/coldframe/${name}`);
  return {
    name: `python-${path.replace(/\.c$/, '').replaceAll('/', '-')}`,
    source: path,
    flags: [...PYTHON, ...flags, ...(UNIT_FLAGS[path] ?? []), ...own.flatMap((header) => ['-include', header])],
    shared: headers,
    inputs: [
      [path, text],
      ...own.map((header) => [header, readFileSync(join(packageDir, header), 'utf8')]),
      ...(flags.includes('-Iinclude') ? readInclude() : []),
    ],
  };
}

/** Returns the units of the shim with these names. */
export function shimUnits(headers, names) {
  const files = new Map(readShim());
  const own = [...files].filter(([path]) => path.endsWith('.h'));
  return names.map((name) => ({
    name: `python-shim-${name}`,
    source: `shim/${name}.c`,
    // The compiler must not turn the loops of `memcpy` into calls of `memcpy`.
    flags: name === 'memory' ? [...SHIM, '-fno-builtin'] : SHIM,
    shared: headers,
    inputs: [[`shim/${name}.c`, files.get(`shim/${name}.c`)], ...own, ...readInclude()],
  }));
}
